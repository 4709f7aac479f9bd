"""Dataclasses as JSON, and JSON as dataclasses again, checked against their types."""

import json
from typing import Any, TypeVar

import msgspec

from evalsite.lib.errors import DomainError

Value = TypeVar("Value")


def to_json(value: object) -> Any:
    """Return a value of dataclasses, arrays, lists, dicts, numbers and texts as JSON keeps it; NaN becomes None.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Estimate:
    ...     score: float
    ...     interval: tuple[float | None, float | None] = (None, None)
    >>> to_json(Estimate(0.5, (0.1, float("nan"))))
    {'score': 0.5, 'interval': [0.1, None]}
    """
    return msgspec.json.decode(msgspec.json.encode(value, enc_hook=_as_builtin))


def parse(text: str, *, unread: str = "") -> Any:
    """Return what a text of JSON says, as `json.loads` does, which takes four times as long for a large report.

    Of an object, the value of the key `unread` is an empty list.

    >>> parse('{"p": 0.05}'), parse("[NaN]"), parse('{"p": 0.05, "sections": [1, 2]}', unread="sections")
    ({'p': 0.05}, [nan], {'p': 0.05, 'sections': []})
    """
    try:
        if not unread:
            return msgspec.json.decode(text)
        parts = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
        return {key: [] if key == unread else msgspec.json.decode(part) for key, part in parts.items()}
    except ValueError:  # NaN, half of a pair of surrogates
        return json.loads(text)


def from_json(stored: object, kind: type[Value]) -> Value:
    """Return what `to_json` made as a value of its type; absent fields have their defaults, unknown ones are ignored.

    Raise DomainError `unreadable_result`, which names the field, where JSON is not of this type.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Estimate:
    ...     score: float
    ...     interval: tuple[float | None, float | None] = (None, None)
    >>> from_json({"score": 1, "name": "alpha"}, Estimate)
    Estimate(score=1.0, interval=(None, None))
    >>> from_json({"score": "high"}, Estimate)
    Traceback (most recent call last):
        ...
    evalsite.lib.errors.DomainError: A stored result cannot be read: Expected `float`, got `str` - at `$.score`
    """
    try:
        return typed(stored, kind)
    except ValueError as error:
        raise DomainError("unreadable_result", f"A stored result cannot be read: {error}") from error


def typed(found: object, kind: type[Value]) -> Value:
    """Return values as JSON has them as a value of a type; raise ValueError, which names the place, for others."""
    try:
        return msgspec.convert(found, kind, str_keys=True)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from error


def _as_builtin(value: Any) -> Any:
    """Return a number or an array of NumPy as Python's own."""
    if not hasattr(value, "tolist"):
        raise TypeError(f"{type(value).__name__} has no form in JSON")
    return value.tolist()
