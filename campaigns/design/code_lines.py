"""Degraded code: two lines exchanged, a name replaced by another."""

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from campaigns.design.seeds import draw_below

_NAME = re.compile(r"[^\W\d]\w*")
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
    """Return code of which two lines that follow one another are exchanged, and a name is replaced by another of it.

    Parameters
    ----------
    lines : sequence of str
    places : sequence of int
        Indices of the lines that may change, ascending.
    rng : Generator

    Returns
    -------
    list of str
        As many lines. Those that are exchanged are indented alike, if there are such. The name is replaced in each line
        after the first that has it, so that the code is consistently wrong. The same lines where nothing can be done.

    Examples
    --------
    >>> worsen_lines(["total = price", "total += tax"], [0, 1], np.random.default_rng(1))
    ['total += tax', 'total = total']
    """
    changed = list(lines)
    written = [n for n in places if _NAME.search(lines[n])]
    pairs = [(a, b) for a, b in pairwise(written) if lines[a] != lines[b]]
    same_depth = [(a, b) for a, b in pairs if _indent(lines[a]) == _indent(lines[b])]
    if drawn := same_depth or pairs:
        a, b = drawn[draw_below(len(drawn), rng)]
        changed[a], changed[b] = changed[b], changed[a]
    names = list(dict.fromkeys(name for n in written for name in _NAME.findall(changed[n]) if _is_free(name)))
    if len(names) > 1:
        one = draw_below(len(names), rng)
        other = (one + 1 + draw_below(len(names) - 1, rng)) % len(names)
        having = [n for n in written if names[one] in _NAME.findall(changed[n])]
        renamed = re.compile(rf"\b{re.escape(names[one])}\b")
        for n in having[min(1, len(having) - 1) :]:
            changed[n] = renamed.sub(names[other], changed[n])
    return changed


def _is_free(name: str) -> bool:
    return name.lower() not in _KEYWORDS


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
