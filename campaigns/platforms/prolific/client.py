"""Calls of Prolific's interface (version 1), and what their failures mean."""

import weakref
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.views.decorators.debug import sensitive_variables

from campaigns.contracts.account import PlatformRefusedError, PlatformUnsureError
from evalsite.lib.http import RequestError, Response, open_client

_BASE_URL = "https://api.prolific.com"
_TIMEOUT_S = 30.0
_NOT_FOUND, _TIME_OUT, _THROTTLED, _SERVER_ERROR = 404, 408, 429, 500
_LONGEST_WORDS = 400
_SCHEME = "Token "


class ProlificClient:
    """An open connection with the token, which only the headers of the connection know."""

    @sensitive_variables()
    def __init__(self, token: str) -> None:
        if not (token.isascii() and token.isprintable()):
            raise PlatformRefusedError("bad_keys", "The token has characters that no token has. Copy it again.")
        self._http = open_client(settings.PROLIFIC_URL or _BASE_URL, timeout_s=_TIMEOUT_S, max_connections=1)
        weakref.finalize(self, self._http.close)
        self._http.headers["Authorization"] = f"{_SCHEME}{token}"

    def get(self, path: str, **query: str | int) -> Any:
        """Return what stands at a path; raise PlatformRefusedError or PlatformUnsureError."""
        return _content(self._send("GET", path, query=query))

    def find(self, path: str, **query: str | int) -> Any | None:
        """Return what stands at a path, None if nothing does."""
        try:
            return self.get(path, **query)
        except PlatformRefusedError as error:
            if error.code == str(_NOT_FOUND):
                return None
            raise

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Send a body to a path and return the answer."""
        return _content(self._send("POST", path, body))

    def post_for_header(self, path: str, body: Mapping[str, Any], header: str) -> tuple[Any, str]:
        """Send a body to a path and return the answer and one of its headers."""
        response = self._send("POST", path, body)
        return _content(response), response.headers.get(header, "")

    def patch(self, path: str, body: Mapping[str, Any]) -> Any:
        """Change what stands at a path."""
        return _content(self._send("PATCH", path, body))

    def delete(self, path: str, body: Mapping[str, Any] | None = None) -> None:
        """Delete what stands at a path."""
        self._send("DELETE", path, body)

    @sensitive_variables()
    def _send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        query: Mapping[str, str | int] | None = None,
    ) -> Response:
        try:
            response = self._http.request(
                method, path, json=None if body is None else dict(body), params=dict(query or {})
            )
        except RequestError as error:
            raise PlatformUnsureError(f"Prolific does not answer ({type(error).__name__}).") from None
        status = response.status_code
        if status in (_TIME_OUT, _THROTTLED) or status >= _SERVER_ERROR:
            what = "asks to wait" if status == _THROTTLED else f"fails with status {status}"
            raise PlatformUnsureError(f"Prolific {what}.", _seconds(response.headers.get("Retry-After", "")))
        if not response.is_success:
            raise PlatformRefusedError(str(status), f"Prolific refuses: {self._words_of(response)}")
        return response

    @sensitive_variables()
    def _words_of(self, response: Response) -> str:
        """Return what Prolific says, without the token, should it repeat what it was sent."""
        token = self._http.headers["Authorization"].removeprefix(_SCHEME)
        return _words(response).replace(token, "…")[:_LONGEST_WORDS]


def _content(response: Response) -> Any:
    if not response.content:
        return None
    try:
        return response.json()
    except ValueError:
        raise PlatformUnsureError("Prolific's answer cannot be read.") from None


def _seconds(value: str) -> float | None:
    return float(value) if value.isdecimal() else None


def _words(response: Response) -> str:
    """Return Prolific's own words: {"error": {"title": …, "detail": text, list or lists by field}}."""
    try:
        told = response.json()
    except ValueError:
        told = None
    error = told.get("error", told) if isinstance(told, dict) else None
    detail = (error.get("detail") or error.get("title")) if isinstance(error, dict) else error
    return _flat(detail) or f"status {response.status_code}"


def _flat(detail: Any) -> str:
    if isinstance(detail, dict):
        return "; ".join(f"{name}: {_flat(value)}" for name, value in detail.items())
    if isinstance(detail, list):
        return " ".join(map(_flat, detail))
    return "" if detail is None else str(detail)
