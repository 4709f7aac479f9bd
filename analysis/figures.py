"""The figures of a report, in one house style. Imports matplotlib: call it from a job or a command only."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from analysis.stats.quality import NO_TEST
from annotation.images.fonts import FOLDER, JP, KR, LATIN, SC, SCRIPTS, TC

HEAT_ALPHA = 0.1


def _use_vendored_fonts() -> None:
    """Let figures draw names in any script that has a vendored font: the first family with a glyph draws it."""
    paths = [FOLDER / name for name in (LATIN, *SCRIPTS, *SC, TC, JP, KR)]
    for path in paths:
        font_manager.fontManager.addfont(path)
    families = (font_manager.FontProperties(fname=path).get_name() for path in paths)
    matplotlib.rcParams["font.family"] = list(dict.fromkeys(families))


_use_vendored_fonts()


_LABEL_LENGTH = 24


class Theme(NamedTuple):
    """Colours of a figure: ink, faint lines, paper, the accent of what passes and the colour of what fails."""

    ink: str
    faint: str
    paper: str
    accent: str
    warn: str


LIGHT = Theme(ink="#1c2126", faint="#dedad1", paper="#ffffff", accent="#0f5f6b", warn="#a3271f")
DARK = Theme(ink="#e7e5e0", faint="#373d44", paper="#1c2024", accent="#74c5cf", warn="#f4998f")


def figures(report: dict[str, Any]) -> dict[str, Callable[[Theme], Figure]]:
    """Return what draws each figure of a report, by file name; no p-values where there is no worker test."""
    drawn: dict[str, Callable[[Theme], Figure]] = {
        "boxes": lambda theme: draw_boxes(report, theme),
    }
    if report["summary"]["worker_test"]["preset"] != NO_TEST:
        drawn["workers"] = lambda theme: draw_workers(report, theme)
    for comparison in report["comparisons"]:
        drawn[f"significance-{comparison['name']}"] = partial(draw_significance, comparison)
    return drawn


def save(figure: Figure, path: Path) -> None:
    """Write a figure in the format of the path's suffix; the same figure gives the same bytes."""
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None, "ModDate": None}}.get(path.suffix)
    with matplotlib.rc_context({"svg.hashsalt": "evalsite"}):
        figure.savefig(path, metadata=metadata, dpi=160, facecolor=figure.get_facecolor())


def draw_boxes(report: dict[str, Any], theme: Theme) -> Figure:
    """Draw the distribution of item-level z per system: quartiles, and whiskers at 5 and 95 %."""
    boxes = [box for box in report["boxes"] if box["n"]]
    figure, axes = canvas(theme, width=7.5, height=1.1 + 0.34 * max(len(boxes), 1))
    statistics = [
        {
            "whislo": p[0],
            "q1": p[1],
            "med": p[2],
            "q3": p[3],
            "whishi": p[4],
            "label": _label(box["system"]),
            "fliers": [],
        }
        for box in reversed(boxes)
        for p in [box["percentiles"]]
    ]
    if statistics:
        line = {"color": theme.ink, "linewidth": 1}
        axes.bxp(
            statistics,
            orientation="horizontal",
            showfliers=False,
            patch_artist=True,
            widths=0.56,
            boxprops={"facecolor": theme.accent, "edgecolor": theme.ink, "alpha": 0.55},
            medianprops={"color": theme.ink, "linewidth": 2},
            whiskerprops=line,
            capprops=line,
        )
    axes.axvline(0, color=theme.faint, linewidth=1, zorder=0)
    axes.set_xlabel("z of items (box: quartiles; whiskers: 5 % and 95 %)")
    return figure


def draw_workers(report: dict[str, Any], theme: Theme) -> Figure:
    """Draw every tested worker's p-value in rising order, with the line that divides passed from failed."""
    alpha = report["summary"]["worker_test"]["alpha"]
    tested = sorted(row["p"] for row in report["worker_table"] if row["p"] is not None)
    figure, axes = canvas(theme, width=7.5, height=3.2)
    n_passed = sum(p < alpha for p in tested)
    axes.scatter(range(1, n_passed + 1), tested[:n_passed], s=9, color=theme.accent, label=f"{n_passed} passed")
    axes.scatter(
        range(n_passed + 1, len(tested) + 1),
        tested[n_passed:],
        s=12,
        marker="x",
        linewidths=1,
        color=theme.warn,
        label=f"{len(tested) - n_passed} failed",
    )
    axes.axhline(alpha, color=theme.ink, linewidth=1, linestyle="--")
    axes.annotate(f"α = {alpha:g}", (1, alpha), xytext=(0, 4), textcoords="offset points", color=theme.ink)
    axes.set(xlabel="workers, most careful first", ylabel="p of the worker test", ylim=(-0.02, 1.02))
    if tested:
        axes.legend(frameon=False, labelcolor=theme.ink, loc="upper left")
    return figure


def draw_significance(comparison: dict[str, Any], theme: Theme) -> Figure:
    """Draw the heatmap of p-values: coloured where the row beats the column at p < 0.1, the darker the surer."""
    order = comparison["order"]
    side = 1.8 + 0.36 * max(len(order), 2)
    figure, axes = canvas(theme, width=side + 0.6, height=side)
    colours = LinearSegmentedColormap.from_list("heat", [theme.accent, theme.paper], bad=theme.paper)
    matrix = [[float("nan") if p is None or p >= HEAT_ALPHA else p for p in row] for row in comparison["p"]]
    if order:
        image = axes.imshow(matrix, cmap=colours, vmin=0, vmax=HEAT_ALPHA * 1.15)
        bar = figure.colorbar(image, ax=axes, shrink=0.7, ticks=[0, 0.05, HEAT_ALPHA])
        bar.ax.set_ylim(0, HEAT_ALPHA)
        bar.ax.tick_params(colors=theme.ink)
        bar.outline.set_edgecolor(theme.faint)
        bar.set_label("p, row beats column", color=theme.ink)
    labels = [_label(name) for name in order]
    axes.set_xticks(range(len(order)), labels, rotation=90)
    axes.set_yticks(range(len(order)), labels)
    axes.set_xticks([k - 0.5 for k in range(len(order) + 1)], minor=True)
    axes.set_yticks([k - 0.5 for k in range(len(order) + 1)], minor=True)
    axes.grid(which="minor", color=theme.faint, linewidth=0.6)
    axes.tick_params(which="minor", length=0)
    axes.set_title(_label(comparison["name"]), color=theme.ink)
    return figure


def _label(name: str) -> str:
    """Return a name short enough to leave room for the figure, and without mathematics."""
    short = name if len(name) <= _LABEL_LENGTH else f"{name[: _LABEL_LENGTH - 1]}…"
    return short.replace("$", r"\$")


def canvas(theme: Theme, width: float, height: float) -> tuple[Figure, Axes]:
    """Return an empty figure of so many inches, in the theme."""
    figure = Figure(figsize=(width, height), layout="constrained", facecolor=theme.paper)
    axes = figure.subplots()
    axes.set_facecolor(theme.paper)
    axes.tick_params(colors=theme.ink, labelsize=9)
    axes.xaxis.label.set_color(theme.ink)
    axes.yaxis.label.set_color(theme.ink)
    for name, spine in axes.spines.items():
        spine.set_color(theme.faint)
        spine.set_visible(name in {"left", "bottom"})
    return figure, axes
