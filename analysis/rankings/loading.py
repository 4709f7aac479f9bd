"""Files of rankings, and of choices of the best and the worst, to arrays: everything wrong is said at once."""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from analysis.ratings.coding import combined, dense, first_rows, sorted_codes
from analysis.stats.ratings import Codes, Floats
from evalsite.lib.tables import CellProblems, Table, TableError, TextColumn, if_windows, preview, read_columns
from evalsite.lib.tables.errors import listing, shorten
from evalsite.lib.tables.table import missing_column, refuse_empty

_RANK = re.compile(r"[1-9]\d{0,3}(\.0+)?")
_OPTION = re.compile(r"(system|option|output)[ _]?([a-z]|\d+)", re.IGNORECASE)
BEST, MIDDLE, WORST = 1.0, 2.0, 3.0


@dataclass(frozen=True)
class RankingData:
    """Rankings of some systems each, one system of one ranking a row.

    `judgement`, `system`: int, (n_rows,); codes of rankings, and of `systems`, whose labels are sorted. `rank`:
    float64, (n_rows,), the lower, the better; equal ones are ties. `worker`, `source`: int, (n_judgements,).
    """

    systems: list[str]
    workers: list[str]
    sources: list[str]
    judgement: Codes
    system: Codes
    rank: Floats
    worker: Codes
    source: Codes
    fingerprint: str = ""


def load_rankings(path: Path, encoding: str | None = None) -> RankingData:
    """Return the rankings of a file: `worker`, `source`, `system` and `rank`, one system of one ranking a row.

    A ranking is what a worker says of a source. Ranks are whole numbers from 1, the best; equal ranks are ties.

    Raises TableError with up to 50 problems: a column that is missing, an empty cell, a rank that is none, a system
    twice in a ranking, a ranking of one system.
    """
    names = ("worker", "source", "system", "rank")
    called, table, problems = _read(path, names, encoding)
    columns = {name: table.text[called[name]] for name in names}
    rank_column = columns["rank"]
    is_rank = np.array([bool(_RANK.fullmatch(label)) or not label for label in rank_column.labels])
    problems.add(
        np.flatnonzero(~is_rank[rank_column.codes]),
        called["rank"],
        "not_a_rank",
        lambda row, other: f"“{shorten(_label(rank_column, row))}” is no rank. Write a whole number from 1, the best.",
    )
    worker, workers = sorted_codes(columns["worker"])
    source, sources = sorted_codes(columns["source"])
    system, systems = sorted_codes(columns["system"])
    judgement, n = dense(*combined([(worker, len(workers)), (source, len(sources))]))
    key, n_keys = dense(*combined([(judgement, n), (system, len(systems))]))
    earlier = first_rows(key, n_keys)[key]
    again = np.flatnonzero(earlier != np.arange(earlier.size))
    problems.add(
        again,
        called["system"],
        "system_twice",
        lambda row, other: f"row {other} ranks the same system for this worker and source. Delete one of the two.",
        earlier[again],
    )
    first = first_rows(judgement, n)
    problems.add(
        np.sort(first[np.bincount(judgement) < 2]),
        called["system"],
        "alone",
        lambda row, other: "this is the only system that the worker ranks for this source. Add others, or delete it.",
    )
    problems.raise_for(table)
    rank = np.array([float(label) for label in rank_column.labels])[rank_column.codes]
    return _data(systems, workers, sources, judgement, system, rank, worker[first], source[first])


def load_best_worst(path: Path, encoding: str | None = None) -> RankingData:
    """Return the choices of a file, one a row: `worker`, `source`, the systems shown (`system_1`, `system_2`, …), and
    which of them is `best` and which `worst`.

    A cell of a system may be empty where fewer were shown.

    Raises TableError with up to 50 problems: a column that is missing, an empty cell, a best or worst system that was
    not shown, one that is both, a system that is shown twice, fewer than three systems.
    """
    there = preview(path, n_rows=0, encoding=if_windows(path, encoding)).columns
    options = [name for name in there if _OPTION.fullmatch(name.strip())]
    if not options:
        raise TableError(path.name, [missing_column("system_1", there)])
    names = ("worker", "source", "best", "worst")
    called, table, problems = _read(path, names, encoding, options)
    labels = sorted({label for name in options for label in table.text[name].labels} - {""})
    place = {label: k for k, label in enumerate(labels)} | {"": -1}
    shown = np.stack([_codes(table.text[name], place) for name in options], axis=1)
    best, worst = (_codes(table.text[called[name]], place) for name in ("best", "worst"))
    for name, chosen in (("best", best), ("worst", worst)):
        column = table.text[called[name]]
        is_shown = ((shown == chosen[:, None]) & (chosen >= 0)[:, None]).any(axis=1)
        is_empty = np.array([not label for label in column.labels])[column.codes]
        problems.add(
            np.flatnonzero(~is_shown & ~is_empty),
            called[name],
            "not_shown",
            partial(_not_shown, column, [[labels[code] for code in row if code >= 0] for row in shown]),
        )
    problems.add(
        np.flatnonzero((best == worst) & (best >= 0)),
        called["worst"],
        "same_system",
        lambda row, other: "the same system is best and worst. Correct one, or delete the row.",
    )
    ordered = np.sort(shown, axis=1)
    problems.add(
        np.flatnonzero(((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any(axis=1)),
        options[0],
        "system_twice",
        lambda row, other: "a system is shown twice in this row. Correct it, or delete the row.",
    )
    problems.add(
        np.flatnonzero((shown >= 0).sum(axis=1) < 3),
        options[0],
        "too_few",
        lambda row, other: "fewer than three systems are shown in this row: a best and a worst need another one.",
    )
    problems.raise_for(table)
    worker, workers = sorted_codes(table.text[called["worker"]])
    source, sources = sorted_codes(table.text[called["source"]])
    judgement, place_shown = np.nonzero(shown >= 0)
    system = shown[judgement, place_shown]
    rank = np.where(system == best[judgement], BEST, np.where(system == worst[judgement], WORST, MIDDLE))
    return _data(labels, workers, sources, judgement, system, rank, worker, source)


def _read(
    path: Path, names: tuple[str, ...], encoding: str | None, others: list[str] | None = None
) -> tuple[dict[str, str], Table, CellProblems]:
    """Return the file's name of each column, the table, and the problems that its empty cells are."""
    encoding = if_windows(path, encoding)
    there = preview(path, n_rows=0, encoding=encoding).columns
    known = {name.strip().casefold(): name for name in reversed(there)}
    if missing := [name for name in names if name not in known]:
        raise TableError(path.name, [missing_column(name, there) for name in missing])
    called = {name: known[name] for name in names}
    problems = CellProblems()
    table = read_columns(path, [*called.values(), *(others or [])], encoding=encoding, problems=problems)
    for name in called.values():
        refuse_empty(table.text[name], name, problems)
    return called, table, problems


def _not_shown(column: TextColumn, shown: Sequence[Sequence[str]], row: int, other: int | None) -> str:
    return f"“{shorten(_label(column, row))}” was not shown. The systems of this row are {listing(shown[row])}."


def _label(column: TextColumn, row: int) -> str:
    return column.labels[column.codes[row]]


def _codes(column: TextColumn, place: dict[str, int]) -> Codes:
    return np.array([place.get(label, -2) for label in column.labels], np.int64)[column.codes]


def _data(
    systems: list[str],
    workers: list[str],
    sources: list[str],
    judgement: Codes,
    system: Codes,
    rank: Floats,
    worker: Codes,
    source: Codes,
) -> RankingData:
    digest = hashlib.sha256(b"evalsite rankings 1\n")
    for labels in (systems, workers, sources):
        digest.update(json.dumps(labels).encode() + b"\n")
    for codes in (judgement, system, worker, source):
        digest.update(codes.astype("<i8").tobytes())
    digest.update(rank.astype("<f8").tobytes())
    return RankingData(systems, workers, sources, judgement, system, rank, worker, source, digest.hexdigest())
