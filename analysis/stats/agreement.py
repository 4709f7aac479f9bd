"""Do raters agree? Intraclass correlation, κ and tolerance between ratings of the same items (METHOD §6).

An undefined coefficient is NaN, never 1: where all ratings are equal, nothing shows whether raters agree.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from analysis.stats.codes import count_codes
from analysis.stats.ratings import Codes, Floats

# Scores mapped from another scale differ in the last bits where they were equal.
_DECIMALS = 9
# Of the largest rating: a smaller standard deviation is the rounding of sums.
_NO_SPREAD = 1e-9


@dataclass(frozen=True)
class Kappa:
    """Observed agreement, agreement expected by chance, and κ = (observed − expected)/(1 − expected).

    All are NaN without ratings; κ is NaN where chance alone gives full agreement.

    Examples
    --------
    >>> round(Kappa(0.897, 0.52).kappa, 3)
    0.785
    """

    observed: float
    expected: float

    @property
    def kappa(self) -> float:
        """How far agreement exceeds chance."""
        return (self.observed - self.expected) / (1 - self.expected) if self.expected < 1 else np.nan


@dataclass(frozen=True)
class IntraclassCorrelation:
    """ICC(2,1) and ICC(2,k): reliability of one worker's score, and of the mean of an item's scores.

    `n_workers` is k, the harmonic mean of the number of workers of an item; `n_items` counts the items of complete
    blocks. Both coefficients are NaN where undefined.
    """

    single: float
    average: float
    n_items: int
    n_workers: float


def intraclass_correlation(values: Floats, item: Codes, worker: Codes) -> IntraclassCorrelation:
    """Return ICC(2,1) and ICC(2,k): two-way random effects, absolute agreement.

    Parameters
    ----------
    values : float64, (n,)
        NaN is a missing rating.
    item, worker : int, (n,)
        Codes from 0; each pair occurs at most once.

    Returns
    -------
    IntraclassCorrelation
        NaN without a complete block, without variance, and where the variance estimates leave nothing to divide by.

    Notes
    -----
    A *complete block* is two or more items that were rated by exactly the same two or more workers. Items outside such
    blocks are left out; nothing is filled in. One block gives Shrout and Fleiss's formulas. Of several blocks (HITs
    with workers of their own) the sums of squares of items, workers and residuals are added over blocks, and set equal
    to their expectations: the variances of items σ_r², workers σ_c² and residuals σ_e² are the analysis-of-variance
    estimates of the model with blocks held fixed. Then ICC(2,1) = σ_r²/(σ_r² + σ_c² + σ_e²) and ICC(2,k) =
    σ_r²/(σ_r² + (σ_c² + σ_e²)/k), k the harmonic mean of the number of workers over items.

    References
    ----------
    METHOD §6; Shrout & Fleiss 1979, Table 4; Searle, Casella & McCulloch 1992, chapter 5 (expected sums of squares).

    Examples
    --------
    Shrout and Fleiss's Table 2: six targets, four judges.

    >>> table = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float)
    >>> item, worker = np.indices(table.shape)
    >>> found = intraclass_correlation(table.ravel(), item.ravel(), worker.ravel())
    >>> round(found.single, 2), round(found.average, 2)
    (0.29, 0.62)
    """
    is_number = ~np.isnan(values)
    values, item, worker = values[is_number], item[is_number].astype(np.int64), worker[is_number].astype(np.int64)
    order = np.lexsort((worker, item))
    values, item, worker = values[order], item[order], worker[order]
    size = np.bincount(item)
    total = np.zeros(10)
    for m in np.unique(size[size > 1]).tolist():
        of_size = np.flatnonzero(size[item] == m)
        total += _sums_of_blocks(values[of_size].reshape(-1, m), worker[of_size].reshape(-1, m))
    n_items, inverse_k, ss_items, df_items, n_of_items, ss_workers, df_workers, n_of_workers, ss_error, df_error = total
    if not n_items:
        return IntraclassCorrelation(np.nan, np.nan, 0, np.nan)
    k = n_items / inverse_k
    of_error = ss_error / df_error
    of_items = (ss_items - df_items * of_error) / n_of_items
    of_others = (ss_workers - df_workers * of_error) / n_of_workers + of_error
    least = (_NO_SPREAD * np.abs(values).max()) ** 2
    single, average = (
        of_items / (of_items + noise) if of_items + noise > least else np.nan for noise in (of_others, of_others / k)
    )
    return IntraclassCorrelation(float(single), float(average), int(n_items), float(k))


def _sums_of_blocks(values: Floats, worker: Codes) -> Floats:
    """Return sums over the complete blocks of items that m workers rated; `values`, `worker`: (n_items, m).

    Items; items/m; then, of items and of workers, the sum of squares, its degrees of freedom, and how often its
    expectation holds their variance; of residuals the sum of squares and its degrees of freedom.
    """
    _, block = np.unique(worker, axis=0, return_inverse=True)
    is_used = np.bincount(block)[block] > 1
    if not is_used.any():
        return np.zeros(10)
    _, block, n = np.unique(block[is_used], return_inverse=True, return_counts=True)
    values, m = values[is_used], worker.shape[1]
    mean = np.bincount(block, weights=values.mean(axis=1)) / n
    values = values - mean[block, None]
    of_item = values.mean(axis=1)
    of_worker = np.stack([np.bincount(block, weights=column) / n for column in values.T], axis=1)
    residual = values - of_item[:, None] - of_worker[block]
    return np.array(
        [
            n.sum(),
            n.sum() / m,
            m * (of_item**2).sum(),
            (n - 1).sum(),
            m * (n - 1).sum(),
            (n[:, None] * of_worker**2).sum(),
            (m - 1) * n.size,
            (m - 1) * n.sum(),
            (residual**2).sum(),
            (m - 1) * (n - 1).sum(),
        ],
        dtype=np.float64,
    )


Weights = Literal["linear", "quadratic"]
"""How much two categories agree, i and j of n in their order: 1 − |i − j|/(n − 1), or 1 − ((i − j)/(n − 1))²."""


def fleiss_kappa(category: Codes, item: Codes, weights: Weights | None = None) -> Kappa:
    """Return Fleiss' κ: agreement of any workers on the categories of items, weighted if their order counts.

    Parameters
    ----------
    category, item : int, (n,)
        Codes from 0, one rating each. Items with one rating are left out.
    weights : {"linear", "quadratic"}, optional
        By default two categories agree only if they are the same.

    Returns
    -------
    Kappa
        κ is NaN where all ratings are in one category.

    Notes
    -----
    Fleiss has the same number of ratings for every item. Where it differs, the observed agreement is the mean over
    items of the share of their pairs that agree, and a category's share the mean over items of its share of the item's
    ratings (as Gwet 2014, chapter 2, who counts items with one rating among the latter). With equal numbers these are
    Fleiss's. Weights are those of Gwet's chapter 3: a pair of ratings counts as far as its categories agree.

    References
    ----------
    METHOD §6; Fleiss 1971; Gwet 2014, Handbook of inter-rater reliability, 4th edition.

    Examples
    --------
    >>> fleiss_kappa(np.array([0, 0, 1, 1, 0, 1]), np.array([0, 0, 1, 1, 2, 2]))
    Kappa(observed=0.6666666666666666, expected=0.5)
    """
    size = np.bincount(item)
    if not (size > 1).any():
        return Kappa(np.nan, np.nan)
    n_categories = int(category.max()) + 1
    cell, counts = count_codes(item * np.int64(n_categories) + category, size.size * n_categories)
    is_paired = size[cell // n_categories] > 1
    counts, (item_of, category_of) = counts[is_paired], np.divmod(cell[is_paired], n_categories)
    m = size[item_of]
    n_items = np.count_nonzero(size > 1)
    share = np.bincount(category_of, weights=counts / m) / n_items
    if np.count_nonzero(share) == 1:
        return Kappa(1.0, 1.0)
    if weights is None:
        observed = (counts * (counts - 1) / (m * (m - 1))).sum() / n_items
        return Kappa(float(observed), float((share**2).sum()))
    agree = 1 - _disagreement(n_categories, weights)
    table = np.zeros((item_of.max() + 1, n_categories))
    table[item_of, category_of] = counts
    observed = (counts * ((table @ agree)[item_of, category_of] - 1) / (m * (m - 1))).sum() / n_items
    return Kappa(float(observed), float(share @ agree[: share.size, : share.size] @ share))


def _disagreement(n_categories: int, weights: Weights | None) -> Floats:
    """Return how much two categories disagree, 0–1, (n_categories, n_categories)."""
    place = np.linspace(0, 1, n_categories)
    distance: Floats = np.abs(np.subtract.outer(place, place))
    if weights is None:
        return np.asarray(distance > 0, np.float64)
    return distance if weights == "linear" else np.square(distance)


def cohen_kappa(first: Codes, second: Codes, n_categories: int, weights: Weights | None = None) -> Kappa:
    """Return Cohen's κ of paired categories, weighted if their order counts.

    Parameters
    ----------
    first, second : int, (n,)
        Codes 0 … n_categories − 1: two workers' categories of the same items, or a worker's of the same items twice.
    weights : {"linear", "quadratic"}, optional
        By default two categories agree only if they are the same.

    Returns
    -------
    Kappa
        Weighted agreement where there are weights; κ is NaN where one category has all ratings.

    References
    ----------
    METHOD §6; Cohen 1960, 1968.

    Examples
    --------
    >>> first, second = np.repeat([0, 1, 2], [46, 44, 10]), np.repeat([0, 1, 2], [50, 40, 10])
    >>> [round(cohen_kappa(first, second, 3, weights).kappa, 4) for weights in (None, "linear", "quadratic")]
    [0.9315, 0.9412, 0.9541]
    """
    if not first.size:
        return Kappa(np.nan, np.nan)
    pairs = np.bincount(first.astype(np.int64) * n_categories + second, minlength=n_categories**2)
    table = pairs.reshape(n_categories, n_categories) / first.size
    disagreement = _disagreement(n_categories, weights)
    by_chance = np.outer(table.sum(axis=1), table.sum(axis=0))
    return Kappa(float(1 - (disagreement * table).sum()), float(1 - (disagreement * by_chance).sum()))


def categorise(scores: Floats, n_categories: int) -> NDArray[np.int64]:
    """Return the category, 0 … n_categories − 1, of scores from 0 to 100, in equal steps.

    References
    ----------
    METHOD §6: min(⌊x·n/100 + 1⌋, n), counted from 1 there.

    Examples
    --------
    >>> categorise(np.array([0, 24.9, 25, 75, 100]), 4)
    array([0, 0, 1, 3, 3])
    """
    step = np.floor(np.round(scores * n_categories / 100, _DECIMALS)).astype(np.int64)
    return np.minimum(step, n_categories - 1)


def tolerance_chance(tolerance: float, low: int = 0, high: int = 100) -> float:
    """Return the share of pairs of points of the scale low … high that differ by at most `tolerance`.

    References
    ----------
    METHOD §6.

    Examples
    --------
    >>> [round(tolerance_chance(t, 1, 100), 3) for t in (5, 10, 15, 20, 25, 30)]
    [0.107, 0.199, 0.286, 0.368, 0.445, 0.517]
    """
    points = np.arange(low, high + 1)
    return float(np.mean(np.abs(points[:, None] - points[None, :]) <= tolerance))


def pairs_within(values: Floats, item: Codes, most: int = 2_000_000) -> tuple[Floats, Floats]:
    """Return both scores of every two ratings of one item, (n_pairs,) each.

    Parameters
    ----------
    values : float64, (n,)
        No NaN.
    item : int, (n,)
        Codes.
    most : int
        As soon as there are so many pairs, further ones, of ratings that are far apart in their item, are left out.

    Examples
    --------
    >>> pairs_within(np.array([1.0, 2.0, 3.0, 9.0]), np.array([0, 0, 0, 1]))
    (array([1., 2., 1.]), array([2., 3., 3.]))
    """
    order = np.argsort(item, kind="stable")
    value, code = values[order], item[order]
    first, second = [np.empty(0)], [np.empty(0)]
    left, lag, n_pairs = np.arange(code.size), 0, 0
    while left.size and n_pairs < most:
        lag += 1
        left = left[left + lag < code.size]
        left = left[code[left] == code[left + lag]]
        first.append(value[left])
        second.append(value[left + lag])
        n_pairs += left.size
    return np.concatenate(first), np.concatenate(second)


def tolerance_kappa(first: Floats, second: Floats, tolerance: float, low: int = 0, high: int = 100) -> Kappa:
    """Return κ of paired scores that agree where they differ by at most `tolerance`.

    Parameters
    ----------
    first, second : float64, (n,)
        Scores on the scale low … high, no NaN.
    low, high : int
        Ends of the scale. Chance is taken over its whole numbers, each as likely as the others.

    Returns
    -------
    Kappa
        NaN without pairs; κ is NaN where the tolerance is the whole scale.

    References
    ----------
    METHOD §6.

    Examples
    --------
    >>> tolerance_kappa(np.array([50.0, 20.0]), np.array([55.0, 80.0]), 5).observed
    0.5
    """
    if not first.size:
        return Kappa(np.nan, np.nan)
    is_near = np.round(np.abs(first - second), _DECIMALS) <= tolerance
    return Kappa(float(np.mean(is_near)), tolerance_chance(tolerance, low, high))
