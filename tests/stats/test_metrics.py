"""Meta-evaluation of metrics: published examples, brute force for small n, invariances."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import permutation_test

from analysis.stats.correlation import correlate
from analysis.stats.metrics import (
    calibrate_ties,
    draw_swaps,
    pairwise_accuracy,
    permutation_p_values,
    soft_pairwise_accuracy,
    williams_test,
)

_ = np.nan
cells = st.sampled_from([np.nan, 0.0, 0.25, 1.0, 1.5, 4.0])
tables = st.tuples(st.integers(1, 4), st.integers(1, 4)).flatmap(
    lambda shape: st.tuples(
        *[st.lists(st.lists(cells, min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0])] * 2
    )
)


def slow_accuracy(human, metric, threshold):
    """Mean over sources of the share of right pairs, pair by pair."""
    shares = []
    for of_human, of_metric in zip(human, metric, strict=True):
        pairs = list(combinations([s for s in zip(of_human, of_metric, strict=True) if not np.isnan(s).any()], 2))
        if pairs:
            right = 0
            for (h1, m1), (h2, m2) in pairs:
                sign = 0 if abs(m1 - m2) <= threshold else np.sign(m1 - m2)
                right += sign == np.sign(h1 - h2)
            shares.append(right / len(pairs))
    return np.mean(shares) if shares else np.nan


def test_pairwise_accuracy_counts_pairs_and_is_undefined_below_two_systems():
    human, metric = np.array([1.0, 2, 2, 3, 4]), np.array([2, 1, 1.5, 5, 3])
    assert pairwise_accuracy(human, metric) == 0.6
    assert pairwise_accuracy(-human, -metric) == pairwise_accuracy(metric, human) == 0.6
    assert pairwise_accuracy(np.array([1.0, 1.0]), np.array([5.0, 5.0])) == 1
    assert pairwise_accuracy(np.append(human, np.nan), np.append(metric, 9)) == 0.6
    assert all(np.isnan(pairwise_accuracy(human[:n], metric[:n])) for n in (0, 1))


@pytest.mark.parametrize(
    ("human", "metric", "accuracy", "threshold"),
    [
        # Deutsch, Foster & Freitag 2023
        ([[1, 2, 2, 3, 4]], [[2, 1, 1.5, 5, 3]], 0.7, 0.5),
        # The tests of the authors' implementation
        ([[1, 2, 3, 4]], [[0, 2, 6, 8]], 1, 0),
        ([[1, 1, 1, 4]], [[0, 2, 6, 8]], 4 / 6, 4),
        (
            [[1, 5, 2, 1, 1], [4, 2, 2, 1, 4], [5, 9, 2, 8, 7], [7, 6, _, 3, 2], [_] * 5],
            [[0, 5, 2, 3, 2], [_, 2, 1, 5, 3], [9, 1, 5, 3, 8], [9, 3, 4, 4, 1], [_] * 5],
            0.4916666666666668,
            1,
        ),
    ],
)
def test_accuracy_with_calibrated_ties_is_the_published_one(human, metric, accuracy, threshold):
    found = calibrate_ties(np.array(human, float), np.array(metric, float))
    assert (found.accuracy, found.threshold) == (pytest.approx(accuracy, abs=1e-12), threshold)


@settings(max_examples=60)
@given(tables)
def test_no_threshold_is_better_than_the_calibrated_one(pair):
    human, metric = (np.array(table) for table in pair)
    found = calibrate_ties(human, metric)
    gaps = {0.0} | {abs(a - b) for row in metric.tolist() for a, b in combinations(row, 2) if not np.isnan(a - b)}
    tried = {threshold: slow_accuracy(human, metric, threshold) for threshold in sorted(gaps)}
    assert found.accuracy == pytest.approx(max(tried.values()), nan_ok=True)
    if not np.isnan(found.accuracy):
        assert found.threshold == min(gap for gap, value in tried.items() if value == pytest.approx(found.accuracy))


def test_calibration_without_two_segments_of_a_source_is_undefined_and_of_equal_ones_right():
    for table in (np.empty((0, 3)), np.ones((3, 1)), np.array([[1, _, _], [_, 2, _]])):
        found = calibrate_ties(table, table)
        assert np.isnan([found.accuracy, found.threshold]).all()
    same = np.ones((2, 3))
    assert vars(calibrate_ties(same, same)) == {"accuracy": 1, "threshold": 0}
    # People never tie: no threshold helps, so the least is taken
    assert calibrate_ties(np.array([[1.0, 2, 3]]), np.array([[5.0, 5, 5]])).threshold == 0


@pytest.mark.parametrize("is_missing", [False, True])
def test_p_values_of_few_segments_are_exact(is_missing):
    scores = np.random.default_rng(1).integers(0, 4, (7, 4)).astype(float)
    if is_missing:
        scores[[0, 3, 5], [1, 1, 2]] = np.nan
    p = permutation_p_values(scores, draw_swaps(7, np.random.default_rng(2)))
    for i, j in combinations(range(4), 2):
        both = scores[~np.isnan(scores[:, [i, j]]).any(axis=1)][:, [i, j]]
        difference = both[:, 0] - both[:, 1]
        swapped = [np.dot(signs, difference) for signs in product((1, -1), repeat=difference.size)]
        assert p[i, j] == pytest.approx(np.mean(np.array(swapped) >= difference.sum()))
        assert p[j, i] == pytest.approx(np.mean(np.array(swapped) <= difference.sum()))
    assert np.isnan(np.diag(p)).all()


def test_p_value_of_the_published_example():
    """The example of the documentation of the WMT metrics task's program: ten exchanges, one of them as great."""
    signs = ["++---", "+-+-+", "+-++-", "-+--+", "+++-+", "-+-+-", "+++++", "+-+-+", "++--+", "-+---"]
    swaps = np.array([[1 if sign == "+" else -1 for sign in row] for row in signs], np.int8)
    scores = np.array([[0.8, 0.9, 0.7, 1.0, 0.6], [0.2, 0.3, 0.1, 0.4, 0.0]]).T
    assert permutation_p_values(scores, swaps)[0, 1] == pytest.approx(0.1)


def slow_soft_accuracy(human, metric):
    """1 − mean |p_human − p_metric|, p of every pair by all exchanges of its two systems' segments, one by one."""
    distances = []
    for i, j in combinations(range(human.shape[1]), 2):
        p = []
        for scores in (human, metric):
            difference = scores[:, i] - scores[:, j]
            totals = [np.dot(signs, difference) for signs in product((1, -1), repeat=difference.size)]
            p.append(np.mean([total >= difference.sum() - 1e-9 for total in totals]))
        distances.append(abs(p[0] - p[1]))
    return 1 - np.mean(distances)


@pytest.mark.parametrize("seed", range(5))
def test_soft_pairwise_accuracy_is_that_of_every_exchange(seed):
    rng = np.random.default_rng(seed)
    human, metric = rng.integers(0, 5, (8, 4)).astype(float), rng.integers(0, 5, (8, 4)).astype(float)
    swaps = draw_swaps(8, rng)
    found = soft_pairwise_accuracy(*(permutation_p_values(each, swaps) for each in (human, metric)))
    assert found == pytest.approx(slow_soft_accuracy(human, metric))


def test_the_example_s_kendall_is_tau_b():
    human, metric = np.array([1.0, 2, 2, 3, 4]), np.array([2, 1, 1.5, 5, 3])
    assert round(correlate(human, metric).kendall, 4) == 0.3162


def test_p_values_of_many_segments_are_scipys_but_for_chance():
    rng = np.random.default_rng(3)
    scores = rng.normal([0.0, 0.1, 0.2], 1, (60, 3))
    p = permutation_p_values(scores, draw_swaps(60, rng, 4000))
    for i, j in combinations(range(3), 2):
        test = permutation_test(
            (scores[:, i], scores[:, j]), lambda x, y, axis: np.mean(x - y, axis=axis), permutation_type="samples",
            alternative="greater", n_resamples=4000, rng=rng, vectorized=True,
        )  # fmt: skip
        assert p[i, j] == pytest.approx(test.pvalue, abs=0.04)


def test_p_values_with_a_missing_segment_are_those_of_the_others(monkeypatch):
    monkeypatch.setattr("analysis.stats.metrics._SEGMENTS_AT_ONCE", 7)
    scores = np.random.default_rng(4).normal(size=(30, 3))
    swaps = draw_swaps(30, np.random.default_rng(5))
    whole = permutation_p_values(scores, swaps)
    scores[4] = np.nan
    assert permutation_p_values(scores, swaps) == pytest.approx(
        permutation_p_values(np.delete(scores, 4, axis=0), np.delete(swaps, 4, axis=1)), nan_ok=True
    )
    assert permutation_p_values(scores[:, :0], swaps).shape == (0, 0)
    assert np.isnan(permutation_p_values(np.array([[1.0, np.nan], [np.nan, 2.0]]), swaps[:, :2])).all()
    assert (permutation_p_values(np.full((30, 2), 0.1), swaps)[[0, 1], [1, 0]] == 1).all()
    assert whole.shape == (3, 3)


def test_soft_pairwise_accuracy_is_one_for_the_same_scores_and_near_zero_for_the_opposite():
    scores = np.random.default_rng(6).normal([0.0, 1.0, 2.0], 0.5, (50, 3))
    swaps = draw_swaps(50, np.random.default_rng(7))
    people, same, opposite = (permutation_p_values(each, swaps) for each in (scores, 3 * scores + 1, -scores))
    assert soft_pairwise_accuracy(people, same) == 1
    assert soft_pairwise_accuracy(people, opposite) < 0.01
    above = np.triu_indices(3, 1)
    other = permutation_p_values(scores[:, [1, 0, 2]], swaps)
    assert soft_pairwise_accuracy(people, other) == pytest.approx(1 - np.mean(np.abs(people - other)[above]))
    people[0, 1] = np.nan
    assert soft_pairwise_accuracy(people, same) == 1
    assert np.isnan(soft_pairwise_accuracy(people[:1, :1], same[:1, :1]))


def test_williams_test_is_symmetric_and_undefined_where_nothing_can_be_compared():
    assert williams_test(0.8, 0.8, 0.3, 20) == 0.5
    assert williams_test(0.9, 0.5, 0.4, 20) == pytest.approx(1 - williams_test(0.5, 0.9, 0.4, 20))
    assert williams_test(0.9, 0.5, 0.6, 20) < williams_test(0.9, 0.5, 0.4, 20) < 0.05
    for undefined in ((0.9, 0.5, 0.4, 3), (np.nan, 0.5, 0.4, 20), (0.7, 0.7, 1.0, 20), (0.7, 0.7, np.nan, 20)):
        assert np.isnan(williams_test(*undefined))
