"""Setting a text in lines: paragraphs, pieces, lines and runs, in pixels at scale 1.

Lines are the same at both scales: hinted advances differ a little between 1× and 2×, so a piece counts as wide as the
wider of the two.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from annotation.images import bidi, fonts, letters
from annotation.images.clusters import JOIN, SPACE, TAB_WIDTH, break_class, find_clusters, find_pieces
from evalsite.lib.caches import byte_cache

SCALES = (1, 2)
PLACEHOLDER_EM = 0.62
# Twice this is still below the 16,383 px that a WebP image may have.
MAX_HEIGHT_PX = 8_000
# Of a prepared text, measured: clusters, levels and pieces.
_BYTES_OF_CHARACTER = 400
# Longer runs are rarely measured twice, and would fill the cache.
_LONGEST_KEPT = 200
_NEWLINE = re.compile("\r\n|[\n\r\v\f\x85\u2028\u2029]")


class TextTooTallError(ValueError):
    """The text needs more lines than an image may have."""


@dataclass(frozen=True)
class Style:
    """Measures of a text, in pixels at scale 1."""

    width: int
    font_size: int
    padding: int = 6
    is_wide: bool = False

    @property
    def line_height(self) -> int:
        """Room for marks above and below: Thai and Devanagari need 1.5 em. Lines break alike, wide or not."""
        return self.wide_line_height if self.is_wide else round(self.font_size * 1.6)

    @property
    def wide_line_height(self) -> int:
        """Height of lines that are wide apart."""
        return round(self.font_size * 2.1)

    @property
    def baseline(self) -> int:
        """Distance from the top of the line to its baseline."""
        return round(self.font_size * (1.38 if self.is_wide else 1.13))

    @property
    def room(self) -> int:
        """Width of the longest line."""
        return self.width - 2 * self.padding

    def height_of(self, n_lines: int) -> int:
        """Height of so many lines."""
        return n_lines * self.line_height + 2 * self.padding


class Cluster(NamedTuple):
    """What is never split: `source` as in the text, `drawn` by `font` (None: a placeholder), its place in the text."""

    source: str
    drawn: str
    font: str | None
    start: int
    end: int


class Piece(NamedTuple):
    """Clusters from `start` to `end`, the last of them from `ink_end` on spaces, and the widths of both stretches."""

    start: int
    end: int
    ink_end: int
    ink: float
    space: float


class Paragraph(NamedTuple):
    """Clusters with their levels of embedding, in pieces between which a line may end."""

    clusters: Sequence[Cluster]
    levels: Sequence[int]
    pieces: tuple[Piece, ...]
    is_rtl: bool


class Run(NamedTuple):
    """Clusters of one font (None: placeholders) and one direction, and the stretches of them to highlight."""

    text: str
    font: str | None
    is_rtl: bool
    highlights: tuple[tuple[int, int], ...]


class Line(NamedTuple):
    """Runs from left to right, on the right if the paragraph runs from right to left."""

    runs: tuple[Run, ...]
    is_rtl: bool


@dataclass(frozen=True)
class TextLayout:
    """Lines of a text and how often each character that no font has occurs in it."""

    style: Style
    lines: tuple[Line, ...]
    missing: dict[str, int]

    @property
    def height(self) -> int:
        """Height of the image at scale 1."""
        return self.style.height_of(len(self.lines))


def lay_out(text: str, style: Style, highlights: Sequence[tuple[int, int]] = (), place: str = "") -> TextLayout:
    """Set `text` in lines; raise TextTooTallError if they are too many. What is kept of it is for its `place` alone."""
    paragraphs, missing = _prepare(text, style.font_size, place)
    lines = tuple(
        Line(tuple(_make_runs(each.clusters[first:last], each.levels[first:last], highlights)), each.is_rtl)
        for each, first, last in _lines_of(paragraphs, style)
    )
    return TextLayout(style, lines, dict(missing))


def height_of(text: str, style: Style, place: str = "") -> int:
    """Return the height of the image at scale 1, as `lay_out` finds it; raise TextTooTallError as it does."""
    paragraphs, _ = _prepare(text, style.font_size, place)
    return style.height_of(sum(1 for _ in _lines_of(paragraphs, style)))


def _lines_of(paragraphs: Sequence[Paragraph], style: Style) -> Iterator[tuple[Paragraph, int, int]]:
    """Yield each line: its paragraph, first and last cluster. Raise TextTooTallError after the last that has room."""
    most = (MAX_HEIGHT_PX - 2 * style.padding) // style.wide_line_height
    n_lines = 0
    for paragraph in paragraphs:
        for first, last in _break_lines(paragraph, style):
            n_lines += 1
            if n_lines > most:
                raise TextTooTallError(f"The text has more than {most} lines of {style.width} px.")
            yield paragraph, first, last


def _size_of_prepared(prepared: object, text: str, *rest: object) -> int:
    return _BYTES_OF_CHARACTER * len(text) + 2000


@byte_cache(32 * 2**20, _size_of_prepared)
def _prepare(text: str, font_size: int, place: str) -> tuple[tuple[Paragraph, ...], Mapping[str, int]]:
    """Return what does not depend on the width of the image, so that a text for several screens is measured once."""
    region = fonts.find_region(text)
    missing: Counter[str] = Counter()
    paragraphs: list[Paragraph] = []
    # Where no letter of a paragraph says it: as the text begins.
    default = bidi.is_rtl([bidi.class_of(character) for character in text[:200]], default=False)
    for start, paragraph in _split_paragraphs(text):
        clusters, lost = _choose_fonts(paragraph, start, region)
        missing.update(lost)
        classes = [bidi.class_of(cluster.source) for cluster in clusters]
        is_rtl = bidi.is_rtl(classes, default)
        levels = bidi.find_levels([cluster.source for cluster in clusters], classes, int(is_rtl))
        pieces = tuple(_measure_pieces(clusters, levels, font_size))
        paragraphs.append(Paragraph(clusters, levels, pieces, is_rtl))
    return tuple(paragraphs), missing


def _split_paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Yield start and text of each paragraph; a line break at the very end opens no paragraph."""
    start = 0
    for match in _NEWLINE.finditer(text):
        yield start, text[start : match.start()]
        start = match.end()
    if start < len(text) or start == 0:
        yield start, text[start:]


def _choose_fonts(paragraph: str, offset: int, region: fonts.Region) -> tuple[list[Cluster], str]:
    """Return the clusters of a paragraph, each with its font, and the characters that no font has."""
    found: list[Cluster] = []
    lost: list[str] = []
    font: str | None = None
    for start, end in find_clusters(paragraph):
        source = paragraph[start:end]
        font, drawn, more = _choose_font(source, font, region)
        found.append(Cluster(source, drawn, font, offset + start, offset + end))
        lost.append(more)
    return found, "".join(lost)


@lru_cache(maxsize=1 << 16)
def _choose_font(source: str, before: str | None, region: fonts.Region) -> tuple[str | None, str, str]:
    """Return what `fonts.choose` does, but leave spaces and punctuation in the font before them if it has them."""
    if before is None or before == fonts.EMOJI:
        before = fonts.LATIN
    covered = fonts.coverage(before)
    if break_class(source) & (SPACE | JOIN):
        drawn = " " * TAB_WIDTH if source[0] == "\t" else source[0] if ord(source[0]) in covered else " "
        return before if 0x20 in covered else fonts.LATIN, drawn, ""
    if len(source) == 1 and not source.isalnum() and ord(source) in covered:
        return before, source, ""
    return fonts.choose(source, region)


def _width_of(clusters: Sequence[Cluster], levels: Sequence[int], size: int) -> float:
    """Return the width of clusters side by side, in pixels at scale 1: the wider of the two scales."""
    widths = [0.0] * len(SCALES)
    start = 0
    while start < len(clusters):
        font, level = clusters[start].font, levels[start]
        end = start + 1
        while end < len(clusters) and clusters[end].font == font and levels[end] == level:
            end += 1
        text = "".join(cluster.drawn if font else " " for cluster in clusters[start:end])
        for k, scale in enumerate(SCALES):
            widths[k] += measure_run(text, font, bool(level % 2), size * scale) / scale
        start = end
    return max(widths)


def measure_run(text: str, font: str | None, is_rtl: bool, size: int) -> float:
    """Return the advance of a run; placeholders have one space each as text."""
    if font is None:
        return len(text) * round(PLACEHOLDER_EM * size)
    measure = _measure if len(text) <= _LONGEST_KEPT else _measure.__wrapped__
    return measure(text, font, is_rtl, size)


@lru_cache(maxsize=1 << 16)
def _measure(text: str, font: str, is_rtl: bool, size: int) -> float:
    if letters.are_alone(text, font, is_rtl):
        return letters.measure(text, size)
    return fonts.measure(font, size, text, is_rtl)


def _measure_pieces(clusters: Sequence[Cluster], levels: Sequence[int], size: int) -> Iterator[Piece]:
    """Yield the pieces between which a line may end."""
    for start, end in find_pieces([cluster.source for cluster in clusters]):
        yield _measure_piece(clusters, levels, size, start, end)


def _measure_piece(clusters: Sequence[Cluster], levels: Sequence[int], size: int, start: int, end: int) -> Piece:
    ink_end = end
    while ink_end > start and break_class(clusters[ink_end - 1].source) & SPACE:
        ink_end -= 1
    ink = _width_of(clusters[start:ink_end], levels[start:ink_end], size)
    return Piece(start, end, ink_end, ink, _width_of(clusters[ink_end:end], levels[ink_end:end], size))


def _break_lines(paragraph: Paragraph, style: Style) -> Iterator[tuple[int, int]]:
    """Yield first and last cluster of each line, without the spaces at its end; an empty paragraph has one line."""
    line_start = line_end = 0
    width = 0.0
    for piece in _split_wide_pieces(paragraph, style):
        if width + piece.ink > style.room and piece.start > line_start:
            yield line_start, line_end
            line_start, width = piece.start, 0.0
        width += piece.ink + piece.space
        line_end = piece.ink_end
    yield line_start, line_end


def _split_wide_pieces(paragraph: Paragraph, style: Style) -> Iterator[Piece]:
    """Yield the pieces between which a line may end; those wider than a line are cut between clusters."""
    clusters, levels = paragraph.clusters, paragraph.levels
    for piece in paragraph.pieces:
        start, end = piece.start, piece.end
        if end - start == 1 or piece.ink + piece.space <= style.room:
            yield piece
            continue
        width, first = 0.0, start
        for k in range(start, end):
            more = _width_of(clusters[k : k + 1], levels[k : k + 1], style.font_size)
            if width + more > style.room and k > first:
                yield _measure_piece(clusters, levels, style.font_size, first, k)
                width, first = 0.0, k
            width += more
        yield _measure_piece(clusters, levels, style.font_size, first, end)


def _make_runs(clusters: Sequence[Cluster], levels: Sequence[int], highlights: Sequence[tuple[int, int]]) -> list[Run]:
    """Return the runs of a line from left to right."""
    runs: list[Run] = []
    run_levels: list[int] = []
    start = 0
    while start < len(clusters):
        font, level = clusters[start].font, levels[start]
        end = start + 1
        while end < len(clusters) and clusters[end].font == font and levels[end] == level:
            end += 1
        pieces = [cluster.drawn if font is not None else " " for cluster in clusters[start:end]]
        marked = _find_marked(clusters[start:end], pieces, highlights) if highlights else ()
        runs.append(Run("".join(pieces), font, bool(level % 2), marked))
        run_levels.append(level)
        start = end
    return bidi.reorder(runs, run_levels)


def _find_marked(
    clusters: Sequence[Cluster], pieces: Sequence[str], highlights: Sequence[tuple[int, int]]
) -> tuple[tuple[int, int], ...]:
    """Return the stretches of a run's text that are highlighted; `pieces` are what is drawn of each cluster."""
    marked: list[tuple[int, int]] = []
    length = 0
    for cluster, drawn in zip(clusters, pieces, strict=True):
        if any(first < cluster.end and cluster.start < last for first, last in highlights):
            joins = marked and marked[-1][1] == length
            marked.append((marked.pop()[0] if joins else length, length + len(drawn)))
        length += len(drawn)
    return tuple(marked)
