"""Which systems differ, where ratings share workers, sources and outputs: the recommended comparison (METHOD §5)."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.stats.clustered import contrasts_of, dense, fit_systems, group_ratings, random_effects
from analysis.stats.pairs import rank_range
from analysis.stats.ratings import Codes, Floats, Mask
from analysis.stats.significance import adjust


class SourceEffects(StrEnum):
    """How the difficulty of sources is taken out.

    `RANDOM`: as far as the ratings of a source show it, so that systems are also compared across sources. `FIXED`: the
    mean of each source is taken out whole, so that only ratings of the same source are compared.
    """

    RANDOM = "random"
    FIXED = "fixed"


@dataclass(frozen=True)
class Comparison:
    """The difference of every two systems, row less column; all arrays are (n_systems, n_systems).

    Attributes
    ----------
    difference : float64
        In z. NaN on the diagonal and where a system has no rating.
    standard_error, df : float64
        Of the difference, and the degrees of freedom of its t. NaN like `difference`, and where fewer than two workers
        or two sources bear on the difference, or nothing varies.
    p_value : float64
        One-sided, row beats column. NaN like `standard_error`.
    holm : float64
        Two-sided p with Holm's correction over all unordered pairs; symmetric.
    low, high : float64
        95 % interval of the difference, for this pair alone.
    n_shared : int64
        Known sources on which both systems are rated.
    is_connected : bool
        Whether the systems share a source, or each shares one with a third system and so on.
    """

    difference: Floats
    standard_error: Floats
    df: Floats
    p_value: Floats
    holm: Floats
    low: Floats
    high: Floats
    n_shared: NDArray[np.int64]
    is_connected: Mask


class TooLargeError(ValueError):
    """There are more effects, or more work, than a procedure is made for; its text says how many."""


@dataclass(frozen=True)
class RankIntervals:
    """The best and the worst rank that each system may have, (n_systems,) int64; 0 for a system without ratings."""

    best: NDArray[np.int64]
    worst: NDArray[np.int64]


def compare_clustered(
    z: Floats,
    system: Codes,
    worker: Codes,
    source: Codes,
    n_systems: int,
    effects: SourceEffects = SourceEffects.RANDOM,
    weight: Floats | None = None,
) -> Comparison:
    """Compare every two systems by least squares, with errors clustered by worker and by source.

    Parameters
    ----------
    z : float64, (n,)
        Standardised scores of single ratings; NaN is left out.
    system : int, (n,)
        Codes 0 … n_systems − 1.
    worker, source : int, (n,)
        Who rated, and of which source the output is; −1 for a source that is not known.
    effects : SourceEffects
        `RANDOM` is the recommended one. With `FIXED`, pairs that are not connected are compared without source effects.
    weight : float64, (n,), optional
        What each rating weighs, above 0, as `weighting.draw_weights`; 1 by default. Only their ratios matter.

    Notes
    -----
    The share θ_g of the mean over source g is taken out of z and of the indicators of systems; the rest is fitted by
    least squares. θ_g is 1 for fixed effects, and 1 − √(σ²/(σ² + n_g σ_u²)) for random ones, n_g being the number of
    ratings of the source: generalised least squares of z = β_system + u_source + ε. σ² is the mean square within
    sources, σ_u² follows from the residual sum of squares without source effects (0 if it were negative). Ratings of
    unknown sources have one u in common; so do all where there is one source, as of live chats.

    The variance of a difference is V_w + V_s − V_c, sandwich variances with clusters of workers, of sources, and of one
    worker's ratings of a source. So two ratings may depend on each other in any way if they have the worker or the
    source, and hence the output, in common. V_w and V_s are multiplied by m/(m − 1), where m = (Σ a)²/Σ a² is the
    effective number of clusters, a being the share of each in the variance of the difference if ratings were
    independent (for workers: of a difference of two means); V_c by its number of clusters over one less. The lesser
    m − 1 is the number of degrees of freedom. Where V_w + V_s − V_c is not positive, the greater of V_w and V_s serves.

    With weights, sums, means over sources and scores are weighted ones, and a is a share in a sum of w²; σ² and σ_u²
    stay those of the ratings as they are.

    With one rating of each of two systems by each worker, sources unknown, this is Student's paired t test.

    References
    ----------
    METHOD §5; Cameron, Gelbach & Miller 2011, JBES 29 (two ways of clustering); Carter, Schnepel & Steigerwald 2017,
    REStat 99 (effective number of clusters); Wooldridge 2010, §10.4, §10.7 (random effects); Holm 1979.

    Examples
    --------
    Three workers rate both systems; their differences are 1, 2 and 3.

    >>> found = compare_clustered(
    ...     np.array([1.0, 0.0, 2.0, 0.0, 3.0, 0.0]), np.tile([0, 1], 3), np.repeat([0, 1, 2], 2), np.full(6, -1), 2)
    >>> [round(float(each[0, 1]), 4) for each in (found.difference, found.standard_error, found.df, found.p_value)]
    [2.0, 0.5774, 2.0, 0.0371]
    """
    is_number = ~np.isnan(z)
    if not is_number.any():
        nothing = np.full((n_systems, n_systems), np.nan)
        return make_comparison((nothing, nothing, nothing), np.zeros(nothing.shape, np.int64))
    weight = np.ones(z.size) if weight is None else weight / weight[is_number].mean()
    grouped = group_ratings(
        *(z[is_number], system[is_number], worker[is_number], source[is_number], n_systems, weight[is_number])
    )
    plain = grouped.total(grouped.stratum, np.ones(grouped.z.size))
    counts = grouped.total(grouped.stratum, grouped.weight)
    of_known = grouped.total(grouped.stratum, grouped.is_known.astype(np.float64))
    is_rated = (of_known > 0).astype(np.int64)
    n_shared: NDArray[np.int64] = dense(is_rated.T @ is_rated)
    if effects is SourceEffects.RANDOM:
        found = contrasts_of(grouped, fit_systems(grouped, counts, random_effects(grouped, plain)))
    else:
        found = contrasts_of(grouped, fit_systems(grouped, counts, np.ones(counts.shape[0])))
        is_comparable = connect(dense(counts.T @ counts))
        if not is_comparable.all():
            across = contrasts_of(grouped, fit_systems(grouped, counts, np.zeros(counts.shape[0])))
            found = (
                np.where(is_comparable, found[0], across[0]),
                np.where(is_comparable, found[1], across[1]),
                np.where(is_comparable, found[2], across[2]),
            )
    return make_comparison(found, n_shared)


def rank_intervals(comparison: Comparison, alpha: float = 0.05) -> RankIntervals:
    """Return the ranks that each system may have, for all systems jointly.

    Parameters
    ----------
    alpha : float
        All intervals hold together with a probability of 1 − alpha.

    Returns
    -------
    RankIntervals
        A pair that could not be tested leaves both orders open.

    Notes
    -----
    The best rank is one more than the number of systems that are better by Holm's corrected p, the worst the number of
    systems less the number of those that are worse.

    References
    ----------
    METHOD §5; Mogstad, Romano, Shaikh & Wilhelm 2024, Review of Economic Studies 91; Holm 1979.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> system, worker = np.indices((3, 20)).reshape(2, -1)
    >>> z = rng.normal(0, 0.5, 60) - 2.0 * (system == 2)
    >>> ranks = rank_intervals(compare_clustered(z, system, worker, np.full(60, -1), 3))
    >>> ranks.best.tolist(), ranks.worst.tolist()
    ([1, 1, 3], [2, 2, 3])
    """
    return RankIntervals(*rank_range(comparison.difference, comparison.holm, alpha=alpha))


def count_shared(system: Codes, source: Codes, n_systems: int) -> NDArray[np.int64]:
    """Return on how many known sources every two systems are both rated, (n_systems, n_systems)."""
    from scipy.sparse import csr_array

    known = np.flatnonzero(source >= 0)
    shape = (int(source.max(initial=-1)) + 1, n_systems)
    is_rated = csr_array((np.ones(known.size, dtype=np.int64), (source[known], system[known])), shape=shape)
    is_rated.sum_duplicates()
    is_rated.data[:] = 1
    shared: NDArray[np.int64] = (is_rated.T @ is_rated).toarray()
    return shared


def connect(shared: NDArray[Any]) -> Mask:
    """Return whether systems share something, or each with a third one and so on; `shared`: 0 if they share nothing."""
    is_shared = (shared != 0) | (shared.T != 0)
    n = shared.shape[0]
    label = np.arange(n)
    while True:  # each takes the least label of those it shares something with, and then that one's
        least = np.minimum(np.where(is_shared, label, n).min(axis=1, initial=n), label)
        least = least[least]
        if (least == label).all():
            return np.asarray(label[:, None] == label[None, :])
        label = least


def make_comparison(contrasts: tuple[Floats, Floats, Floats], n_shared: NDArray[np.int64]) -> Comparison:
    """Return the comparison that follows from difference, variance and degrees of freedom of every pair."""
    from scipy.special import stdtr, stdtrit

    difference, variance, df = contrasts
    error = np.sqrt(variance)
    p_value = stdtr(df, -difference / error)
    reach = -stdtrit(df, 0.025) * error
    two_sided = np.triu(2 * np.minimum(p_value, 1 - p_value), 1)
    two_sided[np.tril_indices_from(two_sided)] = np.nan
    holm = adjust(two_sided, "holm")
    lower = np.tril_indices_from(holm, -1)
    holm[lower] = holm.T[lower]
    return Comparison(
        difference,
        error,
        df,
        p_value,
        holm,
        difference - reach,
        difference + reach,
        n_shared,
        connect(n_shared),
    )
