"""How long a million error spans take to read and to analyse, against counting them.

    python benchmarks/spans.py [--quick | --size N] [--only arrays|mqm|json]

300,000 annotations: 100,000 outputs of 20 systems, each by three of 30 raters, with 3.3 errors in the mean in texts of
about 130 characters. Measured in turn, in one process: medians of the processor seconds of three rounds.

*Arrays*: what the method `spans` makes of annotations in memory (penalties with intervals and tests, and
counts), against counting how often each rater gave each category and severity to each output, by `np.unique`, as
`benchmarks/preference.py` counts votes. These arrays are there before: neither time includes making them.

*Files*: reading and analysing an MQM file (TSV) and a file of Label Studio (JSON), against reading the same file with
the standard library, line by line or by `json.load`, and counting errors by category, severity and system.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")

import analysis  # noqa: F401, I001  (before NumPy: it sets the number of BLAS threads)
import numpy as np

from analysis.methods import ResponsesFile, get_method
from analysis.methods.settings import from_protocol
from analysis.data.spans.rows import SpanData

PARTS = ("arrays", "mqm", "json")
N_SPANS, QUICK, REPEATS = 10**6, 10**4, 3
N_SYSTEMS, N_RATERS, N_EACH = 20, 30, 3
CATEGORIES = [f"{top}/{part}" for top in ("Accuracy", "Fluency", "Style", "Terminology") for part in ("A", "B", "C")]
SEVERITIES = ["Major", "Minor"]
LENGTHS, LONGEST_MARK = (60, 200), 20
HEADER = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"


def simulate(n_spans: int) -> list[dict[str, Any]]:
    """Return seeded tasks, as Label Studio has them: an output each, with what its raters marked."""
    rng = np.random.default_rng(7)
    n_segments = n_spans * 3 // 10 // N_EACH // N_SYSTEMS
    words = ["".join(rng.choice(list("abcdefghijklmnopqrstuvwxyz"), size)) for size in rng.integers(2, 9, 2000)]
    n_annotations = n_segments * N_SYSTEMS * N_EACH
    n_errors = iter(rng.multinomial(n_spans, np.full(n_annotations, 1 / n_annotations)).tolist())
    tasks: list[dict[str, Any]] = []
    for segment in range(n_segments):
        about = {"document": f"doc-{segment // 10}", "source": f"{segment}"}
        about["source_text"] = " ".join(rng.choice(words, 20))
        raters = (rng.integers(0, N_RATERS) + np.arange(N_EACH)) % N_RATERS
        for system in range(N_SYSTEMS):
            text = " ".join(rng.choice(words, 50))[: rng.integers(*LENGTHS)].strip()
            found = [
                {"completed_by": f"rater-{rater}", "result": _marks(rng, text, next(n_errors))} for rater in raters
            ]
            data = {"system": f"system-{system}", **about, "target": text}
            tasks.append({"id": len(tasks), "data": data, "annotations": found})
    return tasks


def _marks(rng: np.random.Generator, text: str, n: int) -> list[dict[str, Any]]:
    starts, lengths = rng.integers(0, len(text), n).tolist(), rng.integers(1, LONGEST_MARK, n).tolist()
    labels = rng.integers(0, len(CATEGORIES) * len(SEVERITIES), n).tolist()
    found = []
    for start, length, label in zip(starts, lengths, labels, strict=True):
        end = min(start + length, len(text))
        value = {"start": start, "end": end, "text": text[start:end]}
        value["labels"] = [SEVERITIES[label % 2], CATEGORIES[label // 2]]
        found.append({"from_name": "error", "to_name": "target", "type": "labels", "value": value})
    return found


def write_files(n_spans: int, folder: Path) -> tuple[Path, Path]:
    """Write the same annotations as an MQM file and as a file of Label Studio."""
    tasks = simulate(n_spans)
    (folder / "tasks.json").write_text(json.dumps(tasks), encoding="utf-8")
    with (folder / "mqm.tsv").open("w", encoding="utf-8") as handle:
        handle.write(HEADER)
        for task in tasks:
            data, text = task["data"], task["data"]["target"]
            for each in task["annotations"]:
                about = [data["system"], data["document"], "1", data["source"], each["completed_by"]]
                about.append(data["source_text"])
                rows = [_error(text, result["value"]) for result in each["result"]]
                handle.writelines("\t".join([*about, *row]) + "\n" for row in rows or [[text, "No-error", "No-error"]])
    return folder / "mqm.tsv", folder / "tasks.json"


def _error(text: str, mark: dict[str, Any]) -> list[str]:
    start, end, (severity, category) = mark["start"], mark["end"], mark["labels"]
    return [f"{text[:start]}<v>{text[start:end]}</v>{text[end:]}", category, severity]


def count_lines(path: Path) -> Counter[tuple[str, ...]]:
    """Return how often each category and severity occurs in each system, of an MQM file."""
    found: Counter[tuple[str, ...]] = Counter()
    with path.open(encoding="utf-8") as handle:
        names = next(handle).rstrip("\n").split("\t")
        system, category, severity = (names.index(name) for name in ("system", "category", "severity"))
        for line in handle:
            cells = line.rstrip("\n").split("\t")
            found[cells[system], cells[category], cells[severity]] += 1
    return found


def count_tasks(path: Path) -> Counter[tuple[str, ...]]:
    """Return how often each severity and category occurs in each system, of a file of Label Studio."""
    found: Counter[tuple[str, ...]] = Counter()
    with path.open(encoding="utf-8") as handle:
        tasks = json.load(handle)
    for task in tasks:
        for annotation in task["annotations"]:
            for result in annotation["result"]:
                found[task["data"]["system"], *result["value"]["labels"]] += 1
    return found


def read_and_analyse(file: ResponsesFile) -> None:
    """Analyse a file as `evalsite analyse --protocol mqm` does."""
    settings, method = from_protocol("mqm"), get_method("spans")
    method.analyse(method.read(file, settings), settings)


def count_by_rater(data: SpanData) -> None:
    """Count how often each rater gave each category and severity to each output."""
    of = data.output[data.annotation] * len(data.raters) + data.rater[data.annotation]
    of = (of * len(data.categories) + data.category) * len(data.severities) + data.severity
    np.unique(of, return_counts=True)


def in_turn(**functions: Callable[[], object]) -> dict[str, float]:
    """Return the median processor seconds of each function, called in turn; the first round warms up."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(REPEATS + 1):
        for name, function in functions.items():
            start = time.process_time()
            function()
            times[name].append(time.process_time() - start)
    return {name: statistics.median(each[1:]) for name, each in times.items()}


def measure(n_spans: int, parts: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return seconds and ratios of arrays and files, of those that are asked for."""
    settings, method = from_protocol("mqm"), get_method("spans")
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        mqm, tasks = write_files(n_spans, Path(folder))
        found = {}
        if "arrays" in parts:
            data = method.read(ResponsesFile(mqm), settings)
            found["arrays"] = in_turn(
                count=lambda: count_by_rater(data), analyse=lambda: method.analyse(data, settings)
            )
        for part, path, count in (("mqm", mqm, count_lines), ("json", tasks, count_tasks)):
            if part in parts:
                file = ResponsesFile(path)
                found[part] = in_turn(
                    count=partial(count, path),
                    read=partial(method.read, file, settings),
                    analyse=partial(read_and_analyse, file),
                )
    return {name: times | {"ratio": times["analyse"] / times["count"]} for name, times in found.items()}


def main() -> None:
    """Print times and ratios, and both as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="10,000 spans")
    parser.add_argument("--size", type=int, metavar="N", help="spans, thousands")
    parser.add_argument("--only", choices=PARTS, help="one part, which takes a minute or two")
    options = parser.parse_args()
    n_spans = options.size or (QUICK if options.quick else N_SPANS)
    found = measure(n_spans, [options.only] if options.only else PARTS)
    for name, times in found.items():
        parts = ", ".join(f"{what} {value:.3f} s" for what, value in times.items() if what != "ratio")
        print(f"{n_spans:,} spans, {name}: {parts}; ratio {times['ratio']:.2f}")
    named = {
        part: {what if what == "ratio" else f"{what}_seconds": value for what, value in times.items()}
        for part, times in found.items()
    }
    print(json.dumps({"benchmark": "spans", "n_spans": n_spans, **named}))


if __name__ == "__main__":
    main()
