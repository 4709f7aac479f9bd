"""Figures in one house style. Imports matplotlib: call it from a job or a command only."""

from pathlib import Path

import matplotlib
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.sections import Theme
from annotation.images.fonts import FOLDER, JP, KR, LATIN, SC, SCRIPTS, TC


def _use_vendored_fonts() -> None:
    """Let figures draw names in any script that has a vendored font: the first family with a glyph draws it."""
    paths = [FOLDER / name for name in (LATIN, *SCRIPTS, *SC, TC, JP, KR)]
    for path in paths:
        font_manager.fontManager.addfont(path)
    families = (font_manager.FontProperties(fname=path).get_name() for path in paths)
    matplotlib.rcParams["font.family"] = list(dict.fromkeys(families))


_use_vendored_fonts()


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


def save(figure: Figure, path: Path) -> None:
    """Write a figure in the format of the path's suffix; the same figure gives the same bytes."""
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None, "ModDate": None}}.get(path.suffix)
    with matplotlib.rc_context({"svg.hashsalt": "evalsite"}):
        figure.savefig(path, metadata=metadata, dpi=160, facecolor=figure.get_facecolor())
