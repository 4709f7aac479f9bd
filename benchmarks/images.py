"""Seconds and peak memory of drawing texts as images, against bare Pillow.

    python benchmarks/images.py [--quick | --size N]

The floor draws the same wrapped lines with `ImageDraw.multiline_text` in one font on white, in grey, and saves a PNG;
ours finds clusters, fonts, direction and lines, draws each run in its font, highlights, salts and saves a lossless
WebP. Both in turn, in the same run, on passages of different words, first with empty caches (`first_seconds`). Chinese
and Arabic passages are measured too, apart from the ratio: one font of Pillow's cannot draw them beside Latin. `errors`
counts images whose size is wrong or that lack a character.
"""

import argparse
import io
import json
import os
import platform
import random
import resource
import statistics
import sys
import time
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import fontTools
import PIL
from PIL import Image, ImageDraw

from annotation.images import RenderedImage, fonts, render
from annotation.images.layout import Style, lay_out

WIDTH, FONT_SIZE = 720, 17
SCALE: Literal[2] = 2
SIZES, QUICK_SIZES = (100, 1000, 5000), (100, 1000)
N_TEXTS, QUICK_N_TEXTS = 15, 7
ALPHABETS = {
    "latin": "etaoinshrdlucmfwypvbgk",
    "arabic": "ابتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "chinese": "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下"
    "过子说产种面而方后多定行学法所民得经",
}


def write_text(alphabet: str, n_characters: int, seed: int) -> str:
    """Return seeded words of the alphabet; Chinese has commas instead of spaces."""
    rng = random.Random(seed)
    words: list[str] = []
    n_written = 0
    while n_written < n_characters:
        words.append("".join(rng.choices(ALPHABETS[alphabet], k=rng.randint(2, 9))))
        n_written += len(words[-1]) + 1
    return ("，" if alphabet == "chinese" else " ").join(words)[:n_characters].strip()


def draw_floor(lines: list[str], width: int, height: int) -> bytes:
    """Draw lines with bare Pillow and return a PNG."""
    image = Image.new("L", (width, height), 255)
    draw = ImageDraw.Draw(image)
    draw.multiline_text(
        (12, 12), "\n".join(lines), fill=28, font=fonts.load(fonts.LATIN, FONT_SIZE * SCALE), spacing=14
    )
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def draw_ours(text: str, seed: int) -> RenderedImage:
    """Draw a text with a highlight and a salt."""
    return render(
        text, width_px=WIDTH, scale=SCALE, font_size=FONT_SIZE, highlights=[(10, 60)], salt=seed.to_bytes(4, "big")
    )


def measure(n_characters: int, n_texts: int) -> dict[str, float]:
    """Return median seconds and bytes of the floor and of ours, taken in turn, and of the other scripts."""
    ours, floor, ratios, sizes, floor_sizes = [], [], [], [], []
    errors = 0
    for seed in range(n_texts + 1):
        text = write_text("latin", n_characters, 1000 * n_characters + seed)
        start = time.perf_counter()
        rendered = draw_ours(text, seed)
        seconds = time.perf_counter() - start
        layout = lay_out(text, Style(WIDTH, FONT_SIZE))
        lines = ["".join(run.text for run in line.runs) for line in layout.lines]
        start = time.perf_counter()
        png = draw_floor(lines, rendered.width, rendered.height)
        floor_seconds = time.perf_counter() - start
        errors += rendered.width != WIDTH * SCALE or bool(rendered.missing) or " ".join(lines) != text
        if seed:  # the first warms up
            ours.append(seconds)
            floor.append(floor_seconds)
            ratios.append(seconds / floor_seconds)
            sizes.append(len(rendered.content))
            floor_sizes.append(len(png))
    result = {
        "seconds": statistics.median(ours),
        "floor_seconds": statistics.median(floor),
        "ratio": statistics.median(ratios),
        "bytes": statistics.median(sizes),
        "floor_bytes": statistics.median(floor_sizes),
    }
    for alphabet in ("arabic", "chinese"):
        taken = []
        for seed in range(4):
            text = write_text(alphabet, n_characters, seed)
            start = time.perf_counter()
            errors += bool(draw_ours(text, seed).missing)
            taken.append(time.perf_counter() - start)
        result[f"{alphabet}_seconds"] = statistics.median(taken[1:])
    return result | {"errors": errors}


def main() -> None:
    """Measure every size and print the table and, last, one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes and few texts only")
    parser.add_argument("--size", type=int, metavar="N", help="characters, of this size only")
    options = parser.parse_args()
    start = time.perf_counter()
    draw_ours(write_text("latin", 1000, 1), 1)
    first = time.perf_counter() - start
    print(f"first image, with empty caches: {first * 1000:.0f} ms", flush=True)

    measured: dict[int, dict[str, float]] = {}
    for n in (options.size,) if options.size else QUICK_SIZES if options.quick else SIZES:
        measured[n] = row = measure(n, QUICK_N_TEXTS if options.quick else N_TEXTS)
        print(
            f"{n:>5,} characters: {row['seconds'] * 1000:6.1f} ms, floor {row['floor_seconds'] * 1000:6.1f} ms, ratio "
            f"{row['ratio']:4.2f}; {row['bytes'] / 1000:6.1f} kB, floor {row['floor_bytes'] / 1000:6.1f} kB; Arabic "
            f"{row['arabic_seconds'] * 1000:6.1f} ms, Chinese {row['chinese_seconds'] * 1000:6.1f} ms",
            flush=True,
        )
    largest = max(measured)
    print(
        json.dumps(
            {
                "benchmark": "images",
                **{name: round(value, 4) for name, value in measured[largest].items()},
                "errors": sum(row["errors"] for row in measured.values()),
                "first_seconds": round(first, 3),
                "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000, 1),
                "sizes": sorted(measured),
                "ratios": [round(measured[n]["ratio"], 2) for n in sorted(measured)],
                "width": WIDTH,
                "scale": SCALE,
                "shapes": fonts.can_shape(),
                "versions": {
                    "python": platform.python_version(),
                    "pillow": PIL.__version__,
                    "fonttools": fontTools.version,
                },
                "cores": os.cpu_count(),
            }
        )
    )


if __name__ == "__main__":
    main()
