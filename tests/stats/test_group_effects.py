"""Systems in groups: exact tests where there are such, what must not matter, effects that are there, and nothing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from analysis.stats.group_effects import MOST_CELLS, compare_groups


def rated(rng: np.random.Generator, shape=(12, 18, 3), effect=0.0, of="source"):
    """Return values, systems, groups and clusters: everybody rates everything, the last system wins in one group."""
    worker, source, system = np.indices(shape).reshape(3, -1)
    group = (source if of == "source" else worker) % 2
    values = rng.normal(0, 1, shape[0])[worker] + rng.normal(0, 1, shape[1])[source] + rng.normal(0, 1, worker.size)
    return (
        values + effect * group * (system == shape[2] - 1),
        system,
        group,
        (shape[2], 2),
        {"worker": worker, "source": source},
    )


def test_of_groups_that_everybody_rates_it_is_hotellings_test_of_each_workers_contrasts():
    rng = np.random.default_rng(1)
    worker, system, group = np.indices((15, 3, 2)).reshape(3, -1)
    values = rng.normal(0, 1, worker.size)
    found = compare_groups(values, system, group, (3, 2), {"worker": worker})
    y = values.reshape(15, 3, 2)
    change = y[:, :, 1] - y[:, :, 0]
    contrasts = change[:, 1:] - change[:, :1]
    mean, covariance = contrasts.mean(axis=0), np.cov(contrasts.T)
    f = 15 * mean @ np.linalg.solve(covariance, mean) * (15 - 2) / (14 * 2)
    assert found.interaction == pytest.approx((stats.f.sf(f, 2, 13), f, 2, 13, False))
    paired = stats.ttest_1samp(y[:, 0, 1] - y[:, 1, 1], 0)
    interval = paired.confidence_interval()
    pair = found.pairs[0]
    assert (pair.low[1], pair.high[1]) == pytest.approx((interval.low, interval.high))
    np.testing.assert_allclose(found.mean, y.mean(axis=0))
    one = stats.ttest_1samp(y[:, 2, 0], 0).confidence_interval()
    assert (found.low[2, 0], found.high[2, 0]) == pytest.approx((one.low, one.high))


def test_of_two_systems_and_two_kinds_of_workers_it_is_welchs_test_of_their_differences():
    rng = np.random.default_rng(2)
    worker, system = np.indices((13, 2)).reshape(2, -1)
    group = (worker < 5).astype(int)
    values = rng.normal(0, 1 + 2 * group)
    found = compare_groups(values, system, group, (2, 2), {"worker": worker}).interaction
    difference = np.diff(values.reshape(13, 2)).ravel()
    welch = stats.ttest_ind(difference[:5], difference[5:], equal_var=False)
    assert (found.p_value, found.df_error) == pytest.approx((welch.pvalue, welch.df))


def test_the_covariance_is_the_sandwich_of_least_squares():
    rng = np.random.default_rng(3)
    values, system, group, shape, clusters = rated(rng, (9, 1, 2))
    group = rng.integers(0, 2, values.size)
    worker = clusters["worker"]
    found = compare_groups(values, system, group, shape, {"worker": worker})
    x = np.eye(4)[system * 2 + group]
    bread = np.linalg.inv(x.T @ x)
    residual = values - x @ bread @ x.T @ values
    sums = np.array([x[worker == each].T @ residual[worker == each] for each in range(9)])
    errors = np.sqrt(np.diag(bread @ sums.T @ sums @ bread))
    half = (found.high - found.low).ravel() / 2
    for k, error in enumerate(errors):
        n = np.bincount(worker, (system * 2 + group == k) * 1.0)
        m = n.sum() ** 2 / (n**2).sum()  # with as many answers of each in a cell, its clusters
        assert half[k] == pytest.approx(stats.t.isf(0.025, m - 1) * error * np.sqrt(m / (m - 1)))


def test_answers_are_averaged_by_output_and_by_part_before_they_are_averaged():
    values = np.array([0.0, 2, 4, 10, 10, 10, 20])
    output, part = np.array([0, 0, 1, 0, 0, 0, 1]), np.array([0, 0, 0, 1, 1, 1, 1])
    nothing = np.zeros(7, int)
    by_output = compare_groups(values[:3], nothing[:3], nothing[:3], (1, 1), {"o": output[:3]}, output=output[:3])
    assert (by_output.mean.item(), by_output.n.item()) == (2.5, 2)
    by_part = compare_groups(values, nothing, nothing, (1, 1), {"o": output}, output=output, part=part)
    assert by_part.mean.item() == (2.5 + 15) / 2
    without = compare_groups(values[:3], nothing[:3], nothing[:3], (1, 1), {"o": output[:3]}, part=np.array([0, 1, 1]))
    assert without.mean.item() == (0 + 3) / 2


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.sampled_from(["source", "worker"]), st.permutations(range(3)))
def test_neither_the_order_of_rows_nor_names_matter(seed, of, names):
    rng = np.random.default_rng(seed)
    values, system, group, shape, clusters = rated(rng, (6, 7, 3), effect=0.5, of=of)
    found = compare_groups(values, system, group, shape, clusters)
    rows = rng.permutation(values.size)[: values.size - 5]
    some = np.sort(rows)
    named = np.array(names)
    kept = compare_groups(
        values[some], system[some], group[some], shape, {name: code[some] for name, code in clusters.items()}
    )
    other = compare_groups(
        3 * values[rows] - 7,
        named[system[rows]],
        1 - group[rows],
        shape,
        {name: 40 - code[rows] for name, code in clusters.items()},
    )
    np.testing.assert_allclose(other.mean[named, ::-1], 3 * kept.mean - 7, atol=1e-9)
    np.testing.assert_allclose(other.low[named, ::-1], 3 * kept.low - 7, atol=1e-6)
    assert other.interaction == pytest.approx(kept.interaction, rel=1e-6, nan_ok=True)
    assert 0 <= found.interaction.p_value <= 1


@pytest.mark.parametrize("of", ["source", "worker"])
def test_an_effect_that_is_there_is_found_with_its_pairs_and_group(of):
    values, system, group, shape, clusters = rated(np.random.default_rng(8), effect=2.0, of=of)
    found = compare_groups(values, system, group, shape, clusters)
    assert found.interaction.p_value < 0.001
    by_pair = {pair.systems: pair for pair in found.pairs}
    assert by_pair[0, 1].p_holm > 0.05 > by_pair[0, 2].p_holm
    assert by_pair[0, 2].holm[0] > 0.05 > by_pair[0, 2].holm[1]
    assert by_pair[0, 2].high[1] < 0
    assert found.is_tested.all()


def test_with_few_clusters_for_many_systems_every_two_are_tested_by_themselves():
    values, system, group, shape, clusters = rated(np.random.default_rng(5), (8, 12, 7), effect=3.0)
    found = compare_groups(values, system, group, shape, clusters)
    assert found.interaction.is_by_pairs
    assert np.isnan(found.interaction.f)
    raw = [pair.p_value for pair in found.pairs]
    assert found.interaction.p_value == pytest.approx(min(raw) * 21)
    assert found.interaction.p_value < 0.05


def test_a_group_with_few_clusters_has_means_and_is_not_tested():
    values, system, group, _, clusters = rated(np.random.default_rng(6))
    group = np.where(clusters["source"] < 2, 2, group)
    found = compare_groups(values, system, group, (3, 3), clusters)
    assert found.is_tested.tolist() == [True, True, False]
    assert not np.isnan(found.mean).any()
    alone = group < 2
    others = {name: code[alone] for name, code in clusters.items()}
    without = compare_groups(values[alone], system[alone], group[alone], (3, 2), others)
    assert found.interaction.p_value == pytest.approx(without.interaction.p_value)


def test_a_system_without_answers_in_a_group_has_no_mean_there_and_the_others_are_tested():
    values, system, group, shape, clusters = rated(np.random.default_rng(7))
    there = ~((system == 0) & (group == 1))
    found = compare_groups(
        values[there], system[there], group[there], shape, {name: code[there] for name, code in clusters.items()}
    )
    assert np.isnan([found.mean[0, 1], found.low[0, 1]]).all()
    assert found.n[0, 1] == 0
    assert found.interaction.df == 1
    assert np.isnan(found.pairs[0].p_value)


@pytest.mark.parametrize(
    ("values", "group"),
    [(np.full(24, 0.1), np.arange(24) % 2), (np.arange(24.0), np.zeros(24, int)), (np.arange(24.0), np.full(24, -1))],
    ids=["equal", "one group", "no group"],
)
def test_where_nothing_varies_or_there_is_one_group_or_none_nothing_is_tested(values, group):
    worker, system = np.arange(24) // 4, np.arange(24) // 2 % 2
    found = compare_groups(values, system, group, (2, 2), {"worker": worker})
    assert np.isnan(found.interaction.p_value)
    assert found.mean.shape == (2, 2)


@pytest.mark.parametrize("n", [0, 1])
def test_no_answer_or_one_has_no_interval(n):
    code = np.zeros(n, int)
    found = compare_groups(np.ones(n), code, code, (1, 1), {"worker": code, "source": code})
    assert found.n.item() == n
    assert np.isnan(found.low).all()
    assert np.isnan(found.mean).all() == (n == 0)


def test_more_cells_than_covariances_are_computed_of_are_refused():
    code = np.zeros(1, int)
    with pytest.raises(ValueError, match="401 systems in 1 groups"):
        compare_groups(np.ones(1), code, code, (MOST_CELLS + 1, 1), {"worker": code})
