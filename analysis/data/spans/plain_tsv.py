"""Tab-separated text without quoting, in which a quotation mark is one: as MQM files are written."""

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from evalsite.lib.tables import CellProblems, Table, read_columns
from evalsite.lib.tables.formats import open_source
from evalsite.lib.tables.table import refuse_unstorable

# What spreadsheets and pandas write: in quotation marks only what has one, which is doubled.
_QUOTED = re.compile(r'"[^"]*""(?:[^"]|"")*"')


def read_plain(
    path: Path,
    columns: Sequence[str],
    encoding: str | None,
    problems: CellProblems,
    without_codes: Collection[str] = (),
) -> Table:
    """Return columns of a file as text; a TSV file is read as it is, unless its cells are quoted as in CSV.

    Those of a TSV file that are `without_codes` are the table's `cells`, where most are different. `problems` gathers
    cells that are no text. Raises TableError for everything else that is wrong with the file.
    """
    table = _read_tsv(path, columns, encoding, without_codes)
    if table is None or any(map(_QUOTED.fullmatch, _begun_by_quotation_marks(table))):
        return read_columns(path, columns, encoding=encoding, problems=problems)
    for name, column in table.text.items():
        refuse_unstorable(column, name, problems)
    return table


def _read_tsv(path: Path, columns: Sequence[str], encoding: str | None, without_codes: Collection[str]) -> Table | None:
    """Return the columns of a tab-separated file; None for any other, and where lines differ in their cells."""
    from evalsite.lib.tables import delimited, unquoted

    source = open_source(path, encoding=encoding)
    if source.format != "delimited" or delimited.read_header(source).format != "tsv":
        return None
    return unquoted.read(source, columns, without_codes)


def _begun_by_quotation_marks(table: Table) -> Iterator[str]:
    from pyarrow import compute

    for column in table.text.values():
        yield from (label for label in column.labels if label[:1] == '"')
    for cells in table.cells.values():
        yield from cells.filter(compute.starts_with(cells, '"')).to_pylist()
