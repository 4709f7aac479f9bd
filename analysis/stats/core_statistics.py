"""Core statistics of a study: how many workers, HITs and ratings there are, how long they took and what they cost."""

import math
from dataclasses import dataclass

import numpy as np

from analysis.stats.codes import n_distinct
from analysis.stats.ratings import Floats, Mask, Ratings
from campaigns.design.composition import Kind


@dataclass(frozen=True)
class WorkCount:
    """What some workers did.

    Attributes
    ----------
    n_workers, n_assignments : int
        Workers with a rating, and their assignments (HITs done).
    n_outputs, n_ratings : int
        Rated ordinary items and repeats, and their ratings, one a criterion: those that can enter a system's score.
        Degraded and reference items are quality control.
    assignments_per_worker : float
        NaN without workers.
    minutes_per_assignment : float
        Mean over the assignments whose time is known; NaN if none is.
    n_timed : int
        Assignments whose time is known.
    """

    n_workers: int
    n_assignments: int
    n_outputs: int
    n_ratings: int
    assignments_per_worker: float
    minutes_per_assignment: float
    n_timed: int


def count_work(ratings: Ratings, is_member: Mask, seconds: Floats) -> WorkCount:
    """Count what some workers did.

    Parameters
    ----------
    is_member : bool, (n_workers,)
        Whose work is counted.
    seconds : float64, (n_assignments,)
        How long each assignment took; NaN where not known.

    Notes
    -----
    Ratings of degraded and reference items are left out, and repeats counted: only so do the studies' numbers come out
    (QG, run 1: 334 HITs × (11 + 3) items × 4 criteria = 18,704; MRC: 80 ratings a HIT; dialogue: 7 a chat).

    References
    ----------
    Ji's thesis, Tables 3.2, 4.2 and 5.3.
    """
    own = is_member[ratings.worker]
    worker_of = np.full(seconds.size, -1, np.int64)
    worker_of[ratings.assignment[own]] = ratings.worker[own]
    mine = worker_of >= 0
    n_workers, n_assignments = n_distinct(worker_of[mine]), int(np.count_nonzero(mine))
    is_scored = own & ((ratings.kind == Kind.ORDINARY) | (ratings.kind == Kind.REPEAT))
    of_item = np.count_nonzero(~np.isnan(ratings.scores[is_scored]), axis=1)
    known = seconds[mine & ~np.isnan(seconds)]
    return WorkCount(
        n_workers=n_workers,
        n_assignments=n_assignments,
        n_outputs=int(np.count_nonzero(of_item)),
        n_ratings=int(of_item.sum()),
        assignments_per_worker=n_assignments / n_workers if n_workers else math.nan,
        # Summed exactly: no result depends on the order of the assignments.
        minutes_per_assignment=math.fsum(known.tolist()) / 60 / known.size if known.size else math.nan,
        n_timed=int(known.size),
    )


@dataclass(frozen=True)
class Costs:
    """What assignments cost in all, per system and per usable rating; NaN where there is nothing to divide by."""

    total: float
    per_system: float
    per_rating: float


def cost_of(n_assignments: int, per_assignment: float, n_systems: int, n_usable_ratings: int) -> Costs:
    """Return what assignments cost.

    Parameters
    ----------
    n_assignments : int
        Those that are paid.
    per_assignment : float
        Reward and fee of one, in any currency.
    n_systems : int
        Systems with ordinary items.
    n_usable_ratings : int
        Ratings that enter the systems' scores: those of the workers who count.

    References
    ----------
    Ji's thesis §4.3: the 334 HITs that passed, at about a dollar each, cost $30.4 for each of the 11 systems.

    Examples
    --------
    >>> cost_of(334, 1.0, 11, 18_704)
    Costs(total=334.0, per_system=30.363636363636363, per_rating=0.017857142857142856)
    """
    total = n_assignments * per_assignment
    return Costs(
        total, total / n_systems if n_systems else math.nan, total / n_usable_ratings if n_usable_ratings else math.nan
    )
