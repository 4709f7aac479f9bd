"""Files of chats and of assignments to rows: everything wrong is said at once, and nothing is half read."""

from collections.abc import Callable, Sequence
from itertools import compress
from pathlib import Path

import numpy as np

from analysis.data.dialogues.rows import (
    CHAT_COLUMNS,
    NO,
    OPINIONS,
    WEIGHT,
    WORK_COLUMNS,
    YES,
    Chat,
    DeadChat,
    LoadedDialogues,
    Work,
    in_order,
    left_out,
    without_dead,
)
from campaigns.design.composition import ANALYSED_KINDS
from evalsite.lib.tables import CellProblems, Problem, Table, TableError, TextColumn, if_windows, preview, read_columns
from evalsite.lib.tables.errors import listing, shorten

_REQUIRED = ("worker", "assignment")
# The files that a campaign exports tell what became of chats and assignments; these do not count in its results either.
_DEAD, _OPEN = "dead", "open"
_UNFINISHED = ("active", "returned", "expired", "rejected")
# What else a column may be called.
_ALIASES = {"work_seconds": "seconds"}
_BY_INPUT = {"words_by_input": "worker_words", "chars_by_input": "worker_chars"}
_COUNTS = ("worker_inputs", "worker_words", "worker_chars", "changes_by_chatbot", "changes_by_worker")
# What is missing from the results without a column.
_WITHOUT = {
    "system": "chats with the degraded chatbot cannot be told from others",
    "topic": "there are no topics",
    "opinion": "there are no opinions",
    "worker_inputs": "nothing is known per input, and characters cannot be told from spaces",
    "worker_words": "there are no words, and characters cannot be told from spaces",
    "worker_chars": "there are no characters",
}


def load_dialogues(dialogues: Path, assignments: Path | None = None, *, encoding: str | None = None) -> LoadedDialogues:
    """Return the chats of a file in any format that `evalsite.lib.tables` reads, and the working times of another.

    `worker` and `assignment` are needed; of the other columns whatever there is. An empty cell is not known. As in a
    campaign's results, chats whose `state` is dead or open are left out, which a notice says; so are chats and times of
    unfinished assignments, and the `minutes` of dead chats are taken off the times.
    `encoding` is that of CSV files that are not UTF-8.
    Raises TableError with up to 50 problems of a file, which needs a row at least.
    """
    sheet = _Sheet(dialogues, (*CHAT_COLUMNS, "state", "assignment_state", "minutes"), encoding=encoding)
    sheet.refuse_twice("worker", "assignment", "position")
    columns: dict[str, Sequence[object]] = {name: sheet.texts(name) for name in CHAT_COLUMNS[:6]}
    counts = {name: sheet.counts(name) for name in ("position", *_COUNTS)}
    columns |= counts
    columns |= {"kind": sheet.choices("kind", tuple(ANALYSED_KINDS)), "opinion": sheet.choices("opinion", OPINIONS)}
    columns |= {"topic_sent": sheet.choices("topic_sent", (YES, NO))}
    for name, of_chat in _BY_INPUT.items():
        columns[name] = sheet.lists(name, counts["worker_inputs"], counts[of_chat])
    minutes = sheet.numbers("minutes", "a number of minutes, 0 or more", lambda value: value >= 0)
    sheet.raise_for_problems()
    is_over = sheet.is_finished("assignment_state")
    states = [state.casefold() for state in compress(sheet.texts("state"), is_over)]
    rows = [Chat(*row) for row in compress(zip(*(columns[name] for name in CHAT_COLUMNS), strict=True), is_over)]
    of_each = list(zip(rows, states, compress(minutes, is_over), strict=True))
    chats = [chat for chat, state, _ in of_each if state not in (_DEAD, _OPEN)]
    dead = [DeadChat(chat.worker, chat.assignment, lost) for chat, state, lost in of_each if state == _DEAD]
    file = dialogues.name
    notices = [f"{file} has no column “{name}”: {so}." for name, so in _WITHOUT.items() if name in sheet.lacks]
    notices += left_out(len(dead), states.count(_OPEN), is_over.count(False))
    return in_order(chats, without_dead(load_work(assignments, encoding), dead) if assignments else [], notices)


def load_work(path: Path, encoding: str | None) -> list[Work]:
    """Return the working times of a file of assignments; raise TableError with up to 50 problems of it."""
    sheet = _Sheet(path, (*WORK_COLUMNS, WEIGHT, "state"), (*_REQUIRED, "work_seconds"), encoding=encoding)
    sheet.refuse_twice("worker", "assignment")
    seconds = sheet.numbers("work_seconds", "a number of seconds, 0 or more", lambda value: value >= 0)
    weights = sheet.numbers(WEIGHT, "a number above 0", lambda value: value > 0)
    sheet.raise_for_problems()
    rows = zip(sheet.texts("worker"), sheet.texts("assignment"), seconds, weights, strict=True)
    return [Work(*row) for row in compress(rows, sheet.is_finished("state"))]


class _Sheet:
    """The wanted columns of a file; a column that it lacks is empty."""

    def __init__(
        self, path: Path, wanted: Sequence[str], required: Sequence[str] = _REQUIRED, *, encoding: str | None = None
    ) -> None:
        self._problems = CellProblems()
        encoding = if_windows(path, encoding)
        columns, before = preview(path, n_rows=0, encoding=encoding).columns, None
        # In JSON Lines a column may first occur far down.
        while (found := _find(columns, wanted)) != before:
            _require(path.name, required, found, columns)
            self._problems.clear()
            self._table: Table = read_columns(path, list(found.values()), encoding=encoding, problems=self._problems)
            columns, before = self._table.columns, found
        n_rows = len(self._table.text[found["worker"]].codes)
        empty = TextColumn(np.zeros(n_rows, np.int32), [""])
        self._cells = {name: self._table.text[found[name]] if name in found else empty for name in wanted}
        self.lacks = set(wanted) - set(found)
        self._called = found
        for name in _REQUIRED:
            self._refuse(name, "empty_label", lambda label: label == "", "the cell is empty. Fill it in.")

    def texts(self, name: str) -> list[str]:
        """Return the cells as they are."""
        column = self._cells[name]
        return [column.labels[code] for code in column.codes.tolist()]

    def is_finished(self, name: str) -> list[bool]:
        """Return of each row whether its assignment was finished, or may have been, by the column of its state."""
        return [state.casefold() not in _UNFINISHED for state in self.texts(name)]

    def choices(self, name: str, allowed: tuple[str, ...]) -> list[str]:
        """Return cells of which each is one of the allowed words, or empty."""
        message = f"this is not known. Write one of: {', '.join(allowed)}."
        self._refuse(name, f"unknown_{name}", lambda label: label.casefold() not in ("", *allowed), message)
        return [cell.casefold() for cell in self.texts(name)]

    def counts(self, name: str) -> list[int | None]:
        """Return cells that hold a number of things, or nothing."""
        values = self.numbers(name, "a whole number, 0 or more", lambda value: value >= 0 and value.is_integer())
        return [None if value is None else int(value) for value in values]

    def lists(
        self, name: str, lengths: Sequence[int | None], sums: Sequence[int | None]
    ) -> list[tuple[int, ...] | None]:
        """Return cells that hold whole numbers with spaces between them, of these lengths and sums where known."""
        known = {label: _numbers(label) for label in self._cells[name].labels}
        message = (
            "these are not whole numbers (0 or more) with spaces between them. Correct them, or leave the cell empty."
        )
        self._refuse(name, "bad_numbers", lambda label: label != "" and known[label] is None, message)
        found = [known[cell] for cell in self.texts(name)]
        if name not in self.lacks:
            found = [() if n == 0 else each for each, n in zip(found, lengths, strict=True)]
        odd = [
            row
            for row, (each, n, total) in enumerate(zip(found, lengths, sums, strict=True))
            if each is not None and (n not in (None, len(each)) or total not in (None, sum(each)))
        ]
        self._problems.add(
            np.array(odd, np.int64),
            self._called.get(name, name),
            "bad_sum",
            lambda row, _: (
                "number and sum of these are not those of the chat. Correct either, or leave the cell empty."
            ),
        )
        return found

    def numbers(self, name: str, what: str, is_good: Callable[[float], bool]) -> list[float | None]:
        """Return cells that hold a good number, which is `what`, or nothing."""
        known = {label: _number(label, is_good) for label in self._cells[name].labels}
        message = f"this is not {what}. Correct it, or leave the cell empty."
        self._refuse(name, "bad_number", lambda label: label != "" and known[label] is None, message)
        return [known[cell] for cell in self.texts(name)]

    def refuse_twice(self, *key: str) -> None:
        """Add a problem for each row with the key of a row before it; one whose key is not all known has none."""
        first: dict[tuple[str, ...], int] = {}
        twice = {}
        for row, cells in enumerate(zip(*(self.texts(name) for name in key), strict=True)):
            if all(cells) and first.setdefault(cells, row) != row:
                twice[row] = first[cells]
        what = f"{', '.join(key[:-1])} and {key[-1]}"
        rows, others = (np.array(list(numbers), np.int64) for numbers in (twice.keys(), twice.values()))
        self._problems.add(
            rows,
            key[-1],
            "row_twice",
            lambda row, other: f"row {other} has the same {what}. Delete one of the two.",
            others,
        )

    def raise_for_problems(self) -> None:
        """Raise TableError if there is any problem."""
        self._problems.raise_for(self._table)

    def _refuse(self, name: str, code: str, is_bad: Callable[[str], bool], message: str) -> None:
        column = self._cells[name]
        bad = [k for k, label in enumerate(column.labels) if is_bad(label)]

        def describe(row: int, other: int | None) -> str:
            label = column.labels[column.codes[row]]
            return f"“{shorten(label)}”: {message}" if label else message

        rows = np.flatnonzero(np.isin(column.codes, bad))
        self._problems.add(rows, self._called.get(name, name), code, describe)


def _find(columns: Sequence[str], wanted: Sequence[str]) -> dict[str, str]:
    """Return which column of the file holds each wanted one; capitals do not matter, the first one counts."""
    by_name = {column.strip().casefold(): column for column in reversed(columns)}
    found = {name: by_name.get(name) or by_name.get(_ALIASES.get(name, "")) for name in wanted}
    return {name: column for name, column in found.items() if column}


def _require(file: str, required: Sequence[str], found: dict[str, str], columns: Sequence[str]) -> None:
    message = f"there is no such column. The columns are {listing(column for column in columns if column)}."
    if missing := [Problem(1, name, message, "missing_column") for name in required if name not in found]:
        raise TableError(file, missing)


def _numbers(label: str) -> tuple[int, ...] | None:
    values = [_number(part, lambda value: value >= 0 and value.is_integer()) for part in label.split()]
    return tuple(int(value) for value in values if value is not None) if values and None not in values else None


def _number(label: str, is_good: Callable[[float], bool]) -> float | None:
    try:
        value = float(label)
    except ValueError:
        return None
    return value if np.isfinite(value) and is_good(value) else None
