"""Signing in and out."""

import pytest
from django.test import Client
from django.urls import reverse

from evalsite.accounts.models import User

pytestmark = pytest.mark.django_db
PASSWORD = "owner-password"


@pytest.mark.parametrize("email", ["Owner@Example.org", "owner@example.org", "OWNER@EXAMPLE.ORG"])
def test_sign_in_takes_the_address_in_any_case(client: Client, owner: User, email: str) -> None:
    response = client.post(reverse("accounts:sign_in"), {"username": email, "password": PASSWORD})
    assert response.status_code == 302
    assert response["Location"] == reverse("home")
    assert client.session["_auth_user_id"] == str(owner.pk)


def test_sign_in_finds_an_address_that_was_stored_with_capitals(client: Client, db: None) -> None:
    User.objects.create_user("Ada.Long@Example.org", PASSWORD)
    client.post(reverse("accounts:sign_in"), {"username": "ada.long@example.org", "password": PASSWORD})
    assert "_auth_user_id" in client.session


def test_an_address_longer_than_any_is_nobodys(client: Client, owner: User) -> None:
    response = client.post(reverse("accounts:sign_in"), {"username": "n" * 60_000, "password": PASSWORD})
    assert response.status_code == 200
    assert "_auth_user_id" not in client.session


def test_sign_in_goes_on_to_the_page_that_was_asked_for(client: Client, owner: User) -> None:
    wanted = reverse("accounts:password")
    response = client.get(wanted)
    assert response.status_code == 302
    assert response["Location"] == f"{reverse('accounts:sign_in')}?next={wanted}"
    assert f'name="next" value="{wanted}"' in client.get(response["Location"]).text

    data = {"username": owner.email, "password": PASSWORD, "next": wanted}
    assert client.post(reverse("accounts:sign_in"), data)["Location"] == wanted


def test_sign_in_does_not_go_on_to_another_site(client: Client, owner: User) -> None:
    data = {"username": owner.email, "password": PASSWORD, "next": "https://elsewhere.example/"}
    assert client.post(reverse("accounts:sign_in"), data)["Location"] == reverse("home")


@pytest.mark.parametrize(("email", "password"), [("owner@example.org", "wrong"), ("nobody@example.org", PASSWORD)])
def test_a_wrong_pair_says_so_and_not_which_of_the_two(client: Client, owner: User, email: str, password: str) -> None:
    response = client.post(reverse("accounts:sign_in"), {"username": email, "password": password})
    assert response.status_code == 200
    assert [error.code for error in response.context["form"].non_field_errors().as_data()] == ["invalid_login"]
    assert "No active account has this e-mail address and password" in response.text
    assert 'role="alert"' in response.text
    assert "_auth_user_id" not in client.session


def test_a_user_who_is_not_active_cannot_sign_in(client: Client, owner: User) -> None:
    User.objects.update(is_active=False)
    client.post(reverse("accounts:sign_in"), {"username": owner.email, "password": PASSWORD})
    assert "_auth_user_id" not in client.session


def test_sign_in_sends_on_who_is_signed_in(client: Client, owner: User) -> None:
    client.force_login(owner)
    assert client.get(reverse("accounts:sign_in"))["Location"] == reverse("home")


def test_sign_out_by_post_only(client: Client, owner: User) -> None:
    client.force_login(owner)
    assert client.get(reverse("accounts:sign_out")).status_code == 405
    assert "_auth_user_id" in client.session

    assert client.post(reverse("accounts:sign_out"))["Location"] == reverse("accounts:sign_in")
    assert "_auth_user_id" not in client.session


def test_sign_out_wants_the_csrf_token(owner: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner)
    response = client.post(reverse("accounts:sign_out"))
    assert response.status_code == 403
    assert "Please send that again" in response.text
    assert "_auth_user_id" in client.session


@pytest.mark.parametrize("name", ["home", "accounts:password", "accounts:password_changed"])
def test_an_anonymous_visitor_is_sent_to_sign_in(client: Client, name: str) -> None:
    response = client.get(reverse(name), follow=True)
    assert response.redirect_chain[-1][0].startswith(f"{reverse('accounts:sign_in')}?next=")


@pytest.mark.parametrize("is_staff", [False, True])
def test_only_an_admin_sees_the_way_to_the_admin_pages(client: Client, owner: User, is_staff: bool) -> None:
    User.objects.update(is_staff=is_staff)
    client.force_login(owner)
    text = client.get(reverse("accounts:password")).text
    assert (f'href="{reverse("desk:home")}"' in text) == is_staff
    assert "Olu Owner" in text
    assert f'action="{reverse("accounts:sign_out")}"' in text
