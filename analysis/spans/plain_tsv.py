"""Tab-separated text without quoting, in which a quotation mark is one: as MQM files are written."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from evalsite.lib.tables import CellProblems, Table, TextColumn, preview, read_columns
from evalsite.lib.tables.table import TextBuilder, find_columns, refuse_unstorable

# What spreadsheets and pandas write: in quotation marks only what has one, which is doubled.
_QUOTED = re.compile(r'"[^"]*""(?:[^"]|"")*"')


def read_plain(path: Path, columns: Sequence[str], encoding: str | None, problems: CellProblems) -> Table:
    """Return columns of a file as text; a TSV file is read as it is, unless its cells are quoted as in CSV.

    `problems` gathers cells that are no text. Raises TableError for everything else that is wrong with the file.
    """
    beginning = preview(path, n_rows=0, encoding=encoding)
    table = _read_lines(path, columns, encoding) if beginning.format == "tsv" else None
    if table is None:
        return read_columns(path, columns, encoding=encoding, problems=problems)
    for name, column in table.text.items():
        refuse_unstorable(column, name, problems)
    return table


def _read_lines(path: Path, columns: Sequence[str], encoding: str | None) -> Table | None:
    """Return the columns of a file whose lines all have as many cells as the first; None for any other."""
    with path.open("rb") as handle:
        if handle.read(2) in (b"\xff\xfe", b"\xfe\xff"):
            return None
    text = path.read_text(encoding=encoding or "utf-8-sig", errors="surrogateescape")
    lines = text.split("\n")
    header = [cell.strip() for cell in lines[0].split("\t")]
    places = find_columns(path.name, header, columns)
    builders = {name: TextBuilder() for name in columns}
    numbers = []
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        cells = line.split("\t")
        if len(cells) != len(header):
            return None
        for name, place in places.items():
            cell = cells[place].strip()
            if cell.startswith('"') and _QUOTED.fullmatch(cell):
                return None
            builders[name].append(cell)
        numbers.append(number)
    if not numbers:
        return None
    line_of = np.array(numbers)
    found: dict[str, TextColumn] = {name: builder.column() for name, builder in builders.items()}
    return Table(path.name, "tsv", header, found, {}, lambda rows: line_of[list(rows)].tolist())
