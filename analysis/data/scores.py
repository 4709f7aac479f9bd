"""The scores of a file of any shape, one a row: what its columns are for, and what its cells say."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from analysis.data.choices import Choices
from analysis.data.finding import Names, check_chosen, plain_name, require_columns
from analysis.data.layout import Layout, find_layout, repeated, unfold
from analysis.data.nesting import read_nested
from analysis.data.tasks import ReadMore, take_rows
from analysis.data.tools import rows_of_criteria
from analysis.data.values import CanRead, read_values
from evalsite.lib.tables import (
    CellProblems,
    Preview,
    Problem,
    Table,
    TableError,
    TableWarning,
    TextColumn,
    preview,
    read_columns,
)
from evalsite.lib.tables.table import concatenate, numbers_of, text_column

ONE_SYSTEM = "system"
"""The system of a file that names none."""
PREVIEWED = 200
"""Rows by which the columns of a file are known."""


@dataclass(frozen=True)
class DataFile:
    """A file: its path, what a person calls it, the most bytes that are read, and who hears how much has been.

    `is_made`: it is a table that was made from a file of another tool.
    """

    path: Path
    name: str | None = None
    max_bytes: int | None = None
    on_progress: Callable[[float], None] | None = None
    is_made: bool = False

    @property
    def called(self) -> str:
        """What a person calls it."""
        return self.name or self.path.name

    def read(self, columns: Sequence[str], encoding: str | None) -> Table:
        """Return columns of the file, lists in them as JSON."""
        return read_columns(self.path, columns, self.name, encoding=encoding, lists=columns)


@dataclass(frozen=True)
class Scores:
    """What is known of scores before their file is read.

    `can_read`: what a response method reads as it is. `criteria`: what their criteria may be called; `only_these`:
    where some columns, or rows of another tool, are of these, the others are left out. `are_numbers`: scores are
    `numbers` of the table, and what is none is a problem; else they are text.
    """

    can_read: CanRead
    criteria: Collection[str] = ()
    only_these: bool = False
    are_numbers: bool = False


@dataclass(frozen=True)
class Found:
    """What was found in a file: the column of each role, and the table of these, one answer a row.

    `read_more` reads further columns of its rows, None where it has no others. `layout`: what the columns of the file
    are for, where answers are scores. `n_missing`: cells without an answer, which are no rows.
    """

    called: dict[str, str]
    table: Table
    read_more: ReadMore | None
    layout: Layout | None = None
    n_missing: int = 0

    @property
    def is_unfolded(self) -> bool:
        """Whether its rows are none of the file's own: of another tool, or of a shape with several answers in a row."""
        return self.layout is None or self.layout.is_folded

    @property
    def mapping(self) -> dict[str, Any]:
        """The file's column of each role, and `scores`, the columns that hold those of a criterion each."""
        if self.layout is None or not self.is_unfolded:
            return dict(self.called)
        own = {role: self.layout.roles[role] for role in self.called if role in self.layout.roles}
        return own | {"scores": [each.column for each in self.layout.answers]}

    def warned(self, code: str, message: str, count: int = 1) -> "Found":
        """Return the same with a warning."""
        warnings = [*self.table.warnings, TableWarning(code, message, count)]
        return replace(self, table=replace(self.table, warnings=warnings))


def joined(files: Sequence[Found]) -> Found:
    """Return the answers of several files as those of one, in columns called like their roles.

    What one file does not have is empty there.
    """
    roles = list(dict.fromkeys(role for each in files for role in each.called))
    tables = [each.table.rename({own: role for role, own in each.called.items()}) for each in files]

    def read_more(columns: Sequence[str]) -> Table:
        more = []
        for each in files:
            there = [name for name in columns if name in each.table.columns]
            more.append(each.read_more(there) if each.read_more and there else replace(each.table, text={}, numbers={}))
        return concatenate(more, columns, [each.n_rows for each in tables])

    table = concatenate(tables, roles, [each.n_rows for each in tables])
    return Found(
        {role: role for role in roles}, table, read_more, files[0].layout, sum(each.n_missing for each in files)
    )


@dataclass(frozen=True)
class Look:
    """The first rows of a file of scores and what its columns are for.

    `nested`: the whole table, where objects hold the answers of several raters.
    """

    beginning: Preview
    layout: Layout
    nested: Table | None = None


def layout_of(beginning: Preview, names: Names, choices: Choices, scores: Scores) -> Layout:
    """Return what columns are for, by first rows; raise DomainError for a chosen one that is not there."""
    if not choices.are_complete:
        check_chosen(choices.columns, names, beginning.columns)
    return find_layout(
        beginning.columns,
        beginning.rows,
        names,
        can_read=scores.can_read,
        criteria=scores.criteria,
        only_these=scores.only_these,
        choices=choices,
    )


def _beginning(table: Table) -> Preview:
    """Return the first rows of a table of text."""
    columns = [table.text[name] for name in table.columns]
    rows = [[column.labels[column.codes[row]] for column in columns] for row in range(min(PREVIEWED, table.n_rows))]
    return Preview(table.format, table.columns, rows)


@dataclass(frozen=True)
class ScoreFile:
    """A file of scores of any shape, and how it is read: `names` are what files call each column."""

    file: DataFile
    names: Names
    choices: Choices
    scores: Scores

    def look(self) -> Look:
        """Return what its columns are for, by its first rows."""
        file, encoding = self.file, self.choices.encoding
        nested = read_nested(file.path, self.scores.can_read, self.choices, file.name, file.max_bytes)
        if nested:
            beginning = _beginning(nested)
        else:
            beginning = preview(file.path, file.name, PREVIEWED, max_bytes=file.max_bytes, encoding=encoding)
        return Look(beginning, self._layout_of(beginning), nested)

    def read(self, needed: Sequence[str], problems: CellProblems) -> Found:
        """Return its scores, one a row. They are of one system if the file names none.

        Raises TableError about columns that are `needed`.
        """
        look = self.look()
        found = self._unfolded(look, needed, problems)
        if look.nested is None and set(found.table.columns) - set(look.beginning.columns):
            # In JSON a column may first occur far down; leaving out, say, the kinds would be silent and wrong.
            whole = Preview(look.beginning.format, found.table.columns, look.beginning.rows)
            layout = self._layout_of(whole)
            if layout != look.layout:
                problems.clear()
                return self._unfolded(Look(whole, layout), needed, problems)
        return found

    def with_values(self, found: Found, problems: CellProblems) -> Found:
        """Return what was found with scores as the method reads them, without missing ones.

        Raises TableError if all of them are missing.
        """
        scores, own, table, read_more = self.scores, found.called["score"], found.table, found.read_more
        is_elsewhere = found.is_unfolded or self.file.is_made
        if is_elsewhere and scores.only_these and not self.choices.answers and not problems.n:
            rows = rows_of_criteria(table, scores.criteria, found.called.get("criterion", ""))
            table, read_more = (table, read_more) if rows is None else take_rows(table, rows, read_more)
        if own in table.text:
            read, said = relabel({own: table.text[own]}, self.choices, scores.can_read)
            text, numbers = table.text | read, table.numbers
            if scores.are_numbers:
                numbers = {own: numbers_of(text.pop(own), own, problems)}
                problems.discard("missing_number", [own])
            table = replace(table, text=text, numbers=numbers, warnings=[*table.warnings, *said])
        if problems.n:
            return replace(found, table=table)
        is_missing = np.isnan(table.numbers[own]) if own in table.numbers else table.text[own].is_blank
        n_missing = int(np.count_nonzero(is_missing))
        if not n_missing:
            return replace(found, table=table, read_more=read_more)
        if n_missing == table.n_rows:
            raise TableError(table.file, [Problem(None, own, "no cell holds an answer.", "no_scores")])
        code, message = "missing", f"Missing answers, which are left out: {n_missing:,}."
        if {"response", "abstained"} <= set(table.columns):  # a campaign's own file says why there is none
            code = "unscored"
            message = f"Rows without a score were left out: {n_missing:,} answers that are no score or were not judged."
        table, read_more = take_rows(table, np.flatnonzero(~is_missing), read_more)
        return replace(found, table=table, read_more=read_more, n_missing=n_missing).warned(code, message, n_missing)

    def _layout_of(self, beginning: Preview) -> Layout:
        return layout_of(beginning, self.names, self.choices, self.scores)

    def _unfolded(self, look: Look, needed: Sequence[str], problems: CellProblems) -> Found:
        layout, nested, file = look.layout, look.nested, self.file
        said = {name: name for each in layout.answers for name in ("score", *each.says)}
        without_system = [name for name in needed if name != "system"]
        require_columns(file.called, said | dict(layout.roles), without_system, look.beginning.columns)
        _refuse_same(file, layout)
        if nested:
            table = replace(nested, text={own: nested.text[own] for own in layout.columns})
        else:
            table = self._read(layout, problems)
        called, unfolded = unfold(table, layout)
        if layout.is_folded:
            problems.unfold([each.column for each in layout.answers], "score")

        def read_more(columns: Sequence[str]) -> Table:
            more = nested or file.read(columns, self.choices.encoding)
            return replace(more, text={own: repeated(more.text[own], layout.n_answers) for own in columns})

        found = Found(called, unfolded, read_more, layout)
        return found if "system" in called or "system" not in self.names else _of_one_system(found)

    def _read(self, layout: Layout, problems: CellProblems) -> Table:
        """Return the columns of the file; those of scores as numbers, if they are."""
        warnings: list[TableWarning] = []

        def convert(columns: Mapping[str, TextColumn]) -> Mapping[str, TextColumn]:
            read, said = relabel(columns, self.choices, self.scores.can_read)
            warnings.extend(said)
            return read

        # Of a tool's table some rows are left out first: their answers may be no numbers.
        is_numeric = self.scores.are_numbers and not self.file.is_made
        numeric = [each.column for each in layout.answers] if is_numeric else []
        table = read_columns(
            self.file.path,
            layout.columns,
            self.file.name,
            numeric,
            self.file.on_progress,
            blank=numeric,
            max_bytes=self.file.max_bytes,
            encoding=self.choices.encoding,
            problems=problems,
            convert=convert,
        )
        return replace(table, warnings=[*table.warnings, *warnings])


def _refuse_same(file: DataFile, layout: Layout) -> None:
    """Raise TableError about columns of answers that say the same of them."""
    said = [tuple(map(plain_name, each.says.values())) for each in layout.answers]
    again = [each.column for place, each in enumerate(layout.answers) if said[place] in said[:place]]
    message = "another column holds the scores of the same. Choose one of them."
    if again and any(said[0]):
        raise TableError(file.called, [Problem(1, name, message, "duplicate_column") for name in again])


def _of_one_system(found: Found) -> Found:
    message = (
        "No column says which system an output is of: all are taken for one system's. If a column does, name it: "
        "“Columns that have other names” on the page, --columns system=COLUMN on the command line."
    )
    column = TextColumn(np.zeros(found.table.n_rows, np.int32), [ONE_SYSTEM])
    table = replace(found.table, text=found.table.text | {"system": column})
    return replace(found, called=found.called | {"system": "system"}, table=table).warned("one_system", message)


def relabel(
    columns: Mapping[str, TextColumn], choices: Choices, can_read: CanRead
) -> tuple[dict[str, TextColumn], list[TableWarning]]:
    """Return columns of scores with each cell as the text of its number, "" for a missing answer; and what was guessed.

    All columns of a file are read in one way.
    """
    labels = {label for column in columns.values() for label in column.labels}
    values = read_values(labels, can_read, choices)
    if not values.changed:
        return dict(columns), []
    found = {
        name: text_column(column.codes, [values.number_of(label) for label in column.labels])
        for name, column in columns.items()
    }
    return found, [TableWarning("values", values.said)] if values.said else []
