"""One array a column: the ratings of a file, row by row, with every label checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from analysis.data.coding import combined, sorted_codes
from analysis.data.ratings.columns import criterion_of, is_called
from analysis.data.ratings.scales import Scale, words
from analysis.stats.codes import dense_ranks
from campaigns.design.composition import Kind
from evalsite.lib.tables import CellProblems, Table, TextColumn
from evalsite.lib.tables.errors import shorten

Codes = NDArray[np.integer]

_KINDS = {kind.name.lower(): int(kind) for kind in Kind}


@dataclass
class RatingRows:
    """Codes of every rating, (n_rows,); `row` is its data row in the file.

    `hit`, `position`, `source`, `pool` and `turn` are None where the file has no such column; a source or pool of −1 is
    not known, a turn of −1 none: the whole item was rated.
    Assignments are numbered by worker, then by label.
    """

    row: Codes
    worker: Codes
    system: Codes
    assignment: Codes
    criterion: Codes
    kind: Codes
    score: NDArray[np.float64]
    hit: Codes | None = None
    position: Codes | None = None
    source: Codes | None = None
    pool: Codes | None = None
    turn: Codes | None = None
    workers: list[str] = field(default_factory=list)
    systems: list[str] = field(default_factory=list)
    assignments: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    pools: list[str] = field(default_factory=list)
    turns: list[str] = field(default_factory=list)
    n_hits: int = 0
    n_positions: int = 0

    def drop(self, bad: NDArray[np.int64]) -> None:
        """Leave out some data rows."""
        self.take(np.flatnonzero(~np.isin(self.row, bad)))

    def take(self, rows: NDArray[np.int64]) -> None:
        """Keep these ratings only, in this order; labels stay as they are."""
        for name, values in vars(self).items():
            if isinstance(values, np.ndarray):
                setattr(self, name, values[rows])


@dataclass(frozen=True)
class Criteria:
    """What a file may call the criteria: their names or their statements, "" for none, without regard to capitals."""

    names: Sequence[str]
    statements: Sequence[str] = ()

    def codes(self) -> dict[str, int]:
        """Return each criterion's code by what it may be called, in small letters; names go before statements."""
        names = {name.strip().casefold(): code for code, name in enumerate(self.names)}
        texts = [text.strip().casefold() for text in self.statements]
        return {text: code for code, text in enumerate(texts) if text and texts.count(text) == 1} | names

    def code_of(self, column: str) -> int | None:
        """Return the code of the criterion whose scores a column of a wide file holds; None if it is none."""
        named = self.codes().get(criterion_of(column).casefold())
        called = (code for text, code in self.codes().items() if is_called(column, text))
        return named if named is not None else next(called, None)


def code_rows(
    table: Table, called: Mapping[str, str], criteria: Criteria, scales: Sequence[Scale], problems: CellProblems
) -> RatingRows:
    """Return the ratings as codes; each bad cell is added to `problems` and coded as 0 or −1."""
    n_rows = table.n_rows
    text = {column: table.text[name] for column, name in called.items() if name in table.text}
    worker, workers = sorted_codes(text["worker"])
    system, systems = sorted_codes(text["system"])
    for column in ("worker", "system", "assignment"):
        if column in text:
            _refuse_empty(text[column], called[column], problems)
    rows = RatingRows(
        row=np.arange(n_rows, dtype=np.int32),
        worker=worker,
        system=system,
        assignment=worker,
        criterion=np.zeros(n_rows, np.int16),
        kind=np.zeros(n_rows, np.int8),
        score=table.numbers[called["score"]],
        workers=workers,
        systems=systems,
    )
    if "hit" in text:
        rows.hit, hits = sorted_codes(text["hit"])
        rows.n_hits = len(hits)
    _code_assignments(rows, text, [] if rows.hit is None else hits)
    if "source" in text:
        rows.source, rows.sources = _code_known(text["source"])
    if "pool" in text:
        rows.pool, rows.pools = _code_known(text["pool"])
    if "turn" in text:
        rows.turn, rows.turns = _code_known(text["turn"])
    if "position" in text:
        rows.position, rows.n_positions = _code_positions(text["position"], called["position"], problems)
    if "kind" in text:
        allowed = ", ".join(_KINDS)
        rows.kind = _look_up(
            text["kind"], _KINDS, called["kind"], "unknown_kind", f"Write one of: {allowed}.", problems
        )
    if "criterion" in text:
        advice = f"The criteria are: {', '.join(criteria.names)}. Choose another protocol or edit its criteria."
        codes = {label.casefold(): criteria.code_of(label) for label in text["criterion"].labels}
        known = {label: code for label, code in codes.items() if code is not None}
        rows.criterion = _look_up(text["criterion"], known, called["criterion"], "unknown_criterion", advice, problems)
    _check_scores(rows, called["score"], scales, problems)
    return rows


def _refuse_empty(column: TextColumn, name: str, problems: CellProblems) -> None:
    if "" in column.labels:
        empty = problems.without_known(np.flatnonzero(column.codes == column.labels.index("")), name)
        problems.add(empty, name, "empty_label", lambda row, other: "the cell is empty. Fill it in, or delete the row.")


def _code_assignments(rows: RatingRows, text: Mapping[str, TextColumn], hits: list[str]) -> None:
    """Number assignments by worker, then by label; without a column, one for each worker and HIT, or
    each worker."""
    codes: Codes
    if "assignment" in text:
        codes, labels = sorted_codes(text["assignment"])
    elif rows.hit is not None:
        codes, labels = rows.hit, hits
    else:
        rows.assignment, rows.assignments = rows.worker, rows.workers
        return
    worker_of = np.zeros(len(labels), np.int64)
    worker_of[codes] = rows.worker
    if (worker_of[codes] == rows.worker).all():  # nearly always, and numbering few labels is quicker than all rows
        label_of = np.argsort(worker_of, kind="stable")
        worker_of = worker_of[label_of]
        rows.assignment = np.argsort(label_of).astype(np.int32)[codes]
    else:
        ranks, n_assignments = dense_ranks(*combined([(rows.worker, len(rows.workers)), (codes, len(labels))]))
        rows.assignment = ranks.astype(np.int32)
        label_of, worker_of = np.empty((2, n_assignments), np.int64)
        label_of[rows.assignment] = codes
        worker_of[rows.assignment] = rows.worker
    if "assignment" in text:
        rows.assignments = [labels[code] for code in label_of]
    else:
        pairs = zip(label_of, worker_of, strict=True)
        rows.assignments = [f"{labels[hit]} {rows.workers[worker]}" for hit, worker in pairs]


def _code_known(column: TextColumn) -> tuple[Codes, list[str]]:
    """Return codes and labels, −1 for an empty cell."""
    codes, labels = sorted_codes(column)
    if labels and labels[0] == "":
        return codes - 1, labels[1:]
    return codes, labels


def _code_positions(column: TextColumn, name: str, problems: CellProblems) -> tuple[Codes, int]:
    values = [_whole(label) for label in column.labels]
    bad = [code for code, value in enumerate(values) if value is None]
    if bad:
        rows = problems.without_known(np.flatnonzero(np.isin(column.codes, bad)), name)
        problems.add(
            rows, name, "bad_position", lambda row, other: "the position is not a whole number. Write 1, 2, 3 …"
        )
    known = sorted({value for value in values if value is not None})
    place = {value: code for code, value in enumerate(known)}
    by_label = np.array([0 if value is None else place[value] for value in values], np.int32)
    return by_label[column.codes], len(known)


def _whole(label: str) -> int | None:
    try:
        value = float(label)
    except ValueError:
        return None
    return int(value) if value.is_integer() and abs(value) < 2**53 else None


def _look_up(
    column: TextColumn, known: Mapping[str, int], name: str, code: str, advice: str, problems: CellProblems
) -> Codes:
    """Return each cell's number, −1 where it is not known; such a cell is a problem."""
    by_label = np.array([known.get(label.casefold(), -1) for label in column.labels], np.int16)
    found = by_label[column.codes]
    unknown = problems.without_known(np.flatnonzero(found < 0), name)

    def describe(row: int, other: int | None) -> str:
        label = column.labels[column.codes[row]]
        return f"{f'“{shorten(label)}” is not known' if label else 'the cell is empty'}. {advice}"

    problems.add(unknown, name, code, describe)
    return found


def _check_scores(rows: RatingRows, name: str, scales: Sequence[Scale], problems: CellProblems) -> None:
    """Add a problem for each score outside the scale of its criterion."""
    score, criterion = rows.score, rows.criterion
    low, high = np.array(scales).T
    with np.errstate(invalid="ignore"):
        outside = np.flatnonzero((score < low[criterion]) | (score > high[criterion]))

    def describe(row: int, other: int | None) -> str:
        return (
            f"the score is {score[row]:.17g}. Scores are from {words(scales[criterion[row]])}: correct it, delete the "
            "row, or say which other scale the scores are on."
        )

    problems.add(outside, name, "score_out_of_range", describe)
