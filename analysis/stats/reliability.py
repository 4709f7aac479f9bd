"""Do the same scores come again? From a worker twice, from two workers, from half of them, from two runs (METHOD §6).

Correlations are given one by one, as distributions: they are never averaged.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.stats.correlation import FEWEST, kendall
from analysis.stats.pools import sum_by_worker
from analysis.stats.ranks import ranks_in_groups
from analysis.stats.ratings import Codes, Floats, Ratings
from campaigns.design.composition import Kind

# Scores mapped from another scale differ in the last bits where they were equal.
_DECIMALS = 9
# Of deviations from a mean of scores from 0 to 100: less is the rounding of sums.
_NO_SPREAD = 1e-9
_PAIRS_IN_TURN = 1000


@dataclass(frozen=True)
class RatedTwice:
    """Scores that workers gave to an ordinary item and to its repeat, (n_pairs,), and who gave them."""

    first: Floats
    second: Floats
    worker: Codes


@dataclass(frozen=True)
class GroupCorrelations:
    """Pearson's r, Spearman's ρ and Kendall's τ-b of each group, (n_groups,); NaN where undefined.

    `n` is the number of pairs of each group.
    """

    pearson: Floats
    spearman: Floats
    kendall: Floats
    n: NDArray[np.int64]


@dataclass(frozen=True)
class AssignmentPairs:
    """Every two assignments of the same set of items, (n_pairs,), and r of their scores; NaN where undefined."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    pearson: Floats


def repeats_with_twins(ratings: Ratings, scores: Floats, twin: NDArray[np.int64]) -> RatedTwice:
    """Return the scores of every repeat and its twin, criteria pooled.

    Parameters
    ----------
    scores : float64, (n_items, n_criteria)
        After reversal; NaN where a criterion was not rated, and the pair is left out.
    twin : int64, (n_items,)
        From `ratings.match_twins`.

    References
    ----------
    METHOD §6 (intra-rater). (a) is `agreement.cohen_kappa` of both after `agreement.categorise`, workers pooled.
    """
    repeats = np.flatnonzero((ratings.kind == Kind.REPEAT) & (twin >= 0))
    first, second = scores[twin[repeats]], scores[repeats]
    worker = np.broadcast_to(ratings.worker[repeats, None], first.shape)
    is_rated = ~(np.isnan(first) | np.isnan(second))
    return RatedTwice(first[is_rated], second[is_rated], worker[is_rated])


def correlate_groups(first: Floats, second: Floats, group: Codes, n_groups: int) -> GroupCorrelations:
    """Return the correlations of paired scores within each group, such as each worker's repeats with their twins.

    Parameters
    ----------
    first, second : float64, (n,)
        No NaN; rounded to nine decimals, so that scores mapped from another scale keep their ties.
    group : int, (n,)
        Codes 0 … n_groups − 1.

    Returns
    -------
    GroupCorrelations
        NaN for groups of fewer than three pairs, of which any two are in line, and where one side is constant.

    References
    ----------
    METHOD §6 (b); `scipy.stats.pearsonr`, `spearmanr` and `kendalltau` of each group.

    Examples
    --------
    >>> found = correlate_groups(np.array([1.0, 2, 3, 4]), np.array([1.0, 3, 2, 4]), np.zeros(4, int), 2)
    >>> found.pearson.round(3), found.kendall.round(3), found.n
    (array([0.8, nan]), array([0.667,   nan]), array([4, 0]))
    """
    first, second = np.round(first, _DECIMALS), np.round(second, _DECIMALS)
    n = np.bincount(group, minlength=n_groups)
    ranks = [ranks_in_groups(values, group, n_groups) for values in (first, second)]
    is_few = n < FEWEST
    return GroupCorrelations(
        np.where(is_few, np.nan, _pearson(first, second, group, n)),
        np.where(is_few, np.nan, _pearson(ranks[0], ranks[1], group, n)),
        np.where(is_few, np.nan, _kendall(ranks[0], ranks[1], group, n)),
        n,
    )


def _pearson(first: Floats, second: Floats, group: Codes, n: NDArray[np.int64]) -> Floats:
    def total(values: Floats) -> Floats:
        return np.bincount(group, weights=values, minlength=n.size).astype(np.float64)

    with np.errstate(invalid="ignore", divide="ignore"):
        x, y = (values - (total(values) / n)[group] for values in (first, second))
        squares = [total(values**2) for values in (x, y)]
        r = total(x * y) / np.sqrt(squares[0] * squares[1])
    r[np.minimum(*squares) <= _NO_SPREAD] = np.nan
    return np.clip(r, -1, 1)


def _kendall(first: Floats, second: Floats, group: Codes, n: NDArray[np.int64]) -> Floats:
    """Return τ-b: by all pairs of small groups at once, by sorting of large ones."""
    order = np.argsort(group, kind="stable")
    x, y, code = first[order], second[order], group[order]
    tau = np.full(n.size, np.nan)
    agree, untied_x, untied_y = np.zeros(n.size), np.zeros(n.size), np.zeros(n.size)
    left = np.flatnonzero(n[code] <= _PAIRS_IN_TURN)
    lag = 0
    while left.size:
        lag += 1
        left = left[left + lag < code.size]
        left = left[code[left] == code[left + lag]]
        sign_x, sign_y = np.sign(x[left + lag] - x[left]), np.sign(y[left + lag] - y[left])
        agree += np.bincount(code[left], weights=sign_x * sign_y, minlength=n.size)
        untied_x += np.bincount(code[left], weights=np.abs(sign_x), minlength=n.size)
        untied_y += np.bincount(code[left], weights=np.abs(sign_y), minlength=n.size)
    is_defined = (untied_x > 0) & (untied_y > 0)
    tau[is_defined] = agree[is_defined] / np.sqrt(untied_x[is_defined] * untied_y[is_defined])
    ends = np.cumsum(n)
    for large in np.flatnonzero(n > _PAIRS_IN_TURN):
        own = slice(ends[large] - n[large], ends[large])
        if np.ptp(x[own]) > 0 and np.ptp(y[own]) > 0:
            tau[large] = kendall(x[own], y[own])
    return tau


def correlate_assignments(ratings: Ratings, scores: Floats) -> AssignmentPairs:
    """Return r of every two assignments of the same set of items.

    Parameters
    ----------
    scores : float64, (n_items, n_criteria)
        After reversal.

    Returns
    -------
    AssignmentPairs
        Codes of the assignments, the lower one first. NaN where one side is constant or fewer than two items have
        all their criteria rated by both.

    Notes
    -----
    Two assignments have the same set if they hold the same sources, systems and kinds equally often: in chats, where
    sources are not known, the same systems. An item's score is the mean over its criteria. Items of all kinds count,
    and two assignments of one worker are a pair like any other: so the pairs are as many as the dialogue study counts
    in its first run (680 of workers who passed, 115 of workers who failed), where undefined ones are left out.

    References
    ----------
    METHOD §6 (inter-rater); the thesis's Figure 5.12.
    """
    n_assignments = int(ratings.assignment.max(initial=-1)) + 1
    n_sources = int(ratings.source.max(initial=-1)) + 2
    key = ((ratings.source + np.int64(1)) + n_sources * ratings.system.astype(np.int64)) * len(Kind) + ratings.kind
    order = np.lexsort((key, ratings.assignment))
    key, assignment = key[order], ratings.assignment[order]
    value = scores[order].mean(axis=1)
    size = np.bincount(assignment, minlength=n_assignments)
    found: list[tuple[NDArray[np.int64], NDArray[np.int64], Floats]] = []
    for m in np.unique(size[size > 1]).tolist():
        of_size = np.flatnonzero(size[assignment] == m)
        sets, rows = key[of_size].reshape(-1, m), value[of_size].reshape(-1, m)
        _, code = np.unique(sets, axis=0, return_inverse=True)
        members = assignment[of_size].reshape(-1, m)[:, 0].astype(np.int64)
        by_set = np.argsort(code, kind="stable")
        for same in np.split(by_set, np.flatnonzero(np.diff(code[by_set])) + 1):
            if same.size > 1:
                i, j = np.triu_indices(same.size, k=1)
                found.append((members[same[i]], members[same[j]], _pearson_of_rows(rows[same])[i, j]))
    if not found:
        return AssignmentPairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    first, second, r = (np.concatenate(parts) for parts in zip(*found, strict=True))
    by_pair = np.lexsort((second, first))
    return AssignmentPairs(first[by_pair], second[by_pair], r[by_pair])


def _pearson_of_rows(rows: Floats) -> Floats:
    """Return r of every two rows, (n_rows, n_rows), over the columns that neither lacks (NaN)."""
    is_number = ~np.isnan(rows)
    n_own = np.maximum(is_number.sum(axis=1), 1)
    filled = np.where(is_number, rows, 0.0)
    filled = np.where(is_number, filled - (filled.sum(axis=1) / n_own)[:, None], 0.0)
    mask = is_number.astype(np.float64)
    n = np.maximum(mask @ mask.T, 1)
    total = filled @ mask.T
    squares = (filled**2) @ mask.T - total**2 / n
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (filled @ filled.T - total * total.T / n) / np.sqrt(squares * squares.T)
    r[np.minimum(squares, squares.T) <= _NO_SPREAD] = np.nan
    return np.clip(r, -1, 1)


def split_half(
    values: Floats,
    system: Codes,
    worker: Codes,
    *,
    n_systems: int,
    n_workers: int,
    n_splits: int,
    rng: np.random.Generator,
) -> Floats:
    """Return r between the system scores of two random halves of the workers, for each of many splits.

    Parameters
    ----------
    values : float64, (n,)
        Scores of items, such as z; NaN is left out.
    system, worker : int, (n,)
        Codes from 0.

    Returns
    -------
    float64, (n_splits,)
        NaN where fewer than two systems have a score in both halves, or a half gives all of them the same score.

    Notes
    -----
    Workers who rated something are divided into halves; of an odd number, the first half has one less. A half's score
    of a system is the mean of its items. `spearman_brown` turns r of halves into the reliability of all workers.

    References
    ----------
    METHOD §6; Spearman 1910; Brown 1910.
    """
    found = sum_by_worker(values[:, None], system, worker, n_systems=n_systems, n_workers=n_workers)
    active = np.flatnonzero(found.counts.sum(axis=(1, 2)))
    own = found.of(active)
    r = np.full(n_splits, np.nan)
    rank = np.argsort(rng.random((n_splits, active.size)), axis=1)
    half = np.zeros((n_splits, active.size))
    np.put_along_axis(half, rank[:, : active.size // 2], 1.0, axis=1)
    first, second = own.scores(half)[:, :, 0], own.scores(1 - half)[:, :, 0]
    both = ~(np.isnan(first) | np.isnan(second))
    split = np.broadcast_to(np.arange(n_splits)[:, None], both.shape)[both]
    if split.size:
        r = _pearson(first[both], second[both], split, np.bincount(split, minlength=n_splits))
    return r


def spearman_brown(r: Floats) -> Floats:
    """Return the reliability of the whole from correlations of its halves: 2r/(1 + r); NaN at r = −1.

    Examples
    --------
    >>> spearman_brown(np.array([0.6, 0.0, -1.0]))
    array([0.75, 0.  ,  nan])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(r > -1, 2 * r / (1 + r), np.nan)


def cv_star(values: Floats, low: float = 0.0) -> float:
    """Return CV*, the coefficient of variation of a few repeated measurements, in per cent.

    Parameters
    ----------
    values : float64, (n,)
        The same score as measured in n runs, no NaN.
    low : float
        The least possible score: measurements are shifted so that the scale starts at 0.

    Returns
    -------
    float
        NaN for fewer than two measurements and where their mean is the start of the scale.

    Notes
    -----
    CV* = (1 + 1/(4n)) · s*/|mean| · 100, with s* = s/c₄(n), s the standard deviation (ddof = 1) and
    c₄(n) = √(2/(n − 1)) Γ(n/2)/Γ((n − 1)/2), which makes s* unbiased for normal measurements.

    References
    ----------
    METHOD §6; Belz, Popović & Mille 2022, Table 4 (BLEU of NTS_def in seven reproductions).

    Examples
    --------
    >>> round(cv_star(np.array([84.51, 84.50, 87.46, 85.60, 84.20, 86.61, 86.20])), 3)
    1.562
    """
    from scipy.special import gammaln

    n = values.size
    shifted = values - low
    if n < 2 or shifted.mean() == 0:
        return float("nan")
    c4 = np.sqrt(2 / (n - 1)) * np.exp(gammaln(n / 2) - gammaln((n - 1) / 2))
    return float((1 + 1 / (4 * n)) * shifted.std(ddof=1) / c4 / abs(shifted.mean()) * 100)
