"""`evalsite check`: what must be fixed is said in words, and the exit status says whether anything must."""

from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import dj_database_url
import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from evalsite.jobs.services import record_heartbeat
from tests import databases
from tests.buckets import Bucket
from tests.mail_server import SmtpServer
from tests.services import free_port


@pytest.fixture
def alive(db: None) -> None:
    record_heartbeat("w1")


def run_check() -> tuple[str, bool]:
    """Return what the command prints, and whether it fails."""
    out = StringIO()
    try:
        call_command("check_installation", stdout=out)
    except CommandError as error:
        return f"{out.getvalue()}{error}", True
    return out.getvalue(), False


def test_an_installation_that_works_passes_with_what_should_have_attention(alive: None, settings: Settings) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
    printed, fails = run_check()
    assert not fails
    assert "note  Mail: not set" in printed and "EMAIL_URL=smtp://" in printed
    assert "Nothing must be fixed" in printed


def test_what_must_be_fixed_is_named_with_the_line(alive: None, settings: Settings, tmp_path: Path) -> None:
    settings.SITE_URL, settings.ALLOWED_HOSTS = "https://eval.example.org", ["localhost"]
    settings.DEBUG = True
    settings.MEDIA_ROOT = tmp_path / "gone"
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "evalsite.web.ManifestStaticStorage"},
    }
    printed, fails = run_check()
    assert fails and "3 parts of the set-up must be fixed" in printed
    assert "ALLOWED_HOSTS=eval.example.org,localhost" in printed
    assert "DEBUG=0" in printed
    assert "Nothing can be written to" in printed
    assert "note  Proxy in front" in printed and "BEHIND_PROXY=1" in printed

    settings.MEDIA_ROOT.mkdir()
    assert "evalsite collectstatic" in run_check()[0]


def test_a_bucket_is_tried_by_a_file_that_does_not_stay(alive: None, bucket: Bucket) -> None:
    printed, _ = run_check()
    assert f"Bucket of uploads and results: {bucket.name}" in printed
    assert "MUST" not in printed.partition("Bucket")[2].partition("\n")[0]
    assert bucket.files() == {}
    with bucket.used(url=f"http://127.0.0.1:{free_port()}"):
        printed, fails = run_check()
    assert fails and "No file can be kept" in printed and "MEDIA_ENDPOINT_URL" in printed
    bucket.remove()
    printed, fails = run_check()
    assert fails and "NoSuchBucket" in printed


def test_a_mail_server_is_called(alive: None, settings: Settings, smtp_server: SmtpServer) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", smtp_server.server_address[1]
    assert run_check()[1] is False
    settings.EMAIL_PORT = free_port()
    printed, fails = run_check()
    assert fails and "nothing listens at 127.0.0.1" in printed


# --- Other databases


@pytest.fixture
def using(django_db_blocker: Any) -> Iterator[Callable[[dict[str, Any]], Any]]:
    with django_db_blocker.unblock():
        yield databases.using_database


def test_a_database_without_its_tables_is_said_before_anything_is_read_from_it(using: Any, tmp_path: Path) -> None:
    with using(databases.sqlite_at(tmp_path / "db.sqlite3")):
        printed, fails = run_check()
    assert fails and "evalsite migrate" in printed
    assert "Job workers" not in printed


def test_a_database_that_does_not_answer_is_said_without_its_password(using: Any) -> None:
    with using(dj_database_url.parse(f"postgres://evalsite:hunter2@127.0.0.1:{free_port()}/evalsite")):
        printed, fails = run_check()
    assert fails and "PostgreSQL at 127.0.0.1" in printed and "DATABASE_URL" in printed
    assert "hunter2" not in printed
