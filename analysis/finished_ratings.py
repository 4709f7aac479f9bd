"""Ratings of a campaign's finished assignments, from the database straight into arrays."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.stats.ratings import Floats, Ratings, from_long
from annotation.models import Assignment, Rating
from campaigns.models import Campaign, HitItem

Ints = NDArray[np.int64]
# A longer list of workers is not worth sending to the database.
_MOST_NAMED = 500
_MS_PER_S = 1000


@dataclass(frozen=True)
class FinishedRatings:
    """Ratings in the order of worker, assignment and position.

    Attributes
    ----------
    worker_ids : list of int
        Worker of each code.
    ratings : Ratings
        Criteria in the campaign's order.
    seconds : float64, (n_items,)
        How long each item took, by the server's clock: since the ratings of the item before it, or since the start.
    """

    worker_ids: list[int]
    ratings: Ratings
    seconds: Floats


def read_finished(campaign: Campaign, workers: Collection[int]) -> FinishedRatings:
    """Return the ratings of these workers' finished HITs; of everyone's if they are very many. Five queries."""
    finished = Assignment.objects.filter(campaign=campaign, state=Assignment.State.FINISHED)
    if len(workers) <= _MOST_NAMED:
        finished = finished.filter(worker__in=workers)
    hits, ids = finished.order_by().values("hit"), finished.order_by().values("pk")
    in_hits = HitItem.objects.filter(hit__in=hits).order_by("hit", "position")
    rated = Rating.objects.filter(assignment__in=ids).order_by()

    criterion_ids = np.array(campaign.criteria.values_list("pk", flat=True), np.int64)
    started = finished.order_by("worker", "pk").values_list("pk", "worker_id", "started_at").iterator()
    assignments = _columns(((pk, worker, _ms(at.timestamp())) for pk, worker, at in started), 3)
    items = _columns(in_hits.values_list("pk", "kind", "output__system_id", "output__source_id").iterator(), 4)
    scored = _columns(rated.values_list("assignment_id", "item_id", "criterion_id", "score").iterator(), 4)
    saved = rated.filter(criterion=int(criterion_ids[0])).values_list("assignment_id", "item_id", "rated_at").iterator()
    timed = _columns(((assignment, item, _ms(at.timestamp())) for assignment, item, at in saved), 3)

    # Rows come in the order of these keys: worker, assignment, position.
    scored_key, timed_key = _keys(scored, assignments, items), _keys(timed, assignments, items)
    keys, row = np.unique(scored_key, return_inverse=True)
    assignment, item = np.divmod(keys, max(items[0].size, 1))
    worker_ids, worker = np.unique(assignments[1], return_inverse=True)
    _, system = np.unique(items[2], return_inverse=True)
    _, source = np.unique(items[3], return_inverse=True)
    ratings = Ratings(
        scores=from_long(
            item=row,
            criterion=_places(criterion_ids, scored[2]),
            score=scored[3].astype(np.float64),
            n_items=keys.size,
            n_criteria=criterion_ids.size,
        ),
        worker=worker[assignment],
        system=system[item],
        assignment=assignment,
        source=source[item],
        kind=items[1][item],
        n_workers=worker_ids.size,
        n_systems=int(system.max(initial=-1)) + 1,
    )
    at_ms = np.full(keys.size, np.nan)
    at_ms[np.searchsorted(keys, timed_key)] = timed[2]
    return FinishedRatings(worker_ids.tolist(), ratings, _seconds(at_ms, assignment, assignments[2]))


def _ms(seconds: float) -> int:
    return round(seconds * _MS_PER_S)


def _columns(rows: Iterable[tuple[int, ...]], n_columns: int) -> list[Ints]:
    """Return the columns of rows of whole numbers."""
    table = np.fromiter(rows, np.dtype((np.int64, n_columns)))
    return list(np.ascontiguousarray(table.T))


def _places(known: Ints, wanted: Ints) -> Ints:
    """Return where each wanted id stands among the known ones."""
    order = np.argsort(known)
    return np.asarray(order[np.searchsorted(known, wanted, sorter=order)])


def _keys(rows: list[Ints], assignments: list[Ints], items: list[Ints]) -> Ints:
    """Return a number for each row's assignment and item; rows of an assignment that ended just now are dropped."""
    is_known = np.isin(rows[0], assignments[0])
    for k, column in enumerate(rows):
        rows[k] = column[is_known]
    return _places(assignments[0], rows[0]) * items[0].size + _places(items[0], rows[1])


def _seconds(at_ms: Floats, assignment: Ints, started_ms: Ints) -> Floats:
    """Return how long after the row before it, or the start of its assignment, each row was rated."""
    before = np.concatenate([[np.nan], at_ms[:-1]])
    is_first = np.diff(assignment, prepend=-1) != 0
    before[is_first] = started_ms[assignment[is_first]]
    return (at_ms - before) / _MS_PER_S
