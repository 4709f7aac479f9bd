"""How far two raters mark the same characters of a text."""

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from analysis.stats.ratings import Codes, Mask


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

    Returns
    -------
    SpanAgreement

    Notes
    -----
    Marks are intervals of characters, which are sorted, so that time grows with n log n of the marks, whatever their
    length; only whether a mark is touched is looked up for each other rater. Counts are summed over all pairs, so that
    long texts weigh more. Half a point for another severity is the partial
    credit of the WMT shared task on quality estimation.

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
    is_used = (end > start) & (members.n_others[row] > 0)
    width = int(max(length.max(initial=0), end.max(initial=0))) + 1  # the first character of each row: its multiple
    start, end, severity, row = start[is_used], end[is_used], severity[is_used], row[is_used]
    in_order = np.argsort(row * width + start, kind="stable")
    start, end, severity, row = start[in_order], end[in_order], severity[in_order], row[in_order]
    marked = [_union(row, start, end, severity >= level, width) for level in np.unique(severity)]
    marked.append(_union(row, start, end, severity < 0, width))
    all_marked, nothing = marked[0], marked[-1]
    both = _common(all_marked, nothing, members, width)
    same = sum(_common(*levels, members, width) for levels in pairwise(marked))
    one = int(((all_marked.end - all_marked.start) * members.n_others[all_marked.row]).sum())
    characters = int((members.n_others[members.row] * length).sum()) // 2
    n_spans = int(members.n_others[row].sum())
    share = one / (2 * characters) if characters else np.nan
    agreed = 1 - (one - 2 * both) / characters if characters else np.nan
    chance = share**2 + (1 - share) ** 2
    return SpanAgreement(
        n_pairs=int(members.n_others.sum()) // 2,
        f1=float(2 * both / one) if one else float("nan"),
        f1_severity=float((both + same) / one) if one else float("nan"),
        kappa=float((agreed - chance) / (1 - chance)) if chance < 1 else float("nan"),
        overlap=float(_n_touched(row, start, end, all_marked, members, width) / n_spans) if n_spans else float("nan"),
    )


class _Members(NamedTuple):
    """Annotations in rows, those of a text one after the other.

    `row`: int, (n_annotations,), the row of each. `text`, `first`, `n_others`: int, (n_annotations,), by row: a code of
    its text, the first row of it, and how many other annotations it has.
    """

    row: Codes
    text: Codes
    first: Codes
    n_others: Codes

    @classmethod
    def of(cls, text: Codes) -> "_Members":
        order = np.argsort(text, kind="stable")
        row = np.empty(text.size, np.int64)
        row[order] = np.arange(text.size)
        _, first, code, n = np.unique(text[order], return_index=True, return_inverse=True, return_counts=True)
        return cls(row, code, first[code], n[code] - 1)


class _Intervals(NamedTuple):
    """Intervals that do not overlap, in ascending order: `start` and `end` are `row`·width + character."""

    row: Codes
    start: Codes
    end: Codes


def _union(row: Codes, start: Codes, end: Codes, is_taken: Mask, width: int) -> _Intervals:
    """Return the characters of each row that some of its spans mark, of spans in the order of row and start."""
    row, start, end = row[is_taken], start[is_taken], end[is_taken]
    start, reach = row * width + start, np.maximum.accumulate(row * width + end)
    begins = np.ones(row.size, bool)
    begins[1:] = start[1:] > reach[:-1]
    ends = np.ones(row.size, bool)
    ends[:-1] = begins[1:]
    return _Intervals(row[begins], start[begins], reach[ends])


def _common(marked: _Intervals, higher: _Intervals, members: _Members, width: int) -> int:
    """Return how many characters both rows of a pair mark, of all pairs; those of `higher`, part of `marked`, apart.

    A character that k rows mark is one of k(k − 1)/2 pairs.
    """
    changes = []
    for found, begin, end in ((marked, 1, 0), (higher, 0, 1)):
        shift = (members.text[found.row] - found.row) * width
        changes += [2 * (found.start + shift) + begin, 2 * (found.end + shift) + end]
    change = np.concatenate(changes)  # the last bit: whether one row more marks what follows, or one fewer
    change = np.sort(change.astype(np.int32) if change.max(initial=0) < 2**31 else change)
    k = np.cumsum(2 * (change & 1) - 1, dtype=np.int64)[:-1]
    return int((k * (k - 1) // 2 * np.diff(change >> 1)).sum())


def _n_touched(row: Codes, start: Codes, end: Codes, marked: _Intervals, members: _Members, width: int) -> int:
    """Return how many spans have a character that another row of their text marks, counted for each such row."""
    n_touched = 0
    place = row - members.first[row]
    left = np.arange(row.size)
    for step in range(1, int(members.n_others.max(initial=0)) + 1):
        left = left[members.n_others[row[left]] >= step]
        own = row[left]
        other = members.first[own] + (place[left] + step) % (members.n_others[own] + 1)
        before = np.searchsorted(marked.start, other * width + end[left]) - 1
        n_touched += int(np.count_nonzero((before >= 0) & (marked.end[before] > other * width + start[left])))
    return n_touched
