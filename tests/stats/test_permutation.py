"""Exchanging the labels of two systems within sources: every exchange written out, the paired t test, and refusals."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from analysis.stats import permutation
from analysis.stats.inference import TooLargeError
from analysis.stats.permutation import compare_permuted

N_SYSTEMS = 3


def ratings(rng: np.random.Generator, n_sources: int = 6, n: int = 90):
    worker, source, system = rng.integers(0, 5, n), rng.integers(0, n_sources, n), rng.integers(0, N_SYSTEMS, n)
    z = rng.normal(0, 1, n) + rng.normal(0, 1, n_sources)[source] + 0.4 * (system == 0) + 3.0 * (system == 2)
    return z, system, worker, source


def statistic(z, is_first, worker, source):
    """The difference by least squares with an effect of each source, and its two-way sandwich error; dense."""
    groups = np.eye(source.max() + 1)[source]
    demean = np.eye(z.size) - groups @ np.linalg.pinv(groups)
    lever = demean @ is_first
    difference = lever @ z / (lever @ lever)
    score = lever * (demean @ z - difference * lever)
    raw, corrected = [], []
    for cluster in (worker, source, worker * 100 + source):
        sums = np.array([score[cluster == each].sum() for each in np.unique(cluster)])
        raw.append((sums**2).sum())
        corrected.append(raw[-1] * sums.size / (sums.size - 1))
    variance = corrected[0] + corrected[1] - corrected[2]
    return difference, np.sqrt(variance if variance > 0 else max(raw[:2])) / (lever @ lever)


def test_every_exchange_is_counted():
    z, system, worker, source = ratings(np.random.default_rng(3))
    found = compare_permuted(z, system, worker, source, N_SYSTEMS, np.random.default_rng(0))
    own = system < 2
    z, system, worker, source = z[own], system[own], worker[own], source[own]
    t = []
    for swapped in product([False, True], repeat=6):
        is_first = (system == 0) ^ np.array(swapped)[source]
        difference, error = statistic(z, is_first.astype(float), worker, source)
        t.append(difference / error)
    difference, error = statistic(z, (system == 0).astype(float), worker, source)
    assert found.difference[0, 1] == pytest.approx(difference)
    assert found.standard_error[0, 1] == pytest.approx(error)
    assert found.p_value[0, 1] == pytest.approx(np.mean(np.array(t) >= t[0] - 1e-9))
    assert found.p_value[1, 0] == pytest.approx(np.mean(np.array(t) <= t[0] + 1e-9))
    assert found.difference[1, 0] == -found.difference[0, 1]


def test_without_sources_labels_are_exchanged_within_workers():
    """The t of signs that are turned is about Student's for normal differences."""
    rng = np.random.default_rng(8)
    pairs = rng.normal(0, 1, (40, 2)) + np.array([0.35, 0])
    system, worker = np.tile([0, 1], 40), np.repeat(np.arange(40), 2)
    found = compare_permuted(pairs.ravel(), system, worker, np.full(80, -1), 2, rng, n_flips=20_000)
    expected = stats.ttest_rel(pairs[:, 0], pairs[:, 1], alternative="greater")
    assert found.standard_error[0, 1] == pytest.approx(stats.sem(pairs[:, 0] - pairs[:, 1]))
    assert found.p_value[0, 1] == pytest.approx(expected.pvalue, abs=0.015)


def test_the_interval_leaves_out_zero_where_p_is_at_most_five_per_cent():
    rng = np.random.default_rng(5)
    found = [
        compare_permuted(*(ratings(rng, n_sources, 60)), N_SYSTEMS, rng, n_flips=199) for n_sources in (8, 20) * 10
    ]
    out = np.array([(each.low[0, 1] > 0) | (each.high[0, 1] < 0) for each in found])
    two_sided = np.array([2 * min(each.p_value[0, 1], each.p_value[1, 0]) for each in found])
    assert 0 < out.sum() < out.size
    assert (two_sided[out] < 0.1).all()
    assert (two_sided[~out] > 0.025).all()


def test_equal_systems_are_rarely_found_to_differ_whatever_the_others_are():
    rng = np.random.default_rng(6)
    wrong = []
    for _ in range(150):
        z, system, worker, source = ratings(rng, 12, 120)
        found = compare_permuted(z - 0.4 * (system == 0), system, worker, source, N_SYSTEMS, rng, n_flips=99)
        wrong += [found.p_value[0, 1] <= 0.05, found.p_value[1, 0] <= 0.05]
    assert 0.02 < np.mean(wrong) < 0.09


def test_what_cannot_be_compared_is_undefined():
    rng = np.random.default_rng(1)
    z, system, worker, source = ratings(rng)
    for found in (
        compare_permuted(z[:0], system[:0], worker[:0], source[:0], N_SYSTEMS, rng),
        compare_permuted(z, system, worker, system, N_SYSTEMS, rng),  # each on a source of its own
        compare_permuted(np.zeros(z.size), system, worker, source, N_SYSTEMS, rng),
    ):
        assert np.isnan(found.p_value).all()
        assert np.isnan(found.holm).all()


def test_too_much_work_is_refused(monkeypatch):
    monkeypatch.setattr(permutation, "MOST_WORK", 1000)
    with pytest.raises(TooLargeError, match="exchanged ratings"):
        compare_permuted(*ratings(np.random.default_rng(1)), N_SYSTEMS, np.random.default_rng(1))
