"""Latin, Greek and Cyrillic, letter by letter, from letters that were drawn before: pixel for pixel as Pillow does it.

A run whose letters neither join nor change with those beside them is its letters side by side, each pair at its own
distance. Measured: a passage is drawn in an eighth of the time. Letters are kept, not words: words that were drawn
before would be there sooner, and tell that their text was. Sizes are pixels to the em.
"""

import re
from functools import lru_cache
from itertools import pairwise
from math import floor
from typing import TYPE_CHECKING, Any

from annotation.images import fonts

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

# Without marks that are placed on other letters.
_ALONE = re.compile("[ -~¡-¬®-ɏΑ-ΡΣ-ώЀ-џḀ-ỿ‐-‧‰-›€№−]+")
_N_LETTERS = 1200


def are_alone(text: str, font: str | None, is_rtl: bool) -> bool:
    """Tell whether each character of a run is a letter of its own, with a distance to the next and no more."""
    return font == fonts.LATIN and not is_rtl and fonts.can_shape() and _ALONE.fullmatch(text) is not None


def measure(text: str, size: int) -> float:
    """Return the advance of letters side by side, in pixels, as `fonts.measure` does."""
    return sum([_advance(first + second, size) for first, second in pairwise(text)], _advance(text[-1], size))


def draw(ink: "ImageDraw", text: str, origin: tuple[float, int], size: int) -> None:
    """Draw letters side by side; `origin`, in pixels, is the left end of their baseline."""
    x, baseline = origin
    draw_bitmap = ink.draw.draw_bitmap  # what `ImageDraw.bitmap` calls, without its checks of each
    for first, second in pairwise(text + " "):
        letter, left, top, advance = _placed(first, second, size)
        if letter:
            draw_bitmap((floor(x + 0.5) + left, baseline + top), letter, 255)
        x += advance


@lru_cache(maxsize=1 << 16)
def _placed(first: str, second: str, size: int) -> tuple[Any, int, int, float]:
    """Return the pixels of a letter, None of a space, its left and upper edges, and how far the next one is."""
    image, left, top = _drawn(first, size) or (None, 0, 0)
    return image and image.im, left, top, _advance(first + second, size)


@lru_cache(maxsize=1 << 16)
def _advance(letters: str, size: int) -> float:
    """Return how far the second of two letters is from the first, or how wide a single one is, in pixels."""
    own = fonts.load(fonts.LATIN, size).getlength(letters, direction="ltr")
    return own - _advance(letters[1], size) if len(letters) > 1 else own


@lru_cache(maxsize=_N_LETTERS * 2)
def _drawn(letter: str, size: int) -> "tuple[Image, int, int] | None":
    """Return a letter, and where its left and upper edges are from its origin; None for a space."""
    from PIL import Image, ImageDraw

    font = fonts.load(fonts.LATIN, size)
    left, top, right, bottom = (round(edge) for edge in font.getbbox(letter, anchor="ls", direction="ltr"))
    if right <= left or bottom <= top:
        return None
    image = Image.new("L", (right - left, bottom - top), 0)
    ImageDraw.Draw(image).text((-left, -top), letter, fill=255, font=font, anchor="ls", direction="ltr")
    return image, left, top
