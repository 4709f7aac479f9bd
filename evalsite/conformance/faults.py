"""How faults of plug-ins are said."""

import re
from collections.abc import Callable
from typing import Any

from evalsite.lib.errors import DomainError

HOSTILE = (
    *("", " ", "\x00", "\ud800", "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "x" * 5000),
    *("[", "{}", "[[]]", '{"a": 1', "nan", "1e999", "-1", "٣", "../../etc/passwd", "=1+1", "a\nb\r\nc", "�"),
)
"""What a form or a file may hold that nobody expects."""


class ConformanceError(AssertionError):
    """A plug-in does not do what its contract promises."""


def require(is_so: bool, plugin: type[Any], fault: str) -> None:
    """Raise ConformanceError with the fault unless it is so."""
    if not is_so:
        raise ConformanceError(f"{plugin.__name__}: {fault}")


def check_names(plugin: type[Any], *names: str) -> None:
    """Check that it has a slug that addresses may have, and these texts."""
    slug = getattr(plugin, "slug", "")
    is_slug = isinstance(slug, str) and re.fullmatch(r"[a-z][a-z0-9_-]*", slug) is not None
    require(is_slug, plugin, f"its slug is {slug!r}. Write small letters, digits, - and _, a letter first.")
    for name in names:
        text = getattr(plugin, name, "")
        require(isinstance(text, str) and bool(text.strip()), plugin, f"it has no “{name}”. Write one for its pages.")


def refused(plugin: type[Any], what: str, call: Callable[[], Any]) -> DomainError | None:
    """Return the DomainError by which a call is refused, None if it is not; any other error is a fault."""
    try:
        call()
    except DomainError as error:
        return error
    except Exception as error:
        raise ConformanceError(f"{plugin.__name__}: {what} raised {error!r}. Raise a DomainError instead.") from error
    return None
