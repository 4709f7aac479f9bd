"""Headers of all pages. The permission matrix asks every address for them; here is what it cannot ask."""

from collections.abc import Callable

import pytest
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path, reverse
from pytest_django import Settings

from evalsite.accounts.models import User
from tests.headers import header_faults

pytestmark = pytest.mark.django_db
YEAR_S = 365 * 24 * 3600


def test_browsers_are_told_to_use_https_only_where_they_came_by_it(client: Client, settings: Settings) -> None:
    settings.SECURE_HSTS_SECONDS = YEAR_S
    header = "Strict-Transport-Security"
    for url in (reverse("accounts:sign_in"), reverse("rate:hit", args=["1.forged"]), "/api/v1/campaigns/", "/no/such"):
        assert client.get(url, secure=True)[header] == f"max-age={YEAR_S}", url
        assert header not in client.get(url), url


def test_the_page_of_a_failure_has_the_headers(client: Client, settings: Settings) -> None:
    client.raise_request_exception = False
    settings.ROOT_URLCONF = __name__
    response = client.get("/fails/")
    assert response.status_code == 500
    assert not header_faults(response, is_for_workers=False)


def test_signing_in_sets_cookies_for_this_site_over_https_only(client: Client, owner: User, settings: Settings) -> None:
    settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
    owner.set_password("a password of five words")
    owner.save()
    sent = {"username": owner.email, "password": "a password of five words"}
    response = client.post(reverse("accounts:sign_in"), sent, secure=True)
    assert response.status_code == 302 and {*response.cookies} >= {"sessionid", "known_browser", "csrftoken"}
    assert not header_faults(response, is_for_workers=False)


# --- The check can fail


def _without(name: str) -> Callable[[HttpResponse], None]:
    return lambda response: response.headers.pop(name)


def _with(name: str, value: str) -> Callable[[HttpResponse], None]:
    return lambda response: response.headers.__setitem__(name, value)


@pytest.mark.parametrize(
    "change",
    [
        _without("Content-Security-Policy"),
        _with("Content-Security-Policy", "default-src 'none'; script-src 'self' 'unsafe-inline'"),
        _with("Content-Security-Policy", "default-src 'self'"),
        _without("Permissions-Policy"),
        _with("Referrer-Policy", "unsafe-url"),
        _without("X-Content-Type-Options"),
        _without("X-Frame-Options"),
        lambda response: response.set_cookie("sessionid", "1", httponly=False, samesite="Lax"),
        lambda response: response.set_cookie("sessionid", "1", httponly=True),
        lambda response: response.set_cookie("visitor", "1", httponly=True, samesite="Lax"),
    ],
)
def test_what_a_response_lacks_is_found(client: Client, change: Callable[[HttpResponse], None]) -> None:
    response = client.get(reverse("help:index"))
    assert not header_faults(response, is_for_workers=False)
    change(response)
    assert header_faults(response, is_for_workers=False)


def test_pages_of_workers_and_of_researchers_differ(client: Client) -> None:
    """A researcher's page must not be framed, and a worker's may be."""
    for url, is_for_workers in ((reverse("help:index"), False), (reverse("rate:hit", args=["1.forged"]), True)):
        response = client.get(url)
        assert not header_faults(response, is_for_workers=is_for_workers)
        assert header_faults(response, is_for_workers=not is_for_workers)


def _fails(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("as a bug would")


handler500 = "evalsite.web.server_error"
urlpatterns = [path("fails/", login_not_required(_fails))]
