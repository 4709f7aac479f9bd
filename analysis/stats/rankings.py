"""Rankings of some systems at a time: what they count, and the pairs that they imply."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.stats.davidson import Outcome
from analysis.stats.ratings import Codes, Floats


@dataclass(frozen=True)
class Friedman:
    """Friedman's χ² with its degrees of freedom and p, from `n_blocks` complete rankings; NaN where undefined."""

    statistic: float
    df: int
    p_value: float
    n_blocks: int


@dataclass(frozen=True)
class ImpliedPairs:
    """Pairs of systems of one ranking, (n_pairs,) each: rows of the ranking, and an `Outcome` (left: the first won)."""

    first: NDArray[np.int32]
    second: NDArray[np.int32]
    outcome: NDArray[np.int8]


def friedman_test(ranks: Floats) -> Friedman:
    """Test whether all systems are ranked alike.

    Parameters
    ----------
    ranks : float64, (n_blocks, n_systems)
        One ranking a row, of all systems; any numbers that order them. Equal numbers are ties.

    Returns
    -------
    Friedman
        NaN with fewer than two systems or blocks, or if every block ties all.

    Notes
    -----
    With mid-ranks, and the correction for ties of the reference: as `scipy.stats.friedmanchisquare`.

    References
    ----------
    Hollander & Wolfe 1973, Nonparametric Statistical Methods, pp. 139–146.
    """
    from scipy.special import chdtrc

    n, k = ranks.shape
    undefined = Friedman(float("nan"), max(k - 1, 0), float("nan"), n)
    if n < 2 or k < 2:
        return undefined
    mid = np.full(ranks.shape, 0.5)
    for other in ranks.T[:, :, None]:
        mid += (other < ranks) + (other == ranks) / 2
    centred = mid - (k + 1) / 2
    spread = float((centred**2).sum())
    if spread == 0:
        return undefined
    statistic = (k - 1) * float((centred.sum(axis=0) ** 2).sum()) / spread
    return Friedman(statistic, k - 1, float(chdtrc(k - 1, statistic)), n)


def share_beaten(judgement: Codes, rank: Floats) -> Floats:
    """Return the share of the other systems of its ranking that each one beats, a tie counted half, (n_rows,).

    `judgement`: codes 0 … n − 1 of rankings of two systems or more; `rank`: the lower, the better.

    Examples
    --------
    >>> share_beaten(np.array([0, 0, 0]), np.array([1.0, 2.0, 2.0])).tolist()
    [1.0, 0.25, 0.25]
    """
    pairs = implied_pairs(judgement, rank)
    value = np.array([1.0, 0.0, 0.5])[pairs.outcome]
    won = np.bincount(pairs.first, value, judgement.size) + np.bincount(pairs.second, 1 - value, judgement.size)
    found: Floats = won / (np.bincount(judgement)[judgement] - 1)
    return found


def implied_pairs(judgement: Codes, rank: Floats) -> ImpliedPairs:
    """Return every two systems of one ranking; time and space are the sum of squared lengths of the rankings."""
    order = np.argsort(judgement, kind="stable")
    sorted_judgement = judgement[order]
    longest = int(np.bincount(judgement).max(initial=0))
    first, second = [], []
    for distance in range(1, longest):
        together = np.flatnonzero(sorted_judgement[distance:] == sorted_judgement[:-distance])
        first.append(order[together])
        second.append(order[together + distance])
    a, b = (np.concatenate([np.empty(0, np.int32), *rows]).astype(np.int32) for rows in (first, second))
    outcome = np.where(rank[a] < rank[b], Outcome.LEFT, np.where(rank[a] > rank[b], Outcome.RIGHT, Outcome.TIE))
    return ImpliedPairs(a, b, outcome.astype(np.int8))
