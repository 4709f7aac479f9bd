"""Means of systems over segments, each the mean of its raters, with errors clustered by raters and documents."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.stats.pairs import Pairs, compare_pairs
from analysis.stats.ratings import Codes, Floats


@dataclass(frozen=True)
class SegmentMeans:
    """What systems score.

    Attributes
    ----------
    mean : float64, (n_systems,)
        Over segments; NaN for a system without any.
    low, high : float64, (n_systems,)
        95 % interval; NaN where it is undefined.
    n_segments : int64, (n_systems,)
    pairs : Pairs
        The difference of every two systems.
    n_clusters : {name: int}
        How many clusters of each kind there are. The least number, less 1, are the degrees of freedom of t.
    """

    mean: Floats
    low: Floats
    high: Floats
    n_segments: Codes
    pairs: Pairs
    n_clusters: Mapping[str, int]


def segment_means(
    values: Floats, system: Codes, segment: Codes, n_systems: int, clusters: Mapping[str, Codes]
) -> SegmentMeans:
    """Average annotations over the raters of a segment, then over segments.

    Parameters
    ----------
    values : float64, (n,)
        One annotation each, of one system's output of one segment; no NaN.
    system, segment : int, (n,)
        Codes; 0 … n_systems − 1.
    n_systems : int
    clusters : {name: int, (n,)}
        One or two groupings of annotations. Annotations that share a group may depend on each other in any way.

    Returns
    -------
    SegmentMeans

    Notes
    -----
    With R raters of a segment and S segments of a system, an annotation has the influence (y − m)/(R·S) on the mean m.
    With U its sums over clusters, (G, n_systems), the covariance of the means is G/(G − 1) U′U. A variance by two
    groupings is V_a + V_b − V_ab (Cameron, Gelbach & Miller 2011), and at least the larger of the first two.

    References
    ----------
    Freitag et al. 2021, Experts, errors, and context (TACL 9): means over raters, then segments.

    Examples
    --------
    >>> found = segment_means(np.array([0.0, 2.0, 4.0]), np.zeros(3, int), np.array([0, 0, 1]), 1,
    ...                       {"segment": np.array([0, 0, 1])})
    >>> found.mean.tolist(), found.n_segments.tolist()
    ([2.5], [2])
    """
    from scipy.special import stdtrit

    output, output_of = np.unique(system * (int(segment.max(initial=0)) + 1) + segment, return_inverse=True)
    n_raters = np.bincount(output_of, minlength=output.size)
    system_of_output = np.zeros(output.size, np.int64)
    system_of_output[output_of] = system
    n_segments = np.bincount(system_of_output, minlength=n_systems)
    with np.errstate(invalid="ignore"):
        weight = 1 / (n_raters[output_of] * n_segments[system])
        mean = np.bincount(system, weights=weight * values, minlength=n_systems).astype(np.float64)
    mean[n_segments == 0] = np.nan
    influence = weight * (values - mean[system])
    covariances = _covariances(influence, system, n_systems, [group.astype(np.int64) for group in clusters.values()])
    n_clusters = {name: int(np.unique(group).size) for name, group in clusters.items()}
    df = min(n_clusters.values()) - 1
    of_mean = _largest(covariances, np.diag).copy()
    of_mean[(n_segments == 0) | (of_mean <= 0) | (df < 1)] = np.nan
    half = stdtrit(df, 0.975) * np.sqrt(of_mean) if df >= 1 else of_mean
    return SegmentMeans(
        mean=mean,
        low=mean - half,
        high=mean + half,
        n_segments=n_segments,
        pairs=compare_pairs(mean, _largest(covariances, _of_differences), df),
        n_clusters=n_clusters,
    )


def _largest(covariances: Sequence[Floats], of: Callable[[Floats], Any]) -> Floats:
    """Return variances `of` two-way clustering, or of one way where these are larger.

    `covariances` of the means are those of each grouping and, of two, of the groups of both.
    """
    if len(covariances) == 1:
        alone: Floats = of(covariances[0])
        return alone
    first, second, both = map(of, covariances)
    larger: Floats = np.maximum(np.maximum(first, second), first + second - both)
    return larger


def _covariances(influence: Floats, system: Codes, n_systems: int, groups: Sequence[Codes]) -> list[Floats]:
    if len(groups) == 2:
        first, second = groups
        groups = [first, second, first * (int(second.max(initial=0)) + 1) + second]
    return [_clustered(influence, system, n_systems, group) for group in groups]


def _clustered(influence: Floats, system: Codes, n_systems: int, group: Codes) -> Floats:
    names, code = np.unique(group, return_inverse=True)
    cells = np.bincount(code * n_systems + system, weights=influence, minlength=names.size * n_systems)
    sums = cells.reshape(names.size, n_systems)
    correction = names.size / (names.size - 1) if names.size > 1 else np.nan
    found: Floats = np.multiply(correction, sums.T @ sums, dtype=np.float64)
    return found


def _of_differences(covariance: Floats) -> Floats:
    of_one = np.diag(covariance)
    found: Floats = of_one[:, None] + of_one[None, :] - 2 * covariance
    return found
