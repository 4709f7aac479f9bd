"""Do metrics judge as people do? Meta-evaluation of metrics by human scores (METHOD §7).

Higher is better for both, everywhere. An undefined number is NaN.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.stats.ratings import Floats

N_PERMUTATIONS = 1000
"""As in Thompson et al. 2024."""
_SEGMENTS_AT_ONCE = 1 << 12
# Sums that differ by less than this share of what was added differ by rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class TieCalibration:
    """Segment accuracy with ties, and the largest difference of metric scores that counts as a tie."""

    accuracy: float
    threshold: float


def pairwise_accuracy(human: Floats, metric: Floats) -> float:
    """Return the share of pairs of systems that a metric orders as people do.

    Parameters
    ----------
    human, metric : float64, (n_systems,)
        Scores in the same order of systems; a system without a score in either is left out.

    Returns
    -------
    float
        NaN for fewer than two systems.

    Notes
    -----
    A pair counts where both differences have the same sign: of systems that people score the same, where the metric
    does so, too.

    References
    ----------
    METHOD §7; Kocmi et al. 2021, To ship or not to ship.

    Examples
    --------
    >>> pairwise_accuracy(np.array([3.0, 2.0, 1.0]), np.array([0.9, 0.3, 0.5])).__round__(3)
    0.667
    """
    both = ~(np.isnan(human) | np.isnan(metric))
    i, j = np.triu_indices(int(np.count_nonzero(both)), k=1)
    a, b = human[both], metric[both]
    return float(np.mean(np.sign(a[i] - a[j]) == np.sign(b[i] - b[j]))) if i.size else float("nan")


def draw_swaps(n_segments: int, rng: np.random.Generator, n_permutations: int = N_PERMUTATIONS) -> NDArray[np.int8]:
    """Return how paired permutations swap two systems: −1 where a segment's scores are exchanged, else 1.

    Returns
    -------
    int8, (n_permutations, n_segments)
        Drawn at random. If there are no more than `n_permutations` ways to swap, each of them once:
        (2**n_segments, n_segments).

    Examples
    --------
    >>> draw_swaps(2, np.random.default_rng(1)).tolist()
    [[1, 1], [-1, 1], [1, -1], [-1, -1]]
    """
    if n_segments < n_permutations.bit_length():
        is_swapped = (np.arange(2**n_segments)[:, None] >> np.arange(n_segments)) & 1
        return (1 - 2 * is_swapped).astype(np.int8)
    return 1 - 2 * rng.integers(0, 2, size=(n_permutations, n_segments), dtype=np.int8)


def permutation_p_values(scores: Floats, swaps: NDArray[np.int8]) -> Floats:
    """Test every pair of systems by paired permutations of their segments.

    Parameters
    ----------
    scores : float64, (n_segments, n_systems)
        NaN where a segment has no score; a pair is tested on the segments that both have.
    swaps : int8, (n_permutations, n_segments)
        From `draw_swaps`. The same for people and metrics, so that equal scores have equal p-values.

    Returns
    -------
    float64, (n_systems, n_systems)
        One-sided: row better than column, the share of permutations whose difference is as great as the observed one
        or greater. NaN on the diagonal and where a pair has fewer than two segments in common.

    References
    ----------
    METHOD §7; Thompson et al. 2024, Soft pairwise accuracy; Fisher 1935.

    Examples
    --------
    >>> permutation_p_values(np.array([[3.0, 1.0], [5.0, 1.0]]), draw_swaps(2, np.random.default_rng(1)))
    array([[ nan, 0.25],
           [1.  ,  nan]])
    """
    n_systems = scores.shape[1]
    p = np.full((n_systems, n_systems), np.nan)
    is_complete = not np.isnan(scores).any()
    totals = _swap(scores, swaps) if is_complete else np.empty((0, 0))
    for i in range(n_systems - 1):
        difference = scores[:, i, None] - scores[:, i + 1 :]
        has_both = ~np.isnan(difference)
        difference[~has_both] = 0.0
        permuted = totals[:, i, None] - totals[:, i + 1 :] if is_complete else _swap(difference, swaps)
        excess = permuted - difference.sum(axis=0)
        size = np.abs(scores[:, i, None]) + np.abs(scores[:, i + 1 :])
        least = _ROUNDING * np.where(has_both, size, 0.0).sum(axis=0)
        is_tested = has_both.sum(axis=0) > 1
        p[i, i + 1 :] = np.where(is_tested, (excess >= -least).mean(axis=0), np.nan)
        p[i + 1 :, i] = np.where(is_tested, (excess <= least).mean(axis=0), np.nan)
    return p


def _swap(values: Floats, swaps: NDArray[np.int8]) -> Floats:
    """Return the sum over segments of each column after each permutation, (n_permutations, n_columns)."""
    totals = np.zeros((swaps.shape[0], values.shape[1]))
    for begin in range(0, values.shape[0], _SEGMENTS_AT_ONCE):
        part = slice(begin, begin + _SEGMENTS_AT_ONCE)
        totals += swaps[:, part].astype(np.float64) @ values[part]
    return totals


def soft_pairwise_accuracy(human: Floats, metric: Floats) -> float:
    """Return how near a metric's p-values of pairs of systems are to those of people.

    Parameters
    ----------
    human, metric : float64, (n_systems, n_systems)
        p-values, row better than column, from `permutation_p_values`.

    Returns
    -------
    float
        1 − mean |p_human − p_metric| over the pairs above the diagonal that both have; NaN without one.

    References
    ----------
    METHOD §7; Thompson et al. 2024, Soft pairwise accuracy.

    Examples
    --------
    >>> people, metric = np.array([[np.nan, 0.01], [0.99, np.nan]]), np.array([[np.nan, 0.41], [0.59, np.nan]])
    >>> round(soft_pairwise_accuracy(people, metric), 3)
    0.6
    """
    above = np.triu_indices(human.shape[0], k=1)
    distance = np.abs(human[above] - metric[above])
    distance = distance[~np.isnan(distance)]
    return float(1 - distance.mean()) if distance.size else float("nan")


def calibrate_ties(human: Floats, metric: Floats) -> TieCalibration:
    """Return the accuracy of a metric on outputs of one source, with the tie threshold that makes it greatest.

    Parameters
    ----------
    human, metric : float64, (n_sources, n_systems)
        Scores of segments; NaN where there is none, and the segment is left out.

    Returns
    -------
    TieCalibration
        The least of the best thresholds, 0 for no other ties than equal scores. NaN where no source has two segments.

    Notes
    -----
    Of two segments of a source, the metric is right where it orders them as people do, or where both tie; the metric
    ties where its scores differ by at most the threshold. Accuracy is the mean over sources of the share of their
    pairs that are right. Every difference that occurs is tried: O(n log n) for n pairs.

    References
    ----------
    METHOD §7; Deutsch, Foster & Freitag 2023, Ties matter (acc_eq with tie calibration, grouped by item).

    Examples
    --------
    >>> human, metric = np.array([[1.0, 2, 2, 3, 4]]), np.array([[2.0, 1, 1.5, 5, 3]])
    >>> calibrate_ties(human, metric)
    TieCalibration(accuracy=0.7, threshold=0.5)
    """
    has_both = ~(np.isnan(human) | np.isnan(metric))
    has_all = has_both.all()
    n = has_both.sum(axis=1)
    n_pairs = n * (n - 1) // 2
    n_sources = int(np.count_nonzero(n_pairs))
    if not n_sources:
        return TieCalibration(np.nan, np.nan)
    # Whole numbers where all sources have as many pairs, which is the usual case: they sort faster, and add up exactly
    unit = int(n_pairs.max()) if np.isin(n_pairs, (0, n_pairs.max())).all() else 0
    weight = np.ones((n.size, 1), np.int8) if unit else 1 / np.maximum(n_pairs, 1)[:, None]
    right, gaps, gains = 0.0, [], []
    for k in range(human.shape[1] - 1):
        by_human, by_metric = (scores[:, k, None] - scores[:, k + 1 :] for scores in (human, metric))
        is_right = np.sign(by_human) == np.sign(by_metric)
        right += float((is_right.sum(axis=1) * weight[:, 0]).sum())
        is_tie = by_human == 0
        # What a threshold makes right, or wrong; a pair without all four scores is neither
        changes = is_right ^ is_tie if has_all else (is_right ^ is_tie) & ~np.isnan(by_metric)
        gaps.append(np.abs(by_metric[changes]))
        gains.append(np.where(is_tie, weight, -weight)[changes])
    gap, gained = _gains_by_threshold(np.concatenate(gaps), np.concatenate(gains))
    least = 0 if unit else _ROUNDING * n_sources
    threshold = 0.0
    if gap.size and gained.max() > least:
        best = int(np.argmax(gained >= gained.max() - least))
        threshold = float(gap[best])
        right += float(gained[best])
    return TieCalibration(right / (unit or 1) / n_sources, threshold)


def _gains_by_threshold(gap: Floats, gain: NDArray[np.int8] | Floats) -> tuple[Floats, NDArray[np.int64] | Floats]:
    """Return each different gap, rising, and the sum of what pairs gain up to it."""
    gained: NDArray[np.int64] | Floats
    if gain.dtype == np.int8:
        # Floats of 0 and more sort as their bits do, and have one to spare
        key: NDArray[np.uint64] = gap.view(np.uint64) << np.uint64(1)
        key |= gain < 0
        key.sort()
        gained = np.cumsum(1 - 2 * (key & np.uint64(1)).astype(np.int8), dtype=np.int64)
        gap = (key >> np.uint64(1)).view(np.float64)
    else:
        order = np.argsort(gap)
        gap = gap[order]
        gained = np.cumsum(gain[order], dtype=np.float64)
    is_last = np.append(gap[1:] != gap[:-1], True)[: gap.size]
    return gap[is_last], gained[is_last]


def williams_test(r12: float, r13: float, r23: float, n: int) -> float:
    """Test whether one metric correlates with people better than another one does, on the same systems.

    Parameters
    ----------
    r12, r13 : float
        Pearson's r of human scores with the first and with the second metric.
    r23 : float
        r of the two metrics.
    n : int
        Number of systems.

    Returns
    -------
    float
        One-sided p-value, the first metric better than the second; NaN for fewer than four systems, where a
        correlation is undefined, and where the metrics agree fully (r23 = 1).

    Notes
    -----
    t = (r12 − r13) √[(n − 1)(1 + r23) / (2K(n − 1)/(n − 3) + (r12 + r13)²/4 · (1 − r23)³)] with n − 3 degrees of
    freedom, K = 1 − r12² − r13² − r23² + 2 r12 r13 r23.

    References
    ----------
    METHOD §7; Williams 1959; Steiger 1980, equation 7; Graham & Baldwin 2014.

    Examples
    --------
    >>> round(williams_test(0.9, 0.6, 0.7, 12), 4)
    0.0145
    """
    from scipy.special import stdtr

    if n < 4 or not 1 - r23 > _ROUNDING:
        return float("nan")
    k = max(1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23, 0.0)
    spread = 2 * k * (n - 1) / (n - 3) + (r12 + r13) ** 2 / 4 * (1 - r23) ** 3
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (r12 - r13) * np.sqrt(np.float64((n - 1) * (1 + r23)) / spread)
    return float(stdtr(n - 3, -t))
