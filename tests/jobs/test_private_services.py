"""The servers, the browser and the guard that other tests rely on."""

import socket
from pathlib import Path

import psycopg
import pytest
import redis
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from evalsite.accounts.models import User
from tests import services


def test_postgresql_answers_and_makes_databases(postgres_url: str) -> None:
    url = services.new_database(postgres_url, "one_more")
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT current_database()").fetchone() == ("one_more",)


def test_redis_answers(redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as client:
        assert client.ping()


def test_a_server_is_gone_after_its_block() -> None:
    with services.running_redis() as url:
        pass
    with redis.Redis.from_url(url) as client, pytest.raises(redis.ConnectionError):
        client.ping()


@pytest.mark.django_db(transaction=True)
def test_the_browser_shows_a_page_of_the_site(page: Page, live_server: LiveServer) -> None:
    page.goto(f"{live_server.url}/accounts/sign-in/")
    expect(page.locator("input[type=password]")).to_be_visible()
    assert User.objects.count() == 0  # the ORM works beside the browser


def test_a_missing_service_skips_its_tests(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("REQUIRE_SERVICES", "0")
    with pytest.raises(pytest.skip.Exception, match="Redis is not installed"), services.running_redis():
        pass


def test_a_missing_service_fails_its_tests_where_all_are_required(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("REQUIRE_SERVICES", "1")
    with pytest.raises(pytest.fail.Exception, match="Redis is not installed"), services.running_redis():
        pass


def test_what_never_comes_about_fails() -> None:
    with pytest.raises(pytest.fail.Exception, match=r"not within 0\.1 s: the moon answers"):
        services.wait_until(lambda: False, 0.1, "the moon answers")


@pytest.mark.parametrize("host", ["192.0.2.1", "example.org", "2001:db8::1"])
def test_no_test_reaches_the_network(host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as door, pytest.raises(RuntimeError, match="a test tried to reach"):
        door.connect((host, 80))
