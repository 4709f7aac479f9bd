"""The replication package of responses that are no study: their file, settings, tables and report."""

import io
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from analysis.data.finding import WORKER, find_columns
from analysis.data.spans.plain_tsv import read_plain
from analysis.methods import ResponseMethod
from analysis.metrics.loading import SegmentScores
from analysis.results.exports import dump_json, table_files
from analysis.results.package import ABOUT, METRICS, TEXTS, describe_test, numbered, write_scores
from evalsite import __version__
from evalsite.lib.tables import CellProblems, Table, preview
from evalsite.lib.tables.writing import write_csv

_README = """\
Replication package
===================

responses.csv   every response as the worker gave it, one a row
protocol.json   how they are analysed: method, criteria, worker test and the other settings
summary.json    the results
report.json     everything that was computed
tables/         the results as CSV and LaTeX
{metrics}{texts}
With evalsite {version} (pipx install evalsite=={version}) this command, in this folder, prints summary.json and writes
the tables again, both byte for byte (on another kind of processor some numbers may differ in their last digits):

    evalsite analyse responses.csv --protocol protocol.json{options} --out again --no-figures --format json

    diff -r tables again/tables

{test}
Workers are named by a number and a keyed hash.
"""
_RESPONSES = "responses.csv"
_NAMES = {"worker": WORKER, "assignment": ("assignment_id",)}


@contextmanager
def called(path: Path, name: str) -> Iterator[Path]:
    """Give the path of a stored file by the name that a person knows, which says what its format is."""
    with TemporaryDirectory(prefix="responses-") as folder:
        link = Path(folder) / (Path(name).name or path.name)
        link.symlink_to(path.resolve())
        yield link


def read_responses(path: Path, encoding: str | None) -> Table:
    """Return all columns of a file of responses as text; raise TableError if it cannot be read."""
    problems = CellProblems()
    table = read_plain(path, preview(path, n_rows=0, encoding=encoding).columns, encoding, problems)
    problems.raise_for(table)
    return table


def workers_in(table: Table) -> list[str]:
    """Return the workers of a table; none if it has no column of them."""
    column = find_columns(table.columns, _NAMES).get("worker")
    return [label for label in table.text[column].labels if label] if column else []


def write_responses_package(
    path: Path,
    document: dict[str, Any],
    names: Mapping[str, str],
    texts: Mapping[str, str],
    *,
    table: Table,
    method: ResponseMethod[Any],
    metrics: SegmentScores | None = None,
) -> None:
    """Write the replication package of responses as a zip file; `document` is the anonymous report.

    `names` has a name for every worker of the table, `texts` what the package of a campaign says in words, `metrics`
    what metrics were compared with people.
    """
    readme = _README.format(
        version=__version__,
        texts="".join(f"{name:15} {TEXTS[name]}\n" for name in texts),
        metrics=f"{METRICS:15} {ABOUT[METRICS][1]}\n" if metrics else "",
        options=f" {ABOUT[METRICS][0]} {METRICS}" if metrics else "",
        test=describe_test(document["settings"]["worker_test"]),
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("README.txt", readme)
        for name, content in texts.items():
            package.writestr(name, content)
        package.writestr("protocol.json", dump_json(document["settings"]))
        package.writestr("summary.json", dump_json(method.printed(document)))
        package.writestr("report.json", dump_json(document))
        with package.open(_RESPONSES, "w", force_zip64=True) as stream:
            _write_responses(stream, table, names)
        if metrics:
            with package.open(METRICS, "w", force_zip64=True) as stream:
                write_scores(stream, metrics)
        for name, content in table_files(document):
            package.writestr(f"tables/{name}", content)


def _write_responses(stream: IO[bytes], table: Table, names: Mapping[str, str]) -> None:
    """Write a table as CSV (UTF-8), with workers renamed and assignments numbered: their names may hold a worker's."""
    labels = {name: column.labels for name, column in table.text.items()}
    found = find_columns(table.columns, _NAMES)
    if worker := found.get("worker"):
        labels[worker] = [names.get(label, label) for label in labels[worker]]
    if assignment := found.get("assignment"):
        known = sorted(set(labels[assignment]) - {""})
        number = dict(zip(known, numbered(len(known)), strict=True)) | {"": ""}
        labels[assignment] = [number[label] for label in labels[assignment]]
    columns = [(labels[name], table.text[name].codes.tolist()) for name in table.columns]
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    rows = zip(*([of[code] for code in codes] for of, codes in columns), strict=True)
    write_csv(text, table.columns, rows)
    text.detach()
