"""Rank tests for many groups at once, equal to SciPy's one at a time.

Both tests choose between exact and normal p-values as `scipy.stats.wilcoxon` and `scipy.stats.mannwhitneyu` do with
``method="auto"``; the tests hold them against SciPy group by group.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from analysis.stats.ratings import Codes, Floats, Mask

_WILCOXON_EXACT_MAX = 50
_WILCOXON_ENUMERATE_MAX = 13
_RANKSUM_EXACT_MAX = 8


@dataclass(frozen=True)
class _Runs:
    """Values sorted within groups, as runs of equal values.

    order: positions of the values, sorted; start: first place of each run in `order`; group, length, mean_rank: of
    each run, ranks counted from 1 within its group; tie_sum: Σ(t³ − t) of each group.
    """

    order: NDArray[np.intp]
    start: NDArray[np.intp]
    group: NDArray[np.intp]
    length: NDArray[np.intp]
    mean_rank: Floats
    tie_sum: Floats


def _sort_in_groups(values: Floats, group: Codes, n_groups: int) -> _Runs:
    """Sort `values` within each group and find the runs of ties."""
    by_value = np.argsort(values)
    narrow = np.uint16 if n_groups <= 1 << 16 else np.int64  # 16-bit keys get a radix sort
    order = by_value[np.argsort(group[by_value].astype(narrow), kind="stable")]
    sorted_values, sorted_group = values[order], group[order].astype(np.intp)
    is_new = np.ones(order.size, dtype=bool)
    np.not_equal(sorted_values[1:], sorted_values[:-1], out=is_new[1:])
    is_new[1:] |= sorted_group[1:] != sorted_group[:-1]
    start = np.flatnonzero(is_new)
    length = np.diff(start, append=order.size)
    run_group = sorted_group[start]
    group_size = np.bincount(sorted_group, minlength=n_groups)
    group_start = np.cumsum(group_size) - group_size
    mean_rank = start - group_start[run_group] + (length + 1) / 2
    cubes = length.astype(np.float64) ** 3 - length
    tie_sum = np.bincount(run_group, weights=cubes, minlength=n_groups).astype(np.float64)
    return _Runs(order, start, run_group, length, mean_rank, tie_sum)


def ranks_in_groups(values: Floats, group: Codes, n_groups: int) -> Floats:
    """Return the rank of each value within its group, from 1, equal values sharing their mean rank.

    Parameters
    ----------
    values : float64, (n,)
        No NaN.
    group : int, (n,)
        Codes 0 … n_groups − 1.

    Returns
    -------
    float64, (n,)

    Examples
    --------
    >>> ranks_in_groups(np.array([7.0, 5.0, 7.0, 9.0]), np.array([0, 0, 0, 1]), 2)
    array([2.5, 1. , 2.5, 1. ])
    """
    runs = _sort_in_groups(values, group, n_groups)
    rank = np.empty(values.size)
    rank[runs.order] = np.repeat(runs.mean_rank, runs.length)
    return rank


def mean_ranks(values: Floats) -> Floats:
    """Return the rank of each value, from 1, equal values sharing their mean rank; no NaN.

    Examples
    --------
    >>> mean_ranks(np.array([7.0, 5.0, 7.0]))
    array([2.5, 1. , 2.5])
    """
    return ranks_in_groups(values, np.zeros(values.size, dtype=np.int64), 1)


def wilcoxon_less(difference: Floats, group: Codes, n_groups: int) -> Floats:
    """Test in each group whether the differences lie below zero: Wilcoxon's signed-rank test, one-sided.

    Parameters
    ----------
    difference : float64, (n,)
        Paired differences, no NaN.
    group : int, (n,)
        Codes 0 … n_groups − 1.

    Returns
    -------
    float64, (n_groups,)
        p-values; 1 where all differences of the group are zero, NaN where it has none.

    Notes
    -----
    Zero differences are dropped. Up to 50 differences without ties or zeros, and up to 13 with them, the p-value is
    exact; otherwise it is the normal one, corrected for ties, without continuity correction.

    References
    ----------
    METHOD §3; `scipy.stats.wilcoxon(degraded, ordinary, alternative="less")`.

    Examples
    --------
    >>> wilcoxon_less(np.array([-1.0, -2.0, -3.0, 0.0]), np.array([0, 0, 0, 1]), 3)
    array([0.125, 1.   ,   nan])
    """
    from scipy.special import ndtr

    n_all = np.bincount(group, minlength=n_groups)
    nonzero = np.flatnonzero(difference)
    d, g = difference[nonzero], group[nonzero]
    runs = _sort_in_groups(np.abs(d), g, n_groups)
    n_positive = np.add.reduceat((d > 0)[runs.order].astype(np.int64), runs.start) if d.size else runs.length
    statistic = np.bincount(runs.group, weights=runs.mean_rank * n_positive, minlength=n_groups).astype(np.float64)
    n = np.bincount(g, minlength=n_groups).astype(np.float64)
    variance = (n * (n + 1) * (2 * n + 1) - runs.tie_sum / 2) / 24
    with np.errstate(divide="ignore", invalid="ignore"):
        p: Floats = ndtr((statistic - n * (n + 1) / 4) / np.sqrt(variance))

    is_clean = (runs.tie_sum == 0) & (n == n_all)
    for size in np.unique(n_all[is_clean & (n_all <= _WILCOXON_EXACT_MAX) & (n_all > 0)]):
        exact = np.flatnonzero(is_clean & (n_all == size))
        p[exact] = _signed_rank_cdf(int(size))[statistic[exact].astype(np.intp)]
    few = np.flatnonzero(~is_clean & (n_all <= _WILCOXON_ENUMERATE_MAX) & (n > 0))
    if few.size:
        p[few] = _enumerate_signs(runs, few, statistic[few])
    p[n == 0] = 1.0
    p[n_all == 0] = np.nan
    return p


def sign_less(difference: Floats, group: Codes, n_groups: int) -> Floats:
    """Test in each group whether the differences lie below zero: the sign test, one-sided and exact.

    Parameters
    ----------
    difference, group, n_groups
        As of `wilcoxon_less`; only the signs count.

    Returns
    -------
    float64, (n_groups,)
        P(B ≥ number below zero), B binomial with ½ and the number of differences that are not zero; 1 where all
        differences of the group are zero, NaN where it has none.

    References
    ----------
    `scipy.stats.binomtest(n_below, n_below + n_above, alternative="greater")`.

    Examples
    --------
    >>> sign_less(np.array([-1.0, -2.0, -3.0, 4.0, 0.0]), np.zeros(5, int), 2)
    array([0.3125,    nan])
    """
    from scipy.special import bdtr

    n_above = np.bincount(group, weights=difference > 0, minlength=n_groups)
    n_below = np.bincount(group, weights=difference < 0, minlength=n_groups)
    p: Floats = bdtr(n_above, (n_above + n_below).astype(np.int64), 0.5)
    p[np.bincount(group, minlength=n_groups) == 0] = np.nan
    return p


@lru_cache(maxsize=64)
def _signed_rank_cdf(n: int) -> Floats:
    """Return P(R⁺ ≤ k), k = 0 … n(n+1)/2, for n untied differences; the counts are exact up to n = 52."""
    counts = np.zeros(n * (n + 1) // 2 + 1)
    counts[0] = 1
    for rank in range(1, n + 1):
        counts[rank:] = counts[rank:] + counts[:-rank]
    return np.asarray(np.cumsum(counts) / 2.0**n)


def _enumerate_signs(runs: _Runs, groups: NDArray[np.intp], statistic: Floats) -> Floats:
    """Return exact p-values of `groups` (≤ 13 differences each, tied) over all ways to sign their ranks."""
    size = _WILCOXON_ENUMERATE_MAX
    ranks = np.zeros((groups.size, size))
    row_of = np.full(int(groups.max()) + 1, -1)
    row_of[groups] = np.arange(groups.size)
    chosen = np.flatnonzero(np.isin(runs.group, groups))
    row = np.repeat(row_of[runs.group[chosen]], runs.length[chosen])
    first = np.searchsorted(row, np.arange(groups.size))
    ranks[row, np.arange(row.size) - first[row]] = np.repeat(runs.mean_rank[chosen], runs.length[chosen])
    signs = (np.arange(2**size)[:, None] >> np.arange(size)) & 1
    p = np.empty(groups.size)
    for begin in range(0, groups.size, 256):
        part = slice(begin, begin + 256)
        p[part] = np.mean(signs @ ranks[part].T <= statistic[part], axis=0)
    return p


def ranksum_less(values: Floats, is_first: Mask, group: Codes, n_groups: int) -> Floats:
    """Test in each group whether the first sample lies below the second: Mann–Whitney's U, one-sided.

    Parameters
    ----------
    values : float64, (n,)
        No NaN.
    is_first : bool, (n,)
        Whether the value belongs to the first sample.
    group : int, (n,)

    Returns
    -------
    float64, (n_groups,)
        p-values; NaN where a group lacks one of the samples.

    References
    ----------
    METHOD §3; `scipy.stats.mannwhitneyu(first, second, alternative="less", method="auto")`.

    Examples
    --------
    >>> ranksum_less(np.array([1.0, 2.0, 3.0, 4.0]), np.array([True, True, False, False]), np.zeros(4, int), 1)
    array([0.16666667])
    """
    runs = _sort_in_groups(values, group, n_groups)
    n_first_in_run = np.add.reduceat(is_first[runs.order].astype(np.int64), runs.start) if values.size else runs.length
    rank_sum = np.bincount(runs.group, weights=runs.mean_rank * n_first_in_run, minlength=n_groups)
    n = np.bincount(group, minlength=n_groups)
    n_first = np.bincount(group[is_first], minlength=n_groups)
    u = rank_sum - n_first * (n_first + 1) / 2
    return u_less(u, n_first, n - n_first, runs.tie_sum)


def u_less(u: Floats, n_first: Codes, n_second: Codes, tie_sum: Floats) -> Floats:
    """Return P(U ≤ u) under the null hypothesis that both samples come from one distribution.

    Parameters
    ----------
    u : float64, any shape
        How often a value of the first sample exceeds one of the second, ties counting one half.
    n_first, n_second : int, same shape
        Sizes of the samples.
    tie_sum : float64, same shape
        Σ(t³ − t) over the runs of t equal values in both samples together.

    Returns
    -------
    float64, same shape
        p-values; NaN where a sample is empty, 1 where all values are equal.

    Notes
    -----
    Exact where a sample has at most 8 values and nothing is tied, as SciPy does; else normal, with continuity and tie
    correction.
    """
    from scipy.special import ndtr

    n1, n2 = n_first.astype(np.float64), n_second.astype(np.float64)
    n = n1 + n2
    with np.errstate(divide="ignore", invalid="ignore"):
        sd = np.sqrt(n1 * n2 / 12 * ((n + 1) - tie_sum / (n * (n - 1))))
        p = np.asarray(ndtr((u - n1 * n2 / 2 + 0.5) / sd), dtype=np.float64)
    p[(tie_sum > 0) & ~(sd > 0)] = 1.0
    is_exact = (np.minimum(n1, n2) <= _RANKSUM_EXACT_MAX) & (tie_sum == 0) & (n1 > 0) & (n2 > 0)
    for place in map(tuple, np.argwhere(is_exact)):
        small, large = sorted((int(n_first[place]), int(n_second[place])))
        p[place] = _u_cdf(small, large, int(u[place]))
    p[(n1 == 0) | (n2 == 0)] = np.nan
    return np.clip(p, 0.0, 1.0)


def _u_cdf(small: int, large: int, u: int) -> float:
    """Return P(U ≤ u) for untied samples of these sizes."""
    half = small * large // 2
    if u <= half:
        return float(_u_cdf_left(small, large)[u])
    # P(U ≤ u) = 1 − P(U ≤ n₁n₂ − u − 1), since U is symmetric about n₁n₂/2
    below = small * large - u - 1
    return 1.0 - (float(_u_cdf_left(small, large)[below]) if below >= 0 else 0.0)


@lru_cache(maxsize=128)
def _u_cdf_left(small: int, large: int) -> Floats:
    """Return P(U ≤ k) for k = 0 … n₁n₂/2: cumulated coefficients of the Gaussian binomial (n₁+n₂ over n₁)."""
    size = small * large // 2 + 1
    counts = np.zeros(size)
    counts[0] = 1
    total = 1.0
    for i in range(1, small + 1):
        shift = large + i
        if shift < size:
            counts[shift:] = counts[shift:] - counts[:-shift]  # times 1 − q^(n₂+i)
        padded = np.zeros(-(-size // i) * i)
        padded[:size] = counts
        counts = np.cumsum(padded.reshape(-1, i), axis=0).ravel()[:size]  # over 1 − q^i
        total *= shift / i
    return np.asarray(np.cumsum(counts) / total)
