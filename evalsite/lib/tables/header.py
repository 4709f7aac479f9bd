"""Column names: none twice, none missing."""

import re
from collections.abc import Sequence

from evalsite.lib.tables.errors import Problem, TableError, listing

_MAX_COLUMNS = 16_384
# NUL and halves of surrogate pairs: no database stores them.
_NOT_TEXT = re.compile("[\x00\ud800-\udfff]")
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?")


def check_names(file: str, names: Sequence[str]) -> None:
    """Raise TableError if the header is blank, a name occurs twice or a name is not text."""
    if not any(names):
        raise TableError(
            file, [Problem(1, None, "the header is blank. Write the columns' names into row 1.", "no_header")]
        )
    if len(names) > _MAX_COLUMNS:
        message = (
            f"there are {len(names):,} columns, and at most {_MAX_COLUMNS:,} are read. Leave out what is no rating."
        )
        raise TableError(file, [Problem(1, None, message, "too_many_columns")])
    problems = []
    places: dict[str, int] = {}
    for place, name in enumerate(names, start=1):
        if name and (first := places.setdefault(name, place)) != place:
            message = f"columns {first} and {place} have the same name. Rename or delete one of them."
            problems.append(Problem(1, name, message, "duplicate_column"))
        if _NOT_TEXT.search(name):
            shown = _NOT_TEXT.sub("\ufffd", name)
            message = "the name holds bytes that are no text. Save the file as UTF-8, or type the name again."
            problems.append(Problem(1, shown, message, "encoding"))
    if problems:
        raise TableError(file, problems)


def find_columns(file: str, names: Sequence[str], wanted: Sequence[str]) -> dict[str, int]:
    """Return the place, from 0, of each wanted column; raise TableError that lists the columns there are."""
    missing = [name for name in wanted if name not in names]
    if missing:
        raise TableError(file, [missing_column(name, names) for name in missing])
    return {name: names.index(name) for name in wanted}


def no_rows(file: str) -> TableError:
    """Return the error of a file with nothing below its header."""
    return TableError(file, [Problem(1, None, "there are no rows below the header. Export the file again.", "no_rows")])


def missing_column(name: str, names: Sequence[str]) -> Problem:
    """Return the problem of a column that is not there."""
    there = listing(name for name in names if name)
    if any(_NUMBER.fullmatch(name) for name in names):
        mend = f"Row 1 looks like data ({there}): write the columns' names above it."
    elif len(names) == 1:
        mend = f"The only column is {there}: separate columns by a comma, a semicolon or a tab."
    else:
        mend = f"The columns are {there}: rename one of them or choose which one is meant."
    return Problem(1, name, f"there is no column “{name}”. {mend}", "missing_column")
