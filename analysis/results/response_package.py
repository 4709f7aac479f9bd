"""The replication package of responses that are no study: their file, settings, tables and report."""

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from analysis.data.finding import WORKER, find_columns
from analysis.data.ratings.sources import SourceWords
from analysis.data.spans.plain_tsv import read_plain
from analysis.metrics.loading import SegmentScores
from analysis.results.package import Package, numbered
from analysis.results.result import Result
from evalsite.lib.tables import CellProblems, Table, preview
from evalsite.lib.tables.blocks import Coded
from evalsite.lib.tables.writing import csv_texts

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
    result: Result,
    names: Mapping[str, str],
    texts: Mapping[str, str],
    *,
    table: Table,
    metrics: SegmentScores | None = None,
    source_words: Sequence[SourceWords] = (),
    title: str = "",
) -> None:
    """Write the replication package of responses; `names` has a name for every worker of the table.

    The rest is as of `Package`.
    """
    write = partial(_write_responses, table=table, names=names)
    Package(result, "responses.csv", write, texts, metrics, source_words, title=title).save(path)


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
    columns = [Coded(labels[name], table.text[name].codes) for name in table.columns]
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    for block in ([[name] for name in table.columns], columns):
        text.writelines(csv_texts(block))
    text.detach()
