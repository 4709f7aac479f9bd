"""Tab-separated text without quoting, in which a quotation mark is one: as MQM files are written."""

import re
from collections.abc import Sequence
from pathlib import Path

from evalsite.lib.tables import CellProblems, Table, read_columns
from evalsite.lib.tables.formats import open_source
from evalsite.lib.tables.table import refuse_unstorable

# What spreadsheets and pandas write: in quotation marks only what has one, which is doubled.
_QUOTED = re.compile(r'"[^"]*""(?:[^"]|"")*"')


def read_plain(path: Path, columns: Sequence[str], encoding: str | None, problems: CellProblems) -> Table:
    """Return columns of a file as text; a TSV file is read as it is, unless its cells are quoted as in CSV.

    `problems` gathers cells that are no text. Raises TableError for everything else that is wrong with the file.
    """
    table = _read_tsv(path, columns, encoding)
    if table is None or any(_is_quoted(column.labels) for column in table.text.values()):
        return read_columns(path, columns, encoding=encoding, problems=problems)
    for name, column in table.text.items():
        refuse_unstorable(column, name, problems)
    return table


def _read_tsv(path: Path, columns: Sequence[str], encoding: str | None) -> Table | None:
    """Return the columns of a tab-separated file; None for any other, and where lines differ in their cells."""
    from evalsite.lib.tables import delimited, unquoted

    source = open_source(path, encoding=encoding)
    if source.format != "delimited" or delimited.read_header(source).format != "tsv":
        return None
    return unquoted.read(source, columns)


def _is_quoted(labels: Sequence[str]) -> bool:
    return any(_QUOTED.fullmatch(label) for label in labels if label.startswith('"'))
