"""A second factor: set up, asked for, once each code, lost, required."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from io import StringIO

import pyotp
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from desk.secrets import iter_secrets
from evalsite.accounts import second_factors
from evalsite.accounts.models import SecondFactor, User
from evalsite.audit.acts import title_of
from evalsite.audit.models import AuditEntry
from evalsite.lib.encryption import encrypt_secrets
from evalsite.lib.errors import DomainError
from tests.conftest import signed_in

pytestmark = pytest.mark.django_db
PASSWORD = "owner-password"
SIGN_IN, STEP, PAGE = (reverse(f"accounts:{name}") for name in ("sign_in", "second_step", "second_factor"))
OFF, CODES = (reverse(f"accounts:{name}") for name in ("second_factor_off", "recovery_codes"))


@pytest.fixture
def totp(owner: User) -> pyotp.TOTP:
    """The app of the owner, whose last code is minutes old."""
    secret, then = second_factors.new_secret(), timezone.now() - timedelta(minutes=5)
    app = pyotp.TOTP(second_factors.text_of(secret))
    second_factors.set_up(user=owner, secret=secret, code=app.at(then), now=then)
    return app


def begin(client: Client, next_page: str = "", password: str = PASSWORD):
    return client.post(SIGN_IN, {"username": "owner@example.org", "password": password, "next": next_page})


def is_signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def wrong(app: pyotp.TOTP) -> str:
    """Return a code that is wrong now."""
    return next(code for code in ("000000", "111111", "222222", "333333") if not app.verify(code, valid_window=2))


# --- Setting up


def test_set_up_shows_a_code_and_needs_one_of_the_app(owner_client: Client, owner: User) -> None:
    page = owner_client.get(PAGE)
    assert "<svg" in page.text and "http" not in re.search(r"<svg.*?</svg>", page.text, re.DOTALL)[0]
    app = pyotp.TOTP(re.search(r'class="token">(\w+)<', page.text)[1])
    assert owner_client.post(PAGE, {"code": wrong(app)}).status_code == 422
    assert not SecondFactor.objects.exists()
    done = owner_client.post(PAGE, {"code": app.now()})
    codes = re.findall(r"\b(?:[0-9a-f]{4}-){3}[0-9a-f]{4}\b", done.text)
    assert done.status_code == 200 and len(set(codes)) == 10
    factor = SecondFactor.objects.get()
    kept = factor.secret + str(factor.recovery_codes)
    assert all(text.replace("-", "") not in kept for text in (app.secret, *codes))
    shown = owner_client.get(PAGE).text
    assert "10 recovery codes left" in shown and app.secret not in shown
    assert [title_of(each) for each in AuditEntry.objects.all()] == ["set up a second factor"]
    assert codes[0] not in str(AuditEntry.objects.values())


def test_what_the_app_scans(owner: User) -> None:
    secret = second_factors.new_secret()
    found = pyotp.parse_uri(unescape(second_factors.address_for_app(owner, secret)))
    assert (found.secret, found.name, found.issuer) == (second_factors.text_of(secret), owner.email, "evalsite")


def test_codes_are_those_of_the_standard(owner: User) -> None:
    """RFC 6238, appendix B: the secret “12345678901234567890” at 59 s and 1111111109 s, the last six digits."""
    secret = encrypt_secrets({"totp": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"})
    second_factors.set_up(user=owner, secret=secret, code="287082", now=datetime.fromtimestamp(59, UTC))
    second_factors.use_code(user=owner, code="081 804", now=datetime.fromtimestamp(1111111109, UTC))


# --- Signing in


def test_a_code_is_asked_for_after_the_password(totp: pyotp.TOTP) -> None:
    client = Client()
    assert begin(client, "/analysis/")["Location"] == STEP
    assert not is_signed_in(client)
    assert client.get(reverse("campaigns:list")).status_code == 302, "half is nothing"
    assert client.get(STEP).status_code == 200
    assert client.post(STEP, {"code": wrong(totp)}).status_code == 422
    assert not is_signed_in(client)
    assert client.post(STEP, {"code": totp.now()})["Location"] == "/analysis/"
    assert is_signed_in(client)
    assert [title_of(each) for each in AuditEntry.objects.all()] == ["signed in with a second factor"]


def test_without_the_password_there_is_no_second_step(totp: pyotp.TOTP) -> None:
    client = Client()
    assert begin(client, password="wrong").status_code == 200
    for answer in (client.get(STEP), client.post(STEP, {"code": totp.now()})):
        assert answer["Location"] == SIGN_IN
    assert not is_signed_in(client)


def test_a_code_works_once_in_any_browser(totp: pyotp.TOTP) -> None:
    code, answers = totp.now(), []
    for client in (Client(), Client()):
        begin(client)
        answers.append(client.post(STEP, {"code": code}).status_code)
    assert answers == [302, 422]


def test_a_code_of_an_hour_ago_is_wrong(totp: pyotp.TOTP, owner: User) -> None:
    SecondFactor.objects.update(last_step=0)
    now = timezone.now()
    for minutes in (-60, -2, 2):
        with pytest.raises(DomainError):
            second_factors.use_code(user=owner, code=totp.at(now + timedelta(minutes=minutes)), now=now)
    second_factors.use_code(user=owner, code=totp.at(now - timedelta(seconds=30)), now=now)


def test_a_recovery_code_works_once(totp: pyotp.TOTP, owner_client: Client) -> None:
    page = owner_client.post(CODES, {"code": totp.now()}).text
    code = re.search(r"(?:[0-9a-f]{4}-){3}[0-9a-f]{4}", page)[0]
    answers = []
    for sent in (code.upper(), code):
        client = Client()
        begin(client)
        answers.append(client.post(STEP, {"code": sent}).status_code)
    assert answers == [302, 422]
    assert len(SecondFactor.objects.get().recovery_codes) == 9


def test_wrong_codes_are_slowed(totp: pyotp.TOTP) -> None:
    client, sent = Client(), wrong(totp)
    begin(client)
    answers = [client.post(STEP, {"code": sent}).status_code for _ in range(6)]
    assert answers == [422] * 5 + [429]
    assert client.post(STEP, {"code": totp.now()}).status_code == 429, "nor a right one"
    begin(other := Client())
    assert other.post(STEP, {"code": totp.now()}).status_code == 429, "not by another session either"


def test_many_addresses_that_try_codes_are_slowed(totp: pyotp.TOTP) -> None:
    sent, last = wrong(totp), 0
    for n in range(61):
        client = Client(REMOTE_ADDR=f"192.0.2.{n}")
        begin(client)
        last = client.post(STEP, {"code": sent}).status_code
    assert last == 429


def test_a_new_password_ends_what_was_begun(totp: pyotp.TOTP, owner: User) -> None:
    client = Client()
    begin(client)
    owner.set_password("seven geese above the mill")
    owner.save()
    assert client.post(STEP, {"code": totp.now()})["Location"] == SIGN_IN


def test_what_was_begun_ends_after_ten_minutes(totp: pyotp.TOTP) -> None:
    client = Client()
    begin(client)
    session = client.session
    session["second_step"] = session["second_step"] | {"until": session["second_step"]["until"] - 601}
    session.save()
    assert client.post(STEP, {"code": totp.now()})["Location"] == SIGN_IN


def test_the_proxy_s_word_does_not_replace_the_code(totp: pyotp.TOTP, owner: User, settings: Settings) -> None:
    settings.REMOTE_USER_HEADER, settings.BEHIND_PROXY = "X-Remote-User", True
    client = Client(headers={"X-Remote-User": owner.email})
    assert client.post(reverse("accounts:proxy_sign_in"))["Location"] == STEP
    assert not is_signed_in(client)


# --- Turning it off, and losing it


def test_turning_off_needs_a_code(totp: pyotp.TOTP, owner_client: Client) -> None:
    assert owner_client.post(OFF, {"code": wrong(totp)}).status_code == 422
    assert owner_client.post(OFF, {}).status_code == 422
    assert SecondFactor.objects.exists()
    assert owner_client.post(OFF, {"code": totp.now()}).status_code == 302
    assert not SecondFactor.objects.exists()
    client = Client()
    begin(client)
    assert is_signed_in(client)


def test_a_command_takes_it_away(totp: pyotp.TOTP) -> None:
    out = StringIO()
    call_command("reset_second_factor", "Owner@example.org", stdout=out)
    assert "by password alone" in out.getvalue() and not SecondFactor.objects.exists()
    for address in ("owner@example.org", "nobody@example.org"):
        with pytest.raises(CommandError):
            call_command("reset_second_factor", address)


def test_the_secret_is_encrypted_anew_with_a_new_key(totp: pyotp.TOTP) -> None:
    assert [(stored.model, stored.is_readable) for stored in iter_secrets()] == [(SecondFactor, True)]


# --- Required


def test_administrators_may_do_nothing_before(settings: Settings, owner: User, owner_client: Client) -> None:
    settings.ADMINS_NEED_SECOND_FACTOR = True
    assert owner_client.get(reverse("campaigns:list")).status_code == 200, "no administrator"
    User.objects.update(is_staff=True)
    for name in ("campaigns:list", "desk:people", "admin:index", "accounts:tokens"):
        assert owner_client.get(reverse(name))["Location"] == PAGE
    assert owner_client.get("/api/v1/campaigns/").status_code == 403
    app = pyotp.TOTP(re.search(r'class="token">(\w+)<', owner_client.get(PAGE).text)[1])
    assert owner_client.post(PAGE, {"code": app.now()}).status_code == 200
    assert owner_client.get(reverse("desk:people")).status_code == 200
    assert owner_client.get("/api/v1/campaigns/").status_code == 200
    assert signed_in(owner).post(reverse("accounts:sign_out")).status_code == 302
