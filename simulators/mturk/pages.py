"""Results in pages."""

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from simulators.mturk.refusals import bad_value

T = TypeVar("T")
_DEFAULT_SIZE = 10


def page(
    things: Sequence[T], request: dict[str, Any], name: str, describe: Callable[[T], dict[str, Any]]
) -> dict[str, Any]:
    """Return the page of `things` that a request asks for, as a response's members.

    As at Amazon every page that has results tells a next one, so that the last page is an empty one.
    """
    start = _start(request["NextToken"], name) if "NextToken" in request else 0
    results = things[start : start + request.get("MaxResults", _DEFAULT_SIZE)]
    members: dict[str, Any] = {"NumResults": len(results), name: [describe(each) for each in results]}
    if results:
        members["NextToken"] = _token(start + len(results), name)
    return members


def _token(start: int, name: str) -> str:
    return "p1:" + base64.urlsafe_b64encode(f"{name}:{start}".encode()).decode()


def _start(token: str, name: str) -> int:
    try:
        payload, _, start = base64.urlsafe_b64decode(token.removeprefix("p1:")).decode().partition(":")
        if payload == name and token.startswith("p1:"):
            return int(start)
    except (binascii.Error, ValueError):
        pass
    raise bad_value("NextToken", token)
