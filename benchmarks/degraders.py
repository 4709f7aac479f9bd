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
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import analysis  # noqa: F401, I001  (before NumPy: it sets the number of BLAS threads)
import numpy as np
from numpy.typing import NDArray

from benchmarks.outputs import (
    FILES,
    SEED,
    Function,
    Output,
    answers_with_code,
    code,
    column,
    conversations,
    differences,
    functions,
    html,
    last_replies,
    pictures,
    whole_dialogues,
)
from campaigns.contracts.format import ContentFormat, Degradation
from campaigns.design.degradation import as_read
from campaigns.design.seeds import draw_donors, generator
from campaigns.formats.code import Code, Difference
from campaigns.formats.conversation import Conversation
from campaigns.formats.dialogue import Dialogue, Reply
from campaigns.formats.html import Html
from campaigns.formats.image import Image
from campaigns.formats.json_tree import JsonTree
from campaigns.formats.markdown import Markdown
from campaigns.formats.text import PlainText
from campaigns.formats.trace import AgentTrace
from evalsite.lib.pictures import open_kept

N_DRAWS = 5
PERCENTILES = (10, 50, 90)
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
