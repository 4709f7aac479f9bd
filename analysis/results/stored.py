"""Reading stored reports: an object of JSON has no order of its own, since PostgreSQL does not keep it."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

Value = TypeVar("Value")
Report = Mapping[str, Any]
"""What a response method says of responses: JSON, as `ResponseMethod.analyse` returns it."""


def in_order(found: Mapping[str, Value], names: Iterable[str]) -> list[tuple[str, Value]]:
    """Return the entries of a stored object, those of a list in its order, then the others sorted by name.

    >>> in_order({"ratio": 3, "nominal": 1, "ordinal": 2}, ["nominal", "ordinal", "interval"])
    [('nominal', 1), ('ordinal', 2), ('ratio', 3)]
    """
    known = [name for name in dict.fromkeys(names) if name in found]
    return [(name, found[name]) for name in (*known, *sorted(found.keys() - set(known)))]


def criteria_of(report: Mapping[str, object]) -> list[str]:
    """Return the names of a report's criteria in their order; reports of before have those of their settings."""
    listed = report.get("criterion_order")
    if isinstance(listed, list):
        return listed
    settings = report.get("settings")
    asked = settings.get("criteria", []) if isinstance(settings, dict) else []
    return [str(criterion["name"]) for criterion in asked]
