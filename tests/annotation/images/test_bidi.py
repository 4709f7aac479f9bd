"""Reading order: examples of UAX #9 and, where it is installed, every answer of FriBidi."""

import ctypes
import ctypes.util
import random

import pytest

from annotation.images import bidi
from tests.services import missing

HEBREW = {chr(ord("A") + k): chr(0x5D0 + k) for k in range(26)}
LATIN = {hebrew: latin for latin, hebrew in HEBREW.items()}
ALPHABET = "ab אבجد 12٣٤+-/,.:%$()[]<>!? \u0301"


def levels_of(text, base):
    return bidi.find_levels(text, [bidi.class_of(character) for character in text], base)


def shown(text, base=0):
    """Return the order shown; capitals stand for Hebrew letters, as in UAX #9."""
    text = "".join(HEBREW.get(character, character) for character in text)
    levels = levels_of(text, base)
    mirrored = [bidi.MIRRORED.get(c, c) if level % 2 else c for c, level in zip(text, levels, strict=True)]
    return "".join(LATIN.get(character, character) for character in bidi.reorder(mirrored, levels))


@pytest.mark.parametrize(
    ("written", "base", "expected"),
    [
        pytest.param("car means CAR.", 0, "car means RAC.", id="UAX 9 L2 example 1"),
        pytest.param("CAR MEANS car.", 1, ".car SNAEM RAC", id="UAX 9 L2 example 2, marks aside"),
        pytest.param(
            'he said "THE VALUES ARE 123, 456, 789, OK".', 0, 'he said "KO ,789 ,456 ,123 ERA SEULAV EHT".', id="nested"
        ),
        pytest.param("A 1,234.5 B", 1, "B 1,234.5 A", id="number"),
        pytest.param("A (b c) D", 1, "D (b c) A", id="brackets of the paragraph"),
        pytest.param("a (B) c", 0, "a (B) c", id="brackets of the text around"),
        pytest.param("plain, 12%", 0, "plain, 12%", id="nothing to do"),
        pytest.param("", 0, "", id="empty"),
    ],
)
def test_order_shown(written, base, expected):
    assert shown(written, base) == expected


@pytest.mark.parametrize(
    ("text", "is_rtl"), [("שלום a", True), ("a שלום", False), ("12 (שלום", True), ("… 12", False), ("", False)]
)
def test_the_first_strong_character_decides_the_paragraph(text, is_rtl):
    assert bidi.is_rtl([bidi.class_of(character) for character in text], default=False) is is_rtl


def test_levels_are_those_of_fribidi():
    name = ctypes.util.find_library("fribidi")
    if name is None:
        missing("libfribidi")
    library = ctypes.CDLL(name)
    rng = random.Random(5)
    for _ in range(3000):
        text = "".join(rng.choices(ALPHABET, k=rng.randint(1, 14))) + "a"  # FriBidi resets spaces at the end
        size, base = len(text), rng.randint(0, 1)
        array = ctypes.c_uint32 * size
        characters, types, brackets = array(*map(ord, text)), array(), array()
        levels = (ctypes.c_int8 * size)()
        library.fribidi_get_bidi_types(characters, size, types)
        library.fribidi_get_bracket_types(characters, size, types, brackets)
        own = ctypes.c_uint32(0x111 if base else 0x110)
        library.fribidi_get_par_embedding_levels_ex(types, brackets, size, ctypes.byref(own), levels)
        assert levels_of(text, base) == list(levels), (text, base)
