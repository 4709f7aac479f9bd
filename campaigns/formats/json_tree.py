"""JSON as a tree whose branches fold."""

import json
from collections.abc import Iterator
from html import escape
from typing import Any, NoReturn

from campaigns.contracts.format import ContentFormat, Degradation
from campaigns.design.seeds import draw_below
from evalsite.lib.errors import DomainError
from evalsite.lib.markup.cleaning import LONGEST, as_written, clean, folded, with_line_feeds

_DEEPEST = 12
_OPEN = 2
_ONE_OF = 5
"""Values of which one is exchanged, as of five words of a text one is replaced."""


class _Number(str):
    """A number with the digits that it is written with."""


class _Object(list[tuple[str, Any]]):
    """Keys and values, also of keys that are there twice."""


class JsonTree(ContentFormat):
    """A JSON document, whose objects and lists fold."""

    slug = "json"
    title = "JSON"
    summary = "A JSON document as a tree that folds."
    has_lists = True
    n_words = 60
    degraded = "one value in five exchanged with another, or a run of words of one replaced"
    spans = "characters of the JSON as it is written, a line for each value"
    style = "css/rate_formats.css"

    @classmethod
    def read(cls, text: str, *, is_output: bool) -> str:
        """Return it with a line for each value; raise DomainError `bad_json` with the line and column."""
        written = _written(_parse(with_line_feeds(text, "bad_json")))
        if len(written) > 2 * LONGEST:
            raise DomainError("bad_json", f"with a line for each value it is longer than {2 * LONGEST:,} characters")
        return written

    @classmethod
    def html(cls, text: str) -> str:
        """Return keys and values as lists in one another."""
        if len(text) > 2 * LONGEST:
            return as_written(text)
        try:
            tree = _parse(text)
        except DomainError:
            return as_written(text)
        return folded(clean("".join(_nodes("", tree, 0))), text)

    @classmethod
    def words(cls, value: str) -> str:
        """Return keys and values without brackets, a line for each."""
        try:
            return "\n".join(f"{key} {_plain(leaf)}".strip() for key, leaf in _leaves(_parse(value)))
        except DomainError:
            return value

    @classmethod
    def degrade(cls, value: str, by: Degradation) -> str:
        """Return it with one value in five exchanged, at least two, or, where none differ, words of one replaced.

        Values of one list are exchanged only where there are no others: its order may mean nothing.
        """
        tree = _parse(value)
        slots = list(_slots(tree))
        values = [owner[place][1] if isinstance(owner, _Object) else owner[place] for owner, place in slots]
        left, is_changed = list(range(len(slots))), False
        for _ in range(max(1, round(len(slots) / (2 * _ONE_OF)))):
            first = left.pop(draw_below(len(left), by.rng)) if left else 0
            others = [n for n in left if values[n] != values[first]]
            apart = [n for n in others if isinstance(slots[n][0], _Object) or slots[n][0] is not slots[first][0]]
            if others := apart or others:
                second = others[draw_below(len(others), by.rng)]
                left.remove(second)
                _put(*slots[first], values[second])
                _put(*slots[second], values[first])
                is_changed = True
        if is_changed:
            return _written(tree)
        changed = by.replaced(_plain(values[0] if values else tree), cls.lengths)
        if not values:
            return _written(changed)
        _put(*slots[0], changed)
        return _written(tree)

    @classmethod
    def example(cls, text: str) -> str:
        """Return an object that says this."""
        return _written(_Object([("answer", text), ("checked", True)]))


def _refuse_constant(name: str) -> NoReturn:
    raise DomainError("bad_json", f"{name} is no JSON")


def _parse(text: str) -> Any:
    """Return what a document says; raise DomainError `bad_json`."""
    try:
        tree = json.loads(
            text,
            object_pairs_hook=_Object,
            parse_int=_Number,
            parse_float=_Number,
            parse_constant=_refuse_constant,
        )
    except json.JSONDecodeError as error:
        where = f"in line {error.lineno}, column {error.colno}"
        raise DomainError("bad_json", f"{where}: {error.msg[:1].lower()}{error.msg[1:]}") from None
    except RecursionError:
        tree = None
        is_deep = True
    else:
        is_deep = _is_deep(tree)
    if is_deep:
        raise DomainError("bad_json", f"its lists and objects are more than {_DEEPEST} deep")
    return tree


def _is_deep(tree: Any) -> bool:
    level = [tree]
    for _ in range(_DEEPEST + 1):
        level = [child for node in level for child in _children(node)]
        if not level:
            return False
    return True


def _children(node: Any) -> list[Any]:
    if isinstance(node, _Object):
        return [value for _, value in node]
    return node if isinstance(node, list) else []


def _plain(leaf: Any) -> str:
    """Return a value as it is written, a text without its quotes."""
    return leaf if isinstance(leaf, str) else _written(leaf)


def _written(tree: Any, indent: str = "") -> str:
    """Return a document with a line for each value."""
    if isinstance(tree, _Number):
        return str(tree)
    if not isinstance(tree, list) or not tree:
        return "{}" if isinstance(tree, _Object) else json.dumps(tree, ensure_ascii=False)
    inner = indent + "  "
    if isinstance(tree, _Object):
        lines = [f"{inner}{json.dumps(key, ensure_ascii=False)}: {_written(value, inner)}" for key, value in tree]
    else:
        lines = [f"{inner}{_written(value, inner)}" for value in tree]
    opening, closing = "{}" if isinstance(tree, _Object) else "[]"
    return f"{opening}\n" + ",\n".join(lines) + f"\n{indent}{closing}"


def _nodes(label: str, node: Any, depth: int) -> Iterator[str]:
    """Yield the HTML of a value; what has many values folds, and is open at first if it is near the root."""
    name = f'<span class="key">{escape(label)}</span> ' if label else ""
    if not isinstance(node, list) or not node:
        kind = "s" if isinstance(node, str) and not isinstance(node, _Number) else "m"
        yield f'{name}<span class="{kind}">{escape(_written(node))}</span>'
        return
    members = node if isinstance(node, _Object) else [(str(n), value) for n, value in enumerate(node, 1)]
    what = f"{len(node)} {'key' if isinstance(node, _Object) else 'value'}{'s' * (len(node) != 1)}"
    yield f"<details{' open' * (depth < _OPEN)}><summary>{name}{what}</summary><ul>"
    for key, value in members:
        yield "<li>"
        yield from _nodes(key, value, depth + 1)
        yield "</li>"
    yield "</ul></details>"


def _leaves(node: Any, label: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each value that has none in it, with its key."""
    if isinstance(node, _Object) and node:
        for key, value in node:
            yield from _leaves(value, key)
    elif isinstance(node, list) and node:
        for value in node:
            yield from _leaves(value, label)
    else:
        yield label, node


def _slots(node: Any) -> Iterator[tuple[list[Any], int]]:
    """Yield where each value that has none in it is: in which list or object, and at which place."""
    for place, value in enumerate(_children(node)):
        if isinstance(value, list) and value:
            yield from _slots(value)
        else:
            yield node, place


def _put(owner: list[Any], place: int, value: Any) -> None:
    owner[place] = (owner[place][0], value) if isinstance(owner, _Object) else value
