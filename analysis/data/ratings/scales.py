"""On which scale scores were given: what they look like, when nobody has said it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evalsite.lib.tables import CellProblems, Problem, TableError, preview, read_columns

Scale = tuple[float, float]
"""Least and greatest score that a worker could give."""
_ROWS_SAMPLED = 500
FULL: Scale = (0.0, 100.0)
SHORT: tuple[Scale, ...] = ((0.0, 1.0), (1.0, 5.0), (1.0, 7.0), (0.0, 10.0))
_BOTH_SIGNS: tuple[Scale, ...] = ((-1.0, 1.0), (-2.0, 2.0), (-3.0, 3.0), (-5.0, 5.0), (-10.0, 10.0))

SCALE_CODES = frozenset({"score_out_of_range", "unclear_scale"})
"""Problems that another scale may solve."""


@dataclass(frozen=True)
class Observed:
    """Least and greatest score of ratings that are hardly on 0–100; `proposal` is the scale that they look like."""

    low: float
    high: float
    proposal: Scale | None

    @property
    def is_outside(self) -> bool:
        """Whether some scores lie outside 0–100."""
        return self.low < FULL[0] or self.high > FULL[1]


def check_scale(scores: NDArray[np.float64]) -> Observed | None:
    """Return what is odd about scores on 0–100: some lie outside, or all within a short scale; else None.

    NaNs do not count. Where all scores are the same, nothing is known of their scale.
    """
    values = scores[np.isfinite(scores)]
    if not values.size or (low := float(values.min())) == (high := float(values.max())):
        return None
    if low < 0:
        return Observed(low, high, _first_around(low, high, _BOTH_SIGNS))
    if high > FULL[1]:
        return Observed(low, high, None)
    proposal = _first_around(low, high, SHORT)
    return Observed(low, high, proposal) if proposal else None


def check_scale_of_file(path: Path, columns: Sequence[str], *, name: str, encoding: str) -> Observed | None:
    """Return what `check_scale` does of the scores in some columns of a file; None too if they cannot be read.

    Reads the file whole only if its first rows are odd: later rows cannot make a short scale of a longer one.
    """
    try:
        sample = preview(path, name, _ROWS_SAMPLED, encoding=encoding)
        if not columns or not set(columns) <= set(sample.columns):
            return None
        places = [sample.columns.index(column) for column in columns]
        cells = [_score(row[place]) for row in sample.rows for place in places if place < len(row)]
        if check_scale(np.array(cells)) is None:
            return None
        table = read_columns(path, columns, name, columns, encoding=encoding, problems=CellProblems())
    except TableError:
        return None  # the run will say what is wrong, by row and column
    return check_scale(np.concatenate([table.numbers[column] for column in columns]))


def _score(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return math.nan


def _first_around(low: float, high: float, scales: tuple[Scale, ...]) -> Scale | None:
    return next((scale for scale in scales if scale[0] <= low and high <= scale[1]), None)


def words(scale: Scale) -> str:
    """Return a scale in words."""
    return f"{scale[0]:g} to {scale[1]:g}"


def unclear_scale(file: str, columns: Sequence[str], observed: Observed) -> TableError:
    """Return the error of scores that look like a short scale when nobody has said which one they are on."""
    likely = observed.proposal or FULL
    message = (
        f"all scores lie between {observed.low:g} and {observed.high:g}, which looks like a scale from "
        f"{words(likely)}. Say which scale they are on, this one or {words(FULL)}."
    )
    return TableError(file, [Problem(None, ", ".join(columns), message, "unclear_scale")])
