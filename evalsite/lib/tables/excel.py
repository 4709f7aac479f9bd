"""A sheet of an .xlsx workbook: the one that somebody named, or the first one with rows."""

import re
from array import array
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

import numpy as np
from openpyxl.utils import get_column_letter
from openpyxl.utils.datetime import from_excel

from evalsite.lib.tables.errors import CellProblems, listing, shorten, whole_file_error
from evalsite.lib.tables.formats import Source
from evalsite.lib.tables.table import (
    Progress,
    Table,
    TableWarning,
    TextBuilder,
    cell_text,
    check_names,
    find_columns,
    no_rows,
)
from evalsite.lib.tables.workbook import MAX_CELL, Workbook, open_workbook

_MAX_COLUMNS = 16_384
_MAX_ROWS = 1_048_576
_REPORT_EVERY = 20_000
_LETTERS = re.compile("[A-Z]{1,3}")
_WHOLE = re.compile(r"-?[1-9]\d{0,14}|0")


class _Cell(NamedTuple):
    kind: str
    style: str
    value: str
    formula: str | None


class _Row(NamedTuple):
    number: int
    cells: dict[int, _Cell]


def preview(source: Source, n_rows: int) -> tuple[str, list[str], list[list[str]]]:
    """Return format, columns and the first rows; a formula is shown as such."""
    with open_workbook(source) as book:
        sheet = _choose(source, book)
        rows = list(islice(_rows(book, sheet, None), n_rows + 2))
        needed = [int(cell.value) for row in rows for cell in row.cells.values() if cell.kind == "s" and cell.value]
        strings = book.shared_strings(max(needed, default=-1) + 1)
        names, n_above = _header(source, rows, book, sheet, strings)
        width, below = range(len(names)), rows[n_above : n_above + n_rows]
        shown = [[_shown(row.cells.get(place), book, strings) for place in width] for row in below]
    return "xlsx", names, shown


def read(
    source: Source,
    columns: Sequence[str],
    numeric: Sequence[str],
    problems: CellProblems,
    on_progress: Progress | None,
) -> Table:
    """Return the wanted columns of a sheet; errors, and formulas without a value, are added to `problems`.

    Raises TableError for a damaged workbook, a bomb, a header that is blank or names a column twice, and no
    rows.
    """
    with open_workbook(source) as book:
        strings = book.shared_strings()
        sheet = _choose(source, book)
        names, n_above = _header(source, list(islice(_rows(book, sheet, None), 2)), book, sheet, strings)
        places = find_columns(source.file, names, columns)
        builders = [_Builder(name, place, book, strings) for name, place in places.items()]
        numbers = array("q")
        for row in islice(_rows(book, sheet, set(range(len(names)))), n_above, None):
            for builder in builders:
                builder.append(row.cells.get(builder.place))
            numbers.append(row.number)
            if on_progress is not None and len(numbers) % _REPORT_EVERY == 0:
                on_progress(min(0.99, len(numbers) / _MAX_ROWS))
        warnings = _warnings(book, sheet)
    if not numbers:
        raise no_rows(source.file)
    for builder in builders:
        builder.report(numbers, problems)
    text = {builder.name: builder.text.column() for builder in builders}
    return Table(
        file=source.file,
        format="xlsx",
        columns=names,
        text=text,
        numbers={},
        locate=lambda rows: [numbers[row] for row in rows],
        warnings=warnings,
    )


class _Builder:
    """One wanted column, with the rows whose cells hold no value of their own."""

    def __init__(self, name: str, place: int, book: Workbook, strings: list[str]) -> None:
        self.name = name
        self.place = place
        self.text = TextBuilder()
        self._book = book
        self._strings = strings
        self._n = 0
        self._formulas: dict[int, str] = {}
        self._errors: dict[int, str] = {}

    def append(self, cell: _Cell | None) -> None:
        if cell is None:
            self.text.append("")
        elif cell.formula is not None and not cell.value:  # programs that compute nothing save formulas alone
            self._formulas[self._n] = cell.formula
            self.text.append("")
        elif cell.kind == "e":
            self._errors[self._n] = cell.value
            self.text.append("")
        else:
            self.text.append(_text(cell, self._book, self._strings))
        self._n += 1

    def report(self, numbers: "array[int]", problems: CellProblems) -> None:
        """Add a problem for each formula and each error value."""
        letter = get_column_letter(self.place + 1)

        def formula(row: int, other: int | None) -> str:
            said = shorten("=" + self._formulas[row])
            return f"cell {letter}{numbers[row]} holds a formula ({said}). Copy the column, paste it as values."

        def error(row: int, other: int | None) -> str:
            said = shorten(self._errors[row])
            return f"cell {letter}{numbers[row]} holds the error {said}. Write the value, or delete the row."

        problems.add(np.array(list(self._formulas), np.int64), self.name, "formula", formula)
        problems.add(np.array(list(self._errors), np.int64), self.name, "error_value", error)


class _SheetHandlers:
    """Collects the rows of a sheet; a cell outside `places` is passed over."""

    def __init__(self, places: set[int] | None) -> None:
        self.rows: list[_Row] = []
        self._places = places
        self._number = 0
        self._place = -1
        self._cells: dict[int, _Cell] = {}
        self._is_wanted = False
        self._attributes: dict[str, str] = {}
        self._value: list[str] = []
        self._formula: list[str] | None = None
        self._into: list[str] | None = None
        self._n_letters = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "c":
            reference = attributes.get("r")
            self._place = self._place + 1 if reference is None else _place(reference)
            self._is_wanted = self._places is None or self._place in self._places
            self._attributes = attributes
            self._value = []
            self._formula = None
            self._n_letters = 0
        elif name == "row":
            self._number = int(attributes.get("r", self._number + 1))
            self._place = -1
            self._cells = {}
        elif self._is_wanted:
            if name in {"v", "t"}:
                self._into = self._value
            elif name == "f":
                self._formula = self._into = []
            elif name == "rPh":
                self._is_wanted = False

    def end(self, name: str) -> None:
        self._into = None
        if name == "c" and (self._value or self._formula is not None):
            kind, style = self._attributes.get("t", "n"), self._attributes.get("s", "")
            formula = None if self._formula is None else "".join(self._formula)
            self._cells[self._place] = _Cell(kind, style, "".join(self._value), formula)
            if self._place >= _MAX_COLUMNS:
                raise ValueError("more columns than a sheet has")
        elif name == "row" and self._cells:
            self.rows.append(_Row(self._number, self._cells))
            self._cells = {}

    def text(self, data: str) -> None:
        if self._into is not None:
            self._into.append(data)
            self._n_letters += len(data)
            if self._n_letters > MAX_CELL:
                raise ValueError("too long a cell")


def _choose(source: Source, book: Workbook) -> int:
    """Return the place of the sheet that is read: the one that somebody named, or the first one with rows."""
    names = [name for name, _ in book.sheets]
    if source.sheet:
        same = [place for place, name in enumerate(names) if name.strip().casefold() == source.sheet.strip().casefold()]
        if not same:
            message = f"the workbook has no sheet “{shorten(source.sheet)}”. Its sheets are {listing(names)}."
            raise whole_file_error(source.file, "no_sheet", message)
        return same[0]
    return next((place for place in range(len(names)) if next(_rows(book, place, None), None)), 0)


def _rows(book: Workbook, sheet: int, places: set[int] | None) -> Iterator[_Row]:
    """Yield the rows of a sheet that hold anything in `places`; None is every column."""
    handlers = _SheetHandlers(places)
    for _ in book.parse(book.sheets[sheet][1], handlers.start, handlers.end, handlers.text):
        yield from handlers.rows
        handlers.rows.clear()


def _place(reference: str) -> int:
    return _place_of(reference.rstrip("0123456789"))


@lru_cache(maxsize=_MAX_COLUMNS)
def _place_of(letters: str) -> int:
    """Return the place, from 0, of the column of these letters."""
    if not _LETTERS.fullmatch(letters):
        raise ValueError(f"no column is called {letters}")
    place = -1
    for letter in letters:
        place = (place + 1) * 26 + ord(letter) - ord("A")
    return place


def _header(source: Source, rows: list[_Row], book: Workbook, sheet: int, strings: list[str]) -> tuple[list[str], int]:
    """Return the names of the columns, and how many rows they take up: two, where cells of the first are merged."""
    if not rows:
        raise whole_file_error(source.file, "empty_file", "its sheets are empty. Save the table in the workbook.")
    width = range(max(place for row in rows[:2] for place in row.cells) + 1)
    first, *second = [[_shown(row.cells.get(place), book, strings).strip() for place in width] for row in rows[:2]]
    if second and (merged := _merged(first, second[0])) and _is_merged(book, sheet, rows[0].number):
        check_names(source.file, merged)
        return merged, 2
    names = first[: max(rows[0].cells) + 1]
    check_names(source.file, names)
    return names, 1


def _is_merged(book: Workbook, sheet: int, number: int) -> bool:
    """Return whether cells beside each other are merged in a row of a sheet."""
    found: list[str] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        if name == "mergeCell":
            found.append(attributes.get("ref", ""))

    for _ in book.parse(book.sheets[sheet][1], start, lambda name: None, lambda text: None):
        pass
    return any(re.fullmatch(rf"[A-Z]+{number}:[A-Z]+{number}", reference) for reference in found)


def _merged(first: list[str], second: list[str]) -> list[str]:
    """Return the names that two rows of a header give together, [] if the second row is none of it.

    A merged cell has its text on its left, or on top: where one row is blank, the other is not; both are, somewhere.

    >>> _merged(["item", "fluency", "", "adequacy", ""], ["", "A1", "A2", "A1", "A2"])
    ['item', 'fluency A1', 'fluency A2', 'adequacy A1', 'adequacy A2']
    """
    is_one = all(first) or all(second) or not all(one or other for one, other in zip(first, second, strict=True))
    if is_one or not first[0] or not any(a and b for a, b in zip(first, second, strict=True)):
        return []
    names, top = [], ""
    for one, other in zip(first, second, strict=True):
        top = one or top
        names.append(f"{top} {other}".strip() if other else one)
    return names


def _shown(cell: _Cell | None, book: Workbook, strings: list[str]) -> str:
    if cell is None:
        return ""
    return "=" + cell.formula if cell.formula is not None and not cell.value else _text(cell, book, strings)


def _text(cell: _Cell, book: Workbook, strings: list[str]) -> str:
    kind, style, value, _ = cell
    if not value:
        return ""
    if kind == "s":
        return strings[int(value)]
    if kind == "n":
        if style in book.date_styles:
            return _date_text(value, book)
        return value if _WHOLE.fullmatch(value) else cell_text(float(value))
    if kind == "b":
        return "true" if value == "1" else "false"
    return value


def _date_text(value: str, book: Workbook) -> str:
    try:
        return cell_text(from_excel(float(value), book.epoch))
    except (ValueError, OverflowError):
        return value


def _warnings(book: Workbook, sheet: int) -> list[TableWarning]:
    if len(book.sheets) == 1:
        return []
    names = [name for name, _ in book.sheets]
    others = listing(name for place, name in enumerate(names) if place != sheet)
    message = (
        f"Only the sheet “{shorten(names[sheet])}” was read. Choose another of the workbook’s by its name: {others}."
    )
    return [TableWarning("several_sheets", message)]
