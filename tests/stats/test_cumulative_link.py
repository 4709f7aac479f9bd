"""Proportional odds: the cheeses of McCullagh & Nelder, clustered errors, and levels that separate systems."""

import numpy as np
import pytest

from analysis.stats.cumulative_link import fit_cumulative_link
from analysis.stats.pairs import variance_of_differences

# McCullagh & Nelder 1989, p. 175: how often each of four cheeses was given each of nine levels.
CHEESES = np.array(
    [
        [0, 0, 1, 7, 8, 8, 19, 8, 1],
        [6, 9, 12, 11, 7, 6, 1, 0, 0],
        [1, 1, 6, 8, 23, 7, 5, 1, 0],
        [0, 0, 0, 1, 3, 7, 14, 16, 11],
    ]
)


def ratings_of(counts):
    system, level = (codes.ravel() for codes in np.indices(counts.shape))
    return np.repeat(level, counts.ravel()), np.repeat(system, counts.ravel())


def test_the_cheeses_have_the_estimates_that_sas_prints():
    level, system = ratings_of(CHEESES)
    found = fit_cumulative_link(level, system, 4, {"rating": np.arange(level.size)})
    # SAS/STAT, PROC LOGISTIC, example "Ordinal Logistic Regression"; it models the lower levels, against cheese 4.
    assert (found.log_odds[3] - found.log_odds[:3]).round(4) == pytest.approx([1.6128, 4.9646, 3.3227], abs=1.1e-4)
    errors = np.sqrt(variance_of_differences(found.covariance))[3, :3]
    assert errors.round(4).tolist() == [0.3778, 0.4741, 0.4251]
    assert (found.threshold - found.log_odds[3]).round(2).tolist() == [
        *(-7.08, -6.02, -4.93, -3.86, -2.52, -1.57, -0.07, 1.49),
    ]


def test_ratings_that_are_given_twice_by_their_workers_have_the_errors_of_one():
    level, system = ratings_of(CHEESES)
    worker = np.arange(level.size)
    once = fit_cumulative_link(level, system, 4, {"worker": worker})
    twice = fit_cumulative_link(*(np.tile(codes, 2) for codes in (level, system)), 4, {"worker": np.tile(worker, 2)})
    assert twice.pairs.difference == pytest.approx(once.pairs.difference, abs=1e-6, nan_ok=True)
    assert twice.pairs.standard_error == pytest.approx(once.pairs.standard_error, rel=1e-5, nan_ok=True)
    assert once.pairs.p_value[0, 1] < 1e-6


def test_reversed_levels_have_reversed_odds_and_unused_levels_and_systems_do_not_matter():
    level, system = ratings_of(CHEESES)
    groups = {"worker": np.arange(level.size) % 30, "source": np.arange(level.size) % 17}
    found = fit_cumulative_link(level, system, 4, groups)
    other = fit_cumulative_link(20 - 2 * level, system + 1, 6, groups)
    assert other.log_odds == pytest.approx([np.nan, *-found.log_odds, np.nan], abs=1e-6, nan_ok=True)
    assert other.pairs.standard_error[1:5, 1:5] == pytest.approx(found.pairs.standard_error, rel=1e-5, nan_ok=True)


def test_errors_are_the_spread_of_estimates_of_simulated_workers():
    rng, estimates, errors = np.random.default_rng(1), [], []
    worker, system = np.repeat(np.arange(40), 20), np.tile(np.repeat([0, 1], 10), 40)
    for _ in range(150):
        taste = rng.normal(0, 1, (40, 2))
        latent = rng.logistic(size=worker.size) + 0.8 * system + taste[worker, system]
        level = np.digitize(latent, [-1.5, -0.3, 0.8, 2])
        found = fit_cumulative_link(level, system, 2, {"worker": worker})
        estimates.append(found.pairs.difference[1, 0])
        errors.append(found.pairs.standard_error[1, 0])
    assert np.mean(errors) == pytest.approx(np.std(estimates, ddof=1), rel=0.15)


@pytest.mark.parametrize(
    ("level", "system"),
    [([0, 0, 1, 2, 2, 3], [0, 0, 0, 1, 1, 1]), ([2, 2, 2], [0, 1, 0]), ([0, 1, 2], [0, 0, 0]), ([], [])],
)
def test_there_are_no_odds_without_levels_in_common(level, system):
    level, system = np.array(level, int), np.array(system, int)
    assert fit_cumulative_link(level, system, 2, {"worker": np.arange(level.size)}) is None
