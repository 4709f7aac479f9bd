"""Which workers rated: system scores of resampled workers, and of pools of workers such as crowd and experts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.stats.correlation import FEWEST
from analysis.stats.ratings import Codes, Floats

ScoresOf = Callable[[NDArray[np.intp], Floats], Floats]
N_RESAMPLES = 200
N_DIVISIONS = 1000
_FEWEST_WORKERS = 3


@dataclass(frozen=True)
class WorkerSums:
    """What each worker's observations add up to, (n_workers, n_systems, n_columns): sums, and how many they are."""

    sums: Floats
    counts: Floats

    def of(self, workers: Codes) -> "WorkerSums":
        """Return the sums of these workers, (n,), in this order."""
        return WorkerSums(self.sums[workers], self.counts[workers])

    def scores(self, weights: Floats) -> Floats:
        """Return system scores where each worker counts as often as `weights` says.

        Parameters
        ----------
        weights : float64, (n, n_workers)

        Returns
        -------
        float64, (n, n_systems, n_columns)
            Means; NaN where no worker who counts has rated the system.
        """
        with np.errstate(invalid="ignore", divide="ignore"):
            total, n = (np.tensordot(weights, each, 1) for each in (self.sums, self.counts))
            return np.asarray(total / n)


def sum_by_worker(values: Floats, system: Codes, worker: Codes, *, n_systems: int, n_workers: int) -> WorkerSums:
    """Return sums and counts of each worker's observations of each system.

    Parameters
    ----------
    values : float64, (n, n_columns)
        Scores of observations, such as z on each criterion; NaN is left out.
    system, worker : int, (n,)
        Codes from 0.
    """
    n_columns = values.shape[1]
    sums, counts = (np.zeros((n_workers * n_systems, n_columns)) for _ in range(2))
    cell = worker.astype(np.int64) * n_systems + system
    for k, column in enumerate(values.T):
        rated = ~np.isnan(column)
        sums[:, k] = np.bincount(cell[rated], weights=column[rated], minlength=sums.shape[0])
        counts[:, k] = np.bincount(cell[rated], minlength=sums.shape[0])
    shape = (n_workers, n_systems, n_columns)
    return WorkerSums(sums.reshape(shape), counts.reshape(shape))


@dataclass(frozen=True)
class ValuesByWorker:
    """What the values of workers add up to, on each criterion, with the names of workers and systems.

    The score of a system is the mean over criteria of the mean of its values, and then what `back` makes of it; of none
    on a criterion it has no score. Of ratios it is the sum of numerators over that of denominators: these are `counts`.
    """

    workers: Sequence[str]
    systems: Sequence[str]
    sums: WorkerSums
    back: Callable[[Floats], Floats] = np.asarray

    @classmethod
    def of(
        cls,
        workers: Sequence[str],
        systems: Sequence[str],
        values: Floats,
        worker: Codes,
        system: Codes,
        criterion: Codes | None = None,
        n_criteria: int = 1,
    ) -> "ValuesByWorker":
        """Return the sums of values.

        Parameters
        ----------
        values : float64, (n,)
            In the unit of the scores before `back`; NaN is left out.
        worker, system, criterion : int, (n,)
            Codes of `workers`, of `systems` and of 0 … n_criteria − 1; all of one criterion by default.
        """
        column = system * n_criteria + (0 if criterion is None else criterion)
        shape = len(workers), len(systems), n_criteria
        found = sum_by_worker(values[:, None], column, worker, n_systems=shape[1] * shape[2], n_workers=shape[0])
        return cls(workers, systems, WorkerSums(found.sums.reshape(shape), found.counts.reshape(shape)))

    @classmethod
    def of_ratios(
        cls,
        workers: Sequence[str],
        systems: Sequence[str],
        numerator: Floats,
        denominator: Floats,
        worker: Codes,
        system: Codes,
    ) -> "ValuesByWorker":
        """Return the sums of numerators and denominators, float64, (n,), where scores are ratios of totals."""
        both = np.stack([numerator, denominator], axis=1)
        found = sum_by_worker(both, system, worker, n_systems=len(systems), n_workers=len(workers)).sums
        return cls(workers, systems, WorkerSums(found[:, :, :1], found[:, :, 1:]))

    def scores(self, workers: Sequence[str], parts: Floats, systems: Sequence[str]) -> Floats:
        """Return the scores of `systems` by parts of some workers, (n_parts, n_systems).

        `parts`: how often each worker counts, (n_parts, n_workers); one without values adds nothing.

        Examples
        --------
        >>> of_ann = np.array([1.0, 0]), np.array([0, 0]), np.array([0, 1])
        >>> found = ValuesByWorker.of(["ann"], ["a", "b"], *of_ann)
        >>> found.scores(["ann", "bob"], np.array([[1.0, 1], [0, 1]]), ["b", "a"]).tolist()
        [[0.0, 1.0], [nan, nan]]
        """
        of_worker, of_system = (
            {name: code for code, name in enumerate(names)} for names in (self.workers, self.systems)
        )
        codes = np.array([of_worker.get(name, -1) for name in workers], np.int64)
        means = self.sums.of(codes[codes >= 0]).scores(parts[:, codes >= 0]).mean(axis=2)
        return self.back(means[:, [of_system[name] for name in systems]])


def resample_workers(found: WorkerSums, rng: np.random.Generator, n_samples: int = N_RESAMPLES) -> Floats:
    """Return system scores of as many workers as there are, drawn with replacement, again and again.

    Parameters
    ----------
    found : WorkerSums
        Workers without an observation are not drawn.

    Returns
    -------
    float64, (n_samples, n_systems, n_columns)
        NaN of a system that no drawn worker has rated; no sample, (0, …), with fewer than three workers.

    Notes
    -----
    All ratings of a drawn worker come along, so that what depends on the worker varies as it would with other workers.

    References
    ----------
    Deutsch, Dror & Roth 2021 (resampling of one of the two things that are sampled); Field & Welsh 2007 (cluster
    bootstrap).
    """
    active = np.flatnonzero(found.counts.sum(axis=(1, 2)))
    if active.size < _FEWEST_WORKERS:
        return np.empty((0, *found.sums.shape[1:]))
    own = found.of(active)
    weights = rng.multinomial(active.size, np.full(active.size, 1 / active.size), size=n_samples)
    return own.scores(weights.astype(np.float64))


@dataclass(frozen=True)
class PoolComparison:
    """Two pools of workers.

    Attributes
    ----------
    r : float
        Pearson's r between the system scores of the two pools; NaN where it is undefined.
    divisions : float64, (n_divisions,)
        r where the same workers are divided at random into pools of the same sizes (A/A); NaN where undefined.
    p_value : float
        Share of random divisions, this one included, whose r is as low; NaN where r is undefined.
    """

    r: float
    divisions: Floats
    p_value: float


def divide_at_random(n_workers: int, n_first: int, n_divisions: int, rng: np.random.Generator) -> Floats:
    """Return 1 for the workers of the first part of each of many random divisions, else 0, (n_divisions, n_workers)."""
    rank = np.argsort(rng.random((n_divisions, n_workers)), axis=1)
    return (rank < n_first).astype(np.float64)


def compare_pools(
    scores_of: ScoresOf,
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    rng: np.random.Generator,
    *,
    n_divisions: int = N_DIVISIONS,
) -> PoolComparison:
    """Return whether two pools of workers score the systems less alike than random pools of their sizes would.

    Parameters
    ----------
    scores_of : callable
        Returns system scores, (n_parts, n_systems), of parts of some workers: of the workers' codes, (n,), and of how
        often each counts in each part, 0 or 1, (n_parts, n).
    first, second : int, (n,)
        Codes of the workers of each pool.

    Notes
    -----
    A permutation test: if it did not matter which pool a worker is of, the pools would be one of the divisions. Workers
    are divided with all their responses. p counts the division that was observed.

    References
    ----------
    METHOD §6; Phipson & Smyth 2010 (p of random permutations).
    """
    everyone = np.concatenate([first, second])
    seen = (np.arange(everyone.size) < first.size).astype(np.float64)
    parts = np.vstack([seen, divide_at_random(everyone.size, first.size, n_divisions, rng)])
    r = _pearson_of_rows(scores_of(everyone, parts), scores_of(everyone, 1 - parts))
    divisions = r[1:]
    defined = divisions[~np.isnan(divisions)]
    p_value = (1 + np.count_nonzero(defined <= r[0] + 1e-12)) / (1 + defined.size) if not np.isnan(r[0]) else np.nan
    return PoolComparison(float(r[0]), divisions, float(p_value))


def _pearson_of_rows(first: Floats, second: Floats) -> Floats:
    """Return r of each row over what both have; NaN with fewer than three, or where one side is constant."""
    both = ~(np.isnan(first) | np.isnan(second))
    n = np.maximum(both.sum(axis=1, keepdims=True), 1)
    x, y = (np.where(both, each, 0.0) for each in (first, second))
    x, y = (np.where(both, each - each.sum(axis=1, keepdims=True) / n, 0.0) for each in (x, y))
    squares = (x**2).sum(axis=1), (y**2).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (x * y).sum(axis=1) / np.sqrt(squares[0] * squares[1])
    is_undefined = (both.sum(axis=1) < FEWEST) | (np.minimum(*squares) <= 1e-18)
    return np.where(is_undefined, np.nan, np.clip(r, -1, 1))
