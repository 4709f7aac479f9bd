"""CSV, TSV and their cousins: fast when the file is right, exact about lines when it is not.

Arrow reads the file; where something is wrong, a slow second reading says which lines, and where a record starts.
"""

import csv
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv as arrow_csv

from evalsite.lib.tables.arrow_columns import ArrowNumbers, arrow_numbers, arrow_text
from evalsite.lib.tables.errors import MAX_SHOWN, CellProblems, Problem, TableError, shorten, whole_file_error
from evalsite.lib.tables.formats import Source
from evalsite.lib.tables.table import (
    Progress,
    Table,
    TextColumn,
    check_names,
    find_columns,
    no_rows,
    text_column,
)

_CHUNK = 1 << 20
_DELIMITERS = "\t;,|"
BLOCK_BYTES = 1 << 22
"""Longest record that the fast reader takes."""

csv.field_size_limit(BLOCK_BYTES)

_UNDECODED = re.compile("[\udc80-\udcff\ufffd]")
_ENCODINGS = {"utf-8": "UTF-8", "utf-16": "UTF-16", "windows-1252": "Windows-1252"}
_LONGEST_SHOWN = 160
_END = "\x1eend of file\x1e"


@dataclass(frozen=True)
class Header:
    """The delimiter, the columns' names and how many lines they take up, blank lines before them included."""

    delimiter: str
    names: list[str]
    n_lines: int

    @property
    def format(self) -> str:
        """Return tsv or csv."""
        return "tsv" if self.delimiter == "\t" else "csv"


def read_header(source: Source) -> Header:
    """Return the header; raise TableError if it is blank, a name occurs twice or is not UTF-8."""
    line = "\n"
    with source.open_text() as handle:
        while line and not line.strip("\r\n"):
            line = handle.readline(BLOCK_BYTES)
    if not line:
        raise whole_file_error(source.file, "empty_file", "the file holds only blank lines. Export it again.")
    delimiter = source.delimiter or max(_DELIMITERS, key=partial(_n_cells, line))
    record, *below = islice(records(source, delimiter), 2)
    names = without_remark([cell.strip() for cell in record.cells], len(below[0].cells) if below else 0)
    header = Header(delimiter, names, record.last_line)
    check_names(source.file, header.names)
    return header


def without_remark(names: list[str], n_cells: int) -> list[str]:
    """Return the names without a remark behind the last one, for which rows have no cell, as MQM's viewer has one."""
    return names[:-1] if n_cells == len(names) - 1 and names[-1].startswith("#") else names


def preview(source: Source, n_rows: int) -> tuple[str, list[str], list[list[str]]]:
    """Return format, columns and the first rows, reading no further."""
    header = read_header(source)
    rows = [record.cells for record in islice(records(source, header.delimiter), 1, n_rows + 1)]
    return header.format, header.names, [_shown(cells) for cells in rows]


def _shown(cells: list[str]) -> list[str]:
    """Return cells with a question mark for each byte that is not text."""
    try:
        "".join(cells).encode()
    except UnicodeEncodeError:
        return [cell.encode("utf-8", "replace").decode() for cell in cells]
    return cells


def read(
    source: Source,
    columns: Sequence[str],
    numeric: Sequence[str],
    problems: CellProblems,
    on_progress: Progress | None,
) -> Table:
    """Return the wanted columns; bad numbers are added to `problems`. Raise TableError for a malformed
    file."""
    header = read_header(source)
    places = find_columns(source.file, header.names, columns)
    if next(islice(records(source, header.delimiter), 1, 2), None) is None:
        raise no_rows(source.file)
    arrow, are_numbers = _read_arrow(source, header, places, numeric, on_progress)
    # Each is freed when it has been converted.
    text = {name: arrow_text(arrow.pop(name)) for name in columns if name not in are_numbers}
    numbers = {name: arrow_numbers(arrow.pop(name)) for name in dict.fromkeys(are_numbers)}
    keep = _rows_to_keep(source, header, text, numbers)
    if keep is not None:
        text = {name: text_column(column.codes[keep], column.labels) for name, column in text.items()}
        numbers = {name: column.take(keep) for name, column in numbers.items()}
    values = {name: column.checked(name, problems) for name, column in numbers.items()}
    return Table(
        file=source.file,
        format=header.format,
        columns=header.names,
        text=text,
        numbers=values,
        locate=partial(_locate, source, header.delimiter, keep),
    )


def _read_arrow(
    source: Source,
    header: Header,
    places: dict[str, int],
    numeric: Sequence[str],
    on_progress: Progress | None,
) -> tuple[dict[str, pa.ChunkedArray], Sequence[str]]:
    """Return the wanted columns and which of them came as numbers."""
    try:
        with utf8_path(source) as path:
            try:
                columns = _read_file(path, header, places, numeric, on_progress)
            except pa.ArrowException:
                # A cell is not a number, or the file is malformed: read as text, only the second still fails.
                numeric = ()
                columns = _read_file(path, header, places, numeric, on_progress)
            n_quotes = _n_quotes(path)
    except (pa.ArrowException, UnicodeError) as error:
        raise _malformed(source, header, str(error)) from None
    # An odd number of quotation marks may be one that is never closed and has swallowed the rest of the file.
    fault = structure_error(source, header.delimiter, header.names) if n_quotes % 2 else None
    if fault is not None:
        raise fault
    return columns, numeric


def _read_file(
    path: Path,
    header: Header,
    places: dict[str, int],
    numeric: Sequence[str],
    on_progress: Progress | None,
) -> dict[str, pa.ChunkedArray]:
    # Closed by its last owner, which after a failed read may be a thread of Arrow's.
    handle = pa.OSFile(str(path))
    work = partial(_read_handle, handle, header, places, numeric)
    table = work() if on_progress is None else _report(work, handle, path.stat().st_size, on_progress)
    return {name: table[str(place)] for name, place in places.items()}


def _read_handle(handle: pa.OSFile, header: Header, places: dict[str, int], numeric: Sequence[str]) -> pa.Table:
    text = pa.dictionary(pa.int32(), pa.string())
    # Columns go by number: a blank name may occur twice.
    return arrow_csv.read_csv(
        handle,
        arrow_csv.ReadOptions(
            block_size=BLOCK_BYTES,
            column_names=[str(place) for place in range(len(header.names))],
            skip_rows=header.n_lines,
        ),
        arrow_csv.ParseOptions(delimiter=header.delimiter, newlines_in_values=True),
        arrow_csv.ConvertOptions(
            include_columns=[str(place) for place in places.values()],
            column_types={str(place): pa.float64() if name in numeric else text for name, place in places.items()},
            null_values=[""],
            strings_can_be_null=False,
        ),
    )


def _report(work: Callable[[], pa.Table], handle: pa.OSFile, n_bytes: int, on_progress: Progress) -> pa.Table:
    # Arrow reads on its own threads; progress is reported on the caller's, which may own a database connection.
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(work)
        while wait([result], timeout=0.25).not_done:
            on_progress(min(1.0, handle.tell() / max(1, n_bytes)))
        return result.result()


@contextmanager
def utf8_path(source: Source) -> Iterator[Path]:
    """Give the file as UTF-8; raises UnicodeError if it is not what its mark says.

    Arrow gets a file, no Python object to decode from: an error in one can hang its threads (apache/arrow#43741).
    """
    if source.encoding == "utf-8":
        yield source.path
        return
    with tempfile.TemporaryDirectory(prefix="tables-") as folder:
        path = Path(folder, "utf-8")
        with (
            source.path.open(encoding=source.encoding, newline="") as old,
            path.open("w", encoding="utf-8", newline="") as new,
        ):
            shutil.copyfileobj(old, new, _CHUNK)
        yield path


def _n_quotes(path: Path) -> int:
    with path.open("rb") as handle:
        return sum(chunk.count(b'"') for chunk in iter(partial(handle.read, _CHUNK), b""))


def _n_cells(line: str, delimiter: str) -> int:
    return len(next(csv.reader([line], delimiter=delimiter), []))


def _malformed(source: Source, header: Header, reason: str) -> TableError:
    found = structure_error(source, header.delimiter, header.names)
    return found or whole_file_error(
        source.file,
        "malformed",
        f"the file cannot be read ({reason[:200]}). Save it as CSV UTF-8 and try again.",
    )


def _rows_to_keep(
    source: Source, header: Header, text: dict[str, TextColumn], numbers: dict[str, ArrowNumbers]
) -> NDArray[np.int64] | None:
    """Return the rows that have any text, or None if all have: spreadsheets export blank rows as ",,,,"."""
    masks = [column.codes == column.labels.index("") for column in text.values() if "" in column.labels]
    masks += [column.is_missing for column in numbers.values() if column.is_missing is not None]
    if len(masks) < len(text) + len(numbers):
        return None
    candidates = np.flatnonzero(np.logical_and.reduce(masks))
    if not candidates.size:
        return None
    blank = blank_rows(source, header.delimiter, set(candidates.tolist()))
    if len(blank) == masks[0].size:
        raise no_rows(source.file)
    return np.delete(np.arange(masks[0].size), blank) if blank else None


def _locate(source: Source, delimiter: str, keep: NDArray[np.int64] | None, rows: Sequence[int]) -> list[int]:
    return row_numbers(source, delimiter, rows if keep is None else keep[list(rows)].tolist())


# --- What is wrong, and on which line


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
            f"the row has {len(cells)} cells, the header has {len(names)}: {amount}. Put quotation marks around cells "
            "that hold the delimiter, or add the missing delimiters.",
            "ragged_row",
        )
    for column, cell in zip(names, cells, strict=False):
        if _UNDECODED.search(cell):
            shown = shorten(_UNDECODED.sub("\ufffd", cell[:_LONGEST_SHOWN]))
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
