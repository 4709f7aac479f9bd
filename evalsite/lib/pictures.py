"""Pictures that come from outside: recognised by their content, decoded within limits, and kept as pixels alone.

What is kept is WebP: without loss of what came without loss (PNG, GIF, BMP, TIFF), unless that takes more than 3 MB;
else at a quality at which no loss is seen. Nothing else of a file stays: no metadata, no second frame, no bytes after
its end.
"""

import io
import struct
from dataclasses import dataclass
from hashlib import shake_128
from typing import Any, Literal, cast

import numpy as np
from PIL import ExifTags, Image, ImageCms

from evalsite.lib.errors import DomainError

LONGEST_SIDE = 2048
"""Pixels of what is kept: what a window of usual size shows at two pixels a CSS pixel."""
MOST_BYTES, MOST_PIXELS = 32 * 2**20, 40_000_000
"""Of a file: 40 million pixels take 350 MB while they are decoded."""
_MOST_LOSSLESS = 3 * 2**20
_QUALITY = 93
_HEAD = 512
Kind = Literal["JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "SVG", "HEIF"]
_READABLE: tuple[Kind, ...] = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF")
_LOSSY: tuple[Kind, ...] = ("JPEG", "WEBP")
_MAGIC: tuple[tuple[bytes, Kind], ...] = (
    (b"\xff\xd8\xff", "JPEG"),
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"GIF87a", "GIF"),
    (b"GIF89a", "GIF"),
    (b"II*\x00", "TIFF"),
    (b"MM\x00*", "TIFF"),
)
# What makes a picture upright, by the orientation that its EXIF data say.
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_SAVE_AS = "Save it as PNG or JPEG"


@dataclass(frozen=True)
class Picture:
    """A picture as it is kept. `is_animated`: the file had more frames than this first one."""

    webp: bytes
    width: int
    height: int
    is_animated: bool = False


def kind_of(head: bytes) -> Kind | None:
    """Return which kind of picture begins with these bytes, at least some 500 of them; None for what is none."""
    if found := next((kind for magic, kind in _MAGIC if head.startswith(magic)), None):
        return found
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "WEBP"
    if head[:2] == b"BM" and head[6:10] == bytes(4) and head[14:15] in (b"\x0c", b"\x28", b"\x6c", b"\x7c"):
        return "BMP"
    if head[4:8] == b"ftyp" and head[8:12] in (b"heic", b"heix", b"mif1", b"msf1", b"avif", b"avis"):
        return "HEIF"
    text = head[:_HEAD].removeprefix(b"\xef\xbb\xbf").lstrip()
    return "SVG" if text.startswith((b"<?xml", b"<svg", b"<!")) and b"<svg" in text.lower() else None


def normalise(content: bytes) -> Picture:
    """Return a file as it is kept: upright, in RGB over white, its longest side at most `LONGEST_SIDE`.

    Raises DomainError `bad_picture` with what is wrong, in words that follow “cannot be read:”, without a full stop.
    """
    kind = kind_of(content[:_HEAD])
    if kind is None:
        raise _bad("it is no picture. Give JPEG, PNG, WebP, GIF, BMP or TIFF")
    if kind == "SVG":
        raise _bad(f"it is SVG, which may hold programs and remote content. {_SAVE_AS}")
    if kind not in _READABLE:
        raise _bad(f"it is HEIF or AVIF, which is not read. {_SAVE_AS}")
    if len(content) > MOST_BYTES:
        raise _bad(f"it has {len(content) / 2**20:,.0f} MB, and at most {MOST_BYTES >> 20} are read. Make it smaller")
    try:
        image = _decoded(content, kind)
    except DomainError:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise _bad("it has too many pixels. Make it smaller") from None
    except Exception:  # decoders raise whatever they stumble over in a damaged file
        raise _bad(f"it is damaged or cut short. {_SAVE_AS} again") from None
    rgb, is_animated = image
    return Picture(_kept(rgb, kind), rgb.width, rgb.height, is_animated)


def _bad(message: str) -> DomainError:
    return DomainError("bad_picture", message)


def _decoded(content: bytes, kind: Kind) -> tuple[Image.Image, bool]:
    """Return the first frame as RGB, small enough, and whether there are more."""
    with Image.open(io.BytesIO(content), formats=(kind,)) as image:
        width, height = image.size
        if width * height > MOST_PIXELS:
            most = f"at most {MOST_PIXELS // 1_000_000} million are read. Make it smaller"
            raise _bad(f"it has {width:,} × {height:,} pixels, and {most}")
        is_animated = kind in ("GIF", "PNG", "WEBP") and bool(getattr(image, "is_animated", False))
        image.draft("RGB", (LONGEST_SIDE, LONGEST_SIDE))
        image.load()
        profile = image.info.get("icc_profile")
        turn = _TURNS.get(image.getexif().get(ExifTags.Base.Orientation, 0))
        plain = _eight_bits(image)
        longest = max(plain.size)
        if longest > LONGEST_SIDE:
            size = tuple(max(1, round(side * LONGEST_SIDE / longest)) for side in plain.size)
            plain = plain.resize(cast(Any, size), Image.Resampling.LANCZOS, reducing_gap=2.0)
        flat = _over_white(_in_srgb(plain, profile))
        return flat.transpose(turn) if turn is not None else flat, is_animated


def _eight_bits(image: Image.Image) -> Image.Image:
    """Return an image of 8 bits a channel whose pixels are colours, not places in a palette."""
    if image.mode.startswith("I;16"):
        return Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))
    if image.mode in ("I", "F"):
        raise _bad("its pixels are numbers of 32 bits. Save it with 8 bits a channel")
    if image.mode in ("P", "PA") or "transparency" in image.info:
        return image.convert("RGBA")
    return image.convert("L") if image.mode == "1" else image


def _in_srgb(image: Image.Image, profile: object) -> Image.Image:
    """Return an image in the colours that screens show, by its profile if it has one that can be read."""
    alpha = image.getchannel("A") if image.mode in ("RGBA", "LA") else None
    colours = image.convert("RGB") if image.mode in ("RGBA", "LA") else image
    if isinstance(profile, bytes) and colours.mode in ("RGB", "CMYK", "L"):
        try:
            own = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            made = ImageCms.profileToProfile(colours, own, ImageCms.createProfile("sRGB"), outputMode="RGB")
            colours = made or colours
        except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
            pass
    colours = colours.convert("RGB")
    if alpha is not None:
        colours.putalpha(alpha)
    return colours


def _over_white(image: Image.Image) -> Image.Image:
    """Return an image without transparency, and without anything that its file said beside the pixels."""
    flat = Image.new("RGB", image.size, "white")
    flat.paste(image, mask=image.getchannel("A") if image.mode == "RGBA" else None)
    return flat


def _kept(image: Image.Image, kind: Kind) -> bytes:
    if kind not in _LOSSY:
        webp = _webp(image, lossless=True, quality=30, method=2)
        if len(webp) <= _MOST_LOSSLESS:
            return webp
    return _webp(image, quality=_QUALITY, method=4)


def _webp(image: Image.Image, **options: Any) -> bytes:
    image.save(stream := io.BytesIO(), "WEBP", **options)
    return stream.getvalue()


def open_kept(webp: bytes) -> Image.Image:
    """Return the pixels of a picture as it is kept, as RGB."""
    with Image.open(io.BytesIO(webp), formats=("WEBP",)) as image:
        return image.convert("RGB")


def keep(image: Image.Image) -> Picture:
    """Return an RGB image as it is kept."""
    return Picture(_webp(image, quality=_QUALITY, method=4), image.width, image.height)


ATTACHED_SIDE = 1024
"""Pixels of the longest side of what a program is sent: models make their pictures no larger, or are paid for more."""


def attached(webp: bytes) -> bytes:
    """Return a picture as JPEG, for programs: some that look at pictures read no WebP."""
    image = open_kept(webp)
    image.thumbnail((ATTACHED_SIDE, ATTACHED_SIDE), Image.Resampling.LANCZOS)
    image.save(stream := io.BytesIO(), "JPEG", quality=88)
    return stream.getvalue()


# --- As one viewer is sent it

# Bytes of a file of so many pixels, beside a part that all have: enough for a photograph at a quality of 85.
_BYTES_PER_PIXEL, _OWN_BYTES = 0.22, 6_000
_QUALITIES = (88, 78, 65, 50, 35, 20, 8)
_N_SPECKLES, _SPECKLE = 48, 8
# How much of an edge may be cut off, as a share of the side: too little to be seen, and no pixel stays as it is.
_MOST_CUT = 0.004


def served_size(size: tuple[int, int], width: int) -> tuple[int, int]:
    """Return how many pixels a picture of this size has where it is sent at most so wide."""
    own, height = size
    return (own, height) if own <= width else (width, max(1, round(height * width / own)))


def served(webp: bytes, width: int, salt: bytes) -> bytes:
    """Return a picture at most so wide as a WebP file that another salt makes another file of, in each of its pixels.

    The length of the file follows from its size in pixels alone: where a picture needs less, the rest is a chunk that
    no program reads; where it needs more, its quality is lower. So neither hashes nor lengths of files tell that two
    pictures are one; to who looks at both, they are.
    """
    image = open_kept(webp)
    size = served_size(image.size, width)
    stream = shake_128(b"picture" + salt).digest(4 * 8 + 6 * _N_SPECKLES)
    cuts = [part / 2**64 * _MOST_CUT for part in struct.unpack("<4Q", stream[:32])]
    sides = (*image.size, *image.size)
    left, top, right, bottom = (cut * side for cut, side in zip(cuts, sides, strict=True))
    box = (left, top, image.width - right, image.height - bottom)
    pixels = np.asarray(image.resize(size, Image.Resampling.LANCZOS, box=box)).astype(np.int16)
    for across, down, step in struct.iter_unpack("<HHh", stream[32:]):
        x, y = (across % size[0]) & ~(_SPECKLE - 1), (down % size[1]) & ~(_SPECKLE - 1)
        pixels[y : y + _SPECKLE, x : x + _SPECKLE] += 2 if step % 2 else -2
    changed = Image.fromarray(pixels.clip(0, 255).astype(np.uint8))
    n_bytes, place = _length(size), 0
    made = _webp(changed, quality=_QUALITIES[place], method=2)
    while len(made) + _OVERHEAD > n_bytes and place < len(_QUALITIES) - 1:
        step = 1 if len(made) < 2 * n_bytes else 3  # of noise, each attempt takes a second
        place = min(place + step, len(_QUALITIES) - 1)
        made = _webp(changed, quality=_QUALITIES[place], method=2)
    while len(made) + _OVERHEAD > n_bytes:
        n_bytes *= 2
    return _filled(made, size, n_bytes, salt)


def _length(size: tuple[int, int]) -> int:
    return 2 * int((_OWN_BYTES + _BYTES_PER_PIXEL * size[0] * size[1]) / 2)


_OVERHEAD = 18 + 8  # of the extended format's first chunk, and of the chunk that fills the file


def _filled(webp: bytes, size: tuple[int, int], n_bytes: int, salt: bytes) -> bytes:
    """Return a lossy WebP file with a chunk of random bytes that makes it so long: RFC 9649, section 2.7."""
    width, height = (edge - 1 for edge in size)
    canvas = bytes(4) + width.to_bytes(3, "little") + height.to_bytes(3, "little")
    filling = shake_128(b"filling" + salt).digest(n_bytes - len(webp) - _OVERHEAD)
    chunks = _chunk(b"VP8X", canvas) + webp[12:] + _chunk(b"paDd", filling)
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WEBP" + chunks


def _chunk(name: bytes, content: bytes) -> bytes:
    return name + struct.pack("<I", len(content)) + content
