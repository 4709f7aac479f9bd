"""Columns of a table as codes and labels, whatever file they came from; their names: none twice, none missing."""

import datetime
import math
import re
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evalsite.lib.tables.errors import CellProblems, Problem, TableError, listing, shorten
from evalsite.lib.tables.writing import restore

if TYPE_CHECKING:
    from pyarrow import LargeStringArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
Rows = NDArray[np.int64]
Progress = Callable[[float], None]

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
# NUL and halves of surrogate pairs: no database stores them.
_NOT_STORABLE = re.compile("[\x00\ud800-\udfff]")
_MAX_COLUMNS = 16_384
_PLAIN_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?")


@dataclass(frozen=True)
class TextColumn:
    """A column of text: `labels[codes[i]]` is the cell of data row i, stripped of white space, "" if missing.

    `codes` is int32, (n_rows,); every label occurs in some row.
    """

    codes: Codes
    labels: list[str]

    @property
    def is_blank(self) -> NDArray[np.bool_]:
        """Whether each cell is empty, (n_rows,)."""
        return np.array([not label for label in self.labels], bool)[self.codes]


@dataclass(frozen=True)
class TableWarning:
    """Something a person should know about a file that could be read; `count`: of how many rows, where it counts."""

    code: str
    message: str
    count: int = 1


@dataclass(frozen=True)
class Table:
    """The wanted columns of one file.

    `columns` names every column of the file, `text` and `numbers` (float64, NaN where the cell was bad) hold
    the wanted ones; `cells` those of text that are wanted without codes, as they are in Arrow. `locate` turns data
    rows into the numbers that a person sees; for text files it reads the file once more. `call` turns a data row and
    a column into the column's name that a person sees. `place` turns data rows and a column into numbers that are equal
    where rows share a cell of the file.
    """

    file: str
    format: str
    columns: list[str]
    text: dict[str, TextColumn]
    numbers: dict[str, Floats]
    locate: Callable[[Sequence[int]], list[int]]
    warnings: list[TableWarning] = field(default_factory=list)
    call: Callable[[int, str], str] = lambda row, name: name
    cells: dict[str, "LargeStringArray"] = field(default_factory=dict)
    place: Callable[[Rows, str], Rows] = lambda rows, name: rows

    @property
    def n_rows(self) -> int:
        """Number of data rows, blank ones left out."""
        return len(next(iter(self.numbers.values()), [])) or len(next(iter(self.text.values())).codes)

    def take(self, rows: NDArray[np.integer]) -> "Table":
        """Return some of the rows, ascending, with the labels that they have."""
        return replace(
            self,
            text={name: text_column(column.codes[rows], column.labels) for name, column in self.text.items()},
            numbers={name: values[rows] for name, values in self.numbers.items()},
            cells={name: cells.take(rows) for name, cells in self.cells.items()},
            locate=lambda some: self.locate([int(rows[row]) for row in some]),
            call=lambda row, name: self.call(int(rows[row]), name),
            place=lambda some, name: self.place(rows[some].astype(np.int64), name),
        )

    def rename(self, names: Mapping[str, str]) -> "Table":
        """Return the same table with other names of columns, {name: the new one}; people see the ones of before."""
        before = {new: name for name, new in names.items()}
        return replace(
            self,
            columns=[names.get(name, name) for name in self.columns],
            text={names.get(name, name): column for name, column in self.text.items()},
            numbers={names.get(name, name): values for name, values in self.numbers.items()},
            call=lambda row, name: self.call(row, before.get(name, name)),
            place=lambda rows, name: self.place(rows, before.get(name, name)),
        )

    def row_numbers(self, rows: Sequence[int]) -> list[int]:
        """Return the row numbers that a person sees for data rows counted from 0, in ascending order."""
        return self.locate(rows)

    def column_name(self, row: int, name: str) -> str:
        """Return what a person sees as the name of a row's column."""
        return self.call(row, name)

    def cell_places(self, rows: Rows, name: str) -> Rows:
        """Return numbers of the cells of a column in some rows: equal ones for rows that share a cell of the file."""
        return self.place(rows, name)


def concatenate(tables: Sequence[Table], names: Sequence[str], sizes: Sequence[int]) -> Table:
    """Return the rows of tables one after another, in columns of these names; a column that a table lacks is empty.

    `sizes`: the number of rows of each. People see the file beside a column's name.
    """
    starts = np.cumsum([0, *sizes])
    text, numbers = dict[str, TextColumn](), dict[str, Floats]()
    for name in names:
        if any(name in each.numbers for each in tables):
            numbers[name] = np.concatenate([each.numbers[name] for each in tables])
            continue
        blank = [TextColumn(np.zeros(n, np.int32), [""]) for n in sizes]
        columns = [each.text.get(name, empty) for each, empty in zip(tables, blank, strict=True)]
        first = np.cumsum([0, *(len(column.labels) for column in columns)])
        codes = np.concatenate([column.codes + offset for column, offset in zip(columns, first, strict=False)])
        text[name] = text_column(codes, [label for column in columns for label in column.labels])

    def part_of(row: int) -> tuple[Table, int]:
        k = int(np.searchsorted(starts, row, side="right")) - 1
        return tables[k], row - int(starts[k])

    def call(row: int, name: str) -> str:
        table, own = part_of(row)
        return f"{table.column_name(own, name)} ({table.file})"

    return Table(
        tables[0].file,
        tables[0].format,
        list(dict.fromkeys(name for each in tables for name in each.columns)),
        text,
        numbers,
        lambda rows: [part_of(row)[0].row_numbers([part_of(row)[1]])[0] for row in rows],
        [warning for each in tables for warning in each.warnings],
        call,
    )


def check_names(file: str, names: Sequence[str]) -> None:
    """Raise TableError if the header is blank, a name occurs twice or a name is not text."""
    if not any(names):
        raise TableError(
            file, [Problem(1, None, "the header is blank. Write the columns' names into row 1.", "no_header")]
        )
    if len(names) > _MAX_COLUMNS:
        message = f"there are {len(names):,} columns, and at most {_MAX_COLUMNS:,} are read. Leave some out."
        raise TableError(file, [Problem(1, None, message, "too_many_columns")])
    problems = []
    places: dict[str, int] = {}
    for place, name in enumerate(names, start=1):
        if name and (first := places.setdefault(name, place)) != place:
            message = f"columns {first} and {place} have the same name. Rename or delete one of them."
            problems.append(Problem(1, name, message, "duplicate_column"))
        if _NOT_STORABLE.search(name):
            shown = _NOT_STORABLE.sub("\ufffd", name)
            message = "the name holds bytes that are not text. Save the file as UTF-8, or type the name again."
            problems.append(Problem(1, shown, message, "encoding"))
    if problems:
        raise TableError(file, problems)


def find_columns(file: str, names: Sequence[str], wanted: Sequence[str]) -> dict[str, int]:
    """Return the place, from 0, of each wanted column; raise TableError that lists the columns there are."""
    missing = [name for name in wanted if name not in names]
    if missing:
        raise TableError(file, [missing_column(name, names) for name in missing])
    return {name: names.index(name) for name in wanted}


def no_rows(file: str) -> TableError:
    """Return the error of a file with nothing below its header."""
    return TableError(file, [Problem(1, None, "there are no rows below the header. Export the file again.", "no_rows")])


def missing_column(name: str, names: Sequence[str]) -> Problem:
    """Return the problem of a column that is not there."""
    there = listing(name for name in names if name)
    if any(_PLAIN_NUMBER.fullmatch(name) for name in names):
        fix = f"Row 1 looks like data ({there}): write the columns' names above it."
    elif len(names) == 1:
        fix = f"The only column is {there}: separate columns by a comma, a semicolon or a tab."
    else:
        fix = f"The columns are {there}: rename one of them or choose which one is meant."
    return Problem(1, name, f"there is no column “{name}”. {fix}", "missing_column")


class TextBuilder:
    """A text column that grows cell by cell."""

    def __init__(self) -> None:
        self._code_of: dict[str, int] = {}
        self._codes = array("i")

    def append(self, cell: str) -> None:
        """Add the next row's cell."""
        self._codes.append(self._code_of.setdefault(cell, len(self._code_of)))

    def column(self) -> TextColumn:
        """Return the column so far."""
        return text_column(np.frombuffer(self._codes, np.int32), list(self._code_of))


def text_column(codes: NDArray[np.integer], labels: Sequence[str]) -> TextColumn:
    """Return the column with labels stripped, neutralised ones restored, equal ones merged and unused ones dropped."""
    used = np.bincount(codes, minlength=len(labels)).astype(bool)
    if used.all() and _are_clean(labels):
        return TextColumn(codes.astype(np.int32), list(labels))
    clean: dict[str, int] = {}
    new_code = np.zeros(max(len(labels), 1), np.int32)
    for code, label in enumerate(labels):
        if used[code]:
            new_code[code] = clean.setdefault(clean_cell(label), len(clean))
    unchanged = len(clean) == len(labels)
    return TextColumn(codes.astype(np.int32) if unchanged else new_code[codes], list(clean))


def clean_cell(cell: str) -> str:
    """Return a cell stripped and, if it was neutralised, restored."""
    return restore(cell.strip())


def _are_clean(labels: Sequence[str]) -> bool:
    """Return whether labels are all different and as they stay, which is much quicker than cleaning each."""
    may_be_neutralised = "'" in {label[:1] for label in labels}
    is_stripped = [label.strip() for label in labels] == list(labels)
    return is_stripped and not may_be_neutralised and len(set(labels)) == len(labels)


def refuse_empty(column: TextColumn, name: str, problems: CellProblems) -> None:
    """Add a problem for each cell without text."""
    if "" in column.labels:
        rows = np.flatnonzero(column.codes == column.labels.index(""))
        problems.add(rows, name, "empty_label", lambda row, other: "the cell is empty. Fill it in.")


def refuse_unstorable(column: TextColumn, name: str, problems: CellProblems) -> None:
    """Add a problem for each cell with a NUL or half a surrogate pair: no database stores them."""
    if _is_storable("".join(column.labels)):  # nearly always, and quicker than a search in each
        return
    bad = [code for code, label in enumerate(column.labels) if _NOT_STORABLE.search(label)]
    if bad:
        rows = np.flatnonzero(np.isin(column.codes, bad))
        problems.add(rows, name, "encoding", lambda row, other: _not_text(column.labels[column.codes[row]]))


def _is_storable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def check_text(cells: Sequence[str]) -> str:
    """Return what is wrong with cells of which one is not text, "" if none is."""
    return next((_not_text(cell) for cell in cells if _NOT_STORABLE.search(cell)), "")


def _not_text(label: str) -> str:
    return f"“{shorten(label)}” holds bytes that are not UTF-8. Save the file as UTF-8, or type the cell again."


def numbers_of(column: TextColumn, name: str, problems: CellProblems) -> Floats:
    """Return the cells as float64, (n_rows,), NaN where a cell is not a finite number.

    Each such cell is a problem, unless `problems` knows another one of it already.
    """
    by_label = np.array([_number(label) for label in column.labels] or [math.nan])
    values = by_label[column.codes]
    bad = problems.without_known(np.flatnonzero(np.isnan(values)), name)
    if bad.size:
        is_missing = np.array([not label for label in column.labels])[column.codes[bad]]
        add_bad_numbers(bad, is_missing, name, problems, lambda row: column.labels[column.codes[row]])
    return values


def add_bad_numbers(
    rows: NDArray[np.integer],
    is_missing: NDArray[np.bool_],
    name: str,
    problems: CellProblems,
    text_of: Callable[[int], str],
) -> None:
    """Add a problem for each of `rows`: empty where `is_missing`, else the text `text_of(row)`, which is
    no number."""
    problems.add(rows[is_missing], name, "missing_number", lambda row, other: bad_number_message(""))
    problems.add(rows[~is_missing], name, "not_a_number", lambda row, other: bad_number_message(text_of(row)))


def bad_number_message(text: str) -> str:
    """Say why `text` is not a number and how to fix it."""
    if not text:
        return "the cell is empty. Write a number, or delete the row."
    said = f"“{shorten(text)}” is not a number."
    if _DECIMAL_COMMA.fullmatch(text):
        return f"{said} Write a decimal point: {text.replace(',', '.')}"
    if text.endswith("%"):
        return f"{said} Leave out the per cent sign."
    if _DATE.match(text):
        return f"{said} A spreadsheet program took it for a date: format the column as numbers, type it again."
    if _NUMBER.fullmatch(text) or text.lower().lstrip("+-") in {
        "nan",
        "inf",
        "infinity",
        "na",
        "n/a",
        "null",
        "none",
    }:
        return f"“{shorten(text)}” is not a finite number. Write the number, or delete the row."
    return f"{said} Write digits with a decimal point, or delete the row."


def cell_text(value: object) -> str:
    """Return the text of one typed cell: whole floats without “.0”, dates in ISO 8601, "" for missing.

    Raises TypeError for lists, mappings and other things that are not one value.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float_text(value)
    if isinstance(value, datetime.datetime):
        return value.date().isoformat() if value.time() == datetime.time() else value.isoformat(" ")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, list | tuple | dict | set):
        raise TypeError("nested value")
    return str(value)


def _float_text(value: float) -> str:
    if math.isnan(value):
        return ""
    # Beyond 2⁵³ a float no longer names one whole number.
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


def _number(text: str) -> float:
    if not _NUMBER.fullmatch(text):
        return math.nan
    value = float(text)
    return value if math.isfinite(value) else math.nan
