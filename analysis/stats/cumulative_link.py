"""Proportional odds: one log odds of each system over all thresholds between ordered levels."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.stats.codes import n_distinct
from analysis.stats.pairs import Pairs, compare_pairs, variance_of_differences
from analysis.stats.ratings import Codes, Floats

_MOST_STEPS = 100
_FARTHEST = 30.0  # log odds of anything that is estimated from less than 10¹² ratings
_CHANGE = 1e-8
_MANY_GROUPS = 50_000


@dataclass(frozen=True)
class CumulativeLink:
    """A cumulative link model, logit P(level ≤ k) = τ_k − β_system.

    Attributes
    ----------
    log_odds : float64, (n_systems,)
        β, centred at 0 over the systems with ratings; a higher one means higher levels. NaN without ratings.
    threshold : float64, (n_levels_used − 1,)
        τ between the levels that occur, rising, for centred β.
    covariance : float64, (n_systems, n_systems)
        Of `log_odds`, as if ratings were independent (expected information).
    pairs : Pairs
        Differences of log odds, with errors clustered as asked; their exponentials are odds ratios.
    """

    log_odds: Floats
    threshold: Floats
    covariance: Floats
    pairs: Pairs


def fit_cumulative_link(
    level: Codes, system: Codes, n_systems: int, clusters: Mapping[str, Codes]
) -> CumulativeLink | None:
    """Fit proportional odds by maximum likelihood; None if no finite odds fit best.

    Parameters
    ----------
    level : int, (n,)
        Codes of ordered levels, 0 the lowest; those that do not occur are left out.
    system : int, (n,)
        Codes 0 … n_systems − 1.
    clusters : {name: int, (n,)}
        One or two groupings of ratings, as of `segment_means.segment_means`.

    Returns
    -------
    CumulativeLink or None
        None with fewer than two levels or systems, or where the ratings of some systems all lie above those of others.

    Notes
    -----
    Fisher scoring on the counts of each system and level, with halved steps. Clustered errors are sandwich variances,
    G/(G − 1) of the sums of scores over G clusters; by two groupings the larger of each and of V_a + V_b − V_ab. t has
    the least G − 1 degrees of freedom.

    References
    ----------
    McCullagh 1980, Regression models for ordinal data (Journal of the Royal Statistical Society B 42).
    """
    _, level = np.unique(level, return_inverse=True)
    rated, own = np.unique(system, return_inverse=True)
    n_levels, n_rated = int(level.max(initial=-1)) + 1, rated.size
    if n_levels < 2 or n_rated < 2:
        return None
    cell = own * n_levels + level
    counts = np.bincount(cell, minlength=n_rated * n_levels).reshape(n_rated, n_levels).astype(np.float64)
    found = _maximise(counts)
    if found is None:
        return None
    parameters, score, bread = found
    n_cuts = n_levels - 1
    beta = np.concatenate([[0.0], parameters[n_cuts:]])
    spread = _contrasts(n_rated, n_cuts)  # of centred β, by the parameters
    variance = _clustered(cell, score @ bread @ spread.T, clusters)
    n_clusters = min(n_distinct(codes) for codes in clusters.values())
    log_odds, covariance = np.full(n_systems, np.nan), np.full((n_systems, n_systems), np.nan)
    of_pairs = covariance.copy()
    log_odds[rated] = beta - beta.mean()
    covariance[np.ix_(rated, rated)] = spread @ bread @ spread.T
    of_pairs[np.ix_(rated, rated)] = variance
    pairs = compare_pairs(log_odds, np.nan_to_num(of_pairs), n_clusters - 1)
    return CumulativeLink(log_odds, parameters[:n_cuts] - beta.mean(), covariance, pairs)


def _maximise(counts: Floats) -> tuple[Floats, Floats, Floats] | None:
    """Return thresholds and β (the first is 0), the score of one rating of each cell, and the inverse information."""
    n_systems, n_levels = counts.shape
    share = counts.sum(axis=0).cumsum()[:-1] / counts.sum()
    parameters = np.concatenate([np.log(share / (1 - share)), np.zeros(n_systems - 1)])
    likelihood = -np.inf
    step = np.zeros_like(parameters)
    for _ in range(_MOST_STEPS):
        scale = 1.0
        while not (now := _likelihood(counts, parameters + scale * step)) >= likelihood - 1e-9 and scale > 1e-8:
            scale /= 2
        parameters = parameters + scale * step
        chance, slope = _chances(parameters, n_systems, n_levels)
        if np.abs(parameters).max() > _FARTHEST or (chance <= 0).any():
            return None
        score = slope / chance[:, None]
        n_of = np.repeat(counts.sum(axis=1), n_levels)
        information = (slope * (n_of / chance)[:, None]).T @ slope
        bread = np.asarray(np.linalg.pinv(information), np.float64)
        step = bread @ (counts.ravel() @ score)
        if np.abs(step).max() < _CHANGE:
            return parameters, score, bread
        likelihood = now
    return None


def _likelihood(counts: Floats, parameters: Floats) -> float:
    chance, _ = _chances(parameters, *counts.shape)
    seen = counts.ravel() > 0
    if (chance[seen] <= 0).any():
        return -np.inf
    return float(counts.ravel()[seen] @ np.log(chance[seen]))


def _chances(parameters: Floats, n_systems: int, n_levels: int) -> tuple[Floats, Floats]:
    """Return the probability of each cell, (n_cells,), and its derivatives, (n_cells, n_parameters)."""
    from scipy.special import expit

    n_cuts = n_levels - 1
    beta = np.concatenate([[0.0], parameters[n_cuts:]])
    below = expit(parameters[None, :n_cuts] - beta[:, None])
    density = below * (1 - below)
    edges = np.pad(below, ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1)))
    rise = np.pad(density, ((0, 0), (1, 1)))
    chance = np.diff(edges, axis=1)
    slope = np.zeros((n_systems, n_levels, parameters.size))
    cuts = np.arange(n_cuts)
    slope[:, cuts, cuts] = density
    slope[:, cuts + 1, cuts] -= density
    systems = np.arange(1, n_systems)
    slope[systems, :, n_cuts + systems - 1] = -np.diff(rise, axis=1)[1:]
    return chance.ravel(), slope.reshape(n_systems * n_levels, parameters.size)


def _contrasts(n_systems: int, n_cuts: int) -> Floats:
    """Return the derivatives of centred β by the parameters, (n_systems, n_parameters)."""
    own = np.zeros((n_systems, n_cuts + n_systems - 1))
    own[np.arange(1, n_systems), n_cuts + np.arange(n_systems - 1)] = 1
    found: Floats = own - own.mean(axis=0)
    return found


def _clustered(cell: NDArray[np.int64], influence: Floats, clusters: Mapping[str, Codes]) -> Floats:
    """Return the variance of each difference; `influence`, (n_cells, n_systems), is that of one rating of a cell."""
    groups = [np.unique(codes, return_inverse=True)[1].astype(np.int64) for codes in clusters.values()]
    if len(groups) == 2:
        both = groups[0] * (int(groups[1].max()) + 1) + groups[1]
        groups.append(np.unique(both, return_inverse=True)[1])
    variances = [variance_of_differences(_covariance(cell, influence, group)) for group in groups]
    if len(variances) == 1:
        return variances[0]
    first, second, of_both = variances
    larger: Floats = np.maximum(np.maximum(first, second), first + second - of_both)
    return larger


def _covariance(cell: NDArray[np.int64], influence: Floats, group: NDArray[np.int64]) -> Floats:
    from scipy.sparse import csr_array

    n = int(group.max()) + 1
    counts: Any = csr_array((np.ones(cell.size), (group, cell)), shape=(n, len(influence)))
    correction = n / (n - 1) if n > 1 else 0.0
    if n > _MANY_GROUPS:  # each has few cells, and a table of all of them would be large
        together: Floats = (counts.T @ counts).toarray()
        return np.asarray(correction * (influence.T @ together @ influence))
    sums = counts @ influence
    return np.asarray(correction * (sums.T @ sums))
