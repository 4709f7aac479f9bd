"""Heatmaps of significance, and figures of two results: scatter plots with names, heatmaps side by side."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

import numpy as np

from analysis.results.curves import short_label
from analysis.results.sections import COLUMN_IN, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure as Drawing

HEAT_ALPHA = 0.1
_HEAT_END = 1.15 * HEAT_ALPHA  # so that 0.1 is not quite paper
_SIDE, _LARGE_SIDE = 3.9, 6.4  # inches
_FEW_NAMES = 10
_MOST_NAMES = 40
_TEXT = 8.5
_CHAR = 0.075  # inches, of a character of nine points
Scores = Sequence[float | None]
Matrix = Sequence[Sequence[float | None]]


def draw_scatter(
    names: Sequence[str],
    first: Scores,
    second: Scores,
    theme: Theme,
    *,
    labels: tuple[str, str] = ("z, first result", "z, second result"),
) -> "Drawing":
    """Draw each system by its scores in two results, with its name; the first 40 have names.

    More than ten names need the width of a page.
    """
    side = _SIDE if len(names) <= _FEW_NAMES else _LARGE_SIDE
    figure, axes = theme.canvas(width=side + COLUMN_IN - _SIDE, height=side)
    _draw_points(axes, first, second, theme)
    axes.set(xlabel=short_label(labels[0]), ylabel=short_label(labels[1]))
    known = [(a, b, short_label(name)) for name, a, b in zip(names, first, second, strict=True) if None not in (a, b)]
    _name_points(
        axes, [each for each in known if each[0] is not None and each[1] is not None][:_MOST_NAMES], side, theme
    )
    return figure


def _draw_points(axes: "Axes", first: Scores, second: Scores, theme: Theme) -> None:
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    ends = [value for pair in pairs for value in pair]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    pad = 0.09 * (high - low) or 0.5
    axes.plot([low - pad, high + pad], [low - pad, high + pad], color=theme.faint, linewidth=1, zorder=0)
    axes.scatter([a for a, _ in pairs], [b for _, b in pairs], s=26, color=theme.accent, zorder=2)
    axes.set(xlim=(low - pad, high + pad), ylim=(low - pad, high + pad))
    axes.set_aspect("equal")


def _name_points(
    axes: "Axes", points: Sequence[tuple[float | None, float | None, str]], side: float, theme: Theme
) -> None:
    """Write names where they cover neither a point nor another name, as far as there is such a place near the point.

    `side` is that of the figure, in inches.
    """
    low, high = axes.get_xlim()
    scale = (high - low) / (side - 0.8)  # of an inch
    height = 1.25 * _TEXT / 72 * scale
    marks = [(float(x or 0.0), float(y or 0.0)) for x, y, _ in points]
    taken = [(x - height / 3, y - height / 3, x + height / 3, y + height / 3) for x, y in marks]
    for (x, y), (_, _, name) in zip(marks, points, strict=True):
        width = 0.62 * _TEXT / 72 * scale * _width(name)
        gap = height / 2
        best: tuple[float, float, float] | None = None
        for distance in (1.0, 2.0, 3.2, 4.6):
            for side, up in ((1, 0), (-1, 0), (1, 0.9), (-1, 0.9), (1, -0.9), (-1, -0.9), (0, 1.2), (0, -1.2)):
                left = x + side * gap * distance - (width if side < 0 else width / 2 if side == 0 else 0)
                bottom = y + up * height * distance - height / 2
                box = (left, bottom, left + width, bottom + height)
                outside = max(low - box[0], box[2] - high, low - box[1], box[3] - high, 0.0)
                covered = sum(_overlap(box, other) for other in taken) + outside * height * 3
                if best is None or covered < best[0] - 1e-12:
                    best = (covered, left, bottom)
            if best is not None and best[0] <= 1e-9:
                break
        if best is None:
            continue
        _, left, bottom = best
        taken.append((left, bottom, left + width, bottom + height))
        near = min(max(x, left), left + width), bottom + height / 2
        if abs(near[0] - x) + abs(near[1] - y) > 1.6 * height:
            axes.plot([x, near[0]], [y, near[1]], color=theme.ink, linewidth=0.5, alpha=0.5, zorder=1)
        axes.text(left, bottom + height / 2, name, va="center", fontsize=_TEXT, color=theme.ink, zorder=3)


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return width * height if width > 0 and height > 0 else 0.0


def draw_criteria(
    panels: Mapping[str, tuple[Scores, Scores, float | None]],
    theme: Theme,
    *,
    labels: tuple[str, str] = ("z, first result", "z, second result"),
) -> "Drawing":
    """Draw a scatter plot for each criterion: scores in two results and Pearson's r, without names."""
    n_columns = min(len(panels), 3)
    n_rows = -(-len(panels) // n_columns)
    figure, axes = theme.canvas(width=2.3 * n_columns + 0.3, height=2.45 * n_rows)
    axes.remove()
    for k, (name, (first, second, r)) in enumerate(panels.items(), start=1):
        panel = figure.add_subplot(n_rows, n_columns, k, facecolor=theme.paper)
        _draw_points(panel, first, second, theme)
        said = "r undefined" if r is None else f"r = {r:.3f}".replace("-", "−")
        panel.set_title(f"{short_label(name)}\n{said}", fontsize=9, color=theme.ink)
        panel.tick_params(colors=theme.ink, labelsize=8)
        for spine in panel.spines.values():
            spine.set_color(theme.faint)
    figure.supxlabel(labels[0], fontsize=9.5, color=theme.ink)
    figure.supylabel(labels[1], fontsize=9.5, color=theme.ink)
    return figure


def draw_heatmaps(names: Sequence[str], first: Matrix, second: Matrix, theme: Theme) -> "Drawing":
    """Draw the p-values of two results side by side: coloured where the row beats the column at p < 0.1."""
    side, room = heat_cell(2 * len(names)) * max(len(names), 4), name_room(names)
    figure, axes = theme.canvas(width=2 * side + room + 1.9, height=side + room + 0.7)
    axes.remove()
    panels = []
    for k, (title, p) in enumerate((("first result", first), ("second result", second)), start=1):
        panel = figure.add_subplot(1, 2, k, facecolor=theme.paper)
        draw_heat(panel, names, p, theme)
        panel.set_title(title, fontsize=10, color=theme.ink)
        panels.append(panel)
    panels[1].set_yticks(range(len(names)), [""] * len(names))
    draw_heat_scale(figure, panels, theme)
    return figure


def heat_cell(n: int) -> float:
    """Return how wide the cells of heatmaps are that have so many columns beside each other, in inches.

    Where there are many, a cell has just the height of its name: they fill the width of a page.
    """
    return float(np.clip(6.2 / max(n, 1), 0.155, 0.25))


def name_room(names: Sequence[str]) -> float:
    """Return how much room the names beside a heatmap need, in inches."""
    return 0.2 + _CHAR * max((_width(short_label(name)) for name in names), default=0)


def _width(text: str) -> float:
    """Return how wide a text is, in characters: those of East Asia are wide."""
    return sum(1.7 if east_asian_width(c) in "WF" else 1.0 for c in text)


def draw_heat(axes: "Axes", names: Sequence[str], p: Matrix, theme: Theme) -> None:
    """Draw a heatmap of p-values: coloured where the row beats the column at p < 0.1, the darker the surer."""
    matrix = [[np.nan if value is None or value >= HEAT_ALPHA else value for value in row] for row in p]
    if names:
        axes.imshow(matrix, cmap=_heat_colours(theme), vmin=0, vmax=_HEAT_END)
    labels = [short_label(name) for name in names]
    axes.set_xticks(range(len(names)), labels, rotation=90)
    axes.set_yticks(range(len(names)), labels)
    axes.set_xticks([k - 0.5 for k in range(len(names) + 1)], minor=True)
    axes.set_yticks([k - 0.5 for k in range(len(names) + 1)], minor=True)
    axes.grid(which="minor", color=theme.faint, linewidth=0.6)
    axes.tick_params(which="minor", length=0)
    axes.tick_params(colors=theme.ink, labelsize=9)
    for name, spine in axes.spines.items():
        spine.set_color(theme.faint)
        spine.set_visible(name in {"left", "bottom"})


def draw_heat_scale(figure: "Drawing", panels: "Sequence[Axes]", theme: Theme) -> None:
    """Draw what the colours of heatmaps mean, beside them."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    scale = ScalarMappable(Normalize(0, _HEAT_END), _heat_colours(theme))
    bar = figure.colorbar(scale, ax=list(panels), shrink=0.7, ticks=[0, 0.05, HEAT_ALPHA])
    bar.ax.set_ylim(0, HEAT_ALPHA)
    bar.ax.tick_params(colors=theme.ink)
    bar.outline.set_edgecolor(theme.faint)
    bar.set_label("p, row beats column", color=theme.ink)


def _heat_colours(theme: Theme) -> "Colormap":
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("heat", [theme.accent, theme.paper], bad=theme.paper)
