"""Keys that others could guess are refused; a former key stays good for what was signed with it."""

import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_django import Settings

from annotation.access.tokens import is_arrival, read_token, token_of
from annotation.models import Assignment
from evalsite.lib.env import env_former_keys, env_secret_key

ROOT = Path(__file__).parents[2]
NEW = "another key of thirty-two characters, at least"


@pytest.mark.parametrize(
    ("key", "because"),
    [
        ("x", r"has fewer than 32 characters \(1\)"),
        ("only-for-this-line", r"fewer than 32 characters \(18\)"),
        ("6c58e685c205cfc006d50141b1f7a10", r"fewer than 32 characters \(31\)"),
        ("x" * 50, "repeats a few characters"),
        ("1234567" * 8, "repeats a few characters"),
        ("django-insecure-8#k2v!x0q5r@n7w$t3y&u1p^m9z*l4c", "looks like a placeholder"),
        ("CHANGE_ME_CHANGE_ME_CHANGE_ME_CHANGE_ME", "looks like a placeholder"),
        ("your-secret-key-goes-here-please-set-it", "looks like a placeholder"),
        ("set SECRET_KEY in .env to a long random text", "looks like a placeholder"),
    ],
)
def test_a_key_that_others_could_guess_is_refused(monkeypatch: pytest.MonkeyPatch, key: str, because: str) -> None:
    monkeypatch.setenv("SECRET_KEY", key)
    with pytest.raises(ValueError, match=because) as refused:
        env_secret_key("SECRET_KEY")
    assert "secrets.token_urlsafe" in str(refused.value)
    assert "SECRET_KEY_FALLBACKS" in str(refused.value)
    assert key not in str(refused.value) or len(key) < 3


@pytest.mark.parametrize("make", [secrets.token_hex, secrets.token_urlsafe, lambda: secrets.token_hex(16), lambda: ""])
def test_a_random_key_is_taken_and_none_may_be_given(monkeypatch: pytest.MonkeyPatch, make) -> None:
    monkeypatch.setenv("SECRET_KEY", key := make())
    assert env_secret_key("SECRET_KEY") == key


def test_a_key_is_used_as_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of it mostly ends with a line feed, with which a running site has signed its links."""
    monkeypatch.setenv("SECRET_KEY", f"{NEW}\n")
    assert env_secret_key("SECRET_KEY") == f"{NEW}\n"


@pytest.mark.parametrize(
    ("written", "keys"),
    [
        ("", []),
        ("first", ["first"]),
        ("first, second", ["first", "second", "first, second"]),
        ("change me, please\n", ["change me", "please", "change me, please\n"]),
    ],
)
def test_a_former_key_may_hold_a_comma(monkeypatch: pytest.MonkeyPatch, written: str, keys: list[str]) -> None:
    monkeypatch.setenv("SECRET_KEY_FALLBACKS", written)
    assert env_former_keys("SECRET_KEY_FALLBACKS") == keys


def test_the_site_does_not_start_with_one(tmp_path: Path) -> None:
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "evalsite.settings", "EVALSITE_DATA": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=ROOT,
        env=environment | {"SECRET_KEY": "x"},
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert "SECRET_KEY has fewer than 32 characters" in done.stderr.splitlines()[-1]


def test_a_key_in_fallbacks_keeps_hits_under_way(settings: Settings) -> None:
    """Those of crowd platforms too, whose tokens carry a mark of the platform's assignment."""
    assignment = Assignment(pk=7, platform_id="3A1B2C")
    token, former = token_of(assignment), settings.SECRET_KEY
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, [former]
    found = read_token(token)
    assert found.assignment_id == 7
    assert is_arrival(found.arrival, "3A1B2C")
    assert not is_arrival(found.arrival, "another assignment there")
    assert not is_arrival("", "3A1B2C")
    assert token_of(assignment) != token

    settings.SECRET_KEY_FALLBACKS = []
    assert not is_arrival(found.arrival, "3A1B2C")
