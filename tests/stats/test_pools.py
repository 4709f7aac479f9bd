"""Resampled workers and pools of workers: against brute force, and what must always hold."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr, spearmanr

from analysis.stats.correlation import correlate_resamples
from analysis.stats.pools import WorkerSums, compare_pools, resample_workers, sum_by_worker


def crowd(rng, n_workers=12, n_systems=5, spread=0.0, n_each=3):
    """z of workers who each rate every system `n_each` times, and like systems more or less by `spread`."""
    worker = np.repeat(np.arange(n_workers), n_systems * n_each)
    system = np.tile(np.repeat(np.arange(n_systems), n_each), n_workers)
    liking = rng.normal(0, spread, (n_workers, n_systems)) if spread else np.zeros((n_workers, n_systems))
    z = 0.3 * system + liking[worker, system] + rng.normal(0, 1, worker.size)
    return z, system, worker


def test_sums_and_scores_are_those_of_a_loop():
    rng = np.random.default_rng(1)
    z, system, worker = crowd(rng, 4, 3)
    values = np.column_stack([z, np.where(rng.random(z.size) < 0.3, np.nan, z**2)])
    weights = np.array([[1.0, 0, 2, 1], [0, 0, 0, 1]])
    found = sum_by_worker(values, system, worker, n_systems=3, n_workers=4).scores(weights)
    for row, weight in enumerate(weights):
        for code in range(3):
            for column in range(2):
                times = np.repeat(values[:, column], weight[worker].astype(int))
                own = times[np.repeat(system, weight[worker].astype(int)) == code]
                assert found[row, code, column] == pytest.approx(np.nanmean(own))


def test_resampled_workers_vary_as_their_means_do():
    """Where all rate alike much, the variance of a mean over drawn workers is s²(n − 1)/n²."""
    rng = np.random.default_rng(2)
    z, system, worker = crowd(rng, 20, 2, spread=1.0)
    sums = sum_by_worker(z[:, None], system, worker, n_systems=2, n_workers=20)
    draws = resample_workers(sums, rng, n_samples=20_000)[:, :, 0]
    means = (sums.sums / sums.counts)[:, :, 0]
    assert draws.mean(axis=0) == pytest.approx(means.mean(axis=0), abs=0.01)
    assert draws.var(axis=0) == pytest.approx(means.var(axis=0) / 20, rel=0.05)


def test_too_few_workers_are_not_resampled():
    z, system, worker = crowd(np.random.default_rng(3), 2, 3)
    sums = sum_by_worker(z[:, None], system, worker, n_systems=3, n_workers=5)
    assert resample_workers(sums, np.random.default_rng(3)).shape == (0, 3, 1)


def test_intervals_by_workers_are_percentiles_of_the_correlations_of_samples():
    rng = np.random.default_rng(4)
    first, second = rng.normal(size=(10, 6)), rng.normal(size=(10, 6)).round(0)
    low, high = correlate_resamples(first, second)
    pairs = [(first[k], second[(k + 2 * shift) % 10]) for shift in range(5) for k in range(10)]
    for name, of in (("pearson", pearsonr), ("spearman", spearmanr), ("kendall", kendalltau)):
        with np.errstate(invalid="ignore"):
            each = np.array([of(a, b).statistic for a, b in pairs if np.ptp(b) > 0])
        assert [getattr(low, name), getattr(high, name)] == pytest.approx(np.quantile(each, [0.025, 0.975]))


def test_intervals_by_workers_are_undefined_without_samples_and_of_constants():
    some = np.random.default_rng(5).normal(size=(10, 4))
    for one, other in ((some[:0], some), (some[:, :2], some[:, :2]), (some, np.ones((10, 4)))):
        low, high = correlate_resamples(one, other)
        assert np.isnan([low.pearson, high.kendall]).all()


def test_more_workers_narrow_the_interval():
    widths = []
    for n_workers in (8, 80):
        rng = np.random.default_rng(6)
        draws = []
        for _ in range(2):
            z, system, worker = crowd(rng, n_workers, 6, spread=0.5)
            sums = sum_by_worker(z[:, None], system, worker, n_systems=6, n_workers=n_workers)
            draws.append(resample_workers(sums, rng)[:, :, 0])
        low, high = correlate_resamples(*draws)
        widths.append(high.pearson - low.pearson)
    assert widths[1] < 0.6 * widths[0]


def scores_of(sums: WorkerSums):
    return lambda workers, parts: sums.of(workers).scores(parts)[:, :, 0]


def test_r_of_pools_is_that_of_their_means_and_p_that_of_all_divisions():
    rng = np.random.default_rng(7)
    z, system, worker = crowd(rng, 7, 5)
    sums = sum_by_worker(z[:, None], system, worker, n_systems=5, n_workers=7)
    found = compare_pools(scores_of(sums), np.arange(3), np.arange(3, 7), rng, n_divisions=5000)
    means = (sums.sums / sums.counts)[:, :, 0]

    def r_of(one):
        other = [k for k in range(7) if k not in one]
        return pearsonr(means[list(one)].mean(axis=0), means[other].mean(axis=0)).statistic

    assert found.r == pytest.approx(r_of((0, 1, 2)))
    every = np.array([r_of(one) for one in combinations(range(7), 3)])
    assert found.p_value == pytest.approx(np.mean(every <= found.r + 1e-12), abs=0.02)
    assert {round(r, 9) for r in found.divisions} == {round(r, 9) for r in every}


def test_random_pools_differ_as_rarely_as_they_should_and_opposed_ones_are_found():
    rng = np.random.default_rng(8)
    p = []
    for _ in range(200):
        z, system, worker = crowd(rng, 12, 5, spread=0.5)
        sums = sum_by_worker(z[:, None], system, worker, n_systems=5, n_workers=12)
        p.append(compare_pools(scores_of(sums), np.arange(4), np.arange(4, 12), rng, n_divisions=99).p_value)
    assert 0.01 < np.mean(np.array(p) <= 0.05) < 0.10
    z, system, worker = crowd(rng, 12, 5, n_each=30)
    opposed = np.where(worker < 4, -z, z)
    sums = sum_by_worker(opposed[:, None], system, worker, n_systems=5, n_workers=12)
    assert compare_pools(scores_of(sums), np.arange(4), np.arange(4, 12), rng).p_value < 0.01


def test_pools_of_two_systems_have_no_r():
    z, system, worker = crowd(np.random.default_rng(9), 6, 2)
    sums = sum_by_worker(z[:, None], system, worker, n_systems=2, n_workers=6)
    found = compare_pools(scores_of(sums), np.arange(3), np.arange(3, 6), np.random.default_rng(9), n_divisions=10)
    assert np.isnan(found.r) and np.isnan(found.p_value) and np.isnan(found.divisions).all()
