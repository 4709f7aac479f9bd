"""Ratings files to arrays: everything wrong is said at once, and nothing is half imported."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from analysis.data.tools import Wanted, only_criteria, read_made
from analysis.ratings.columns import (
    NAMES,
    REQUIRED,
    ColumnMapping,
    chosen_mapping,
    columns_of,
    guess_mapping,
    score_columns,
)
from analysis.ratings.finding import check_chosen
from analysis.ratings.items import Items, check_items, find_items
from analysis.ratings.notices import N_EXAMPLES, Names, RatingsWarning, column_warnings, rating_warnings
from analysis.ratings.replies import ReplyScores, take_replies
from analysis.ratings.rows import Criteria, RatingRows, code_rows
from analysis.ratings.scales import FULL, Scale
from analysis.stats.ratings import Ratings, from_long
from evalsite.lib.tables import CellProblems, Problem, Table, TableError, TextColumn, preview, read_columns
from evalsite.lib.tables.errors import listing
from evalsite.lib.tables.table import numbers_of

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
    columns: Mapping[str, str] | None = None,
    items_file: Path | None = None,
    is_made: bool = False,
) -> LoadedRatings:
    """Return the ratings of a file in any format that `evalsite.lib.tables` reads, one row a rating or an item.

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
    columns : {canonical column: the file's column}, where the others are guessed.
    items_file : the file of what was annotated, where a tool's file does not say it.
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
    is_guessed, made = False, None
    if is_made and mapping is not None and "score" in mapping:
        made, mapping = _made_table(path, mapping, called, name, problems)
    elif mapping is None and not wide:
        found = read_made(
            path,
            Wanted.SCORES,
            name=name,
            encoding=encoding,
            max_bytes=max_bytes,
            columns=columns,
            items=items_file,
            criteria=[*called.names, *called.statements],
        )
        is_guessed = found is None
        if found is not None:
            made, mapping = found, _as_made(found, {each: each for each in NAMES}, called, problems)
    if made is not None and mapping is not None:
        table = made
    else:
        table, mapping = _read(
            path, called, mapping, wide, columns or {}, name, max_bytes, encoding, on_progress, problems
        )
    scales = [scale] * len(criteria) if isinstance(scale, tuple) else scale
    rows = code_rows(table, mapping, called, scales, problems)
    unscored = _leave_out_unscored(rows, table, mapping, problems)
    advice = "Choose the column that says whose output was rated."
    refuse_many_systems(table.file, mapping["system"], len(rows.systems), advice)
    # A score that is wrong is still somebody's rating of something; a wrong label leaves that unknown.
    unclear = [problems.rows_in(mapping[column]) for column in mapping if column not in ("score", "scores")]
    if any(bad.size for bad in unclear):
        rows.drop(np.concatenate(unclear))
    items = find_items(rows)
    check_items(rows, items, called, mapping, problems)
    problems.raise_for(table)
    replies, items = take_replies(rows, items, len(criteria))
    kept = _criteria_of_items(rows, len(criteria), replies)
    ratings = _ratings(rows, items, len(kept))
    names = Names(rows.workers, rows.systems, rows.sources, rows.assignments, [criteria[code] for code in kept])
    warnings = [RatingsWarning(warning.code, 1, warning.message) for warning in table.warnings]
    if is_guessed and "scores" in mapping:
        message = f"Each of these columns was used for the scores of a criterion: {', '.join(mapping['scores'])}."
        warnings.append(RatingsWarning("wide", 1, message))
    if unscored:
        message = f"Rows without a score were left out: {unscored:,} answers that are no score or were not judged."
        warnings.append(RatingsWarning("unscored", unscored, message))
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


def _leave_out_unscored(rows: RatingRows, table: Table, mapping: ColumnMapping, problems: CellProblems) -> int:
    """Leave out the rows without a score of a campaign's own file, which has a column for why; return how many.

    Raises TableError if no row has a score.
    """
    if "score" not in mapping or not {"response", "abstained"} <= set(table.columns):
        return 0
    empty = problems.take_rows("missing_number", mapping["score"])
    if empty.size == table.n_rows:
        message = "no row has a score, so there is nothing to analyse."
        raise TableError(table.file, [Problem(None, mapping["score"], message, "no_scores")])
    if empty.size:
        rows.leave_out(empty)
    return int(empty.size)


def _read(
    path: str | Path,
    criteria: Criteria,
    mapping: ColumnMapping | None,
    wide: Sequence[str],
    named: Mapping[str, str],
    name: str | None,
    max_bytes: int | None,
    encoding: str | None,
    on_progress: Callable[[float], None] | None,
    problems: CellProblems,
) -> tuple[Table, ColumnMapping]:
    """Return the columns of the file and which is which."""
    file = name or Path(path).name

    def guess(columns: Sequence[str]) -> ColumnMapping:
        if wide:
            found = guess_mapping([column for column in columns if column not in wide], named=named)
            return {column: found[column] for column in found if column not in ("score", "criterion")} | {
                "scores": [*wide]
            }
        return guess_mapping(columns, [*criteria.names, *criteria.statements], named=named)

    if mapping is not None:
        chosen = chosen_mapping(mapping)
        _require(file, chosen, criteria, columns_of(chosen))
    else:
        beginning = preview(path, name, 0, max_bytes=max_bytes, encoding=encoding)
        check_chosen(named, NAMES, beginning.columns)
        chosen = guess(beginning.columns)
        _require(file, chosen, criteria, beginning.columns)

    def read() -> Table:
        return read_columns(
            path,
            columns_of(chosen),
            name,
            score_columns(chosen),
            on_progress,
            blank=chosen.get("scores", ()),
            max_bytes=max_bytes,
            encoding=encoding,
            problems=problems,
        )

    table = read()
    if mapping is None and (better := guess(table.columns)) != chosen:
        # In JSON Lines a column may first occur far down; leaving out, say, the kinds would be silent and
        # wrong.
        chosen = better
        problems.clear()
        table = read()
    return table, chosen


def _made_table(
    path: str | Path, mapping: ColumnMapping, criteria: Criteria, name: str | None, problems: CellProblems
) -> tuple[Table, ColumnMapping]:
    """Return a table that was made from a file of another tool, and which of its columns is which."""
    chosen = chosen_mapping(mapping)
    wanted = [*criteria.names, *criteria.statements]
    table = only_criteria(read_columns(path, columns_of(chosen), name), wanted, chosen.get("criterion", ""))
    return table, _as_made(table, chosen, criteria, problems)


def _as_made(made: Table, called: ColumnMapping, criteria: Criteria, problems: CellProblems) -> ColumnMapping:
    """Return the columns of a table made of another tool's file, and turn its scores into numbers."""
    mapping = {name: column for name, column in called.items() if column in made.columns}
    rated = made.text.get(mapping.get("criterion", ""), _NOTHING)
    if len(criteria.names) == 1 and len(rated.labels) == 1:
        del mapping["criterion"]  # one criterion is rated, whatever its name
    _require(made.file, mapping, criteria, made.columns)
    column = mapping["score"]
    made.numbers[column] = numbers_of(made.text.pop(column), column, problems)
    return mapping


_NOTHING = TextColumn(np.empty(0, np.int32), [])


def _require(file: str, mapping: ColumnMapping, criteria: Criteria, columns: Sequence[str]) -> None:
    if "scores" in mapping:
        needed = tuple(column for column in REQUIRED if column != "score")
    else:
        needed = REQUIRED if len(criteria.names) == 1 else (*REQUIRED, "criterion")
    there = listing(column for column in columns if column)
    problems = [
        Problem(
            1,
            column,
            f"no column is known to hold the {column}. The columns are {there}: rename one of them “{column}”, or "
            "choose which one is meant.",
            "missing_column",
        )
        for column in needed
        if column not in mapping
    ]
    if problems:
        raise TableError(file, problems)


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
