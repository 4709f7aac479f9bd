"""How far two raters mark the same characters of a text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from analysis.stats.ratings import Codes
from analysis.stats.span_bits import count_bits, n_words

_BLOCK = 1 << 15  # marks
_MOST_WORDS = 4  # of bits for each mark


@dataclass(frozen=True)
class SpanAgreement:
    """Agreement over all pairs of raters of the same text; NaN where undefined.

    Attributes
    ----------
    n_pairs : int
        Pairs of annotations of one text by two raters.
    f1 : float
        2·both/(one + other), of characters that both mark and that each marks: 1 if all marks are the same, whatever
        their severity. NaN if nobody marks anything.
    f1_severity : float
        The same, but a character that both mark with different severities counts one half.
    kappa : float
        Agreement of two raters on whether a character is marked, corrected for chance (Cohen's κ of pooled characters,
        each pair in both orders). NaN if all characters are marked alike.
    overlap : float
        Share of marks that share a character at least with a mark of the other rater.
    """

    n_pairs: int
    f1: float
    f1_severity: float
    kappa: float
    overlap: float


def span_agreement(
    text: Codes, rater: Codes, length: Codes, annotation: Codes, start: Codes, end: Codes, severity: Codes
) -> SpanAgreement:
    """Compare the marks of every two raters of a text.

    Parameters
    ----------
    text, rater, length : int, (n_annotations,)
        What was annotated, by whom, and how many characters it has; no rater annotates a text twice, and all
        annotations of a text say the same length.
    annotation, start, end, severity : int, (n_spans,)
        Marks: of which annotation, from which character to before which, of which severity (0 or more; the higher code
        counts where marks of one rater overlap). Empty marks are left out.

    Notes
    -----
    Characters are bits where that takes little memory for each mark. Where texts are long and marks are few, marks are
    intervals of characters, which are sorted, so that time grows with n log n of the marks, whatever their length;
    texts are counted in blocks, which stay in the processor's cache. Both count the same. Counts are summed over all
    pairs, so that long texts weigh more. Half a point for another severity is the partial credit of the WMT shared
    task on quality estimation.

    References
    ----------
    Blain et al. 2023, Findings of the WMT 2023 shared task on quality estimation, section 4.2 (F1 with partial credit).

    Examples
    --------
    >>> found = span_agreement(np.array([0, 0]), np.array([0, 1]), np.array([10, 10]), np.array([0, 1]),
    ...                        np.array([0, 2]), np.array([4, 6]), np.array([1, 1]))
    >>> found.f1, found.overlap
    (0.5, 1.0)
    """
    members = _Members.of(text)
    row = members.row[annotation]
    used = (end > start) & (members.n_others[row] > 0)
    if not used.all():
        row, start, end, severity = row[used], start[used], end[used], severity[used]
    n_spans = int(members.n_others[row].sum())
    reach = length[members.order]
    if n_words(reach) <= _MOST_WORDS * row.size and not (end > reach[row]).any():
        place = np.arange(text.size) - members.first
        one, both, same, n_touched = count_bits(row, start, end, severity, place, members.n_others, reach)
    else:
        one, both, same, n_touched = _count_intervals(row, start, end, severity, members, int(reach.max(initial=0)))
    characters = int((members.n_others * reach).sum()) // 2
    share = one / (2 * characters) if characters else np.nan
    agreed = 1 - (one - 2 * both) / characters if characters else np.nan
    chance = share**2 + (1 - share) ** 2
    return SpanAgreement(
        n_pairs=int(members.n_others.sum()) // 2,
        f1=float(2 * both / one) if one else float("nan"),
        f1_severity=float((both + same) / one) if one else float("nan"),
        kappa=float((agreed - chance) / (1 - chance)) if chance < 1 else float("nan"),
        overlap=float(n_touched / n_spans) if n_spans else float("nan"),
    )


def _count_intervals(
    row: Codes, start: Codes, end: Codes, severity: Codes, members: "_Members", longest: int
) -> tuple[int, int, int, int]:
    """Return what `count_bits` does, by sorting marks."""
    width = max(longest, int(end.max(initial=0))) + 1  # the first character of each row: its multiple
    start, end = row * width + start, row * width + end
    in_order = np.argsort(start, kind="stable")  # quick, as marks mostly come in nearly this order
    marks = _Marks(row[in_order], start[in_order], end[in_order], severity[in_order])
    counts = [_count(block, members, width) for block in marks.blocks(members.text)]
    one, both, same, n_touched = np.sum(counts, axis=0).tolist() if counts else (0, 0, 0, 0)
    return one, both, same, n_touched


class _Members(NamedTuple):
    """Annotations in rows, those of a text one after the other.

    `order`: int, (n_annotations,), the annotation of each row; `row`: the row of each annotation. `text`, `first`,
    `n_others`: int, (n_annotations,), by row: a code of its text, the first row of it, and how many other annotations
    it has.
    """

    order: Codes
    row: Codes
    text: Codes
    first: Codes
    n_others: Codes

    @classmethod
    def of(cls, text: Codes) -> "_Members":
        order = np.argsort(text, kind="stable")
        row = np.empty(text.size, np.int64)
        row[order] = np.arange(text.size)
        is_first = np.diff(text[order], prepend=-1) != 0
        first, code = np.flatnonzero(is_first), np.cumsum(is_first) - 1
        return cls(order, row, code, first[code], np.diff(first, append=text.size)[code] - 1)


class _Marks(NamedTuple):
    """Marks in ascending order of `start`, which is row·width + character, as `end` is; (n,) each."""

    row: Codes
    start: Codes
    end: Codes
    severity: Codes

    def blocks(self, text: Codes) -> Iterator["_Marks"]:
        """Yield marks of some texts at a time, which fit into the processor's cache; `text`: that of each row."""
        first = 0
        while first < self.row.size:
            last = self.row[min(first + _BLOCK, self.row.size) - 1]
            end = int(np.searchsorted(self.row, np.searchsorted(text, text[last], "right")))
            yield _Marks(*(values[first:end] for values in self))
            first = end


class _Intervals(NamedTuple):
    """Intervals that do not overlap, in ascending order: `start` and `end` are row·width + character."""

    start: Codes
    end: Codes


def _count(marks: _Marks, members: _Members, width: int) -> tuple[int, int, int, int]:
    """Return characters that the first of every ordered pair of rows marks, and `_common` and `_n_touched`."""
    _, start, end, severity = marks
    marked = [_union(start, end)]
    for level in np.flatnonzero(np.bincount(severity))[1:]:
        taken = np.flatnonzero(severity >= level)
        marked.append(_union(start[taken], end[taken]))
    one = int(((marked[0].end - marked[0].start) * members.n_others[marked[0].start // width]).sum())
    return one, *_common(marked, members, width), _n_touched(marks, marked[0], members, width)


def _union(start: Codes, end: Codes) -> _Intervals:
    """Return the characters that some spans mark, as intervals; spans are such, too, but may overlap in their row."""
    reach = np.maximum.accumulate(end)
    follows = np.flatnonzero(start[1:] > reach[:-1]) + 1
    return _Intervals(np.append(start[:1], start[follows]), np.append(reach[follows - 1], reach[-1:]))


def _common(marked: Sequence[_Intervals], members: _Members, width: int) -> tuple[int, int]:
    """Return how many characters both rows of a pair mark, of all pairs, and on how many of these severities are equal.

    `marked`: what is marked with each severity or a higher one, the lowest first. A character that k rows mark is one
    of k(k − 1)/2 pairs.
    """
    n_bits = (2 * len(marked)).bit_length()
    changes: list[Codes] = []
    for level, found in enumerate(marked):
        row = found.start // width
        places = np.stack([found.start, found.end], axis=1) + ((members.text[row] - row) * width)[:, None]
        code = np.array([2 * level + 1, 2 * level])  # from here one row more, or fewer
        changes.append(((places << n_bits) + code).ravel())
    change = np.sort(np.concatenate(changes), kind="stable")
    n_characters, change = np.diff(change >> n_bits), change[:-1] & (2**n_bits - 1)

    def n_rows(level: int) -> Codes:
        step = np.zeros(2**n_bits, np.int64)
        step[2 * level : 2 * level + 2] = -1, 1
        return np.cumsum(step[change])

    def n_pairs(k: Codes) -> int:
        return int((k * (k - 1) * n_characters).sum()) // 2

    levels = [*map(n_rows, range(len(marked))), np.zeros_like(change)]
    return n_pairs(levels[0]), sum(n_pairs(these - higher) for these, higher in pairwise(levels))


def _n_touched(marks: _Marks, marked: _Intervals, members: _Members, width: int) -> int:
    """Return how many marks have a character that another row of their text marks, counted for each such row."""
    row, start, end, _ = marks
    n_touched = 0
    for step in range(1, int(members.n_others[row].max()) + 1):
        has = np.flatnonzero(members.n_others[row] >= step)
        row, start, end = row[has], start[has], end[has]
        first = members.first[row]
        away = (first + (row - first + step) % (members.n_others[row] + 1) - row) * width  # to another row
        before = np.searchsorted(marked.start, end + away) - 1
        n_touched += int(np.count_nonzero((before >= 0) & (marked.end[before] > start + away)))
    return n_touched
