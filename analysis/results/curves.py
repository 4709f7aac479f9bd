"""Parts of figures that several methods share: curves with their names at the end, and names that do not overlap."""

from collections.abc import Mapping, Sequence
from itertools import cycle, islice
from typing import TYPE_CHECKING

import numpy as np

from analysis.results.sections import COLUMN_IN, LIGHT, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

MOST_CURVES = 40
"""More curves look alike."""
# Okabe and Ito's colours, which colour-blind readers can tell apart; darker where white is behind, lighter where black.
_ON_LIGHT = ("#0072b2", "#c1520b", "#007f5f", "#a8478a", "#8f6400", "#3b3b3b")
_ON_DARK = ("#56b4e9", "#ff9f61", "#4fd1a5", "#e79ac7", "#f0c24b", "#d8d8d8")
_DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.5)), (0, (6, 1.5, 1.5, 1.5)))
_MARKERS = "osD^vPX"
LABEL_LENGTH = 24
"""Of a name in a figure, in characters."""
_LINE_HEIGHT, _MARGINS = 0.165, 0.9  # inches, of a name and of what is above and below the axes


def palette(theme: Theme, n: int) -> list[str]:
    """Return n colours that look different on the theme's paper; after six they begin again."""
    return list(islice(cycle(_ON_LIGHT if theme == LIGHT else _ON_DARK), n))


def short_label(name: str) -> str:
    """Return a name short enough to leave room for the figure, and without mathematics.

    The middle of a long name is left out: names of systems often differ at their ends.
    """
    end = LABEL_LENGTH // 3
    short = name if len(name) <= LABEL_LENGTH else f"{name[: LABEL_LENGTH - end - 1]}…{name[-end:]}"
    return short.replace("$", r"\$")


def spread_out(wanted: Sequence[float], gap: float) -> list[float]:
    """Return places as near to the wanted ones as can be, in their order and at least a gap apart.

    Least squares under the order (pool adjacent violators).

    Examples
    --------
    >>> spread_out([0.0, 0.0, 5.0], 1.0)
    [-0.5, 0.5, 5.0]
    """
    order = np.argsort(wanted, kind="stable")
    blocks: list[list[float]] = []  # sum and number of what is pooled
    for rank, place in enumerate(order):
        blocks.append([wanted[place] - rank * gap, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] >= blocks[-1][0] / blocks[-1][1]:
            total, n = blocks.pop()
            blocks[-1] = [blocks[-1][0] + total, blocks[-1][1] + n]
    means = np.repeat([total / n for total, n in blocks], [int(n) for _, n in blocks])
    places = np.empty(len(wanted))
    places[order] = means + gap * np.arange(len(wanted))
    return [float(place) for place in places]


def draw_curves(
    theme: Theme,
    x: Sequence[float],
    curves: Mapping[str, Sequence[float | None]],
    *,
    xlabel: str,
    ylabel: str,
    marked: float | None = None,
    intervals: Mapping[str, Sequence[tuple[float | None, float | None]]] | None = None,
    ticks: Sequence[str] = (),
) -> "Drawing":
    """Draw a curve for each name, which stands at its end; at most MOST_CURVES, the first ones.

    `marked` is a place on the x axis with a line. `intervals` has the ends of an interval of each name at each x, which
    then are 0, 1, 2 ….
    `ticks` are what stands at each x instead of its number.
    """
    names, intervals = list(curves)[:MOST_CURVES], intervals or {}
    height = max(3.2, _MARGINS + _LINE_HEIGHT * len(names))
    figure, axes = theme.canvas(width=COLUMN_IN, height=height)
    ends = [next((value for value in reversed(curves[name]) if value is not None), None) for name in names]
    low, high = _limits([value for name in names for pair in intervals.get(name, ()) for value in pair], curves, names)
    known = [end for end in ends if end is not None]
    places = spread_out(known, (high - low) * _LINE_HEIGHT / (height - _MARGINS))
    axes.set_ylim(min([low, *places]), max([high, *places]))
    left, right = _widened(min(x, default=0.0), max(x, default=1.0))
    right -= 0.8 * (right - max(x, default=1.0))
    axes.set_xlim(*((min(left, -0.15), max(right, len(x) - 0.85)) if intervals else (left, right)))
    for k, (name, colour) in enumerate(zip(names, palette(theme, len(names)), strict=True)):
        dashes, marker = _DASHES[(k // len(_ON_LIGHT)) % len(_DASHES)], _MARKERS[k % len(_MARKERS)]
        values = [np.nan if value is None else value for value in curves[name]]
        # Intervals of systems are a little apart, so that they do not hide each other.
        places_x = [at + 0.25 * (k + 0.5 - len(names) / 2) / len(names) for at in x] if intervals else x
        axes.plot(places_x, values, color=colour, linewidth=1.4, linestyle=dashes, marker=marker, markersize=3.6)
        for at, (least, greatest) in zip(places_x, intervals.get(name, ()), strict=False):
            if least is not None and greatest is not None:
                axes.plot([at, at], [least, greatest], color=colour, linewidth=0.9, alpha=0.8)
    if marked is not None:
        axes.axvline(marked, color=theme.ink, linewidth=0.8, linestyle=":", zorder=0)
    _name_ends(axes, theme, names, ends, places)
    if ticks:
        axes.set_xticks(x, [short_label(tick) for tick in ticks], rotation=30, ha="right")
    elif all(float(at).is_integer() for at in x):
        axes.locator_params(axis="x", integer=True)
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.grid(axis="y", color=theme.faint, linewidth=0.6)
    axes.set_axisbelow(True)
    return figure


def _limits(
    ends: Sequence[float | None], curves: Mapping[str, Sequence[float | None]], names: Sequence[str]
) -> tuple[float, float]:
    """Return limits of the y axis that hold curves and intervals."""
    known = [value for values in (ends, *(curves[name] for name in names)) for value in values if value is not None]
    return _widened(min(known, default=0.0), max(known, default=1.0))


def _widened(low: float, high: float) -> tuple[float, float]:
    pad = 0.05 * (high - low) or 0.5
    return low - pad, high + pad


def _name_ends(
    axes: "Axes", theme: Theme, names: Sequence[str], ends: Sequence[float | None], places: Sequence[float]
) -> None:
    """Write each name beside the right end of its curve, with a thin line to it."""
    across = axes.get_yaxis_transform()
    drawn = [each for each in zip(names, ends, palette(theme, len(names)), strict=True) if each[1] is not None]
    for (name, end, colour), place in zip(drawn, places, strict=True):
        line = ([1.0, 1.03], [end or 0.0, place])
        axes.plot(*line, color=colour, linewidth=0.6, transform=across, clip_on=False)
        axes.text(1.04, place, short_label(name), transform=across, va="center", fontsize=8.5, color=colour)
