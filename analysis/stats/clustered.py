"""Least squares of z on systems within sources, and its variances by worker and source, for `inference` (METHOD §5)."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.stats.pairs import variance_of_differences
from analysis.stats.ratings import Codes, Floats, Mask

# A NumPy array, or a SciPy array of rows, which has no types.
Matrix = Any
# Of the largest term of a sum: what is smaller is rounding.
_ROUNDING = 1e-10
_BLOCK_CELLS = 1 << 20
_LEAST_FILLED = 4
"""Of the cells of a matrix, one in so many has a value, or it is sparse."""


@dataclass(frozen=True)
class GroupedRatings:
    """Ratings without the missing ones, and how they are grouped, (n,) each but `label`; codes of groups have no gaps.

    A *stratum* has an effect of its own: a source, or all ratings of unknown sources together. `source` says which
    ratings depend on each other: of those of unknown sources, each is alone. `cell`: one worker's ratings of a source.
    `weight`: what each rating weighs in the least squares. `label` (n_strata,) is the source of each stratum, −1 of
    that of unknown ones.
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
    label: NDArray[np.int64]

    def total(self, group: NDArray[np.int64], values: Floats) -> Matrix:
        """Return the sum of values of each system in each group, (n_groups, n_systems): dense, unless most are 0."""
        shape = (int(group.max()) + 1, self.n_systems)
        if shape[0] * shape[1] <= _LEAST_FILLED * values.size:
            return np.bincount(group * shape[1] + self.system, values, shape[0] * shape[1]).reshape(shape)
        from scipy.sparse import csr_array

        return csr_array((values, (group, self.system)), shape=shape)


@dataclass(frozen=True)
class Fit:
    """Least squares of z on systems, with the share θ of the mean over each stratum taken out of both.

    `theta` is (n_strata,), `coefficient` (n_systems,), `residual` (n,). `share` (n_strata, n_systems) is what is taken
    out of the indicators, `bread` (n_systems, n_systems) is (X′X)⁻, of this rank.
    """

    theta: Floats
    share: Matrix
    coefficient: Floats
    bread: Floats
    residual: Floats
    rank: int


def group_ratings(
    z: Floats, system: Codes, worker: Codes, source: Codes, n_systems: int, weight: Floats
) -> GroupedRatings:
    """Return ratings by how they depend on each other.

    Parameters
    ----------
    z, weight : float64, (n,)
        No NaN.
    system, worker, source : int, (n,)
        As `inference.compare_clustered` takes them; source −1 where unknown.
    """
    # One source for all, as of live chats, shows nothing of sources: conclusions are then for it alone
    is_known = (source >= 0) & (source.min() != source.max())
    alone = int(source.max()) + 1 + np.arange(z.size)
    label, stratum = np.unique(np.where(is_known, source, -1), return_inverse=True)
    of_source = np.unique(np.where(is_known, source, alone), return_inverse=True)[1]
    of_worker = np.unique(worker, return_inverse=True)[1]
    cell = np.unique(of_worker * np.int64(of_source.max() + 1) + of_source, return_inverse=True)[1]
    codes = (system.astype(np.int64), of_worker, stratum, of_source, cell)
    return GroupedRatings(z, *codes, is_known=is_known, n_systems=n_systems, weight=weight, label=label)


def dense(matrix: Matrix) -> NDArray[Any]:
    """Return a matrix as a NumPy array."""
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


def scaled(matrix: Matrix, by_row: NDArray[Any]) -> Matrix:
    """Return a matrix whose rows are multiplied."""
    found = matrix * by_row[:, None]
    return found if isinstance(found, np.ndarray) else found.tocsr()


def fit_systems(grouped: GroupedRatings, counts: Matrix, theta: Floats) -> Fit:
    """Return the least squares of `grouped.z`.

    `counts` are the sums of weights, (n_strata, n_systems); `theta`, (n_strata,), is 0 for no effect of a stratum, 1
    for a fixed one, between them for a random one.
    """
    n = counts.sum(axis=1)
    # Of a stratum's sums, this share is lost of every product of what is partly demeaned
    lost = (2 * theta - theta**2) / n
    n_of_system = np.asarray(counts.sum(axis=0))
    gram = np.diag(n_of_system) - dense(counts.T @ scaled(counts, lost))
    weighted = grouped.weight * grouped.z
    total = np.bincount(grouped.stratum, weights=weighted)
    target = np.bincount(grouped.system, weights=weighted, minlength=grouped.n_systems) - counts.T @ (lost * total)
    value, vector = np.linalg.eigh(gram)
    is_positive = value > _ROUNDING * max(n_of_system.max(), 1)
    bread = (vector[:, is_positive] / value[is_positive]) @ vector[:, is_positive].T
    coefficient = bread @ target
    mean = (total - counts @ coefficient) / n
    residual = grouped.z - coefficient[grouped.system] - (theta * mean)[grouped.stratum]
    return Fit(theta, scaled(counts, theta / n), coefficient, bread, residual, int(is_positive.sum()))


def random_effects(grouped: GroupedRatings, counts: Matrix) -> Floats:
    """Return θ of each stratum, (n_strata,), by the ratings without their weights; all 0 if strata do not differ.

    `counts` are the numbers of ratings, (n_strata, n_systems).
    """
    grouped = replace(grouped, weight=np.ones(grouped.z.size))
    n = np.asarray(counts.sum(axis=1))
    none = np.zeros(n.size)
    fixed, pooled = (fit_systems(grouped, counts, theta) for theta in (none + 1, none))
    df_within = grouped.z.size - n.size - fixed.rank
    n_of_system = np.asarray(counts.sum(axis=0))
    squares = np.asarray((counts * counts).sum(axis=0))
    # How often the residual sum of squares without source effects holds their variance
    n_between = grouped.z.size - (squares[n_of_system > 0] / n_of_system[n_of_system > 0]).sum()
    if df_within <= 0 or n_between <= 0:
        return none
    within = (fixed.residual**2).sum() / df_within
    between = max(0.0, ((pooled.residual**2).sum() - within * (grouped.z.size - pooled.rank)) / n_between)
    if between <= _ROUNDING * within:
        return none
    theta: Floats = 1 - np.sqrt(within / (within + n * between))
    return theta


@dataclass(frozen=True)
class PairVariances:
    """The parts of the variance of every difference, each (n_systems, n_systems) and corrected for few clusters.

    `of_workers` and `of_sources` are effective numbers of clusters, NaN where none bears on the difference.
    """

    workers: Floats
    sources: Floats
    cells: Floats
    of_workers: Floats
    of_sources: Floats

    def total(self) -> Floats:
        """Return the variance of each difference: the greater of two parts where their sum is not positive."""
        with np.errstate(invalid="ignore"):
            variance = self.workers + self.sources - self.cells
            found: Floats = np.where(variance > 0, variance, np.maximum(self.workers, self.sources))
        return found


def pair_variances(grouped: GroupedRatings, fit: Fit) -> PairVariances:
    """Return the sandwich variances of every difference, with clusters of workers, of sources, and of both."""
    of_workers, of_sources = _effective_workers(grouped), _effective_sources(grouped, fit)
    workers, cells = worker_variances(grouped, fit, of_workers)
    sources = variance_of_differences(fit.bread @ _meat_within_strata(grouped, fit, grouped.source) @ fit.bread)
    with np.errstate(invalid="ignore", divide="ignore"):
        sources *= of_sources / (of_sources - 1)
    return PairVariances(workers, sources, cells, of_workers, of_sources)


def worker_variances(grouped: GroupedRatings, fit: Fit, of_workers: Floats) -> tuple[Floats, Floats]:
    """Return the sandwich variances of every difference: clusters of workers, and of a worker's ratings of a source.

    `of_workers` is the effective number of workers of every pair.
    """
    workers = variance_of_differences(fit.bread @ _meat_of_workers(grouped, fit) @ fit.bread)
    cells = variance_of_differences(fit.bread @ _meat_within_strata(grouped, fit, grouped.cell) @ fit.bread)
    n_cells = int(grouped.cell.max()) + 1
    with np.errstate(invalid="ignore", divide="ignore"):
        workers *= of_workers / (of_workers - 1)
    return workers, cells * (n_cells / max(n_cells - 1, 1))


def contrasts_of(
    grouped: GroupedRatings, fit: Fit, parts: PairVariances | None = None
) -> tuple[Floats, Floats, Floats]:
    """Return difference, variance and degrees of freedom of every pair, (n_systems, n_systems); NaN where undefined.

    `parts` are those of `pair_variances`, where they are known already.
    """
    parts = parts or pair_variances(grouped, fit)
    variance = parts.total()
    with np.errstate(invalid="ignore"):
        df = np.minimum(parts.of_workers, parts.of_sources) - 1
        has_error = (df > _ROUNDING) & (variance > (_ROUNDING * np.abs(grouped.z).max()) ** 2)
    difference = fit.coefficient[:, None] - fit.coefficient[None, :]
    is_rated = np.bincount(grouped.system, minlength=grouped.n_systems) > 0
    difference[~(is_rated[:, None] & is_rated[None, :]) | np.eye(grouped.n_systems, dtype=bool)] = np.nan
    has_error &= ~np.isnan(difference)
    return difference, np.where(has_error, variance, np.nan), np.where(has_error, df, np.nan)


def _meat_of_workers(grouped: GroupedRatings, fit: Fit) -> Floats:
    from scipy.sparse import csr_array

    shape = (int(grouped.worker.max()) + 1, fit.theta.size)
    residual = grouped.weight * fit.residual
    in_stratum = csr_array((residual, (grouped.worker, grouped.stratum)), shape=shape)
    score = grouped.total(grouped.worker, residual) - in_stratum @ fit.share
    meat: Floats = dense(score.T @ score)
    return meat


def _meat_within_strata(grouped: GroupedRatings, fit: Fit, cluster: NDArray[np.int64]) -> Floats:
    """Return Σ (a − s·share)(a − s·share)′ over clusters, each of which is within one stratum.

    a are the sums of residuals of a cluster by system, s their sum. The product is expanded, as `share` has many more
    systems than a cluster.
    """
    residual = grouped.weight * fit.residual
    own = grouped.total(cluster, residual)
    total = np.bincount(cluster, weights=residual)
    stratum = np.empty(total.size, dtype=np.int64)
    stratum[cluster] = grouped.stratum
    weighted = grouped.total(grouped.stratum, residual * total[cluster])
    mixed = dense(weighted.T @ fit.share)
    squares = np.bincount(stratum, weights=total**2, minlength=fit.theta.size)
    meat: Floats = dense(own.T @ own) - mixed - mixed.T
    meat += dense(fit.share.T @ scaled(fit.share, squares))
    return meat


def _effective_workers(grouped: GroupedRatings) -> Floats:
    """Return the effective number of workers of every pair, (n_systems, n_systems)."""
    n = np.bincount(grouped.system, weights=grouped.weight, minlength=grouped.n_systems)
    share = grouped.total(grouped.worker, (grouped.weight / n[grouped.system]) ** 2)
    total = np.asarray(share.sum(axis=0))
    products = dense(share.T @ share)
    own = np.diag(products)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = (total[:, None] + total[None, :]) ** 2 / (own[:, None] + own[None, :] + 2 * products)
    return found


def _effective_sources(grouped: GroupedRatings, fit: Fit) -> Floats:
    """Return the effective number of sources of every pair, (n_systems, n_systems); NaN where none bears on it."""
    first, second = np.triu_indices(grouped.n_systems, 1)
    contrast = fit.bread[:, first] - fit.bread[:, second]
    squared = grouped.total(grouped.source, grouped.weight**2)
    stratum = np.empty(squared.shape[0], dtype=np.int64)
    stratum[grouped.source] = grouped.stratum
    total, squares = np.zeros(first.size), np.zeros(first.size)
    step = max(1, _BLOCK_CELLS // max(first.size, 1))
    for begin in range(0, squared.shape[0], step):
        part, mean = squared[begin : begin + step], fit.share[stratum[begin : begin + step]] @ contrast
        weights = part.sum(axis=1)[:, None]
        share = part @ contrast**2 - 2 * mean * (part @ contrast) + weights * mean**2
        total += share.sum(axis=0)
        squares += (share**2).sum(axis=0)
    found = np.full((grouped.n_systems, grouped.n_systems), np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        found[first, second] = found[second, first] = total**2 / squares
    return found
