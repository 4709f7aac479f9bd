"""CSV, TSV and their cousins: fast when the file is right, exact about lines when it is not."""

import csv
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv as arrow_csv

from evalsite.lib.tables import delimited_faults as faults
from evalsite.lib.tables.arrow_columns import ArrowNumbers, arrow_numbers, arrow_text
from evalsite.lib.tables.errors import CellProblems, TableError, whole_file_error
from evalsite.lib.tables.formats import Source
from evalsite.lib.tables.header import check_names, find_columns, no_rows
from evalsite.lib.tables.table import Progress, Table, TextColumn, numbers_of, text_column

_CHUNK = 1 << 20
_DELIMITERS = "\t;,|"


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
            line = handle.readline(faults.BLOCK_BYTES)
    if not line:
        raise whole_file_error(source.file, "empty_file", "the file holds only blank lines. Export it again.")
    delimiter = max(_DELIMITERS, key=partial(_n_cells, line))
    record = next(faults.records(source, delimiter))
    header = Header(delimiter, [cell.strip() for cell in record.cells], record.last_line)
    check_names(source.file, header.names)
    return header


def preview(source: Source, n_rows: int) -> tuple[str, list[str], list[list[str]]]:
    """Return format, columns and the first rows, reading no further."""
    header = read_header(source)
    rows = [record.cells for record in islice(faults.records(source, header.delimiter), 1, n_rows + 1)]
    shown = [[cell.encode("utf-8", "replace").decode() for cell in cells] for cells in rows]
    return header.format, header.names, shown


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
    if next(islice(faults.records(source, header.delimiter), 1, 2), None) is None:
        raise no_rows(source.file)
    arrow, are_numbers = _read_arrow(source, header, places, numeric, on_progress)
    text = {name: arrow_text(arrow[name]) for name in columns if name not in are_numbers}
    numbers = {name: arrow_numbers(arrow[name]) for name in are_numbers}
    del arrow
    keep = _rows_to_keep(source, header, text, numbers)
    if keep is not None:
        text = {name: text_column(column.codes[keep], column.labels) for name, column in text.items()}
        numbers = {name: column.take(keep) for name, column in numbers.items()}
    values = {name: column.checked(name, problems) for name, column in numbers.items()}
    values |= {name: numbers_of(text.pop(name), name, problems) for name in numeric if name not in values}
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
        with _utf8_path(source) as path:
            try:
                columns = _read_file(path, header, places, numeric, on_progress)
            except pa.ArrowException:
                # A cell is no number, or the file is malformed: read as text, only the second still fails.
                numeric = ()
                columns = _read_file(path, header, places, numeric, on_progress)
            n_quotes = _n_quotes(path)
    except (pa.ArrowException, UnicodeError) as error:
        raise _malformed(source, header, str(error)) from None
    # An odd number of quotation marks may be one that is never closed and has swallowed the rest of the file.
    fault = faults.structure_error(source, header.delimiter, header.names) if n_quotes % 2 else None
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
            block_size=faults.BLOCK_BYTES,
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
    # Arrow reads on its own threads; progress is told on the caller's, which may own a database connection.
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(work)
        while wait([result], timeout=0.25).not_done:
            on_progress(min(1.0, handle.tell() / max(1, n_bytes)))
        return result.result()


@contextmanager
def _utf8_path(source: Source) -> Iterator[Path]:
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
    found = faults.structure_error(source, header.delimiter, header.names)
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
    blank = faults.blank_rows(source, header.delimiter, set(candidates.tolist()))
    if len(blank) == masks[0].size:
        raise no_rows(source.file)
    return np.delete(np.arange(masks[0].size), blank) if blank else None


def _locate(source: Source, delimiter: str, keep: NDArray[np.int64] | None, rows: Sequence[int]) -> list[int]:
    return faults.row_numbers(source, delimiter, rows if keep is None else keep[list(rows)].tolist())
