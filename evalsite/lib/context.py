"""What this thread works on: a request or a job, each with an id that log lines, error pages and the audit log name."""

import logging
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from django import template
from django.http import HttpRequest
from django.http.response import HttpResponseBase

HEADER = "X-Request-ID"
# An id of a proxy or of a client is taken as it is, if it cannot disturb a line of the log.
_ID = re.compile(r"[\w.-]{8,64}", re.ASCII)
_ID_BYTES = 8
# Where lines that Django writes of a response after all middleware find it.
_META = "evalsite.request_id"

register = template.Library()


@dataclass(frozen=True)
class Work:
    """A request, or a job with the user who owns it; neither in a command."""

    request_id: str = ""
    job_id: str = ""
    request: HttpRequest | None = None
    owner: Any = None

    def ids(self) -> dict[str, str]:
        """Return the ids that there are, by the names that they have in a log."""
        return {name: value for name in ("request_id", "job_id") if (value := getattr(self, name))}


_current: ContextVar[Work] = ContextVar("work", default=Work())  # noqa: B039 it is frozen


def current_work() -> Work:
    """Return what this thread works on."""
    return _current.get()


def ids_of(record: logging.LogRecord) -> dict[str, str]:
    """Return the ids of what a line of the log is about: what this thread works on, or has just answered."""
    request = getattr(record, "request", None)
    late = getattr(request, "META", {}).get(_META)
    return current_work().ids() or ({"request_id": late} if late else {})


@contextmanager
def working_on(work: Work) -> Iterator[None]:
    """Let `work` be what this thread works on until the end of the block."""
    token = _current.set(work)
    try:
        yield
    finally:
        _current.reset(token)


def name_requests(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Give each request an id, that of its header or a new one; the response has it in the same header. Middleware."""

    def respond(request: HttpRequest) -> HttpResponseBase:
        sent = request.headers.get(HEADER, "")
        request_id = sent if _ID.fullmatch(sent) else secrets.token_hex(_ID_BYTES)
        request.META[_META] = request_id
        with working_on(Work(request_id=request_id, request=request)):
            response = get_response(request)
        if not response.headers.get("Content-Type", "").startswith("image/"):  # many, and nobody reports one
            response.headers[HEADER] = request_id
        return response

    return respond


@register.simple_tag
def request_id() -> str:
    """Return the id of the request that is answered. It needs no context, so that the page of a failure can show it."""
    return current_work().request_id
