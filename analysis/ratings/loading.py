"""Ratings files to arrays: everything wrong is said at once, and nothing is half imported."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from analysis.data.choices import GUESSED, Choices
from analysis.data.describing import describe
from analysis.data.identity import clean_ids, settle_twice
from analysis.data.layout import SHAPES, Shape
from analysis.data.reading import (
    missing_answers,
    of_wanted_task,
    read_further,
)
from analysis.data.tasks import ReadMore, take_rows
from analysis.ratings.columns import (
    ColumnMapping,
    guess_mapping,
    score_columns,
)
from analysis.ratings.items import REPEATED, Items, check_items, find_items
from analysis.ratings.notices import N_EXAMPLES, Names, RatingsWarning, column_warnings, rating_warnings, said_of
from analysis.ratings.replies import ReplyScores, take_replies
from analysis.ratings.rows import Criteria, RatingRows, code_rows
from analysis.ratings.scales import FULL, Scale
from analysis.ratings.tables import RatingsSource, read_converted, read_other, read_usual
from analysis.stats.ratings import Ratings, from_long
from evalsite.lib.tables import (
    CellProblems,
    Problem,
    Table,
    TableError,
    TableWarning,
)

# Every system is compared with every other one.
MAX_SYSTEMS = 500


@dataclass(frozen=True)
class LoadedRatings:
    """The ratings of one file.

    Attributes
    ----------
    ratings : Ratings
        Items ordered by worker, assignment and position; criteria in the order asked for.
    workers, systems, assignments, sources : list of str
        Labels by code; all sorted, assignments by worker first.
    criteria : list of str
        Names of the columns of `ratings.scores`.
    warnings : list of RatingsWarning
    fingerprint : str
        SHA-256, hexadecimal, of the arrays and labels: independent of the file's format and of the order of
        its rows.
    score_columns : tuple of str
        The file's names of the columns that hold the scores.
    pools : tuple of str
        The pool that each worker belongs to, "" for none; empty if nobody belongs to one.
    replies : ReplyScores, optional
        Scores of single replies of chats. Criteria that only they have are none of `criteria` if chats have scores too.
    """

    ratings: Ratings
    workers: list[str]
    systems: list[str]
    criteria: list[str]
    sources: list[str]
    assignments: list[str]
    warnings: list[RatingsWarning]
    fingerprint: str
    score_columns: tuple[str, ...] = ()
    pools: tuple[str, ...] = ()
    replies: ReplyScores | None = None


def load_ratings(
    path: str | Path,
    *,
    criteria: Sequence[str],
    statements: Sequence[str] = (),
    mapping: ColumnMapping | None = None,
    wide: Sequence[str] = (),
    name: str | None = None,
    max_bytes: int | None = None,
    encoding: str | None = None,
    scale: Scale | Sequence[Scale] = FULL,
    on_progress: Callable[[float], None] | None = None,
    choices: Choices = GUESSED,
    is_made: bool = False,
) -> LoadedRatings:
    """Return the ratings of a file in any format and shape that is read.

    Parameters
    ----------
    path : path of the file.
    criteria : names of the protocol's criteria, matched without regard to capitals.
    statements : statement of each criterion, "" for none; the file may name a criterion by it.
    mapping : {canonical column: the file's column}; guessed from the names by default.
    wide : columns that hold the scores of a criterion each, where the others are guessed.
    name : what the person calls the file.
    max_bytes : a larger file is refused; None: no limit.
    encoding : of a text file without a mark; UTF-8 by default.
    scale : least and greatest score that a worker could give, or those of each criterion. Scores are returned as they
        were given.
    on_progress : called now and then with the share done, 0–1.
    choices : how the file is read, as far as somebody said it.
    is_made : the file is a table that was made from a file of another tool, and is read as that file would be: where
        some of its criteria are wanted, the others are left out.

    Raises
    ------
    TableError
        Up to 50 problems in the order of the file: a column that is missing, cells that cannot be what they
        should be, ratings that contradict or repeat others.
    ValueError
        If `criteria` is empty or names one twice, or `mapping` names what is not a column of a ratings file.

    Notes
    -----
    Without a column `kind` every item is ordinary. Without `assignment` a worker's go at one HIT is one;
    without `hit` too, all that a worker did. Without `position` an item is one source, system and kind of an
    assignment. In a wide file, with a column of scores for each criterion, an empty cell is not a rating. A
    worker belongs to one `pool`, or to none. Rows with a `turn` are scores of single replies of a chat. If there are no
    others, the score of a chat is the mean of its replies; else they are kept apart, as `replies`.
    """
    known = {criterion.strip().casefold() for criterion in criteria}
    if not criteria or len(known) < len(criteria):
        raise ValueError("there must be one criterion at least, and none twice")
    problems = CellProblems()
    called = Criteria(criteria, statements)
    is_guessed = mapping is None and not wide
    file, shape = RatingsSource(Path(path), name, max_bytes, encoding, choices), Shape.LONG
    if is_made and mapping is not None and "score" in mapping:
        table, mapping = read_converted(path, mapping, called, name, problems)
    elif found := read_other(file, called, problems) if is_guessed else None:
        table, mapping, shape = found
    else:
        table, mapping = read_usual(file, called, mapping, wide, on_progress, problems)
        shape = Shape.CRITERIA if "scores" in mapping else Shape.LONG
    scales = [scale] * len(criteria) if isinstance(scale, tuple) else scale
    table, read_more, left_out = _prepared(file, table, mapping, problems)
    rows, items = _coded(table, mapping, called, scales, problems)
    if problems.codes == {REPEATED}:
        twice = CellProblems()
        once = settle_twice(*_roles(mapping), table, choices, twice, read_more)
        if not twice.n:
            problems.clear()
            table, (rows, items) = once, _coded(once, mapping, called, scales, problems)
    problems.raise_for(table)
    if choices.tell:
        n_missing = sum(warning.count for warning in left_out)
        choices.tell(describe(*_roles(mapping), table, shape=SHAPES[shape], n_missing=n_missing))
    replies, items = take_replies(rows, items, len(criteria))
    kept = _criteria_of_items(rows, len(criteria), replies)
    ratings = _ratings(rows, items, len(kept))
    names = Names(rows.workers, rows.systems, rows.sources, rows.assignments, [criteria[code] for code in kept])
    warnings = [*said_of(table), *left_out]
    if is_guessed and "scores" in mapping:
        message = f"Each of these columns was used for the scores of a criterion: {', '.join(mapping['scores'])}."
        warnings.append(RatingsWarning("wide", 1, message))
    warnings += column_warnings(mapping, guess_mapping(table.columns), has_source=bool(rows.sources))
    warnings += rating_warnings(ratings, names, _hit_of_assignment(rows))
    pools, mixed = _pools(rows)
    warnings += mixed
    if replies and replies.n_left_out:
        message = f"Scores of replies in chats without a score as a whole, left out: {replies.n_left_out:,}."
        warnings.append(RatingsWarning("replies_alone", replies.n_left_out, message))
    return LoadedRatings(
        ratings=ratings,
        workers=rows.workers,
        systems=rows.systems,
        criteria=list(names.criteria),
        sources=rows.sources,
        assignments=rows.assignments,
        warnings=warnings,
        fingerprint=_fingerprint(ratings, names, pools, replies),
        score_columns=tuple(score_columns(mapping)),
        pools=pools,
        replies=replies,
    )


def _criteria_of_items(rows: RatingRows, n_criteria: int, replies: ReplyScores | None) -> list[int]:
    """Return the criteria but for those that only single replies have, and code those of the rows by their place."""
    if replies is None or replies.is_averaged:
        return list(range(n_criteria))
    of_replies = set(replies.criterion.tolist()) - set(rows.criterion.tolist())
    kept = [code for code in range(n_criteria) if code not in of_replies]
    rows.criterion = np.searchsorted(kept, rows.criterion)
    return kept


def refuse_many_systems(file: str, column: str, n_systems: int, advice: str = "") -> None:
    """Raise TableError about a column with more systems than are compared."""
    if n_systems > MAX_SYSTEMS:
        message = f"there are {n_systems:,} different systems, and at most {MAX_SYSTEMS} are compared. {advice}"
        raise TableError(file, [Problem(None, column, message.strip(), "too_many_systems")])


def _prepared(
    file: RatingsSource, table: Table, mapping: ColumnMapping, problems: CellProblems
) -> tuple[Table, ReadMore | None, list[RatingsWarning]]:
    """Return the table of the wanted task with ids in one form, what reads more of it, and how many rows were left out.

    Where a cell is bad, the table stays as it is: its problems name its rows.
    """
    further = partial(read_further, file.path, file.encoding, name=file.name)
    table, warnings, read_more = _without_missing(table, mapping, problems, None if table.format == "made" else further)
    if problems.n:
        return table, None, warnings
    called = _roles(mapping)[0]
    return *of_wanted_task(called, clean_ids(called, table), file.choices, read_more), warnings


def _coded(
    table: Table, mapping: ColumnMapping, criteria: Criteria, scales: Sequence[Scale], problems: CellProblems
) -> tuple[RatingRows, Items]:
    """Return the rows as codes, and their items; whatever cannot be is added to `problems`."""
    rows = code_rows(table, mapping, criteria, scales, problems)
    advice = "Choose the column that says whose output was rated."
    refuse_many_systems(table.file, mapping["system"], len(rows.systems), advice)
    # A score that is wrong is still somebody's rating of something; a wrong label leaves that unknown.
    unclear = [problems.rows_in(mapping[column]) for column in mapping if column not in ("score", "scores")]
    if any(bad.size for bad in unclear):
        rows.drop(np.concatenate(unclear))
    items = find_items(rows)
    check_items(rows, items, criteria, mapping, problems)
    return rows, items


def _roles(mapping: ColumnMapping) -> tuple[dict[str, str], list[str]]:
    """Return the column of each role, and the roles that hold scores: of criteria with columns of their own, each."""
    called = {name: own for name, own in mapping.items() if name != "scores"}
    called |= {f"score {place}": own for place, own in enumerate(mapping.get("scores", ()), start=1)}
    return called, [name for name in called if name.startswith("score")]


def _without_missing(
    table: Table, mapping: ColumnMapping, problems: CellProblems, read_more: ReadMore | None
) -> tuple[Table, list[RatingsWarning], ReadMore | None]:
    """Return the rows that have a score, how many have none, and what reads more of them.

    A campaign's own file says why there is none. Raises TableError if no row has a score.
    """
    empty = problems.take_rows("missing_number", mapping["score"]) if "score" in mapping else np.empty(0, np.int64)
    if not empty.size:
        return table, [], read_more
    if empty.size == table.n_rows:
        message = "no row has a score, so there is nothing to analyse."
        raise TableError(table.file, [Problem(None, mapping["score"], message, "no_scores")])
    if problems.n:
        return table, [], read_more
    said = missing_answers(empty.size)
    if {"response", "abstained"} <= set(table.columns):
        message = f"Rows without a score were left out: {empty.size:,} answers that are no score or were not judged."
        said = TableWarning("unscored", message)
    taken, read_more = take_rows(table, np.setdiff1d(np.arange(table.n_rows), empty), read_more)
    return taken, [RatingsWarning(said.code, empty.size, said.message)], read_more


def _ratings(rows: RatingRows, items: Items, n_criteria: int) -> Ratings:
    first = items.first
    unknown = np.full(first.size, -1, np.int32)
    return Ratings(
        # −0.0 and 0.0 are one score and must have one fingerprint.
        scores=from_long(
            item=items.item,
            criterion=rows.criterion,
            score=rows.score + 0.0,
            n_items=items.n_items,
            n_criteria=n_criteria,
        ),
        worker=rows.worker[first].astype(np.int32),
        system=rows.system[first].astype(np.int32),
        assignment=rows.assignment[first].astype(np.int32),
        source=unknown if rows.source is None else rows.source[first].astype(np.int32),
        kind=rows.kind[first].astype(np.int8),
        n_workers=len(rows.workers),
        n_systems=len(rows.systems),
    )


def _hit_of_assignment(rows: RatingRows) -> NDArray[np.int64] | None:
    if rows.hit is None:
        return None
    hit = np.zeros(len(rows.assignments), np.int64)
    hit[rows.assignment] = rows.hit
    return hit


def _pools(rows: RatingRows) -> tuple[tuple[str, ...], list[RatingsWarning]]:
    """Return the pool of each worker, "" for none; who has ratings in several belongs to none, which is a warning."""
    if rows.pool is None or (rows.pool < 0).all():
        return (), []
    is_known = rows.pool >= 0
    pairs = np.unique(rows.worker[is_known].astype(np.int64) * len(rows.pools) + rows.pool[is_known])
    worker, pool = np.divmod(pairs, len(rows.pools))
    n_pools = np.bincount(worker, minlength=len(rows.workers))
    found = np.full(len(rows.workers), -1)
    found[worker] = pool
    found[n_pools > 1] = -1
    mixed = np.flatnonzero(n_pools > 1)
    labels = tuple(rows.pools[code] if code >= 0 else "" for code in found)
    if not mixed.size:
        return labels, []
    message = f"{mixed.size:,} workers have ratings in more than one pool; they belong to none of them."
    names = tuple(rows.workers[code] for code in mixed[:N_EXAMPLES])
    return labels, [RatingsWarning("several_pools", int(mixed.size), message, names)]


def _fingerprint(ratings: Ratings, names: Names, pools: Sequence[str], replies: ReplyScores | None) -> str:
    digest = hashlib.sha256(b"evalsite ratings 1\n")
    for labels in (names.workers, names.systems, names.sources, names.assignments, names.criteria):
        digest.update(json.dumps(list(labels)).encode() + b"\n")
    for codes in (ratings.worker, ratings.system, ratings.assignment, ratings.source, ratings.kind):
        digest.update(codes.astype("<i8").tobytes())
    digest.update(ratings.scores.astype("<f8").tobytes())
    if pools:
        digest.update(json.dumps(list(pools)).encode())
    if replies:
        order = np.lexsort((replies.turn, replies.criterion, replies.item))
        digest.update(json.dumps(replies.turns).encode() + b"\n")
        for codes in (replies.item, replies.turn, replies.criterion):
            digest.update(codes[order].astype("<i8").tobytes())
        digest.update(replies.score[order].astype("<f8").tobytes())
    return digest.hexdigest()
