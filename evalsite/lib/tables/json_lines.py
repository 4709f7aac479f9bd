"""JSON Lines: one flat object on each line."""

import json
import math
from array import array
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from evalsite.lib.tables.errors import MAX_SHOWN, CellProblems, Problem, TableError, whole_file_error
from evalsite.lib.tables.formats import Source
from evalsite.lib.tables.header import check_names, find_columns, no_rows
from evalsite.lib.tables.table import Progress, Table, TextBuilder, cell_text, numbers_of

_MAX_LINE = 1 << 24
_PREVIEWED = 1 << 22
_REPORT_EVERY = 100_000


def _float_text(digits: str) -> str:
    # JSON knows no difference between 1 and 1.0; programs write either for the same whole number.
    value = float(digits)
    return cell_text(value) if math.isfinite(value) else digits


_DECODER = json.JSONDecoder(parse_int=str, parse_float=_float_text, parse_constant=str)


class _Line(NamedTuple):
    number: int
    n_read: int
    record: dict[str, object] | None
    message: str


def preview(source: Source, n_rows: int) -> tuple[str, list[str], list[list[str]]]:
    """Return format, the columns of the first 4 MB, the first rows; raise TableError for a bad line there."""
    records: list[dict[str, object]] = []
    columns: dict[str, None] = {}
    for line in _lines(source):
        if line.record is None:
            raise TableError(source.file, [_bad_line(line)])
        columns |= dict.fromkeys(line.record)
        if len(records) < n_rows:
            records.append(line.record)
        elif line.n_read > _PREVIEWED:
            break
    check_names(source.file, list(columns))
    return "jsonl", list(columns), [[_shown(record.get(name)) for name in columns] for record in records]


def read(
    source: Source,
    columns: Sequence[str],
    numeric: Sequence[str],
    problems: CellProblems,
    on_progress: Progress | None,
) -> Table:
    """Return the wanted columns; bad cells are added to `problems`. Raise TableError if a line is no flat
    object.
    """
    builders = [(name, TextBuilder(), array("q")) for name in columns]
    names: dict[str, None] = {}
    numbers = array("q")
    bad_lines: list[Problem] = []
    n_bad = 0
    for line in _lines(source):
        record = line.record
        if record is None:
            n_bad += 1
            if n_bad <= MAX_SHOWN:
                bad_lines.append(_bad_line(line))
            continue
        if not record.keys() <= names.keys():
            names |= dict.fromkeys(record)
        for name, builder, nested in builders:
            cell = record.get(name, "")
            if type(cell) is not str:
                if isinstance(cell, dict | list):
                    nested.append(len(numbers))
                    cell = ""
                cell = cell_text(cell)
            builder.append(cell)
        numbers.append(line.number)
        if on_progress is not None and len(numbers) % _REPORT_EVERY == 0:
            on_progress(min(1.0, line.n_read / source.n_bytes))
    if bad_lines:
        raise TableError(source.file, bad_lines, n_bad - len(bad_lines))
    if not numbers:
        raise no_rows(source.file)
    check_names(source.file, list(names))
    find_columns(source.file, list(names), columns)
    for name, _, nested in builders:
        problems.add(np.array(nested, np.int64), name, "nested", _nested_message)
    text = {name: builder.column() for name, builder, _ in builders}
    values = {name: numbers_of(text.pop(name), name, problems) for name in numeric}
    return Table(
        file=source.file,
        format="jsonl",
        columns=list(names),
        text=text,
        numbers=values,
        locate=lambda rows: [numbers[row] for row in rows],
    )


def _lines(source: Source) -> Iterator[_Line]:
    """Yield every line that is not blank."""
    n_read = 0
    number = 0
    with source.open_text() as handle:
        while text := handle.readline(_MAX_LINE):
            number += 1
            n_read += len(text)
            if len(text) == _MAX_LINE:
                raise whole_file_error(
                    source.file,
                    "long_line",
                    f"line {number} has more than 16 MB. Write one object on each line.",
                )
            if text.isspace():
                continue
            try:
                record = _DECODER.decode(text)
            except json.JSONDecodeError as error:
                yield _Line(number, n_read, None, f"the line is not JSON ({error.msg}, at character {error.pos + 1})")
            except RecursionError:
                yield _Line(number, n_read, None, "the line is nested too deep")
            else:
                if isinstance(record, dict):
                    yield _Line(number, n_read, record, "")
                else:
                    yield _Line(number, n_read, None, "the line is not an object")


def _bad_line(line: _Line) -> Problem:
    return Problem(
        line.number,
        None,
        f'{line.message}. Write one whole object on each line: {{"worker": "w1", "score": 53}}',
        "bad_json",
    )


def _nested_message(row: int, other: int | None) -> str:
    return "the cell holds a list or an object. Write one value: text or a number."


def _shown(cell: object) -> str:
    if isinstance(cell, dict | list):
        return json.dumps(cell)[:80]
    return cell_text(cell).encode("utf-8", "replace").decode()
