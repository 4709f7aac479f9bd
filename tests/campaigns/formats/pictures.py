"""Pictures of every kind, honest and hostile, and campaigns whose outputs are pictures."""

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from PIL import Image, PngImagePlugin

from campaigns.contracts.protocol import Field, Screen
from campaigns.models import Campaign, Upload
from campaigns.services.hits import execute_build
from campaigns.stored_files import CampaignFiles, store_files
from evalsite.accounts.models import User
from tests.campaigns.cast import make_campaign
from tests.campaigns.data.files import finish, post_import, url

SCRIPT = b"<script>alert(1)</script>"


def drawn(n: int, size: tuple[int, int] = (96, 64)) -> Image.Image:
    """Return a picture of shapes; another number gives another one."""
    rng = np.random.default_rng(n)
    few = rng.integers(0, 255, (6, 8, 3), dtype=np.uint8)
    return Image.fromarray(few).resize(size, Image.Resampling.BICUBIC)


def file_of(image: Image.Image, format: str = "PNG", **options: Any) -> bytes:
    image.save(stream := io.BytesIO(), format, **options)
    return stream.getvalue()


def keep(campaign: Campaign, content: bytes) -> str:
    """Keep a file with a campaign; return its digest."""
    with CampaignFiles(campaign) as files:
        digest = files.keep(content)
        with files.written() as rows:
            store_files(campaign, rows)
    return digest


def honest() -> dict[str, bytes]:
    """Return a picture in each kind that is read, and in every mode of pixels."""
    plain = drawn(1)
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 6, SCRIPT.decode()
    text = PngImagePlugin.PngInfo()
    text.add_text("Comment", SCRIPT.decode())
    sixteen = Image.fromarray(np.asarray(plain.convert("L")).astype(np.uint16) * 257)
    frames = [drawn(n).convert("P") for n in range(3)]
    return {
        "png": file_of(plain, pnginfo=text),
        "jpeg": file_of(plain, "JPEG", exif=exif, comment=SCRIPT),
        "webp": file_of(plain, "WEBP", exif=exif.tobytes()),
        "gif": file_of(plain.convert("P"), "GIF", comment=SCRIPT),
        "bmp": file_of(plain, "BMP"),
        "tiff": file_of(plain, "TIFF", description=SCRIPT.decode()),
        "cmyk": file_of(plain.convert("CMYK"), "JPEG"),
        "16 bits": file_of(sixteen),
        "one bit": file_of(plain.convert("1"), "TIFF", compression="group4"),
        "grey and alpha": file_of(plain.convert("LA")),
        "transparent palette": file_of(plain.convert("P"), "GIF", transparency=0),
        "animated": file_of(frames[0], "GIF", save_all=True, append_images=frames[1:]),
        "animated png": file_of(plain, save_all=True, append_images=[drawn(5)]),
        "1×1": file_of(Image.new("RGB", (1, 1), "red")),
        "GIF and JavaScript": file_of(plain.convert("P"), "GIF") + b"/*" + SCRIPT + b"*/=1;",
        "PNG and HTML": file_of(plain) + b"<html>" + SCRIPT,
        "JPEG and zip": file_of(plain, "JPEG") + zipped({"a.html": SCRIPT}),
        "damaged profile": file_of(plain, icc_profile=SCRIPT * 9),
    }


def png_of(width: int, height: int, data: bytes = b"") -> bytes:
    """Return a PNG that says that it has this size."""

    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = data or zlib.compress(bytes(1_000_000), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def hostile() -> dict[str, tuple[bytes, str]]:
    """Return files that are refused, each with a word of the reason."""
    plain = drawn(1)
    svg = b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'
    huge_text = PngImagePlugin.PngInfo()
    huge_text.add_text("a", "x" * 3_000_000, zip=True)
    return {
        "SVG": (svg, "SVG"),
        "SVG in HTML": (b"<!DOCTYPE html>\n<svg onload=alert(1)>", "SVG"),
        "HTML": (b"<html>" + SCRIPT, "no picture"),
        "text": (b"a.png", "no picture"),
        "nothing": (b"", "no picture"),
        "HEIF": (b"\0\0\0\x18ftypheic" + bytes(200), "HEIF"),
        "20000×20000": (png_of(20_000, 20_000), "pixels"),
        "10000×10000": (png_of(10_000, 10_000), "pixels"),
        "0×0": (png_of(0, 0), "damaged"),
        "cut": (file_of(plain, "JPEG")[:300], "damaged"),
        "cut PNG": (file_of(plain)[:400], "damaged"),
        "noise after the head": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4, "damaged"),
        "TIFF of floats": (file_of(plain.convert("F"), "TIFF"), "32 bits"),
        "text bomb": (file_of(plain, pnginfo=huge_text), "damaged"),
    }


def zipped(files: Mapping[str, bytes]) -> bytes:
    with zipfile.ZipFile(made := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


def picture_campaign(owner: User, *, field_format: str = "text", output_format: str = "image") -> Campaign:
    """Return a draft that shows a prompt, or a picture, and whose outputs are pictures, or texts."""
    campaign = make_campaign(owner, "custom")
    field = Field("prompt", "Prompt", format=field_format)
    screen = Screen(fields=(field,), output_label="Picture", output_format=output_format)
    campaign.screen = screen.to_json()
    campaign.save()
    return campaign


def send_files(client: Client, campaign: Campaign, *files: tuple[str, bytes]) -> Any:
    sent = [SimpleUploadedFile(name, content) for name, content in files]
    return client.post(url("upload", campaign), {"file": sent})


def import_files(client: Client, campaign: Campaign, *files: tuple[str, bytes], mode: str = "replace") -> Upload:
    """Upload files that are taken, and import them to the end of the job."""
    response = send_files(client, campaign, *files)
    assert response.status_code == 302, response.text
    found = campaign.uploads.latest("uploaded_at")
    assert post_import(client, found, mode).status_code == 302
    return finish(found)


def table(n: int, systems: tuple[str, ...] = ("alder", "birch")) -> str:
    rows = [f"p{k},Draw {k},{system},{system}/{k}.png" for k in range(n) for system in systems]
    return "\n".join(["source_id,prompt,system,output", *rows, ""])


def pictures(n: int, systems: tuple[str, ...] = ("alder", "birch")) -> dict[str, bytes]:
    return {
        f"{system}/{k}.png": file_of(drawn(100 * place + k)) for k in range(n) for place, system in enumerate(systems)
    }


def build(campaign: Campaign, **mix: int) -> None:
    """Build HITs of this mix, with nothing else in them."""
    values = {"n_ordinary": 0, "n_degraded": 0, "n_repeat": 0, "n_reference": 0, "n_hits": 1, "seed": 1} | mix
    for name, value in values.items():
        setattr(campaign, name, value)
    campaign.save()
    execute_build(campaign=campaign, on_progress=lambda done, total, stage: None, saving=transaction.atomic)
    campaign.refresh_from_db()
