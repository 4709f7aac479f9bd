"""Making a repeat's image another file than its twin's, with the same look.

Every image of an assignment gets a salt of its own, repeat or not, so that salted images of the same text differ from
one another as a repeat does from its twin:

- some background pixels are one level off, too little to see, at places drawn from the salt: neither the file nor its
  decoded pixels are equal, so no hash of either tells twins;
- a chunk of our own, which no program reads, of a length drawn from the salt makes the file's size vary by more than
  the pixels do.

What this cannot do: the files of twins differ by hardly more than half a kilobyte, as do those of some other texts; and
a worker who decodes two images and rounds the colours, or reads both, sees that the text is the same. The size of the
image in pixels shows how many lines the text has, as the page does. Names, order and time of
loading are the caller's care.
"""

import struct
from hashlib import shake_128
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

N_PADDING_BYTES = 512
# By its capitals a reader of PNG knows that it need not know it, and that it is our own.
_PADDING = b"paDd"
# Each takes about 4 bytes. Even if half are on letters, those of two salts are never all at the same places.
_N_SPECKLES = 16


def speckle(image: "Image", salt: bytes, index: int) -> None:
    """Set some pixels of value 0 to `index`, at places drawn from `salt`."""
    pixels, (width, height) = image.load(), image.size
    assert pixels
    for (draw,) in struct.iter_unpack("<Q", shake_128(b"pixels" + salt).digest(8 * _N_SPECKLES)):
        y, x = divmod(draw % (width * height), width)
        if pixels[x, y] == 0:
            pixels[x, y] = index


def pad_webp(webp: bytes, size: tuple[int, int], salt: bytes) -> bytes:
    """Return a lossless WebP file of this size with a chunk of random bytes, its length drawn from `salt` too.

    Without salt it stays as it is. More than the image's own chunk makes the file one of the extended format:
    RFC 9649, section 2.7.
    """
    if not salt:
        return webp
    width, height = (edge - 1 for edge in size)
    canvas = bytes(4) + width.to_bytes(3, "little") + height.to_bytes(3, "little")
    chunks = _chunk(b"VP8X", canvas) + webp[12:] + _chunk(_PADDING, _padding(salt))
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WEBP" + chunks


def padding_chunk(salt: bytes) -> tuple[bytes, bytes]:
    """Return name and content of such a chunk for a PNG file."""
    return _PADDING, _padding(salt)


def _padding(salt: bytes) -> bytes:
    stream = shake_128(b"padding" + salt).digest(2 + N_PADDING_BYTES)
    n_bytes = int.from_bytes(stream[:2], "little") % (N_PADDING_BYTES + 1)
    return stream[2 : 2 + n_bytes]


def _chunk(name: bytes, content: bytes) -> bytes:
    return name + struct.pack("<I", len(content)) + content + bytes(len(content) % 2)
