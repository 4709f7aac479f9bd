"""The recommended comparison: against statsmodels, dense matrices, the paired t test, and equal systems."""

import json

import numpy as np
import pytest
from scipy import stats

from analysis.stats import clustered
from analysis.stats.inference import Comparison, SourceEffects, compare_clustered, rank_intervals
from tests.stats import two_way_clusters
from tests.stats.two_way_clusters import N_SYSTEMS, ratings

UNKNOWN = -1


def effective(values):
    return values.sum() ** 2 / (values**2).sum()


def dense(z, system, worker, source, n_systems, theta):
    """Difference, standard error and df of every pair, with every matrix written out; `theta` by source."""
    n = z.size
    demean = np.eye(n)
    for group in np.unique(source):
        own = source == group
        demean -= theta[group] * np.outer(own, own) / own.sum()
    design = demean @ np.eye(n_systems)[system]
    bread = np.linalg.pinv(design.T @ design, rcond=1e-10)
    beta = bread @ design.T @ demean @ z
    residual = demean @ z - design @ beta
    cell = worker * 1000 + source
    counts = np.bincount(system, minlength=n_systems)
    found = np.full((3, n_systems, n_systems), np.nan)
    for i in range(n_systems):
        for j in range(n_systems):
            if i == j:
                continue
            influence = design @ (bread[i] - bread[j])
            variance = {}
            for name, cluster in (("worker", worker), ("source", source), ("cell", cell)):
                variance[name] = sum((influence * residual)[cluster == k].sum() ** 2 for k in np.unique(cluster))
            of_means = (system == i) / counts[i] ** 2 + (system == j) / counts[j] ** 2
            m_workers = effective(np.bincount(worker, weights=of_means))
            m_sources = effective(np.bincount(source, weights=influence**2))
            n_cells = np.unique(cell).size
            total = variance["worker"] * m_workers / (m_workers - 1) + variance["source"] * m_sources / (m_sources - 1)
            total -= variance["cell"] * n_cells / (n_cells - 1)
            found[:, i, j] = beta[i] - beta[j], np.sqrt(total), min(m_workers, m_sources) - 1
    return found


def test_variances_are_those_of_statsmodels():
    """What statsmodels gives for the three kinds of cluster, put together with their corrections."""
    z, system, worker, source = ratings()
    found = compare_clustered(z, system, worker, source, N_SYSTEMS, SourceEffects.FIXED)
    _, error, _ = dense(z, system, worker, source, N_SYSTEMS, np.ones(14))
    n_cells = np.unique(worker * 1000 + source).size
    counts = np.bincount(system)
    design = np.hstack([np.eye(N_SYSTEMS)[system], np.eye(14)[source]])
    for row in json.loads(two_way_clusters.PATH.read_text()):
        i, j = row["pair"]
        of_means = (system == i) / counts[i] ** 2 + (system == j) / counts[j] ** 2
        contrast = np.zeros(design.shape[1])
        contrast[[i, j]] = 1, -1
        influence = np.linalg.pinv(design).T @ contrast
        m_workers = effective(np.bincount(worker, weights=of_means))
        m_sources = effective(np.bincount(source, weights=influence**2))
        of_worker, of_source, of_cell = row["variances"]
        expected = of_worker * m_workers / (m_workers - 1) + of_source * m_sources / (m_sources - 1)
        expected -= of_cell * n_cells / (n_cells - 1)
        assert found.difference[i, j] == pytest.approx(row["difference"], rel=1e-9)
        assert found.standard_error[i, j] ** 2 == pytest.approx(expected, rel=1e-8)
        assert error[i, j] == pytest.approx(found.standard_error[i, j], rel=1e-8)


def test_random_effects_are_generalised_least_squares():
    z, system, worker, source = ratings()
    found = compare_clustered(z, system, worker, source, N_SYSTEMS)
    indicators, groups = np.eye(N_SYSTEMS)[system], np.eye(14)[source]

    def residual_squares(design):
        left = z - design @ np.linalg.lstsq(design, z, rcond=None)[0]
        return left @ left, z.size - np.linalg.matrix_rank(design)

    within, df = residual_squares(np.hstack([indicators, groups]))
    pooled, df_pooled = residual_squares(indicators)
    counts = indicators.T @ groups
    expected_times = z.size - ((counts**2).sum(axis=1) / counts.sum(axis=1)).sum()
    variance = within / df
    of_source = (pooled - variance * df_pooled) / expected_times
    assert of_source > 0
    weights = np.linalg.inv(variance * np.eye(z.size) + of_source * groups @ groups.T)
    beta = np.linalg.solve(indicators.T @ weights @ indicators, indicators.T @ weights @ z)
    np.testing.assert_allclose(found.difference[0, 1:], beta[0] - beta[1:], rtol=1e-8)

    theta = 1 - np.sqrt(variance / (variance + np.bincount(source) * of_source))
    difference, error, df = dense(z, system, worker, source, N_SYSTEMS, theta)
    for ours, theirs in ((found.difference, difference), (found.standard_error, error), (found.df, df)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8)
    reach = stats.t.isf(0.025, found.df) * found.standard_error
    np.testing.assert_allclose(found.high - found.difference, reach)
    np.testing.assert_allclose(found.p_value + found.p_value.T, np.where(np.eye(N_SYSTEMS), np.nan, 1))


def test_a_rating_of_each_system_by_each_worker_is_the_paired_t_test():
    rng = np.random.default_rng(3)
    table = rng.normal(size=(12, 2)) + rng.normal(size=(12, 1))
    worker, system = np.indices(table.shape)
    found = compare_clustered(table.ravel(), system.ravel(), worker.ravel(), np.full(24, UNKNOWN), 2)
    expected = stats.ttest_rel(table[:, 0], table[:, 1], alternative="greater")
    assert found.df[0, 1] == pytest.approx(11)
    assert found.p_value[0, 1] == pytest.approx(expected.pvalue, rel=1e-9)


def test_the_order_of_ratings_and_what_codes_are_called_change_nothing():
    z, system, worker, source = ratings()
    first = compare_clustered(z, system, worker, source, N_SYSTEMS)
    order = np.random.default_rng(0).permutation(z.size)
    other = compare_clustered(z[order], system[order], 7 * worker[order], 100 - 3 * source[order], N_SYSTEMS)
    for name in ("difference", "standard_error", "df", "p_value", "holm", "n_shared"):
        np.testing.assert_allclose(getattr(other, name), getattr(first, name), rtol=1e-9, err_msg=name)


def test_fixed_effects_take_the_difficulty_of_sources_out_whole():
    z, system, worker, source = ratings()
    difficulty = np.linspace(-50, 50, 14)
    plain, hard = (
        compare_clustered(scores, system, worker, source, N_SYSTEMS, SourceEffects.FIXED)
        for scores in (z, z + difficulty[source])
    )
    np.testing.assert_allclose(hard.p_value, plain.p_value, rtol=1e-7)


@pytest.mark.parametrize("effects", list(SourceEffects))
def test_systems_on_sources_of_their_own_are_compared_across_them(effects):
    rng = np.random.default_rng(5)
    source = np.repeat(np.arange(40), 6)
    system = np.where(source < 20, source % 2, 2)
    worker = np.tile(np.arange(6), 40)
    z = rng.normal(size=40)[source] + rng.normal(0, 0.3, 240) + 5 * (system == 2)
    found = compare_clustered(z, system, worker, source, 3, effects)
    assert not found.is_connected[0, 1:].any()
    assert found.n_shared[0, 1] == 0 and found.n_shared[2, 2] == 20
    # The error is that of means of sources, not of ratings: 10 and 20 of them with standard deviation 1
    assert 0.2 < found.standard_error[0, 2] < 0.7
    assert found.p_value[2, 0] < 0.001


@pytest.mark.parametrize("effects", list(SourceEffects))
def test_sources_of_few_systems_each_are_analysed_as_full_ones(effects, monkeypatch):
    """Where most systems rate no source, sums are kept as sparse matrices."""
    source = np.repeat(np.arange(60), 6)
    system = (source + np.tile([0, 1], 180)) % 30
    worker = np.tile(np.repeat(np.arange(3), 2), 60)
    z = np.random.default_rng(5).normal(size=360) + system / 10
    sparse = compare_clustered(z, system, worker, source, 30, effects)
    monkeypatch.setattr(clustered, "_LEAST_FILLED", 100)
    full = compare_clustered(z, system, worker, source, 30, effects)
    assert sparse.is_connected.all() and (sparse.n_shared == full.n_shared).all()
    np.testing.assert_allclose(sparse.difference, full.difference, rtol=1e-9)
    np.testing.assert_allclose(sparse.p_value, full.p_value, rtol=1e-7)


def test_missing_scores_are_left_out():
    z, system, worker, source = ratings()
    z[::7] = np.nan
    own = ~np.isnan(z)
    found = compare_clustered(z, system, worker, source, N_SYSTEMS)
    expected = compare_clustered(z[own], system[own], worker[own], source[own], N_SYSTEMS)
    np.testing.assert_array_equal(found.p_value, expected.p_value)


def test_a_system_without_ratings_is_compared_with_nothing():
    z, system, worker, source = ratings()
    found = compare_clustered(z, system, worker, source, N_SYSTEMS + 1)
    assert np.isnan(found.difference[-1]).all() and np.isnan(found.holm[:, -1]).all()
    np.testing.assert_allclose(found.p_value[:-1, :-1], compare_clustered(z, system, worker, source, N_SYSTEMS).p_value)
    ranks = rank_intervals(found)
    assert (ranks.best[-1], ranks.worst[-1]) == (0, 0) and ranks.worst[:-1].max() == N_SYSTEMS


@pytest.mark.parametrize(
    ("z", "worker", "source"),
    [
        ([1.0, 2.0, 1.5, 0.5], [0, 0, 0, 0], [0, 0, 1, 1]),  # one worker
        ([1.0, 2.0, 1.5, 0.5], [0, 0, 0, 0], [0, 0, 0, 0]),  # of one source
        ([1.0, 2.0], [0, 1], [0, 1]),  # one rating a system
        ([0.0] * 8, [0, 0, 1, 1, 2, 2, 3, 3], [0, 0, 1, 1, 2, 2, 3, 3]),  # nothing varies
        ([2.0, 1.0] * 4, [0, 0, 1, 1, 2, 2, 3, 3], [0, 0, 1, 1, 2, 2, 3, 3]),  # only the systems vary
        ([np.nan, np.nan], [0, 1], [0, 1]),
        ([], [], []),
    ],
)
@pytest.mark.parametrize("effects", list(SourceEffects))
def test_what_cannot_be_tested_is_undefined(z, worker, source, effects):
    system = np.tile([0, 1], len(z) // 2)
    found = compare_clustered(np.array(z, float), system, np.array(worker, int), np.array(source, int), 2, effects)
    for name in ("standard_error", "df", "p_value", "holm", "low", "high"):
        assert np.isnan(getattr(found, name)).all(), name
    n_rated = 2 if np.isfinite(z).any() else 0
    assert rank_intervals(found).worst.tolist() == [n_rated] * 2


def test_one_source_of_all_as_of_live_chats_is_the_same_as_none():
    z = np.random.default_rng(1).normal(size=20)
    worker, system = np.indices((10, 2)).reshape(2, -1)
    found, expected = (compare_clustered(z, system, worker, np.full(20, source), 2) for source in (0, UNKNOWN))
    assert found.p_value[0, 1] == expected.p_value[0, 1] and not np.isnan(found.p_value[0, 1])


def test_rank_intervals_follow_from_corrected_p_values():
    n = 4
    difference = np.array([3.0, 2.0, 1.0, 0.0])[:, None] - np.array([3.0, 2.0, 1.0, 0.0])[None, :]
    holm = np.full((n, n), 0.5)
    for i, j in ((0, 2), (0, 3), (1, 3)):
        holm[i, j] = holm[j, i] = 0.01
    np.fill_diagonal(holm, np.nan)
    other = np.full((n, n), np.nan)
    found = rank_intervals(
        Comparison(difference, other, other, other, holm, other, other, np.ones((n, n), int), np.ones((n, n), bool))
    )
    assert found.best.tolist() == [1, 1, 2, 3]
    assert found.worst.tolist() == [2, 3, 4, 4]


def test_equal_systems_are_rarely_found_to_differ_and_different_ones_are():
    """Workers like some systems more and share outputs; the full measurement is benchmarks/error_rates.py."""
    rng = np.random.default_rng(4)
    n_workers, n_sources, n_systems, n_each = 16, 30, 4, 40
    worker = np.repeat(np.arange(n_workers), n_each)
    wrong, right, covered = [], [], []
    for _ in range(60):
        output = rng.normal(0, 0.5, (n_sources, n_systems)) + rng.normal(0, 0.5, (n_sources, 1))
        liking = rng.normal(0, 0.3, (n_workers, n_systems))
        items = np.concatenate([rng.choice(output.size, n_each, replace=False) for _ in range(n_workers)])
        source, system = np.divmod(items, n_systems)
        z = output[source, system] + liking[worker, system] + rng.normal(0, 1, items.size)
        found = compare_clustered(z, system, worker, source, n_systems)
        wrong.append(np.nanmean(found.p_value[~np.eye(n_systems, dtype=bool)] < 0.05))
        ranks = rank_intervals(found)
        covered.append((ranks.best == 1).all() and (ranks.worst == n_systems).all())
        right.append(compare_clustered(z + (system == 0), system, worker, source, n_systems).p_value[0, 1:] < 0.05)
    assert 0.02 < np.mean(wrong) < 0.08
    assert np.mean(covered) >= 0.88
    assert np.mean(right) > 0.9
