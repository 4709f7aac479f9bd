"""A repeat's image is another file than its twin's, and looks the same."""

from itertools import combinations, pairwise

import pytest
from PIL import ImageChops

from annotation.images import DARK, LIGHT, render
from annotation.images.disguise import N_PADDING_BYTES
from tests.annotation.images.pixels import CHUNKS, chunks_of, decode

TEXT = (
    "The Amazon rainforest is a moist broadleaf tropical forest that covers most of the Amazon basin of South America. "
    "This basin encompasses seven million square kilometres, of which five and a half are covered by trees. The region "
    "includes territory belonging to nine nations; the majority is contained within Brazil."
)
SALTS = [b"salt %d" % k for k in range(24)]


@pytest.mark.parametrize("text", [TEXT, "a", ""])
@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("highlights", [[], [(0, 3)]])
def test_salts_change_bytes_and_pixels_by_one_level(text, theme, highlights):
    plain, one, two = (render(text, theme=theme, highlights=highlights, salt=salt) for salt in (b"", b"one", b"two"))
    assert len({plain.content, one.content, two.content}) == 3
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


@pytest.mark.parametrize("scale", [1, 2])
def test_a_salt_shows_in_no_chunk_but_pixels_and_padding(scale):
    one, two = (chunks_of(render(TEXT, scale=scale, salt=salt).content) for salt in (b"one", b"two"))
    assert one == two and one in CHUNKS


def test_file_sizes_of_twins_differ_as_those_of_any_two_salts_do():
    sizes = [len(render(TEXT, salt=salt).content) for salt in SALTS]
    assert len(set(sizes)) > len(SALTS) - 4
    assert N_PADDING_BYTES / 2 < max(sizes) - min(sizes) < N_PADDING_BYTES + 400
    # Twin and repeat are just two salts: neighbours in the list differ as much as pairs at random.
    neighbours = [abs(a - b) for a, b in pairwise(sizes)]
    pairs = [abs(a - b) for a, b in combinations(sizes, 2)]
    assert sum(neighbours) / len(neighbours) == pytest.approx(sum(pairs) / len(pairs), rel=0.5)


def test_a_text_that_differs_a_little_has_sizes_among_those_of_its_twin():
    sizes = [len(render(TEXT, salt=salt).content) for salt in SALTS]
    other = [len(render(TEXT.replace("most", "much", 1), salt=salt).content) for salt in SALTS]
    assert min(sizes) < sum(other) / len(other) < max(sizes)
