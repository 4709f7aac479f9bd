"""Shares: published exact intervals, McNemar's test of the airways, and SciPy's binomial test."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binomtest

from analysis.stats.shares import binomial_p, exact_interval, mcnemar_test


def test_exact_intervals_of_newcombes_table():
    # Newcombe 1998 (Statistics in Medicine 17), Table I, method 5: 81/263, 15/148, 0/20, 1/29.
    low, high = exact_interval(np.array([81, 15, 0, 1]), np.array([263, 148, 20, 29]))
    assert low.round(4).tolist() == [0.2527, 0.0578, 0, 0.0009]
    assert high.round(4).tolist() == [0.3676, 0.1617, 0.1684, 0.1776]


def test_exact_intervals_are_scipys_and_undefined_without_answers():
    count, n = np.array([[3, 7], [0, 0]]), np.array([[7, 7], [4, 0]])
    low, high = exact_interval(count, n)
    for place in [(0, 0), (0, 1), (1, 0)]:
        expected = binomtest(int(count[place]), int(n[place])).proportion_ci(0.95, "exact")
        assert (low[place], high[place]) == pytest.approx((expected.low, expected.high))
    assert np.isnan([low[1, 1], high[1, 1], binomial_p(0, 0, 0.5)]).all()


def test_mcnemars_test_of_airways_before_and_after():
    # Bentur et al. 2009 in Fagerland, Lydersen & Laake 2013, Table 1: 21 children, 1 and 7 discordant; exact p = 0.070.
    before = np.repeat([True, True, False, False], [1, 1, 7, 12])
    after = np.repeat([True, False, True, False], [1, 1, 7, 12])
    system, judgement = np.repeat([0, 1], 21), np.tile(np.arange(21), 2)
    found = mcnemar_test(system, judgement, np.concatenate([before, after]), 2)
    assert (found.only[0, 1], found.only[1, 0], found.n_shared[0, 1]) == (1, 7, 21)
    assert round(float(found.p_value[0, 1]), 3) == 0.070


def test_mcnemars_test_of_many_systems_is_that_of_each_pair_counted_slowly():
    rng = np.random.default_rng(9)
    rows = [(s, j) for j in range(40) for s in range(4) if rng.random() < 0.7]
    system, judgement = (np.array(each) for each in zip(*rows, strict=True))
    is_good = rng.random(system.size) < 0.3 + 0.15 * system
    found = mcnemar_test(system, judgement, is_good, 5)
    for a, b in combinations(range(4), 2):
        of = [dict(zip(judgement[system == s], is_good[system == s], strict=True)) for s in (a, b)]
        shared = of[0].keys() & of[1].keys()
        one, other = (sum(x[j] and not y[j] for j in shared) for x, y in (of, of[::-1]))
        assert (found.n_shared[a, b], found.only[a, b], found.only[b, a]) == (len(shared), one, other)
        assert found.p_value[a, b] == found.p_value[b, a] == pytest.approx(binomtest(int(one), int(one + other)).pvalue)
        assert found.holm[a, b] >= found.p_value[a, b]
    assert np.isnan(found.p_value[4]).all() and np.isnan(np.diag(found.p_value)).all()
