"""Files in which answers of several tasks lie together, such as language pairs: a source is one of its task."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from analysis.data.choices import Choices
from analysis.data.coding import combined
from analysis.data.finding import find_columns, plain_name
from analysis.stats.codes import dense_ranks
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import Table, TableWarning, TextColumn
from evalsite.lib.tables.errors import listing, shorten
from evalsite.lib.tables.table import text_column

ReadMore = Callable[[Sequence[str]], Table]
"""Reads further columns of the rows of a table."""
# fmt: off
_NAMES = (
    ("language_pair", "lang_pair", "lp", "langs", "language_direction", "translation_direction", "direction"),
    ("task", "task_name"),
    ("dataset", "data_set", "dataset_name", "testset", "test_set", "corpus"),
    ("subset", "sub_set"),
)
# fmt: on
_SOURCE_LANGUAGE = ("source_language", "source_lang", "src_lang", "src_language", "srclang")
_TARGET_LANGUAGE = ("target_language", "target_lang", "tgt_lang", "tgt_language", "trg_lang", "tgtlang")
_JOINED = "-"
_WITHIN = ": "


@dataclass(frozen=True)
class Tasks:
    """The task of each row: codes, (n_rows,), of sorted labels; `columns` are those that say it."""

    columns: tuple[str, ...]
    task: TextColumn

    @property
    def labels(self) -> list[str]:
        """The tasks, sorted."""
        return sorted(self.task.labels)


class SeveralTasksError(DomainError):
    """Answers of several `tasks` lie in one file, and nobody has said which are wanted."""

    def __init__(self, tasks: Tasks) -> None:
        self.tasks = tasks.labels
        message = (
            f"The file has answers of {len(tasks.labels)} tasks, by {listing(tasks.columns)}: {listing(tasks.labels)}. "
            "Each is analysed by itself, unless you take all as one."
        )
        super().__init__("several_tasks", message)


def task_columns(there: Sequence[str], used: Sequence[str], choices: Choices) -> tuple[str, ...]:
    """Return the columns of a file that may say the task of a row; none of those that have another use.

    Raises DomainError `bad_columns` for a chosen one that is not there.
    """
    if missing := [name for name in choices.by if name not in there]:
        columns = listing(name for name in there if name)
        message = f"The file has no column “{shorten(missing[0])}”. Its columns are {columns}."
        raise DomainError("bad_columns", message)
    if choices.by:
        return choices.by
    free = [name for name in there if name not in used]
    pair = find_columns(free, {"source_language": _SOURCE_LANGUAGE[1:], "target_language": _TARGET_LANGUAGE[1:]})
    found = [*pair.values()] if len(pair) > 1 or "target_language" in pair else []
    plain = {plain_name(name): name for name in reversed(free)}
    for names in _NAMES:
        found += [plain[plain_name(name)] for name in names if plain_name(name) in plain][:1]
    return tuple(dict.fromkeys(found))


def find_tasks(called: Mapping[str, str], table: Table, columns: Sequence[str], *, is_said: bool) -> Tasks | None:
    """Return the task of each row, by `columns` of the table; None if there is one task alone.

    Unless somebody said that these columns say the task, systems or sources must recur across tasks: else nothing could
    be taken for something else.
    """
    columns = [own for own in columns if len(table.text[own].labels) > 1]
    if not columns:
        return None
    parts = [table.text[own] for own in columns]
    codes, _ = dense_ranks(*combined([(part.codes, len(part.labels)) for part in parts]))
    _, first = np.unique(codes, return_index=True)
    labels = [_JOINED.join(part.labels[part.codes[row]] for part in parts) for row in first.tolist()]
    task = text_column(codes, labels)
    telling = [called[name] for name in ("system", "source", "seg_id", "system_a") if name in called]
    if not is_said and not any(_recur(table.text[own], task) for own in telling if own in table.text):
        return None
    return Tasks(tuple(columns), task)


def _recur(column: TextColumn, task: TextColumn) -> bool:
    """Return whether a label of a column occurs in several tasks."""
    pairs = np.unique(column.codes.astype(np.int64) * len(task.labels) + task.codes)
    return pairs.size > len(column.labels)


def of_task(
    called: Mapping[str, str], table: Table, tasks: Tasks, choices: Choices, read_more: ReadMore | None
) -> tuple[Table, ReadMore | None]:
    """Return the table of the task that is wanted, and what reads more of it; if none is, of all, with sources named in
    their task.

    Raises DomainError `unknown_task`, and SeveralTasksError.
    """
    if choices.task is not None:
        if choices.task not in tasks.task.labels:
            message = f"There is no task “{shorten(choices.task)}” in the file, but {listing(tasks.labels)}."
            raise DomainError("unknown_task", message)
        rows = np.flatnonzero(tasks.task.codes == tasks.task.labels.index(choices.task))
        return take_rows(table, rows, read_more)
    if choices.splits_tasks:
        raise SeveralTasksError(tasks)
    text = dict(table.text)
    for own in [called[name] for name in ("seg_id", "source") if name in called][:1]:
        source, task = text[own], tasks.task
        code, _ = dense_ranks(*combined([(task.codes, len(task.labels)), (source.codes, len(source.labels))]))
        _, first = np.unique(code, return_index=True)
        labels = [
            f"{task.labels[task.codes[row]]}{_WITHIN}{source.labels[source.codes[row]]}" for row in first.tolist()
        ]
        text[own] = text_column(code, labels)
    message = (
        f"Answers of {len(tasks.labels)} tasks are analysed as one, by {listing(tasks.columns)}: systems are compared "
        "over all of them, and a source is one of its task."
    )
    return replace(table, text=text, warnings=[*table.warnings, TableWarning("pooled", message)]), read_more


def take_rows(table: Table, rows: NDArray[np.int64], read_more: ReadMore | None) -> tuple[Table, ReadMore | None]:
    """Return some rows of a table, ascending, and what reads more of these."""
    return table.take(rows), read_more and (lambda columns: read_more(columns).take(rows))
