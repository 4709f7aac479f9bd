"""The slow, exact second look at delimited text: which lines are wrong, and on which line a record starts."""

import csv
import re
from collections.abc import Iterator, Sequence
from typing import IO, NamedTuple

from evalsite.lib.tables.errors import MAX_SHOWN, Problem, TableError, whole_file_error
from evalsite.lib.tables.formats import Source

BLOCK_BYTES = 1 << 22
"""Longest record that the fast reader takes."""

csv.field_size_limit(BLOCK_BYTES)

_UNDECODED = re.compile("[\udc80-\udcff\ufffd]")
_ENCODINGS = {"utf-8": "UTF-8", "utf-16": "UTF-16", "windows-1252": "Windows-1252"}
_END = "\x1eend of file\x1e"


class Record(NamedTuple):
    """One row of the file and the lines that it takes up, counted from 1."""

    first_line: int
    last_line: int
    cells: list[str]


def records(source: Source, delimiter: str, *, to_end: bool = False) -> Iterator[Record]:
    """Yield every record, the header included and blank lines left out.

    `to_end` adds a last record that only a closed file ends with: if it is not [END], a quotation mark was
    never closed. Raises TableError for a line or cell of more than 4 MiB.
    """
    start = 1
    with source.open_text() as handle:
        reader = csv.reader(_lines(handle, source.file, to_end), delimiter=delimiter)
        try:
            for cells in reader:
                if cells:
                    yield Record(start, reader.line_num, cells)
                start = reader.line_num + 1
        except csv.Error:
            raise TableError(source.file, [_long_cell(start)]) from None


def row_numbers(source: Source, delimiter: str, rows: Sequence[int]) -> list[int]:
    """Return the line on which each data row starts; `rows` ascend and count from 0, the header left out."""
    wanted = iter(rows)
    lines: list[int] = []
    row = next(wanted, None)
    for index, record in enumerate(records(source, delimiter), start=-1):
        while row == index:
            lines.append(record.first_line)
            row = next(wanted, None)
        if row is None:
            break
    return lines


def blank_rows(source: Source, delimiter: str, candidates: set[int]) -> list[int]:
    """Return which of the candidate data rows hold no text in any column."""
    return [
        index
        for index, record in enumerate(records(source, delimiter), start=-1)
        if index in candidates and not any(cell.strip() for cell in record.cells)
    ]


def structure_error(source: Source, delimiter: str, names: Sequence[str]) -> TableError | None:
    """Return every record with too many or too few cells, text that is not UTF-8 or an open quotation
    mark; else None."""
    problems: list[Problem] = []
    n_found = 0
    last = Record(1, 1, [])
    try:
        for last in records(source, delimiter, to_end=True):
            if last.cells == [_END]:
                break
            for problem in _faults(last.first_line, last.cells, names, source.encoding):
                n_found += 1
                if len(problems) < MAX_SHOWN:
                    problems.append(problem)
    except TableError as error:
        problems += error.problems
        n_found += 1
    else:
        if last.cells != [_END]:
            # The open quotation mark explains whatever else looks wrong with that record.
            n_found -= sum(problem.row == last.first_line for problem in problems)
            problems = [problem for problem in problems if problem.row != last.first_line]
            problems.append(_open_quote(last.first_line))
            n_found += 1
    return TableError(source.file, problems, n_found - len(problems)) if problems else None


def _faults(line: int, cells: list[str], names: Sequence[str], encoding: str) -> Iterator[Problem]:
    if len(cells) != len(names):
        amount = "too many" if len(cells) > len(names) else "too few"
        yield Problem(
            line,
            None,
            f"the row has {len(cells)} cells, the header has {len(names)}: {amount}. Put quotation marks "
            "around cells that "
            "hold the delimiter, or add the missing delimiters.",
            "ragged_row",
        )
    for column, cell in zip(names, cells, strict=False):
        if _UNDECODED.search(cell):
            shown = _UNDECODED.sub("\ufffd", cell)[:40]
            yield Problem(
                line,
                column,
                f"“{shown}” is not {_ENCODINGS[encoding]}: the file mixes encodings or has another one. Save the file "
                "as UTF-8.",
                "encoding",
            )


def _open_quote(line: int) -> Problem:
    return Problem(
        line,
        None,
        "a quotation mark is opened in this row and never closed, so that the rest of the file is one "
        "cell. Close it, or "
        'write a quotation mark inside a cell twice: "".',
        "open_quote",
    )


def _long_cell(line: int) -> Problem:
    return Problem(
        line,
        None,
        "a cell of this row has more than 4 MB. Probably a quotation mark is opened and never closed: close it.",
        "open_quote",
    )


def _lines(handle: IO[str], file: str, to_end: bool) -> Iterator[str]:
    # A file without line ends would otherwise be read into memory whole.
    while line := handle.readline(BLOCK_BYTES):
        if len(line) == BLOCK_BYTES and not line.endswith(("\n", "\r")):
            raise whole_file_error(
                file, "long_line", "a line has more than 4 MB. Write one record on each line, with line ends."
            )
        yield line
    if to_end:
        yield _END
