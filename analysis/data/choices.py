"""What somebody said about how files of responses are read. What nobody says is guessed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path


class Twice(StrEnum):
    """Which answer counts of a worker who answered the same thing more than once."""

    FIRST = "first"
    LAST = "last"
    MEAN = "mean"


@dataclass(frozen=True)
class Choices:
    """How a file is read.

    `encoding`: that of a CSV file that is not UTF-8. `columns`: the file's columns, by what they are. `items`: the file
    of what was annotated, where a tool's file does not say it. `shape`: one of `layout.SHAPES`. `words`: the words of
    answers, lowest first. `missing`: further words of cells without an answer. `twice`: what to do with answers that
    stand twice; "" refuses them. `by`: the column that says the task of a row, or all columns, if there are several;
    `task`: the task whose rows are read, None: all. `is_pooled`: rows of different tasks are analysed as one.
    """

    encoding: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    items: Path | None = None
    shape: str = ""
    words: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    twice: str = ""
    by: tuple[str, ...] = ()
    task: str | None = None
    is_pooled: bool = False


GUESSED = Choices()
"""Nobody said anything."""
