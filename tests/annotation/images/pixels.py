"""What an image shows: read from its pixels."""

import io

from PIL import Image, ImageColor

from annotation.images import LIGHT

PADDING = 6


def decode(rendered):
    """Return the image in RGB."""
    image = Image.open(io.BytesIO(rendered.webp))
    image.load()
    return image.convert("RGB")


def ink_box(image, background=LIGHT.background):
    """Return the box of what differs from the background by more than a salt makes it; None if nothing does."""
    shade = image.convert("L")
    plain = Image.new("RGB", (1, 1), background).convert("L").getpixel((0, 0))
    return shade.point([255 if abs(value - plain) > 24 else 0 for value in range(256)]).getbbox()


def rows_of(image, colour):
    """Return the rows that hold pixels of exactly `colour`."""
    wanted, (width, height) = ImageColor.getrgb(colour), image.size
    pixels = image.tobytes()
    return {y for y in range(height) if bytes(wanted) in _triples(pixels[y * width * 3 : (y + 1) * width * 3])}


def _triples(row):
    return {row[k : k + 3] for k in range(0, len(row), 3)}
