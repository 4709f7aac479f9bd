"""Pictures: what a system drew, or what it was shown."""

import json
import re
from collections.abc import Callable, Sequence
from html import escape
from math import ceil
from typing import Any

import numpy as np
from numpy.random import Generator
from PIL import Image as Pillow
from PIL import ImageFilter

from campaigns.contracts.format import Block, Degradation, FileFormat, Files, Place, ShownFile
from campaigns.design.errors import DesignError
from campaigns.design.words import seconds_to_read
from evalsite.lib.errors import DomainError
from evalsite.lib.pictures import (
    ATTACHED_SIDE,
    Picture,
    attached,
    keep,
    kind_of,
    normalise,
    open_kept,
    served,
    served_size,
)

_DIGEST = re.compile(r"[0-9a-f]{64}")
_LONGEST_SIDE, _LONGEST_ALT = 65_536, 2_000
# How wide a text's image is, by the window: static/css/rate.css.
_SIZES = (("(max-width: 31.9375em) ", "20.5rem"), ("(max-width: 46.9375em) ", "30rem"), ("", "45rem"))
# To look at a picture once takes a second or two, to judge one several looks.
_SECONDS = 6.0
_PIXELS_PER_TOKEN = 750


class Image(FileFormat):
    """A picture. Its value is JSON: digest, width and height in pixels, and what describes it."""

    slug = "image"
    title = "Image"
    summary = "A picture, from a file that is uploaded with the table."
    is_one_text = False
    n_words = 25
    degraded = "blocks, blur, or a part of another picture in its middle"
    spans = "characters of the text that describes it"
    style = "css/rate_pictures.css"
    script = "js/pictures.js"
    hint = (
        "A cell has the name of a picture: JPEG, PNG, WebP, GIF (its first frame), BMP or TIFF. Upload the pictures "
        "with the table, in one zip or beside it. A column <code>image_alt</code> may describe the pictures of the "
        "column <code>image</code>, for workers who do not see them."
    )
    counted = ()
    widths = (240, 328, 480, 720, 960, 1440, 2048)

    @classmethod
    def owns(cls, head: bytes) -> bool:
        """Tell whether it is a picture of any kind: those that are not read are refused by name."""
        return kind_of(head) is not None

    @classmethod
    def read(cls, text: str, *, is_output: bool) -> str:
        """Return the value as it is; raise DomainError `bad_image` for what names no picture that is kept."""
        return _value(_parsed(text))

    @classmethod
    def read_file(cls, text: str, files: Files, *, alt: str = "") -> str:
        """Return the picture that a cell names; of an exported value the picture that is kept already."""
        if len(alt) > _LONGEST_ALT:
            raise _bad(f"its alternative text has {len(alt):,} characters, and at most {_LONGEST_ALT:,} are kept")
        if text.startswith("{"):
            shown = _parsed(text)
            try:
                files.keep(files.read(shown.digest))
            except FileNotFoundError:
                raise _bad("the picture is not in this campaign. Upload it with the table, and name it") from None
            return _value(ShownFile(shown.digest, shown.width, shown.height, alt or shown.alt))

        def make(content: bytes) -> ShownFile:
            picture = normalise(content)
            if picture.is_animated:
                files.note("only its first frame is kept")
            return _shown(picture, files)

        found = files.take(text, make)
        return _value(ShownFile(found.digest, found.width, found.height, alt.strip()))

    @classmethod
    def blocks(cls, value: str, place: Place) -> list[Block]:
        """Return the picture; its text is what describes it."""
        shown = _parsed(value)
        return [
            Block(
                place.name,
                place.label,
                shown.alt,
                is_output=place.is_output,
                format=cls.slug,
                is_drawn=False,
                file=shown,
            )
        ]

    @classmethod
    def words(cls, value: str) -> str:
        """Return what describes it."""
        return _parsed(value).alt

    @classmethod
    def style_of(cls, value: str) -> dict[str, float]:
        """Return nothing: what describes a picture is not what was judged."""
        return {}

    @classmethod
    def seconds(cls, value: str) -> float:
        """Return how many seconds it is looked at, or its description is read aloud."""
        return max(_SECONDS, seconds_to_read(_parsed(value).alt))

    @classmethod
    def served(cls, content: bytes, width: int, salt: bytes) -> tuple[bytes, str]:
        """Return the picture, at most so wide."""
        return served(content, width, salt), "image/webp"

    @classmethod
    def attached(cls, content: bytes) -> tuple[bytes, str]:
        """Return the picture as JPEG, of at most 1,024 pixels a side."""
        return attached(content), "image/jpeg"

    @classmethod
    def n_tokens(cls, file: ShownFile) -> int:
        """Return a token for every 750 pixels of what is sent.

        So Anthropic counts; Qwen-VL's 28 × 28 pixels a token come to the same, OpenAI's tiles of 512 pixels to half.
        """
        share = min(1.0, ATTACHED_SIDE / max(file.width, file.height))
        return ceil(file.width * share * file.height * share / _PIXELS_PER_TOKEN)

    @classmethod
    def file_html(cls, block: Block, addresses: Sequence[tuple[int, str]], *, is_text: bool = False) -> str:
        """Return the picture, for screens of every width, and what describes it."""
        assert block.file
        shown, own = block.file, (block.file.width, block.file.height)
        offered = [each for each in addresses if each[0] < shown.width]
        offered += addresses[len(offered) : len(offered) + 1]
        sources = ", ".join(f"{address} {served_size(own, width)[0]}w" for width, address in offered)
        sizes = ", ".join(f"{window}min({shown.width}px, {width})" for window, width in _SIZES)
        alt = escape(shown.alt or block.label)
        caption = f'<figcaption dir="auto">{escape(shown.alt)}</figcaption>' if is_text and shown.alt else ""
        return (
            f'<figure class="picture"><span class="picture-frame"><img src="{offered[-1][1]}" srcset="{sources}" '
            f'sizes="{sizes}" width="{shown.width}" height="{shown.height}" '
            f'alt="{alt}" draggable="false"></span>{caption}</figure>'
        )

    @classmethod
    def degrade(cls, value: str, by: Degradation) -> str:
        """Return another picture, worse in one of three ways that a careful worker notices in whatever is asked of it.

        Blocks: as few as 14 along the longest side, so that outlines go but colours stay. Blur: over 1/40 of that side,
        as no lens or small screen blurs. Another picture: that of another source over the middle half of each side, so
        that neither what is shown nor how can be right. A way that changes too little, as of a picture of one colour or
        blur of a smooth one, is passed over.
        """
        if by.files is None:
            raise DomainError("no_files", "Pictures are degraded where their campaign is.")
        original = open_kept(by.files.read(_parsed(value).digest))
        ways = [_with_blocks, _blurred, _with_another(by)]
        for k in by.rng.permutation(len(ways)).tolist():
            worse = ways[k](original, by.rng)
            if worse is not None and _is_seen(original, worse):
                made = _shown(keep(worse), by.files)
                return _value(ShownFile(made.digest, made.width, made.height, _parsed(value).alt))
        raise DesignError("same_text", "no change of it would be seen: it has one colour, and so have the others")

    @classmethod
    def example(cls, text: str) -> str:
        """Return the name of a file."""
        return f"{re.sub(r'[^a-z0-9]+', '-', text.lower()).strip('-')}.png"


def _bad(message: str) -> DomainError:
    return DomainError("bad_image", message)


def _parsed(value: str) -> ShownFile:
    """Return what a value says; raise DomainError `bad_image`."""
    try:
        found: Any = json.loads(value)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or found.keys() != {"sha256", "width", "height", "alt"}:
        raise _bad("it names no picture that is here. Upload the table again, with the pictures that it names")
    digest, alt, sides = found["sha256"], found["alt"], (found["width"], found["height"])
    is_sized = all(type(side) is int and 0 < side <= _LONGEST_SIDE for side in sides)
    if not (isinstance(digest, str) and _DIGEST.fullmatch(digest) and isinstance(alt, str) and is_sized):
        raise _bad("it names no picture that is here. Upload the table again, with the pictures that it names")
    return ShownFile(digest, *sides, alt)


def _value(shown: ShownFile) -> str:
    found = {"sha256": shown.digest, "width": shown.width, "height": shown.height, "alt": shown.alt}
    return json.dumps(found, ensure_ascii=False)


def _shown(picture: Picture, files: Files) -> ShownFile:
    return ShownFile(files.keep(picture.webp), picture.width, picture.height)


# --- Worse pictures

_N_BLOCKS, _BLUR, _PART = 14, 1 / 40, 0.5
# Of 255 levels, on average over a picture's pixels: what is seen at a glance changes ten and more. And of its contrast,
# in mean squares: a sky that is blurred keeps 97 % of it, and looks as before (`benchmarks/degraders.py`).
_LEAST_DIFFERENCE, _LEAST_OF_CONTRAST = 3.0, 1 / 20
Way = Callable[[Pillow.Image, Generator], Pillow.Image | None]


def _is_seen(original: Pillow.Image, worse: Pillow.Image) -> bool:
    was = np.asarray(original, np.float32)
    change = was - np.asarray(worse, np.float32)
    contrast = was.var(axis=(0, 1)).mean()
    return bool(np.abs(change).mean() >= _LEAST_DIFFERENCE and (change**2).mean() >= _LEAST_OF_CONTRAST * contrast)


def _with_blocks(original: Pillow.Image, rng: Generator) -> Pillow.Image:
    side = max(1, max(original.size) // _N_BLOCKS)
    few = original.resize((-(-original.width // side), -(-original.height // side)), Pillow.Resampling.BOX)
    return few.resize(original.size, Pillow.Resampling.NEAREST)


def _blurred(original: Pillow.Image, rng: Generator) -> Pillow.Image:
    return original.filter(ImageFilter.GaussianBlur(max(1.0, max(original.size) * _BLUR)))


def _with_another(by: Degradation) -> Way:
    def change(original: Pillow.Image, rng: Generator) -> Pillow.Image | None:
        """Return the picture with another one in its middle; None where no other source has one."""
        assert by.files
        try:
            other = open_kept(by.files.read(_parsed(by.draw()[0]).digest))
        except DomainError:
            return None
        width, height = (max(1, round(side * _PART)) for side in original.size)
        changed = original.copy()
        changed.paste(
            other.resize((width, height), Pillow.Resampling.LANCZOS),
            ((original.width - width) // 2, (original.height - height) // 2),
        )
        return changed

    return change
