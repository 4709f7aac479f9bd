"""Signing in at an OpenID Connect provider: whose account it is."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from campaigns.invitations import link_path
from campaigns.services.members import invite_member, join_with_new_account
from desk.people import list_people
from desk.system import Visit, list_checks
from evalsite.accounts import services
from evalsite.accounts.identities import find_or_connect_user
from evalsite.accounts.models import ProviderIdentity, SecondFactor, User
from evalsite.accounts.oidc import VerifiedIdentity
from evalsite.accounts.second_factors import new_secret
from evalsite.audit.acts import title_of
from evalsite.audit.models import AuditEntry
from evalsite.lib.env import env_claim, env_issuer
from evalsite.lib.errors import DomainError
from tests.accounts.provider import ADDRESS, CLIENT_ID, METADATA, WHO, Provider, assert_refused, user_of
from tests.campaigns.cast import make_campaign
from tests.conftest import signed_in
from tests.databases import at_once, on_both

# Of the library of the provider, which runs in this process.
pytestmark = pytest.mark.filterwarnings("ignore:get_jwt_config:DeprecationWarning")
SIGN_IN, CONNECTION = "accounts:sign_in", "accounts:connection"


# --- Who is signed in


def test_the_page_offers_it_and_an_invited_person_is_signed_in(provider: Provider, invited: User) -> None:
    browser = Client()
    assert "Sign in with Example University" in browser.get(reverse(SIGN_IN)).text
    response = provider.sign_in(browser, WHO, next="/analysis/")
    assert (response.status_code, response["Location"]) == (302, "/analysis/")
    assert user_of(browser) == ADDRESS
    entry = AuditEntry.objects.get()
    assert (entry.who, title_of(entry)) == (ADDRESS, "signed in at the provider, or connected the account with it")
    assert provider.secrets[-1] == (CLIENT_ID, "a+secret%3A+of+the+site"), "encoded, as RFC 6749 asks for"
    assert list_people(state="active").get() == invited


@pytest.mark.parametrize("next", ["https://evil.example/", "//evil.example", "javascript:alert(1)"])
def test_it_leads_to_no_other_site(provider: Provider, invited: User, next: str) -> None:
    assert provider.sign_in(Client(), WHO, next=next)["Location"] == reverse("home")


def test_the_subject_counts_from_then_on_and_not_the_address(provider: Provider, invited: User) -> None:
    provider.sign_in(Client(), WHO)
    provider.add(WHO, email="married@uni.example", email_verified=True)
    browser = Client()
    provider.sign_in(browser, WHO)
    assert user_of(browser) == ADDRESS
    assert ProviderIdentity.objects.get().subject == WHO


def test_an_address_that_has_a_new_owner_opens_nothing_of_the_former(provider: Provider, invited: User) -> None:
    provider.sign_in(Client(), WHO)
    provider.add("successor", email=ADDRESS, email_verified=True)
    browser = Client()
    assert provider.sign_in(browser, "successor").status_code == 403
    assert not user_of(browser) and ProviderIdentity.objects.get().subject == WHO


def test_a_provider_that_says_the_address_in_userinfo_only(provider: Provider, invited: User) -> None:
    provider.is_userinfo_only = True
    browser = Client()
    provider.sign_in(browser, WHO)
    assert user_of(browser) == ADDRESS


@on_both
@pytest.mark.django_db(transaction=True)
def test_two_tabs_at_once_make_one_account(settings: Settings) -> None:
    settings.OIDC_ISSUER, settings.OIDC_NEW_ACCOUNTS = "https://sso.example.org", "RESEARCHER"
    identity = VerifiedIdentity(settings.OIDC_ISSUER, WHO, ADDRESS, "Emmy Example", has_second_factor=False)
    found: list[int] = []

    def sign_in(k: int) -> None:
        found.append(find_or_connect_user(identity=identity, now=timezone.now()).pk)

    at_once(4, sign_in)
    assert found == [User.objects.get().pk] * 4 and ProviderIdentity.objects.get().subject == WHO


@pytest.mark.parametrize(("role", "is_staff"), [("RESEARCHER", False), ("ADMINISTRATOR", True)])
def test_accounts_are_made_where_the_settings_say_so(
    provider: Provider, settings: Settings, role: str, is_staff: bool
) -> None:
    browser = Client()
    assert_refused(browser, provider.sign_in(browser, WHO), 403)
    settings.OIDC_NEW_ACCOUNTS = role
    provider.sign_in(browser, WHO)
    made = User.objects.get()
    assert (made.email, made.name, made.is_staff, made.is_superuser) == (ADDRESS, "Emmy Example", is_staff, is_staff)
    assert not made.has_usable_password()


def test_whom_a_campaign_invites_gets_an_account_and_accepts(provider: Provider, owner: User) -> None:
    campaign = make_campaign(owner, "qg", "Questions")
    now = timezone.now()
    invitation = invite_member(campaign=campaign, email=ADDRESS.upper(), role="editor", by=owner, now=now)
    browser, path = Client(), link_path(invitation)
    assert "Sign in with Example University" in browser.get(path).text
    assert provider.sign_in(browser, WHO, next=path)["Location"] == path
    assert browser.post(path, {"answer": "accept"}).status_code == 302
    assert campaign.memberships.get(role="editor").user.email == ADDRESS


def test_an_invitation_that_has_expired_makes_no_account(provider: Provider, owner: User) -> None:
    campaign, before = make_campaign(owner, "qg", "Questions"), timezone.now() - timedelta(days=15)
    invite_member(campaign=campaign, email=ADDRESS, role="editor", by=owner, now=before)
    browser = Client()
    assert_refused(browser, provider.sign_in(browser, WHO), 403)


def test_signing_out_says_that_the_provider_may_still_know(provider: Provider, invited: User) -> None:
    browser = Client()
    provider.sign_in(browser, WHO)
    page = browser.post(reverse("accounts:sign_out"), follow=True)
    assert not user_of(browser) and "perhaps not yet at Example University" in page.text
    signed_in(invited).post(reverse("accounts:sign_out"), follow=True)
    assert "Example University. On a shared" not in browser.get(reverse(SIGN_IN)).text


# --- Accounts that somebody may have already


def test_an_account_with_a_password_is_connected_by_its_password_only(provider: Provider) -> None:
    User.objects.create_user(ADDRESS, "a-password-of-somebody")
    browser = Client()
    refused = provider.sign_in(browser, WHO)
    assert_refused(browser, refused, 403)
    assert f"{reverse(SIGN_IN)}?next={reverse(CONNECTION)}" in refused.text
    browser.post(reverse(SIGN_IN), {"username": ADDRESS, "password": "a-password-of-somebody"})
    page = browser.get(reverse(CONNECTION))
    assert "Connect with Example University" in page.text
    assert provider.sign_in(browser, WHO)["Location"] == reverse(CONNECTION)
    other = Client()
    provider.sign_in(other, WHO)
    assert user_of(other) == ADDRESS


def test_an_account_that_was_made_by_another_persons_invitation_is_not_taken(provider: Provider, owner: User) -> None:
    """Without mail, an owner has the link: the account has the address of the invited, and the owner's password."""
    campaign = make_campaign(owner, "qg", "Questions")
    invitation = invite_member(campaign=campaign, email=ADDRESS, role="editor", by=owner, now=timezone.now())
    join_with_new_account(invitation=invitation, name="", password="known-to-the-owner")
    browser = Client()
    assert_refused(browser, provider.sign_in(browser, WHO), 403)


def test_an_administrator_ends_the_password_so_that_it_can_be_connected(provider: Provider, owner: User) -> None:
    user = User.objects.create_user(ADDRESS, "a-password-of-somebody")
    services.deactivate_user(user=user, now=timezone.now(), by=owner)
    browser = Client()
    assert_refused(browser, provider.sign_in(browser, WHO), 403)
    services.reactivate_user(user=user, by=owner)
    provider.sign_in(browser, WHO)
    assert user_of(browser) == ADDRESS
    services.deactivate_user(user=user, now=timezone.now(), by=owner)
    assert not ProviderIdentity.objects.exists() and browser.get(reverse(CONNECTION)).status_code == 302


def test_two_accounts_are_not_connected_with_one_person(provider: Provider, owner: User, invited: User) -> None:
    provider.sign_in(Client(), WHO)
    browser = signed_in(owner)
    assert provider.sign_in(browser, WHO).status_code == 409
    assert ProviderIdentity.objects.get().user == invited


def test_disconnecting_needs_another_way_to_sign_in(provider: Provider, invited: User) -> None:
    browser = Client()
    provider.sign_in(browser, WHO)
    browser.post(reverse("accounts:disconnect"))
    assert ProviderIdentity.objects.exists()
    invited.set_password("a-password-of-emmy")
    invited.save()
    signed_in(invited).post(reverse("accounts:disconnect"))
    assert not ProviderIdentity.objects.exists()


def test_the_last_administrator_may_sign_in_at_the_provider_only(provider: Provider, settings: Settings) -> None:
    settings.OIDC_NEW_ACCOUNTS = "ADMINISTRATOR"
    provider.sign_in(Client(), WHO)
    admin = User.objects.get()
    with pytest.raises(DomainError, match="last administrator"):
        services.set_administrator(user=admin, is_administrator=False, by=admin)


# --- The second factor


def test_the_site_asks_for_its_second_factor(provider: Provider, settings: Settings, invited: User) -> None:
    SecondFactor.objects.create(user=invited, secret=new_secret(), last_step=0, created_at=timezone.now())
    provider.claims = lambda found: found.update(amr=["pwd", "mfa"])
    for who_asks, is_asked in (("SITE", True), ("AMR", False), ("PROVIDER", False)):
        settings.OIDC_SECOND_FACTOR = who_asks
        browser = Client()
        response = provider.sign_in(browser, WHO)
        assert (response["Location"] == reverse("accounts:second_step")) is is_asked
        assert (user_of(browser) == "") is is_asked
    provider.claims = lambda found: found.update(amr=["pwd"])
    settings.OIDC_SECOND_FACTOR = "AMR"
    assert provider.sign_in(Client(), WHO)["Location"] == reverse("accounts:second_step")


def test_administrators_have_it_by_the_provider_or_set_one_up(
    provider: Provider, settings: Settings, invited: User
) -> None:
    settings.ADMINS_NEED_SECOND_FACTOR = True
    User.objects.update(is_staff=True)
    for who_asks, status in (("SITE", 302), ("PROVIDER", 200)):
        settings.OIDC_SECOND_FACTOR = who_asks
        browser = Client()
        provider.sign_in(browser, WHO)
        assert browser.get(reverse("campaigns:list")).status_code == status
        assert browser.get("/api/v1/campaigns/").status_code == {302: 403, 200: 200}[status]


# --- The settings


def test_without_passwords_there_is_the_provider_alone(provider: Provider, settings: Settings, owner: User) -> None:
    settings.PASSWORD_SIGN_IN = False
    browser = Client()
    page = browser.get(reverse(SIGN_IN))
    assert "Sign in with Example University" in page.text and "Forgot password?" not in page.text
    answer = browser.post(reverse(SIGN_IN), {"username": owner.email, "password": "owner-password"})
    assert answer.status_code == 403 and not user_of(browser)
    assert browser.get(reverse("accounts:reset")).status_code == 404
    assert signed_in(owner).get(reverse("accounts:password")).status_code == 404


def test_without_passwords_people_are_invited_without_links(
    provider: Provider, settings: Settings, owner: User
) -> None:
    settings.PASSWORD_SIGN_IN = False
    User.objects.filter(pk=owner.pk).update(is_staff=True, is_superuser=True)
    admin = signed_in(owner)
    page = admin.post(reverse("desk:invite"), {"email": ADDRESS, "name": "Emmy"}, follow=True)
    assert f"{ADDRESS} can sign in now, without a password" in page.text and "/accounts/reset/" not in page.text
    assert admin.post(reverse("desk:person_link", args=[User.objects.get(email=ADDRESS).pk])).status_code == 404
    campaign = make_campaign(owner, "qg", "Questions")
    now = timezone.now()
    invitation = invite_member(campaign=campaign, email="else@uni.example", role="editor", by=owner, now=now)
    path = link_path(invitation)
    assert "Create account" not in Client().get(path).text
    chosen = dict.fromkeys(("new_password1", "new_password2"), "a-password-of-emmy")
    assert Client().post(path, chosen | {"name": "", "answer": "accept"}).status_code == 403
    assert not User.objects.filter(email="else@uni.example").exists()


@pytest.mark.parametrize("missing", ["OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET"])
def test_off_unless_all_is_set(provider: Provider, settings: Settings, missing: str) -> None:
    setattr(settings, missing, "")
    browser = Client()
    assert "Example University" not in browser.get(reverse(SIGN_IN)).text
    assert browser.post(reverse("accounts:oidc_start")).status_code == 404
    assert browser.get(reverse("accounts:oidc_callback")).status_code == 404
    assert _check("provider").must_fix and f"{missing}=…" in _check("provider").lines


def _check(key: str, *, is_tried: bool = False) -> Any:
    found = list_checks(Visit("http://localhost:8000"), timezone.now(), tries_network=is_tried)
    return next((each for each in found if each.key == key), None)


def test_the_check_of_an_installation_warns(provider: Provider, settings: Settings) -> None:
    assert _check("provider", is_tried=True).is_ok and _check("passwords") is None
    settings.OIDC_NEW_ACCOUNTS = "ADMINISTRATOR"
    assert _check("provider").must_fix
    settings.OIDC_NEW_ACCOUNTS = "NONE"
    provider.answers[METADATA] = (200, "<html>")
    assert _check("provider", is_tried=True).must_fix
    settings.PASSWORD_SIGN_IN = False
    assert _check("passwords").is_ok
    settings.OIDC_ISSUER = settings.OIDC_CLIENT_ID = settings.OIDC_CLIENT_SECRET = ""
    assert _check("provider") is None and _check("passwords").must_fix


@pytest.mark.parametrize(
    "text",
    ["sso.example.org", "http://sso.example.org", "https://", "https://a:b@c.org", "https://c.org/?x", "ftp://c"],
)
def test_a_wrong_issuer_is_named(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("OIDC_ISSUER", text)
    with pytest.raises(ValueError, match="OIDC_ISSUER"):
        env_issuer("OIDC_ISSUER")


def test_a_claim_has_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OIDC_REQUIRED_CLAIM", "groups = staff=all")
    assert env_claim("OIDC_REQUIRED_CLAIM") == ("groups", "staff=all")
    monkeypatch.setenv("OIDC_REQUIRED_CLAIM", "groups")
    with pytest.raises(ValueError, match="OIDC_REQUIRED_CLAIM"):
        env_claim("OIDC_REQUIRED_CLAIM")
