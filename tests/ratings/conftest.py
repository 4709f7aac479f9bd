"""Ratings as people keep them, written to real files."""

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import openpyxl
import pyarrow as pa
import pytest
from pyarrow import parquet

Row = dict[str, object]
Write = Callable[..., Path]

FORMATS = ("csv", "tsv", "jsonl", "xlsx", "parquet")


def write_rows(rows: Sequence[Row], path: Path) -> Path:
    """Write rows in the format that the path's name says; a column is there if any row has it."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    table = [[row.get(name, "") for name in columns] for row in rows]
    match path.suffix:
        case ".jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        case ".xlsx":
            book = openpyxl.Workbook(write_only=True)
            sheet = book.create_sheet()
            for row in [columns, *table]:
                sheet.append(row)
            book.save(path)
            book.close()
        case ".parquet":
            by_column = list(zip(*table, strict=True)) or [()] * len(columns)
            parquet.write_table(
                pa.table({name: list(cells) for name, cells in zip(columns, by_column, strict=True)}), path
            )
        case suffix:
            with path.open("w", newline="", encoding="utf-8") as handle:
                csv.writer(handle, delimiter="\t" if suffix == ".tsv" else ",").writerows([columns, *table])
    return path


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes rows, or text as it is, and returns the path."""

    def write_file(content: Sequence[Row] | str, format_: str = "csv") -> Path:
        path = tmp_path / f"ratings.{format_}"
        if isinstance(content, str):
            path.write_text(content, encoding="utf-8")
            return path
        return write_rows(content, path)

    return write_file


def study(n_workers: int = 3, criteria: Sequence[str] = ("fluency", "adequacy")) -> list[Row]:
    """Return a small sound study: each worker rates two systems' outputs for one source, one degraded
    and one repeated."""
    rows: list[Row] = []
    design = [("A", "ordinary"), ("B", "ordinary"), ("A", "degraded"), ("B", "repeat")]
    for worker in range(n_workers):
        for position, (system, kind) in enumerate(design, start=1):
            for place, criterion in enumerate(criteria):
                rows.append(
                    {
                        "worker": f"w{worker}",
                        "assignment": f"a{worker}",
                        "hit": f"h{worker % 2}",
                        "position": position,
                        "source": f"s{worker}",
                        "system": system,
                        "kind": kind,
                        "criterion": criterion,
                        "score": (17 * worker + 29 * position + 7 * place) % 101,
                    }
                )
    return rows
