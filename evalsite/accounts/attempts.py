"""How often passwords may be tried and mails requested: by client address, by account, and by known browser.

Delays grow with wrong passwords and stay within an hour. Who tries passwords from one address cannot keep an account's
owner from signing in at another; and a browser in which its owner has signed in before, or has chosen a new password by
mail, has counters of its own, so that not even many addresses can (OWASP, *Slow Down Online Guessing Attacks with
Device Cookies*). django-allauth's limits know no browser, lock an account for everybody, and fail when the cache does.
"""

import secrets
import unicodedata
from datetime import datetime
from math import ceil

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from evalsite.accounts.models import LONGEST_ADDRESS
from evalsite.lib.rate_limits import Limit, client_address, count_use, forget_uses, give_back

Counted = list[tuple[Limit, str]]
_COOKIE = "known_browser"
_KNOWN_FOR_S = 180 * 24 * 3600
_MINUTE_S, _HOUR_S = 60, 3600


def _growing(name: str) -> list[Limit]:
    """Return limits of wrong passwords, the longest first: after 5 one waits up to a minute, after 20 up to an hour."""
    numbers = [(20, _HOUR_S), (10, 10 * _MINUTE_S), (5, _MINUTE_S)]
    return [Limit(f"{name}-{window_s}", n, window_s) for n, window_s in numbers]


# A lab behind one address signs in together: only wrong passwords stay counted.
_BY_ADDRESS = [Limit("sign-in-address-hour", 100, _HOUR_S), Limit("sign-in-address", 30, 10 * _MINUTE_S)]
_BY_ACCOUNT_AND_ADDRESS = _growing("sign-in")
_BY_ACCOUNT = [Limit("sign-in-account", 60, _HOUR_S)]
_BY_BROWSER = _growing("sign-in-browser")
_BY_USER = _growing("old-password")
_BY_USER_AND_ADDRESS = _growing("code")
_CODES_BY_USER = Limit("code-user", 60, _HOUR_S)
_SIGN_UPS = Limit("sign-up-address", 30, _HOUR_S)
_RESETS = [Limit("reset-address", 20, _HOUR_S), Limit("reset-account", 5, _HOUR_S)]


class SignInAttempt:
    """One attempt to sign in: counted before the password is checked, so that parallel attempts are no way around."""

    def __init__(self, request: HttpRequest, email: str, now: datetime) -> None:
        self.now, self.email = now, email
        account, address = _account(email), client_address(request)
        browser = request.get_signed_cookie(_COOKIE, None, salt=_salt(email), max_age=_KNOWN_FOR_S)
        if browser:
            self.own, self.shared = [(limit, browser) for limit in _BY_BROWSER], Counted()
        else:
            self.own = [(limit, f"{account} {address}") for limit in _BY_ACCOUNT_AND_ADDRESS]
            self.shared = [(limit, address) for limit in _BY_ADDRESS] + [(limit, account) for limit in _BY_ACCOUNT]

    def count(self) -> int:
        """Count it; return 0 if the password may be checked, or after how many seconds to try again."""
        return count_use(*self.shared, *self.own, now=self.now)

    def pass_first_step(self) -> None:
        """Take it back, and forget the owner's own wrong passwords: this one was right."""
        give_back(*self.shared, now=self.now)
        forget_uses(*self.own)

    def succeed(self, response: HttpResponse) -> None:
        """Do the same, and know this browser the next time."""
        self.pass_first_step()
        remember_browser(response, self.email)


def remember_browser(response: HttpResponse, email: str) -> None:
    """Let the browser that gets this response sign in to the account even if other addresses fail."""
    response.set_signed_cookie(
        _COOKIE,
        secrets.token_urlsafe(16),
        salt=_salt(email),
        max_age=_KNOWN_FOR_S,
        path=reverse("accounts:sign_in"),
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def limits_of_user(user_id: int) -> Counted:
    """Return what counts wrong old passwords of a user who wants to change it."""
    return [(limit, str(user_id)) for limit in _BY_USER]


def limits_of_codes(request: HttpRequest, user_id: int) -> Counted:
    """Return what counts wrong codes of a second factor: by client address, and all of a user's."""
    own = [(limit, f"{user_id} {client_address(request)}") for limit in _BY_USER_AND_ADDRESS]
    return [(_CODES_BY_USER, str(user_id)), *own]


def count_reset(request: HttpRequest, email: str, now: datetime) -> int:
    """Count a mail that is requested, whether or not an account has the address; return as `count_use` does."""
    values = (client_address(request), _account(email))
    return count_use(*zip(_RESETS, values, strict=True), now=now)


def count_sign_up(request: HttpRequest, now: datetime) -> int:
    """Count an account that somebody wants to make by an invitation; return as `count_use` does."""
    return count_use((_SIGN_UPS, client_address(request)), now=now)


def is_mail_set_up() -> bool:
    """Return whether links by mail can be sent."""
    return settings.EMAIL_BACKEND != "django.core.mail.backends.dummy.EmailBackend"


def refuse(request: HttpRequest, wait_s: int, *, is_reset: bool = False) -> HttpResponse:
    """Return the page that says how long to wait, the same for right and wrong passwords."""
    context = {"minutes": ceil(wait_s / _MINUTE_S), "is_reset": is_reset, "has_mail": is_mail_set_up()}
    response = render(request, "429.html", context, status=429)
    response["Retry-After"] = wait_s
    response["Cache-Control"] = "no-store"
    return response


def _account(email: str) -> str:
    """Return an address as the database compares it: of all spellings that find one account, one counter."""
    # Of a longer one the beginning will do: no account has it, and the time grows with the square of its accents.
    return unicodedata.normalize("NFKC", email.strip()[:LONGEST_ADDRESS]).upper()


def _salt(email: str) -> str:
    return f"evalsite.accounts.attempts:{_account(email)}"
