"""Words as a cloud."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from analysis.sections import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH, _HEIGHT = 7.5, 4.2  # inches
_POINTS = 72
_LARGEST, _SMALLEST = 54.0, 8.0
_LONGEST_WORD = 30
_GAP = 3.0  # points between two words
_TURN, _STEP = 0.35, 1.1  # of the spiral: radians and points a step


class _Box(NamedTuple):
    """A rectangle by its corners, in points."""

    left: float
    bottom: float
    right: float
    top: float

    def moved(self, x: float, y: float) -> "_Box":
        return _Box(self.left + x, self.bottom + y, self.right + x, self.top + y)

    def overlaps(self, other: "_Box") -> bool:
        return (
            self.left < other.right and other.left < self.right and self.bottom < other.top and other.bottom < self.top
        )


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
    placed = _place([_Box(*path.get_extents().extents) for path in paths], counts, width, height)
    for k, (size, x, y) in enumerate(placed):
        shape = Affine2D().scale(size).translate(x, y).transform_path(paths[k])
        is_frequent = counts[k] * 3 >= counts[0]
        axes.add_patch(PathPatch(shape, facecolor=theme.accent if is_frequent else theme.ink, linewidth=0))
    axes.set(xlim=(0, width), ylim=(0, height))
    axes.axis("off")
    return figure


def _shown(word: str) -> str:
    short = word if len(word) <= _LONGEST_WORD else f"{word[: _LONGEST_WORD - 1]}…"
    return short.replace("$", r"\$")


def _place(
    boxes: Sequence[_Box], counts: Sequence[int], width: float, height: float
) -> list[tuple[float, float, float]]:
    """Return size and origin of each word, no two of which touch; all are made smaller until all fit."""
    scale = 1.0
    while True:
        sizes = [scale * max(_SMALLEST, _LARGEST * math.sqrt(count / counts[0])) for count in counts]
        taken: list[_Box] = []
        origins = []
        for box, size in zip(boxes, sizes, strict=True):
            found = _find_room(_Box(*(edge * size for edge in box)), taken, width, height)
            if found is None:
                break
            taken.append(found[0])
            origins.append((size, *found[1]))
        else:
            return origins
        scale *= 0.93


def _find_room(
    box: _Box, taken: Sequence[_Box], width: float, height: float
) -> tuple[_Box, tuple[float, float]] | None:
    """Return where a word goes: the first free place of a spiral from the middle outwards."""
    wide = _Box(box.left - _GAP, box.bottom - _GAP, box.right + _GAP, box.top + _GAP)
    middle = (box.left + box.right) / 2, (box.bottom + box.top) / 2
    for x, y in _spiral(width, height):
        origin = x - middle[0], y - middle[1]
        moved = wide.moved(*origin)
        is_inside = moved.left >= 0 and moved.bottom >= 0 and moved.right <= width and moved.top <= height
        if is_inside and not any(moved.overlaps(other) for other in taken):
            return moved, origin
    return None


def _spiral(width: float, height: float) -> Iterator[tuple[float, float]]:
    """Yield points of a spiral that is as flat as the drawing."""
    radius = 0.0
    for k in range(10_000):
        if radius > width / 2:
            return
        angle = _TURN * k
        yield width / 2 + radius * math.cos(angle), height / 2 + radius * math.sin(angle) * height / width
        radius += _STEP * _TURN
