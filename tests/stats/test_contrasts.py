"""Contrasts between groups of chats, against least squares with dummies and Student's paired t."""

import numpy as np
import pytest
from scipy.stats import ttest_rel

from analysis.stats.contrasts import contrast


def test_one_chat_of_either_group_by_each_worker_is_the_paired_t_test():
    rng = np.random.default_rng(3)
    first, second = rng.normal(size=(2, 9))
    found = contrast(np.r_[first, second], np.repeat([0, 1], 9), np.zeros(18, int), np.tile(np.arange(9), 2), 2)
    expected = ttest_rel(second, first).confidence_interval()
    assert found.difference[1] == pytest.approx(second.mean() - first.mean())
    assert (found.low[1], found.high[1]) == pytest.approx((expected.low, expected.high))
    assert found.n.tolist() == [9, 9] and np.isnan(found.difference[0])


def test_groups_are_compared_within_blocks():
    rng = np.random.default_rng(4)
    group, block, worker = rng.integers(-1, 3, 200), rng.integers(0, 4, 200), rng.integers(0, 20, 200)
    z = rng.normal(size=200) + block * 2.0 + 0.5 * (group == 1)
    z[:5] = np.nan
    found = contrast(z, group, block, worker, 3)
    for other in (1, 2):
        rows = np.isin(group, (0, other)) & ~np.isnan(z)
        dummies = np.column_stack([group[rows] == other, block[rows][:, None] == np.arange(4)]).astype(float)
        assert found.difference[other] == pytest.approx(np.linalg.lstsq(dummies, z[rows], rcond=None)[0][0])
        assert found.low[other] < found.difference[other] < found.high[other]
    assert found.mean[0] == pytest.approx(z[(group == 0) & ~np.isnan(z)].mean())


def test_what_cannot_be_compared_is_undefined():
    apart = contrast(np.array([1.0, 2.0, 3.0]), np.array([0, 0, 1]), np.array([0, 0, 1]), np.arange(3), 2)
    assert np.isnan(apart.difference).all() and apart.n.tolist() == [2, 1]
    alone = contrast(np.array([1.0, 2.0]), np.array([0, 1]), np.zeros(2, int), np.zeros(2, int), 2)
    assert alone.difference[1] == 1.0 and np.isnan(alone.low[1])
    nobody = contrast(np.empty(0), np.empty(0, int), np.empty(0, int), np.empty(0, int), 2)
    assert np.isnan(nobody.mean).all()
