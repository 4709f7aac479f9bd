"""Duplicating, launching and deleting live campaigns."""

from decimal import Decimal

import pytest
from django.test import Client

from campaigns.models import Campaign, Chatbot, Output, System
from campaigns.services.chatbots import add_chatbot
from campaigns.services.copies import duplicate_campaign
from campaigns.services.deletion import delete_campaign
from evalsite.accounts.models import User
from evalsite.lib.encryption import decrypt_secrets
from tests.campaigns.cast import add_member
from tests.campaigns.live import KEY, PERSONA, build, chatbot_of, make_live, url_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def ready(owner: User) -> Campaign:
    campaign = make_live(owner)
    add_chatbot(
        campaign=campaign,
        name="Remote",
        connector="openai-chat",
        family="models",
        settings={"base_url": "https://api.openai.com/v1", "model": "small"},
        secrets={"api_key": KEY},
        persona=PERSONA,
        timeout_s=44,
    )
    Chatbot.objects.update(spent=Decimal(3))
    build(campaign)
    return campaign


def test_a_copy_has_the_chatbots_with_settings_secrets_and_persona(ready: Campaign, owner: User) -> None:
    copy = duplicate_campaign(campaign=ready, owner=owner, as_replication=True)
    assert copy.chat == ready.chat
    assert (copy.n_hits, copy.status) == (ready.n_hits, "draft")
    names = ("name", "family", "is_degraded")
    assert list(copy.systems.values(*names)) == list(ready.systems.values(*names))
    before, after = chatbot_of(ready, "Remote"), chatbot_of(copy, "Remote")
    assert (after.settings, after.persona, after.timeout_s) == (before.settings, PERSONA, 44)
    assert decrypt_secrets(after.secrets) == {"api_key": KEY}
    assert after.spent == 0
    assert chatbot_of(ready, "Remote").spent == 3
    assert Output.objects.filter(source__campaign=copy).count() == 7
    build(copy)
    assert copy.status == "ready"


def test_a_viewers_copy_has_no_secrets(ready: Campaign, colleague: User, colleague_client: Client) -> None:
    add_member(ready, colleague)
    colleague_client.post(url_of(ready, "duplicate"), {"as_replication": "0"})
    copy = Campaign.objects.exclude(pk=ready.pk).get()
    assert chatbot_of(copy, "Remote").settings == chatbot_of(ready, "Remote").settings
    assert chatbot_of(copy, "Remote").secrets == ""


def test_an_editors_copy_has_them(ready: Campaign, colleague: User) -> None:
    add_member(ready, colleague, "editor")
    copy = duplicate_campaign(campaign=ready, owner=colleague, as_replication=False)
    assert decrypt_secrets(chatbot_of(copy, "Remote").secrets) == {"api_key": KEY}


def test_a_live_campaign_is_launched(owner_client: Client, ready: Campaign) -> None:
    assert owner_client.post(url_of(ready, "launch")).status_code == 302
    ready.refresh_from_db()
    assert ready.is_open


def test_it_is_not_launched_without_enough_chatbots(owner_client: Client, owner: User) -> None:
    campaign = make_live(owner, names=("Amber",))
    answer = owner_client.post(url_of(campaign, "launch"))
    assert answer.status_code == 409
    assert "Chatbots" in answer.context["refused"].message


def test_deleting_takes_everything(ready: Campaign, owner: User) -> None:
    copy = duplicate_campaign(campaign=ready, owner=owner, as_replication=False)
    delete_campaign(campaign=ready)
    assert set(System.objects.values_list("campaign", flat=True)) == {copy.pk}
    assert Chatbot.objects.count() == 7
