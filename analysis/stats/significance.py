"""Are systems different? Rank-sum tests of every pair, their corrections, intervals and clusters (METHOD §5)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.stats.ranks import u_less
from analysis.stats.ratings import Codes, Floats

_BLOCK = 16
_TIED_CELLS = 1 << 18


@dataclass(frozen=True)
class PairwiseTests:
    """One-sided rank-sum tests of every ordered pair of systems.

    Attributes
    ----------
    p_value : float64, (n_systems, n_systems)
        Row beats column; NaN on the diagonal and where a system has no observation.
    superiority : float64, (n_systems, n_systems)
        P(row > column), ties counting one half: the effect size. NaN like `p_value`.
    """

    p_value: Floats
    superiority: Floats


@dataclass(frozen=True)
class Intervals:
    """Bootstrap intervals of system means, (n_systems,) float64; NaN where a system has no observation."""

    low: Floats
    high: Floats


def compare_systems(values: Floats, system: Codes, n_systems: int) -> PairwiseTests:
    """Test for every ordered pair of systems whether the row's values exceed the column's.

    Parameters
    ----------
    values : float64, (n,)
        Item-level z; NaN is left out.
    system : int, (n,)
        Codes 0 … n_systems − 1.

    Notes
    -----
    Equal to `scipy.stats.mannwhitneyu(row, column, alternative="greater", method="auto")` for each pair, from one
    ordering of all values: O(n log n + n·n_systems) time instead of a sort a pair.

    References
    ----------
    METHOD §5; Mann & Whitney 1947.

    Examples
    --------
    >>> compare_systems(np.array([3.0, 4.0, 1.0, 2.0]), np.array([0, 0, 1, 1]), 2).p_value
    array([[       nan, 0.16666667],
           [1.        ,        nan]])
    """
    is_number = ~np.isnan(values)
    if not is_number.all():
        values, system = values[is_number], system[is_number]
    ordered, ordered_system = _order(values, system, n_systems)
    exceeded, tie_sum = _count_exceeded(ordered, ordered_system, n_systems)
    n = np.bincount(ordered_system, minlength=n_systems)
    n_row, n_column = np.broadcast_arrays(n[:, None], n[None, :])
    # The row beats the column when its own values are rarely exceeded by the column's
    p = u_less(exceeded, n_column, n_row, tie_sum)
    with np.errstate(invalid="ignore"):
        superiority = exceeded.T / (n_row * n_column)
    np.fill_diagonal(p, np.nan)
    np.fill_diagonal(superiority, np.nan)
    return PairwiseTests(p, superiority)


def _order(values: Floats, system: Codes, n_systems: int) -> tuple[Floats, NDArray[np.int64]]:
    """Return the values sorted upwards, equal ones by system, and the system of each.

    Sorting each system apart and merging the sorted stretches (what a stable sort does with them) takes half the
    time of one argsort.
    """
    size = np.bincount(system, minlength=n_systems)
    by_system = values[np.argsort(system.astype(np.uint16), kind="stable")]
    ends = np.cumsum(size)
    for begin, end in zip(ends - size, ends, strict=True):
        by_system[begin:end].sort()
    order = np.argsort(by_system, kind="stable")
    return by_system[order], np.repeat(np.arange(n_systems), size)[order]


def _count_exceeded(ordered: Floats, system: NDArray[np.int64], n_systems: int) -> tuple[Floats, Floats]:
    """Compare all observations of each two systems, from their common order.

    Returns
    -------
    exceeded : float64, (n_systems, n_systems)
        Pairs in which the column's value exceeds the row's, ties counting one half.
    tie_sum : float64, (n_systems, n_systems)
        Σ(t³ − t) over the runs of t equal values in both systems together.
    """
    exceeded = _count_before(system, n_systems)
    ties, tie_sum = _count_ties(ordered, system, n_systems)
    # `ordered` breaks ties by system: the lower code came before the higher one, and each should count one half
    exceeded += ties * (0.5 - np.triu(np.ones_like(ties), 1))
    return exceeded, tie_sum


def _count_before(system: NDArray[np.int64], n_systems: int) -> Floats:
    """Return how many pairs of places have the row's system before the column's, (n_systems, n_systems).

    Pairs within blocks of 16 places are counted by their offset, pairs across blocks by cumulated counts of the blocks.
    """
    whole = system.size // _BLOCK * _BLOCK
    places = [np.ascontiguousarray(system[a:whole:_BLOCK]) for a in range(_BLOCK)]
    within = np.zeros(n_systems**2, dtype=np.int64)
    for a, first in enumerate(places):
        for second in places[a + 1 :]:
            within += np.bincount(first * n_systems + second, minlength=n_systems**2)
    n_blocks = whole // _BLOCK
    cell = system[:whole].reshape(n_blocks, _BLOCK) + (np.arange(n_blocks) * n_systems)[:, None]
    counts = np.bincount(cell.ravel(), minlength=n_blocks * n_systems)
    in_block: Floats = counts.reshape(n_blocks, n_systems).astype(np.float64)
    so_far = np.cumsum(in_block, axis=0)
    pairs: Floats = so_far.T @ in_block - in_block.T @ in_block + within.reshape(n_systems, n_systems)
    seen = in_block.sum(axis=0)
    for last in system[whole:]:
        pairs[:, last] += seen
        seen[last] += 1
    return pairs


def _count_ties(ordered: Floats, system: NDArray[np.int64], n_systems: int) -> tuple[Floats, Floats]:
    """Return the tied pairs and Σ(t³ − t) of each two systems, both (n_systems, n_systems).

    With a and b values of two systems in a run, t = a + b and t³ − t = (a³ − a) + (b³ − b) + 3(a²b + ab²).
    """
    is_new = np.ones(ordered.size, dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    length = np.diff(np.flatnonzero(is_new), append=ordered.size)
    is_tied = length > 1
    tied_system = system[np.repeat(is_tied, length)]
    length = length[is_tied]
    ends = np.concatenate([[0], np.cumsum(length)])
    ties, mixed, own = np.zeros((n_systems, n_systems)), np.zeros((n_systems, n_systems)), np.zeros(n_systems)
    n_runs = max(1, _TIED_CELLS // n_systems)
    for begin in range(0, length.size, n_runs):
        part = length[begin : begin + n_runs]
        members = tied_system[ends[begin] : ends[begin + part.size]]
        cell = np.repeat(np.arange(part.size), part) * n_systems + members
        counts = np.bincount(cell, minlength=part.size * n_systems).reshape(-1, n_systems).astype(np.float64)
        ties += counts.T @ counts
        mixed += (counts**2).T @ counts
        own += (counts**3 - counts).sum(axis=0)
    return ties, own[:, None] + own[None, :] + 3 * (mixed + mixed.T)


def adjust(p_value: Floats, method: str) -> Floats:
    """Return p-values corrected for all the ordered pairs tested.

    Parameters
    ----------
    p_value : float64, (n_systems, n_systems)
        NaN entries are not tests and stay NaN.
    method : {"holm", "fdr_bh"}
        Holm's family-wise correction or Benjamini–Hochberg's false discovery rate.

    Returns
    -------
    float64, (n_systems, n_systems)

    Notes
    -----
    With the n p-values in rising order, Holm's correction of the k-th is the largest of (n + 1 − j) p_j up to it, and
    Benjamini–Hochberg's the smallest of p_j / (j / n) from it on, both at most 1.
    `scipy.stats.false_discovery_control` computes p_j · (n / j), which may differ in the last bit.

    References
    ----------
    Holm 1979; Benjamini and Hochberg 1995.
    """
    adjusted = p_value.copy()
    is_test = ~np.isnan(p_value)
    p = p_value[is_test]
    order, rank = np.argsort(p), np.arange(1, p.size + 1)
    corrected = np.empty_like(p)
    if method == "holm":
        corrected[order] = np.maximum.accumulate(p[order] * (p.size + 1 - rank))
    else:
        corrected[order] = np.minimum.accumulate((p[order] / (rank / p.size))[::-1])[::-1]
    adjusted[is_test] = np.minimum(corrected, 1)
    return adjusted


def bootstrap_means(
    values: Floats, system: Codes, n_systems: int, *, n_samples: int, rng: np.random.Generator, level: float = 0.95
) -> Intervals:
    """Return percentile bootstrap intervals of each system's mean.

    Parameters
    ----------
    values : float64, (n,)
        Item-level z; NaN is left out.
    system : int, (n,)
    n_samples : int
        Number of resamples, each of as many observations as the system has, drawn with replacement.
    level : float
        Coverage, between 0 and 1.

    References
    ----------
    METHOD §5; Efron & Tibshirani 1993, §13.3.
    """
    bounds = np.full((2, n_systems), np.nan)
    tail = (1 - level) / 2
    for code in range(n_systems):
        own = np.sort(values[system == code])
        own = own[: own.size - np.count_nonzero(np.isnan(own))]
        if own.size:
            rows = max(1, (1 << 22) // own.size)
            means = [
                own[rng.integers(own.size, size=(min(rows, n_samples - done), own.size))].mean(axis=1)
                for done in range(0, n_samples, rows)
            ]
            bounds[:, code] = np.quantile(np.concatenate(means), [tail, 1 - tail])
    return Intervals(bounds[0], bounds[1])


def rank_systems(z: Floats) -> list[int]:
    """Return system codes, best z first; equal ones by code, those without a score last."""
    return [int(code) for code in np.argsort(np.where(np.isnan(z), np.inf, -z), kind="stable")]


def cluster(order: Sequence[int], p_value: Floats, alpha: float = 0.05) -> list[list[int]]:
    """Return the systems in rank order, divided below each that beats every scored system ranked below it.

    Parameters
    ----------
    order : sequence of int
        System codes, best first.
    p_value : float64, (n_systems, n_systems)
        Row beats column; NaN where either has no score, as the last in `order` may.
    alpha : float
        A system beats another at p < alpha.

    Returns
    -------
    list of lists of codes

    References
    ----------
    METHOD §5.
    """
    clusters: list[list[int]] = []
    current: list[int] = []
    for rank, code in enumerate(order):
        current.append(code)
        below = list(order[rank + 1 :])
        p = p_value[code, below]
        has_score = not np.isnan(p_value[code]).all()
        if not below or (has_score and (p[~np.isnan(p)] < alpha).all()):
            clusters.append(current)
            current = []
    return clusters
