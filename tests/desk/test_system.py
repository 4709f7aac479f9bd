"""What administrators see of the set-up: what is off, and the line that puts it right."""

import re
from datetime import timedelta

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from campaigns.models import Chatbot
from campaigns.queries import BUILD
from campaigns.services.chatbots import add_chatbot
from desk.system import Check
from evalsite.accounts.models import User
from evalsite.jobs.models import Job
from evalsite.jobs.services import record_heartbeat
from evalsite.lib.encryption import encrypt_secrets
from tests.campaigns.live import make_live
from tests.mail_server import SmtpServer
from tests.services import free_port

pytestmark = pytest.mark.django_db
BEHIND_HTTPS = {
    "BEHIND_PROXY": True,
    "SECURE_COOKIES": True,
    "SECURE_PROXY_SSL_HEADER": ("HTTP_X_FORWARDED_PROTO", "https"),
    "SECURE_HSTS_SECONDS": 30 * 86_400,
}
SMTP_BACKEND = "django.core.mail.backends.smtp.EmailBackend"


def check(client: Client, key: str, **request: object) -> Check:
    page = client.get(reverse("desk:system"), **request)
    assert page.status_code == 200
    [found] = [each for each in page.context["checks"] if each.key == key]
    assert all(line.replace("&", "&amp;") in page.text for line in found.lines)
    return found


def test_chatbots_that_may_not_be_called_name_the_line(admin_client: Client, owner: User, settings: Settings) -> None:
    settings.CHATBOT_HOSTS = ["api.example.org"]
    assert check(admin_client, "chatbot-hosts").is_ok
    campaign = make_live(owner, names=("Amber",))
    options = {"base_url": "http://10.0.0.7:8000/v1", "model": "small"}
    add_chatbot(campaign=campaign, name="Own", connector="openai-chat", settings=options)
    found = check(admin_client, "chatbot-hosts")
    assert (found.is_ok, found.lines) == (False, ("CHATBOT_HOSTS=api.example.org,10.0.0.7:8000",))
    settings.CHATBOT_HOSTS = found.lines[0].partition("=")[2].split(",")
    assert check(admin_client, "chatbot-hosts").is_ok


def test_secrets_that_another_key_encrypted_are_counted(admin_client: Client, owner: User, settings: Settings) -> None:
    campaign, former = make_live(owner, names=("Amber",)), settings.SECRET_KEY
    Chatbot.objects.filter(system__campaign=campaign, system__name="Amber").update(
        secrets=encrypt_secrets({"key": "sk-1"})
    )
    assert "1 stored secret, encrypted and readable" in check(admin_client, "secrets").text
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another key, as long as the first one was", []
    admin_client.force_login(User.objects.get(email="admin@example.org"))
    found = check(admin_client, "secrets")
    assert not found.is_ok and found.lines[0].startswith("SECRET_KEY_FALLBACKS=")
    settings.SECRET_KEY_FALLBACKS = [former]
    assert check(admin_client, "secrets").is_ok


@pytest.mark.databases("sqlite", "postgresql")
def test_the_database_is_named(admin_client: Client) -> None:
    found = check(admin_client, "database")
    assert found.is_ok
    assert re.fullmatch(r"SQLite 3\.\d+\.\d+|PostgreSQL [1-9]\d\.\d+", found.now), found.now


def test_a_worker_is_wanted(admin_client: Client, settings: Settings) -> None:
    found = check(admin_client, "workers")
    assert (found.is_ok, found.lines) == (False, ("JOBS_IN_PROCESS=1",))
    record_heartbeat("w1")
    assert check(admin_client, "workers").is_ok


def test_jobs_that_failed_for_a_fault_of_the_site_are_counted(admin_client: Client) -> None:
    long_ago = timezone.now() - timedelta(days=8)
    for code, at in (("internal", timezone.now()), ("internal", long_ago), ("bad_file", timezone.now())):
        Job.objects.create(kind=BUILD, status="failed", error_code=code, error_message="It failed.", finished_at=at)
    found = check(admin_client, "failed-jobs")
    assert (found.is_ok, found.now) == (False, "1 job")
    assert len(admin_client.get(found.page).context["rows"]) == 3
    Job.objects.filter(error_code="internal").delete()
    assert check(admin_client, "failed-jobs").is_ok


def test_a_redis_that_does_not_answer_is_said_without_its_password(admin_client: Client, settings: Settings) -> None:
    port = free_port()
    settings.REDIS_URL = f"redis://:hunter2@127.0.0.1:{port}/0"
    cache = {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": settings.REDIS_URL}
    settings.CACHES = {**settings.CACHES, "rate_limits": cache}
    found = check(admin_client, "redis")
    assert (found.is_ok, found.now) == (False, f"127.0.0.1:{port}")
    assert "hunter2" not in admin_client.get(reverse("desk:system")).text


@pytest.mark.parametrize(
    ("request_of", "changed", "key", "lines"),
    [
        ({"HTTP_HOST": "rate.example.org"}, {}, "https", ("BEHIND_PROXY=1", "SECURE_COOKIES=1")),
        ({"HTTP_HOST": "rate.example.org"}, {}, "address", ("SITE_URL=https://rate.example.org",)),
        ({"HTTP_HOST": "a.org", "HTTP_X_FORWARDED_PROTO": "https"}, {"SECURE_COOKIES": True}, "https",
         ("BEHIND_PROXY=1",)),
        ({"HTTP_HOST": "a.org", "HTTP_X_FORWARDED_PROTO": "https"}, BEHIND_HTTPS | {"SECURE_HSTS_SECONDS": 0}, "https",
         ("HSTS_SECONDS=2592000",)),
        ({"HTTP_HOST": "a.org"}, {"SITE_URL": "http://b.org:80"}, "address", ("SITE_URL=https://b.org:80",)),
        ({"HTTP_HOST": "a.org"}, {"ALLOWED_HOSTS": ["*"]}, "hosts", ("ALLOWED_HOSTS=a.org,127.0.0.1",)),
        ({}, {"DEBUG": True}, "version", ("DEBUG=0",)),
        ({}, {"EMAIL_BACKEND": "django.core.mail.backends.console.EmailBackend"}, "mail",
         ("EMAIL_URL=smtp://user:password@host:587",)),
    ],
)  # fmt: skip
def test_what_is_off_names_the_lines(
    admin_client: Client, settings: Settings, request_of: dict, changed: dict, key: str, lines: tuple[str, ...]
) -> None:
    for name, value in changed.items():
        setattr(settings, name, value)
    found = check(admin_client, key, **request_of)
    assert (found.is_ok, found.lines) == (False, lines)


def test_a_site_behind_https_is_right(admin_client: Client, settings: Settings) -> None:
    for name, value in BEHIND_HTTPS.items():
        setattr(settings, name, value)
    settings.ALLOWED_HOSTS, settings.SITE_URL = ["a.org"], "https://a.org"
    request = {"HTTP_HOST": "a.org", "HTTP_X_FORWARDED_PROTO": "https"}
    assert all(check(admin_client, key, **request).is_ok for key in ("https", "address", "hosts"))
    assert "HTTPS only, for 30 days" in check(admin_client, "https", **request).text


# --- Mail


def send(client: Client):
    return client.post(reverse("desk:test_mail"), follow=True)


def test_a_test_mail_goes_to_oneself(admin_client: Client) -> None:
    assert "taken a mail to admin@example.org" in send(admin_client).text
    assert mail.outbox[0].to == ["admin@example.org"]


def test_without_a_mail_server_there_is_no_button(admin_client: Client, settings: Settings) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
    found = check(admin_client, "mail")
    assert not found.is_ok and found.lines[0].startswith("EMAIL_URL=")
    assert reverse("desk:test_mail") not in admin_client.get(reverse("desk:system")).text
    assert "EMAIL_URL is not set" in send(admin_client).text


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("refuses the user", "refuses the user or the password of EMAIL_URL (it answers 535"),
        ("no TLS", "does not support what EMAIL_URL asks for"),
        ("nobody listens", "nothing listens at 127.0.0.1"),
    ],
)
def test_what_is_wrong_with_the_mail_server_is_said_in_words(
    admin_client: Client,
    settings: Settings,
    smtp_server: SmtpServer,
    fault: str,
    words: str,
) -> None:
    settings.EMAIL_BACKEND, settings.EMAIL_HOST = SMTP_BACKEND, "127.0.0.1"
    settings.EMAIL_PORT = free_port() if fault == "nobody listens" else smtp_server.server_address[1]
    if fault == "refuses the user":
        smtp_server.refuses_users = True
        settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = "site", "hunter2"
    settings.EMAIL_USE_TLS = fault == "no TLS"
    text = send(admin_client).text
    assert words in text and "hunter2" not in text
