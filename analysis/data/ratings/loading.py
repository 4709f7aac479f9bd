"""Ratings files to arrays: everything wrong is said at once, and nothing is half imported."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from analysis.data.choices import GUESSED, Choices
from analysis.data.finding import NAMES
from analysis.data.identity import settle_twice
from analysis.data.loading import refuse_many_systems
from analysis.data.notices import N_EXAMPLES, ResponsesWarning, said_of
from analysis.data.ratings.columns import REQUIRED, ColumnMapping, chosen_mapping, guess_mapping, score_columns
from analysis.data.ratings.items import REPEATED, Items, check_items, find_items
from analysis.data.ratings.notices import Names, column_warnings, rating_warnings
from analysis.data.ratings.replies import ReplyScores, take_replies
from analysis.data.ratings.rows import Criteria, RatingRows, code_rows
from analysis.data.ratings.scales import FULL, Scale
from analysis.data.reading import read_answers, tell
from analysis.data.responses import Part, fingerprint, rows_of
from analysis.data.scores import DataFile, Found, Scores
from analysis.data.tools import Wanted
from analysis.data.values import is_number
from analysis.stats.ratings import Ratings, from_long
from evalsite.lib.tables import CellProblems, TextColumn


@dataclass(frozen=True)
class LoadedRatings:
    """The ratings of one file.

    `ratings`: items ordered by worker, assignment and position; `criteria`, in the order asked for, are the columns of
    `ratings.scores`. `workers`, `systems`, `assignments`, `sources`: labels by code, all sorted, assignments by worker
    first. `fingerprint`: SHA-256, hexadecimal, of the arrays and labels: independent of the file's format and of the
    order of its rows. `score_columns`: the file's names of the columns that hold the scores. `pools`: the pool of each
    worker, "" for none; empty if nobody belongs to one. `attributes`: columns by whose groups systems are compared,
    (n_items,), as far as they were asked for; of the first rating of each item. `replies`: scores of single replies of
    chats. Criteria that only they have are none of `criteria` if chats have scores too.
    """

    ratings: Ratings
    workers: list[str]
    systems: list[str]
    criteria: list[str]
    sources: list[str]
    assignments: list[str]
    warnings: list[ResponsesWarning]
    fingerprint: str
    score_columns: tuple[str, ...] = ()
    pools: tuple[str, ...] = ()
    replies: ReplyScores | None = None
    attributes: Mapping[str, TextColumn] = field(default_factory=dict)


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

    `criteria`: those of the protocol, without regard to capitals, or by their `statements`, "" for none. `mapping`:
    {canonical column: the file's column}, guessed by default. `wide`: columns that hold the scores of a criterion each,
    where the others are guessed. `name`: what the person calls the file. A file larger than `max_bytes` is refused.
    `scale`: least and greatest score that a worker could give, or those of each criterion; scores are returned as they
    were given. `on_progress` is called now and then with the share done, 0–1. `is_made`: the file was made from a file
    of another tool, and is read as that would be: where some of its criteria are wanted, the others are left out.

    Without a column `kind` every item is ordinary. Without `assignment` a worker's go at one HIT is one;
    without `hit` too, all that a worker did. Without `position` an item is one source, system and kind of an
    assignment. In a wide file, with a column of scores for each criterion, an empty cell is not a rating. A
    worker belongs to one `pool`, or to none. Rows with a `turn` are scores of single replies of a chat. If there are no
    others, the score of a chat is the mean of its replies; else they are kept apart, as `replies`.

    Raises TableError with up to 50 problems in the order of the file: a missing column, cells that cannot be what they
    should be, ratings that contradict or repeat others; ValueError if `criteria` is empty or names one twice, or
    `mapping` names what is not a column of a ratings file.
    """
    known = {criterion.strip().casefold() for criterion in criteria}
    if not criteria or len(known) < len(criteria):
        raise ValueError("there must be one criterion at least, and none twice")
    problems, called = CellProblems(), Criteria(criteria, statements)
    file = DataFile(Path(path), name, max_bytes, on_progress, is_made)
    is_guessed = mapping is None and not wide
    if mapping is not None:
        chosen = chosen_mapping(mapping)
        roles = {role: own for role, own in chosen.items() if role != "scores"}
        choices = replace(choices, columns=roles, answers=tuple(chosen.get("scores", ())), are_complete=True)
    elif wide:
        choices = replace(choices, answers=tuple(wide))
    found = _found(file, called, replace(choices, encoding=encoding), problems)
    scales = [scale] * len(criteria) if isinstance(scale, tuple) else scale
    rows, items = _coded(found, called, scales, problems)
    if problems.codes == {REPEATED}:
        twice = CellProblems()
        once = settle_twice(found.called, ("score",), found.table, choices, twice, found.read_more)
        if not twice.n:
            problems.clear()
            found = replace(found, table=once)
            rows, items = _coded(found, called, scales, problems)
    problems.raise_for(found.table)
    tell(found, ("score",), choices, problems)
    warnings, used, guess = said_of(found.table), found.mapping, guess_mapping(found.table.columns)
    groups = {name: found.table.text[name] for name in choices.groups}
    del found  # what follows needs as much memory as the columns
    replies, items = take_replies(rows, items, len(criteria))
    kept = _criteria_of_items(rows, len(criteria), replies)
    ratings = _ratings(rows, items, len(kept))
    names = Names(rows.workers, rows.systems, rows.sources, rows.assignments, [criteria[code] for code in kept])
    (pools, mixed), hit = _pools(rows), _hit_of_assignment(rows)
    attributes = rows_of(groups, rows.row[items.first])
    del rows, items
    if is_guessed and "scores" in used:
        message = f"Each of these columns was used for the scores of a criterion: {', '.join(used['scores'])}."
        warnings.append(ResponsesWarning("wide", 1, message))
    warnings += column_warnings(used, guess, has_source=bool(names.sources))
    warnings += rating_warnings(ratings, names, hit)
    warnings += mixed
    if replies and replies.n_left_out:
        message = f"Scores of replies in chats without a score as a whole, left out: {replies.n_left_out:,}."
        warnings.append(ResponsesWarning("replies_alone", replies.n_left_out, message))
    return LoadedRatings(
        ratings=ratings,
        workers=names.workers,
        systems=names.systems,
        criteria=list(names.criteria),
        sources=names.sources,
        assignments=names.assignments,
        warnings=warnings,
        fingerprint=_fingerprint(ratings, names, pools, replies),
        score_columns=tuple(score_columns(used)),
        pools=pools,
        replies=replies,
        attributes=attributes,
    )


def _criteria_of_items(rows: RatingRows, n_criteria: int, replies: ReplyScores | None) -> list[int]:
    """Return the criteria but for those that only single replies have, and code those of the rows by their place."""
    if replies is None or replies.is_averaged:
        return list(range(n_criteria))
    of_replies = set(replies.criterion.tolist()) - set(rows.criterion.tolist())
    kept = [code for code in range(n_criteria) if code not in of_replies]
    rows.criterion = np.searchsorted(kept, rows.criterion)
    return kept


def _found(file: DataFile, criteria: Criteria, choices: Choices, problems: CellProblems) -> Found:
    """Return the ratings of a file, one a row; where one criterion alone is rated, its name does not matter."""
    is_one = len(criteria.names) == 1
    known = [*criteria.names, *criteria.statements]
    found = read_answers(
        file,
        NAMES,
        REQUIRED if is_one else (*REQUIRED, "criterion"),
        problems,
        wanted=Wanted.SCORES,
        choices=choices,
        scores=Scores(is_number, known, only_these=True, are_numbers=True),
    )
    rated = found.table.text.get(found.called.get("criterion", ""))
    if is_one and rated is not None and len(rated.labels) == 1 and (found.is_unfolded or file.is_made):
        return replace(found, called={role: own for role, own in found.called.items() if role != "criterion"})
    return found


def _coded(
    found: Found, criteria: Criteria, scales: Sequence[Scale], problems: CellProblems
) -> tuple[RatingRows, Items]:
    """Return the rows as codes, and their items; whatever cannot be is added to `problems`."""
    called = found.called
    rows = code_rows(found.table, called, criteria, scales, problems)
    advice = "Choose the column that says whose output was rated."
    refuse_many_systems(found.table.file, called["system"], len(rows.systems), advice)
    # A score that is wrong is still somebody's rating of something; a wrong label leaves that unknown.
    unclear = [problems.rows_in(own) for role, own in called.items() if role != "score"]
    no_score = np.flatnonzero(np.isnan(rows.score))
    unclear.append(np.setdiff1d(no_score, problems.rows_in(called["score"]), assume_unique=True))
    if any(bad.size for bad in unclear):
        rows.drop(np.concatenate(unclear))
    items = find_items(rows)
    check_items(rows, items, criteria, called, problems)
    return rows, items


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


def _pools(rows: RatingRows) -> tuple[tuple[str, ...], list[ResponsesWarning]]:
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
    return labels, [ResponsesWarning("several_pools", int(mixed.size), message, names)]


def _fingerprint(ratings: Ratings, names: Names, pools: Sequence[str], replies: ReplyScores | None) -> str:
    labels = (names.workers, names.systems, names.sources, names.assignments, names.criteria)
    codes = (ratings.worker, ratings.system, ratings.assignment, ratings.source, ratings.kind)
    parts: list[Part] = [*labels, *codes, ratings.scores, *([json.dumps(list(pools))] if pools else [])]
    if replies:
        order = np.lexsort((replies.turn, replies.criterion, replies.item))
        of_replies = (replies.item, replies.turn, replies.criterion, replies.score)
        parts += [replies.turns, *(each[order] for each in of_replies)]
    return fingerprint("ratings 1", parts)
