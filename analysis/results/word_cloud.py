"""Words as a cloud."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from analysis.results.sections import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.path import Path

_WIDTH, _HEIGHT = 7.5, 4.2  # inches
_POINTS = 72
_LARGEST, _SMALLEST = 54.0, 8.0
_LONGEST_WORD = 30
_GAP = 3.0  # points between two words
_AROUND = np.array([-_GAP, -_GAP, _GAP, _GAP])  # left, bottom, right, top
_TURN, _STEP = 0.35, 1.1  # of the spiral: radians and points a step


def draw_cloud(words: Sequence[Mapping[str, Any]], theme: Theme) -> "Figure":
    """Draw words, the larger the more chats have them in their topics; nothing is drawn by chance."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.patches import PathPatch
    from matplotlib.textpath import TextPath
    from matplotlib.transforms import Affine2D

    figure, axes = theme.canvas(width=_WIDTH, height=_HEIGHT)
    width, height = _WIDTH * _POINTS, _HEIGHT * _POINTS
    paths = [TextPath((0, 0), _shown(row["word"]), size=1, prop=FontProperties()) for row in words]
    counts = [row["n"] for row in words]
    placed = _place([_box_of(path) for path in paths], counts, width, height)
    for k, (size, x, y) in enumerate(placed):
        shape = Affine2D().scale(size).translate(x, y).transform_path(paths[k])
        is_frequent = counts[k] * 3 >= counts[0]
        axes.add_artist(PathPatch(shape, facecolor=theme.accent if is_frequent else theme.ink, linewidth=0))
    axes.set(xlim=(0, width), ylim=(0, height))
    axes.axis("off")
    return figure


def _box_of(path: "Path") -> NDArray[np.float64]:
    """Return left, bottom, right and top of what a path's points enclose: its curves never leave it.

    Matplotlib's `get_extents` looks for the extremes of each curve, which takes longer than all the rest of a cloud.
    """
    points = np.asarray(path.vertices)[np.asarray(path.codes) != path.CLOSEPOLY]
    return np.concatenate([points.min(axis=0), points.max(axis=0)])


def _shown(word: str) -> str:
    short = word if len(word) <= _LONGEST_WORD else f"{word[: _LONGEST_WORD - 1]}…"
    return short.replace("$", r"\$")


def _place(
    boxes: Sequence[NDArray[np.float64]], counts: Sequence[int], width: float, height: float
) -> list[tuple[float, float, float]]:
    """Return size and origin of each word, no two of which touch; all are made smaller until all fit.

    A box is left, bottom, right and top of a word of size 1.
    """
    spiral = _spiral(width, height)
    scale = 1.0
    while True:
        sizes = [scale * max(_SMALLEST, _LARGEST * math.sqrt(count / counts[0])) for count in counts]
        taken = np.empty((len(boxes), 4))
        origins = []
        for k, (box, size) in enumerate(zip(boxes, sizes, strict=True)):
            found = _find_room(box * size, taken[:k], spiral, width, height)
            if found is None:
                break
            taken[k], origin = found
            origins.append((size, *origin))
        else:
            return origins
        scale *= 0.93


def _find_room(
    box: NDArray[np.float64], taken: NDArray[np.float64], spiral: NDArray[np.float64], width: float, height: float
) -> tuple[NDArray[np.float64], tuple[float, float]] | None:
    """Return where a word goes: the first free place of a spiral from the middle outwards, its box and its origin."""
    origins = spiral - (box[:2] + box[2:]) / 2
    moved = box + np.tile(origins, 2) + _AROUND
    left, bottom, right, top = moved.T
    is_free = (left >= 0) & (bottom >= 0) & (right <= width) & (top <= height)
    for x0, y0, x1, y1 in taken:
        is_free &= (left >= x1) | (right <= x0) | (bottom >= y1) | (top <= y0)
    if not is_free.any():
        return None
    first = int(is_free.argmax())
    return moved[first], (float(origins[first, 0]), float(origins[first, 1]))


def _spiral(width: float, height: float) -> NDArray[np.float64]:
    """Return points of a spiral that is as flat as the drawing, from the middle outwards, (n, 2)."""
    radii = np.arange(0.0, width / 2, _STEP * _TURN)
    angles = _TURN * np.arange(radii.size)
    return np.column_stack([width / 2 + radii * np.cos(angles), height / 2 + radii * np.sin(angles) * height / width])
