"""Whom to tell of a weakness (RFC 9116), and what SECURITY.md says is shown by tests that are there."""

import ast
import re
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

import pytest
from django.conf import settings as site_settings
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from evalsite.lib.env import env_contact

ROOT = Path(site_settings.BASE_DIR)
URL = "/.well-known/security.txt"
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def test_it_says_whom_to_tell_and_until_when(client: Client, settings: Settings) -> None:
    settings.SECURITY_CONTACT, settings.SITE_URL = "mailto:security@example.org", "https://eval.example.org"
    response = client.get(URL)
    assert response.status_code == 200 and response["Content-Type"] == "text/plain; charset=utf-8"
    fields = dict(line.split(": ", 1) for line in response.text.splitlines())
    assert fields["Contact"] == "mailto:security@example.org"
    assert fields["Canonical"] == f"https://eval.example.org{URL}"
    left = datetime.fromisoformat(fields["Expires"]) - timezone.now()
    assert timedelta(days=90) < left < timedelta(days=365)


def test_without_a_contact_there_is_none(client: Client, settings: Settings) -> None:
    settings.SECURITY_CONTACT = ""
    assert client.get(URL).status_code == 404


@pytest.mark.parametrize(
    ("written", "contact"),
    [
        ("", ""),
        ("security@example.org", "mailto:security@example.org"),
        ("mailto:security@example.org", "mailto:security@example.org"),
        ("https://example.org/security", "https://example.org/security"),
        ("tel:+353-1-700-5000", "tel:+353-1-700-5000"),
    ],
)
def test_a_contact_is_an_address(monkeypatch: pytest.MonkeyPatch, written: str, contact: str) -> None:
    monkeypatch.setenv("SECURITY_CONTACT", written)
    assert env_contact("SECURITY_CONTACT") == contact


@pytest.mark.parametrize("written", ["us", "http://example.org", "a@b.org\nContact: mailto:x@y.org", "javascript:x"])
def test_what_is_no_address_is_refused(monkeypatch: pytest.MonkeyPatch, written: str) -> None:
    monkeypatch.setenv("SECURITY_CONTACT", written)
    with pytest.raises(ValueError, match="SECURITY_CONTACT"):
        env_contact("SECURITY_CONTACT")


# --- SECURITY.md


@cache
def names_of_tests(path: str) -> frozenset[str]:
    file = ROOT / path
    tree = ast.parse(file.read_text()) if file.is_file() else ast.Module([], [])
    return frozenset(each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef))


def missing_tests(text: str) -> list[str]:
    """Return the tests that a text names and that are not there."""
    return [f"{path}::{name}" for path, name in _TEST.findall(text) if name not in names_of_tests(path)]


def claims_without_test(text: str) -> list[str]:
    """Return the rows of tables of what somebody cannot do that name no test."""
    rows = [line for line in text.splitlines() if line.startswith("| ") and not re.match(r"\| (cannot|of) \|", line)]
    return [row for row in rows if not _TEST.search(row)]


def test_every_claim_names_a_test_that_is_there() -> None:
    text = (ROOT / "SECURITY.md").read_text()
    assert len(_TEST.findall(text)) > 40
    assert not missing_tests(text)
    assert not claims_without_test(text)


def test_a_claim_without_a_test_is_found() -> None:
    assert missing_tests("`tests/desk/test_security_txt.py::test_that_is_not_there` `tests/no/file.py::test_x`")
    assert claims_without_test("| cannot | shown by |\n|---|---|\n| fly | nothing |")
