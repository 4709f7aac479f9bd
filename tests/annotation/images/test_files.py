"""Files of few colours, read by Pillow."""

import io
import random

import pytest
from PIL import Image

from annotation.images.files import png, webp
from tests.annotation.images.pixels import chunks_of


@pytest.mark.parametrize("write", [png, webp])
@pytest.mark.parametrize("size", [(1, 1), (7, 3), (8, 3), (241, 40)])
@pytest.mark.parametrize("n_colours", [1, 2, 5, 16])
def test_each_pixel_has_its_colour(write, size, n_colours):
    rng = random.Random(f"{size} {n_colours}")
    palette = rng.choices(range(256), k=3 * n_colours)
    pixels = bytes(rng.choices(range(n_colours), k=size[0] * size[1]))
    content = write(pixels, size, palette)
    image = Image.open(io.BytesIO(content)).convert("RGB")
    assert image.size == size
    assert image.tobytes() == b"".join(bytes(palette[3 * k : 3 * k + 3]) for k in pixels)
    assert chunks_of(content) in ([b"IHDR", b"PLTE", b"IDAT", b"IEND"], [b"VP8L"])
