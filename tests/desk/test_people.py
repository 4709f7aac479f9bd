"""Accounts as administrators see and change them; what a link is worth, and when it is not."""

import re
import threading
from datetime import timedelta
from html import unescape

import pytest
from django.core import mail
from django.db import connections, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from campaigns.models import Campaign
from evalsite.accounts.models import User
from evalsite.accounts.services import deactivate_user, invite_user, set_administrator
from evalsite.accounts.tokens import create_token
from evalsite.lib.errors import DomainError
from tests.campaigns.cast import make_campaign
from tests.conftest import signed_in
from tests.services import free_port

NEW = "seven geese above the mill"
NO_MAIL = "django.core.mail.backends.dummy.EmailBackend"


def invite(client: Client, email: str = "new@example.org", **more: str):
    return client.post(reverse("desk:invite"), {"email": email, "name": "Nia New", **more})


def link_in(page) -> str:
    """Return the path of the link that a page shows."""
    found = re.search(r'id="link">http://testserver(/[^<]+)<', page.text)
    assert found, page.text
    return unescape(found[1])


def choose_password(link: str, password: str = NEW) -> bool:
    """Follow a link in a browser of one's own; return whether a password could be chosen."""
    client = Client()
    form = client.get(link, follow=True)
    if not form.context["validlink"]:
        return False
    done = client.post(form.request["PATH_INFO"], {"new_password1": password, "new_password2": password})
    assert done["Location"] == reverse("accounts:reset_done")
    return True


def may_sign_in(email: str, password: str) -> bool:
    return Client().login(username=email, password=password)


def act(client: Client, name: str, user: User, **data: str):
    return client.post(reverse(f"desk:person_{name}", args=[user.pk]), data)


# --- The list


def test_the_list_says_who_is_what(admin_client: Client, owner: User, campaign_of_owner: Campaign) -> None:
    rows = dict(admin_client.get(reverse("desk:people")).context["rows"])
    assert {user.email: state for user, state in rows.items()} == {
        "admin@example.org": "active",
        "owner@example.org": "active",
    }
    assert {user.email: user.n_campaigns for user in rows}["owner@example.org"] == 1


@pytest.fixture
def campaign_of_owner(owner: User) -> Campaign:
    return make_campaign(owner)


def found(client: Client, **query: str) -> list[str]:
    page = client.get(reverse("desk:people"), query)
    assert page.status_code == 200
    return [user.email for user, _ in page.context["rows"]]


def test_people_are_found_by_name_address_and_state(admin_client: Client, admin: User, owner: User) -> None:
    invite(admin_client)
    assert found(admin_client, search="OLU") == ["owner@example.org"]
    assert found(admin_client, search="new@") == ["new@example.org"]
    assert found(admin_client, state="administrators") == ["admin@example.org"]
    assert found(admin_client, state="invited") == ["new@example.org"]
    deactivate_user(user=owner, now=timezone.now(), by=admin)
    assert found(admin_client, state="deactivated") == ["owner@example.org"]
    assert found(admin_client, state="active") == ["admin@example.org"]
    assert found(admin_client, search="nobody at all") == []


def test_an_unknown_filter_is_said(admin_client: Client) -> None:
    assert admin_client.get(reverse("desk:people"), {"state": "rich"}).status_code == 422


def test_an_account_shows_its_campaigns(admin_client: Client, owner: User, campaign_of_owner: Campaign) -> None:
    page = admin_client.get(reverse("desk:person", args=[owner.pk]))
    assert campaign_of_owner.name in page.text
    assert reverse("admin:campaigns_campaign_change", args=[campaign_of_owner.pk]) in page.text


# --- Invitations


def test_an_invited_person_chooses_a_password_once(admin_client: Client, settings: Settings) -> None:
    settings.EMAIL_BACKEND = NO_MAIL
    page = invite(admin_client)
    assert page.status_code == 200
    user = User.objects.get(email="new@example.org")
    assert (user.is_staff, user.is_superuser, user.has_usable_password()) == (False, False, False)
    link = link_in(page)
    assert choose_password(link)
    assert may_sign_in("new@example.org", NEW)
    assert not choose_password(link, "another one entirely")
    assert mail.outbox == []


def test_the_invitation_is_mailed_where_mail_is_set_up(admin_client: Client) -> None:
    page = invite(admin_client, is_administrator="on")
    assert User.objects.get(email="new@example.org").is_staff
    [sent] = mail.outbox
    assert sent.to == ["new@example.org"]
    assert link_in(page) in sent.body and "Ada Admin" in sent.body


def test_a_mail_server_that_fails_keeps_the_link(admin_client: Client, settings: Settings) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", free_port()
    page = invite(admin_client)
    assert "nothing listens at" in page.text
    assert "was mailed" not in page.text
    assert choose_password(link_in(page))


def test_an_invited_person_without_the_link_may_ask_for_one_by_mail(admin_client: Client, settings: Settings) -> None:
    invite(admin_client)
    Client().post(reverse("accounts:reset"), {"email": "NEW@example.org"})
    found = re.search(r"http://testserver(/\S+)", mail.outbox[-1].body)
    assert found and mail.outbox[-1].to == ["new@example.org"]
    assert "new@example.org" in Client().get(found[1], follow=True).text
    assert choose_password(found[1])


def test_a_deactivated_person_gets_no_link_by_mail(admin_client: Client, owner: User) -> None:
    act(admin_client, "deactivate", owner)
    Client().post(reverse("accounts:reset"), {"email": owner.email})
    assert mail.outbox == []


@pytest.mark.parametrize("email", ["OWNER@example.org", "no address", ""])
def test_a_taken_or_wrong_address_is_said_and_what_was_typed_kept(
    admin_client: Client, owner: User, email: str
) -> None:
    page = invite(admin_client, email)
    assert page.status_code == 422
    assert page.context["form"].has_error("email")
    assert "Nia New" in page.text
    assert User.objects.count() == 2


def test_a_link_expires(admin_client: Client, settings: Settings) -> None:
    link = link_in(invite(admin_client))
    settings.PASSWORD_RESET_TIMEOUT = -1
    assert not choose_password(link)


# --- Links


def test_a_link_for_a_forgotten_password(admin_client: Client, owner: User) -> None:
    link = link_in(act(admin_client, "link", owner))
    assert owner.check_password("owner-password"), "until another is chosen"
    assert choose_password(link)
    assert may_sign_in(owner.email, NEW) and not may_sign_in(owner.email, "owner-password")


def test_a_deactivated_person_gets_no_link(admin_client: Client, admin: User, owner: User) -> None:
    deactivate_user(user=owner, now=timezone.now(), by=admin)
    page = act(admin_client, "link", owner)
    assert page.status_code == 409
    assert "Reactivate the account first" in page.text


# --- Deactivating


def test_deactivating_ends_sessions_links_and_tokens_for_good(admin_client: Client, owner: User) -> None:
    browser, link = signed_in(owner), link_in(act(admin_client, "link", owner))
    later = timezone.now() + timedelta(days=1)
    _, token = create_token(user=owner, name="t", scopes=["read"], now=timezone.now(), expires_at=later)
    authorised = {"Authorization": f"Bearer {token}"}
    assert Client().get(reverse("api:campaigns"), headers=authorised).status_code == 200

    assert act(admin_client, "deactivate", owner).status_code == 302
    assert not may_sign_in(owner.email, "owner-password")

    page = act(admin_client, "reactivate", owner)
    assert Client().get(reverse("api:campaigns"), headers=authorised).status_code == 401
    assert browser.get(reverse("campaigns:list")).status_code == 302
    assert not choose_password(link)
    assert not may_sign_in(owner.email, "owner-password")
    assert choose_password(link_in(page))
    assert may_sign_in(owner.email, NEW)


# --- Roles


def test_an_administrator_makes_another_and_leaves(admin_client: Client, admin: User, owner: User) -> None:
    act(admin_client, "role", owner, role="administrator")
    owner.refresh_from_db()
    assert owner.is_staff and owner.is_superuser
    assert act(admin_client, "role", admin, role="researcher")["Location"] == reverse("home")
    admin.refresh_from_db()
    assert not admin.is_staff and not admin.is_superuser
    assert admin_client.get(reverse("desk:people")).status_code == 404


@pytest.mark.parametrize(("name", "data"), [("role", {"role": "researcher"}), ("deactivate", {})])
def test_the_last_administrator_stays(
    admin_client: Client, admin: User, owner: User, name: str, data: dict[str, str]
) -> None:
    set_administrator(user=owner, is_administrator=True, by=admin)
    deactivate_user(user=owner, now=timezone.now(), by=admin)
    invite_user(email="new@example.org", name="", is_administrator=True, by=admin)  # who cannot sign in yet
    page = act(admin_client, name, admin, **data)
    assert page.status_code == 409
    assert "last administrator who can sign in" in page.text
    admin.refresh_from_db()
    assert admin.is_active and admin.is_staff and admin.has_usable_password()


@pytest.mark.django_db(transaction=True)
@pytest.mark.databases("sqlite", "postgresql")
def test_of_two_administrators_who_remove_each_other_at_once_one_stays(admin: User, owner: User) -> None:
    set_administrator(user=owner, is_administrator=True, by=admin)
    refused = []

    def remove_the_first() -> None:
        try:
            set_administrator(user=admin, is_administrator=False, by=owner)
        except DomainError as error:
            refused.append(error.code)
        finally:
            connections.close_all()

    second = threading.Thread(target=remove_the_first)
    with transaction.atomic():
        set_administrator(user=owner, is_administrator=False, by=admin)
        second.start()
        second.join(0.5)  # it waits for the first
    second.join()
    assert refused == ["last_administrator"]
    assert [user.email for user in User.objects.filter(is_staff=True)] == [admin.email]


# --- Name and address


def test_a_name_and_an_address_are_changed(admin_client: Client, owner: User, colleague: User) -> None:
    page = reverse("desk:person", args=[owner.pk])
    assert admin_client.post(page, {"email": "Olu@Example.org", "name": "Olu"}).status_code == 302
    owner.refresh_from_db()
    assert (owner.email, owner.name) == ("Olu@example.org", "Olu")
    assert may_sign_in("olu@example.org", "owner-password")
    refused = admin_client.post(page, {"email": colleague.email.upper(), "name": "Olu"})
    assert refused.status_code == 422 and refused.context["form"].has_error("email")


def test_somebody_who_is_not_there_is_not_found(admin_client: Client) -> None:
    assert admin_client.get(reverse("desk:person", args=[999])).status_code == 404
