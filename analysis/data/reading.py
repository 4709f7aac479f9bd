"""A file of responses as a table of one answer a row, whatever wrote it and whichever shape it has."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from analysis.data.choices import GUESSED, Choices
from analysis.data.describing import Reading, describe
from analysis.data.identity import clean_ids, settle_twice
from analysis.data.layout import SHAPES, Layout, Shape, find_layout, repeated, unfold
from analysis.data.nesting import read_nested
from analysis.data.tasks import ReadMore, SeveralTasksError, find_tasks, of_task, take_rows, task_columns
from analysis.data.tools import Wanted, read_made, several_files
from analysis.data.values import CanRead, read_values
from analysis.ratings.finding import Names, check_chosen, find_columns, require_columns
from evalsite.lib.tables import (
    CellProblems,
    Preview,
    Problem,
    Table,
    TableError,
    TableWarning,
    TextColumn,
    if_windows,
    preview,
    read_columns,
)
from evalsite.lib.tables.table import text_column

Read = Callable[[Path, Mapping[str, str], str | None, CellProblems], Table]
"""Reads the file's columns, by what they are called here."""
ONE_SYSTEM = "system"
"""The system of a file that names none."""
PREVIEWED = 200
"""Rows by which the columns of a file are known."""


@dataclass(frozen=True)
class Scores:
    """What is known of scores before their file is read: what a response method reads as it is, and the criteria."""

    can_read: CanRead
    criteria: Collection[str] = ()


def read_found(
    path: Path,
    names: Names,
    needed: Sequence[str],
    problems: CellProblems,
    *,
    wanted: Wanted | None,
    answers: Collection[str],
    choices: Choices = GUESSED,
    read: Read | None = None,
    scores: Scores | None = None,
) -> tuple[dict[str, str], Table]:
    """Return the file's column of each of `names` that it has, and the table of these, one answer a row.

    Parameters
    ----------
    path : path of the file.
    names : what files call each column.
    needed : names without which the file is refused.
    problems : cells that are no text are added to these, and answers that stand twice.
    wanted : what is read of a file of another tool, None where no tool has it.
    answers : those of `names` that hold what was answered.
    choices : how the file is read, as far as somebody said it.
    read : reads the columns of an ordinary file.
    scores : where answers are scores, which files have in any shape; None where a row is what it is.

    Raises TableError, and DomainError for choices that the file cannot have.
    """
    encoding = if_windows(path, choices.encoding)
    read_more: ReadMore | None = None
    shape = Shape.LONG
    of_tool = {"columns": choices.columns, "items": choices.items, "more": choices.more}
    made = read_made(path, wanted, encoding=encoding, **of_tool) if wanted else None  # type: ignore[arg-type]
    if choices.more and not made:
        raise several_files()
    if made:
        called, table = {name: name for name in made.columns}, made
    elif scores is not None:
        beginning, nested = beginning_of(path, scores.can_read, encoding)
        layout = look_at(beginning, names, choices, scores)
        shape = layout.shape
        called, table, read_more = read_layout(
            path, layout, beginning, names, problems, nested=nested, encoding=encoding
        )
    else:
        there = preview(path, n_rows=0, encoding=encoding).columns
        check_chosen(choices.columns, names, there)
        called = find_columns(there, names, choices.columns)
        require_columns(path.name, called, needed, there)
        table = (read or _read)(path, called, encoding, problems)
        read_more = partial(read_further, path, encoding)
    require_columns(path.name, called, needed, table.columns)
    n_missing = 0
    if not problems.n:
        table = clean_ids(called, table)
        if scores is not None:
            n_rows = table.n_rows
            table, read_more = _with_values(called["score"], table, choices, scores.can_read, read_more)
            n_missing = n_rows - table.n_rows
        table, read_more = of_wanted_task(called, table, choices, read_more)
        table = settle_twice(called, answers, table, choices, problems, read_more)
    if choices.tell and not problems.n:
        choices.tell(describe(called, answers, table, shape=SHAPES[shape], n_missing=n_missing))
    return called, table


def of_wanted_task(
    called: Mapping[str, str], table: Table, choices: Choices, read_more: ReadMore | None
) -> tuple[Table, ReadMore | None]:
    """Return the table of the wanted task, and what reads more of it; tasks are said by columns that are read for it.

    Of all tasks, if none is wanted, sources are named within their task. Raises what `tasks.of_task` does.
    """
    columns = task_columns(table.columns, list(called.values()), choices)
    with_tasks = table
    if missing := [own for own in columns if own not in table.text]:
        if read_more is None:
            return table, None
        with_tasks = replace(table, text=table.text | read_more(missing).text)
    tasks = find_tasks(called, with_tasks, columns, is_said=bool(choices.by))
    return of_task(called, table, tasks, choices, read_more) if tasks else (table, read_more)


def _read(path: Path, called: Mapping[str, str], encoding: str | None, problems: CellProblems) -> Table:
    return read_columns(path, list(dict.fromkeys(called.values())), encoding=encoding, problems=problems)


def read_further(path: Path, encoding: str | None, columns: Sequence[str], *, name: str | None = None) -> Table:
    """Return further columns of a file, lists in them as JSON; `name` is what the person calls the file."""
    return read_columns(path, columns, name, encoding=encoding, lists=columns)


def beginning_of(
    path: Path, can_read: CanRead, encoding: str | None = None, name: str | None = None, max_bytes: int | None = None
) -> tuple[Preview, Table | None]:
    """Return the first rows of a file of scores, and its table if its objects hold the answers of several raters."""
    if nested := read_nested(path, can_read, name, max_bytes):
        return _beginning(nested), nested
    return preview(path, name, PREVIEWED, max_bytes=max_bytes, encoding=encoding), None


def read_layout(
    path: Path,
    layout: Layout,
    beginning: Preview,
    names: Names,
    problems: CellProblems,
    *,
    nested: Table | None = None,
    encoding: str | None = None,
) -> tuple[dict[str, str], Table, ReadMore]:
    """Return the scores of a file, one a row, whatever its shape, and what reads other columns of it.

    They are of one system if the file names none. `nested`: the file's table, if it has been read.
    Raises TableError where no column has scores, or workers.
    """
    columns = layout.columns
    said = {name: name for each in layout.answers for name in ("score", *each.says)}
    require_columns(path.name, said | dict(layout.roles), ("worker", "score"), beginning.columns)
    if nested:
        table = replace(nested, text={own: nested.text[own] for own in columns})
    else:
        table = read_columns(path, columns, encoding=encoding, problems=problems)
    called, unfolded = unfold(table, layout)

    def read_more(columns: Sequence[str]) -> Table:
        more = nested or read_further(path, encoding, columns)
        return replace(more, text={own: repeated(more.text[own], layout.n_answers) for own in columns})

    if "system" in names and "system" not in called:
        called["system"], unfolded = "system", _of_one_system(unfolded)
    return called, unfolded, read_more


def look_at(beginning: Preview, names: Names, choices: Choices, scores: Scores) -> Layout:
    """Return what the columns of a file of scores are for, by its first rows."""
    check_chosen(choices.columns, names, beginning.columns)
    return find_layout(
        beginning.columns,
        beginning.rows,
        names,
        can_read=scores.can_read,
        criteria=scores.criteria,
        chosen=choices.columns,
        shape=choices.shape,
    )


def _beginning(table: Table) -> Preview:
    """Return the first rows of a table of text."""
    columns = [table.text[name] for name in table.columns]
    rows = [[column.labels[column.codes[row]] for column in columns] for row in range(min(PREVIEWED, table.n_rows))]
    return Preview(table.format, table.columns, rows)


def _of_one_system(table: Table) -> Table:
    message = (
        "No column says which system an output is of: all are taken for one system's. If a column does, name it: "
        "--columns system=COLUMN on the command line."
    )
    column = TextColumn(np.zeros(table.n_rows, np.int32), [ONE_SYSTEM])
    warnings = [*table.warnings, TableWarning("one_system", message)]
    return replace(table, text=table.text | {"system": column}, warnings=warnings)


def _with_values(
    score: str, table: Table, choices: Choices, can_read: CanRead, read_more: ReadMore | None
) -> tuple[Table, ReadMore | None]:
    """Return the table with scores as the method reads them, without missing ones, and what reads more of it.

    Raises TableError if all of them are missing.
    """
    read, said = relabel({score: table.text[score]}, choices, can_read)
    column = read[score]
    table = replace(table, text=table.text | read, warnings=[*table.warnings, *said])
    if "" not in column.labels:
        return table, read_more
    is_missing = column.codes == column.labels.index("")
    if is_missing.all():
        raise TableError(table.file, [Problem(None, score, "no cell holds an answer.", "no_scores")])
    warnings = [*table.warnings, missing_answers(int(np.count_nonzero(is_missing)))]
    return take_rows(replace(table, warnings=warnings), np.flatnonzero(~is_missing), read_more)


def missing_answers(n: int) -> TableWarning:
    """Return what is said of cells without an answer."""
    return TableWarning("missing", f"Missing answers, which are left out: {n:,}.")


def relabel(
    columns: Mapping[str, TextColumn], choices: Choices, can_read: CanRead
) -> tuple[dict[str, TextColumn], list[TableWarning]]:
    """Return columns of scores with each cell as the text of its number, "" for a missing answer; and what was guessed.

    All columns of a file are read in one way.
    """
    labels = {label for column in columns.values() for label in column.labels}
    values = read_values(labels, can_read, words=choices.words, missing=choices.missing)
    found = {
        name: text_column(column.codes, [values.number_of[label] for label in column.labels])
        for name, column in columns.items()
    }
    return found, [TableWarning("values", values.said)] if values.said else []


@dataclass(frozen=True)
class LongTable:
    """Scores of one task of a file, one a row, in columns with the names used here; `task` is "" if it has no other."""

    task: str
    table: Table
    reading: Reading


def read_long(path: Path, names: Names, choices: Choices, scores: Scores, name: str | None = None) -> list[LongTable]:
    """Return the scores of a file as tables that need no choices and no guesses any more, one for each task.

    Raises what `read_found` does, and TableError for cells that are no scores and for answers that stand twice.
    """

    def read(choices: Choices, task: str) -> LongTable:
        problems, heard = CellProblems(), list[Reading]()
        called, table = read_found(
            *(path, names, ("worker", "system", "score"), problems),
            wanted=None,
            answers=("score",),
            choices=replace(choices, tell=heard.append),
            scores=scores,
        )
        problems.raise_for(table)
        if "source" not in called and "document" in called:
            called["source"] = called.pop("document")
        roles = [role for role in names if role in called]
        text = {role: table.text[called[role]] for role in roles}
        return LongTable(task, replace(table, columns=roles, text=text), heard[0])

    try:
        return [read(choices, "")]
    except SeveralTasksError as error:
        return [read(replace(choices, task=task), task) for task in error.tasks]
