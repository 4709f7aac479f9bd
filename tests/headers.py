"""What each response of the site says to a browser, whatever it is an answer to."""

from collections.abc import Iterator

from django.conf import settings
from django.http.response import HttpResponseBase

from campaigns.platforms import platforms

NONE, SELF = "'none'", "'self'"
_DEVICES = ", ".join(f"{name}=()" for name in settings.DENIED_DEVICES)
# The site's own scripts, styles and images, data: of images, and scripts in a page that their hash allows.
_SOURCES = {
    "script-src": {SELF},
    "style-src": {SELF},
    "img-src": {SELF, "data:"},
    "font-src": {SELF},
    "connect-src": {SELF},
    "form-action": {SELF},
    "frame-ancestors": set(),
    "base-uri": set(),
    "default-src": set(),
}
_FALLBACK = {"script-src", "style-src", "img-src", "font-src", "connect-src"}  # what default-src stands for
_COOKIES = {"sessionid", "csrftoken", "known_browser", "messages"}
_READ_BY_SCRIPTS = {"csrftoken"}


def policy_of(response: HttpResponseBase) -> dict[str, set[str]]:
    """Return the sources of each directive; without 'none', which is no source."""
    text = response.headers.get("Content-Security-Policy", "")
    parts = [part.split() for part in text.split(";") if part.strip()]
    return {name: {*sources} - {NONE} for name, *sources in parts}


def header_faults(response: HttpResponseBase, *, is_for_workers: bool, origin: str = "http://testserver") -> list[str]:
    """Return what a response lacks or allows too much of. Platforms may frame worker pages, which say no address."""
    is_page = response.headers.get("Content-Type", "").startswith("text/html")
    referrer = {"no-referrer"} if is_for_workers else {"same-origin", "no-referrer"}
    faults = [
        *_policy_faults(response, is_for_workers=is_for_workers, origin=origin),
        *_cookie_faults(response, is_for_workers=is_for_workers),
    ]
    for name, values in (
        ("X-Content-Type-Options", {"nosniff"}),
        ("Referrer-Policy", referrer),
        ("Permissions-Policy", {_DEVICES if is_page else None}),
        ("Cross-Origin-Opener-Policy", {"same-origin" if is_page else None}),
        ("X-Frame-Options", {None} if is_for_workers else {"DENY"}),
    ):
        if response.headers.get(name) not in values:
            faults.append(f"{name}: {response.headers.get(name)}")
    return faults


def _policy_faults(response: HttpResponseBase, *, is_for_workers: bool, origin: str) -> Iterator[str]:
    policy = policy_of(response)
    if policy.get("default-src") != set():
        yield "default-src is not 'none'"
    is_image = response.headers.get("Content-Type") in ("image/webp", "image/png")
    asked = {"default-src"} if is_for_workers and is_image else {*_SOURCES} - _FALLBACK
    yield from (f"{name} is missing" for name in asked - policy.keys())
    kinds = [kind() for kind in platforms.all().values()] if is_for_workers else []
    more = {
        "form-action": {source for kind in kinds for source in kind.form_action},
        "frame-ancestors": {SELF, *(source for kind in kinds for source in kind.frame_ancestors)} if kinds else set(),
    }
    for name, sources in policy.items():
        allowed = _SOURCES.get(name, set()) | more.get(name, set()) | ({origin} if kinds else set())
        own = {each for each in sources if name == "script-src" and each.startswith("'sha256-")}
        if extra := sources - own - allowed:
            yield f"{name} allows {sorted(extra)}"


def _cookie_faults(response: HttpResponseBase, *, is_for_workers: bool) -> Iterator[str]:
    for name, cookie in response.cookies.items():  # type: ignore[attr-defined]
        if is_for_workers or name not in _COOKIES:
            yield f"cookie {name}"
        if cookie["max-age"] == 0:
            continue  # it is deleted
        if bool(cookie["httponly"]) == (name in _READ_BY_SCRIPTS):
            yield f"cookie {name}: HttpOnly is {bool(cookie['httponly'])}"
        if cookie["samesite"] != "Lax" or bool(cookie["secure"]) != settings.SESSION_COOKIE_SECURE:
            yield f"cookie {name}: SameSite={cookie['samesite']}, Secure={cookie['secure']}"
