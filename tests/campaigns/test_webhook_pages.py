"""The pages of webhooks: adding, changing, a secret that is shown once, what was sent."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from campaigns.contracts.events import EVENTS, CampaignLaunched
from campaigns.models import Campaign, Delivery, Webhook
from campaigns.services.deliveries import send_due_deliveries
from campaigns.services.webhooks import add_webhook, announce
from evalsite.jobs.handlers import JobContext
from evalsite.lib.encryption import decrypt_secrets
from tests.campaigns.receiver import Receiver

URL = "https://hooks.example.org/evalsite"


def address(campaign: Campaign, name: str = "webhooks", *arguments: int) -> str:
    return reverse(f"campaigns:{name}", args=[campaign.public_id, *arguments])


@pytest.fixture
def webhook(campaign: Campaign) -> Webhook:
    return add_webhook(campaign=campaign, url=URL, events=["campaign.launched"])[0]


def secret_on(page: Any) -> str:
    found = re.search(r"evalsite_webhook_[\w-]{40,}", page.text)
    return found[0] if found else ""


def test_a_webhook_is_added_and_its_secret_shown_once(owner_client: Client, campaign: Campaign) -> None:
    assert "Delivered" not in owner_client.get(address(campaign)).text
    page = owner_client.post(
        address(campaign), {"url": URL, "events": ["", "hits.finished", "job.failed"], "is_active": "true"}
    )
    (made,) = campaign.webhooks.all()
    assert (page.status_code, made.url, made.events, made.is_active) == (
        200,
        URL,
        ["hits.finished", "job.failed"],
        True,
    )
    assert secret_on(page) == decrypt_secrets(made.secret)["secret"]
    assert "no-store" in page["Cache-Control"]
    for name, arguments in (("webhooks", []), ("webhook", [made.pk])):
        again = owner_client.get(address(campaign, name, *arguments))
        assert (again.status_code, secret_on(again)) == (200, "")
        assert URL in again.text


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"url": "http://169.254.169.254/", "events": ["job.failed"]}, "url"),
        ({"url": "nonsense", "events": ["job.failed"]}, "url"),
        ({"url": "", "events": ["job.failed"]}, "url"),
        ({"url": URL, "events": [""]}, "events"),
        ({"url": URL, "events": ["no.such"]}, "events"),
    ],
)
def test_what_is_wrong_is_said_at_its_field(
    owner_client: Client, campaign: Campaign, sent: dict[str, Any], field: str
) -> None:
    page = owner_client.post(address(campaign), sent)
    assert (page.status_code, list(page.context["webhook_form"].errors)) == (422, [field])
    assert not campaign.webhooks.exists()


def test_a_webhook_is_changed_turned_off_and_removed(
    owner_client: Client, campaign: Campaign, webhook: Webhook
) -> None:
    page = address(campaign, "webhook", webhook.pk)
    sent = {"url": f"{URL}/2", "events": ["", "job.failed"], "is_active": "false"}
    assert owner_client.post(page, sent).status_code == 302
    webhook.refresh_from_db()
    assert (webhook.url, webhook.events, webhook.is_active) == (f"{URL}/2", ["job.failed"], False)
    refused = owner_client.post(page, {"url": "https://localhost/", "events": [""]})
    assert (refused.status_code, set(refused.context["form"].errors)) == (422, {"events"})
    refused = owner_client.post(page, {"url": "https://localhost/"})
    assert (refused.status_code, set(refused.context["form"].errors)) == (422, {"url"})
    assert owner_client.post(address(campaign, "webhook_remove", webhook.pk)).status_code == 302
    assert not campaign.webhooks.exists()


def test_a_secret_is_rotated(owner_client: Client, campaign: Campaign, webhook: Webhook) -> None:
    before = webhook.secret
    page = owner_client.post(address(campaign, "webhook_secret", webhook.pk))
    webhook.refresh_from_db()
    assert webhook.secret != before
    assert secret_on(page) == decrypt_secrets(webhook.secret)["secret"]


def test_deliveries_are_listed_and_sent_again(owner_client: Client, campaign: Campaign, receiver: Receiver) -> None:
    webhook, _ = add_webhook(campaign=campaign, url=receiver.url, events=list(EVENTS))
    page = address(campaign, "webhook", webhook.pk)
    assert "Nothing sent yet" in owner_client.get(page).text
    receiver.status, receiver.body = 404, b"<script>alert(1)</script>"
    announce(campaign_id=campaign.pk, data=CampaignLaunched(launched_at=timezone.now(), n_hits=1, n_places=2))
    send_due_deliveries(JobContext())
    shown = owner_client.get(page).text
    assert "Failed" in shown and "404" in shown and "&lt;script&gt;" in shown
    delivery = Delivery.objects.get()
    again = address(campaign, "delivery_again", webhook.pk, delivery.pk)
    receiver.status = 200
    assert owner_client.post(again, follow=True).status_code == 200
    send_due_deliveries(JobContext())
    assert [event["id"] for event in receiver.events()] == [str(delivery.event_id)] * 2
    assert "badge-ready" in owner_client.get(page).text
    Webhook.objects.update(is_active=False)
    assert "turned off" in owner_client.post(again, follow=True).text


def test_what_belongs_to_another_campaign_is_not_found(
    owner_client: Client, ready: Campaign, webhook: Webhook, owner: Any
) -> None:
    other = Campaign.objects.create(name="Other", protocol="qg")
    other.memberships.create(user=owner, role="owner")
    assert owner_client.get(address(other, "webhook", webhook.pk)).status_code == 404


def test_only_those_who_may_edit_find_them(
    owner_client: Client, viewer_client: Client, campaign: Campaign, webhook: Webhook
) -> None:
    settings_page = address(campaign, "settings")
    assert address(campaign) in owner_client.get(settings_page).text
    assert address(campaign) not in viewer_client.get(settings_page).text
    assert viewer_client.get(address(campaign)).status_code == 403
    assert viewer_client.get(address(campaign, "webhook", webhook.pk)).status_code == 403
