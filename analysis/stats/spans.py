"""How far two raters mark the same characters of a text."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.stats.ratings import Codes, Floats, Mask


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
        What was annotated, by whom, and how many characters it has; no rater annotates a text twice.
    annotation, start, end, severity : int, (n_spans,)
        Marks: of which annotation, from which character to before which, of which severity (the higher code counts
        where marks of one rater overlap). Empty marks are left out.

    Returns
    -------
    SpanAgreement

    Notes
    -----
    Counts are summed over all pairs, so that long texts weigh more. Half a point for another severity is the partial
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
    is_real = end > start
    annotation, start, end, severity = annotation[is_real], start[is_real], end[is_real], severity[is_real]
    by_annotation = np.argsort(annotation, kind="stable")
    ends = np.searchsorted(annotation[by_annotation], np.arange(text.size + 1))
    both = one = weighted = overlapping = n_spans = n_pairs = 0.0
    characters = 0.0
    for members in _groups(text):
        marks = []
        for each in members:
            spans = by_annotation[ends[each] : ends[each + 1]]
            marks.append(
                (_paint(int(length[each]), start[spans], end[spans], severity[spans]), start[spans], end[spans])
            )
        for k, (mine, my_start, my_end) in enumerate(marks):
            for other, other_start, other_end in marks[k + 1 :]:
                marked, theirs = mine > 0, other > 0
                common = marked & theirs
                n_pairs += 1
                characters += mine.size
                one += marked.sum() + theirs.sum()
                both += common.sum()
                weighted += common.sum() - 0.5 * (common & (mine != other)).sum()
                overlapping += _touched(my_start, my_end, theirs) + _touched(other_start, other_end, marked)
                n_spans += my_start.size + other_start.size
    share = one / (2 * characters) if characters else np.nan
    agreed = 1 - (one - 2 * both) / characters if characters else np.nan
    chance = share**2 + (1 - share) ** 2
    return SpanAgreement(
        n_pairs=int(n_pairs),
        f1=float(2 * both / one) if one else float("nan"),
        f1_severity=float(2 * weighted / one) if one else float("nan"),
        kappa=float((agreed - chance) / (1 - chance)) if chance < 1 else float("nan"),
        overlap=float(overlapping / n_spans) if n_spans else float("nan"),
    )


def _groups(text: Codes) -> list[NDArray[np.intp]]:
    """Return the annotations of each text that has more than one."""
    order = np.argsort(text, kind="stable")
    borders = np.flatnonzero(np.diff(text[order])) + 1
    return [group for group in np.split(order, borders) if group.size > 1]


def _paint(length: int, start: Codes, end: Codes, severity: Codes) -> NDArray[np.int64]:
    """Return the severity + 1 of each character, 0 where it is not marked."""
    painted = np.zeros(length, np.int64)
    for a, b, code in zip(start.tolist(), end.tolist(), severity.tolist(), strict=True):
        np.maximum(painted[a:b], code + 1, out=painted[a:b])
    return painted


def _touched(start: Codes, end: Codes, marked: Mask) -> int:
    """Return how many spans have a character that the other rater marks."""
    total: Floats = np.concatenate([[0], np.cumsum(marked)])
    return int(np.count_nonzero(total[end] > total[start]))
