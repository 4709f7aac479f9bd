"""The one way in for tabular data."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

from evalsite.lib.tables.errors import CellProblems, TableError
from evalsite.lib.tables.formats import WINDOWS_1252, Format, NotUtf8Error, Opening, Source, open_source, windows_lines
from evalsite.lib.tables.table import Progress, Table, TextColumn, numbers_of, refuse_unstorable

Convert = Callable[[Mapping[str, TextColumn]], Mapping[str, TextColumn]]
# Of the others every cell is one value.
_WITH_LISTS: frozenset[Format] = frozenset({"jsonl", "parquet"})


@dataclass(frozen=True)
class Preview:
    """The beginning of a table as text: `format` is csv, tsv, jsonl, xlsx or parquet."""

    format: str
    columns: list[str]
    rows: list[list[str]]


def preview(
    path: str | Path,
    name: str | None = None,
    n_rows: int = 20,
    *,
    max_bytes: int | None = None,
    encoding: str | None = None,
) -> Preview:
    """Return the columns and the first rows of a file of any size, reading little more than that.

    `name` is what the person calls the file, `encoding` that of a text file without a mark. Raises TableError if it is
    no table, NotUtf8Error if its header may be Windows-1252. JSON: the columns are those of the rows shown.
    """
    source = open_source(path, name, max_bytes, encoding)
    with _encoding_explained(source):
        return Preview(*_reader(source.format).preview(source, n_rows))


def lines_if_windows(path: str | Path, name: str | None = None) -> list[str]:
    """Return some lines of a CSV file that is not UTF-8 and may be Windows-1252, read so; [] for any other.

    Reads the whole file. Raises TableError if it is of no kind that is read here.
    """
    return windows_lines(open_source(path, name))


def if_windows(path: str | Path, encoding: str | None) -> str | None:
    """Return the encoding for a CSV file that is not UTF-8 and may be Windows-1252, None for any other.

    Of an `Opening` the rest stays.
    """
    if encoding == WINDOWS_1252 and lines_if_windows(path):
        return encoding
    return Opening(delimiter=encoding.delimiter, sheet=encoding.sheet) if isinstance(encoding, Opening) else None


def read_columns(
    path: str | Path,
    columns: Sequence[str],
    name: str | None = None,
    numeric: Sequence[str] = (),
    on_progress: Progress | None = None,
    *,
    blank: Collection[str] = (),
    lists: Collection[str] = (),
    max_bytes: int | None = None,
    encoding: str | None = None,
    problems: CellProblems | None = None,
    convert: Convert | None = None,
) -> Table:
    """Return the wanted columns of a CSV, TSV, JSON, Excel or Parquet file.

    Parameters
    ----------
    path : path of the file; what it is follows from its content, not from its name.
    columns : names of the wanted columns.
    name : what the person calls the file; the path's last part by default.
    numeric : those of `columns` that hold numbers; the others come as text.
    on_progress : called now and then, on the caller's thread, with the share read, 0–1.
    blank : those of `numeric` in which an empty cell is NaN; in the others it is a bad cell.
    lists : those of `columns` in which a list or an object is read as its JSON text; in the others it is a bad cell.
    max_bytes : a larger file is refused; None: no limit.
    encoding : that of a text file without a mark; UTF-8 by default.
    problems : gathers bad cells for the caller to raise with its own; by default they are raised here.
    convert : turns those of `numeric` with cells that are no numbers into text of numbers, all at once.

    Raises
    ------
    TableError
        For everything that can be wrong with a file, with row, column and how to fix it.
    NotUtf8Error
        For a CSV file that is not UTF-8 and may be Windows-1252: one problem, and some lines read so.
    """
    unknown = set(numeric) - set(columns)
    if unknown or not columns:
        raise ValueError(f"numeric columns must be among the wanted ones, of which there is at least one: {unknown}")
    source = open_source(path, name, max_bytes, encoding)
    found = CellProblems() if problems is None else problems
    options = {"lists": lists} if source.format in _WITH_LISTS else {}
    with _encoding_explained(source):
        read = _reader(source.format).read
        table: Table = read(source, list(dict.fromkeys(columns)), numeric, found, on_progress, **options)
    unread = {column: table.text.pop(column) for column in numeric if column not in table.numbers}
    for column, cells in (convert(unread) if convert and unread else unread).items():
        table.numbers[column] = numbers_of(cells, column, found)
    found.discard("missing_number", blank)
    for column, cells in table.text.items():
        refuse_unstorable(cells, column, found)
    if problems is None:
        found.raise_for(table)
    if on_progress is not None:
        on_progress(1.0)
    return table


_READERS: dict[Format, str] = {"delimited": "delimited", "jsonl": "json_lines", "xlsx": "excel", "parquet": "parquet"}


def _reader(format: Format) -> ModuleType:
    """Return the module of a format; their libraries are large, so each is imported with its first file."""
    return import_module(f"{__package__}.{_READERS[format]}")


@contextmanager
def _encoding_explained(source: Source) -> Iterator[None]:
    """Turn errors about single cells that are not UTF-8 into one about the file, if it may be Windows-1252."""
    try:
        yield
    except TableError as error:
        if any(problem.code == "encoding" for problem in error.problems) and (lines := windows_lines(source)):
            raise NotUtf8Error(source.file, lines) from None
        raise
