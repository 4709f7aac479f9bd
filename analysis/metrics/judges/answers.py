"""Reading a judge's answer: one JSON object with a rating for each statement, and nothing else.

What else an answer holds may be quoted from the text that is judged, so nothing is searched for in it.
"""

import json
import re
from typing import Any

LEAST, MOST = 0, 100
_THOUGHTS = ("<think>", "</think>")
_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL | re.IGNORECASE)


class UnparsableError(ValueError):
    """An answer is not what was asked for; the message says how."""


def parse_answer(text: str, n_statements: int) -> list[float]:
    """Return the rating of each statement, 0 to 100; raise UnparsableError.

    Before the object there may be thoughts in a `<think>` element, and around it a fence of Markdown: models write
    both unasked.

    Examples
    --------
    >>> parse_answer('{"1": 80, "2": 12.5}', 2)
    [80.0, 12.5]
    """
    found = _read(_without_wrapping(text))
    wanted = [str(n) for n in range(1, n_statements + 1)]
    if not isinstance(found, dict):
        raise UnparsableError("The answer is no JSON object.")
    if set(found) != set(wanted):
        raise UnparsableError(f"The answer does not have exactly the keys 1 to {n_statements}.")
    return [_rating(name, found[name]) for name in wanted]


def _without_wrapping(text: str) -> str:
    begin, end = _THOUGHTS
    rest = text.strip()
    if rest.startswith(begin):
        _, is_ended, rest = rest.partition(end)
        if not is_ended:
            raise UnparsableError("The answer ends in the middle of thoughts.")
        rest = rest.strip()
    fenced = _FENCED.fullmatch(rest)
    return fenced[1] if fenced else rest


def _read(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_constant)
    except UnparsableError:
        raise
    except (ValueError, RecursionError):
        raise UnparsableError("The answer is not JSON alone.") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise UnparsableError("The answer rates a statement twice.")
    return found


def _constant(name: str) -> Any:
    raise UnparsableError(f"{name} is no rating.")


def _rating(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnparsableError(f"The rating of statement {name} is no number.")
    if not LEAST <= value <= MOST:
        raise UnparsableError(f"The rating of statement {name} is not from {LEAST} to {MOST}.")
    return float(value)
