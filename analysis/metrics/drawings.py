"""Figures of metrics against people: scatter plots, ranks and the heatmap of Williams' test."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from analysis.metrics.meta_evaluation import MetricAgreement, MetricsAgainstPeople
from analysis.results.curves import short_label
from analysis.results.sections import Theme
from analysis.stats.ratings import Floats, or_nan

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

    Draw = Callable[[Axes, MetricAgreement], None]

MOST_PANELS = 12
_PRINTED_P = 12
_VECTOR_POINTS = 300
_HEAT_ALPHA = 0.1
_HEAT_END = 1.15 * _HEAT_ALPHA
_INNER, _NUMBER = (1.5, 1.2), (0.16, 0.13)  # inches, of the points of a panel, and of a number


def draw_systems(found: MetricsAgainstPeople, theme: Theme) -> "Drawing":
    """Draw a panel for each metric: its scores to the right, people upwards, systems as their human ranks."""
    from scipy.stats import rankdata

    human = or_nan(found.human[0])
    ranks = rankdata(-human, method="min").astype(int)

    def draw(axes: "Axes", metric: MetricAgreement) -> None:
        scores = or_nan(metric.scores)
        known = np.flatnonzero(~np.isnan(scores))
        has_room = _with_room(scores[known], human[known], ranks[known])
        axes.scatter(scores[known], human[known], s=130, color=theme.accent, alpha=0.18, linewidths=0)
        for k in known[has_room]:
            axes.annotate(str(ranks[k]), (scores[k], human[k]), ha="center", va="center", color=theme.ink, fontsize=8)
        r = metric.system[0].pearson[0]
        axes.set_title(_titled(metric.name, "r", r), color=theme.ink, fontsize=9)
        axes.margins(0.12)

    return _panels(found.metrics, draw, theme, found.measure)


def _with_room(x: Floats, y: Floats, ranks: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return which systems of a panel have room for their number, the best ones first."""
    places = np.column_stack([each / (np.ptp(each) or 1.0) * side for each, side in ((x, _INNER[0]), (y, _INNER[1]))])
    has_room = np.zeros(x.size, bool)
    for k in np.argsort(ranks, kind="stable"):
        near = np.abs(places[has_room] - places[k])
        has_room[k] = not ((near[:, 0] < _NUMBER[0]) & (near[:, 1] < _NUMBER[1])).any()
    return has_room


def draw_segments(found: MetricsAgainstPeople, theme: Theme) -> "Drawing":
    """Draw a panel for each metric that has segments: single outputs and their LOWESS line."""

    def draw(axes: "Axes", metric: MetricAgreement) -> None:
        assert metric.scatter is not None, "left out"
        (x, y), (at, line) = metric.scatter.points, metric.scatter.line
        axes.scatter(x, y, s=7, color=theme.accent, alpha=0.3, linewidths=0, rasterized=len(x) > _VECTOR_POINTS)
        axes.plot(at, line, color=theme.warn, linewidth=1.8)
        axes.set_title(_titled(metric.name, "τ", metric.segment.kendall), color=theme.ink, fontsize=9)

    metrics = [metric for metric in found.metrics if metric.scatter]
    return _panels(metrics, draw, theme, f"{found.measure_of_outputs} of an output")


def _panels(metrics: Sequence[MetricAgreement], draw: "Draw", theme: Theme, label: str) -> "Drawing":
    shown = metrics[:MOST_PANELS]
    figure, panels = theme.grid(max(len(shown), 1), width=2.6, height=2.4)
    for axes, metric in zip(panels, shown, strict=False):
        draw(axes, metric)
        axes.tick_params(labelsize=8)
    for axes in panels[:: min(3, len(panels))]:
        axes.set_ylabel(label, color=theme.ink, fontsize=9)
    return figure


def _titled(name: str, symbol: str, value: float | None) -> str:
    said = "undefined" if value is None else f"{value:.2f}".replace("-", "−")
    return f"{short_label(name)}\n{symbol} = {said}"


def draw_ranks(found: MetricsAgainstPeople, theme: Theme) -> "Drawing":
    """Draw a line for each system through its ranks by people and by metrics; those that move most are strong."""
    metrics, systems = found.metrics[: MOST_PANELS - 1], found.systems
    ranks = np.array([_order(or_nan(found.human[0])), *(_order(or_nan(metric.scores)) for metric in metrics)])
    moves = np.nanmax(np.abs(ranks[1:] - ranks[0]), axis=0, initial=0, where=~np.isnan(ranks[1:]))
    strong = (moves >= max(2.0, np.sort(moves)[-min(3, moves.size)])) if moves.size else np.zeros(0, bool)
    figure, axes = theme.canvas(width=2.2 + 0.6 * max(len(metrics), 2), height=1.2 + 0.27 * len(systems))
    for k, name in enumerate(systems):
        colour, width = (theme.accent, 2.2) if strong[k] else (theme.faint, 1.4)
        (line,) = axes.plot(range(len(ranks)), ranks[:, k], marker="o", markersize=4, color=colour, linewidth=width)
        line.set_zorder(3 if strong[k] else 2)
        axes.annotate(
            f"{ranks[0, k]:.0f}  {short_label(name)}",
            (0, ranks[0, k]),
            xytext=(-9, 0),
            textcoords="offset points",
            ha="right",
            va="center",
            color=theme.ink,
            fontsize=8.5,
            fontweight="bold" if strong[k] else "normal",
        )
    labels = ["people", *(short_label(metric.name) for metric in metrics)]
    axes.set_xticks(range(len(ranks)), labels, rotation=35, ha="right")
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_ylim(len(systems) + 0.6, 0.4)
    return figure


def _order(scores: Floats) -> Floats:
    """Return ranks without ties, so that no two lines meet: of equal scores the first is above."""
    from scipy.stats import rankdata

    return np.where(np.isnan(scores), np.nan, rankdata(-np.nan_to_num(scores, nan=-np.inf), method="ordinal"))


def draw_williams(found: MetricsAgainstPeople, theme: Theme) -> "Drawing":
    """Draw p of Williams' test: coloured where the row's metric is better at p < 0.1, the darker the surer."""
    from matplotlib.colors import LinearSegmentedColormap

    names = [short_label(metric.name) for metric in found.metrics]
    p = or_nan(value for row in found.williams for value in row).reshape(len(names), -1)
    side = 2.0 + 0.5 * max(len(names), 2)
    figure, axes = theme.canvas(width=side + 0.6, height=side)
    colours = LinearSegmentedColormap.from_list("heat", [theme.accent, theme.paper], bad=theme.paper)
    image = axes.imshow(np.where(p < _HEAT_ALPHA, p, np.nan), cmap=colours, vmin=0, vmax=_HEAT_END)
    bar = figure.colorbar(image, ax=axes, shrink=0.7, ticks=[0, 0.05, _HEAT_ALPHA])
    bar.ax.set_ylim(0, _HEAT_ALPHA)
    bar.ax.tick_params(colors=theme.ink)
    bar.outline.set_edgecolor(theme.faint)
    bar.set_label("p, row better than column", color=theme.ink)
    if len(names) <= _PRINTED_P:
        for (i, j), value in np.ndenumerate(p):
            if not np.isnan(value):
                colour = theme.text_on(colours(value / _HEAT_END) if value < _HEAT_ALPHA else theme.paper)
                text = "<.001" if value < 0.001 else f"{value:.3f}".removeprefix("0")
                axes.annotate(text, (j, i), ha="center", va="center", fontsize=8.5, color=colour)
    axes.set_xticks(range(len(names)), names, rotation=90)
    axes.set_yticks(range(len(names)), names)
    axes.set_xticks([k - 0.5 for k in range(len(names) + 1)], minor=True)
    axes.set_yticks([k - 0.5 for k in range(len(names) + 1)], minor=True)
    axes.grid(which="minor", color=theme.faint, linewidth=0.6)
    axes.tick_params(which="minor", length=0)
    return figure
