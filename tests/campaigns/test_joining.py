"""Invitations to a campaign: what they say of accounts (nothing), what a link is worth, and when no more."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from campaigns.invitations import link_path
from campaigns.models import Campaign, MemberInvitation
from campaigns.services import members as member_services
from evalsite.accounts.models import User
from evalsite.audit.acts import title_of
from evalsite.audit.models import AuditEntry
from evalsite.lib.masking import mask_tokens
from tests.conftest import signed_in
from tests.services import free_port

NO_MAIL = "django.core.mail.backends.dummy.EmailBackend"
PASSWORD = "seven geese above the mill"
NOBODY, STRANGER = "nobody@example.org", "stranger@example.org"


def url(campaign: Campaign, name: str = "members", *args: int) -> str:
    return reverse(f"campaigns:{name}", args=[campaign.public_id, *args])


def invite(client: Client, campaign: Campaign, email: str, role: str = "editor", **options: bool):
    return client.post(url(campaign), {"email": email, "role": role}, **options)


def mailed_link() -> str:
    """Return the path of the link in the last mail."""
    found = re.search(r"http://testserver(/campaigns/join/\S+)", mail.outbox[-1].body)
    assert found
    return found[1]


def invited(client: Client, campaign: Campaign, email: str = NOBODY, role: str = "editor") -> str:
    """Invite somebody; return the path of the mailed link."""
    assert invite(client, campaign, email, role).status_code == 302
    return mailed_link()


def sign_up(client: Client, link: str, password: str = PASSWORD, **more: str):
    return client.post(link, {"name": "Nia New", "new_password1": password, "new_password2": password, **more})


def roles(campaign: Campaign) -> dict[str, str]:
    return dict(campaign.memberships.values_list("user__email", "role"))


def without_what_differs(text: str) -> str:
    """Return a page without the invited address, and what is new with each request."""
    text = re.sub(r"(stranger|nobody)@example\.org", "ADDRESS", text)
    text = re.sub(r"/join/[^<\"]+", "/join/TOKEN", text)
    text = re.sub(r'(csrfmiddlewaretoken" value|nonce)="[^"]+"', "", text)
    text = re.sub(r"<time.*?</time>", "", text)
    text = re.sub(r'name="public_id" value="[^"]+"', "", text)  # of a copy that could be made
    return re.sub(r"(invitations/|link-)\d+", "", text)


@pytest.mark.parametrize("backend", ["django.core.mail.backends.locmem.EmailBackend", NO_MAIL])
@pytest.mark.parametrize("state", ["active", "deactivated", "without a password"])
def test_the_answer_does_not_say_whether_an_address_has_an_account(
    owner_client: Client, stranger: User, campaign: Campaign, settings: Settings, backend: str, state: str
) -> None:
    settings.EMAIL_BACKEND = backend
    if state == "deactivated":
        User.objects.filter(pk=stranger.pk).update(is_active=False)
    if state == "without a password":
        stranger.set_unusable_password()
        stranger.save()
    pages, links = [], []
    for email in (STRANGER, NOBODY):
        answer = invite(owner_client, campaign, email, follow=True)
        assert answer.redirect_chain == [(url(campaign, "settings") + "#members", 302)]
        invitation = MemberInvitation.objects.get()
        links.append(Client().get(link_path(invitation)).text)
        pages.append(answer.text + owner_client.get(url(campaign)).text)
        invitation.delete()  # by the page, the next one would offer to undo it
    assert without_what_differs(pages[0]) == without_what_differs(pages[1])
    assert without_what_differs(links[0]) == without_what_differs(links[1])
    assert [without_what_differs(each.body) for each in mail.outbox[:1]] == [
        without_what_differs(each.body) for each in mail.outbox[1:]
    ]
    assert roles(campaign) == {"owner@example.org": "owner", "colleague@example.org": "viewer"}


# --- Joining


def test_who_has_no_account_makes_one_and_is_a_member(owner_client: Client, campaign: Campaign) -> None:
    link, client = invited(owner_client, campaign), Client()
    assert client.get(link).status_code == 200
    refused = sign_up(client, link, "123")
    assert refused.status_code == 422 and not User.objects.filter(email=NOBODY).exists()
    assert sign_up(client, link)["Location"] == url(campaign, "campaign")
    assert client.get(url(campaign, "campaign")).status_code == 200, "has signed in"
    assert roles(campaign)[NOBODY] == "editor"
    user = User.objects.get(email=NOBODY)
    assert (user.name, user.is_staff, user.is_superuser) == ("Nia New", False, False)
    assert Client().login(username=NOBODY, password=PASSWORD)
    assert sign_up(Client(), link, "another password for it").status_code == 404, "works once"
    assert not MemberInvitation.objects.exists()


def test_who_has_an_account_signs_in_and_accepts(owner_client: Client, stranger: User, campaign: Campaign) -> None:
    link, client = invited(owner_client, campaign, STRANGER.upper(), "viewer"), Client()
    found = re.search(r'href="([^"]*sign-in/\?next=[^"]+)"', client.get(link).text)
    assert found
    stranger.set_password(PASSWORD)
    stranger.save()
    sent = {"username": STRANGER, "password": PASSWORD, "next": link}
    assert client.post(unescape(found[1]), sent)["Location"] == link
    assert STRANGER not in roles(campaign), "nobody is made a member by looking"
    assert client.post(link, {"answer": "accept"})["Location"] == url(campaign, "campaign")
    assert roles(campaign)[STRANGER] == "viewer"
    assert client.post(link, {"answer": "accept"}).status_code == 404


def test_an_account_cannot_be_taken_by_a_link(owner_client: Client, stranger: User, campaign: Campaign) -> None:
    before, link = stranger.password, invited(owner_client, campaign, STRANGER)
    response = sign_up(Client(), link)
    assert response.status_code == 422 and "Sign in" in response.text
    assert User.objects.get(pk=stranger.pk).password == before
    assert STRANGER not in roles(campaign)


def test_another_account_cannot_accept(owner_client: Client, stranger_client: Client, campaign: Campaign) -> None:
    link = invited(owner_client, campaign)
    assert "Accept" not in re.sub(r"to accept as", "", stranger_client.get(link).text)
    assert stranger_client.post(link, {"answer": "accept"}).status_code == 409
    assert sign_up(stranger_client, link).status_code == 409
    assert len(roles(campaign)) == 2 and not User.objects.filter(email=NOBODY).exists()


def test_the_list_of_campaigns_shows_ones_invitations(
    owner_client: Client, stranger_client: Client, campaign: Campaign
) -> None:
    link = invited(owner_client, campaign, STRANGER)
    assert link in stranger_client.get(reverse("campaigns:list")).text
    assert link not in owner_client.get(reverse("campaigns:list")).text
    assert stranger_client.post(link, {"answer": "decline"}).status_code == 200
    assert link not in stranger_client.get(reverse("campaigns:list")).text
    assert STRANGER not in roles(campaign)
    assert stranger_client.get(link).status_code == 404


# --- What ends a link


def test_a_link_that_expires_is_withdrawn_or_changed(owner_client: Client, campaign: Campaign) -> None:
    link = invited(owner_client, campaign)
    key, _, signature = link.rstrip("/").split("/")[-1].partition(".")
    forged = [f"{'0' * len(key)}.{signature}", key, "nothing"]
    assert {Client().get(reverse("campaigns:join", args=[token])).status_code for token in forged} == {404}
    MemberInvitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert sign_up(Client(), link).status_code == 404
    assert "expired" in owner_client.get(url(campaign)).text
    assert invited(owner_client, campaign) == link, "renewed"
    assert MemberInvitation.objects.count() == 1
    assert Client().get(link).status_code == 200
    for _ in range(2):
        assert owner_client.post(url(campaign, "invitation_withdraw", _only().pk if _any() else 0)).status_code == 302
    assert sign_up(Client(), link).status_code == 404
    assert not User.objects.filter(email=NOBODY).exists()


def _any() -> bool:
    return MemberInvitation.objects.exists()


def _only() -> MemberInvitation:
    return MemberInvitation.objects.get()


def test_a_campaign_that_is_being_deleted_takes_nobody(owner_client: Client, campaign: Campaign) -> None:
    link = invited(owner_client, campaign)
    Campaign.objects.update(status=Campaign.Status.DELETING)
    assert sign_up(Client(), link).status_code == 404


def test_invitations_of_another_campaign_stay(owner_client: Client, stranger: User, campaign: Campaign) -> None:
    invited(owner_client, campaign)
    own = Campaign.objects.create(name="Own", protocol="qg")
    own.memberships.create(user=stranger, role="owner")
    signed_in(stranger).post(url(own, "invitation_withdraw", _only().pk))
    assert _any()


def test_only_owners_see_who_is_invited(
    owner_client: Client, viewer_client: Client, campaign: Campaign, settings: Settings
) -> None:
    settings.EMAIL_BACKEND = NO_MAIL
    invite(owner_client, campaign, NOBODY)
    assert NOBODY in owner_client.get(url(campaign)).text
    text = viewer_client.get(url(campaign)).text
    assert NOBODY not in text and "/join/" not in text
    campaign.memberships.update(role="editor")
    assert invite(viewer_client, campaign, STRANGER).status_code == 403


# --- Mail


def test_without_mail_the_owner_has_a_link_and_with_mail_none(
    owner_client: Client, campaign: Campaign, settings: Settings
) -> None:
    link = invited(owner_client, campaign)
    assert mail.outbox[-1].to == [NOBODY]
    assert link not in owner_client.get(url(campaign)).text
    settings.EMAIL_BACKEND = NO_MAIL
    assert f"http://testserver{link}" in owner_client.get(url(campaign)).text


def test_a_mail_that_cannot_be_sent_is_said(owner_client: Client, campaign: Campaign, settings: Settings) -> None:
    backend = settings.EMAIL_BACKEND
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", free_port()
    response = invite(owner_client, campaign, NOBODY)
    assert response.status_code == 422 and "No mail was sent" in response.text
    assert _only().mailed_at is None and "not yet" in response.text
    settings.EMAIL_BACKEND = backend
    assert invite(owner_client, campaign, NOBODY).status_code == 302
    assert _only().mailed_at


def test_mails_are_limited(owner_client: Client, campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(member_services, "_MOST_INVITATIONS", 3)
    answers = [invite(owner_client, campaign, f"{n}@example.org") for n in range(5)]
    assert [each.status_code for each in answers] == [302, 302, 302, 422, 422]
    assert len(mail.outbox) == 3
    answers = [invite(owner_client, campaign, "0@example.org") for _ in range(member_services._BY_USER.n)]
    assert answers[-1].status_code == 422 and "hour" in answers[-1].text
    assert len(mail.outbox) == member_services._BY_USER.n


def test_new_accounts_are_limited_by_client(owner_client: Client, campaign: Campaign) -> None:
    link = invited(owner_client, campaign)
    answers = [sign_up(Client(), link, "123").status_code for _ in range(31)]
    assert answers[:30] == [422] * 30
    assert answers[30] == 429


# --- Scripts, the audit log, the log


def test_scripts_invite_list_and_withdraw(
    owner_client: Client, stranger: User, campaign: Campaign, settings: Settings
) -> None:
    address = f"/api/v1/campaigns/{campaign.public_id}/members/"
    answers = []
    for email in (STRANGER, NOBODY):
        answer = owner_client.post(address, {"email": email, "role": "viewer"}, "application/json")
        assert answer.status_code == 201
        answers.append(answer.json())
    assert [{**each, "id": 0, "email": "", "expires_at": "", "mailed_at": ""} for each in answers] == [
        {"id": 0, "email": "", "role": "viewer", "expires_at": "", "mailed_at": "", "url": ""}
    ] * 2
    assert [each["email"] for each in owner_client.get(f"{address}invitations/").json()] == [STRANGER, NOBODY]
    settings.EMAIL_BACKEND = NO_MAIL
    link = owner_client.get(f"{address}invitations/").json()[1]["url"]
    assert sign_up(Client(), link.removeprefix("http://testserver")).status_code == 302
    one = f"{address}invitations/{answers[0]['id']}/"
    assert [owner_client.delete(one).status_code for _ in range(2)] == [204, 404]
    assert owner_client.get(f"{address}invitations/").json() == []
    again = owner_client.post(address, {"email": NOBODY, "role": "viewer"}, "application/json")
    assert again.status_code == 422 and again.json()["code"] == "already_member"


def test_what_was_done_is_in_the_audit_log(owner_client: Client, campaign: Campaign) -> None:
    link = invited(owner_client, campaign)
    sign_up(Client(), link, "123")
    sign_up(Client(), link)
    entries = list(AuditEntry.objects.order_by("pk"))
    assert [(each.who, title_of(each)) for each in entries] == [
        ("owner@example.org", "invited somebody to be a member"),
        (NOBODY, "became a member by an invitation, or declined it"),
    ]
    assert {each.campaign for each in entries} == {campaign.public_id}
    assert link.split("/")[-2] not in str([each.details for each in entries])


def test_no_link_is_in_a_log() -> None:
    line = mask_tokens(
        '"GET /campaigns/join/0f3c.Secret_signature/ HTTP/1.1" "/accounts/sign-in/?next=/campaigns/join/X.Y/"'
    )
    assert "Secret" not in line and "X.Y" not in line
