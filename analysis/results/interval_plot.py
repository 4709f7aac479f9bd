"""Where an interval plot draws each system: its score and 95 % interval, in per cent of the width. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import NamedTuple

from analysis.results.sections import Figure
from analysis.results.values import Ranking
from analysis.results.words import with_minus

_MARGIN = 0.06
_MOST_TICKS = 4
_WIDE = 50  # strengths of hundreds, as Elo's, need no decimals
_DRAWN_SO = "analysis.methods.system_scores.draw_scores"


class ScoredSystem(NamedTuple):
    """A system, its score and the ends of its interval; whether it is the last of a cluster."""

    system: str
    score: float | None
    low: float | None
    high: float | None
    ends_cluster: bool = False


@dataclass(frozen=True)
class IntervalRow:
    """A system, and where its score and the ends of its interval are drawn; None: not known."""

    system: str
    score: float | None
    score_at: float | None
    low_at: float | None
    high_at: float | None
    ends_cluster: bool


@dataclass(frozen=True)
class Tick:
    """A number of the axis and where it stands."""

    at: float
    text: str


@dataclass(frozen=True)
class IntervalPlot:
    """Systems, best first; the ticks of the axis; where zero is, None where it is outside.

    `label`: what the score is; `unit`: its sign, "" if it has none; `decimals`: of scores.
    """

    label: str
    unit: str
    decimals: int
    rows: list[IntervalRow]
    ticks: list[Tick]
    zero_at: float | None

    @property
    def has_intervals(self) -> bool:
        """Whether any interval is known."""
        return any(row.low_at is not None for row in self.rows)


def plot_ranking(ranking: Ranking) -> IntervalPlot | None:
    """Return the plot of a ranking by mean z; None where no system has one."""
    rows = [ScoredSystem(row.system, row.z, row.low, row.high, row.ends_cluster) for row in ranking.rows]
    return plot_intervals(rows, "Mean z", "z")


def plot_figure(figure: Figure) -> IntervalPlot | None:
    """Return the plot of a figure of scores with their intervals; None of any other figure, which is a file."""
    if figure.draw.drawn_by != _DRAWN_SO:
        return None
    values = figure.draw.values
    rows = [ScoredSystem(row["system"], row["score"], *(row["interval"] or (None, None))) for row in values["rows"]]
    return plot_intervals(rows, values["label"])


def plot_intervals(systems: Sequence[ScoredSystem], label: str, unit: str = "") -> IntervalPlot | None:
    """Return the plot of scores, best first; None where no system has one."""
    known = [value for row in systems for value in (row.score, row.low, row.high) if value is not None]
    if not known:
        return None
    low, high = min(known), max(known)
    width = (high - low) or 1.0
    start, scale = low - _MARGIN * width, 100 / ((1 + 2 * _MARGIN) * width)

    def place(value: float | None) -> float | None:
        return None if value is None else round((value - start) * scale, 2)

    rows = [
        IntervalRow(row.system, row.score, place(row.score), place(row.low), place(row.high), row.ends_cluster)
        for row in systems
    ]
    ticks = [Tick(place(value) or 0.0, with_minus(f"{value:.{_decimals(width)}f}")) for value in _ticks(low, high)]
    zero = place(0.0)
    decimals = max(2, _decimals(width) + 1) if width < _WIDE else 0
    return IntervalPlot(label, unit, decimals, rows, ticks, zero if zero is not None and 0 <= zero <= 100 else None)


def _step(width: float) -> float:
    """Return the least of 1, 2, 5, 10, … times a power of ten by which few enough ticks fit."""
    power = 10.0 ** floor(log10(width / _MOST_TICKS))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor * _MOST_TICKS >= width)


def _decimals(width: float) -> int:
    return max(0, -floor(log10(_step(width)) + 1e-9))


def _ticks(low: float, high: float) -> list[float]:
    step = _step((high - low) or 1.0)
    return [k * step for k in range(ceil(low / step), floor(high / step) + 1)]
