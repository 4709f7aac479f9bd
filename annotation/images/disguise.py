"""Making a repeat's image another file than its twin's, with the same look.

Every image of an assignment gets a salt of its own, repeat or not, so that salted images of the same text differ from
one another as a repeat does from its twin:

- some background pixels are one level off, too little to see, at places drawn from the salt: neither the file nor its
  decoded pixels are equal, so no hash of either tells twins;
- a private chunk of a length drawn from the salt makes the file's size vary by more than the pixels do.

What this cannot do: the files of twins differ by hardly more than half a kilobyte, as do those of some other texts; and
a worker who decodes two images and rounds the colours, or reads both, sees that the text is the same. The size of the
image in pixels shows how many lines the text has, as the page does. Names, order and time of
loading are the caller's care.
"""

import struct
from hashlib import shake_128
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.PngImagePlugin import PngInfo

N_PADDING_BYTES = 512
_PIXELS_PER_SPECKLE = 1500
_FEWEST_SPECKLES = 48


def speckle(pixels: bytearray, salt: bytes, index: int) -> None:
    """Set some pixels of value 0 to `index`, at places drawn from `salt`."""
    n_pixels = len(pixels)
    n_speckles = max(_FEWEST_SPECKLES, n_pixels // _PIXELS_PER_SPECKLE)
    for (draw,) in struct.iter_unpack("<Q", shake_128(b"pixels" + salt).digest(8 * n_speckles)):
        place = draw % n_pixels
        if pixels[place] == 0:
            pixels[place] = index


def pad(salt: bytes) -> "PngInfo | None":
    """Return a chunk of random bytes, its length drawn from `salt` too; none without salt."""
    if not salt:
        return None
    from PIL.PngImagePlugin import PngInfo

    stream = shake_128(b"padding" + salt).digest(2 + N_PADDING_BYTES)
    info = PngInfo()
    info.add(b"paDd", stream[2 : 2 + int.from_bytes(stream[:2], "little") % (N_PADDING_BYTES + 1)])
    return info
