"""The style of outputs in files of votes: columns that count it on each side, or the two texts themselves."""

import json
import re
from collections.abc import Mapping, Sequence

import numpy as np

from analysis.stats.ratings import Floats
from campaigns.design.style import STYLE_FEATURES, count_style
from evalsite.lib.tables import TextColumn

Sides = Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
"""The file's columns of each feature of the left and the right output; several are added up."""
LENGTHS = ("words", "tokens", "characters", "length")
"""Features that are lengths: the first of them counts, since the others say the same."""
TEXT = "text"
"""What the columns of the two texts are called in `Sides`."""
_CALLED = {
    **dict.fromkeys(("word", "words"), "words"),
    **dict.fromkeys(("token", "tokens"), "tokens"),
    **dict.fromkeys(("char", "chars", "character", "characters"), "characters"),
    **dict.fromkeys(("len", "length"), "length"),
    **dict.fromkeys(("heading", "headings", "header", "headers"), "headings"),
    **dict.fromkeys(("list", "lists", "list items", "bullet", "bullets"), "list_items"),
    "bold": "bold",
    **dict.fromkeys(("code", "code block", "code blocks", "codeblocks"), "code_blocks"),
    **dict.fromkeys(("table", "tables"), "tables"),
}
_SIDES = {"a": 0, "left": 0, "b": 1, "right": 1}
# What says nothing more of a count, as in `conv_metadata.sum_assistant_a_tokens` and `header_count_a.h1` of arenas.
_NO_MATTER = re.compile(
    r"conv|metadata|sum|assistant|model|system|count|counts|number|num|n|of|markdown|h[1-6]|(un)?ordered|"
    r"response|answer|output"
)
_TEXTS = re.compile(r"(model|system|assistant)?(response|answer|output|text|completion|conversation)")
_PART = re.compile(r"_(a|b)\.", re.IGNORECASE)
_OWN = "style"


def find_style(columns: Sequence[str]) -> Sides:
    """Return the columns of a file of votes that count the style of both outputs; else those of the two texts.

    >>> find_style(["model_a", "words_a", "words_b", "style_irony_a", "style_irony_b", "context_a_tokens"])
    {'words': (('words_a',), ('words_b',)), 'irony': (('style_irony_a',), ('style_irony_b',))}
    >>> find_style(["system_a", "system_b", "answer_a", "answer_b"])
    {'text': (('answer_a',), ('answer_b',))}
    """
    found: dict[str, tuple[list[str], list[str]]] = {}
    for column in columns:
        words = re.findall(r"[a-z]+\d?|\d+", column.casefold())
        sides = [_SIDES[word] for word in words if word in _SIDES]
        rest = [word for word in words if word not in _SIDES]
        if len(sides) != 1 or not rest:
            continue
        if rest[0] == _OWN and rest[1:]:
            name = _CALLED.get(" ".join(rest[1:]), "_".join(rest[1:]))
        elif _TEXTS.fullmatch("".join(rest)):
            name = TEXT
        else:
            name = _CALLED.get(" ".join(word for word in rest if not _NO_MATTER.fullmatch(word)), "")
        if name:
            side = found.setdefault(name, ([], []))[sides[0]]
            if not side or _PART.search(column):  # another one says the same
                side.append(column)
    of_both = {name: (tuple(a), tuple(b)) for name, (a, b) in found.items() if a and b}
    counted = {name: each for name, each in of_both.items() if name != TEXT}
    lengths = [name for name in LENGTHS if name in counted]
    chosen = {name: each for name, each in counted.items() if name not in lengths[1:]}
    order = [*LENGTHS, *STYLE_FEATURES, *chosen]
    if TEXT in of_both and not lengths:
        return {TEXT: of_both[TEXT]}
    return dict(sorted(chosen.items(), key=lambda each: order.index(each[0])))


def columns_of(sides: Sides) -> list[str]:
    """Return the columns that are read."""
    return [column for both in sides.values() for side in both for column in side]


def read_style(sides: Sides, text: Mapping[str, TextColumn]) -> dict[str, Floats]:
    """Return each feature of the left and the right output of each vote, float64, (n_votes, 2).

    `text`: columns of the file, some of `sides` at least. NaN for a cell that is no count: empty, no number, or below
    0. Features that no vote has on both sides are left out, and so are counts of texts that are all 0.
    """
    if TEXT in sides:
        left, right = (_counted(text[names[0]]) if names[0] in text else {} for names in sides[TEXT])
        both = {name: np.stack([left[name], right[name]], axis=1) for name in left if name in right}
        return {name: values for name, values in both.items() if np.nansum(values)}
    found = {}
    for name, columns in sides.items():
        if all(column in text for side in columns for column in side):
            values = np.stack([sum(_numbers(text[each]) for each in side) for side in columns], axis=1)
            if not np.isnan(values).any(axis=1).all():
                found[name] = values
    return found


def _numbers(column: TextColumn) -> Floats:
    found: Floats = np.array([_number(label) for label in column.labels], np.float64)[column.codes]
    return found


def _number(label: str) -> float:
    try:
        number = float(label)
    except ValueError:
        return np.nan
    return number if 0 <= number < np.inf else np.nan


def _counted(column: TextColumn) -> dict[str, Floats]:
    """Return the counts of each text; NaN of empty cells."""
    counts = [count_style(_said(label)) if label.strip() else {} for label in column.labels]
    return {
        name: np.array([each.get(name, np.nan) for each in counts], np.float64)[column.codes] for name in STYLE_FEATURES
    }


def _said(label: str) -> str:
    """Return what a cell's text says; of a conversation in JSON, what the assistant says in it."""
    if not label.startswith("[{"):
        return label
    try:
        messages = json.loads(label)
    except (ValueError, RecursionError):
        return label
    said = [each.get("content") for each in messages if isinstance(each, dict) and each.get("role") == "assistant"]
    return "\n\n".join(each for each in said if isinstance(each, str)) or label
