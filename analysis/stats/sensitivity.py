"""Does the ranking survive? System scores at another α, without a worker, for short texts, standardised otherwise."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from analysis.stats.pipeline import Design, ScoredRatings, observe_by
from analysis.stats.ratings import Codes, Floats, Ratings
from analysis.stats.scores import Unit, counted_items, outputs_of, reverse_negative, score_systems
from campaigns.design.composition import Kind


def score_without_each(ratings: Ratings, design: Design, found: ScoredRatings) -> Floats:
    """Return every system's z without each of the workers who count, one at a time.

    Parameters
    ----------
    found : ScoredRatings
        Of these ratings by this design.

    Returns
    -------
    float64, (n_kept, n_systems)
        In the order of the workers' codes; NaN where nobody else rated a system.

    Notes
    -----
    From sums and counts of each worker and system, taken from those of all: no pass over the ratings for each worker.
    With `Unit.OUTPUT` the mean of an output loses the worker's ratings of it, and an output that nobody else rated
    drops out. What leaving out a worker does to other workers' μ and σ is nothing, for these are each worker's own.

    References
    ----------
    Jackknife over workers (Quenouille 1956; Tukey 1958).
    """
    n_kept, n_systems = int(np.count_nonzero(found.is_kept)), ratings.n_systems
    place = np.cumsum(found.is_kept) - 1
    total, n_rated = np.zeros((n_kept, n_systems)), np.zeros((n_kept, n_systems))
    parts = (_of_ratings if design.unit is Unit.RATING else _of_outputs)(ratings, design, found)
    for part in parts:
        cell = place[part.worker] * np.int64(n_systems) + part.system
        lost, n_lost = (
            np.bincount(cell, weights=values, minlength=n_kept * n_systems).reshape(n_kept, n_systems)
            for values in (part.lost, part.n_lost)
        )
        left = np.round(part.n - n_lost)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = (part.total - lost) / left
        has_any = left > 0
        total += np.where(has_any, mean, 0.0)
        n_rated += has_any
    with np.errstate(invalid="ignore"):
        return np.asarray(total / n_rated)


@dataclass(frozen=True)
class _Losses:
    """Sum and number of each system's observations of one criterion, and what each loses without a worker."""

    total: Floats
    n: Floats
    worker: Codes
    system: Codes
    lost: Floats
    n_lost: Floats


def _of_ratings(ratings: Ratings, design: Design, found: ScoredRatings) -> list[_Losses]:
    observed = observe_by(ratings, design, found)
    worker = ratings.worker[counted_items(ratings, found.is_kept)]
    losses = []
    for z in observed.z.T:
        rated = np.flatnonzero(~np.isnan(z))
        losses.append(_losses(z[rated], observed.system[rated], worker[rated], ratings.n_systems))
    return losses


def _losses(z: Floats, system: Codes, worker: Codes, n_systems: int) -> _Losses:
    total = np.bincount(system, weights=z, minlength=n_systems).astype(np.float64)
    n = np.bincount(system, minlength=n_systems).astype(np.float64)
    return _Losses(total, n, worker, system, z, np.ones(z.size))


def _of_outputs(ratings: Ratings, design: Design, found: ScoredRatings) -> list[_Losses]:
    used = _in_outputs(ratings, found)
    # As `observe` has them: ordinary items first.
    output, _, system = outputs_of(ratings, used)
    scores = reverse_negative(ratings.scores, design.is_negative)
    z = found.standardisation.z(scores[used], ratings.worker[used])
    losses = []
    for column in z.T:
        rated = np.flatnonzero(~np.isnan(column))
        of_output, values = output[rated], column[rated]
        total = np.bincount(of_output, weights=values, minlength=system.size)
        n = np.bincount(of_output, minlength=system.size)
        cells, place = np.unique(
            ratings.worker[used[rated]].astype(np.int64) * system.size + of_output, return_inverse=True
        )
        own, n_own = np.bincount(place, weights=values), np.bincount(place)
        worker, which = np.divmod(cells, system.size) if system.size else (cells, cells)
        left = n[which] - n_own
        with np.errstate(invalid="ignore", divide="ignore"):
            before = total[which] / n[which]
            after = np.where(left > 0, (total[which] - own) / left, 0.0)
            mean = total / n
        has_any = n > 0
        losses.append(
            _Losses(
                np.bincount(system[has_any], weights=mean[has_any], minlength=ratings.n_systems).astype(np.float64),
                np.bincount(system[has_any], minlength=ratings.n_systems).astype(np.float64),
                worker,
                system[which],
                before - after,
                (left == 0).astype(np.float64),
            )
        )
    return losses


def _in_outputs(ratings: Ratings, found: ScoredRatings) -> NDArray[np.intp]:
    is_scored = (ratings.kind == Kind.ORDINARY) | (ratings.kind == Kind.REPEAT)
    return np.flatnonzero(is_scored & found.is_kept[ratings.worker])


def score_by_length(
    ratings: Ratings, design: Design, found: ScoredRatings, n_words: Floats, most_words: Sequence[int]
) -> tuple[NDArray[np.int64], Floats]:
    """Return every system's z over items whose source has at most so many words.

    Parameters
    ----------
    ratings, design, found
        As in `score_without_each`.
    n_words : float64, (n_sources,)
        Words of each source's text, such as its reference; NaN where not known.
    most_words : sequence of int
        The bounds k.

    Returns
    -------
    n : int64, (n_bounds, n_systems)
        Observations of each system with at most k words.
    z : float64, (n_bounds, n_systems)
        NaN where a system has none.

    References
    ----------
    METHOD §6 (input length); the thesis's Figure 3.10 in its form.
    """
    observed = observe_by(ratings, design, found)
    if design.unit is Unit.RATING:
        source = ratings.source[counted_items(ratings, found.is_kept)]
    else:
        _, source, _ = outputs_of(ratings, _in_outputs(ratings, found))
    length = np.append(n_words, np.nan)[source]  # −1, not known, takes the last
    n = np.zeros((len(most_words), ratings.n_systems), np.int64)
    z = np.full(n.shape, np.nan)
    for place, bound in enumerate(most_words):
        short = np.flatnonzero(length <= bound)
        n[place] = np.bincount(observed.system[short], minlength=ratings.n_systems)
        of_short = replace(observed, z=observed.z[short], raw=observed.raw[short], system=observed.system[short])
        z[place] = score_systems(of_short, ratings.n_systems).z
    return n, z


def length_bounds(n_words: Floats) -> list[int]:
    """Return the lengths to try for items of so many words: 1 … 20 as in the studies, or deciles of long texts.

    Parameters
    ----------
    n_words : float64, (n,)
        NaN is left out.

    Examples
    --------
    >>> length_bounds(np.array([1.0, 4.0, 30.0])) == list(range(1, 21))
    True
    >>> length_bounds(np.array([40.0, 50.0, 60.0, 60.0]))
    [43, 46, 49, 52, 55, 58, 60]
    """
    known = n_words[~np.isnan(n_words)]
    if not known.size:
        return []
    if np.median(known) <= 20:
        return list(range(1, 21))
    deciles = np.percentile(known, np.arange(10, 101, 10))
    return sorted({int(each) for each in np.ceil(deciles)})


@dataclass(frozen=True)
class Survival:
    """How a ranking fares when it is computed otherwise, in `n` ways.

    Attributes
    ----------
    n : int
        Ways in which every system of the ranking has a score.
    n_same_order, n_same_best : int
        Ways that rank the systems in the same order, and that put the same one first. Tied systems are in the same
        order whichever is first.
    largest_change : float
        Greatest absolute change of any system's z; NaN if there is none.
    system : int
        Whose it is; −1 if there is none.
    """

    n: int
    n_same_order: int
    n_same_best: int
    largest_change: float
    system: int


def compare_rankings(z: Floats, others: Floats) -> Survival:
    """Return how a ranking survives.

    Parameters
    ----------
    z : float64, (n_systems,)
        Scores as reported; a system without a score (NaN) is left out.
    others : float64, (n_ways, n_systems)
        Scores computed otherwise; of a way that lacks a system's score nothing but the changes count.

    Examples
    --------
    >>> compare_rankings(np.array([0.5, 0.2, 0.0]), np.array([[0.5, 0.1, 0.0], [0.5, 0.1, 0.15]]))
    Survival(n=2, n_same_order=1, n_same_best=2, largest_change=0.15, system=2)
    """
    scored = np.flatnonzero(~np.isnan(z))
    ranked = scored[np.argsort(-z[scored], kind="stable")]
    found = others[:, ranked]
    is_whole = ~np.isnan(found).any(axis=1)
    steps = np.diff(z[ranked])
    with np.errstate(invalid="ignore"):
        # A step between equals may go either way.
        is_same = ((np.diff(found, axis=1) <= 0) | (steps == 0)).all(axis=1) & is_whole
        change = np.abs(found - z[ranked])
    best = is_whole & (found[:, :1] >= found).all(axis=1) if ranked.size else is_whole
    if not ranked.size or np.isnan(change).all():
        return Survival(int(is_whole.sum()), int(is_same.sum()), int(best.sum()), float("nan"), -1)
    where = np.unravel_index(np.nanargmax(change), change.shape)
    return Survival(
        int(is_whole.sum()), int(is_same.sum()), int(best.sum()), float(change[where]), int(ranked[where[1]])
    )
