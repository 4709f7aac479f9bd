"""Files of rankings, and of choices of the best and the worst, to arrays: everything wrong is said at once."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from analysis.data.choices import GUESSED, Choices
from analysis.data.coding import combined, first_rows, sorted_codes
from analysis.data.finding import DOCUMENT, ITEM, SEGMENT, SYSTEM, WORKER
from analysis.data.finding import NAMES as RATING_NAMES
from analysis.data.loading import read_kinds, read_words, refuse_many_systems
from analysis.data.notices import ResponsesWarning, said_of
from analysis.data.reading import read_found
from analysis.data.responses import Part, fingerprint, rows_of
from analysis.stats.codes import dense_ranks
from analysis.stats.rankings import share_beaten
from analysis.stats.ratings import Codes, Floats, Mask
from campaigns.design.composition import Kind
from evalsite.lib.tables import CellProblems, Table, TableError, TextColumn, preview, read_columns
from evalsite.lib.tables.errors import listing, shorten
from evalsite.lib.tables.table import missing_column, refuse_empty

NAMES = {
    "worker": WORKER,
    "source": ("source_id", *SEGMENT, *DOCUMENT, *ITEM),
    "system": SYSTEM,
    "rank": ("position", "place"),
    "best": ("most", "winner"),
    "worst": ("least", "loser"),
    "criterion": RATING_NAMES["criterion"],
    **dict.fromkeys(("assignment", "page", "kind", "degraded"), ()),
}
"""What files call the columns of rankings and choices."""
_OF_JUDGEMENTS = ("worker", "source", "assignment", "page", "criterion")
_RANK = re.compile(r"[1-9]\d{0,3}(\.0+)?")
_OPTION = re.compile(r"(system|option|output)[ _]?([a-z]|\d+)", re.IGNORECASE)
BEST, MIDDLE, WORST = 1.0, 2.0, 3.0


@dataclass(frozen=True)
class RankingData:
    """Rankings of some systems each, one system of one ranking a row.

    `judgement`, `system`: int, (n_rows,); codes of rankings, and of `systems`, whose labels are sorted. `rank`:
    float64, (n_rows,), the lower, the better; equal ones are ties. `is_degraded`: bool, (n_rows,). Of rankings, int,
    (n_judgements,): codes of `worker`, `source` and `criterion` (one without a name where files have none), `kind`,
    as `Kind`, and `assignment`, of what a worker did at one go. `attributes`: columns by whose groups scores are
    compared, (n_rows,).
    """

    systems: list[str]
    workers: list[str]
    sources: list[str]
    criteria: list[str]
    judgement: Codes
    system: Codes
    rank: Floats
    is_degraded: Mask
    worker: Codes
    source: Codes
    criterion: Codes
    kind: Codes
    assignment: Codes
    fingerprint: str = ""
    warnings: list[ResponsesWarning] = field(default_factory=list)
    attributes: Mapping[str, TextColumn] = field(default_factory=dict)

    @cached_property
    def beaten(self) -> Floats:
        """The share of the others of its ranking that each system beats, (n_rows,)."""
        return share_beaten(self.judgement, self.rank)

    def take(self, judgements: Mask) -> "RankingData":
        """Return some of the rankings, `judgements`: bool, (n_judgements,); labels stay as they are."""
        if judgements.all():
            return self
        rows = judgements[self.judgement]
        of_rows = {name: getattr(self, name)[rows] for name in ("system", "rank", "is_degraded")}
        names = ("worker", "source", "criterion", "kind", "assignment")
        return replace(
            self,
            judgement=(np.cumsum(judgements, dtype=np.int32) - 1)[self.judgement[rows]],
            **of_rows,
            attributes=rows_of(self.attributes, rows),
            **{name: getattr(self, name)[judgements] for name in names},
        )


def load_rankings(path: Path, choices: Choices = GUESSED) -> RankingData:
    """Return the rankings of a file: `worker`, `source`, `system` and `rank`, one system of one ranking a row.

    A ranking is what a worker says of a source, on one page of one assignment and on one criterion where the file has
    `assignment`, `page` and `criterion`, as a campaign's own file has. `kind` is that of an output: a ranking with a
    degraded one or a repeat is of a copy. Ranks are whole numbers from 1, the best; equal ranks are ties.

    Raises TableError with up to 50 problems: a column that is missing, an empty cell, a rank that is none, a system
    twice in a ranking, a ranking of one system.
    """
    needed, others = ("worker", "source", "system", "rank"), (*_OF_JUDGEMENTS, "kind")
    called, table, problems = _read(path, needed, others, ("rank",), choices)
    rank_column = table.text[called["rank"]]
    is_rank = np.array([bool(_RANK.fullmatch(label)) or not label for label in rank_column.labels])
    problems.add(
        np.flatnonzero(~is_rank[rank_column.codes]),
        called["rank"],
        "not_a_rank",
        lambda row, other: f"“{shorten(_label(rank_column, row))}” is no rank. Write a whole number from 1, the best.",
    )
    coded = {name: sorted_codes(table.text[called[name]]) for name in _OF_JUDGEMENTS if name in called}
    system, systems = sorted_codes(table.text[called["system"]])
    judgement, n = dense_ranks(*combined([(codes, len(labels)) for codes, labels in coded.values()]))
    _refuse_rows(judgement, n, system, len(systems), called, problems)
    kind = read_kinds(table, called, problems)
    problems.raise_for(table)
    refuse_many_systems(table.file, called["system"], len(systems))
    rank = np.array([float(label) for label in rank_column.labels])[rank_column.codes]
    first, is_degraded = first_rows(judgement, n), kind == Kind.DEGRADED
    of_judgements = {name: (codes[first], labels) for name, (codes, labels) in coded.items()}
    of_page = np.zeros(n, np.int8)
    for each in (Kind.REPEAT, Kind.DEGRADED):  # beside a degraded output others are repeats
        of_page[judgement[kind == each]] = each
    data = _data(systems, of_judgements, judgement, system, rank, is_degraded, of_page)
    attributes = {name: table.text[name] for name in choices.groups}
    return replace(data, warnings=said_of(table), attributes=attributes)


def _refuse_rows(
    judgement: Codes, n: int, system: Codes, n_systems: int, called: Mapping[str, str], problems: CellProblems
) -> None:
    """Add a problem for each system that is twice in a ranking, and each ranking of one system."""
    column = called["system"]
    key, n_keys = dense_ranks(*combined([(judgement, n), (system, n_systems)]))
    earlier = first_rows(key, n_keys)[key]
    again = problems.without_known(np.flatnonzero(earlier != np.arange(earlier.size)), called["rank"])
    problems.add(
        again,
        column,
        "system_twice",
        lambda row, other: f"row {other} ranks the same system for this worker and source. Delete one of the two.",
        earlier[again],
    )
    problems.add(
        np.sort(first_rows(judgement, n)[np.bincount(judgement) < 2]),
        column,
        "alone",
        lambda row, other: "this is the only system that the worker ranks for this source. Add others, or delete it.",
    )


def load_best_worst(path: Path, choices: Choices = GUESSED) -> RankingData:
    """Return the choices of a file, one a row: `worker`, `source`, the systems shown (`system_1`, `system_2`, …), and
    which of them is `best` and which `worst`.

    A cell of a system may be empty where fewer were shown. A campaign's own file also has `assignment`, `criterion`,
    `kind`, that of the page, and `degraded`: the number of the degraded output among those shown, from 1.

    Raises TableError with up to 50 problems: a column that is missing, an empty cell, a best or worst system that was
    not shown, one that is both, a system that is shown twice, fewer than three systems.
    """
    there = preview(path, n_rows=0, encoding=choices.for_file(path).encoding).columns
    options = [name for name in there if _OPTION.fullmatch(name.strip())]
    if not options:
        raise TableError(path.name, [missing_column("system_1", there)])
    needed, others = ("worker", "source", "best", "worst"), (*_OF_JUDGEMENTS, "kind", "degraded")
    called, table, problems = _read(path, needed, others, ("best", "worst"), choices, options)
    labels = sorted({label for name in options for label in table.text[name].labels} - {""})
    place = {label: k for k, label in enumerate(labels)} | {"": -1}
    shown = np.stack([_codes(table.text[name], place) for name in options], axis=1)
    best, worst = (_codes(table.text[called[name]], place) for name in ("best", "worst"))
    _refuse_choices(table, called, options[0], shown, labels, best, worst, problems)
    kind = read_kinds(table, called, problems)
    places = {"": 0} | {str(place): place for place in range(1, len(options) + 1)}
    degraded = read_words(table, called, "degraded", places, problems)
    problems.raise_for(table)
    refuse_many_systems(table.file, options[0], len(labels))
    coded = {name: sorted_codes(table.text[called[name]]) for name in _OF_JUDGEMENTS if name in called}
    judgement, place_shown = np.nonzero(shown >= 0)
    system = shown[judgement, place_shown]
    rank = np.where(system == best[judgement], BEST, np.where(system == worst[judgement], WORST, MIDDLE))
    data = _data(labels, coded, judgement, system, rank, place_shown + 1 == degraded[judgement], kind)
    attributes = rows_of({name: table.text[name] for name in choices.groups}, judgement)
    return replace(data, warnings=said_of(table), attributes=attributes)


def _refuse_choices(
    table: Table,
    called: Mapping[str, str],
    first_option: str,
    shown: Codes,
    labels: Sequence[str],
    best: Codes,
    worst: Codes,
    problems: CellProblems,
) -> None:
    """Add a problem for each choice that cannot be; `shown`: codes of the systems of each row, −1 for none."""
    for name, chosen in (("best", best), ("worst", worst)):
        column = table.text[called[name]]
        is_shown = ((shown == chosen[:, None]) & (chosen >= 0)[:, None]).any(axis=1)
        is_empty = np.array([not label for label in column.labels])[column.codes]
        problems.add(
            np.flatnonzero(~is_shown & ~is_empty),
            called[name],
            "not_shown",
            partial(_not_shown, column, shown, labels),
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
        first_option,
        "system_twice",
        lambda row, other: "a system is shown twice in this row. Correct it, or delete the row.",
    )
    problems.add(
        np.flatnonzero((shown >= 0).sum(axis=1) < 3),
        first_option,
        "too_few",
        lambda row, other: "fewer than three systems are shown in this row: a best and a worst need another one.",
    )


def _read(
    path: Path,
    needed: tuple[str, ...],
    others: tuple[str, ...],
    answers: tuple[str, ...],
    choices: Choices,
    own: Sequence[str] = (),
) -> tuple[dict[str, str], Table, CellProblems]:
    """Return the file's name of each column, the table with these and the columns `own`, and problems of empty cells.

    `others` may be missing; `answers` are those of both that hold what was answered.
    """
    problems = CellProblems()
    wanted = {name: NAMES[name] for name in dict.fromkeys((*needed, *others))}

    def read(path: Path, called: Mapping[str, str], encoding: str | None, problems: CellProblems) -> Table:
        columns = list(dict.fromkeys([*called.values(), *own]))
        return read_columns(path, columns, encoding=encoding, problems=problems)

    called, table = read_found(path, wanted, needed, problems, wanted=None, answers=answers, choices=choices, read=read)
    for name in needed:
        refuse_empty(table.text[called[name]], called[name], problems)
    return called, table, problems


def _not_shown(column: TextColumn, shown: Codes, labels: Sequence[str], row: int, other: int | None) -> str:
    there = listing([labels[code] for code in shown[row] if code >= 0])
    return f"“{shorten(_label(column, row))}” was not shown. The systems of this row are {there}."


def _label(column: TextColumn, row: int) -> str:
    return column.labels[column.codes[row]]


def _codes(column: TextColumn, place: dict[str, int]) -> Codes:
    return np.array([place.get(label, -2) for label in column.labels], np.int64)[column.codes]


def _data(
    systems: list[str],
    coded: Mapping[str, tuple[Codes, list[str]]],
    judgement: Codes,
    system: Codes,
    rank: Floats,
    is_degraded: Mask,
    kind: Codes,
) -> RankingData:
    """Return the data; `coded`: codes of each ranking and their labels, those of `_OF_JUDGEMENTS` that files have."""
    worker, workers = coded["worker"]
    source, sources = coded["source"]
    criterion, criteria = coded.get("criterion", (np.zeros(worker.size, np.int32), [""]))
    assignment = coded.get("assignment", (worker, workers))[0]
    labels = (systems, workers, sources, criteria)
    of_rankings = (worker, source, criterion, kind, assignment)
    parts: list[Part] = [*labels, judgement, system, is_degraded, *of_rankings, rank]
    judgement_code, system_code = judgement.astype(np.int32), system.astype(np.int32)
    worker, source, criterion, kind, assignment = (codes.astype(np.int32) for codes in of_rankings)
    return RankingData(
        *(systems, workers, sources, criteria),
        *(judgement_code, system_code, rank, is_degraded),
        *(worker, source, criterion, kind, assignment),
        fingerprint("rankings 2", parts),
    )
