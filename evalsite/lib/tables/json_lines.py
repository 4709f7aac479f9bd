"""Objects of JSON, one on each line or all in one array, which is read piece by piece.

An object in one gives a column for each of its cells: `outputs.GPT-4`.
"""

import json
import math
import re
from array import array
from collections.abc import Collection, Iterator, Sequence
from typing import IO, NamedTuple

import numpy as np

from evalsite.lib.tables.errors import MAX_SHOWN, CellProblems, Problem, TableError, shorten, whole_file_error
from evalsite.lib.tables.formats import Source
from evalsite.lib.tables.table import (
    Progress,
    Table,
    TextBuilder,
    cell_text,
    check_names,
    find_columns,
    no_rows,
)

_MAX_LINE = 1 << 24
_PREVIEWED = 1 << 22
_REPORT_EVERY = 100_000
_CHUNK = 1 << 20
_NOT_BLANK = re.compile(r"\S")
_NO_JSON, _TOO_DEEP = "what begins here is not JSON", "the object is nested too deep"


def _float_text(digits: str) -> str:
    # JSON knows no difference between 1 and 1.0; programs write either for the same whole number.
    value = float(digits)
    return cell_text(value) if math.isfinite(value) else digits


_DECODER = json.JSONDecoder(parse_int=str, parse_float=_float_text, parse_constant=str)
_LONGEST_NUMBER = 300


def _int(digits: str) -> int | str:
    return int(digits) if len(digits) <= _LONGEST_NUMBER else digits  # Python refuses to read, or write, long ones


def _float(digits: str) -> float | str:
    return value if math.isfinite(value := float(digits)) else digits


# Where lists are read as their JSON: numbers in them stay numbers.
_TYPED = json.JSONDecoder(parse_int=_int, parse_float=_float, parse_constant=str)


Record = dict[str, object]


class _Line(NamedTuple):
    number: int
    n_read: int
    record: Record | None
    message: str
    has_objects: bool = False

    def names(self) -> list[str]:
        """Return the columns of the line; an object gives one for each of its cells."""
        record = self.record or {}
        if not self.has_objects:
            return list(record)
        names: list[str] = []
        for key, cell in record.items():
            names += [f"{key}.{inner}" for inner in cell] if isinstance(cell, dict) else [key]
        return names


class _Cells:
    """The cells of one column: at the top of a line, or in an object of it."""

    def __init__(self, name: str) -> None:
        self.name = name
        # Keys may hold dots themselves (`outputs.GPT-3.5`): each of them may be the one between object and cell.
        dots = [place for place, letter in enumerate(name) if letter == "."]
        self._paths = [(name[:dot], name[dot + 1 :]) for dot in dots]

    def of(self, record: Record) -> object:
        """Return the line's cell; "" if it has none."""
        if self._paths and self.name not in record:
            for key, inner in self._paths:
                cells = record.get(key)
                if isinstance(cells, dict) and inner in cells:
                    return cells[inner]
        return record.get(self.name, "")


def preview(source: Source, n_rows: int) -> tuple[str, list[str], list[list[str]]]:
    """Return format, the columns of the first 4 MB, the first rows; raise TableError for a bad line there."""
    records: list[Record] = []
    columns: dict[str, None] = {}
    for line in _records(source):
        if line.record is None:
            raise TableError(source.file, [_bad_line(line)])
        columns |= dict.fromkeys(line.names())
        if len(records) < n_rows:
            records.append(line.record)
        elif line.n_read > _PREVIEWED:
            break
    check_names(source.file, list(columns))
    cells = [_Cells(name) for name in columns]
    return "jsonl", list(columns), [[_shown(each.of(record)) for each in cells] for record in records]


def read(
    source: Source,
    columns: Sequence[str],
    numeric: Sequence[str],
    problems: CellProblems,
    on_progress: Progress | None,
    *,
    lists: Collection[str] = (),
) -> Table:
    """Return the wanted columns; bad cells are added to `problems`. Raise TableError if a line is not an object."""
    builders = [(_Cells(name), TextBuilder(), array("q")) for name in columns]
    names: dict[str, None] = {}
    numbers = array("q")
    bad_lines: list[Problem] = []
    n_bad = 0
    for line in _records(source, _TYPED if lists else _DECODER):
        record = line.record
        if record is None:
            n_bad += 1
            if n_bad <= MAX_SHOWN:
                bad_lines.append(_bad_line(line))
            continue
        if line.has_objects or not record.keys() <= names.keys():
            names |= dict.fromkeys(line.names())
        for cells, builder, nested in builders:
            cell = cells.of(record)
            if type(cell) is not str:
                if isinstance(cell, dict | list) and cells.name in lists:
                    cell = json.dumps(cell, ensure_ascii=False)
                elif isinstance(cell, dict | list):
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
    for cells, _, nested in builders:
        problems.add(np.array(nested, np.int64), cells.name, "nested", _nested_message)
    text = {cells.name: builder.column() for cells, builder, _ in builders}
    return Table(
        file=source.file,
        format="jsonl",
        columns=list(names),
        text=text,
        numbers={},
        locate=lambda rows: [numbers[row] for row in rows],
    )


def read_objects(source: Source) -> Iterator[tuple[int, Record]]:
    """Yield every object of a file of JSON, numbers in it as text, and the line on which it begins.

    Raises TableError for what is none.
    """
    for line in _records(source):
        if line.record is None:
            raise TableError(source.file, [_bad_line(line)])
        yield line.number, line.record


def _records(source: Source, decoder: json.JSONDecoder = _DECODER) -> Iterator[_Line]:
    """Yield every object, with the line on which it begins."""
    return _items(source, decoder) if source.is_array else _lines(source, decoder)


def _lines(source: Source, decoder: json.JSONDecoder) -> Iterator[_Line]:
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
                record = decoder.decode(text)
            except json.JSONDecodeError as error:
                yield _Line(number, n_read, None, f"the line is not JSON ({error.msg}, at character {error.pos + 1})")
            except RecursionError:
                yield _Line(number, n_read, None, _TOO_DEEP)
            else:
                yield _checked(number, n_read, text, record)


class _Text:
    """The text of a file, of which no more is kept than the value of JSON that is being read."""

    def __init__(self, handle: IO[str], decoder: json.JSONDecoder) -> None:
        self._handle = handle
        self._decoder = decoder
        self._text = ""
        self._at = 0
        self.line = 1
        self.n_read = 0

    def next_letter(self) -> str:
        """Go to the next letter that is not blank and return it; "" at the end."""
        while True:
            found = _NOT_BLANK.search(self._text, self._at)
            self._go_to(found.start() if found else len(self._text))
            if found:
                return found.group()
            if not self._read_more():
                return ""

    def skip(self) -> None:
        """Go on by one letter."""
        self._go_to(self._at + 1)

    def value(self) -> tuple[object, str]:
        """Return the value that begins here and its text; raise JSONDecodeError if it is none, or is over 16 MB."""
        while True:
            begin = self._at
            try:
                value, end = self._decoder.raw_decode(self._text, begin)
            except json.JSONDecodeError:
                if len(self._text) - begin > _MAX_LINE or not self._read_more():
                    raise
            else:
                self._go_to(end)
                return value, self._text[begin:end]

    def _go_to(self, place: int) -> None:
        self.line += self._text.count("\n", self._at, place)
        self._at = place

    def _read_more(self) -> bool:
        # Twice as much each time: a long value is tried anew a few times only.
        chunk = self._handle.read(max(_CHUNK, len(self._text) - self._at))
        self._text = self._text[self._at :] + chunk
        self._at = 0
        self.n_read += len(chunk)
        return bool(chunk)


def _items(source: Source, decoder: json.JSONDecoder) -> Iterator[_Line]:
    """Yield every item of an array; after a fault in its form nothing more can be read."""
    with source.open_text() as handle:
        text = _Text(handle, decoder)
        letter = text.next_letter()
        text.skip()
        while letter != "]" and not (letter == "[" and text.next_letter() == "]"):
            text.next_letter()
            item = _item(text)
            yield item
            letter = text.next_letter()
            if letter not in (",", "]"):
                if item.message not in (_NO_JSON, _TOO_DEEP):
                    yield _Line(text.line, text.n_read, None, "the array is cut short, or a comma is missing in it")
                return
            text.skip()
        if letter == "[":
            text.skip()
        if text.next_letter():
            yield _Line(text.line, text.n_read, None, "something follows the end of the array")


def _item(text: _Text) -> _Line:
    line = text.line
    try:
        record, written = text.value()
    except json.JSONDecodeError:
        return _Line(line, text.n_read, None, _NO_JSON)
    except RecursionError:
        return _Line(line, text.n_read, None, _TOO_DEEP)
    return _checked(line, text.n_read, written, record)


def _checked(number: int, n_read: int, text: str, record: object) -> _Line:
    """Return the line of an object; one with two cells of one name, or of anything else, is bad."""
    if not isinstance(record, dict):
        return _Line(number, n_read, None, "this is not an object")
    # Most files have none, and searching for a second brace is cheaper than checking every cell.
    has_objects = text.count("{") > 1 and any(isinstance(cell, dict) for cell in record.values())
    line = _Line(number, n_read, record, "", has_objects)
    if has_objects:
        names = line.names()
        if len(set(names)) < len(names):
            twice = next(name for place, name in enumerate(names) if name in names[:place])
            return _Line(number, n_read, None, f"the object has two cells called “{shorten(twice)}”, one in an object")
    return line


def _bad_line(line: _Line) -> Problem:
    return Problem(
        line.number,
        None,
        f'{line.message}. Write whole objects, one on each line or all in an array: {{"worker": "w1", "score": 53}}',
        "bad_json",
    )


def _nested_message(row: int, other: int | None) -> str:
    return "the cell holds a list or an object. Write one value: text or a number."


def _shown(cell: object) -> str:
    if isinstance(cell, dict | list):
        return json.dumps(cell, ensure_ascii=False).encode("utf-8", "replace").decode()
    return cell_text(cell).encode("utf-8", "replace").decode()
