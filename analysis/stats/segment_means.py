"""Means of systems over segments, each the mean of its raters, with errors clustered by raters and documents."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from analysis.stats.codes import dense_ranks
from analysis.stats.pairs import Pairs, compare_pairs, variance_of_differences
from analysis.stats.ratings import Codes, Floats, Mask

_MOSTLY_EMPTY = 8
"""So many sums of clusters and systems for each value are few that are not 0: a sparse matrix takes less, then."""


@dataclass(frozen=True)
class ClusteredMeans:
    """Means of systems.

    Attributes
    ----------
    mean : float64, (n_systems,)
        NaN for a system without values.
    low, high : float64, (n_systems,)
        95 % interval; NaN where it is undefined.
    pairs : Pairs
        The difference of every two systems.
    n_clusters : {name: int}
        How many clusters of each kind there are. The least number, less 1, are the degrees of freedom of t.
    """

    mean: Floats
    low: Floats
    high: Floats
    pairs: Pairs
    n_clusters: Mapping[str, int]


@dataclass(frozen=True)
class SegmentMeans(ClusteredMeans):
    """Means over segments, with `n_segments`, (n_systems,) int64."""

    n_segments: Codes


def segment_means(
    values: Floats,
    system: Codes,
    segment: Codes,
    n_systems: int,
    clusters: Mapping[str, Codes],
    weight: Floats | None = None,
) -> SegmentMeans:
    """Average annotations over the raters of a segment, then over segments.

    Parameters
    ----------
    values : float64, (n,)
        One annotation each, of one system's output of one segment; no NaN.
    system, segment : int, (n,)
        Codes; 0 … n_systems − 1.
    clusters : {name: int, (n,)}
        One or two groupings of annotations. Annotations that share a group may depend on each other in any way.
    weight : float64, (n,), optional
        What each annotation weighs, more than 0; by default all weigh the same.

    Notes
    -----
    With R raters of a segment and S segments of a system, an annotation has the influence (y − m)/(R·S) on the mean m;
    with weights v the mean is Σ(v y/R)/Σ(v/R), and the influence v (y − m)/R over that sum.
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
    output_of, n_outputs = _ranks(system.astype(np.int64) * (int(segment.max(initial=0)) + 1) + segment)
    n_raters = np.bincount(output_of, minlength=n_outputs)
    system_of_output = np.zeros(n_outputs, np.int64)
    system_of_output[output_of] = system
    n_segments = np.bincount(system_of_output, minlength=n_systems)
    share = 1 / (n_raters[output_of] * n_segments[system])
    if weight is not None:
        share = shares_of(weight / n_raters[output_of], system)
    found = clustered_means(values, system, n_systems, share, clusters)
    return SegmentMeans(**vars(found) | {"n_segments": n_segments})


def shares_of(weight: Floats, group: Codes) -> Floats:
    """Return weights, (n,), over the sum of those of the same group, int, (n,).

    Examples
    --------
    >>> shares_of(np.array([1.0, 3.0, 5.0]), np.array([0, 0, 1])).tolist()
    [0.25, 0.75, 1.0]
    """
    shares: Floats = weight / np.bincount(group, weights=weight)[group]
    return shares


def clustered_means(
    values: Floats,
    system: Codes,
    n_systems: int,
    weight: Floats | None,
    clusters: Mapping[str, Codes],
    centre: Floats | None = None,
    has_mean: Mask | None = None,
) -> ClusteredMeans:
    """Average values of each system.

    Parameters
    ----------
    values, system, n_systems, clusters
        As of `segment_means`.
    weight : float64, (n,), optional
        What each value weighs; the weights of a system add up to 1. By default all of a system weigh the same.
    centre : float64, (n,), optional
        What each value is expected to be, where a system has values of several fixed kinds, such as criteria; the mean
        of the system by default. It enters the variances alone.
    has_mean : bool, (n_systems,), optional
        Which systems have a mean, where values of some are not enough for one: the others are NaN, in no pair, and not
        in Holm's correction. By default all with values.
    """
    from scipy.special import stdtrit

    n_values = np.bincount(system, minlength=n_systems)
    if weight is None:
        weight = 1 / n_values[system]
    mean = np.bincount(system, weights=weight * values, minlength=n_systems).astype(np.float64)
    is_missing = n_values == 0 if has_mean is None else ~has_mean
    centre = mean[system] if centre is None else centre
    mean[is_missing] = np.nan
    influence = weight * (values - centre)
    groupings = crossed_groupings(list(clusters.values()))
    covariances = [_clustered(influence, system, n_systems, *grouping) for grouping in groupings]
    n_clusters = {name: n for name, (_, n) in zip(clusters, groupings, strict=False)}
    df = min(n_clusters.values()) - 1
    of_mean = largest(covariances, np.diag).copy()
    of_mean[is_missing | (of_mean <= 0) | (df < 1)] = np.nan
    half = stdtrit(df, 0.975) * np.sqrt(of_mean) if df >= 1 else of_mean
    return ClusteredMeans(
        mean=mean,
        low=mean - half,
        high=mean + half,
        pairs=compare_pairs(mean, largest(covariances, variance_of_differences), df),
        n_clusters=n_clusters,
    )


@dataclass(frozen=True)
class CriteriaMeans:
    """Means of systems over criteria: `overall`, and on each criterion, in the order of their codes.

    `mean`: float64, (n_criteria, n_systems), NaN where there is none; `of`: the same with intervals and pairs, which
    are computed when they are first read. `has_all`: bool, (n_systems,); the others have no overall mean.
    """

    overall: ClusteredMeans
    mean: Floats
    has_all: Mask
    compute: Callable[[int], ClusteredMeans]

    @cached_property
    def of(self) -> list[ClusteredMeans]:
        """The means of each criterion."""
        return [self.compute(code) for code in range(len(self.mean))]


def means_over_criteria(
    values: Floats,
    system: Codes,
    criterion: Codes,
    shape: tuple[int, int],
    clusters: Mapping[str, Codes],
    weight: Floats | None = None,
) -> CriteriaMeans:
    """Return the means of each system's means on each criterion.

    Parameters
    ----------
    values, system, clusters, weight
        As of `segment_means`.
    criterion : int, (n,)
        Codes 0 … n_criteria − 1.
    shape : (int, int)
        n_systems, n_criteria.

    Notes
    -----
    A value has the influence w (y − m), m being the system's mean on its criterion and w its share of the overall one.
    """
    n_systems, n_criteria = shape
    cell = criterion * n_systems + system
    n_of = np.bincount(cell, minlength=n_systems * n_criteria)
    share = 1 / n_of[cell] if weight is None else shares_of(weight, cell)
    mean = np.bincount(cell, weights=share * values, minlength=n_of.size).astype(np.float64)
    centre = mean[cell]
    mean[n_of == 0] = np.nan
    has_all = np.all(n_of.reshape(n_criteria, n_systems) > 0, axis=0)

    def of_one(code: int) -> ClusteredMeans:
        rows = criterion == code
        groups = {name: codes[rows] for name, codes in clusters.items()}
        return clustered_means(values[rows], system[rows], n_systems, share[rows], groups)

    overall = clustered_means(values, system, n_systems, share / n_criteria, clusters, centre, has_all)
    return CriteriaMeans(overall, mean.reshape(n_criteria, n_systems), has_all, of_one)


def clustered_ratios(
    numerator: Floats,
    denominator: Floats,
    system: Codes,
    n_systems: int,
    clusters: Mapping[str, Codes],
    weight: Floats | None = None,
) -> ClusteredMeans:
    """Return the sum of numerators over the sum of denominators of each system.

    Parameters
    ----------
    numerator, denominator : float64, (n,)
        No NaN; denominators of 0 or more, and a numerator of 0 where it is 0.
    system, n_systems, clusters, weight
        As of `segment_means`.

    Returns
    -------
    ClusteredMeans
        NaN for a system whose denominators are all 0.

    Notes
    -----
    A ratio R is the mean of a/b with the weights b/Σb, so a row has the influence (a − Rb)/Σb, as in the linearisation
    of a ratio of totals (Cochran 1977, Sampling Techniques, §6.3).

    Examples
    --------
    >>> codes = np.array([0, 0])
    >>> float(clustered_ratios(np.array([1.0, 2]), np.array([4.0, 8]), codes, 1, {"worker": np.arange(2)}).mean[0])
    0.25
    """
    if weight is not None:
        numerator, denominator = weight * numerator, weight * denominator
    has = denominator > 0
    a, b, system = numerator[has], denominator[has], system[has]
    total = np.bincount(system, weights=b, minlength=n_systems)
    groups = {name: codes[has] for name, codes in clusters.items()}
    return clustered_means(a / b, system, n_systems, b / total[system], groups)


def largest(covariances: Sequence[Floats], of: Callable[[Floats], Any]) -> Floats:
    """Return variances `of` two-way clustering, or of one way where these are larger.

    `covariances` of estimates are those by each of `crossed_groupings`.
    """
    if len(covariances) == 1:
        alone: Floats = of(covariances[0])
        return alone
    first, second, both = map(of, covariances)
    larger: Floats = np.maximum(np.maximum(first, second), first + second - both)
    return larger


def crossed_groupings(groups: Sequence[Codes]) -> list[tuple[Codes, int]]:
    """Return one or two groupings, int, (n,), with codes without gaps and their number; of two that by both, too."""
    groups = [group.astype(np.int64) for group in groups]
    if len(groups) == 2:
        first, second = groups
        groups = [first, second, first * (int(second.max(initial=0)) + 1) + second]
    return [_ranks(group) for group in groups]


def _clustered(influence: Floats, system: Codes, n_systems: int, code: Codes, n: int) -> Floats:
    correction, shape = n / (n - 1) if n > 1 else np.nan, (n, n_systems)
    squares: Floats
    if n * n_systems > _MOSTLY_EMPTY * influence.size:
        from scipy.sparse import csr_array

        sparse = csr_array((influence, (code, system)), shape=shape)
        squares = (sparse.T @ sparse).toarray()
    else:
        cells = np.bincount(code * n_systems + system, weights=influence, minlength=n * n_systems)
        sums = cells.reshape(shape).astype(np.float64, copy=False)
        squares = sums.T @ sums
    found: Floats = correction * squares
    return found


def _ranks(codes: Codes) -> tuple[Codes, int]:
    """Return the rank of each code, which may be negative, among those that occur, and how many occur."""
    lowest = int(codes.min(initial=0))
    return dense_ranks(codes - lowest, int(codes.max(initial=-1)) - lowest + 1)
