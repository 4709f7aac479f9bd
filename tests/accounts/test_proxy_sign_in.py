"""Signing in by the word of a proxy, and who is not believed."""

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from desk.system import Visit, list_checks
from evalsite.accounts.models import User
from evalsite.audit.acts import title_of
from evalsite.audit.models import AuditEntry
from evalsite.lib.env import env_header, env_networks

URL, SIGN_IN = "accounts:proxy_sign_in", "accounts:sign_in"


@pytest.fixture
def behind_proxy(settings: Settings) -> Settings:
    settings.REMOTE_USER_HEADER, settings.BEHIND_PROXY = "X-Remote-User", True
    settings.REMOTE_USER_PROXIES = ["127.0.0.1", "10.1.0.0/16"]
    return settings


def post(name: str, peer: str = "127.0.0.1", next: str = "") -> tuple[Client, int]:
    """Sign in as the proxy says; return the browser and the status."""
    client = Client(headers={"X-Remote-User": name} if name else {}, REMOTE_ADDR=peer)
    return client, client.post(reverse(URL), {"next": next}).status_code


def is_signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


@pytest.mark.parametrize("peer", ["127.0.0.1", "10.1.2.3", "::ffff:10.1.2.3"])
def test_whom_the_proxy_names_is_signed_in(behind_proxy: Settings, owner: User, peer: str) -> None:
    client, status = post("Owner@Example.org", peer)
    assert status == 302 and is_signed_in(client)
    entry = AuditEntry.objects.get()
    assert (entry.who, title_of(entry)) == (owner.email, "signed in by the word of the proxy")


def test_the_page_offers_it_and_goes_on(behind_proxy: Settings, owner: User) -> None:
    client = Client(headers={"X-Remote-User": owner.email})
    page = client.get(reverse(SIGN_IN), {"next": "/analysis/"})
    assert f"Continue as {owner.email}" in page.text
    assert not is_signed_in(client), "looking signs nobody in"
    assert client.post(reverse(URL), {"next": "/analysis/"})["Location"] == "/analysis/"
    other = client.post(reverse(URL), {"next": "https://evil.example/"})
    assert other["Location"] == reverse("home")
    assert "Continue as" not in Client().get(reverse(SIGN_IN)).text


def test_names_get_the_domain(behind_proxy: Settings, owner: User) -> None:
    assert post("owner")[1] == 403
    behind_proxy.REMOTE_USER_DOMAIN = "example.org"
    assert post("owner")[1] == 302


@pytest.mark.parametrize(
    ("name", "peer"),
    [
        ("owner@example.org", "10.2.0.1"),
        ("owner@example.org", "192.0.2.1"),
        ("owner@example.org", ""),
        ("owner@example.org,owner@example.org", "127.0.0.1"),
        ("nobody@example.org", "127.0.0.1"),
        ("", "127.0.0.1"),
    ],
)
def test_nobody_else_is_believed(behind_proxy: Settings, owner: User, name: str, peer: str) -> None:
    client, status = post(name, peer)
    assert status == 403 and not is_signed_in(client)
    client = Client(headers={"X-Remote-User": name, "X-Forwarded-For": "127.0.0.1"}, REMOTE_ADDR="192.0.2.1")
    assert client.post(reverse(URL)).status_code == 403
    assert not AuditEntry.objects.exists()


def test_a_deactivated_account_stays_out(behind_proxy: Settings, owner: User) -> None:
    User.objects.update(is_active=False)
    assert post(owner.email)[1] == 403


@pytest.mark.parametrize(("header", "has_proxy"), [("", True), ("X-Remote-User", False)])
def test_off_unless_both_are_set(behind_proxy: Settings, owner: User, header: str, has_proxy: bool) -> None:
    behind_proxy.REMOTE_USER_HEADER, behind_proxy.BEHIND_PROXY = header, has_proxy
    assert post(owner.email)[1] == 404
    page = Client(headers={"X-Remote-User": owner.email}).get(reverse(SIGN_IN))
    assert "Continue as" not in page.text


def test_a_form_of_another_site_signs_nobody_in(behind_proxy: Settings, owner: User) -> None:
    client = Client(enforce_csrf_checks=True, headers={"X-Remote-User": owner.email})
    assert client.post(reverse(URL)).status_code == 403
    assert not is_signed_in(client)


def _check(settings: Settings):
    found = list_checks(Visit("http://localhost:8000"), timezone.now())
    return next((each for each in found if each.key == "remote-user"), None)


def test_the_check_of_an_installation_warns(db: None, behind_proxy: Settings) -> None:
    assert _check(behind_proxy).is_ok
    behind_proxy.REMOTE_USER_PROXIES = ["0.0.0.0/0"]
    assert _check(behind_proxy).must_fix
    behind_proxy.BEHIND_PROXY = False
    assert _check(behind_proxy).must_fix and "BEHIND_PROXY=1" in _check(behind_proxy).lines
    behind_proxy.REMOTE_USER_HEADER = ""
    assert _check(behind_proxy) is None


def test_wrong_values_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMOTE_USER_PROXIES", "10.0.0.0/8, proxy")
    with pytest.raises(ValueError, match="REMOTE_USER_PROXIES: 'proxy'"):
        env_networks("REMOTE_USER_PROXIES", [])
    monkeypatch.setenv("REMOTE_USER_HEADER", "X_Remote: User")
    with pytest.raises(ValueError, match="REMOTE_USER_HEADER"):
        env_header("REMOTE_USER_HEADER")
