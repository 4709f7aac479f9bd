"""How workers go about their work: repeated scores, speed, and whether degraded items fare worse."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.stats.quality import twin_differences
from analysis.stats.ratings import Codes, Floats, Mask, Ratings
from campaigns.design.composition import Kind

FAST_S = 2.0
"""An item rated in less was hardly read."""


@dataclass(frozen=True)
class Conduct:
    """One value a worker, (n_workers,).

    Attributes
    ----------
    share_repeated : float64
        Share of ratings equal to the one given just before, among those that have one before them in their assignment.
        NaN where there is none.
    longest_run : int64
        Most equal ratings in a row within an assignment.
    sd : float64
        Standard deviation (ddof = 0) of the scores as given; NaN without a rating.
    median_s, share_fast : float64
        Median seconds an item, and share of items rated in less than `FAST_S`; NaN where no time is known.
    difference : float64
        Mean degraded − ordinary, in points after reversal: of the twin pairs, or of all degraded ratings and all
        ordinary ones; NaN where there is nothing to compare.
    n_items : int64
    """

    share_repeated: Floats
    longest_run: NDArray[np.int64]
    sd: Floats
    median_s: Floats
    share_fast: Floats
    difference: Floats
    n_items: NDArray[np.int64]


def describe_conduct(
    ratings: Ratings, tested: Floats, twin: NDArray[np.int64], seconds: Floats, *, is_paired: bool = True
) -> Conduct:
    """Describe every worker's conduct.

    Parameters
    ----------
    ratings : Ratings
        Items of an assignment must follow each other in the order of their positions.
    tested : float64, (n_items, n_tested)
        Scores after reversal of the criteria that enter the worker test.
    twin : int64, (n_items,)
        From `ratings.match_twins`.
    seconds : float64, (n_items,)
        How long each item took; NaN where not known.
    is_paired : bool
        Whether degraded items are compared with their twins, or with all ordinary items of the worker.
    """
    n_workers = ratings.n_workers
    share_repeated, longest_run = _repetition(ratings)
    is_timed = ~np.isnan(seconds)
    took, timed_worker = seconds[is_timed], ratings.worker[is_timed]
    return Conduct(
        share_repeated=share_repeated,
        longest_run=longest_run,
        sd=_spread(ratings),
        median_s=_medians(took, timed_worker, n_workers),
        share_fast=_means((took < FAST_S).astype(np.float64), timed_worker, n_workers),
        difference=_paired(ratings, tested, twin) if is_paired else _unpaired(ratings, tested),
        n_items=np.bincount(ratings.worker, minlength=n_workers),
    )


@dataclass(frozen=True)
class References:
    """How reference items are rated. They are auxiliary: no score and no worker test has them.

    Attributes
    ----------
    mean : float64, (n_workers,)
        Mean rating of a worker's reference items, 0–100 after reversal, all criteria pooled; NaN without one.
    distance : float64, (n_workers,)
        `mean` minus the mean rating of the worker's ordinary items, in points; NaN without either.
    n_ratings : int64, (n_workers,)
        Ratings of reference items.
    overall_mean, overall_distance : float
        The same of all ratings of the workers who count, pooled.
    """

    mean: Floats
    distance: Floats
    n_ratings: NDArray[np.int64]
    overall_mean: float
    overall_distance: float


def compare_references(ratings: Ratings, scores: Floats, is_kept: Mask) -> References:
    """Compare reference items with ordinary ones, per worker and overall.

    Parameters
    ----------
    scores : float64, (n_items, n_criteria)
        After reversal.
    is_kept : bool, (n_workers,)
        Whose ratings enter the overall values.

    Notes
    -----
    Unpaired. A reference item takes the place of one ordinary item's output in a built HIT, but it is another text, not
    a copy, and ratings files need not say which; so all ordinary items of the worker are what it is compared with.

    References
    ----------
    METHOD §1 (reference items are auxiliary).
    """
    sums, counts = np.zeros((2, ratings.n_workers)), np.zeros((2, ratings.n_workers), np.int64)
    for k, kind in enumerate((Kind.REFERENCE, Kind.ORDINARY)):
        of_kind = np.flatnonzero(ratings.kind == kind)
        for column in scores.T:
            rated = of_kind[~np.isnan(column[of_kind])]
            counts[k] += np.bincount(ratings.worker[rated], minlength=ratings.n_workers)
            sums[k] += np.bincount(ratings.worker[rated], weights=column[rated], minlength=ratings.n_workers)
    with np.errstate(invalid="ignore"):
        mean, ordinary = sums / counts
        overall, overall_ordinary = sums[:, is_kept].sum(axis=1) / counts[:, is_kept].sum(axis=1)
    return References(mean, mean - ordinary, counts[0], float(overall), float(overall - overall_ordinary))


def _paired(ratings: Ratings, tested: Floats, twin: NDArray[np.int64]) -> Floats:
    difference, worker = twin_differences(ratings, tested, twin)
    return _means(difference, worker, ratings.n_workers)


def _unpaired(ratings: Ratings, tested: Floats) -> Floats:
    """Return the difference of means; items that are neither degraded nor ordinary do not enter."""
    worker, kind = (np.broadcast_to(code[:, None], tested.shape) for code in (ratings.worker, ratings.kind))
    degraded, ordinary = ((kind == each) & ~np.isnan(tested) for each in (Kind.DEGRADED, Kind.ORDINARY))
    means = [_means(tested[rated], worker[rated], ratings.n_workers) for rated in (degraded, ordinary)]
    return np.asarray(means[0] - means[1])


def _repetition(ratings: Ratings) -> tuple[Floats, NDArray[np.int64]]:
    """Return the share of repeated ratings and the longest run of equal ones."""
    score, (worker, assignment) = _in_order(ratings, ratings.worker, ratings.assignment)
    longest = np.zeros(ratings.n_workers, np.int64)
    if not score.size:
        return np.full(ratings.n_workers, np.nan), longest
    has_before = assignment[1:] == assignment[:-1]
    is_repeated = (score[1:] == score[:-1]) & has_before
    share = _means(is_repeated[has_before].astype(np.float64), worker[1:][has_before], ratings.n_workers)
    starts = np.concatenate([[0], np.flatnonzero(~is_repeated) + 1])
    np.maximum.at(longest, worker[starts], np.diff(starts, append=score.size))
    return share, longest


def _in_order(ratings: Ratings, *codes: Codes) -> tuple[Floats, list[Codes]]:
    """Return the scores as given in the order of items, then criteria, and the codes of each."""
    is_rated = ~np.isnan(ratings.scores)
    shape = ratings.scores.shape
    return ratings.scores[is_rated], [np.broadcast_to(code[:, None], shape)[is_rated] for code in codes]


def _spread(ratings: Ratings) -> Floats:
    score, (worker,) = _in_order(ratings, ratings.worker)
    residual = score - _means(score, worker, ratings.n_workers)[worker]
    return np.sqrt(_means(residual**2, worker, ratings.n_workers))


def _means(values: Floats, worker: Codes, n_workers: int) -> Floats:
    n = np.bincount(worker, minlength=n_workers)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.bincount(worker, weights=values, minlength=n_workers) / n)


def _medians(values: Floats, worker: Codes, n_workers: int) -> Floats:
    order = np.lexsort((values, worker))
    ordered = values[order]
    n = np.bincount(worker, minlength=n_workers)
    begin = np.cumsum(n) - n
    medians = np.full(n_workers, np.nan)
    has = n > 0
    lower, upper = begin + (n - 1) // 2, begin + n // 2
    medians[has] = (ordered[lower[has]] + ordered[upper[has]]) / 2
    return medians
