"""Drawing a text that was set in lines, as an image of few colours.

Some shades from the background to the text and, if something is highlighted, as many from the highlight to the text.
Six shades look like four and take 8 % more bytes. Where pixels are fine two will do, for two thirds of the bytes.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from annotation.images import bidi, fonts, letters
from annotation.images.disguise import pad_webp, padding_chunk, speckle
from annotation.images.layout import PLACEHOLDER_EM, Line, Run, Style, height_of, lay_out, measure_run
from annotation.images.png import write_png

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

N_SHADES = 4
# Of the encoder of WebP, from 0 to 6 and from 0 to 100.
_METHOD, _EFFORT = 2, 25


@dataclass(frozen=True)
class Theme:
    """Colours, as CSS writes them: the surface, ink and mark of static/css/tokens.css."""

    background: str = "#ffffff"
    text: str = "#1c2126"
    highlight: str = "#ffe69a"


LIGHT = Theme()
DARK = Theme(background="#1c2024", text="#e7e5e0", highlight="#5c4a12")


@dataclass(frozen=True)
class RenderedImage:
    """A file, its size in its own pixels, and how often each character that no font has occurs in the text."""

    content: bytes
    content_type: str
    width: int
    height: int
    missing: dict[str, int]


def render(
    text: str,
    *,
    width_px: int = 720,
    scale: Literal[1, 2] = 1,
    font_size: int = 17,
    theme: Theme = LIGHT,
    highlights: Sequence[tuple[int, int]] = (),
    n_shades: int = N_SHADES,
    salt: bytes = b"",
    place: str = "",
    is_wide: bool = False,
) -> RenderedImage:
    """Draw `text` as an image `width_px * scale` wide; `highlights` are starts and ends in `text`.

    `n_shades`: from the background to the text, both included. The same arguments give the same bytes; another `salt`
    gives other bytes of the same look (see `disguise`). Texts of different `place` share no work, so that the time
    does not tell that they are equal. Lines never run out of an image 16 em wide or more. Raise TextTooTallError if the
    image would be higher than its format can be. `is_wide`: lines are wide apart.
    """
    from PIL import Image, ImageDraw

    style = Style(width_px, font_size, is_wide=is_wide)
    layout = lay_out(text, style, highlights, place)
    coverage = Image.new("L", (width_px * scale, layout.height * scale), 0)
    marked = Image.new("L", coverage.size, 0) if highlights else None
    ink, marker = ImageDraw.Draw(coverage), ImageDraw.Draw(marked) if marked else None
    for k, line in enumerate(layout.lines):
        _draw_line(ink, marker, line, (style.padding + k * style.line_height) * scale, style, scale)
    file = _encode(_colour(coverage, marked, theme, n_shades, salt), scale, salt)
    return RenderedImage(*file, *coverage.size, layout.missing)


def measure(text: str, *, width_px: int = 720, font_size: int = 17, place: str = "") -> tuple[int, int]:
    """Return width and height that `render` would give the image at scale 1, without drawing it.

    Raise TextTooTallError as `render` does.
    """
    return width_px, height_of(text, Style(width_px, font_size), place)


def _draw_line(ink: "ImageDraw", marker: "ImageDraw | None", line: Line, top: int, style: Style, scale: int) -> None:
    """Draw the runs of a line whose upper edge is at `top`, and mark its highlighted stretches, if there are some."""
    size = style.font_size * scale
    widths = [measure_run(run.text, run.font, run.is_rtl, size) for run in line.runs]
    x = float(style.padding * scale)
    if line.is_rtl:
        x = (style.width - style.padding) * scale - sum(widths)
    baseline = top + style.baseline * scale
    for run, width in zip(line.runs, widths, strict=True):
        for start, end in run.highlights:
            left, right = _find_edges(run, start, end, width, size)
            box = (round(x + left), baseline - round(1.02 * size), round(x + right) - 1, baseline + round(0.36 * size))
            if marker and box[2] >= box[0]:
                marker.rectangle(box, fill=255)
        _draw_run(ink, run, (x, baseline), size)
        x += width


def _find_edges(run: Run, start: int, end: int, width: float, size: int) -> tuple[float, float]:
    """Return where the stretch from `start` to `end` of a run lies, from the run's left edge."""
    first = measure_run(run.text[:start], run.font, run.is_rtl, size) if start else 0.0
    last = measure_run(run.text[:end], run.font, run.is_rtl, size) if end < len(run.text) else width
    return (max(width - last, 0.0), width - first) if run.is_rtl else (first, min(last, width))


def _draw_run(ink: "ImageDraw", run: Run, origin: tuple[float, int], size: int) -> None:
    """Draw one run from its baseline's left end."""
    if run.font is None:
        advance, stroke = round(PLACEHOLDER_EM * size), max(1, size // 16)
        for k in range(len(run.text)):
            left = round(origin[0]) + k * advance + stroke
            box = (left, origin[1] - round(0.72 * size), left + advance - 2 * stroke - 1, origin[1])
            ink.rectangle(box, outline=255, width=stroke)
        return
    text = run.text
    if letters.are_alone(text, run.font, run.is_rtl):
        letters.draw(ink, text, origin, size)
        return
    if run.is_rtl and not fonts.can_shape():
        text = "".join(bidi.MIRRORED.get(character, character) for character in reversed(text))
    if text.strip(" "):
        font = fonts.load(run.font, size)
        ink.text(origin, text, fill=255, font=font, anchor="ls", direction=fonts.direction_of(run.is_rtl))


def _colour(coverage: "Image", marked: "Image | None", theme: Theme, n_shades: int, salt: bytes) -> "Image":
    """Return the text's coverage blended into the theme's colours, with a palette of them."""
    from PIL import ImageChops, ImageColor

    text, plain, highlight = (ImageColor.getrgb(c)[:3] for c in (theme.text, theme.background, theme.highlight))
    palette = _blend(plain, text, n_shades)
    image = coverage.point(_shades(n_shades))
    if marked and marked.getbbox():
        image = ImageChops.add(image, marked.point([n_shades if value else 0 for value in range(256)]))
        palette += _blend(highlight, text, n_shades)
    if salt:
        speckle(image, salt, len(palette) // 3)
        palette += [value - 1 if value else 1 for value in plain]
    image.putpalette(palette)
    return image


@cache
def _shades(n_shades: int) -> list[int]:
    """Return which shade each of the 256 coverages gets."""
    return [round(value * (n_shades - 1) / 255) for value in range(256)]


def _encode(image: "Image", scale: int, salt: bytes) -> tuple[bytes, str]:
    """Return the file and its type: PNG at scale 1, which takes a fraction of the time of WebP and as many bytes.

    At scale 2, for phones and slow lines, it would have 40 % more bytes.
    """
    if scale == 1:
        return write_png(image, *([padding_chunk(salt)] if salt else [])), "image/png"
    file = io.BytesIO()
    image.convert("RGB").save(file, "WEBP", lossless=True, method=_METHOD, quality=_EFFORT)
    return pad_webp(file.getvalue(), image.size, salt), "image/webp"


def _blend(background: tuple[int, ...], text: tuple[int, ...], n_shades: int) -> list[int]:
    """Return the shades from `background` to `text`, as a flat palette."""
    steps = n_shades - 1
    return [round(b + (t - b) * k / steps) for k in range(n_shades) for b, t in zip(background, text, strict=True)]
