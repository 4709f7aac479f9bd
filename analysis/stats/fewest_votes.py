"""How few votes decide which of two systems is stronger."""

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from analysis.stats.bradley_terry import BradleyTerry, find_connection, fit_bradley_terry
from analysis.stats.pairs import variance_of_differences
from analysis.stats.ratings import Floats

_GROWTH = 1.15


@dataclass(frozen=True)
class FewestVotes:
    """The number of votes without which the other system is first, and that other system."""

    n_votes: int
    system: int


def fewest_votes(counts: NDArray[np.integer], fit: BradleyTerry, n_rivals: int = 5) -> FewestVotes | None:
    """Return how few votes, if left out, would put another system on the first place.

    Parameters
    ----------
    counts : (n_systems, n_systems, 3)
        As the fit's, from `count_votes`.
    fit : BradleyTerry
        Without a prior.
    n_rivals : int
        How many systems are tried: those whose distance to the first is the smallest number of standard errors.

    Returns
    -------
    FewestVotes or None
        None with one system, or if no such votes were found among half of all.

    Notes
    -----
    Leaving out a vote with score s lowers the distance c′θ by about c′A s, A the inverse information. Votes are left
    out in the order of this influence, and the model is fitted again: the number is what such a fit confirms, and the
    least one in this order, so that a cleverer choice may need fewer still.

    References
    ----------
    Broderick, Giordano & Meager 2020, An automatic finite-sample robustness metric; Huang et al. 2025, Dropping just a
    handful of preferences can change top large language model rankings.
    """
    n = fit.n_systems
    first = int(np.argmax(fit.strength))
    gap = fit.strength[first] - fit.strength
    variance = variance_of_differences(fit.covariance[:n, :n])[first]
    with np.errstate(invalid="ignore", divide="ignore"):
        distance = np.where(np.arange(n) == first, np.inf, gap / np.sqrt(variance))
    best: FewestVotes | None = None
    for rival in np.argsort(distance, kind="stable")[: min(n_rivals, n - 1)].tolist():
        limit = best.n_votes - 1 if best else int(counts.sum()) // 2
        found = _fewest(counts, fit, first, rival, limit)
        best = best if found is None else FewestVotes(found, rival)
    return best


def _fewest(counts: NDArray[np.integer], fit: BradleyTerry, first: int, rival: int, limit: int) -> int | None:
    """Return the fewest votes, at most `limit`, without which the rival is at least as strong as the first."""
    n = fit.n_systems
    effect = fit.covariance[:, first] - fit.covariance[:, rival]
    influence = (effect[:n, None] - effect[None, :n])[:, :, None] * fit.residual
    if not np.isnan(fit.log_tie):
        influence = influence + effect[n] * fit.tie_residual
    flat, there = influence.ravel(), counts.ravel()
    order = np.argsort(-flat, kind="stable")
    order = order[(there[order] > 0) & (flat[order] > 0)]
    ends = np.cumsum(there[order])
    gap = float(fit.strength[first] - fit.strength[rival])
    reached = np.cumsum(there[order] * flat[order])
    place = int(np.searchsorted(reached, gap))
    guess = int(ends[-1]) if order.size else 0
    if place < order.size:
        before, done = (int(ends[place - 1]), reached[place - 1]) if place else (0, 0.0)
        guess = before + ceil((gap - done) / flat[order[place]])

    def is_enough(n_votes: int) -> bool | None:
        left_out = np.clip(n_votes - (ends - there[order]), 0, there[order])
        rest = there.copy()
        rest[order] -= left_out
        kept = rest.reshape(counts.shape)
        connection = find_connection(kept)
        if connection.is_separated or connection.group.any() or not kept[:, :, :2].any():
            return None
        strength: Floats = fit_bradley_terry(kept).strength
        return bool(strength[rival] >= strength[first])

    # Too few, enough, and too many to fit what is left, in this order.
    low, too_many = 0, min(limit, int(ends[-1]) if order.size else 0) + 1
    high = max(1, min(guess, too_many - 1))
    while too_many - low > 1:
        enough = is_enough(high)
        if enough:
            break
        low, too_many = (low, high) if enough is None else (high, too_many)
        further = ceil(high * _GROWTH) + 1
        high = further if enough is False and further < too_many else (low + too_many) // 2
    else:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if is_enough(middle):
            high = middle
        else:
            low = middle
    return high
