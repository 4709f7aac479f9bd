"""Standardised scores of items and systems (METHOD §4)."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from analysis.stats.ratings import Codes, Floats, Mask, Ratings
from campaigns.design.composition import ANALYSED, Kind

# Added to σ by the dialogue study; kept for every protocol, so that its table is met to the last digit.
SIGMA_OFFSET = 1e-6
MOST_LEVELS = 11
"""More different scores than these are on a long scale."""
# Scores that differ only by the rounding of their sums must tie in the rank tests.
_Z_DECIMALS = 10


class Unit(StrEnum):
    """What one observation of a system is: one rating (repeats averaged with their twins) or one output."""

    RATING = "rating"
    OUTPUT = "output"


@dataclass(frozen=True)
class Standardisation:
    """Mean and standard deviation (ddof = 1) of each worker's ratings, (n_workers,) float64.

    Both are NaN for a worker without ratings; σ is 0 for a worker with one rating or only equal ones.
    """

    mean: Floats
    sd: Floats

    def z(self, scores: Floats, worker: Codes) -> Floats:
        """Return (x − μ)/(σ + 10⁻⁶) of scores (n, …) given by workers (n,); 0 where the worker's σ is 0."""
        shape = (-1,) + (1,) * (scores.ndim - 1)
        z = scores - self.mean[worker].reshape(shape)
        z /= np.where(self.sd == 0, np.inf, self.sd + SIGMA_OFFSET)[worker].reshape(shape)
        return z


@dataclass(frozen=True)
class Observations:
    """What systems are compared on.

    Attributes
    ----------
    z, raw : float64, (n, n_criteria)
        Standardised (to 10 decimals) and raw score after reversal; NaN where a criterion was not rated.
    system : int, (n,)
    overall_z : float64, (n,)
        Mean over criteria; NaN where a criterion was not rated.
    n_ratings : int64, (n_systems,)
        Ratings behind each system's observations, all criteria and repeats counted.
    n_outputs : int64, (n_systems,)
        Rated outputs behind them: items, whatever the number of criteria rated. An output counts as often as it was
        shown and rated, by any worker, repeats included.
    """

    z: Floats
    raw: Floats
    system: Codes
    overall_z: Floats
    n_ratings: NDArray[np.int64]
    n_outputs: NDArray[np.int64]


@dataclass(frozen=True)
class SystemScores:
    """Scores of systems.

    Attributes
    ----------
    z, raw : float64, (n_systems,)
        Mean over criteria of the criterion scores.
    criterion_z, criterion_raw : float64, (n_systems, n_criteria)
        Mean over the system's observations. NaN where there is none.
    n_ratings, n_outputs : int64, (n_systems,)
        As in `Observations`.
    """

    z: Floats
    raw: Floats
    criterion_z: Floats
    criterion_raw: Floats
    n_ratings: NDArray[np.int64]
    n_outputs: NDArray[np.int64]


def rescale(scores: Floats, low: float | Floats, high: float | Floats) -> Floats:
    """Return scores given on a scale from `low` to `high` on 0–100, linearly; the same array if they are on it.

    `low` and `high` are numbers, or (n_criteria,) for the columns of `scores`.

    Examples
    --------
    >>> rescale(np.array([1.0, 2.0, 5.0, np.nan]), 1, 5)
    array([  0.,  25., 100.,  nan])
    """
    if np.all(np.equal(low, 0)) and np.all(np.equal(high, 100)):
        return scores
    return np.asarray((scores - low) * 100.0 / np.subtract(high, low))


def reverse_negative(scores: Floats, is_negative: Mask) -> Floats:
    """Return scores (n, n_criteria) with 100 − x in the negative criteria; the same array if there is none."""
    if not is_negative.any():
        return scores
    reversed_scores = scores.copy()
    reversed_scores[:, is_negative] = 100.0 - reversed_scores[:, is_negative]
    return reversed_scores


def standardise(ratings: Ratings, scores: Floats, kinds: Iterable[Kind] = ANALYSED) -> Standardisation:
    """Return each worker's mean and standard deviation over all criteria pooled.

    Parameters
    ----------
    scores : float64, (n_items, n_criteria)
        After reversal.
    kinds : iterable of Kind
        Kinds of item that enter; all of them in the studies.

    Notes
    -----
    Two passes (mean, then squared residuals), so that a large mean costs no digits. Equal ratings get σ = 0 exactly.

    References
    ----------
    METHOD §4.2–4.3.
    """
    wanted = frozenset(kinds)
    worker = ratings.worker
    if wanted != frozenset(ANALYSED):
        chosen = np.flatnonzero(np.isin(ratings.kind, [int(kind) for kind in wanted]))
        worker, scores = worker[chosen], scores[chosen]
    n = np.zeros(ratings.n_workers, dtype=np.int64)
    total, squares = np.zeros(ratings.n_workers), np.zeros(ratings.n_workers)
    for column in scores.T:
        rated, who = _rated(column, worker)
        n += np.bincount(who, minlength=ratings.n_workers)
        total += np.bincount(who, weights=rated, minlength=ratings.n_workers)
    with np.errstate(invalid="ignore"):
        mean = total / n
    for column in scores.T:
        rated, who = _rated(column, worker)
        residual = rated - mean[who]
        residual *= residual
        squares += np.bincount(who, weights=residual, minlength=ratings.n_workers)
    sd = np.sqrt(squares / np.maximum(n - 1, 1))
    sd[sd < 1e-9] = 0.0  # scores have at least this much spread unless they are equal up to rounding
    sd[n == 0] = np.nan
    return Standardisation(mean, sd)


def _rated(column: Floats, group: Codes) -> tuple[Floats, Codes]:
    """Return the ratings of one criterion, and the group of each, without the missing ones."""
    is_rated = ~np.isnan(column)
    return (column, group) if is_rated.all() else (column[is_rated], group[is_rated])


def counted_items(ratings: Ratings, is_kept: Mask) -> NDArray[np.intp]:
    """Return the rows of the kept workers' ordinary items: of the observations of `Unit.RATING`, in their order."""
    return np.flatnonzero((ratings.kind == Kind.ORDINARY) & is_kept[ratings.worker])


def observe(
    ratings: Ratings,
    scores: Floats,
    standardisation: Standardisation,
    twin: NDArray[np.int64],
    *,
    is_kept: Mask,
    unit: Unit,
) -> Observations:
    """Return what systems are compared on: the kept workers' ratings of ordinary items and of their repeats.

    Parameters
    ----------
    scores : float64, (n_items, n_criteria)
        After reversal.
    twin : int64, (n_items,)
    is_kept : bool, (n_workers,)
        Workers whose ratings count.
    unit : Unit
        `RATING`: an observation is an ordinary item, averaged with its repeats; a repeat whose twin was not rated
        is left out. `OUTPUT`: an observation is one system's output for one source, over all its kept ratings; items
        whose source is unknown are outputs of their own.

    Returns
    -------
    Observations
        Ordered by the items (`RATING`) or by source and system (`OUTPUT`).

    References
    ----------
    METHOD §4.4–4.5. Degraded and reference items never enter.
    """
    ordinary = counted_items(ratings, is_kept)
    repeats = np.flatnonzero((ratings.kind == Kind.REPEAT) & is_kept[ratings.worker])
    if unit is Unit.RATING:
        repeats = repeats[twin[repeats] >= 0]
        system = ratings.system[ordinary]
        raw, n_in_row = _average_repeats(scores, ordinary, repeats, np.searchsorted(ordinary, twin[repeats]))
        # One worker's scores may be averaged before they are standardised; equal sums then stay equal to the last bit
        z = standardisation.z(raw, ratings.worker[ordinary])
        overall_z = z[:, 0] if raw.shape[1] == 1 else standardisation.z(raw.mean(axis=1), ratings.worker[ordinary])
    else:
        used = np.concatenate([ordinary, repeats])
        output, _, system = outputs_of(ratings, used)
        raw, n_in_row = _average_rows(scores[used], output, system.size)
        z, _ = _average_rows(standardisation.z(scores[used], ratings.worker[used]), output, system.size)
        overall_z = z[:, 0] if z.shape[1] == 1 else z.mean(axis=1)
    np.round(z, _Z_DECIMALS, out=z)
    if z.shape[1] > 1:  # of a single criterion, it is the column just rounded
        overall_z = np.round(overall_z, _Z_DECIMALS)
    n_ratings = np.bincount(system, weights=n_in_row, minlength=ratings.n_systems).astype(np.int64)
    n_outputs = _count_outputs(ratings, ordinary) + _count_outputs(ratings, repeats)
    return Observations(z, raw, system, overall_z, n_ratings, n_outputs)


def _count_outputs(ratings: Ratings, items: NDArray[np.intp]) -> NDArray[np.int64]:
    """Return how many of these items have a rating, (n_systems,)."""
    is_rated = np.zeros(items.size, dtype=bool)
    for column in ratings.scores.T:
        is_rated |= ~np.isnan(column[items])
    return np.bincount(ratings.system[items[is_rated]], minlength=ratings.n_systems)


def _average_repeats(
    scores: Floats, ordinary: NDArray[np.intp], repeats: NDArray[np.intp], row: NDArray[np.intp]
) -> tuple[Floats, NDArray[np.int32]]:
    """Return ordinary items averaged with their repeats, and the ratings in each; `row`: the twin of each repeat."""
    mean = scores[ordinary]
    n_all = np.zeros(ordinary.size, dtype=np.int32)
    for k in range(scores.shape[1]):
        n = (~np.isnan(mean[:, k])).astype(np.uint16)
        mean[n == 0, k] = 0.0
        repeated, where = _rated(scores[repeats, k], row)
        np.add.at(mean[:, k], where, repeated)
        np.add.at(n, where, 1)
        shared = np.flatnonzero(n != 1)
        with np.errstate(invalid="ignore"):
            mean[shared, k] /= n[shared]
        n_all += n
    return mean, n_all


def _average_rows(values: Floats, group: Codes, n_groups: int) -> tuple[Floats, NDArray[np.int32]]:
    """Return the mean (n_groups, n_criteria) of the rated values of each group, and how many these were."""
    mean = np.empty((n_groups, values.shape[1]))
    n_all = np.zeros(n_groups, dtype=np.int32)
    for k, column in enumerate(values.T):
        rated, where = _rated(column, group)
        n = np.bincount(where, minlength=n_groups)
        with np.errstate(invalid="ignore"):
            mean[:, k] = np.bincount(where, weights=rated, minlength=n_groups) / n
        n_all += n
    return mean, n_all


def outputs_of(ratings: Ratings, used: NDArray[np.intp]) -> tuple[NDArray[np.intp], Codes, Codes]:
    """Return the output that each used item shows, as a code, and source (−1: not known) and system of each output.

    An item of an unknown source is an output of its own.
    """
    source = ratings.source[used].astype(np.int64)
    unknown = np.flatnonzero(source < 0)
    n_known = source.max(initial=-1) + 1
    source[unknown] = n_known + np.arange(unknown.size)
    keys, output = np.unique(source * ratings.n_systems + ratings.system[used], return_inverse=True)
    of_output = keys // ratings.n_systems
    return output, np.where(of_output < n_known, of_output, -1), keys % ratings.n_systems


def score_systems(observations: Observations, n_systems: int) -> SystemScores:
    """Return the scores of systems 0 … n_systems − 1.

    A criterion score is the mean over the system's observations that rate it; an overall score the mean over the
    criteria that have one (METHOD §4.5).
    """
    z = _means(observations.z, observations.system, n_systems)
    raw = _means(observations.raw, observations.system, n_systems)
    return SystemScores(_row_means(z), _row_means(raw), z, raw, observations.n_ratings, observations.n_outputs)


def _means(values: Floats, system: Codes, n_systems: int) -> Floats:
    """Return the (n_systems, n_criteria) means of rated values."""
    return _average_rows(values, system, n_systems)[0]


def _row_means(matrix: Floats) -> Floats:
    """Return the mean of each row's numbers, NaN for a row without any."""
    is_number = ~np.isnan(matrix)
    with np.errstate(invalid="ignore"):
        mean: Floats = np.where(is_number, matrix, 0.0).sum(axis=1) / is_number.sum(axis=1)
    return mean


def are_levels(scores: NDArray[np.float64]) -> bool:
    """Return whether scores, (n,), are a few levels: at most 11 different ones, whole or halves."""
    return bool((2 * scores == np.rint(2 * scores)).all()) and np.unique(scores).size <= MOST_LEVELS
