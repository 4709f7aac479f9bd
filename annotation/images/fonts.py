"""Which font draws which characters, and how wide they come out.

Pillow has no font fallback, so each cluster of characters gets the first of our fonts that has all of it. With raqm
(in Pillow's wheels; it needs the system's libfribidi) letters are shaped: Arabic joins, Indic vowels take their places.
Without it the words are all there and in the right order, but unjoined; `can_shape` tells.
"""

from enum import StrEnum
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont

FOLDER = Path(__file__).resolve().parent / "fonts"

LATIN, EMOJI = "DejaVuSans.ttf", "NotoEmoji.ttf"
SCRIPTS = tuple(
    f"NotoSans{script}.ttf"
    for script in (
        "Arabic", "Hebrew", "Devanagari", "Bengali", "Gurmukhi", "Gujarati", "Tamil", "Telugu", "Kannada", "Malayalam",
        "Thai", "Lao", "Khmer", "Georgian", "Armenian",
    )
)  # fmt: skip
JP, KR, TC = "NotoSansCjkJp.otf", "NotoSansCjkKr.otf", "NotoSansCjkTc.otf"
SC = ("NotoSansCjkSc.otf", "NotoSansCjkScRare.otf")


class Region(StrEnum):
    """Where a text is from: the same Chinese character is drawn differently in each."""

    CHINA = "china"
    TAIWAN = "taiwan"
    JAPAN = "japan"
    KOREA = "korea"


# The Taiwanese font leaves out what the Chinese ones draw alike (see fonts/build.py), so they must come next.
EAST_ASIAN = {
    Region.CHINA: (*SC, TC, JP, KR),
    Region.TAIWAN: (TC, *SC, JP, KR),
    Region.JAPAN: (JP, TC, *SC, KR),
    Region.KOREA: (KR, TC, *SC, JP),
}
ALL = (LATIN, *SCRIPTS, *EAST_ASIAN[Region.CHINA], EMOJI)

# Characters that ask for a look or a break and have none of their own: no font need have them.
UNDRAWN = frozenset("\u200c\u200d")
_DROPPED = str.maketrans("", "", "\u200e\u200f\u061c\u2060\ufe0e\ufe0f")


@cache
def can_shape() -> bool:
    """Tell whether letters are joined and placed by raqm."""
    from PIL import features

    return bool(features.check("raqm") and features.check("fribidi"))


_reading = Lock()


def coverage(name: str) -> frozenset[int]:
    """Return the code points that a font draws. Of threads that ask at once, one reads the font."""
    with _reading:
        return _read_coverage(name)


@cache
def _read_coverage(name: str) -> frozenset[int]:
    from fontTools.ttLib import TTFont

    with TTFont(FOLDER / name, lazy=True) as font:
        return frozenset(font["cmap"].getBestCmap())


def find_region(text: str) -> Region:
    """Guess where `text` is from: kana, Hangul, else the national character set that has more of it."""
    if any("\u3040" <= character <= "\u30ff" for character in text):
        return Region.JAPAN
    if any("\uac00" <= character <= "\ud7a3" for character in text):
        return Region.KOREA
    han = "".join(character for character in text if "\u4e00" <= character <= "\u9fff")
    is_taiwan = len(han.encode("big5", "ignore")) > len(han.encode("gb2312", "ignore"))
    return Region.TAIWAN if is_taiwan else Region.CHINA


def choose(cluster: str, region: Region) -> tuple[str | None, str, str]:
    """Return the font of `cluster`, the part of it that the font draws, and the characters that no font has.

    The font is None if not even the first character can be drawn.
    """
    order: tuple[str, ...] = (*SCRIPTS, LATIN, *EAST_ASIAN[region], EMOJI)
    if "\ufe0f" in cluster:
        order = (EMOJI, *order)
    drawn = cluster.translate(_DROPPED)
    needed = [ord(character) for character in drawn if character not in UNDRAWN]
    for name in order:
        if coverage(name).issuperset(needed):
            return name, drawn, ""
    for name in order:
        if ord(drawn[0]) in coverage(name):
            missing = {character for character in drawn if ord(character) not in coverage(name)} - UNDRAWN
            kept = "".join(character for character in drawn if character not in missing)
            return name, kept, "".join(character for character in drawn if character in missing)
    return None, "", drawn[0]


@lru_cache(maxsize=128)
def load(name: str, size: int) -> "FreeTypeFont":
    """Open the font `name` at `size` pixels to the em."""
    from PIL import ImageFont

    engine = ImageFont.Layout.RAQM if can_shape() else ImageFont.Layout.BASIC
    return ImageFont.truetype(FOLDER / name, size, layout_engine=engine)


def measure(name: str, size: int, text: str, is_rtl: bool) -> float:
    """Return the advance of `text`, all in one font and one direction, in pixels."""
    return load(name, size).getlength(text, direction=direction_of(is_rtl))


def direction_of(is_rtl: bool) -> Literal["ltr", "rtl"] | None:
    """Return the direction to hand to Pillow, which knows none without raqm."""
    if not can_shape():
        return None
    return "rtl" if is_rtl else "ltr"
