"""What is wrong with a table: every problem names its row and column and says how to fix it."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from evalsite.lib.errors import DomainError

MAX_SHOWN = 50
MOST_LINES = 6
_FIRST_ROWS = 5
_QUOTED = re.compile(r"“[^”]*”|[\d.,]+")
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


@dataclass(frozen=True)
class Fault:
    """The same thing that is wrong in one row or in many: `n` of them, of which `rows` are at most the first five.

    `message` says it of the first one. `rows` are empty where the whole file is meant.
    """

    rows: tuple[int, ...]
    column: str | None
    message: str
    code: str
    n: int

    @property
    def row(self) -> int | str | None:
        """The row, or the first ones and how many there are, as people read it."""
        if self.n == 1 or not self.rows:
            return self.rows[0] if self.rows else None
        shown = ", ".join(map(str, self.rows))
        return shown if self.n == len(self.rows) else f"{shown} … ({self.n:,} rows)"

    def sentence(self, file: str) -> str:
        """Return it for a person: where, what and how to fix it."""
        place = file
        if self.rows and self.n == 1:
            place += f", row {self.rows[0]}"
        if self.column is not None:
            place += f", column “{shorten(self.column)}”"
        if self.n == 1 or not self.rows:
            return f"{place}: {self.message}"
        more = " …" if self.n > len(self.rows) else ""
        return f"{place}: {self.n:,} rows ({', '.join(map(str, self.rows))}{more}). Row {self.rows[0]}: {self.message}"


class TableError(DomainError):
    """A file cannot be read as it is.

    `problems` lists at most 50 of the reasons, `n_more` counts the others; `faults` are all of them, the same fault of
    many rows as one. `file` is the name that the person knows. `code` is the code of the first problem.
    """

    def __init__(
        self,
        file: str,
        problems: Sequence[Problem],
        n_more: int = 0,
        *,
        shown: Sequence[Problem] | None = None,
        counts: Mapping[tuple[str, str | None], int] | None = None,
        every: Callable[[], Iterable[Problem]] | None = None,
    ) -> None:
        """Of more problems than are given, `shown` are the first ones of each kind, and `counts` how many there are by
        code and column; `every` lists them all."""
        self.file = file
        self.problems = list(problems[:MAX_SHOWN])
        self.n_more = n_more + len(problems) - len(self.problems)
        self.faults = _faults(problems if shown is None else shown, counts or {}, n_more)
        self._every = every or (lambda: problems)
        lines = [fault.sentence(file) for fault in self.faults[:MOST_LINES]]
        if (n_left := len(self.faults) - MOST_LINES) > 0:
            lines[-1] = f"… and {n_left + 1:,} other faults."
        super().__init__(self.problems[0].code, "\n".join(lines))

    def every(self) -> Iterator[str]:
        """Yield each problem of each row, for a person; numbering the rows may read the file once more."""
        for each in self._every():
            rows = () if each.row is None else (each.row,)
            yield Fault(rows, each.column, each.message, each.code, 1).sentence(self.file)


def _faults(problems: Sequence[Problem], counts: Mapping[tuple[str, str | None], int], n_more: int) -> list[Fault]:
    """Return problems that say the same, but for what they quote, as one, in the order of the first ones."""
    groups: dict[tuple[str, str | None, str], list[Problem]] = {}
    listed: Counter[tuple[str, str | None]] = Counter()
    for each in problems:
        # What is said of the whole file is one thing each time.
        says = each.message if each.row is None else _QUOTED.sub("", each.message)
        groups.setdefault((each.code, each.column, says), []).append(each)
        listed[each.code, each.column] += 1
    # Those that are not listed say what the first one of their column does.
    left = {key: n - listed[key] for key, n in counts.items()}
    if len(groups) == 1 and not counts:
        left = dict.fromkeys(listed, n_more)
    return [
        Fault(
            tuple(each.row for each in group if each.row is not None)[:_FIRST_ROWS],
            column,
            group[0].message,
            code,
            len(group) + left.pop((code, column), 0),
        )
        for (code, column, _), group in groups.items()
    ]


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

    def cell_places(self, rows: Rows, name: str) -> Rows:
        """Return equal numbers for rows that share a cell of a column in the file."""


Describe = Callable[[int, int | None], str]
"""Message about a data row; the second argument is the number, as seen, of the row that it disagrees with."""


@dataclass(frozen=True)
class _BadCells:
    rows: Rows
    column: str
    code: str
    describe: Describe
    others: Rows | None

    def once(self, places: Rows) -> "_BadCells":
        """Return each cell of the file once, (n,), by its place."""
        _, first = np.unique(places, return_index=True)
        if first.size == self.rows.size:
            return self
        return replace(self, rows=self.rows[first], others=None if self.others is None else self.others[first])


def _of_row(describe: Describe, n: int, row: int, other: int | None) -> str:
    return describe(row // n, other)


_Place = tuple[int, int, int]
"""A data row, a check that found something, and the place among its rows."""


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

    def unfold(self, columns: Sequence[str], name: str) -> None:
        """Make problems of a table those of another with a row for each of `columns` of each row, called `name`."""
        n, found = len(columns), list[_BadCells]()
        for bad in self._found:
            place = columns.index(bad.column) if bad.column in columns else 0
            others = None if bad.others is None else bad.others * n + place
            column = name if bad.column in columns else bad.column
            found.append(_BadCells(bad.rows * n + place, column, bad.code, partial(_of_row, bad.describe, n), others))
        self._found = found

    def rows_in(self, column: str) -> Rows:
        """Return the data rows already known to be bad in `column`."""
        return np.concatenate([np.empty(0, np.int64), *(bad.rows for bad in self._found if bad.column == column)])

    def without_known(self, rows: Rows, column: str) -> Rows:
        """Return those of `rows` whose cell in `column` is not known to be bad already, in their order."""
        return rows[~np.isin(rows, self.rows_in(column))]

    @property
    def codes(self) -> set[str]:
        """Codes of the problems."""
        return {bad.code for bad in self._found}

    @property
    def n(self) -> int:
        """Number of problems."""
        return sum(bad.rows.size for bad in self._found)

    def raise_for(self, table: RowNumbers) -> None:
        """Raise TableError if there is any problem; numbering the rows may read the file once more."""
        if not self._found:
            return
        self._found = [bad.once(table.cell_places(bad.rows, bad.column)) for bad in self._found]
        first, shown = self._first(MAX_SHOWN), self._first(_FIRST_ROWS, in_all=False)
        said = self._said(table, {*first, *shown})
        counts: dict[tuple[str, str | None], int] = {}
        for bad in self._found:
            key = bad.code, table.column_name(int(bad.rows[0]), bad.column)
            counts[key] = counts.get(key, 0) + bad.rows.size
        raise TableError(
            table.file,
            [said[place] for place in first],
            self.n - len(first),
            shown=[said[place] for place in shown],
            counts=counts,
            every=lambda: self._said(table, set(self._first(self.n))).values(),
        )

    def _first(self, n: int, *, in_all: bool = True) -> list[_Place]:
        """Return the first `n` problems, or those of each check, in the order of the rows and then of the checks."""
        places = [
            (int(row), check, k) for check, bad in enumerate(self._found) for k, row in enumerate(bad.rows[:n].tolist())
        ]
        return sorted(places)[: n if in_all else None]

    def _said(self, table: RowNumbers, places: Collection[_Place]) -> dict[_Place, Problem]:
        """Return these problems in words, in their order."""
        in_order = sorted(places)
        others = [self._found[check].others for _, check, _ in in_order]
        other = [None if rows is None else int(rows[k]) for rows, (_, _, k) in zip(others, in_order, strict=True)]
        wanted = sorted({row for row, _, _ in in_order} | {row for row in other if row is not None})
        number = dict(zip(wanted, table.row_numbers(wanted), strict=True))
        said = {}
        for (row, check, k), of in zip(in_order, other, strict=True):
            bad = self._found[check]
            message = bad.describe(row, None if of is None else number[of])
            said[row, check, k] = Problem(number[row], table.column_name(row, bad.column), message, bad.code)
        return said
