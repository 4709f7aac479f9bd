"""Figures in one house style. Imports matplotlib: import it where a figure is drawn, by one thread at a time."""

import io
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path

import matplotlib
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from annotation.images.fonts import FOLDER, JP, KR, LATIN, SC, SCRIPTS, TC

_DPI = 160
_FONTS = [FOLDER / name for name in (LATIN, *SCRIPTS, *SC, TC, JP, KR)]


def _families(paths: Iterable[Path]) -> list[str]:
    return list(dict.fromkeys(font_manager.FontProperties(fname=path).get_name() for path in paths))


def _use_vendored_fonts() -> None:
    """Let figures draw names in any script that has a vendored font: the first family with a glyph draws it."""
    for path in _FONTS:
        font_manager.fontManager.addfont(path)
    matplotlib.rcParams["font.family"] = _families(_FONTS)


_use_vendored_fonts()


def fonts_for(text: str) -> AbstractContextManager[None]:
    """Leave out the fonts that have no character of `text` to draw, since each costs time with every label."""
    left, used = set(map(ord, text)), _FONTS[:1]
    for path in _FONTS:
        if found := left.intersection(font_manager.get_font(path).get_charmap()):
            used = [*used, path]
            left -= found
    return matplotlib.rc_context({"font.family": _families(used)})


def grid(
    n: int, shape: tuple[int, int], size: tuple[float, float], *, ink: str, faint: str, paper: str
) -> tuple[Figure, list[Axes]]:
    """Return an empty figure of n panels in so many rows and columns, of so many inches, in the colours of a theme."""
    n_rows, n_columns = shape
    figure = Figure(figsize=size, layout="constrained", facecolor=paper)
    panels = list(figure.subplots(n_rows, n_columns, squeeze=False).flat)
    for unused in panels[n:]:
        unused.remove()
    for axes in panels[:n]:
        axes.set_facecolor(paper)
        axes.tick_params(colors=ink, labelsize=9)
        axes.xaxis.label.set_color(ink)
        axes.yaxis.label.set_color(ink)
        for name, spine in axes.spines.items():
            spine.set_color(faint)
            spine.set_visible(name in {"left", "bottom"})
    return figure, panels[:n]


def save(figure: Figure, path: Path) -> None:
    """Write a figure in the format of the path's suffix; the same figure gives the same bytes.

    A figure is laid out once, as in SVG: other formats measure texts otherwise, and would have other places.
    """
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None, "ModDate": None}}.get(path.suffix)
    with matplotlib.rc_context({"svg.hashsalt": "evalsite"}):
        if figure.get_layout_engine() is not None and any(axes.get_aspect() != "auto" for axes in figure.axes):
            figure.draw_without_rendering()  # where axes keep their shape, the layout fits the second time
        if figure.get_layout_engine() is not None and path.suffix != ".svg":
            figure.savefig(io.BytesIO(), format="svg", dpi=_DPI)
            figure.set_layout_engine(None)
        figure.savefig(path, metadata=metadata, dpi=_DPI, facecolor=figure.get_facecolor())
    figure.set_layout_engine(None)
