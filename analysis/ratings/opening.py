"""A file of responses as a table: of another tool, or with columns that are found by their names."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from analysis.data.tools import Wanted, read_made
from analysis.ratings.finding import Names, check_chosen, find_columns, require_columns
from evalsite.lib.tables import CellProblems, Table, if_windows, preview, read_columns

Read = Callable[[Path, Mapping[str, str], str | None, CellProblems], Table]
"""Reads the file's columns, by what they are called here."""


def read_found(
    path: Path,
    names: Names,
    needed: Sequence[str],
    problems: CellProblems,
    *,
    wanted: Wanted | None,
    encoding: str | None = None,
    columns: Mapping[str, str] | None = None,
    items: Path | None = None,
    read: Read | None = None,
) -> tuple[dict[str, str], Table]:
    """Return the file's column of each of `names` that it has, and the table of these.

    `needed`: names without which the file is refused. `wanted`: what is read of a file of another tool, None where no
    tool has it. `columns`: the columns that somebody named; `items`: the file of what was annotated. `read` reads the
    columns of an ordinary file. Cells that are no text are added to `problems`.

    Raises TableError, and DomainError `bad_columns`.
    """
    made = wanted and read_made(path, wanted, encoding=encoding, columns=columns, items=items)
    if made:
        require_columns(path.name, {name: name for name in made.columns}, needed, made.columns)
        return {name: name for name in made.columns}, made
    encoding = if_windows(path, encoding)
    there = preview(path, n_rows=0, encoding=encoding).columns
    check_chosen(columns or {}, names, there)
    called = find_columns(there, names, columns)
    require_columns(path.name, called, needed, there)
    return called, (read or _read)(path, called, encoding, problems)


def _read(path: Path, called: Mapping[str, str], encoding: str | None, problems: CellProblems) -> Table:
    return read_columns(path, list(dict.fromkeys(called.values())), encoding=encoding, problems=problems)
