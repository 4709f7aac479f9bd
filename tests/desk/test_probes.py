"""What the site answers to programs that watch it."""

from unittest import mock

import pytest
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from desk import health
from desk.health import ReadinessProbe
from desk.views import probes
from evalsite.jobs.services import record_heartbeat
from tests.databases import on_both
from tests.services import free_port

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def probe(monkeypatch: pytest.MonkeyPatch) -> ReadinessProbe:
    """A probe that keeps nothing of what other tests found, nor of what it finds."""
    probe = ReadinessProbe(kept_s=0)
    monkeypatch.setattr(probes, "readiness", probe)
    return probe


def ask(client: Client, **query: str) -> tuple[int, str, dict[str, str]]:
    answer = client.get(reverse("probes:ready"), query)
    return answer.status_code, answer.json()["status"], answer.json()["checks"]


def test_a_process_that_lives_says_so_without_the_database(client: Client) -> None:
    with mock.patch.object(connection, "cursor", side_effect=OperationalError):
        assert client.get(reverse("probes:health")).json() == {"status": "alive"}


@on_both
def test_a_site_with_a_worker_is_ready_and_one_without_is_degraded(client: Client) -> None:
    status, word, checks = ask(client)
    assert (status, word, checks["workers"]) == (200, "degraded", "none alive")
    assert ask(client, strict="1")[0] == 503
    record_heartbeat("w1")
    assert ask(client, strict="1") == (
        200,
        "ready",
        {"database": "ok", "migrations": "ok", "cache": "ok", "workers": "ok"},
    )


@on_both
def test_a_database_that_lacks_a_migration_is_not_ready(client: Client) -> None:
    MigrationRecorder.Migration.objects.filter(app="jobs").order_by("-pk")[:1].get().delete()
    status, word, checks = ask(client)
    assert (status, word, checks["migrations"]) == (503, "not ready", "missing")


def test_a_database_that_is_away_is_named_without_its_address(client: Client) -> None:
    fault = OperationalError("connection to db.internal refused for user secret")
    with mock.patch.object(connection, "cursor", side_effect=fault), mock.patch.object(connection, "close"):
        status, word, checks = ask(client)
    assert (status, word, checks["database"]) == (503, "not ready", "does not answer")
    assert "secret" not in str(checks)


def test_a_cache_that_is_away_degrades(client: Client, settings: Settings) -> None:
    cache = {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": f"redis://:hunter2@127.0.0.1:{free_port()}/0",
    }
    settings.CACHES = {**settings.CACHES, "rate_limits": cache}
    status, word, checks = ask(client)
    assert (status, word, checks["cache"]) == (200, "degraded", "does not answer")


def test_however_many_ask_the_database_is_asked_once_in_two_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter((0.0, 1.0, 1.9, 2.1, 2.1))  # the time of each call, and of each check but the first
    probe = ReadinessProbe(kept_s=2, clock=lambda: next(times))
    seen = mock.Mock(wraps=health.is_any_worker_alive)
    monkeypatch.setattr(health, "is_any_worker_alive", seen)
    for _ in range(4):
        probe.read()
    assert seen.call_count == 2
