"""What an image shows, read from its pixels, and what its file consists of."""

import io
import struct
import zlib

from PIL import Image, ImageColor

from annotation.images import LIGHT

PADDING = 6
CHUNKS = (
    [b"IHDR", b"PLTE", b"IDAT", b"paDd", b"IEND"],
    [b"VP8X", b"VP8L", b"paDd"],
    [b"VP8X", b"VP8 ", b"paDd"],
)
"""Of a text's image at scale 1, at scale 2, and of a picture."""


def decode(rendered):
    """Return the image in RGB."""
    image = Image.open(io.BytesIO(rendered.content))
    image.load()
    return image.convert("RGB")


def chunks_of(content):
    """Return the names of the chunks of a PNG (section 5 of its specification) or WebP (RFC 9649), whole, in order."""
    found = []
    if content[:8] == b"\x89PNG\r\n\x1a\n":
        place = 8
        while place < len(content):
            (length,) = struct.unpack(">I", content[place : place + 4])
            name_and_data, end = content[place + 4 : place + 8 + length], place + 12 + length
            assert struct.unpack(">I", content[end - 4 : end]) == (zlib.crc32(name_and_data),)
            found.append(name_and_data[:4])
            place = end
        return found
    assert content[:4] + content[8:12] == b"RIFFWEBP"
    assert struct.unpack("<I", content[4:8]) == (len(content) - 8,)
    place = 12
    while place < len(content):
        (length,) = struct.unpack("<I", content[place + 4 : place + 8])
        found.append(content[place : place + 4])
        place += 8 + length + length % 2
    return found


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
