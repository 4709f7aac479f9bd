"""An OpenID Connect provider for tests: `oidc-provider-mock` as a server, which checks PKCE, and can be made to lie."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import flask
import httpx
import jwt
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from django.test import Client
from django.urls import reverse
from oidc_provider_mock import run_server_in_thread
from pytest_django import Settings

from evalsite.accounts.models import ProviderIdentity, User
from evalsite.audit.models import AuditEntry

CLIENT_ID, SECRET = "evalsite-test", "a secret: of the site"
METADATA = "/.well-known/openid-configuration"
WHO, ADDRESS = "emmy", "emmy@uni.example"
"""Who has an account at the provider."""


class Provider:
    """A running provider.

    `claims` changes what an id_token says before it is signed; `answers` replaces the answer of a path (status, text).
    """

    def __init__(self, url: str, app: Any) -> None:
        self.url, self.challenges = url, dict[str, str]()
        self.http = httpx.Client(trust_env=False)
        self.secrets: list[tuple[str, str]] = []
        self._storage: Any = None
        app.before_request(self._before)
        app.after_request(self._after)
        self.reset()

    def reset(self) -> None:
        """Be honest again."""
        self.claims: Callable[[dict[str, Any]], Any] = lambda claims: None
        self.sign: Callable[[dict[str, Any]], str] = self.signed
        self.answers: dict[str, tuple[int, str]] = {}
        self.is_userinfo_only = False

    def add(self, subject: str, **claims: Any) -> None:
        """Let somebody have an account at the provider."""
        self.http.put(f"{self.url}/users/{subject}", json=claims).raise_for_status()

    def signed(self, claims: dict[str, Any], **options: Any) -> str:
        """Return an id_token as the provider signs it."""
        key = self._storage.jwk.as_dict(is_private=True)
        return jwt.encode(claims, jwt.PyJWK(key, algorithm="RS256").key, "RS256", {"kid": key["kid"]}, **options)

    def sign_in(self, browser: Client, subject: str, *, next: str = "", url: str = "") -> Any:
        """Go through the whole of it with a browser; return the site's answer to what the provider says."""
        return browser.get(self.answer_to(self.ask(browser, next), subject))

    def ask(self, browser: Client, next: str = "") -> str:
        """Press the button; return the address of the provider that the page leads to."""
        page = browser.post(reverse("accounts:oidc_start"), {"next": next})
        assert page.status_code == 200, page.text
        found = re.search(r'href="(http[^"]*/oauth2/authorize[^"]*)"', page.text)
        assert found and "Location" not in page
        return found[1].replace("&amp;", "&")

    def answer_to(self, url: str, subject: str) -> str:
        """Sign somebody in at the provider; return where it sends the browser, on the site."""
        sent = {"sub": subject} if subject else {"action": "deny"}
        back = urlsplit(self.http.post(url, data=sent).headers["Location"])
        # To somebody who says no, it does not give the state back, as it has to (RFC 6749, 4.1.2.1).
        state = "" if subject else f"&state={_parameter(url, 'state')}"
        return f"{back.path}?{back.query}{state}"

    def _before(self) -> Any:
        self._storage = flask.g.oidc_provider_mock_storage
        if answer := self.answers.get(flask.request.path):
            return flask.Response(answer[1], answer[0], content_type="application/json")
        if flask.request.path == "/oauth2/token":
            form, login = flask.request.form, flask.request.authorization
            challenge = self.challenges.pop(form["code"], "")
            self.secrets.append((login.username or "", login.password or "") if login else ("", ""))
            if create_s256_code_challenge(form["code_verifier"]) != challenge:
                return flask.Response('{"error": "invalid_grant"}', 400)
        return None

    def _after(self, response: flask.Response) -> flask.Response:
        asked = flask.request
        if asked.path == "/oauth2/authorize" and (code := _parameter(response.headers.get("Location", ""), "code")):
            assert asked.args["code_challenge_method"] == "S256"
            self.challenges[code] = asked.args["code_challenge"]
        if asked.path == "/oauth2/token" and response.status_code == 200 and asked.path not in self.answers:
            tokens = response.get_json()
            claims = jwt.decode(tokens["id_token"], options={"verify_signature": False})
            if self.is_userinfo_only:
                claims = {name: value for name, value in claims.items() if not name.startswith(("email", "name"))}
            self.claims(claims)
            response.set_data(json.dumps(tokens | {"id_token": self.sign(claims)}))
        return response


def _parameter(url: str, name: str) -> str:
    return parse_qs(urlsplit(url).query).get(name, [""])[0]


@contextmanager
def running_provider() -> Iterator[Provider]:
    """Run a provider for the length of the block."""
    with run_server_in_thread() as server:
        app: Any = server.app
        provider = Provider(f"http://localhost:{server.server_port}", app)
        with provider.http:
            yield provider


def use_provider(settings: Settings, provider: Provider) -> None:
    """Set the site up for a provider."""
    settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = provider.url, CLIENT_ID, SECRET
    settings.OIDC_NAME = "Example University"


def user_of(browser: Client) -> str:
    """Return the address of who has signed in; "" for nobody."""
    pk = browser.session.get("_auth_user_id")
    return User.objects.get(pk=pk).email if pk else ""


def assert_refused(browser: Client, response: Any, status: int) -> None:
    assert response.status_code == status, response.text
    assert not user_of(browser) and not ProviderIdentity.objects.exists() and not AuditEntry.objects.exists()
    assert SECRET not in response.text
