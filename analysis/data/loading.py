"""Files of answers to arrays: everything wrong is said at once, and nothing is half read."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from analysis.data.choices import GUESSED, Choices
from analysis.data.coding import combined, sorted_codes, used_codes
from analysis.data.finding import DOCUMENT, ITEM, NAMES, SEGMENT, Names, require_columns
from analysis.data.notices import ResponsesWarning, said_of
from analysis.data.reading import read_found
from analysis.data.responses import LABELS, Responses, fingerprint, rows_of
from analysis.data.scores import Scores
from analysis.data.tools import Wanted
from analysis.stats.codes import dense_ranks
from analysis.stats.ratings import Codes, Floats, Mask
from campaigns.design.composition import ANALYSED_KINDS, KINDS, Kind
from evalsite.lib.tables import CellProblems, Problem, Table, TableError, TextColumn
from evalsite.lib.tables.errors import shorten
from evalsite.lib.tables.table import numbers_of, refuse_empty
from evalsite.lib.words import listed

# Every system is compared with every other one.
MAX_SYSTEMS = 500
_OF_CHATS = ("hit", "position", "turn")
_OF_ANSWERS = {name: NAMES[name] for name in ("worker", "system", "source", "criterion", "kind", "assignment")}
SCORE_NAMES: Names = {
    **_OF_ANSWERS,
    "score": NAMES["score"],
    **dict.fromkeys(_OF_CHATS, ()),
    "source": ("source_id", *SEGMENT, *ITEM),
    "document": DOCUMENT,
}
"""What files call the columns of scores. Where no column is of segments, that of documents is of sources."""
WITH_COPIES = (Kind.ORDINARY, Kind.DEGRADED, Kind.REPEAT)
"""The kinds of items of methods that test workers."""
ReadScore = Callable[[str], float]
"""The number of a cell; NaN where it has none."""


@dataclass(frozen=True)
class Answer:
    """A column that a method reads beside `worker`, `system`, `source`, `criterion` and `kind`.

    `names`: what it may be called, its own name first. `is_number`: of 0 or more; `above_0`, and `is_whole`, if it must
    be. `is_required`: without it there is nothing to analyse. Cells of others may be empty.
    """

    names: tuple[str, ...]
    is_number: bool = True
    is_required: bool = True
    is_whole: bool = False
    above_0: bool = False

    @property
    def name(self) -> str:
        """Its own name."""
        return self.names[0]


def load_scores(
    path: Path,
    read_score: ReadScore,
    allowed: str,
    *,
    criterion: str,
    criteria: Collection[str] = (),
    choices: Choices = GUESSED,
    kinds: Collection[Kind] = (Kind.ORDINARY, Kind.REPEAT),
) -> Responses:
    """Return the scores of a file in any format and shape that is read; none is NaN.

    `read_score` gives the number of a cell, NaN where it is not allowed; `allowed` says what a cell may hold.
    `criterion`: its name where the file names none; `criteria`: known names, by which columns hold scores. `kinds` of
    items are wanted: degraded ones, too, for a worker test; others are left out and counted in a warning. In a file
    with a column `turn` that is not empty, a row is about a reply or a step of the output that `source` and `system`
    name. Without several sources it is one of a chat, which `worker`, `assignment`, `hit`, `position`, `system` name.

    Raises TableError with up to 50 problems: a missing column, an empty label, a score that is not allowed.
    """
    problems, scores = CellProblems(), Scores(lambda cell: not math.isnan(read_score(cell)), criteria)
    needed = ("worker", "system", "score")
    asked = {"wanted": Wanted.SCORES, "answers": ("score",), "choices": choices, "scores": scores}
    called, table = read_found(path, SCORE_NAMES, needed, problems, **asked)  # type: ignore[arg-type]
    called = {name: own for name, own in called.items() if name in SCORE_NAMES}
    if "source" not in called and "document" in called:
        called["source"] = called.pop("document")
    cells = {name: table.text[own] for name, own in called.items()}
    has_turns = "turn" in cells and any(cells["turn"].labels)
    # Of chats all have one source, or none.
    has_chats = has_turns and not ("source" in cells and len(set(filter(None, cells["source"].labels))) > 1)
    labels = [name for name in (*LABELS, "score") if name in called]
    if has_chats:
        cells, labels = _of_chats(cells), [name for name in labels if name not in ("source", "document")]
    elif has_turns:
        cells, labels = _of_outputs(cells), [name for name in labels if name not in ("source", "document")]
    for name in _not_empty(labels, called):
        refuse_empty(cells[name], called[name], problems)
    given = cells["score"]
    values = np.array([read_score(label) for label in given.labels])
    is_bad = np.isnan(values) & np.array([bool(label) for label in given.labels])
    problems.add(
        np.flatnonzero(is_bad[given.codes]),
        called["score"],
        "bad_score",
        lambda row, other: f"“{shorten(given.labels[given.codes[row]])}” is no score here. It must be {allowed}.",
    )
    numbers = {"score": values[given.codes]}
    found = _responses(table, called, cells, numbers, {}, kinds, criterion, problems, choices.groups)
    digest = fingerprint("plain scores 1", [*found.labelled(*LABELS), found.score])
    return replace(found, has_chats=has_chats, has_turns=has_turns, fingerprint=digest)


def _not_empty(labels: Iterable[str], called: Collection[str]) -> list[str]:
    """Return the labels that each row must have: a source may be of no document, as those of comparisons are."""
    return [name for name in labels if name != "document" or "source" not in called]


def load_answers(
    path: Path,
    wanted: Sequence[Answer],
    *,
    criterion: str,
    of_tools: Wanted | None = None,
    choices: Choices = GUESSED,
    kinds: Collection[Kind] = (Kind.ORDINARY,),
) -> Responses:
    """Return the answers of a file with one answer a row, of any columns.

    `wanted`: what to read beside the labels of a row. `criterion`: its name where the file names none. `of_tools`: what
    is read of a file of another tool; None where no tool has it. `kinds` of items are wanted: degraded ones for a
    worker test, repeats for the agreement of workers with themselves.

    Raises TableError with up to 50 problems: a missing column, an empty cell, a number that is none or too small, and
    what `read_found` says.
    """
    problems = CellProblems()
    names = {each.name: each.names[1:] for each in wanted} | _OF_ANSWERS
    answers = [each.name for each in wanted]
    asked = {"wanted": of_tools, "answers": answers, "choices": choices}
    called, table = read_found(path, names, ("worker", "system"), problems, **asked)  # type: ignore[arg-type]
    for each in wanted:  # files of other tools have their own names
        if each.name not in called and (others := [name for name in each.names if name in called]):
            called[each.name] = called.pop(others[0])
    required = ["worker", "system", *(each.name for each in wanted if each.is_required)]
    require_columns(path.name, called, required, table.columns)
    called = {name: own for name, own in called.items() if name in names}
    cells = {name: table.text[own] for name, own in called.items()}
    for name in _not_empty([name for name in called if name in LABELS or name in required], called):
        refuse_empty(cells[name], called[name], problems)
    there = [each for each in wanted if each.name in called]
    numbers = {
        each.name: _numbers(each, cells[each.name], called[each.name], problems) for each in there if each.is_number
    }
    text = {each.name: cells[each.name] for each in there if not each.is_number}
    found = _responses(table, called, cells, numbers, text, kinds, criterion, problems, choices.groups)
    parts = [
        *found.labelled("worker", "system", "source", "criterion"),
        *(part for column in found.text.values() for part in (column.labels, column.codes)),
        *(part for name, values in found.numbers.items() for part in (name, values)),
    ]
    return replace(found, fingerprint=fingerprint("plain rows 1", parts))


def _responses(
    table: Table,
    called: Mapping[str, str],
    cells: Mapping[str, TextColumn],
    numbers: Mapping[str, Floats],
    text: Mapping[str, TextColumn],
    kinds: Collection[Kind],
    criterion: str,
    problems: CellProblems,
    groups: Sequence[str],
) -> Responses:
    """Return the answers about items of the kinds that are wanted; raise TableError for problems, and if none is."""
    kind = read_kinds(table, called, problems)
    problems.raise_for(table)
    used: Mask = np.isin(kind, list(kinds))
    if not (used & (kind != Kind.DEGRADED)).any():
        message = "every row is of a degraded or reference item or a repeat: there is nothing to analyse."
        raise TableError(table.file, [Problem(None, called["kind"], message, "no_ordinary")])
    coded = {name: _coded(cells, name, used, criterion if name == "criterion" else "") for name in LABELS}
    refuse_many_systems(table.file, called["system"], len(coded["system"][1]))
    worker, workers = coded["worker"]
    assignment, assignments = _coded(cells, "assignment", used, "")
    of_worker = [(worker, len(workers)), (assignment, len(assignments))]
    columns: dict[str, Any] = {name: codes for name, (codes, _) in coded.items()}
    columns |= {LABELS[name]: labels for name, (_, labels) in coded.items()}
    return Responses(
        **columns,
        kind=kind[used],
        assignment=dense_ranks(*combined(of_worker))[0].astype(np.int32),  # a worker's own, whatever its label
        numbers={name: values[used] for name, values in numbers.items()},
        text=rows_of(text, used),
        attributes=rows_of({name: table.text[name] for name in groups}, used),
        warnings=[*said_of(table), *_left_out(kinds, int(np.count_nonzero(~used)))],
    )


def _left_out(kinds: Collection[Kind], n: int) -> list[ResponsesWarning]:
    others = [name for name, kind in ANALYSED_KINDS.items() if kind not in kinds]
    message = f"Rows of {listed(others)} items, which are left out: {n:,}."
    return [ResponsesWarning("quality_control", n, message)] if n else []


def _of_chats(columns: Mapping[str, TextColumn]) -> dict[str, TextColumn]:
    """Return the columns with chats as documents, and their replies as sources."""
    telling = ("worker", "assignment", "hit", "position", "document", "source", "system")
    parts = [(columns[name].codes, len(columns[name].labels)) for name in telling if name in columns]
    chat, n_chats = dense_ranks(*combined(parts))
    labels = [f"chat {number}" for number in range(1, n_chats + 1)]
    return {**columns, "document": TextColumn(chat.astype(np.int32), labels), "source": columns["turn"]}


def _of_outputs(columns: Mapping[str, TextColumn]) -> dict[str, TextColumn]:
    """Return the columns with sources as documents, and replies or steps of outputs as their sources."""
    if "document" not in columns:
        return {**columns, "document": columns["source"], "source": columns["turn"]}
    of, source = columns["document"], columns["source"]
    codes, _ = dense_ranks(*combined([(of.codes, len(of.labels)), (source.codes, len(source.labels))]))
    rows = np.unique(codes, return_index=True)[1]
    labels = [f"{of.labels[of.codes[row]]}:{source.labels[source.codes[row]]}" for row in rows]
    return {**columns, "document": TextColumn(codes.astype(np.int32), labels), "source": columns["turn"]}


def _coded(columns: Mapping[str, TextColumn], name: str, used: Mask, default: str) -> tuple[Codes, list[str]]:
    """Return codes and labels of the rows that are used; one code, `default`, where there is no such column."""
    if name not in columns:
        return np.zeros(np.count_nonzero(used), np.int32), [default]
    codes, labels = sorted_codes(columns[name])
    return used_codes(codes[used], labels)


def _numbers(wanted: Answer, column: TextColumn, called: str, problems: CellProblems) -> Floats:
    """Return the numbers of a column, (n_rows,); NaN where a cell may be, and is, empty."""
    values = numbers_of(column, called, problems)
    if not wanted.is_required:
        problems.discard("missing_number", [called])
    with np.errstate(invalid="ignore"):
        is_low = (values <= 0) if wanted.above_0 else (values < 0)
        is_broken = (values != np.rint(values)) & ~np.isnan(values) if wanted.is_whole else np.zeros(values.size, bool)
    least = "more than 0" if wanted.above_0 else "0 or more"
    kind = "a whole number" if wanted.is_whole else "a number"
    problems.add(
        np.flatnonzero(is_low | is_broken),
        called,
        "bad_number",
        lambda row, other: f"{values[row]:g} cannot be: write {kind} of {least}.",
    )
    return values


_KIND_WORDS = {"": Kind.ORDINARY} | KINDS


def read_kinds(table: Table, called: Mapping[str, str], problems: CellProblems) -> Codes:
    """Return the `Kind` codes of the column `kind`, int8, (n_rows,); without such a column, or a word, ordinary."""
    return read_words(table, called, "kind", _KIND_WORDS, problems)


def read_words(
    table: Table, called: Mapping[str, str], name: str, codes: Mapping[str, int], problems: CellProblems
) -> Codes:
    """Return the codes of a column's words, int8, (n_rows,): that of an empty cell if the file has no such column.

    `called`: the file's name of each column. Words that are not known are added to `problems`.
    """
    if name not in called:
        return np.full(table.n_rows, codes[""], np.int8)
    column = table.text[called[name]]
    found = np.array([codes.get(label.casefold(), -1) for label in column.labels], np.int8)[column.codes]
    words = ", ".join(filter(None, codes))
    problems.add(
        np.flatnonzero(found < 0),
        called[name],
        f"unknown_{name}",
        lambda row, other: f"“{shorten(column.labels[column.codes[row]])}” is not known. It must be one of: {words}.",
    )
    return found


def refuse_many_systems(file: str, column: str, n_systems: int, advice: str = "") -> None:
    """Raise TableError about a column with more systems than are compared."""
    if n_systems > MAX_SYSTEMS:
        message = f"there are {n_systems:,} different systems, and at most {MAX_SYSTEMS} are compared. {advice}"
        raise TableError(file, [Problem(None, column, message.strip(), "too_many_systems")])
