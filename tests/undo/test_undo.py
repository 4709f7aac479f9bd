"""Taking back what was done: by whom, for how long, and not over what others have changed since."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from campaigns.models import Campaign, Deletion, Delivery, Membership, Upload, Webhook
from campaigns.services.members import invite_member
from campaigns.services.webhooks import add_webhook, announce
from evalsite.accounts.models import User
from evalsite.audit.models import AuditEntry
from evalsite.undo.acts import KEPT_FOR, forget_expired
from evalsite.undo.models import Act
from tests.campaigns.cast import add_member, make_campaign
from tests.campaigns.data.files import LONG, upload
from tests.campaigns.test_webhooks import LAUNCHED
from tests.conftest import signed_in
from tests.undo.button import offers, press_undo

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(owner: User, colleague: User) -> Campaign:
    campaign = make_campaign(owner, "qg", "Autumn questions")
    add_member(campaign, colleague, Membership.Role.VIEWER)
    return campaign


def url(campaign: Campaign, name: str, *args: Any) -> str:
    return reverse(f"campaigns:{name}", args=[campaign.public_id, *args])


def roles(campaign: Campaign) -> dict[str, str]:
    return dict(campaign.memberships.values_list("user__email", "role"))


def remove(client: Client, campaign: Campaign, user: User) -> None:
    membership = campaign.memberships.get(user=user)
    assert client.post(url(campaign, "member_remove", membership.pk)).status_code == 302


# --- Who, how often, how long


def test_it_is_offered_where_it_was_done_and_nowhere_else(
    owner: User, owner_client: Client, colleague: User, campaign: Campaign
) -> None:
    remove(owner_client, campaign, colleague)
    assert len(offers(owner_client, url(campaign, "settings"))) == 1
    assert len(offers(owner_client, url(campaign, "settings"))) == 1  # a page that is loaded again loses nothing
    assert offers(owner_client, url(campaign, "design")) == []
    assert offers(signed_in(owner), url(campaign, "settings")) == []  # on another machine


def test_both_acts_are_in_the_log_of_the_campaign(owner_client: Client, colleague: User, campaign: Campaign) -> None:
    before = roles(campaign)
    remove(owner_client, campaign, colleague)
    assert "Undone" in press_undo(owner_client, url(campaign, "settings"))
    assert roles(campaign) == before
    assert offers(owner_client, url(campaign, "settings")) == []
    acts = AuditEntry.objects.filter(campaign=campaign.public_id).values_list("act", "about")
    assert list(acts) == [("undo", f"{colleague} was removed."), ("campaigns:member_remove", colleague.email)]


def test_twice_is_once(owner_client: Client, colleague: User, campaign: Campaign) -> None:
    remove(owner_client, campaign, colleague)
    [button] = offers(owner_client, url(campaign, "settings"))
    owner_client.post(button)
    n_entries = AuditEntry.objects.count()
    assert "it stays as it is" in owner_client.post(button, follow=True).text
    assert AuditEntry.objects.count() == n_entries


def test_only_who_did_it_takes_it_back(
    owner_client: Client, stranger: User, colleague: User, campaign: Campaign
) -> None:
    campaign.memberships.filter(user=colleague).update(role="owner")
    add_member(campaign, stranger, Membership.Role.VIEWER)
    remove(owner_client, campaign, stranger)
    [button] = offers(owner_client, url(campaign, "settings"))
    signed_in(colleague).post(button)
    assert stranger.email not in roles(campaign)


def test_who_may_no_longer_do_it_may_not_take_it_back(
    owner: User, owner_client: Client, colleague: User, campaign: Campaign
) -> None:
    remove(owner_client, campaign, colleague)
    [button] = offers(owner_client, url(campaign, "settings"))
    campaign.memberships.filter(user=owner).update(role="editor")
    assert "You may no longer change this" in owner_client.post(button, follow=True).text
    assert list(roles(campaign)) == [owner.email]


def test_what_has_expired_stays(owner_client: Client, colleague: User, campaign: Campaign) -> None:
    remove(owner_client, campaign, colleague)
    [button] = offers(owner_client, url(campaign, "settings"))
    Act.objects.update(expires_at=timezone.now())
    assert "it stays as it is" in owner_client.post(button, follow=True).text
    forget_expired(timezone.now())
    assert not Act.objects.exists()
    assert colleague.email not in roles(campaign)


def test_who_has_left_may_not_come_back_by_themselves(
    owner: User, owner_client: Client, colleague: User, campaign: Campaign
) -> None:
    campaign.memberships.update(role="owner")
    page = owner_client.get(url(campaign, "settings")).text
    assert page.count('data-confirm-action="Leave"') == 1
    remove(owner_client, campaign, owner)
    assert not Act.objects.exists()


# --- Each kind


def test_one_who_is_a_member_again_is_left_as_they_are(
    owner_client: Client, colleague: User, campaign: Campaign
) -> None:
    remove(owner_client, campaign, colleague)
    add_member(campaign, colleague, Membership.Role.EDITOR)
    assert "was changed since" in press_undo(owner_client, url(campaign, "settings"))
    assert roles(campaign)[colleague.email] == "editor"


def test_an_invitation_comes_back_with_its_link(owner: User, owner_client: Client, campaign: Campaign) -> None:
    new = invite_member(campaign=campaign, email="new@example.org", role="viewer", by=owner, now=timezone.now())
    owner_client.post(url(campaign, "invitation_withdraw", new.pk))
    assert not campaign.member_invitations.exists()
    press_undo(owner_client, url(campaign, "settings"))
    assert campaign.member_invitations.get().key == new.key


def test_instructions_come_back_unless_somebody_wrote_others(owner_client: Client, campaign: Campaign) -> None:
    page = url(campaign, "instructions")
    for meanwhile, after in ((None, "Mine"), ("Ours", "Ours")):
        owner_client.post(page, {"instructions": "Mine"})
        owner_client.post(page, {"default": "1"})
        if meanwhile:
            owner_client.post(page, {"instructions": meanwhile})
        text = press_undo(owner_client, page)
        assert ("was changed since" in text) == bool(meanwhile)
        assert Campaign.objects.get().instructions == after


def test_the_seed_comes_back(owner_client: Client, campaign: Campaign) -> None:
    owner_client.post(url(campaign, "design_seed"))
    assert Campaign.objects.get().seed != campaign.seed
    press_undo(owner_client, url(campaign, "design"))
    assert Campaign.objects.get().seed == campaign.seed


def test_hits_of_a_file_come_back_until_others_are_built(owner_client: Client, campaign: Campaign) -> None:
    Campaign.objects.update(has_given_hits=True, n_tutorial=2, status="ready")
    for meanwhile, after in ((False, (True, 2, "ready")), (True, (False, 0, "draft"))):
        owner_client.post(url(campaign, "own_hits"))
        if meanwhile:
            campaign.hits.create(number=1, n_places_left=1)
        press_undo(owner_client, url(campaign, "design"))
        found = Campaign.objects.get()
        assert (found.has_given_hits, found.n_tutorial, found.status) == after


def test_a_webhook_comes_back_with_its_secret_and_what_waits(
    owner_client: Client, campaign: Campaign, settings: Any
) -> None:
    settings.WEBHOOK_HOSTS = ["*"]
    webhook, _ = add_webhook(campaign=campaign, url="https://lab.example/hook", events=["campaign.launched"])
    announce(campaign_id=campaign.pk, data=LAUNCHED)
    before = list(Delivery.objects.values())
    owner_client.post(url(campaign, "webhook_remove", webhook.pk))
    assert not Webhook.objects.exists()
    [button] = offers(owner_client, url(campaign, "settings"))
    add_webhook(campaign=campaign, url="https://lab.example/hook", events=["campaign.launched"])
    assert "Another webhook" in owner_client.post(button, follow=True).text
    Webhook.objects.all().delete()
    assert offers(owner_client, url(campaign, "settings")) == [button], "what stood in the way is gone"
    owner_client.post(button)
    assert Webhook.objects.get().secret == webhook.secret
    assert list(Delivery.objects.values()) == before


@pytest.fixture
def media(settings: Any, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path
    return tmp_path


def test_a_file_comes_back_and_goes_for_good_when_it_expires(
    owner_client: Client, campaign: Campaign, media: Path, django_capture_on_commit_callbacks: Any
) -> None:
    found = upload(owner_client, campaign, LONG)
    delete, kept = url(campaign, "upload_delete", found.pk), Path(found.file.path)
    with django_capture_on_commit_callbacks(execute=True):
        owner_client.post(delete)
    assert (Upload.objects.count(), Deletion.objects.count()) == (0, 1)
    press_undo(owner_client, url(campaign, "data"))
    assert Path(Upload.objects.get().file.path).read_bytes() == LONG.encode()
    assert not Deletion.objects.exists()
    with django_capture_on_commit_callbacks(execute=True):
        owner_client.post(delete)
        forget_expired(timezone.now())
    assert kept.exists()
    with django_capture_on_commit_callbacks(execute=True):
        forget_expired(timezone.now() + KEPT_FOR)
    assert not kept.exists()


def test_nothing_is_kept_of_a_campaign_that_is_deleted(
    owner_client: Client, campaign: Campaign, media: Path, django_capture_on_commit_callbacks: Any
) -> None:
    found = upload(owner_client, campaign, LONG)
    with django_capture_on_commit_callbacks(execute=True):
        owner_client.post(url(campaign, "upload_delete", found.pk))
        [button] = offers(owner_client, url(campaign, "data"))
        owner_client.post(url(campaign, "delete"))
    assert not Path(found.file.path).exists()
    assert "it stays as it is" in owner_client.post(button, follow=True).text
