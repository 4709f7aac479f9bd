"""A file of responses as a table of one answer a row, whatever wrote it and whichever shape it has."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from analysis.data.choices import GUESSED, Choices
from analysis.data.describing import Reading, describe
from analysis.data.finding import Names, check_chosen, find_columns, plain_name, require_columns
from analysis.data.identity import clean_ids, settle_twice
from analysis.data.layout import SHAPES, Shape
from analysis.data.scores import DataFile, Found, ScoreFile, Scores, joined
from analysis.data.tasks import ReadMore, SeveralTasksError, find_tasks, of_task, take_rows, task_columns
from analysis.data.tools import Wanted, read_made
from campaigns.design.composition import KINDS, Kind
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import (
    CellProblems,
    Problem,
    Table,
    TableError,
    TableWarning,
    TextColumn,
    preview,
    read_columns,
)
from evalsite.lib.tables.errors import listing, shorten

Read = Callable[[Path, Mapping[str, str], str | None, CellProblems], Table]
"""Reads the file's columns, by what they are called here."""
_TUTORIAL = Kind.TUTORIAL.name.lower()
_NO_GROUPS = (
    *("worker", "rater", "system", "system_a", "system_b", "criterion"),
    *("score", "winner", "rank", "best", "worst", "value", "answer", "present", "missing", "edited"),
)


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
    beside: Callable[[Sequence[str]], Collection[str]] | None = None,
) -> tuple[dict[str, str], Table]:
    """Return the file's column of each of `names` that it has, and the table of these, each answer once.

    `answers`: those of `names` that hold what was answered; those that stand twice are added to `problems`. `beside`
    chooses further columns that are read as they are, of those that have no other use; one that cannot be read is left
    out. Others are as of `read_answers`, which raises the same errors.
    """
    found = read_answers(
        DataFile(path), names, needed, problems, wanted=wanted, choices=choices, read=read, scores=scores
    )
    if problems.n:
        return found.called, found.table
    if beside:
        found, choices = _with_others(found, choices, beside)
    once = settle_twice(found.called, answers, found.table, choices, problems, found.read_more)
    found = replace(found, table=once)
    tell(found, answers, choices, problems)
    return found.called, once


def tell(found: Found, answers: Collection[str], choices: Choices, problems: CellProblems) -> None:
    """Tell who wants to know how a file was read."""
    if choices.keep and not problems.n:
        choices.keep(found.called, found.table)
    if choices.tell and not problems.n:
        shape = SHAPES[found.layout.shape if found.layout else Shape.LONG]
        choices.tell(describe(found.called, answers, found.table, shape=shape, n_missing=found.n_missing))


def read_answers(
    file: DataFile,
    names: Names,
    needed: Sequence[str],
    problems: CellProblems,
    *,
    wanted: Wanted | None,
    choices: Choices = GUESSED,
    read: Read | None = None,
    scores: Scores | None = None,
) -> Found:
    """Return the answers of one task of a file, or of all as one, with ids in one form.

    `names`: what files call each column; without one of `needed` the file is refused. Cells that are no text, or no
    numbers, are added to `problems`; then the table stays as it is. `wanted`: what is read of a file of another tool,
    None where no tool has it; `read` reads the columns of an ordinary file. `scores`: where answers are scores, which
    files have in any shape; None where a row is what it is.

    Raises TableError, and DomainError for choices that the file cannot have.
    """
    first = choices.for_file(file.path)
    of_tool = {"columns": choices.columns, "items": choices.items, "more": choices.more}
    about = {"name": file.name, "encoding": first.encoding, "max_bytes": file.max_bytes}
    may_be_made = wanted and not (choices.are_complete or choices.answers)
    made = read_made(file.path, wanted, **about, **of_tool) if wanted and may_be_made else None  # type: ignore[arg-type]

    if made:
        found = Found({name: name for name in made.columns}, made, None)
        require_columns(file.called, found.called, needed, made.columns)
        found = ScoreFile(file, names, first, scores).with_values(found, problems) if scores else found
    elif choices.more:
        files = [_read_ordinary(file, names, needed, problems, first, read, scores)]
        for path in choices.more:
            problems.raise_for(files[-1].table)
            more, said = replace(file, path=path, name=None), _as_first(files[0], path, choices.for_file(path))
            files.append(_read_ordinary(more, names, needed, problems, said, read, scores))
        problems.raise_for(files[-1].table)
        found = joined(files)
    else:
        found = _read_ordinary(file, names, needed, problems, first, read, scores)
    found = _without_other_kinds(found, choices)
    if problems.n:
        return found
    cleaned = clean_ids(found.called, found.table)
    table, read_more = _without_tutorial(found.called, cleaned, found.read_more)
    table, read_more = _of_wanted_task(found.called, table, choices, read_more)
    table = _with_groups(found.called, table, choices, read_more)
    return replace(found, table=table, read_more=read_more)


def _as_first(first: Found, path: Path, choices: Choices) -> Choices:
    """Return the choices for a further file: with the columns of the first if it has them, as a short one says less."""
    there = preview(path, n_rows=0, encoding=choices.encoding).columns
    has_same = not first.is_unfolded and set(first.called.values()) <= set(there)
    return replace(choices, columns=first.called) if has_same else choices


def _read_ordinary(
    file: DataFile,
    names: Names,
    needed: Sequence[str],
    problems: CellProblems,
    choices: Choices,
    read: Read | None,
    scores: Scores | None,
) -> Found:
    """Return the answers of a file that no tool has made, as `read_answers` does; `choices` has its own encoding."""
    if scores is not None:
        score_file = ScoreFile(file, names, choices, scores)
        found = score_file.read(needed, problems)
        require_columns(file.called, found.called, needed, found.table.columns)
        return score_file.with_values(found, problems)
    there = preview(file.path, n_rows=0, encoding=choices.encoding).columns
    check_chosen(choices.columns, names, there)
    called = find_columns(there, names, choices.columns)
    require_columns(file.called, called, needed, there)
    table = (read or _read)(file.path, called, choices.encoding, problems)
    if read is None:
        return Found(called, table, lambda columns: file.read(columns, choices.encoding))

    def read_more(columns: Sequence[str]) -> Table:
        # With the others: by all of them it is known how cells are quoted, and so what a row is.
        return read(file.path, called | {own: own for own in columns}, choices.encoding, problems)

    return Found(called, table, read_more)


def _without_other_kinds(found: Found, choices: Choices) -> Found:
    """Return the same without a column of kinds that is called otherwise and has other words, such as types of text."""
    own = found.called.get("kind", "")
    column = found.table.text.get(own)
    is_said = "kind" in choices.columns or plain_name(own) == "kind"
    if column is None or is_said or all(label.casefold() in KINDS for label in column.labels if label):
        return found
    return replace(found, called={role: column for role, column in found.called.items() if role != "kind"})


def _without_tutorial(
    called: Mapping[str, str], table: Table, read_more: ReadMore | None
) -> tuple[Table, ReadMore | None]:
    """Return the table without items of a tutorial, and what reads more of it: they are nobody's outputs.

    Raises TableError if there are no others.
    """
    kind = table.text.get(called.get("kind", ""))
    if kind is None:
        return table, read_more
    is_tutorial = np.array([label.casefold() == _TUTORIAL for label in kind.labels], bool)[kind.codes]
    if not is_tutorial.any():
        return table, read_more
    if is_tutorial.all():
        message = "every row is of a tutorial item: there is nothing to analyse."
        raise TableError(table.file, [Problem(None, called["kind"], message, "no_ordinary")])
    said = TableWarning("tutorial", f"Rows of tutorial items, which are left out: {np.count_nonzero(is_tutorial):,}.")
    table = replace(table, warnings=[*table.warnings, said])
    return take_rows(table, np.flatnonzero(~is_tutorial), read_more)


def _of_wanted_task(
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


def _with_others(
    found: Found, choices: Choices, beside: Callable[[Sequence[str]], Collection[str]]
) -> tuple[Found, Choices]:
    """Return the answers with further columns, and the choices by which these do not say what was judged."""
    table = found.table
    there = [name for name in table.columns if name and (found.read_more or name in table.text)]
    chosen = beside([name for name in there if name not in found.called.values()])
    wanted = [name for name in chosen if name not in table.text]
    more = dict[str, TextColumn]()
    if wanted and found.read_more:
        try:
            more = dict(found.read_more(wanted).text)
        except TableError:  # of one of them
            for name in wanted:
                with suppress(TableError):
                    more |= found.read_more([name]).text
    table = replace(table, text=table.text | {name: more[name] for name in wanted if name in more})
    return replace(found, table=table), replace(choices, groups=(*choices.groups, *chosen))


def _with_groups(called: Mapping[str, str], table: Table, choices: Choices, read_more: ReadMore | None) -> Table:
    """Return the table with the columns by whose groups scores are compared.

    Raises DomainError `bad_columns` for one that is not there, or that says who answered, about what or what.
    """
    there = [name for name in table.columns if name and (read_more or name in table.text)]
    if missing := [name for name in choices.groups if name not in there]:
        message = f"The file has no column “{shorten(missing[0])}” of groups. Its columns are {listing(there)}."
        raise DomainError("bad_columns", message)
    no_groups = {called[role]: role for role in _NO_GROUPS if role in called} | dict.fromkeys(table.cells, "text")
    if wrong := [name for name in choices.groups if name in no_groups]:
        message = f"“{shorten(wrong[0])}” says the {no_groups[wrong[0]]} of a row. Choose a column of groups."
        raise DomainError("bad_columns", message)
    wanted = [name for name in choices.groups if name not in table.text]
    if not wanted or read_more is None:
        return table
    more = read_more(wanted).text
    return replace(table, text=table.text | {name: more[name] for name in wanted})


def _read(path: Path, called: Mapping[str, str], encoding: str | None, problems: CellProblems) -> Table:
    return read_columns(path, list(dict.fromkeys(called.values())), encoding=encoding, problems=problems)


@dataclass(frozen=True)
class LongTable:
    """Scores of one task of a file, one a row, in columns with the names used here; `task` is "" if it has no other."""

    task: str
    table: Table
    reading: Reading


def read_long(path: Path, names: Names, choices: Choices, scores: Scores) -> list[LongTable]:
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
        text |= {name: table.text[name] for name in choices.groups if name not in roles}
        return LongTable(task, replace(table, columns=list(text), text=text), heard[0])

    try:
        return [read(choices, "")]
    except SeveralTasksError as error:
        return [read(replace(choices, task=task), task) for task in error.tasks]
