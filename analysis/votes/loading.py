"""Files of votes to arrays: everything wrong is said at once, and nothing is half read."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from analysis.ratings.coding import sorted_codes
from analysis.ratings.loading import refuse_many_systems
from analysis.stats.bradley_terry import Outcome
from analysis.stats.ratings import Codes, Mask
from evalsite.lib.tables import CellProblems, TableError, TextColumn, if_windows, preview, read_columns
from evalsite.lib.tables.errors import shorten
from evalsite.lib.tables.table import missing_column, refuse_empty

_NAMES = {
    "worker": ("worker", "worker_id", "rater", "annotator", "judge", "user"),
    "source": ("source", "source_id", "prompt", "question_id", "segment", "item"),
    "system_a": ("system_a", "model_a", "left", "a"),
    "system_b": ("system_b", "model_b", "right", "b"),
    "winner": ("winner", "preference", "vote", "choice"),
}
_REQUIRED = ("worker", "system_a", "system_b", "winner")
_PUNCTUATION = re.compile(r"[\W_]+")
BOTH_BAD = -1
_WORDS = {
    **dict.fromkeys(("a", "left", "systema", "modela"), int(Outcome.LEFT)),
    **dict.fromkeys(("b", "right", "systemb", "modelb"), int(Outcome.RIGHT)),
    **dict.fromkeys(("tie", "draw", "equal", "both", "bothgood"), int(Outcome.TIE)),
    **dict.fromkeys(("bothbad", "tiebothbad", "neither"), BOTH_BAD),
}


@dataclass(frozen=True)
class VoteData:
    """Votes, in the order of the file.

    `left`, `right`, `worker`: int, (n_votes,), codes of `systems` and `workers`, whose labels are sorted; `left` was
    shown on the left. `outcome`: an `Outcome`; `is_both_bad` marks ties of two that are bad.
    """

    systems: list[str]
    workers: list[str]
    left: Codes
    right: Codes
    worker: Codes
    outcome: Codes
    is_both_bad: Mask
    fingerprint: str = ""


def load_votes(path: Path, encoding: str | None = None) -> VoteData:
    """Return the votes of a file in any format that `evalsite.lib.tables` reads, one vote a row.

    Columns are `worker`, `system_a` (shown on the left), `system_b` and `winner`, or have usual other names of these;
    `source` and others are not used. The winner is the name of one of the two, `a`, `b`, `left`, `right`, `tie` or
    `both bad`; a name wins over these words.

    Raises TableError with up to 50 problems: a column that is missing, an empty cell, a system compared with itself, a
    winner that was not shown.
    """
    encoding = if_windows(path, encoding)
    there = preview(path, n_rows=0, encoding=encoding).columns
    called = _find(there)
    if missing := [name for name in _REQUIRED if name not in called]:
        raise TableError(path.name, [missing_column(name, there) for name in missing])
    problems = CellProblems()
    table = read_columns(path, [called[name] for name in _REQUIRED], encoding=encoding, problems=problems)
    columns = {name: table.text[called[name]] for name in _REQUIRED}
    for name, column in columns.items():
        refuse_empty(column, called[name], problems)
    systems = sorted({*columns["system_a"].labels, *columns["system_b"].labels})
    left, right = (_in(systems, columns[name]) for name in ("system_a", "system_b"))
    winner = columns["winner"]
    outcome, is_both_bad, is_known = _outcomes(winner, systems, left, right)
    problems.add(
        np.flatnonzero(left == right),
        called["system_b"],
        "same_system",
        lambda row, other: f"“{shorten(systems[left[row]])}” is compared with itself. Correct one, or delete the row.",
    )
    bad = np.setdiff1d(np.flatnonzero(~is_known), problems.rows_in(called["winner"]))
    problems.add(
        bad,
        called["winner"],
        "not_shown",
        lambda row, other: (
            f"“{shorten(winner.labels[winner.codes[row]])}” is not “{shorten(systems[left[row]])}” or "
            f"“{shorten(systems[right[row]])}”. Write one of the two, a, b, tie or both bad."
        ),
    )
    problems.raise_for(table)
    refuse_many_systems(table.file, called["system_a"], len(systems))
    worker, workers = sorted_codes(columns["worker"])
    return VoteData(
        systems,
        workers,
        left,
        right,
        worker,
        outcome,
        is_both_bad,
        _fingerprint((systems, workers), (left, right, worker, outcome, is_both_bad)),
    )


def _find(there: list[str]) -> Mapping[str, str]:
    """Return the file's column of each that is known; its own name wins over an earlier column."""
    plain = {name: _PUNCTUATION.sub("_", name.strip().casefold()) for name in there}
    found: dict[str, str] = {}
    for column, names in _NAMES.items():
        for wanted in names:
            free = [name for name in there if plain[name] == wanted and name not in found.values()]
            if free and column not in found:
                found[column] = free[0]
    return found


def _in(systems: list[str], column: TextColumn) -> NDArray[np.int32]:
    place = {name: k for k, name in enumerate(systems)}
    return np.array([place[label] for label in column.labels], np.int32)[column.codes]


def _outcomes(winner: TextColumn, systems: list[str], left: Codes, right: Codes) -> tuple[Codes, Mask, Mask]:
    """Return the outcome of each vote, whether it is of two that are bad, and whether it could be read."""
    place = {name: k for k, name in enumerate(systems)}
    unknown = len(Outcome)
    named = np.array([place.get(label, -1) for label in winner.labels], np.int32)[winner.codes]
    word = np.array([_WORDS.get(_PUNCTUATION.sub("", label.casefold()), unknown) for label in winner.labels], np.int8)
    meant = word[winner.codes]
    is_both_bad = meant == BOTH_BAD
    meant = np.where(is_both_bad, np.int8(Outcome.TIE), meant)
    of_name = np.where(named == left, np.int8(Outcome.LEFT), np.where(named == right, np.int8(Outcome.RIGHT), unknown))
    outcome = np.where(of_name == unknown, meant, of_name).astype(np.int8)
    return outcome, is_both_bad & (of_name == unknown), outcome != unknown


def _fingerprint(labels: tuple[list[str], ...], arrays: tuple[NDArray[np.generic], ...]) -> str:
    digest = hashlib.sha256(b"evalsite votes 1\n")
    for each in labels:
        digest.update(json.dumps(each).encode() + b"\n")
    for array in arrays:
        digest.update(array.astype("<i8").tobytes())
    return digest.hexdigest()
