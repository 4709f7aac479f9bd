"""Headers and queries of the worker pages."""

import re
from base64 import b64encode
from hashlib import sha256

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django.fixtures import Settings as SettingsWrapper

from annotation.access.tokens import token_of
from campaigns.models import Campaign
from campaigns.platforms.link.plugin import Link
from evalsite.accounts.models import User
from tests.annotation.open_campaigns import open_campaign
from tests.annotation.worker_pages import answers, started, url, welcome_url

pytestmark = pytest.mark.django_db


# --- Headers


def _pages(campaign: Campaign, client: Client) -> dict[str, HttpResponse]:
    assignment = started(campaign)
    item = client.get(url("hit", assignment))
    name = re.findall(r"([0-9a-f]{24}[a-z])\.img", item.text)[0]
    return {
        "welcome": client.get(welcome_url(campaign)),
        "item": item,
        "image": client.get(reverse("rate:image", args=[token_of(assignment), name])),
        "saved": client.post(url("hit", assignment), answers(item)),
        "return": client.get(url("return", assignment)),
        "redirect": client.post(url("next", assignment)),
        "stop": client.get(reverse("rate:hit", args=["1.forged"])),
    }


def _policy_of(response: HttpResponse) -> dict[str, str]:
    return dict(part.split(" ", 1) for part in response["Content-Security-Policy"].split("; "))


def _hash_of_script(page: HttpResponse) -> str:
    """Return what a policy names the script in a page by."""
    (script,) = re.findall(r"<script>(.*?)</script>", page.text, re.DOTALL)
    return f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"


def test_headers_of_every_page(owner: User, owner_client: Client) -> None:
    """As seen with the cookie of a researcher: not even then is a session read."""
    pages = _pages(open_campaign(owner), owner_client)
    assert pages["image"]["X-Content-Type-Options"] == "nosniff", "it is an image to every browser"
    for name, response in pages.items():
        policy = _policy_of(response if name != "image" else pages["item"])
        assert policy["script-src"] == f"'self' {_hash_of_script(pages['item'])} http://testserver", name
        if name == "stop":  # of no known campaign: each platform may show it
            assert "https://worker.mturk.com" in policy["frame-ancestors"]
        else:
            assert policy["frame-ancestors"] == "'self'", name
            assert policy["form-action"] == policy["style-src"] == "'self' http://testserver", name
        assert policy["default-src"] == "'none'", name
        assert not any("unsafe" in sources for sources in policy.values()), name
        assert not response.cookies, name
        for absent in ("X-Frame-Options", "Set-Cookie", "ETag", "Vary"):
            assert absent not in response, (name, absent)
        assert response["Referrer-Policy"] == "no-referrer", name
        assert response.headers.get("X-Robots-Tag") == (None if name == "image" else "noindex"), name
        cache = "private, max-age=3600, immutable" if name == "image" else "no-store"
        assert response["Cache-Control"] == cache, name


def test_pages_name_the_site_by_the_addresses_that_workers_may_see(owner: User, settings: SettingsWrapper) -> None:
    """In a sandboxed frame WebKit matches 'self' with nothing."""
    settings.SITE_URL = "https://eval.example.org/study"
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    address = welcome_url(open_campaign(owner))
    behind_proxy = {"x-forwarded-proto": "https", "host": "rate.example.org:8443"}
    for headers, seen in ({}, "http://testserver"), (behind_proxy, "https://rate.example.org:8443"):
        page = Client(headers=headers).get(address)
        policy = _policy_of(page)
        for directive in ("style-src", "form-action"):
            assert policy[directive] == f"'self' {seen} https://eval.example.org"
        assert policy["script-src"] == f"'self' {_hash_of_script(page)} {seen} https://eval.example.org"
        assert policy["img-src"] == f"'self' data: {seen} https://eval.example.org"
        assert policy["connect-src"] == "'none'"
        assert policy["frame-ancestors"] == "'self'"


def test_a_platform_may_frame_its_own_workers_pages(owner: User, client: Client, monkeypatch) -> None:
    monkeypatch.setattr(Link, "frame_ancestors", ("https://crowd.example",))
    monkeypatch.setattr(Link, "form_action", ("https://crowd.example",))
    pages = _pages(open_campaign(owner), client)
    del pages["image"]
    for name, response in pages.items():
        policy = response["Content-Security-Policy"]
        assert "frame-ancestors 'self' https://crowd.example" in policy, name
        assert "form-action 'self' https://crowd.example" in policy, name


# --- Queries


def _n_queries(captured: CaptureQueriesContext) -> int:
    return sum(not query["sql"].startswith(("SAVEPOINT", "RELEASE")) for query in captured)


@pytest.mark.parametrize(("n_hits", "size"), [(2, 3), (12, 40)])
def test_queries_do_not_grow_with_the_hit_or_the_campaign(
    owner: User, owner_client: Client, n_hits: int, size: int
) -> None:
    assignment = started(open_campaign(owner, n_hits=n_hits, size=size))
    with CaptureQueriesContext(connection) as shown:
        page = owner_client.get(url("hit", assignment))
    with CaptureQueriesContext(connection) as saved:
        owner_client.post(url("hit", assignment), answers(page))
    name = re.findall(r"([0-9a-f]{24}[a-z])\.img", page.text)[0]
    with CaptureQueriesContext(connection) as drawn:
        owner_client.get(reverse("rate:image", args=[token_of(assignment), name]))
    assert (_n_queries(shown), _n_queries(saved), _n_queries(drawn)) == (3, 4, 1)
