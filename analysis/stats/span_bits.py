"""Marked characters as bits, 64 to a word: what raters of a text share, where texts are not much longer than marks."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.stats.ratings import Codes

_BLOCK = 1 << 15  # marks or words whose arrays stay in the processor's cache
_BITS = 64
_ALL = np.uint64(2**64 - 1)
Words = NDArray[np.uint64]


class _Words(NamedTuple):
    """The words of rows, those of a row one after the other; all rows of a text have as many.

    `first`, `n`, `place`, `n_others`: int, (n_rows,), the first word of each row, how many it has, its place among the
    rows of its text, and how many others there are.
    """

    first: Codes
    n: Codes
    place: Codes
    n_others: Codes

    def to_other(self, step: int) -> Codes:
        """Return how many words each row is before the one `step` after it in its text, the first after the last."""
        to = np.where(self.place + step <= self.n_others, step, step - self.n_others - 1)
        return to * self.n


class _Pieces(NamedTuple):
    """What marks cover of words, counted from the first of a mark's row; `mark`, `word`, `bits`: (n,) each."""

    mark: Codes
    word: Codes
    bits: Words


def n_words(length: Codes) -> int:
    """Return how many words texts of these lengths take."""
    return int((length + _BITS - 1).sum()) // _BITS


def count_bits(
    row: Codes, start: Codes, end: Codes, severity: Codes, place: Codes, n_others: Codes, length: Codes
) -> tuple[int, int, int, int]:
    """Return counts over the ordered pairs of rows of a text.

    Parameters
    ----------
    row, start, end, severity : int, (n_marks,)
        Marks that are not empty and end within the length of their row; severities are 0 or more.
    place, n_others, length : int, (n_rows,)
        Of rows, those of a text one after the other: the place of each, from 0, how many others there are, and
        characters, as many in all rows of a text.

    Returns
    -------
    (one, both, same, touched)
        Characters that the first row of a pair marks; over unordered pairs, those that both mark, and those whose
        highest severities are equal; marks of the first row of which the second marks some character.
    """
    if not row.size:
        return 0, 0, 0, 0
    size = (length + _BITS - 1) // _BITS
    words = _Words(np.cumsum(size) - size, size, place, n_others)
    levels = np.flatnonzero(np.bincount(severity))
    rank = np.cumsum(np.bincount(severity) > 0) - 1
    total = int(size.sum())
    marked = np.zeros((levels.size, total), np.uint64)
    for block in _blocks(row.size):
        pieces = _pieces(start[block], end[block])
        at = words.first[row[block]][pieces.mark] + pieces.word
        np.bitwise_or.at(marked.reshape(-1), rank[severity[block]][pieces.mark] * total + at, pieces.bits)
    of_any = _keep_highest(marked)
    both, same = _common(marked, of_any, words)
    others = [words.to_other(step) for step in range(1, int(n_others.max(initial=0)) + 1)]
    touched = sum(
        _n_touched(row[block], start[block], end[block], of_any, words, others) for block in _blocks(row.size)
    )
    one = int((np.bitwise_count(of_any) * np.repeat(n_others, size)).sum())
    return one, both, same, touched


def _blocks(n: int) -> Iterator[slice]:
    return (slice(first, first + _BLOCK) for first in range(0, n, _BLOCK))


def _pieces(start: Codes, end: Codes) -> _Pieces:
    end = end - 1
    word, last = start >> 6, end >> 6
    from_start = _ALL << (start & 63).astype(np.uint64)
    to_end = _ALL >> (~end & 63).astype(np.uint64)
    found = [_Pieces(np.arange(start.size), word, np.where(word == last, from_start & to_end, from_start))]
    mark = np.flatnonzero(last > word)
    for step in range(1, int((last - word).max(initial=0)) + 1):
        mark = mark[last[mark] - word[mark] >= step]
        there = word[mark] + step
        found.append(_Pieces(mark, there, np.where(there == last[mark], to_end[mark], _ALL)))
    return _Pieces(*map(np.concatenate, zip(*found, strict=True)))


def _keep_highest(marked: Words) -> Words:
    """Clear bits of `marked`, (n_levels, n_words), that a higher level has too, and return those of any level."""
    of_any: Words = marked[-1].copy()
    for level in marked[-2::-1]:
        level &= ~of_any
        of_any |= level
    return of_any


def _common(marked: Words, of_any: Words, words: _Words) -> tuple[int, int]:
    """Return the bits that both rows of a pair have at all, and in the same level, over all unordered pairs."""
    size_of = np.repeat(words.n, words.n)
    n_after = np.repeat(words.n_others - words.place, words.n)  # rows of the same text after that of a word
    both = same = 0
    for block in _blocks(of_any.size):
        word = np.arange(block.start, min(block.stop, of_any.size))
        for step in range(1, int(n_after[block].max()) + 1):
            word = word[n_after[word] >= step]
            other = word + step * size_of[word]
            both += _n_bits(of_any[word] & of_any[other])
            same += sum(_n_bits(level[word] & level[other]) for level in marked)
    return both, same


def _n_bits(words: Words) -> int:
    return int(np.bitwise_count(words).sum(dtype=np.int64))


def _n_touched(row: Codes, start: Codes, end: Codes, of_any: Words, words: _Words, others: Sequence[Codes]) -> int:
    """Return how many marks have a character that another row of their text marks, counted for each such row."""
    mark, word, bits = _pieces(start, end)
    own, n_touched = words.first[row][mark] + word, 0
    of = row[mark]
    for step, to_other in enumerate(others, start=1):
        is_touched = np.zeros(row.size, bool)
        is_touched[mark[(of_any[own + to_other[of]] & bits) != 0]] = True
        n_touched += int(np.count_nonzero(is_touched & (words.n_others[row] >= step)))
    return n_touched
