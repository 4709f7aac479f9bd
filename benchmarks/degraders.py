"""How much of an output each degrader changes, and how often what comes out is no worse.

    python benchmarks/degraders.py [--draws N]

Outputs are those of `examples/`, functions of this repository, and generated pictures; each is degraded as HITs are
built, with texts of other sources. Printed of each degrader: the share of an output's words, lines, values, replies,
steps or contrast that is other than it was (10 %, median, 90 % of degraded outputs), how often nothing is worse, and
how long outputs become.

What is no worse is found as far as it can be without people: words that read the same, code of the same syntax tree or
whose examples still give what they should, values exchanged within a list, which may be its order alone, pictures that
keep 95 % of their contrast.
"""

import argparse
import ast
import contextlib
import csv
import difflib
import doctest
import importlib
import io
import json
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import analysis  # noqa: F401, I001  (before NumPy: it sets the number of BLAS threads)
import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow
from PIL import ImageDraw

from campaigns.contracts.chat import Utterance
from campaigns.contracts.format import ContentFormat, Degradation
from campaigns.design.degradation import as_read
from campaigns.design.seeds import draw_donors, generator
from campaigns.dialogues import write_transcript
from campaigns.formats.code import Code, Difference
from campaigns.formats.conversation import Conversation
from campaigns.formats.dialogue import Dialogue, Reply
from campaigns.formats.html import Html
from campaigns.formats.image import Image
from campaigns.formats.json_tree import JsonTree
from campaigns.formats.markdown import Markdown
from campaigns.formats.text import PlainText
from campaigns.formats.trace import AgentTrace
from campaigns.messages import Message, write_messages
from evalsite.lib.markup.markdown import to_html
from evalsite.lib.pictures import keep, open_kept

N_DRAWS = 5
SEED = 7
PERCENTILES = (10, 50, 90)
Output = tuple[str, int]
"""A value, and the number of its source."""
Compared = tuple[float, bool]
"""The share of an output that is other than it was, and whether it is no worse."""


class Degrader(NamedTuple):
    """A way to degrade outputs of a format; `unit`: what is counted of them. `compare` takes an output and a worse one.

    `takes`: tells of these whether they were degraded in this way, of a format that has several.
    """

    name: str
    unit: str
    format: type[ContentFormat]
    outputs: Callable[[], list[Output]]
    compare: Callable[[str, str], Compared]
    takes: Callable[[str, str], bool] = lambda value, worse: True


class Measured(NamedTuple):
    """Of each degraded output the share that changed, whether it is no worse, and its length by that of the output."""

    share: NDArray[np.float64]
    is_no_worse: NDArray[np.bool_]
    length: NDArray[np.float64]

    @property
    def relative_gap(self) -> NDArray[np.float64]:
        """How far each is from what it was, if the median one is at 1, and people see what changed in proportion."""
        share = np.where(self.is_no_worse, 0, self.share)
        median = np.median(share)
        return share / (median or 1)


# --- Outputs


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


class Kept:
    """Files in memory, as a campaign keeps them."""

    def __init__(self) -> None:
        self._files: dict[str, bytes] = {}

    def keep(self, content: bytes) -> str:
        """Keep a file under a name of 64 digits."""
        digest = f"{len(self._files):064x}"
        self._files[digest] = content
        return digest

    def read(self, digest: str) -> bytes:
        """Return a file."""
        return self._files[digest]

    def take(self, name: str, make: Callable[[bytes], Any]) -> Any:
        """Refuse: nothing comes with a table."""
        raise NotImplementedError

    def note(self, text: str) -> None:
        """Refuse: nothing comes with a table."""
        raise NotImplementedError


FILES = Kept()
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


# --- What changed


def of_units(units: Callable[[str], Sequence[str]]) -> Callable[[str, str], Compared]:
    """Return how to compare outputs by their units: place by place, or as texts of other lengths are."""

    def compare(value: str, worse: str) -> Compared:
        was, now = units(value), units(worse)
        if len(was) == len(now):
            share = float(np.mean([a != b for a, b in zip(was, now, strict=True)]))
        else:
            same = difflib.SequenceMatcher(None, was, now, autojunk=False).get_matching_blocks()
            share = 1 - sum(each.size for each in same) / max(len(was), len(now))
        return share, share == 0

    return compare


def words_in(words: Callable[[str], str]) -> Callable[[str], list[str]]:
    """Return the words of a value, as they are read."""
    return lambda value: [as_read(word) for word in words(value).split()]


def words_of_turns(format: type[ContentFormat]) -> Callable[[str], list[str]]:
    """Return the words of what is rated in a dialogue."""
    return words_in(lambda value: "\n".join(format.turns(value)))


def lines_of(code: str) -> list[str]:
    """Return lines of code that are not empty."""
    return [line for line in code.split("\n") if line.strip()]


def leaves_of(value: str) -> list[str]:
    """Return the values of a JSON document as it is kept: a line for each."""
    lines = [line.strip().rstrip(",") for line in value.split("\n")]
    return [line for line in lines if line not in ("}", "]") and not line.endswith(("{", "["))]


def compare_json(value: str, worse: str) -> Compared:
    """Compare documents; values that only changed places in a list may be no worse."""
    share, _ = of_units(leaves_of)(value, worse)
    return share, _sorted(json.loads(value)) == _sorted(json.loads(worse))


def _sorted(node: Any) -> Any:
    """Return a document whose lists have an order of their own."""
    if isinstance(node, dict):
        return {key: _sorted(each) for key, each in node.items()}
    return sorted((_sorted(each) for each in node), key=json.dumps) if isinstance(node, list) else node


def compare_code(value: str, worse: str) -> Compared:
    """Compare functions: one of the same syntax tree, or whose examples still hold, is no worse."""
    was, now = Code.words(value), Code.words(worse)
    function = next(each for each in functions() if each.code == was)
    return of_units(lines_of)(was, now)[0], _same_tree(was, now) or _passes(function, now)


def _same_tree(was: str, now: str) -> bool:
    with contextlib.suppress(SyntaxError):
        return _without_documentation(was) == _without_documentation(now)
    return False


def _without_documentation(code: str) -> str:
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)


def _passes(function: Function, code: str) -> bool:
    """Tell whether a changed function still gives what the examples in its documentation say."""
    module = importlib.import_module(function.module)
    runner = doctest.DocTestRunner(verbose=False)
    with contextlib.suppress(Exception), _at_most(2), contextlib.redirect_stdout(io.StringIO()):
        for test in doctest.DocTestFinder().find(getattr(module, function.name), globs=vars(module)):
            exec(compile(code, function.name, "exec"), test.globs)
            runner.run(test)
        return runner.summarize(verbose=False).failed == 0
    return False


@contextlib.contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in what takes longer."""

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


LEAST_SEEN = 0.05
"""Of a picture's contrast. It is a convention: no people were asked."""


def compare_pictures(value: str, worse: str) -> Compared:
    """Compare pictures by what is other, as a share of their contrast (mean squares), at most 1."""
    was, now = (np.asarray(open_kept(FILES.read(json.loads(each)["sha256"])), dtype=float) for each in (value, worse))
    contrast = ((was - was.mean(axis=(0, 1))) ** 2).mean()
    share = min(1.0, float(((was - now) ** 2).mean() / contrast))
    return share, share < LEAST_SEEN


def is_way(way: str) -> Callable[[str, str], bool]:
    """Return how to tell in which way a picture was degraded: another one leaves the edge, blocks are of one colour."""

    def tell(value: str, worse: str) -> bool:
        was, now = (np.asarray(open_kept(FILES.read(json.loads(each)["sha256"]))) for each in (value, worse))
        found = "another" if (was[0] == now[0]).all() else "blocks" if (now[0] == now[1]).all() else "blur"
        return found == way

    return tell


# --- Degraders

_MRC = partial(column, "mrc", "question", PlainText)
_LLM = partial(column, "llm", "source_id", Markdown)
DEGRADERS = [
    Degrader("text: answers", "words", PlainText, _MRC, of_units(words_in(str))),
    Degrader(
        "text: sentences", "words", PlainText, partial(column, "esa", "segment_id", PlainText), of_units(words_in(str))
    ),
    Degrader("reply", "words", Reply, last_replies, of_units(words_in(str))),
    Degrader("dialogue", "words of replies", Dialogue, whole_dialogues, of_units(words_of_turns(Dialogue))),
    Degrader("markdown: prose", "words", Markdown, _LLM, of_units(words_in(Markdown.words))),
    Degrader("markdown: mostly code", "words", Markdown, answers_with_code, of_units(words_in(Markdown.words))),
    Degrader("code", "lines", Code, code, compare_code),
    Degrader("diff", "lines", Difference, differences, of_units(lines_of)),
    Degrader("html", "words", Html, html, of_units(words_in(Html.words))),
    Degrader("json", "values", JsonTree, partial(column, "agents", "source_id", JsonTree), compare_json),
    Degrader("conversation", "replies", Conversation, conversations, of_units(Conversation.turns)),
    Degrader(
        "trace", "steps", AgentTrace, partial(column, "agents", "source_id", AgentTrace), of_units(AgentTrace.turns)
    ),
    *(
        Degrader(f"image: {way}", "contrast", Image, pictures, compare_pictures, is_way(way))
        for way in ("blocks", "blur", "another")
    ),
]


def degraded(outputs: Sequence[Output], format: type[ContentFormat], n_draws: int) -> Iterator[tuple[str, str]]:
    """Yield outputs and what they are degraded to, with words of other sources, as HITs are built."""
    owners: dict[str, int] = {}
    for value, source in outputs:
        for part in format.parts(value):
            owners.setdefault(part, source)
    donors, sources = list(owners), np.array(list(owners.values()))
    for k, (value, source) in enumerate(outputs):
        for draw in range(n_draws):
            rng = generator(SEED, k, draw)
            texts = [donors[place] for place in draw_donors(sources, source, rng).tolist()]
            yield value, format.degrade(value, Degradation(rng, lambda texts=texts: texts, FILES))  # type: ignore[misc]


def measure(degrader: Degrader, n_draws: int = N_DRAWS) -> Measured:
    """Return what a degrader makes of its outputs."""
    pairs = list(degraded(degrader.outputs(), degrader.format, n_draws))
    return measured([pair for pair in pairs if degrader.takes(*pair)], degrader.compare)


def measured(pairs: Sequence[tuple[str, str]], compare: Callable[[str, str], Compared]) -> Measured:
    """Return what changed in pairs of an output and a worse one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of functions that are wrong
        found = [compare(*pair) for pair in pairs]
    length = [len(worse) / len(value) for value, worse in pairs]
    return Measured(np.array([share for share, _ in found]), np.array([same for _, same in found]), np.array(length))


def summary(found: Measured) -> dict[str, float | list[float]]:
    """Return what is printed of a degrader."""
    return {
        "n": found.share.size,
        "share": np.percentile(found.share, PERCENTILES).round(4).tolist(),
        "no_worse": round(float(found.is_no_worse.mean()), 4),
        "length": np.percentile(found.length, PERCENTILES).round(3).tolist(),
    }


def own_pairs(path: Path, format: type[ContentFormat]) -> list[tuple[str, str]]:
    """Return the outputs of a researcher's table that have a `degraded` one beside them."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["degraded"].strip()]
    return [tuple(format.read(row[name], is_output=True) for name in ("output", "degraded")) for row in rows]  # type: ignore[misc]


def main() -> None:
    """Print a row for each degrader, and all of them as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=N_DRAWS)
    parser.add_argument("--own", type=Path, help="a CSV file with the columns output and degraded")
    parser.add_argument(
        "--as", dest="name", default="text: answers", help="the degrader by whose units --own is counted"
    )
    arguments = parser.parse_args()
    by_name = {degrader.name: degrader for degrader in DEGRADERS}
    results = {}
    if arguments.own:
        degrader = by_name[arguments.name]
        pairs = own_pairs(arguments.own, degrader.format)
        results["own"] = summary(measured(pairs, degrader.compare))
    else:
        results = {degrader.name: summary(measure(degrader, arguments.draws)) for degrader in DEGRADERS}
    for name, row in results.items():
        print(f"{name:<24} {row}", flush=True)
    print(json.dumps({"benchmark": "degraders", "n_draws": arguments.draws, "results": results}))


if __name__ == "__main__":
    main()
