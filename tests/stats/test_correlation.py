"""Agreement of two runs."""

import numpy as np
import pytest

from analysis.stats.correlation import correlate, share_same_conclusions


def test_agreement_is_undefined_not_perfect_when_a_run_gives_every_system_the_same_score():
    result = correlate(np.array([1.0, 1.0, 1.0]), np.array([1.0, 2.0, 3.0]))
    assert np.isnan([result.pearson, result.spearman, result.kendall]).all()
    assert np.isnan(correlate(np.array([1.0]), np.array([2.0])).pearson)


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
