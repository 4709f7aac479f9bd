"""Which systems differ, where ratings share workers, sources and outputs: the recommended comparison (METHOD §5)."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.stats.ratings import Codes, Floats, Mask
from analysis.stats.significance import adjust

# A NumPy array, or a SciPy array of rows, which has no types.
Matrix = Any
# Of the largest term of a sum: what is smaller is rounding.
_ROUNDING = 1e-10
_BLOCK_CELLS = 1 << 20
_LEAST_FILLED = 4
"""Of the cells of a matrix, one in so many has a value, or it is sparse."""


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


@dataclass(frozen=True)
class RankIntervals:
    """The best and the worst rank that each system may have, (n_systems,) int64; 0 for a system without ratings."""

    best: NDArray[np.int64]
    worst: NDArray[np.int64]


@dataclass(frozen=True)
class _Layout:
    """Ratings without the missing ones, and how they are grouped; codes have no gaps.

    A *stratum* has an effect of its own: a source, or all ratings of unknown sources together. `source` says which
    ratings depend on each other: of those of unknown sources, each is alone. `cell`: one worker's ratings of a source.
    `weight`: what each rating weighs in the least squares.
    """

    z: Floats
    system: NDArray[np.int64]
    worker: NDArray[np.int64]
    stratum: NDArray[np.int64]
    source: NDArray[np.int64]
    cell: NDArray[np.int64]
    is_known: Mask
    n_systems: int
    weight: Floats

    def total(self, group: NDArray[np.int64], values: Floats) -> Matrix:
        """Return the sum of values of each system in each group, (n_groups, n_systems): dense, unless most are 0."""
        shape = (int(group.max()) + 1, self.n_systems)
        if shape[0] * shape[1] <= _LEAST_FILLED * values.size:
            return np.bincount(group * shape[1] + self.system, values, shape[0] * shape[1]).reshape(shape)
        from scipy.sparse import csr_array

        return csr_array((values, (group, self.system)), shape=shape)


@dataclass(frozen=True)
class _Fit:
    """Least squares of z on systems, with the share θ of the mean over each stratum taken out of both.

    `share` (n_strata, n_systems) is what is taken out of the indicators, `bread` (X′X)⁻.
    """

    theta: Floats
    share: Matrix
    coefficient: Floats
    bread: Floats
    residual: Floats
    rank: int


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
    n_systems : int
    effects : SourceEffects
        `RANDOM` is the recommended one. With `FIXED`, pairs that are not connected are compared without source effects.
    weight : float64, (n,), optional
        What each rating weighs, above 0, as `weighting.draw_weights`; 1 by default. Only their ratios matter.

    Returns
    -------
    Comparison

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
    from scipy.sparse.csgraph import connected_components

    is_number = ~np.isnan(z)
    if not is_number.any():
        nothing = np.full((n_systems, n_systems), np.nan)
        return make_comparison((nothing, nothing, nothing), np.zeros(nothing.shape, np.int64))
    weight = np.ones(z.size) if weight is None else weight / weight[is_number].mean()
    layout = _lay_out(
        *(z[is_number], system[is_number], worker[is_number], source[is_number], n_systems, weight[is_number])
    )
    plain = layout.total(layout.stratum, np.ones(layout.z.size))
    counts = layout.total(layout.stratum, layout.weight)
    of_known = layout.total(layout.stratum, layout.is_known.astype(np.float64))
    is_rated = (of_known > 0).astype(np.int64)
    n_shared: NDArray[np.int64] = _dense(is_rated.T @ is_rated)
    if effects is SourceEffects.RANDOM:
        found = _contrasts(layout, _fit(layout, counts, _random_effects(layout, plain)))
    else:
        found = _contrasts(layout, _fit(layout, counts, np.ones(counts.shape[0])))
        label = connected_components(counts.T @ counts, directed=False)[1]
        is_comparable = label[:, None] == label[None, :]
        if not is_comparable.all():
            across = _contrasts(layout, _fit(layout, counts, np.zeros(counts.shape[0])))
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
    comparison : Comparison
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
    has_rating = ~np.isnan(comparison.difference).all(axis=1)
    if not has_rating.any():
        return RankIntervals(*np.zeros((2, has_rating.size), np.int64))
    with np.errstate(invalid="ignore"):
        beats = (comparison.holm < alpha) & (comparison.difference > 0)
    best = np.where(has_rating, 1 + beats.sum(axis=0), 0)
    worst = np.where(has_rating, has_rating.sum() - beats.sum(axis=1), 0)
    return RankIntervals(best, worst)


def _lay_out(z: Floats, system: Codes, worker: Codes, source: Codes, n_systems: int, weight: Floats) -> _Layout:
    # One source for all, as of live chats, shows nothing of sources: conclusions are then for it alone
    is_known = (source >= 0) & (source.min() != source.max())
    alone = int(source.max()) + 1 + np.arange(z.size)
    stratum = np.unique(np.where(is_known, source, -1), return_inverse=True)[1]
    of_source = np.unique(np.where(is_known, source, alone), return_inverse=True)[1]
    of_worker = np.unique(worker, return_inverse=True)[1]
    cell = np.unique(of_worker * np.int64(of_source.max() + 1) + of_source, return_inverse=True)[1]
    return _Layout(z, system.astype(np.int64), of_worker, stratum, of_source, cell, is_known, n_systems, weight)


def _dense(matrix: Matrix) -> NDArray[Any]:
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


def _scaled(matrix: Matrix, by_row: NDArray[Any]) -> Matrix:
    """Return a matrix whose rows are multiplied."""
    scaled = matrix * by_row[:, None]
    return scaled if isinstance(scaled, np.ndarray) else scaled.tocsr()


def _fit(layout: _Layout, counts: Matrix, theta: Floats) -> _Fit:
    n = counts.sum(axis=1)
    # Of a stratum's sums, this share is lost of every product of what is partly demeaned
    lost = (2 * theta - theta**2) / n
    n_of_system = np.asarray(counts.sum(axis=0))
    gram = np.diag(n_of_system) - _dense(counts.T @ _scaled(counts, lost))
    weighted = layout.weight * layout.z
    total = np.bincount(layout.stratum, weights=weighted)
    target = np.bincount(layout.system, weights=weighted, minlength=layout.n_systems) - counts.T @ (lost * total)
    value, vector = np.linalg.eigh(gram)
    is_positive = value > _ROUNDING * max(n_of_system.max(), 1)
    bread = (vector[:, is_positive] / value[is_positive]) @ vector[:, is_positive].T
    coefficient = bread @ target
    mean = (total - counts @ coefficient) / n
    residual = layout.z - coefficient[layout.system] - (theta * mean)[layout.stratum]
    return _Fit(theta, _scaled(counts, theta / n), coefficient, bread, residual, int(is_positive.sum()))


def _random_effects(layout: _Layout, counts: Matrix) -> Floats:
    """Return θ of each stratum, (n_strata,), by the ratings without their weights."""
    layout = replace(layout, weight=np.ones(layout.z.size))
    n = np.asarray(counts.sum(axis=1))
    none = np.zeros(n.size)
    fixed, pooled = (_fit(layout, counts, theta) for theta in (none + 1, none))
    df_within = layout.z.size - n.size - fixed.rank
    n_of_system = np.asarray(counts.sum(axis=0))
    squares = np.asarray((counts * counts).sum(axis=0))
    # How often the residual sum of squares without source effects holds their variance
    n_between = layout.z.size - (squares[n_of_system > 0] / n_of_system[n_of_system > 0]).sum()
    if df_within <= 0 or n_between <= 0:
        return none
    within = (fixed.residual**2).sum() / df_within
    between = max(0.0, ((pooled.residual**2).sum() - within * (layout.z.size - pooled.rank)) / n_between)
    if between <= _ROUNDING * within:
        return none
    theta: Floats = 1 - np.sqrt(within / (within + n * between))
    return theta


def _contrasts(layout: _Layout, fit: _Fit) -> tuple[Floats, Floats, Floats]:
    """Return difference, variance and degrees of freedom of every pair; NaN where there is nothing to say."""
    of_workers, of_sources = _effective_workers(layout), _effective_sources(layout, fit)
    v_workers, v_sources, v_cells = (
        _pairs(fit.bread @ meat @ fit.bread)
        for meat in (
            _meat_of_workers(layout, fit),
            _meat_within_strata(layout, fit, layout.source),
            _meat_within_strata(layout, fit, layout.cell),
        )
    )
    n_cells = int(layout.cell.max()) + 1
    with np.errstate(invalid="ignore", divide="ignore"):
        v_workers *= of_workers / (of_workers - 1)
        v_sources *= of_sources / (of_sources - 1)
        variance = v_workers + v_sources - v_cells * (n_cells / max(n_cells - 1, 1))
        variance = np.where(variance > 0, variance, np.maximum(v_workers, v_sources))
        df = np.minimum(of_workers, of_sources) - 1
        least = (_ROUNDING * np.abs(layout.z).max()) ** 2
        has_error = (df > _ROUNDING) & (variance > least)
    difference = fit.coefficient[:, None] - fit.coefficient[None, :]
    is_rated = np.bincount(layout.system, minlength=layout.n_systems) > 0
    difference[~(is_rated[:, None] & is_rated[None, :]) | np.eye(layout.n_systems, dtype=bool)] = np.nan
    has_error &= ~np.isnan(difference)
    return difference, np.where(has_error, variance, np.nan), np.where(has_error, df, np.nan)


def _pairs(covariance: Floats) -> Floats:
    """Return the variance of the difference of every two coefficients."""
    own = np.diag(covariance)
    return own[:, None] + own[None, :] - covariance - covariance.T


def _meat_of_workers(layout: _Layout, fit: _Fit) -> Floats:
    from scipy.sparse import csr_array

    shape = (int(layout.worker.max()) + 1, fit.theta.size)
    residual = layout.weight * fit.residual
    in_stratum = csr_array((residual, (layout.worker, layout.stratum)), shape=shape)
    score = layout.total(layout.worker, residual) - in_stratum @ fit.share
    meat: Floats = _dense(score.T @ score)
    return meat


def _meat_within_strata(layout: _Layout, fit: _Fit, cluster: NDArray[np.int64]) -> Floats:
    """Return Σ (a − s·share)(a − s·share)′ over clusters, each of which is within one stratum.

    a are the sums of residuals of a cluster by system, s their sum. The product is expanded, as `share` has many more
    systems than a cluster.
    """
    residual = layout.weight * fit.residual
    own = layout.total(cluster, residual)
    total = np.bincount(cluster, weights=residual)
    stratum = np.empty(total.size, dtype=np.int64)
    stratum[cluster] = layout.stratum
    weighted = layout.total(layout.stratum, residual * total[cluster])
    mixed = _dense(weighted.T @ fit.share)
    squares = np.bincount(stratum, weights=total**2, minlength=fit.theta.size)
    meat: Floats = _dense(own.T @ own) - mixed - mixed.T
    meat += _dense(fit.share.T @ _scaled(fit.share, squares))
    return meat


def _effective_workers(layout: _Layout) -> Floats:
    """Return the effective number of workers of every pair, (n_systems, n_systems)."""
    n = np.bincount(layout.system, weights=layout.weight, minlength=layout.n_systems)
    share = layout.total(layout.worker, (layout.weight / n[layout.system]) ** 2)
    total = np.asarray(share.sum(axis=0))
    products = _dense(share.T @ share)
    own = np.diag(products)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = (total[:, None] + total[None, :]) ** 2 / (own[:, None] + own[None, :] + 2 * products)
    return found


def _effective_sources(layout: _Layout, fit: _Fit) -> Floats:
    """Return the effective number of sources of every pair, (n_systems, n_systems); NaN where none bears on it."""
    first, second = np.triu_indices(layout.n_systems, 1)
    contrast = fit.bread[:, first] - fit.bread[:, second]
    squared = layout.total(layout.source, layout.weight**2)
    stratum = np.empty(squared.shape[0], dtype=np.int64)
    stratum[layout.source] = layout.stratum
    total, squares = np.zeros(first.size), np.zeros(first.size)
    step = max(1, _BLOCK_CELLS // max(first.size, 1))
    for begin in range(0, squared.shape[0], step):
        part, mean = squared[begin : begin + step], fit.share[stratum[begin : begin + step]] @ contrast
        weights = part.sum(axis=1)[:, None]
        share = part @ contrast**2 - 2 * mean * (part @ contrast) + weights * mean**2
        total += share.sum(axis=0)
        squares += (share**2).sum(axis=0)
    found = np.full((layout.n_systems, layout.n_systems), np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        found[first, second] = found[second, first] = total**2 / squares
    return found


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


def make_comparison(contrasts: tuple[Floats, Floats, Floats], n_shared: NDArray[np.int64]) -> Comparison:
    """Return the comparison that follows from difference, variance and degrees of freedom of every pair."""
    from scipy import stats
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    difference, variance, df = contrasts
    error = np.sqrt(variance)
    p_value = stats.t.sf(difference / error, df)
    reach = stats.t.isf(0.025, df) * error
    two_sided = np.triu(2 * np.minimum(p_value, 1 - p_value), 1)
    two_sided[np.tril_indices_from(two_sided)] = np.nan
    holm = adjust(two_sided, "holm")
    lower = np.tril_indices_from(holm, -1)
    holm[lower] = holm.T[lower]
    label = connected_components(csr_array(n_shared), directed=False)[1]
    return Comparison(
        difference,
        error,
        df,
        p_value,
        holm,
        difference - reach,
        difference + reach,
        n_shared,
        label[:, None] == label[None, :],
    )
