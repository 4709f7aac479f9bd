"""A repeat's image is another file than its twin's, and looks the same."""

import struct
from itertools import combinations, pairwise

import pytest
from PIL import ImageChops

from annotation.images import DARK, LIGHT, render
from annotation.images.disguise import N_PADDING_BYTES
from tests.annotation.images.pixels import decode

TEXT = (
    "The Amazon rainforest is a moist broadleaf tropical forest that covers most of the Amazon basin of South America. "
    "This basin encompasses seven million square kilometres, of which five and a half are covered by trees. The region "
    "includes territory belonging to nine nations; the majority is contained within Brazil."
)
SALTS = [b"salt %d" % k for k in range(24)]


def chunks_of(webp):
    """Return name and length of each chunk of a WebP file (RFC 9649)."""
    place, found = 12, []
    while place < len(webp):
        (length,) = struct.unpack("<I", webp[place + 4 : place + 8])
        found.append((webp[place : place + 4], length))
        place += 8 + length + length % 2
    assert webp[:4] + webp[8:12] == b"RIFFWEBP"
    assert struct.unpack("<I", webp[4:8]) == (len(webp) - 8,)
    return found


@pytest.mark.parametrize("text", [TEXT, "a", ""])
@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("highlights", [[], [(0, 3)]])
def test_salts_change_bytes_and_pixels_by_one_level(text, theme, highlights):
    plain, one, two = (render(text, theme=theme, highlights=highlights, salt=salt) for salt in (b"", b"one", b"two"))
    assert len({plain.webp, one.webp, two.webp}) == 3
    assert (one.width, one.height) == (two.width, two.height) == (plain.width, plain.height)
    for left, right in combinations(map(decode, (plain, one, two)), 2):
        difference = ImageChops.difference(left, right)
        assert [high for _, high in difference.getextrema()] == [1, 1, 1]
        n_changed = sum(value > 0 for value in difference.convert("L").tobytes())
        assert n_changed < 0.02 * left.width * left.height


def test_the_letters_are_the_same_under_every_salt():
    plain = decode(render(TEXT)).convert("L").point([255 * (value > 200) for value in range(256)])
    salted = decode(render(TEXT, salt=b"one")).convert("L").point([255 * (value > 200) for value in range(256)])
    assert plain.tobytes() == salted.tobytes()


def test_a_salt_shows_in_no_chunk_but_pixels_and_padding():
    one, two = chunks_of(render(TEXT, salt=b"one").webp), chunks_of(render(TEXT, salt=b"two").webp)
    assert [name for name, _ in one] == [name for name, _ in two] == [b"VP8X", b"VP8L", b"paDd"]


def test_file_sizes_of_twins_differ_as_those_of_any_two_salts_do():
    sizes = [len(render(TEXT, salt=salt).webp) for salt in SALTS]
    assert len(set(sizes)) > len(SALTS) - 4
    assert N_PADDING_BYTES / 2 < max(sizes) - min(sizes) < N_PADDING_BYTES + 400
    # Twin and repeat are just two salts: neighbours in the list differ as much as pairs at random.
    neighbours = [abs(a - b) for a, b in pairwise(sizes)]
    pairs = [abs(a - b) for a, b in combinations(sizes, 2)]
    assert sum(neighbours) / len(neighbours) == pytest.approx(sum(pairs) / len(pairs), rel=0.5)


def test_a_text_that_differs_a_little_has_sizes_among_those_of_its_twin():
    sizes = [len(render(TEXT, salt=salt).webp) for salt in SALTS]
    other = [len(render(TEXT.replace("most", "much", 1), salt=salt).webp) for salt in SALTS]
    assert min(sizes) < sum(other) / len(other) < max(sizes)
