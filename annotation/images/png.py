"""Images of at most 16 colours as PNG files (W3C, PNG specification, sections 5, 9 and 11).

Measured on a passage of 560 characters, 720 px wide: Pillow's own writer takes 0.7 ms, zlib-ng 0.1 ms for as many
bytes, and zlib 0.4 ms for a tenth more.
"""

import struct
import zlib
from typing import TYPE_CHECKING

from zlib_ng import zlib_ng

if TYPE_CHECKING:
    from PIL.Image import Image

_LEVEL = 3  # 4 takes 1.4 times as long for 7 % fewer bytes
_BITS, _HAS_PALETTE = 4, 3
_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def write_png(image: "Image", *more: tuple[bytes, bytes]) -> bytes:
    """Return an image with a palette as a file, with `more` chunks, their names and contents, at its end."""
    width, height = image.size
    # The byte before each row says how it is filtered. Two pixels of the first colour are 0: not at all.
    rows = image.crop((-2, 0, width, height)).tobytes("raw", f"P;{_BITS}")
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, _BITS, _HAS_PALETTE, 0, 0, 0)),
        (b"PLTE", bytes(image.getpalette() or ())),
        (b"IDAT", zlib_ng.compress(rows, _LEVEL)),
        *more,
        (b"IEND", b""),
    )
    return _SIGNATURE + b"".join(map(_pack, chunks))


def _pack(chunk: tuple[bytes, bytes]) -> bytes:
    name, content = chunk
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
