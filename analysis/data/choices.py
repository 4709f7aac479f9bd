"""What somebody said about how files of responses are read. What nobody says is guessed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from analysis.data.describing import Reading
from evalsite.lib.tables import Table, if_windows


class Twice(StrEnum):
    """Which answer counts of a worker who answered the same thing more than once."""

    FIRST = "first"
    LAST = "last"
    MEAN = "mean"


@dataclass(frozen=True)
class Choices:
    """How a file is read.

    `encoding`: that of a CSV file that is not UTF-8, or an `Opening` with delimiter and sheet. `columns`: the file's
    columns, by what they are; `answers`: those of answers, where a criterion has its own; no other one is used if these
    `are_complete`. `items`: the file of what was annotated, where a tool's file does not say it; `more`: further files
    that are read with this one. `shape`: one of `layout.SHAPES`. `words`: the words of answers, lowest first.
    `missing`: further words of cells without an answer. `decimal`: the mark of numbers, a point or a comma. `twice`:
    what to do with answers that stand twice; "" refuses them. `by`: the columns that say the task of a row. `task`: the
    task whose rows are read; None: all, unless `splits_tasks`: then a file of several raises
    `tasks.SeveralTasksError`. `groups`: further columns that are read, by whose groups scores are
    compared. `tell` is called with how the file was read, `keep` with the column of each thing and the
    table of one answer a row.
    """

    encoding: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    answers: tuple[str, ...] = ()
    are_complete: bool = False
    items: Path | None = None
    more: tuple[Path, ...] = ()
    shape: str = ""
    words: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    decimal: str = ""
    twice: str = ""
    by: tuple[str, ...] = ()
    task: str | None = None
    splits_tasks: bool = False
    groups: tuple[str, ...] = ()
    tell: Callable[[Reading], None] | None = field(default=None, compare=False)
    keep: Callable[[Mapping[str, str], Table], None] | None = field(default=None, compare=False)

    def for_file(self, path: Path) -> "Choices":
        """Return the same with the encoding that this file can have; raise TableError if no such file is read."""
        return replace(self, encoding=if_windows(path, self.encoding))


GUESSED = Choices()
"""Nobody said anything."""
