"""What is wrong with a table: every problem names its row and column and says how to fix it."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from evalsite.lib.errors import DomainError

MAX_SHOWN = 50
# PostgreSQL keeps no NUL, and a terminal obeys others.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong.

    `row` is the row as a person sees it: the line of a text file on which the record starts, the row number
    of a spreadsheet; the header is row 1. None where the whole file is meant. `message` says what is wrong
    and how to fix it; `code` is stable.
    """

    row: int | None
    column: str | None
    message: str
    code: str


class TableError(DomainError):
    """A file cannot be read as it is; `problems` lists at most 50 of the reasons, `n_more` counts the others.

    `file` is the name that the person knows. `code` is the code of the first problem.
    """

    def __init__(self, file: str, problems: Sequence[Problem], n_more: int = 0) -> None:
        self.file = file
        self.problems = list(problems[:MAX_SHOWN])
        self.n_more = n_more + len(problems) - len(self.problems)
        lines = [_sentence(file, problem) for problem in self.problems]
        if self.n_more:
            lines.append(f"… and {self.n_more:,} more.")
        super().__init__(self.problems[0].code, "\n".join(lines))


def whole_file_error(file: str, code: str, message: str) -> TableError:
    """Return the error of one problem that no row or column can be named for."""
    return TableError(file, [Problem(None, None, message, code)])


def shorten(text: str, limit: int = 40) -> str:
    """Return `text` on one line, cut to `limit` characters; what is not text in it becomes a question mark."""
    line = _CONTROL.sub("?", " ".join(text[: 4 * limit].encode("utf-8", "replace").decode().split()))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def listing(names: Iterable[str], limit: int = 30) -> str:
    """Return names in quotation marks, separated by commas; at most `limit` of them."""
    quoted = [f"“{shorten(name)}”" for name in names]
    rest = len(quoted) - limit
    return ", ".join(quoted[:limit]) + (f" and {rest:,} more" if rest > 0 else "")


class RowNumbers(Protocol):
    """Anything that turns data rows, counted from 0, and columns into what a person sees."""

    @property
    def file(self) -> str:
        """The name that the person knows."""

    def row_numbers(self, rows: Sequence[int]) -> list[int]:
        """Return the number that a person sees for each data row."""

    def column_name(self, row: int, name: str) -> str:
        """Return the name that a person sees for the column of a data row."""


Describe = Callable[[int, int | None], str]
"""Message about a data row; the second argument is the number, as seen, of the row that it disagrees with."""


@dataclass(frozen=True)
class _BadCells:
    rows: Rows
    column: str
    code: str
    describe: Describe
    others: Rows | None

    def without(self, rows: Rows) -> "_BadCells":
        """Return the cells of other rows."""
        is_left = ~np.isin(self.rows, rows)
        return replace(self, rows=self.rows[is_left], others=None if self.others is None else self.others[is_left])


@dataclass
class CellProblems:
    """Problems by data row, gathered by every check so that a person sees them all at once, in the order
    of the file."""

    _found: list[_BadCells] = field(default_factory=list)

    def add(
        self,
        rows: NDArray[np.integer],
        column: str,
        code: str,
        describe: Describe,
        others: Rows | None = None,
    ) -> None:
        """Add one problem for each of `rows` (ascending, from 0); `others` are the rows that they
        disagree with."""
        if rows.size:
            self._found.append(_BadCells(rows.astype(np.int64), column, code, describe, others))

    def clear(self) -> None:
        """Forget every problem, before the same cells are checked again."""
        self._found.clear()

    def discard(self, code: str, columns: Collection[str]) -> None:
        """Forget the problems with a code in some columns."""
        self._found = [bad for bad in self._found if bad.code != code or bad.column not in columns]

    def take_rows(self, code: str, column: str) -> Rows:
        """Return the data rows with a code in a column, and forget whatever is wrong with these rows."""
        taken = [bad.rows for bad in self._found if (bad.code, bad.column) == (code, column)]
        rows = np.unique(np.concatenate([np.empty(0, np.int64), *taken]))
        self._found = [left for bad in self._found if (left := bad.without(rows)).rows.size]
        return rows

    def rows_in(self, column: str) -> Rows:
        """Return the data rows already known to be bad in `column`."""
        return np.concatenate([np.empty(0, np.int64), *(bad.rows for bad in self._found if bad.column == column)])

    @property
    def n(self) -> int:
        """Number of problems."""
        return sum(bad.rows.size for bad in self._found)

    def raise_for(self, table: RowNumbers) -> None:
        """Raise TableError if there is any problem; numbering the rows may read the file once more."""
        if not self._found:
            return
        # Sorting is stable: problems of one row keep the order of the checks.
        first = sorted(
            ((int(bad.rows[i]), bad, i) for bad in self._found for i in range(min(bad.rows.size, MAX_SHOWN))),
            key=lambda found: found[0],
        )[:MAX_SHOWN]
        needed = {row for row, _, _ in first}
        needed.update(int(bad.others[i]) for _, bad, i in first if bad.others is not None)
        wanted = sorted(needed)
        number = dict(zip(wanted, table.row_numbers(wanted), strict=True))
        problems = []
        for row, bad, i in first:
            other = None if bad.others is None else number[int(bad.others[i])]
            problems.append(
                Problem(number[row], table.column_name(row, bad.column), bad.describe(row, other), bad.code)
            )
        raise TableError(table.file, problems, self.n - len(problems))


def _sentence(file: str, problem: Problem) -> str:
    place = file
    if problem.row is not None:
        place += f", row {problem.row}"
    if problem.column is not None:
        place += f", column “{shorten(problem.column)}”"
    return f"{place}: {problem.message}"
