"""Tables made of the files of other tools: columns with the names used here, rows and cells named as in the file."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from analysis.data.finding import plain_name
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import Problem, Table, TableError, TableWarning
from evalsite.lib.tables.errors import MAX_SHOWN, listing, shorten
from evalsite.lib.tables.table import TextBuilder, check_names

Row = Mapping[str, str]


class Wanted(StrEnum):
    """What is read of a file."""

    SCORES = "scores"
    SPANS = "marked errors"
    VOTES = "votes"


COLUMNS: Mapping[Wanted, tuple[str, ...]] = {
    Wanted.SCORES: (
        *("worker", "assignment", "hit", "position", "document", "source", "system", "kind", "criterion", "score"),
    ),
    Wanted.SPANS: (
        *("system", "doc", "seg_id", "rater", "source", "target", "category", "severity"),
        *("side", "start", "end"),
    ),
    Wanted.VOTES: ("worker", "source", "system_a", "system_b", "winner"),
}
"""The columns of made tables. Of marked errors `start` and `end` are characters of the text of `side`, which is
`target`, `source` or "" for an error of the output as a whole."""

NO_ERROR: Row = {"category": "No-error", "severity": "No-error", "side": "", "start": "", "end": ""}
"""What the row of an output without errors says."""


_AS_HERE: Row = {}


class _Rows:
    """Rows of one table as they are found."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.builders = {name: TextBuilder() for name in columns}
        self.used: set[str] = set()
        self.numbers: list[int] = []
        self.called: list[Row] = []
        self._same: dict[tuple[tuple[str, str], ...], Row] = {}

    def add(self, number: int, cells: Row, called: Row) -> None:
        for name, builder in self.builders.items():
            builder.append(cells.get(name, ""))
        self.used |= cells.keys()
        self.numbers.append(number)
        if self.called and self.called[-1] is not called:
            called = self._same.setdefault(tuple(called.items()), called)
        self.called.append(called)

    def table(self, file: str, warnings: list[TableWarning]) -> Table:
        columns = [name for name in self.builders if name in self.used]
        text = {name: self.builders[name].column() for name in columns}
        return Table(
            file,
            "made",
            columns,
            text,
            {},
            lambda rows: [self.numbers[row] for row in rows],
            warnings,
            lambda row, name: self.called[row].get(name, name),
        )


@dataclass
class Made:
    """What was found in a file of another tool: rows of each kind of table, problems and warnings.

    Problems are gathered and raised together by `table`. `answer`: the criterion whose answers are wanted, "" for all.
    """

    file: str
    tool: str
    answer: str = ""
    problems: list[Problem] = field(default_factory=list)
    _warnings: list[tuple[Wanted | None, TableWarning]] = field(default_factory=list)
    _rows: dict[Wanted, _Rows] = field(default_factory=dict)

    def add(self, wanted: Wanted, number: int, cells: Row, called: Row | None = None) -> None:
        """Add a row; `number` is the one that a person sees, `called` the file's names of its cells."""
        if wanted not in self._rows:
            self._rows[wanted] = _Rows(COLUMNS[wanted])
        self._rows[wanted].add(number, cells, _AS_HERE if called is None else called)

    def refuse(self, number: int | None, column: str | None, code: str, message: str) -> None:
        """Add a problem."""
        self.problems.append(Problem(number, column, message, code))

    def warn(self, code: str, message: str, wanted: Wanted | None = None) -> None:
        """Add a warning, once; `wanted` are the rows that it is about, None: all."""
        if (warning := (wanted, TableWarning(code, message))) not in self._warnings:
            self._warnings.append(warning)

    def table(self, wanted: Wanted) -> Table:
        """Return the rows of a kind; raise TableError for the problems of the file, and where there are none.

        Raises DomainError `bad_columns` if there are no answers to the criterion that is wanted.
        """
        if self.problems:
            raise TableError(self.file, self.problems[:MAX_SHOWN], max(0, len(self.problems) - MAX_SHOWN))
        if wanted not in self._rows:
            there = " and ".join(self._rows) or "no responses"
            message = (
                f"this is a file of {self.tool} with {there}, and {wanted} are needed. Choose another protocol, or "
                "export another task."
            )
            raise TableError(self.file, [Problem(None, None, message, "no_responses")])
        warnings = [warning for about, warning in self._warnings if about in (None, wanted)]
        table = self._rows[wanted].table(self.file, warnings)
        return self._answers(table) if self.answer else table

    def _answers(self, table: Table) -> Table:
        there = table.text["criterion"].labels if "criterion" in table.text else []
        if self.answer not in there:
            message = f"There are no answers to “{shorten(self.answer)}”, but to {listing(there)}."
            raise DomainError("bad_columns", message)
        rows = rows_of_criteria(table, {self.answer})
        return table if rows is None else table.take(rows)

    def has(self, wanted: Wanted) -> bool:
        """Return whether there are rows of a kind."""
        return wanted in self._rows


@dataclass(frozen=True)
class Beginning:
    """The beginning of a file: its first record, where it is JSON, or its first rows as they are."""

    path: Path
    file: str
    encoding: str | None = None
    max_bytes: int | None = None
    is_array: bool = False
    record: Mapping[str, object] | None = None
    rows: Sequence[Sequence[str]] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    items: Path | None = None
    more: Sequence[Path] = ()
    """`columns`: the file's columns that somebody named, by what they are. `items`: the file of what was annotated.
    `more`: further files of the same kind, such as those of other annotators."""

    @property
    def header(self) -> Sequence[str]:
        """The first row."""
        return [cell.strip() for cell in self.rows[0]] if self.rows else []

    def files(self) -> Iterator["Beginning"]:
        """Yield this file and the further ones, of which only path and name are known."""
        yield self
        for path in self.more:
            yield replace(self, path=path, file=path.name, more=())


def cells_of(table: Table, names: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the row number and the cells of each row of a table of text."""
    check_names(table.file, table.columns)
    numbers = table.row_numbers(range(table.n_rows))
    columns = {name: table.text[name] for name in names}
    for row, number in enumerate(numbers):
        yield number, {name: column.labels[column.codes[row]] for name, column in columns.items()}


def rows_of_criteria(table: Table, criteria: Collection[str], name: str = "criterion") -> NDArray[np.intp] | None:
    """Return the rows of these criteria, which the column `name` of a table has; None for all, as if none is one."""
    column = table.text.get(name)
    if column is None:
        return None
    wanted = {name for each in criteria for name in (each.strip().casefold(), plain_name(each))} - {""}
    is_known = np.array([label.casefold() in wanted or plain_name(label) in wanted for label in column.labels])
    if not is_known.any() or is_known.all():
        return None
    others = listing(label for label, known in zip(column.labels, is_known, strict=True) if not known)
    message = f"Answers to other criteria, which are left out: {others}."
    table.warnings.append(TableWarning("other_criteria", message))
    return np.flatnonzero(is_known[column.codes])
