"""Files of plain scores to arrays: everything wrong is said at once, and nothing is half read."""

import hashlib
import json
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from analysis.data.choices import GUESSED, Choices
from analysis.data.reading import Scores, read_found
from analysis.data.tools import Wanted
from analysis.ratings.coding import combined, sorted_codes
from analysis.ratings.columns import NAMES as RATING_NAMES
from analysis.ratings.finding import DOCUMENT, ITEM, SEGMENT
from analysis.ratings.loading import refuse_many_systems
from analysis.ratings.notices import RatingsWarning, said_of
from analysis.stats.codes import dense_ranks
from analysis.stats.ratings import Codes, Floats, Mask
from campaigns.design.composition import Kind
from evalsite.lib.tables import CellProblems, Problem, Table, TableError, TextColumn
from evalsite.lib.tables.errors import shorten
from evalsite.lib.tables.table import refuse_empty

_REQUIRED = ("worker", "system", "score")
_COUNTED = {"": Kind.ORDINARY, "ordinary": Kind.ORDINARY, "repeat": Kind.REPEAT}
_WITH_DEGRADED = _COUNTED | {"degraded": Kind.DEGRADED}
_OF_CHATS = ("hit", "position", "turn")
_MAY_BE_EMPTY = ("kind", "assignment", *_OF_CHATS)
NAMES = {
    **{name: RATING_NAMES[name] for name in (*_REQUIRED, "criterion", "kind", "assignment")},
    **dict.fromkeys(_OF_CHATS, ()),
    "source": ("source_id", *SEGMENT, *ITEM),
    "document": DOCUMENT,
}
"""What files call the columns of plain scores. Where no column is of segments, that of documents is of sources."""
ReadScore = Callable[[str], float]
"""The number of a cell; NaN where it has none."""


@dataclass(frozen=True)
class PlainScores:
    """Scores, one worker's of one output on one criterion, in the order of the file.

    `worker`, `system`, `source`, `document`, `criterion`: int, (n,), codes of sorted labels; sources and documents that
    are not known are one. `score`: float64, (n,), no NaN. `kind`: `Kind` codes, (n,). `assignment`: int, (n,), codes of
    what a worker did at one go; without such a column, a worker did all at one. `has_chats`: documents are chats, and
    sources their replies.
    """

    workers: list[str]
    systems: list[str]
    sources: list[str]
    documents: list[str]
    criteria: list[str]
    worker: Codes
    system: Codes
    source: Codes
    document: Codes
    criterion: Codes
    score: Floats
    kind: Codes
    assignment: Codes
    warnings: list[RatingsWarning] = field(default_factory=list)
    fingerprint: str = ""
    has_chats: bool = False

    @property
    def groups(self) -> dict[str, Codes]:
        """By what scores may depend on each other, by name: int, (n,), codes of workers, and of chats or segments."""
        return {"worker": self.worker} | ({"chat": self.document} if self.has_chats else {"source": self.segment})

    @property
    def segment(self) -> Codes:
        """A code of each score's source in its document, (n,): sources of different documents may share a name."""
        return self.document * len(self.sources) + self.source


def load_plain_scores(
    path: Path,
    read_score: ReadScore,
    allowed: str,
    *,
    criterion: str,
    criteria: Collection[str] = (),
    choices: Choices = GUESSED,
    with_degraded: bool = False,
) -> PlainScores:
    """Return the scores of a file in any format and shape that is read.

    Parameters
    ----------
    path : path of the file.
    read_score : the number of a cell, NaN where it is not allowed.
    allowed : what a cell may hold, for the message.
    criterion : name of the criterion where the file names none.
    criteria : names of criteria that are known: columns called so hold scores.
    choices : how the file is read, as far as somebody said it.
    with_degraded : whether degraded items are among the scores, for a worker test.

    Notes
    -----
    Columns are `worker`, `system`, `score` and, if there are any, `source` (or `seg_id`), `doc`, `criterion`, `kind`
    and `assignment`, or have usual other names of these; files of other tools are read as they are. Reference items,
    and degraded ones that are not wanted, are left out and counted in a warning. In a file with a column `turn` that is
    not empty, a row is about a reply of a chat, which `worker`, `assignment`, `hit`, `position` and `system` name.

    Raises
    ------
    TableError
        Up to 50 problems: a column that is missing, an empty label, a score that is not allowed.
    """
    problems = CellProblems()
    called, table = read_found(
        path,
        NAMES,
        _REQUIRED,
        problems,
        wanted=Wanted.SCORES,
        answers=("score",),
        choices=choices,
        scores=Scores(lambda cell: not math.isnan(read_score(cell)), criteria),
    )
    called = {name: own for name, own in called.items() if name in NAMES}
    if "source" not in called and "document" in called:
        called["source"] = called.pop("document")
    cells = {name: table.text[own] for name, own in called.items()}
    has_chats = "turn" in cells and any(cells["turn"].labels)
    if has_chats:
        cells = _of_chats(cells)
    for name in called:
        if name not in _MAY_BE_EMPTY and not (has_chats and name in ("source", "document")):
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
    problems.raise_for(table)
    kind = _kinds(cells, _WITH_DEGRADED if with_degraded else _COUNTED)
    used = kind >= 0
    if not (used & (kind != Kind.DEGRADED)).any():
        message = "every score is of a degraded or reference item: there is nothing to analyse."
        raise TableError(table.file, [Problem(None, called["kind"], message, "no_ordinary")])
    coded = {name: coded_rows(cells, name, used, criterion if name == "criterion" else "") for name in _LABELS}
    refuse_many_systems(table.file, called["system"], len(coded["system"][1]))
    score = values[given.codes][used]
    labels = {name: each for name, (_, each) in coded.items()}
    codes = {name: each for name, (each, _) in coded.items()}
    return PlainScores(
        workers=labels["worker"],
        systems=labels["system"],
        sources=labels["source"],
        documents=labels["document"],
        criteria=labels["criterion"],
        **codes,
        score=score,
        kind=kind[used],
        assignment=_assignments(cells, used, codes["worker"], len(labels["worker"])),
        warnings=_warnings(table, used, with_degraded=with_degraded),
        fingerprint=_fingerprint(coded, score),
        has_chats=has_chats,
    )


_LABELS = ("worker", "system", "source", "document", "criterion")


def _of_chats(columns: Mapping[str, TextColumn]) -> dict[str, TextColumn]:
    """Return the columns with chats as documents, and their replies as sources."""
    telling = ("worker", "assignment", "hit", "position", "document", "source", "system")
    parts = [(columns[name].codes, len(columns[name].labels)) for name in telling if name in columns]
    chat, n_chats = dense_ranks(*combined(parts))
    labels = [f"chat {number}" for number in range(1, n_chats + 1)]
    return {**columns, "document": TextColumn(chat.astype(np.int32), labels), "source": columns["turn"]}


def _kinds(columns: Mapping[str, TextColumn], known: Mapping[str, Kind]) -> Codes:
    """Return the kind of each row's item, −1 for those that are not used; items of no kind are ordinary."""
    if "kind" not in columns:
        return np.full(columns["score"].codes.size, Kind.ORDINARY, np.int64)
    kind = columns["kind"]
    of_label = np.array([known.get(label.casefold(), -1) for label in kind.labels], np.int64)
    return np.asarray(of_label[kind.codes])


def _assignments(columns: Mapping[str, TextColumn], used: Mask, worker: Codes, n_workers: int) -> Codes:
    """Return the assignment of each row that is used: names of assignments are a worker's own."""
    if "assignment" not in columns:
        return worker
    own, labels = sorted_codes(columns["assignment"])
    return dense_ranks(*combined([(worker, n_workers), (own[used], len(labels))]))[0]


def coded_rows(columns: Mapping[str, TextColumn], name: str, used: Mask, default: str) -> tuple[Codes, list[str]]:
    """Return codes and labels of the rows that are used; one code, `default`, where there is no such column."""
    if name not in columns:
        return np.zeros(int(used.sum()), np.int64), [default]
    codes, labels = sorted_codes(columns[name])
    there, dense = np.unique(codes[used], return_inverse=True)
    return dense.astype(np.int64), [labels[code] for code in there]


def _warnings(table: Table, used: Mask, *, with_degraded: bool) -> list[RatingsWarning]:
    found = said_of(table)
    if n_left_out := int(np.count_nonzero(~used)):
        what = "reference" if with_degraded else "degraded and reference"
        message = f"Scores of {what} items, which are left out: {n_left_out:,}."
        found.append(RatingsWarning("quality_control", n_left_out, message))
    return found


def _fingerprint(coded: Mapping[str, tuple[Codes, list[str]]], score: Floats) -> str:
    digest = hashlib.sha256(b"evalsite plain scores 1\n")
    for codes, labels in coded.values():
        digest.update(json.dumps(labels).encode() + b"\n" + codes.astype("<i8").tobytes())
    digest.update((score + 0.0).astype("<f8").tobytes())
    return digest.hexdigest()
