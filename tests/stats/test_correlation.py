"""Agreement of two runs."""

import numpy as np
import pytest
from scipy.stats import pearsonr

from analysis.stats.correlation import (
    Correlation,
    bootstrap_correlations,
    compare_conclusions,
    correlate,
    correlation_bounds,
    pearson,
    share_same_conclusions,
)


def test_agreement_is_undefined_not_perfect_when_a_run_gives_every_system_the_same_score():
    result = correlate(np.array([1.0, 1.0, 1.0]), np.array([1.0, 2.0, 3.0]))
    assert np.isnan([result.pearson, result.spearman, result.kendall]).all()
    assert np.isnan(correlate(np.array([1.0]), np.array([2.0])).pearson)
    assert np.isnan(correlate(np.array([1.0, 2.0]), np.array([2.0, 3.0])).pearson)  # two are always in line


def test_r_alone_is_that_of_scipy_to_the_last_digit():
    rng = np.random.default_rng(6)
    for n in rng.integers(3, 40, 500):
        x = rng.normal(size=n)
        y = x + rng.normal(size=n)
        assert pearson(x, y) == float(pearsonr(x, y).statistic)


def test_intervals_of_r_are_those_of_scipy():
    rng = np.random.default_rng(5)
    for n in (4, 5, 12, 60):
        x = rng.normal(size=n)
        y = x + rng.normal(size=n)
        expected = pearsonr(x, y).confidence_interval()
        assert correlation_bounds(correlate(x, y), n).pearson == pytest.approx(tuple(expected))


def test_intervals_of_ranks_are_those_of_the_papers():
    # Bonett & Wright 2000: s² = (1 + ρ²/2)/(n − 3); Fieller, Hartley & Pearson 1957: s² = 0.437/(n − 4).
    found = correlation_bounds(Correlation(0.6, 0.6, 0.6), 40)
    half = 1.959964 * np.array([np.sqrt(1.18 / 37), np.sqrt(0.437 / 36)])
    assert found.spearman == pytest.approx(np.tanh(np.arctanh(0.6) + half[0] * np.array([-1, 1])))
    assert found.kendall == pytest.approx(np.tanh(np.arctanh(0.6) + half[1] * np.array([-1, 1])))


def test_intervals_of_few_systems_and_of_perfect_agreement_are_undefined():
    few = correlation_bounds(Correlation(0.5, 0.5, 0.5), 3)
    assert np.isnan([*few.pearson, *few.spearman, *few.kendall]).all()
    assert np.isnan(correlation_bounds(Correlation(0.5, 0.5, 0.5), 4).kendall).all()
    assert np.isnan(correlation_bounds(Correlation(1.0, 1.0, 1.0), 9).pearson).all()


def test_pairs_that_one_run_did_not_test_have_no_conclusion():
    tested, not_tested = np.array([[np.nan, 0.01], [0.99, np.nan]]), np.full((2, 2), np.nan)
    assert compare_conclusions(tested, not_tested, 0.05).n == 0
    same = compare_conclusions(tested, tested, 0.05)
    assert (same.n, same.same_direction, same.contradicted) == (1, 1, 0)


def test_a_system_without_a_score_in_one_run_is_left_out():
    with_gap = correlate(np.array([1.0, 2.0, np.nan, 3.0]), np.array([1.0, 3.0, 9.0, 2.0]))
    assert with_gap == correlate(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]))


def test_conclusions_are_compared_pair_by_pair_in_the_original_order():
    original = np.array([[np.nan, 0.01, 0.01], [0.9, np.nan, 0.2], [0.9, 0.8, np.nan]])
    replication = np.array([[np.nan, 0.03, 0.5], [0.9, np.nan, 0.3], [0.9, 0.01, np.nan]])
    assert share_same_conclusions(original, replication, [0, 1, 2], 0.05) == pytest.approx(2 / 3)
    # Only the direction that the original ranking gives counts: 2 beats 1 in the replication alone
    assert share_same_conclusions(original, replication, [0, 2, 1], 0.05) == pytest.approx(1 / 3)
    assert np.isnan(share_same_conclusions(original, replication, [0], 0.05))


def test_bootstrap_intervals_are_those_of_scipy_resample_by_resample():
    rng = np.random.default_rng(3)
    a = rng.integers(0, 6, 9).astype(float)
    b = a + rng.normal(0, 2, 9).round()
    low, high = bootstrap_correlations(a, b, np.random.default_rng(5), n_samples=300)
    draws = np.random.default_rng(5).integers(9, size=(300, 9))
    drawn = [correlate(a[rows], b[rows]) for rows in draws]
    for name in ("pearson", "spearman", "kendall"):
        expected = np.nanquantile([getattr(each, name) for each in drawn], [0.025, 0.975])
        assert [getattr(low, name), getattr(high, name)] == pytest.approx(expected.tolist()), name


def test_bootstrap_intervals_are_undefined_where_a_correlation_is():
    for a, b in (
        ([1.0, 2, 3], [1.0, 2, 3]),
        ([1.0, 1, 1, 1, 1], [1.0, 2, 3, 4, 5]),
        ([1.0, 2, 3, np.nan], [1.0, 2, 3, 4]),
    ):
        for end in bootstrap_correlations(np.array(a), np.array(b), np.random.default_rng(1)):
            assert np.isnan([end.pearson, end.spearman, end.kendall]).all()
