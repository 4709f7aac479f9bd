"""Signing in at an OpenID Connect provider: who is not believed, whether person, forger or faulty provider."""

import base64
import json
import logging
import time
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from evalsite.accounts.models import User
from evalsite.lib.masking import mask_tokens
from tests.accounts.provider import ADDRESS, CLIENT_ID, METADATA, SECRET, WHO, Provider, assert_refused, user_of

# Of the library of the provider, which runs in this process.
pytestmark = pytest.mark.filterwarnings("ignore:get_jwt_config:DeprecationWarning")
SIGN_IN = "accounts:sign_in"


# --- Whom the site does not take


@pytest.mark.parametrize(
    "claims",
    [{"email_verified": False}, {"email_verified": "true"}, {"email": "no address"}, {"email": "EmmY@unı.example"}],
)
def test_only_verified_addresses_count(
    provider: Provider, settings: Settings, invited: User, claims: dict[str, Any]
) -> None:
    settings.OIDC_NEW_ACCOUNTS = "RESEARCHER"
    provider.claims = lambda found: found.update(claims)
    browser = Client()
    assert_refused(browser, provider.sign_in(browser, WHO), 403)


def test_a_provider_may_be_trusted_to_have_verified_them(provider: Provider, settings: Settings, invited: User) -> None:
    settings.OIDC_EMAIL_IS_VERIFIED = True
    provider.claims = lambda found: found.pop("email_verified")
    browser = Client()
    provider.sign_in(browser, WHO)
    assert user_of(browser) == ADDRESS
    provider.claims = lambda found: found.update(sub="other", email_verified=False)
    User.objects.create_user("other@uni.example")
    provider.add("other", email="other@uni.example")
    assert provider.sign_in(Client(), "other").status_code == 403, "one that it calls not verified is not"


def test_domains_and_a_claim_say_who_is_admitted(provider: Provider, settings: Settings, invited: User) -> None:
    browser = Client()
    settings.OIDC_DOMAINS = ["example", "other.example"]
    assert_refused(browser, provider.sign_in(browser, WHO), 403)
    settings.OIDC_DOMAINS, settings.OIDC_REQUIRED_CLAIM = ["Uni.example"], ("groups", "evaluation")
    assert_refused(browser, provider.sign_in(browser, WHO), 403)
    provider.claims = lambda found: found.update(groups=["evaluations"])
    assert_refused(browser, provider.sign_in(browser, WHO), 403)
    provider.claims = lambda found: found.update(groups=["staff", "evaluation"])
    provider.sign_in(browser, WHO)
    assert user_of(browser) == ADDRESS
    provider.reset()
    other = Client()
    assert provider.sign_in(other, WHO).status_code == 403, "who has left the group stays out"
    assert not user_of(other)


def test_a_deactivated_account_stays_out(provider: Provider, invited: User) -> None:
    User.objects.update(is_active=False)
    browser = Client()
    assert_refused(browser, provider.sign_in(browser, WHO), 403)


# --- Attacks


def forged_key(claims: dict[str, Any]) -> str:
    key = rsa.generate_private_key(65537, 2048)
    return jwt.encode(claims, key, "RS256")


def unsigned(claims: dict[str, Any]) -> str:
    return jwt.encode(claims, None, "none")


def by_secret(claims: dict[str, Any]) -> str:
    return jwt.encode(claims, SECRET.ljust(40, "."), "HS256")


@pytest.mark.parametrize(
    "changes",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"aud": "another-site"},
        {"aud": [CLIENT_ID, "another-site"]},
        {"azp": "another-site"},
        {"iss": "https://evil.example"},
        {"exp": -120},
        {"exp": None},
        {"iat": 3600},
        {"sub": ""},
        {"sub": "x" * 256},
    ],
    ids=lambda changes: "-".join(f"{name} {value}"[:30] for name, value in changes.items()),
)
def test_a_token_with_wrong_claims_signs_nobody_in(
    provider: Provider, invited: User, changes: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    def change(claims: dict[str, Any]) -> None:
        for name, value in changes.items():
            claims[name] = int(time.time()) + value if isinstance(value, int) else value
            if value is None:
                del claims[name]

    provider.claims = change
    browser = Client()
    assert_refused(browser, provider.sign_in(browser, WHO), 502)
    assert "OpenID Connect: nobody was signed in" in caplog.text


@pytest.mark.parametrize("sign", [forged_key, unsigned, by_secret, lambda claims: "nonsense", lambda claims: ""])
def test_a_token_with_a_wrong_signature_signs_nobody_in(provider: Provider, invited: User, sign: Any) -> None:
    provider.sign = sign
    browser = Client()
    assert_refused(browser, provider.sign_in(browser, WHO), 502)


def test_a_token_that_was_changed_after_it_was_signed(provider: Provider, invited: User) -> None:
    def tamper(claims: dict[str, Any]) -> str:
        head, _, signature = provider.signed(claims).split(".")
        body = base64.urlsafe_b64encode(json.dumps(claims | {"sub": "root"}).encode()).rstrip(b"=").decode()
        return f"{head}.{body}.{signature}"

    provider.sign = tamper
    browser = Client()
    assert_refused(browser, provider.sign_in(browser, WHO), 502)


def test_an_answer_works_once_in_the_browser_that_asked(provider: Provider, invited: User) -> None:
    browser, thief = Client(), Client()
    back = provider.answer_to(provider.ask(browser), WHO)
    assert thief.get(back).status_code == 400 and not user_of(thief)
    provider.ask(thief)  # with an attempt of its own
    assert thief.get(back).status_code == 400 and not user_of(thief)
    assert browser.get(back.replace("state=", "state=x")).status_code == 400
    assert browser.get(back).status_code == 302 and user_of(browser) == ADDRESS
    browser.post(reverse("accounts:sign_out"))
    assert browser.get(back).status_code == 400 and not user_of(browser)


def test_another_persons_code_is_worth_nothing_in_an_own_attempt(provider: Provider, invited: User) -> None:
    """The code of one attempt with the state of another: PKCE and the nonce bind it to its own."""
    victim, attacker = Client(), Client()
    stolen = provider.answer_to(provider.ask(victim), WHO)
    own = provider.answer_to(provider.ask(attacker), "attacker")
    code, state = stolen.partition("code=")[2].partition("&")[0], own.partition("state=")[2].partition("&")[0]
    answer = attacker.get(f"{reverse('accounts:oidc_callback')}?code={code}&state={state}")
    assert_refused(attacker, answer, 400)


def test_an_attempt_ends(provider: Provider, invited: User) -> None:
    browser = Client()
    back = provider.answer_to(provider.ask(browser), WHO)
    session = browser.session
    session["oidc_attempt"] = session["oidc_attempt"] | {"until": time.time() - 1}
    session.save()
    assert_refused(browser, browser.get(back), 400)


def test_who_says_no_at_the_provider_is_not_signed_in(provider: Provider, invited: User) -> None:
    browser = Client()
    assert_refused(browser, provider.sign_in(browser, ""), 403)


def test_a_form_of_another_site_begins_nothing(provider: Provider) -> None:
    browser = Client(enforce_csrf_checks=True)
    assert browser.post(reverse("accounts:oidc_start")).status_code == 403
    assert browser.get(reverse("accounts:oidc_start")).status_code == 405


def test_the_answer_is_not_written_to_the_log() -> None:
    line = mask_tokens("GET /accounts/sign-in/provider/answer/?code=abc&state=def HTTP/1.1")
    assert "abc" not in line and "def" not in line


# --- A provider that does not work


def test_a_provider_that_is_away_is_said_so(
    provider: Provider, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.OIDC_ISSUER = "http://localhost:9"
    browser = Client()
    response = browser.post(reverse("accounts:oidc_start"))
    assert_refused(browser, response, 503)
    assert "Example University cannot be reached now" in response.text
    assert "http://localhost:9/.well-known/openid-configuration" in caplog.text
    assert [each.levelno for each in caplog.records if each.name.startswith("evalsite")] == [logging.ERROR]


TOKEN, KEYS = "/oauth2/token", "/jwks"


@pytest.mark.parametrize(
    ("path", "status", "text", "answered"),
    [
        (METADATA, 200, "<html>", 502),
        (METADATA, 200, "[]", 502),
        (METADATA, 200, '{"issuer": "https://evil.example"}', 502),
        (METADATA, 503, "", 503),
        (METADATA, 404, "{}", 502),
        (TOKEN, 200, "{}", 502),
        (TOKEN, 200, '{"id_token": 7}', 502),
        (TOKEN, 401, '{"error": "invalid_client"}', 502),
        (TOKEN, 400, '{"error": "invalid_grant"}', 400),
        (TOKEN, 500, "", 503),
        (KEYS, 200, "{}", 502),
        (KEYS, 200, '{"keys": [7, {"kty": "RSA"}]}', 502),
        (KEYS, 500, "", 503),
    ],
)
def test_nonsense_is_refused(
    provider: Provider, invited: User, path: str, status: int, text: str, answered: int
) -> None:
    browser = Client()
    if path == METADATA:
        provider.answers[path] = (status, text)
        assert_refused(browser, browser.post(reverse("accounts:oidc_start")), answered)
    else:
        back = provider.answer_to(provider.ask(browser), WHO)
        provider.answers[path] = (status, text)
        assert_refused(browser, browser.get(back), answered)


@pytest.mark.parametrize("endpoint", ["http://192.0.2.1/", "javascript:alert(1)", "https://10.0.0.1/", "", None, 7])
def test_a_discovery_document_leads_to_no_unsafe_address(provider: Provider, endpoint: Any) -> None:
    found = {"issuer": provider.url, "authorization_endpoint": endpoint}
    provider.answers[METADATA] = (200, json.dumps(found))
    browser = Client()
    assert_refused(browser, browser.post(reverse("accounts:oidc_start")), 502)


def test_new_keys_of_the_provider_are_fetched(provider: Provider, invited: User) -> None:
    provider.sign_in(Client(), WHO)
    cache.set(f"oidc-keys:{provider.url}/jwks", [])
    browser = Client()
    provider.sign_in(browser, WHO)
    assert user_of(browser) == ADDRESS
