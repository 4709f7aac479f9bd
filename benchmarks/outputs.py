"""Outputs of each format, to be degraded: of `examples/`, functions of this repository, and generated pictures."""

import ast
import csv
import difflib
import json
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import analysis  # noqa: F401, I001  (before NumPy: it sets the number of BLAS threads)
import numpy as np
from PIL import Image as Pillow
from PIL import ImageDraw

from campaigns.contracts.chat import Utterance
from campaigns.contracts.format import ContentFormat
from campaigns.design.seeds import generator
from campaigns.dialogues import write_transcript
from campaigns.formats.code import Difference
from campaigns.formats.dialogue import Dialogue
from campaigns.formats.html import Html
from campaigns.formats.markdown import Markdown
from campaigns.messages import Message, write_messages
from evalsite.conformance.formats import MemoryFiles
from evalsite.lib.markup.markdown import to_html
from evalsite.lib.pictures import keep

SEED = 7
Output = tuple[str, int]
"""A value, and the number of its source."""


def rows_of(folder: str) -> list[dict[str, str]]:
    """Return the table of an example."""
    with (ROOT / "examples" / folder / "outputs.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def column(folder: str, source: str, format: type[ContentFormat]) -> list[Output]:
    """Return the outputs of an example."""
    numbers: dict[str, int] = {}
    read = [
        (format.read(row["output"], is_output=True), numbers.setdefault(row[source], len(numbers)))
        for row in rows_of(folder)
        if row["output"].strip()
    ]
    return [(value, source) for value, source in read if format.parts(value)]


def dialogues() -> list[list[str]]:
    """Return the turns of each example of a dialogue."""
    lines = (ROOT / "examples" / "dialogue" / "dialogues.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["turns"] for line in lines]


def last_replies() -> list[Output]:
    """Return what ends each dialogue."""
    return [(turns[-1], n) for n, turns in enumerate(dialogues())]


def whole_dialogues() -> list[Output]:
    """Return dialogues in which the chatbot says something of more than two words."""
    made = [
        write_transcript(Utterance(("worker", "chatbot")[n % 2], turn) for n, turn in enumerate(turns))
        for turns in dialogues()
    ]
    return [(value, n) for n, value in enumerate(made) if Dialogue.parts(value)]


class Function(NamedTuple):
    """A function of this repository, in Python: its module and name, and its code with one line that documents it."""

    module: str
    name: str
    code: str
    said: str


@cache
def functions() -> list[Function]:
    """Return the functions of `analysis/stats` and `campaigns/design` that have examples, of 5 to 60 lines."""
    found = []
    for path in sorted(
        path for folder in ("analysis/stats", "campaigns/design") for path in (ROOT / folder).glob("*.py")
    ):
        lines = path.read_text(encoding="utf-8").split("\n")
        for node in ast.parse("\n".join(lines)).body:
            documented = ast.get_docstring(node) if isinstance(node, ast.FunctionDef) else None
            if not isinstance(node, ast.FunctionDef) or not documented or ">>>" not in documented:
                continue
            said, first, last = documented.partition("\n")[0], node.body[0].lineno, node.body[0].end_lineno
            kept = [*lines[node.lineno - 1 : first - 1], f'    """{said}"""', *lines[last : node.end_lineno]]
            if 5 <= len(kept) <= 60:
                module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
                found.append(Function(module, node.name, "\n".join(kept), said))
    return found


def code() -> list[Output]:
    """Return the functions."""
    return [(f"```python\n{each.code}\n```", n) for n, each in enumerate(functions())]


def differences() -> list[Output]:
    """Return what adds the middle third of each function."""
    made = []
    for n, each in enumerate(functions()):
        lines = each.code.split("\n")
        before = lines[: len(lines) // 3] + lines[2 * len(lines) // 3 :]
        change = "\n".join(difflib.unified_diff(before, lines, "a/it.py", "b/it.py", lineterm=""))
        made.append((Difference.read(change, is_output=True), n))
    return made


def answers_with_code() -> list[Output]:
    """Return what a model writes that is asked for a function: a sentence, the function, a sentence."""
    return [
        (f"Here is a function for it.\n\n```python\n{each.code}\n```\n\nIt does this: {each.said}", n)
        for n, each in enumerate(functions())
    ]


def html() -> list[Output]:
    """Return the example's answers in HTML."""
    return [(Html.read(to_html(text), is_output=True), source) for text, source in column("llm", "source_id", Markdown)]


def conversations() -> list[Output]:
    """Return conversations of four prompts each, as one system answers them."""
    rows = rows_of("llm")
    made: list[Output] = []
    first: dict[int, int] = {}
    for system in sorted({row["system"] for row in rows}):
        of_system = [row for row in rows if row["system"] == system]
        for k in range(0, len(of_system) - 3, 4):
            said = [(role, row[key]) for row in of_system[k : k + 4] for role, key in _ROLES]
            messages = write_messages(Message(role, text) for role, text in said)
            made.append((messages, first.setdefault(k, len(first))))
    return made


_ROLES: Sequence[tuple[Any, str]] = (("user", "prompt"), ("assistant", "output"))


FILES = MemoryFiles()
_SIDES = (768, 512)


def clouds(rng: np.random.Generator, fall: float) -> Pillow.Image:
    """Return a picture whose amplitudes fall with frequency^`fall`: 1 as of photographs, 1.8 as of a sky."""
    width, height = _SIDES
    frequency = np.hypot(np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width)[None])
    frequency[0, 0] = 1
    shared = np.fft.rfft2(rng.normal(size=(height, width)))
    channels = []
    for _ in range(3):
        own = np.fft.rfft2(rng.normal(size=(height, width)))
        plane = np.fft.irfft2((shared + 0.5 * own) / frequency**fall, s=(height, width))
        channels.append(128 + 45 * (plane - plane.mean()) / plane.std())
    return Pillow.fromarray(np.clip(np.stack(channels, axis=2), 0, 255).astype(np.uint8))


def poster(rng: np.random.Generator) -> Pillow.Image:
    """Return discs and squares of one colour each."""
    picture = Pillow.new("RGB", _SIDES, _colour(rng, 120))
    draw = ImageDraw.Draw(picture)
    for _ in range(int(rng.integers(4, 15))):
        (x, y), r = rng.integers(0, _SIDES).tolist(), int(rng.integers(38, 192))
        shape = draw.ellipse if rng.random() < 0.5 else draw.rectangle
        shape((x - r, y - r, x + r, y + r), fill=_colour(rng, 0))
    return picture


def chart(rng: np.random.Generator) -> Pillow.Image:
    """Return lines and numbers on white."""
    picture = Pillow.new("RGB", _SIDES, "white")
    draw = ImageDraw.Draw(picture)
    draw.line([(77, 51), (77, 461), (691, 461)], fill="black", width=3)
    for _ in range(int(rng.integers(1, 4))):
        heights = 256 + np.cumsum(rng.normal(0, 25, 20))
        line = list(zip(np.linspace(77, 691, 20).tolist(), heights.tolist(), strict=True))
        draw.line(line, fill=_colour(rng, 0), width=3)
    for x in range(77, 691, 100):
        draw.text((x, 476), str(rng.integers(100, 999)), fill="black")
    return picture


def _colour(rng: np.random.Generator, least: int) -> tuple[int, int, int]:
    red, green, blue = rng.integers(least, 256, 3).tolist()
    return red, green, blue


@cache
def pictures(n: int = 40) -> list[Output]:
    """Return pictures of four sorts, each of a source of its own."""
    sorts: Sequence[Callable[[np.random.Generator], Pillow.Image]] = (
        lambda rng: clouds(rng, 1),
        lambda rng: clouds(rng, 1.8),
        poster,
        chart,
    )
    found = []
    for k in range(n):
        kept = keep(sorts[k % len(sorts)](generator(SEED, k)))
        value = {"sha256": FILES.keep(kept.webp), "width": kept.width, "height": kept.height, "alt": ""}
        found.append((json.dumps(value), k))
    return found
