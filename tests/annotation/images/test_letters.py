"""Letters that are placed one by one are as Pillow sets them at once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from annotation.images import fonts, letters
from tests.services import missing

SIZES = (17, 34)
ALONE = [chr(code) for code in sorted(fonts.coverage(fonts.LATIN)) if letters.are_alone(chr(code), fonts.LATIN, False)]


@pytest.fixture(autouse=True)
def _shaped() -> None:
    if not fonts.can_shape():
        missing("libfribidi, which Pillow shapes letters with,")


def set_at_once(text: str, x: float, size: int) -> bytes:
    # Pillow cuts the last column of a text that begins between two pixels: spaces make room for it.
    return drawn(lambda ink, font: ink.text((x, 60), text + "  ", 255, font, anchor="ls", direction="ltr"), text, size)


def set_by_letter(text: str, x: float, size: int) -> bytes:
    return drawn(lambda ink, font: letters.draw(ink, text, (x, 60), size), text, size)


def drawn(draw, text: str, size: int) -> bytes:
    image = Image.new("L", ((len(text) + 6) * size, 100), 0)
    draw(ImageDraw.Draw(image), fonts.load(fonts.LATIN, size))
    return image.tobytes()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("first", ["A", "T", "f", "y", "’", "Ф", "Λ", "-", "1"])
def test_pairs_are_as_far_apart_and_drawn_the_same(first: str, size: int) -> None:
    text = "".join(first + second for second in ALONE)
    assert set_by_letter(text, 20.25, size) == set_at_once(text, 20.25, size)
    assert letters.measure(text, size) == fonts.measure(fonts.LATIN, size, text, False)


@given(st.text(ALONE, min_size=1, max_size=40), st.integers(0, 63), st.sampled_from(SIZES))
def test_any_text_is_drawn_the_same_from_any_place(text: str, x: int, size: int) -> None:
    assert set_by_letter(text, 20 + x / 64, size) == set_at_once(text, 20 + x / 64, size)
    assert letters.measure(text, size) == fonts.measure(fonts.LATIN, size, text, False)


def test_letters_that_join_or_carry_marks_are_not_alone() -> None:
    assert letters.are_alone("Ελλάδα, “Москва” – 1½ €", fonts.LATIN, False)
    for text in ("", "e\u0301", "soft\u00adhyphen", "ببب", "\u202eabc", "т\u0483"):
        assert not letters.are_alone(text, fonts.LATIN, False), text
    assert not letters.are_alone("abc", fonts.LATIN, True)
    assert not letters.are_alone("abc", fonts.JP, False)
    assert len(ALONE) > 500
