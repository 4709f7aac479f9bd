"""Degraded code: lines exchanged, names replaced by others."""

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from campaigns.design.seeds import draw_below

_NAME = re.compile(r"[^\W\d]\w*")
# Comments and texts, which a program does not run; documentation in Python, and comments of C, over several lines.
_NOT_RUN = re.compile(
    r'"""[\s\S]*?(?:"""|\Z)'
    r"|'''[\s\S]*?(?:'''|\Z)"
    r"|/\*[\s\S]*?(?:\*/|\Z)"
    r'|(?:\b[bfruBFRU]{1,2})?"(?:[^"\\\n]|\\.)*"'
    r"|(?:\b[bfruBFRU]{1,2})?'(?:[^'\\\n]|\\.)*'"
    r"|(?:\#|//).*"
)
_ONE_IN = 15
_IMPORT = re.compile(r"[+-]?\s*(?:from|import|use|using)\s")
# Of the languages that are most usual: a name that is one of these is left alone.
_KEYWORDS = frozenset(
    str.split(
        "and as assert async await bool break case catch char class const continue def default del delete do "
        "double elif else enum except export extends false final finally float fn for from func function "
        "global if impl implements import in int interface is lambda let long match mod mut new nil none "
        "nonlocal not null or pass private protected pub public raise return self short static string struct "
        "super switch this throw true try type use var void while with yield"
    )
)


def worsen_lines(lines: Sequence[str], places: Sequence[int], rng: np.random.Generator) -> list[str]:
    """Return code of which, in every 15 lines, two that follow one another are exchanged, and a name is replaced.

    Parameters
    ----------
    lines : sequence of str
    places : sequence of int
        Indices of the lines that may change, ascending.
    rng : Generator

    Returns
    -------
    list of str
        As many lines. Those that are exchanged are indented alike, if there are such. The name becomes another of these
        15 lines, in each of them after the first that has it, so that the code is consistently wrong. The same lines
        where nothing can be done.

    Notes
    -----
    What a program does depends neither on comments and texts, nor on the order of imports, nor, mostly, on a name that
    one line has: these are taken only where there is nothing else.

    Examples
    --------
    >>> worsen_lines(["total = price", "total += tax"], [0, 1], np.random.default_rng(1))
    ['total += tax', 'tax = price']
    """
    changed, run = list(lines), _what_is_run(lines, places)
    written = [n for n in places if _NAME.search(run[n])]
    if not written:
        written, run = [n for n in places if _NAME.search(lines[n])], list(lines)
    n_parts = max(1, len(written) // _ONE_IN)
    for k in range(n_parts):
        _worsen(changed, run, written[k * len(written) // n_parts : (k + 1) * len(written) // n_parts], rng)
    return changed


def _worsen(lines: list[str], run: list[str], places: Sequence[int], rng: np.random.Generator) -> None:
    """Exchange two of the lines at `places`, in `run` too, and replace a name in them."""
    pairs = [(a, b) for a, b in pairwise(places) if lines[a] != lines[b]]
    pairs = [pair for pair in pairs if not all(_IMPORT.match(lines[n]) for n in pair)] or pairs
    same_depth = [(a, b) for a, b in pairs if _indent(lines[a]) == _indent(lines[b])]
    if drawn := same_depth or pairs:
        a, b = drawn[draw_below(len(drawn), rng)]
        for each in (lines, run):
            each[a], each[b] = each[b], each[a]
    having: dict[str, list[int]] = {}
    for n in places:
        for name in dict.fromkeys(_NAME.findall(run[n])):
            if name.lower() not in _KEYWORDS:
                having.setdefault(name, []).append(n)
    if len(having) > 1:
        names = [name for name, found in having.items() if len(found) > 1] or list(having)
        one = names[draw_below(len(names), rng)]
        others = [name for name in having if name != one]
        other = others[draw_below(len(others), rng)]
        renamed = re.compile(rf"\b{re.escape(one)}\b")
        for n in having[one][min(1, len(having[one]) - 1) :]:
            lines[n] = renamed.sub(other, lines[n])


def _what_is_run(lines: Sequence[str], places: Sequence[int]) -> list[str]:
    """Return the lines, those at `places` without comments and texts."""
    text = "\n".join(lines[n] for n in places)
    bare = _NOT_RUN.sub(lambda found: "\n" * found[0].count("\n"), text).split("\n")
    found = list(lines)
    for n, line in zip(places, bare, strict=False):
        found[n] = line
    return found


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
