"""Mail for a forgotten password: to a real server, without one, and to one that fails."""

import logging
import re
from email import message_from_bytes, policy

import pytest
from django.conf import settings as django_settings
from django.core import mail
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from evalsite.accounts.models import User
from evalsite.lib.env import MailServer, env_mail_server, env_sender
from tests.mail_server import SmtpServer
from tests.services import free_port

BACKENDS = "django.core.mail.backends"
DUMMY, SMTP = f"{BACKENDS}.dummy.EmailBackend", f"{BACKENDS}.smtp.EmailBackend"


def use(settings: Settings, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """Set mail up as settings.py does for EMAIL_URL."""
    monkeypatch.setenv("EMAIL_URL", url)
    server = env_mail_server("EMAIL_URL")
    assert server
    settings.EMAIL_BACKEND = SMTP
    settings.EMAIL_HOST, settings.EMAIL_PORT = server.host, server.port
    settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = server.user, server.password
    settings.EMAIL_USE_TLS, settings.EMAIL_USE_SSL = server.use_tls, server.use_ssl
    settings.DEFAULT_FROM_EMAIL = "evalsite@lab.example"


def test_the_link_arrives_over_smtp(
    owner: User, client: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch, smtp_server: SmtpServer
) -> None:
    use(settings, monkeypatch, f"smtp://site:p%40ss@127.0.0.1:{smtp_server.server_address[1]}/?tls=0")
    response = client.post(reverse("accounts:reset"), {"email": owner.email})
    assert response["Location"] == reverse("accounts:reset_sent")
    [received] = smtp_server.received
    message = message_from_bytes(received, policy=policy.default)
    assert (message["To"], message["From"]) == (owner.email, "evalsite@lab.example")
    link = re.search(r"http://testserver(/\S+)", message.get_content())
    assert link
    assert client.get(link[1], follow=True).context["validlink"]
    assert smtp_server.signed_in[0] == "PLAIN AHNpdGUAcEBzcw=="  # NUL site NUL p@ss


def asked(client: Client, email: str) -> tuple[int, str]:
    response = client.post(reverse("accounts:reset"), {"email": email})
    return response.status_code, re.sub(r"value=\"[^\"]*\"", "", response.text)


@pytest.mark.parametrize("fault", ["nobody listens", "it refuses the user"])
def test_a_mail_server_that_fails_is_said_and_does_not_show_who_has_an_account(
    owner: User,
    client: Client,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    smtp_server: SmtpServer,
    caplog: pytest.LogCaptureFixture,
    fault: str,
) -> None:
    smtp_server.refuses_users = True
    port = smtp_server.server_address[1] if fault == "it refuses the user" else free_port()
    use(settings, monkeypatch, f"smtp://site:p%40ss@127.0.0.1:{port}/?tls=0")
    with caplog.at_level(logging.INFO):
        known, unknown = asked(client, owner.email), asked(client, "nobody@example.org")
    assert known == unknown
    assert known[0] == 503
    assert "the mail server cannot be used now" in known[1]
    assert "The mail server cannot be used" in caplog.text
    assert "/reset/" not in caplog.text.replace(reverse("accounts:reset"), "")
    assert "p@ss" not in caplog.text


def test_without_a_mail_server_the_page_says_whom_to_ask(
    owner: User,
    client: Client,
    settings: Settings,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    settings.EMAIL_BACKEND = DUMMY
    page = client.get(reverse("accounts:reset"))
    assert page.status_code == 200
    assert "This site sends no mail" in page.text and "Ask an administrator of the site" in page.text
    assert "EMAIL_URL=smtp://" in page.text
    assert "on its way" not in client.get(reverse("accounts:reset_sent")).text
    assert "<input" not in page.text.partition("<main")[2]
    with caplog.at_level(logging.DEBUG):
        response = client.post(reverse("accounts:reset"), {"email": owner.email})
    assert response.status_code == 503
    written = capfd.readouterr()
    assert "/set-password" not in (text := caplog.text + written.out + written.err)
    assert f"{reverse('accounts:reset')}M" not in text  # a user's id in base 64
    assert mail.outbox == []


@pytest.mark.django_db
def test_without_a_mail_server_a_refused_attempt_does_not_offer_mail(client: Client, settings: Settings) -> None:
    settings.EMAIL_BACKEND = DUMMY
    for _ in range(6):
        response = client.post(reverse("accounts:sign_in"), {"username": "nobody@example.org", "password": "wrong"})
    assert response.status_code == 429
    assert "ask an administrator of the site" in response.text
    assert reverse("accounts:reset") not in response.text


# --- EMAIL_URL


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("smtp://user:pass@host:587", MailServer("host", 587, "user", "pass", True, False)),
        ("smtp://user:pass@host/?tls=1", MailServer("host", 587, "user", "pass", True, False)),
        ("smtp://localhost:1025/?tls=0", MailServer("localhost", 1025, "", "", False, False)),
        ("smtp://localhost?tls=0", MailServer("localhost", 25, "", "", False, False)),
        (
            "smtps://user%40lab.example:p%2Fa%23s@host",
            MailServer("host", 465, "user@lab.example", "p/a#s", False, True),
        ),
        ("smtps://[::1]:2465/", MailServer("::1", 2465, "", "", False, True)),
        ("", None),
        ("  ", None),
    ],
)
def test_the_address_of_a_mail_server(monkeypatch: pytest.MonkeyPatch, url: str, server: MailServer | None) -> None:
    monkeypatch.setenv("EMAIL_URL", url)
    assert env_mail_server("EMAIL_URL") == server


@pytest.mark.parametrize(
    ("url", "because"),
    [
        ("http://user:hunter2@host", "begins with http:"),
        ("host:587", "begins with host:"),
        ("mail.example", "no scheme"),
        ("smtp://", "names no host"),
        ("smtp://user:hun/ter2@host:587", "port is not a number"),
        ("smtp://user:hun#ter2@host:587", "port is not a number"),
        ("smtp://host:587/inbox", "something after the host"),
        ("smtp://host:99999", "port is not a number"),
        ("smtp://user@host", "user without a password"),
        ("smtp://host?tls=yes", "only ?tls=0 or ?tls=1"),
        ("smtp://host?ssl=1", "only ?tls=0 or ?tls=1"),
        ("smtps://user:hunter2@host?tls=1", "only ?tls=0 or ?tls=1"),
    ],
)
def test_an_address_that_cannot_be_read_says_why_without_the_password(
    monkeypatch: pytest.MonkeyPatch, url: str, because: str
) -> None:
    monkeypatch.setenv("EMAIL_URL", url)
    with pytest.raises(ValueError, match=re.escape(because)) as refused:
        env_mail_server("EMAIL_URL")
    assert str(refused.value).startswith("EMAIL_URL must look like smtp://")
    assert "hun" not in str(refused.value)


SERVER = MailServer("host", 587, "site@lab.example", "secret", True, False)


def test_who_mail_comes_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEFAULT_FROM_EMAIL", raising=False)
    assert env_sender("DEFAULT_FROM_EMAIL", SERVER) == "site@lab.example"
    assert env_sender("DEFAULT_FROM_EMAIL", None) == "webmaster@localhost"
    monkeypatch.setenv("DEFAULT_FROM_EMAIL", "Our lab <ratings@lab.example>")
    assert env_sender("DEFAULT_FROM_EMAIL", SERVER) == "Our lab <ratings@lab.example>"


@pytest.mark.parametrize("text", ["", "ratings"])
def test_a_server_whose_mail_comes_from_nobody_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("DEFAULT_FROM_EMAIL", text)
    with pytest.raises(ValueError, match="DEFAULT_FROM_EMAIL must be the e-mail address"):
        env_sender("DEFAULT_FROM_EMAIL", SERVER._replace(user="apikey"))


def test_a_mail_server_that_hangs_does_not_hold_a_thread_for_long() -> None:
    assert django_settings.EMAIL_TIMEOUT == 10
