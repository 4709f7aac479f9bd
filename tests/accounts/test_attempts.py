"""How often passwords may be tried and mails asked for. The clock stops unless a test moves it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest import mock

import pytest
from django.core import mail
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from evalsite.accounts.models import User
from tests.services import free_port

pytestmark = pytest.mark.django_db
RIGHT, WRONG = "owner-password", "wrong"
NEW = "seven geese above the mill"
OFFICE, ATTACKER = "192.0.2.7", "198.51.100.66"


class Clock:
    """The time as the site sees it."""

    def __init__(self) -> None:
        self.now = datetime(2026, 5, 4, 12, tzinfo=UTC)

    def forward(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture(autouse=True)
def clock() -> Iterator[Clock]:
    clock = Clock()
    with mock.patch("django.utils.timezone.now", lambda: clock.now):
        yield clock


def sign_in(
    password: str, *, email: str = "owner@example.org", address: str = ATTACKER, client: Client | None = None
) -> HttpResponse:
    data = {"username": email, "password": password}
    return (client or Client()).post(reverse("accounts:sign_in"), data, REMOTE_ADDR=address)


def statuses(n: int, password: str = WRONG, **options: Any) -> list[int]:
    return [sign_in(password, **options).status_code for _ in range(n)]


def test_twenty_wrong_passwords_are_slowed(owner: User, clock: Clock) -> None:
    assert statuses(20) == [200] * 5 + [429] * 15
    refused = sign_in(WRONG)
    assert refused.status_code == 429
    assert refused["Retry-After"] == "60"
    assert "Try again in a minute." in refused.text
    assert "no-store" in refused["Cache-Control"]

    clock.forward(60)
    assert sign_in(RIGHT).status_code == 302


def test_a_right_password_gets_the_same_refusal_as_a_wrong_one(owner: User, clock: Clock) -> None:
    statuses(5)
    client, other = (Client(headers={"X-Request-ID": "the-same"}) for _ in range(2))
    right, wrong = sign_in(RIGHT, client=client), sign_in(WRONG, client=other)
    for each in (right, wrong):
        del each.headers["Expires"]  # the second in which it was answered
    assert (right.status_code, right.content, right.headers) == (wrong.status_code, wrong.content, wrong.headers)
    assert not client.cookies


def test_delays_grow_and_stay_within_an_hour(owner: User, clock: Clock) -> None:
    begin, n_checked, waits = clock.now, 0, []
    for _ in range(100):
        response = sign_in(WRONG)
        if response.status_code == 429:
            waits.append(int(response["Retry-After"]))
            clock.forward(waits[-1])
        else:
            n_checked += 1
    assert waits[:2] == [60, 540]
    assert 1200 < max(waits) <= 3600
    assert n_checked <= 20 * (1 + (clock.now - begin) / timedelta(hours=1))


def test_its_owner_signs_in_at_another_address_meanwhile(owner: User) -> None:
    statuses(30)
    assert sign_in(RIGHT, address=OFFICE).status_code == 302


def test_one_address_that_tries_many_accounts_is_slowed(owner: User, stranger: User) -> None:
    tried = [sign_in(WRONG, email=f"user{k}@example.org").status_code for k in range(40)]
    assert tried == [200] * 30 + [429] * 10
    assert sign_in("stranger-password", email=stranger.email).status_code == 429
    assert sign_in("stranger-password", email=stranger.email, address=OFFICE).status_code == 302


def test_many_addresses_that_try_one_account_are_slowed_but_a_browser_known_to_it_is_not(
    owner: User, clock: Clock
) -> None:
    at_home = Client()
    assert sign_in(RIGHT, client=at_home, address=OFFICE).status_code == 302
    at_home.post(reverse("accounts:sign_out"))
    clock.forward(24 * 3600)

    tried = [sign_in(WRONG, address=f"203.0.113.{k}").status_code for k in range(80)]
    assert tried == [200] * 60 + [429] * 20
    assert sign_in(RIGHT, address=OFFICE).status_code == 429
    assert sign_in(RIGHT, address=OFFICE, client=at_home).status_code == 302


def test_a_known_browser_has_the_same_limits(owner: User) -> None:
    client = Client()
    sign_in(RIGHT, client=client)
    client.post(reverse("accounts:sign_out"))
    assert statuses(7, client=client) == [200] * 5 + [429] * 2
    assert sign_in(RIGHT, client=client).status_code == 429
    assert statuses(7) == [200] * 5 + [429] * 2


def test_a_browser_known_to_one_account_is_not_known_to_another(owner: User, stranger: User) -> None:
    client = Client()
    sign_in("stranger-password", email=stranger.email, client=client)
    client.post(reverse("accounts:sign_out"))
    statuses(5)
    assert sign_in(RIGHT, client=client).status_code == 429


def test_an_attacker_with_an_account_cannot_begin_again(owner: User, stranger: User) -> None:
    signed_in = Client()
    sign_in("stranger-password", email=stranger.email, client=signed_in)
    statuses(5)
    sign_in(WRONG, client=signed_in)  # sent on, since it has signed in
    sign_in("stranger-password", email=stranger.email)
    assert sign_in(WRONG).status_code == 429


def test_a_right_password_forgets_slips_of_the_keys(owner: User) -> None:
    for _ in range(5):
        assert statuses(4) == [200] * 4
        assert sign_in(RIGHT).status_code == 302


def test_a_lab_behind_one_address_signs_in(db: None) -> None:
    users = [User.objects.create_user(f"user{k}@example.org", RIGHT) for k in range(60)]
    for user in users:
        assert sign_in(RIGHT, email=user.email).status_code == 302


@pytest.mark.parametrize("email", ["OWNER@example.org", " owner@example.org ", "ｏwner@example.org"])
def test_spellings_of_one_address_share_a_counter(owner: User, email: str) -> None:
    statuses(5)
    assert sign_in(WRONG, email=email).status_code == 429


def test_an_endless_address_is_counted_by_its_beginning(owner: User) -> None:
    accents = "\u0301" * 10_000 + "\u0316" * 10_000  # to be put in order, one by one
    ends = ["", "a", "b", "c", "d", accents]
    assert [sign_in(WRONG, email="n" * 254 + end).status_code for end in ends] == [200] * 5 + [429]
    assert [ask_for_mail("n" * 254 + end).status_code for end in ends] == [200] * 5 + [429]


def test_without_the_cache_one_can_sign_in(owner: User, settings: Settings) -> None:
    nowhere = f"redis://127.0.0.1:{free_port()}/0"
    backend = "django.core.cache.backends.redis.RedisCache"
    settings.CACHES = {**settings.CACHES, "rate_limits": {"BACKEND": backend, "LOCATION": nowhere}}
    assert statuses(6) == [200] * 6
    assert sign_in(RIGHT).status_code == 302


# --- The admin pages


def test_the_admin_pages_have_no_sign_in_of_their_own(owner: User) -> None:
    User.objects.update(is_staff=True, is_superuser=True)
    client = Client()
    asked = client.get(reverse("admin:index"), follow=True)
    assert [status for _, status in asked.redirect_chain] == [302, 302]
    assert asked.redirect_chain[-1][0] == f"{reverse('accounts:sign_in')}?next={reverse('admin:index')}"

    guess = client.post(reverse("admin:login"), {"username": owner.email, "password": RIGHT})
    assert guess["Location"].startswith(reverse("accounts:sign_in"))
    assert "_auth_user_id" not in client.session

    data = {"username": owner.email, "password": RIGHT, "next": reverse("admin:index")}
    assert client.post(reverse("accounts:sign_in"), data, follow=True).status_code == 200
    assert client.get(reverse("admin:login"))["Location"] == reverse("admin:index")
    assert client.get(reverse("admin:password_change"))["Location"] == reverse("accounts:password")


def test_a_user_who_is_no_admin_is_refused_there(stranger_client: Client) -> None:
    response = stranger_client.get(reverse("admin:index"), follow=True)
    assert response.status_code == 403
    assert "Your account may not do this" in response.text


# --- Changing the password


def change(client: Client, old: str, new: str = NEW) -> int:
    data = {"old_password": old, "new_password1": new, "new_password2": new}
    return client.post(reverse("accounts:password"), data).status_code


def test_wrong_old_passwords_are_slowed(owner_client: Client, owner: User, clock: Clock) -> None:
    assert [change(owner_client, WRONG) for _ in range(20)] == [200] * 5 + [429] * 15
    assert change(owner_client, RIGHT) == 429
    owner.refresh_from_db()
    assert owner.check_password(RIGHT)

    clock.forward(60)
    assert change(owner_client, RIGHT) == 302


def test_a_new_password_that_will_not_do_is_not_counted(owner_client: Client) -> None:
    assert [change(owner_client, RIGHT, new="short") for _ in range(8)] == [200] * 8
    assert change(owner_client, RIGHT) == 302


# --- Mails with links


def ask_for_mail(email: str, address: str = ATTACKER) -> HttpResponse:
    return Client().post(reverse("accounts:reset"), {"email": email}, REMOTE_ADDR=address)


def test_an_account_gets_a_few_mails_an_hour(owner: User, clock: Clock) -> None:
    asked = [ask_for_mail(owner.email, f"203.0.113.{k}") for k in range(8)]
    assert [response.status_code for response in asked] == [302] * 5 + [429] * 3
    assert len(mail.outbox) == 5
    assert asked[-1]["Retry-After"] == "3600"
    assert "A link that is in your mailbox still works." in asked[-1].text

    clock.forward(3600)
    assert ask_for_mail(owner.email).status_code == 302


def test_an_unknown_address_is_refused_after_as_many(owner: User) -> None:
    assert [ask_for_mail("nobody@example.org").status_code for _ in range(7)] == [302] * 5 + [429] * 2


def test_one_address_asks_for_a_few_mails_an_hour(db: None) -> None:
    asked = [ask_for_mail(f"user{k}@example.org").status_code for k in range(25)]
    assert asked == [302] * 20 + [429] * 5


def test_a_new_password_by_mail_lets_its_owner_in_whatever_others_do(owner: User) -> None:
    client = Client()
    ask_for_mail(owner.email, OFFICE)
    link = mail.outbox[0].body.split("//")[1].split()[0].partition("/")[2]
    form = client.get(f"/{link}", follow=True)
    for k in range(60):
        sign_in(WRONG, address=f"203.0.113.{k}")
    client.post(form.request["PATH_INFO"], {"new_password1": NEW, "new_password2": NEW})
    assert sign_in(NEW, address=OFFICE).status_code == 429
    assert sign_in(NEW, address=OFFICE, client=client).status_code == 302
