"""Files of rows of any columns to arrays: everything wrong is said at once, and nothing is half read."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.data.choices import GUESSED, Choices
from analysis.data.reading import read_found
from analysis.data.tools import Wanted
from analysis.plain_scores.loading import coded_rows
from analysis.ratings.coding import combined
from analysis.ratings.columns import NAMES as RATING_NAMES
from analysis.ratings.finding import require_columns
from analysis.ratings.loading import refuse_many_systems
from analysis.ratings.notices import RatingsWarning, said_of
from analysis.stats.codes import dense_ranks
from analysis.stats.ratings import Codes, Floats, Mask
from campaigns.design.composition import KINDS, Kind
from evalsite.lib.tables import CellProblems, Problem, Table, TableError, TextColumn
from evalsite.lib.tables.table import numbers_of, refuse_empty

_LABELS = ("worker", "system", "source", "criterion")
_NAMES = {name: RATING_NAMES[name] for name in (*_LABELS, "kind", "assignment")}


@dataclass(frozen=True)
class RowColumn:
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


@dataclass(frozen=True)
class PlainRows:
    """Rows, one worker's response to one output each, in the order of the file.

    Degraded items and repeats are left out unless they were asked for, reference items always.

    `worker`, `system`, `source`, `criterion`: int, (n,), codes of sorted labels; sources that are not known are one.
    `text`: columns of text, {name: (codes, labels)}; `numbers`: float64, (n,), NaN where a cell is empty; both without
    the columns that the file does not have. `kind`: `Kind` codes, (n,). `assignment`: int, (n,), codes of what a worker
    did at one go; without such a column, a worker did all at one.
    """

    workers: list[str]
    systems: list[str]
    sources: list[str]
    criteria: list[str]
    worker: Codes
    system: Codes
    source: Codes
    criterion: Codes
    kind: Codes
    assignment: Codes
    text: Mapping[str, TextColumn]
    numbers: Mapping[str, Floats]
    warnings: list[RatingsWarning] = field(default_factory=list)
    fingerprint: str = ""

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.system.size)

    def take(self, rows: Mask) -> "PlainRows":
        """Return some of the rows; labels stay as they are."""
        names = ("worker", "system", "source", "criterion", "kind", "assignment")
        return replace(
            self,
            **{name: getattr(self, name)[rows] for name in names},
            text={name: TextColumn(column.codes[rows], column.labels) for name, column in self.text.items()},
            numbers={name: values[rows] for name, values in self.numbers.items()},
        )

    def with_used_labels(self) -> "PlainRows":
        """Return the same rows without workers, systems, sources and criteria that none of them has."""
        plural = dict(zip(_LABELS, ("workers", "systems", "sources", "criteria"), strict=True))
        changed: dict[str, Any] = {}
        for name, names in plural.items():
            there, changed[name] = np.unique(getattr(self, name), return_inverse=True)
            changed[names] = [getattr(self, names)[code] for code in there]
        return replace(self, **changed)

    def without_repeats(self) -> "PlainRows":
        """Return the rows that are no repeats, with the labels that a file without repeats would have."""
        is_once = self.kind != Kind.REPEAT
        if is_once.all():
            return self
        rows = self.take(is_once).with_used_labels()
        return replace(rows, assignment=np.unique(rows.assignment, return_inverse=True)[1])

    @property
    def judgement(self) -> NDArray[np.int64]:
        """A code of each row's worker and source, (n,), without gaps."""
        return dense_ranks(*combined([(self.worker, len(self.workers)), (self.source, len(self.sources))]))[0]


def load_rows(
    path: Path,
    wanted: Sequence[RowColumn],
    *,
    criterion: str,
    of_tools: Wanted | None = None,
    choices: Choices = GUESSED,
    with_degraded: bool = False,
    with_repeats: bool = False,
) -> PlainRows:
    """Return the rows of a file in any format that `evalsite.lib.tables` reads.

    Parameters
    ----------
    path : path of the file.
    wanted : what to read beside the labels of a row.
    criterion : name of the criterion where the file names none.
    of_tools : what is read of a file of another tool; None where no tool has it.
    choices : how the file is read, as far as somebody said it.
    with_degraded : whether degraded items are among the rows, for a worker test.
    with_repeats : whether repeats are, for the agreement of workers with themselves.

    Raises
    ------
    TableError
        Up to 50 problems: a column that is missing, an empty cell, a number that is none or too small, and what
        `read_found` says.
    """
    problems = CellProblems()
    required = ["worker", "system", *(each.name for each in wanted if each.is_required)]
    names = {each.name: each.names[1:] for each in wanted} | _NAMES
    answers = [each.name for each in wanted]
    called, table = read_found(
        path, names, ("worker", "system"), problems, wanted=of_tools, answers=answers, choices=choices
    )
    for each in wanted:  # files of other tools have their own names
        if each.name not in called and (found := [name for name in each.names if name in called]):
            called[each.name] = called.pop(found[0])
    require_columns(path.name, called, required, table.columns)
    called = {name: own for name, own in called.items() if name in names}
    cells = {name: table.text[of] for name, of in called.items()}
    for name in called:
        if name in _LABELS or name in required:
            refuse_empty(cells[name], called[name], problems)
    kind = _kinds(cells)
    is_ordinary = kind == Kind.ORDINARY
    also = [Kind.DEGRADED] * with_degraded + [Kind.REPEAT] * with_repeats
    used: Mask = is_ordinary | np.isin(kind, also)
    numbers = {
        each.name: _numbers(each, cells[each.name], called[each.name], problems)
        for each in wanted
        if each.is_number and each.name in called
    }
    if not is_ordinary.any():
        message = "every row is of a degraded or reference item or a repeat: there is nothing to analyse."
        raise TableError(table.file, [Problem(None, called["kind"], message, "no_ordinary")])
    coded = {name: coded_rows(cells, name, used, criterion if name == "criterion" else "") for name in _LABELS}
    problems.raise_for(table)
    refuse_many_systems(table.file, called["system"], len(coded["system"][1]))
    text = {
        each.name: TextColumn(cells[each.name].codes[used], cells[each.name].labels)
        for each in wanted
        if not each.is_number and each.name in called
    }
    numbers = {name: values[used] for name, values in numbers.items()}
    return PlainRows(
        workers=coded["worker"][1],
        systems=coded["system"][1],
        sources=coded["source"][1],
        criteria=coded["criterion"][1],
        **{name: codes for name, (codes, _) in coded.items()},
        kind=kind[used],
        assignment=_assignments(cells, used, coded["worker"]),
        text=text,
        numbers=numbers,
        warnings=_warnings(table, used, also),
        fingerprint=_fingerprint(coded, text, numbers),
    )


def _kinds(columns: Mapping[str, TextColumn]) -> Codes:
    """Return the kind of each row's item, −1 for one that is not known; items of no kind are ordinary."""
    if "kind" not in columns:
        return np.full(columns["worker"].codes.size, Kind.ORDINARY, np.int64)
    kind = columns["kind"]
    known = {"": Kind.ORDINARY, **KINDS}
    of_label = np.array([known.get(label.casefold(), -1) for label in kind.labels], np.int64)
    return np.asarray(of_label[kind.codes])


def _assignments(columns: Mapping[str, TextColumn], used: Mask, worker: tuple[Codes, list[str]]) -> Codes:
    """Return the assignment of each row that is used: names of assignments are a worker's own."""
    if "assignment" not in columns:
        return worker[0]
    codes, labels = coded_rows(columns, "assignment", used, "")
    return dense_ranks(*combined([(worker[0], len(worker[1])), (codes, len(labels))]))[0]


def _warnings(table: Table, used: Mask, also: Sequence[Kind]) -> list[RatingsWarning]:
    found = said_of(table)
    if n_left_out := int(np.count_nonzero(~used)):
        which = "reference items" if Kind.DEGRADED in also else "degraded and reference items"
        which += "" if Kind.REPEAT in also else " and of repeats"
        found.append(
            RatingsWarning("quality_control", n_left_out, f"Rows of {which}, which are left out: {n_left_out:,}.")
        )
    return found


def _numbers(wanted: RowColumn, column: TextColumn, called: str, problems: CellProblems) -> Floats:
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


def _fingerprint(
    coded: Mapping[str, tuple[Codes, list[str]]], text: Mapping[str, TextColumn], numbers: Mapping[str, Floats]
) -> str:
    digest = hashlib.sha256(b"evalsite plain rows 1\n")
    for codes, labels in [*coded.values(), *((column.codes, column.labels) for column in text.values())]:
        digest.update(json.dumps(labels).encode() + b"\n" + codes.astype("<i8").tobytes())
    for name, values in numbers.items():
        digest.update(name.encode() + (values + 0.0).astype("<f8").tobytes())
    return digest.hexdigest()
