"""Standardised scores: by the formula, item by item."""

import numpy as np
import pytest

from analysis.stats.ratings import match_twins
from analysis.stats.scores import Unit, observe, reverse_negative, score_systems, standardise
from campaigns.design.composition import Kind
from tests.stats.crowd import crowd, ratings_of


def scored(ratings, unit=Unit.RATING, kept=None):
    kept = np.ones(ratings.n_workers, dtype=bool) if kept is None else np.asarray(kept)
    standardisation = standardise(ratings, ratings.scores)
    observations = observe(ratings, ratings.scores, standardisation, match_twins(ratings), is_kept=kept, unit=unit)
    return observations, score_systems(observations, ratings.n_systems)


def test_negative_criteria_are_reversed_and_the_rest_left_alone():
    scores = np.array([[10.0, 30.0], [np.nan, 100.0]])
    reversed_scores = reverse_negative(scores, np.array([True, False]))
    np.testing.assert_equal(reversed_scores, [[90.0, 30.0], [np.nan, 100.0]])


@pytest.mark.parametrize("n_criteria", [1, 4])
def test_mean_and_standard_deviation_pool_a_worker_s_criteria_and_kinds(n_criteria):
    ratings = crowd(2, n_criteria=n_criteria)
    ratings.scores[3, 0] = np.nan
    result = standardise(ratings, ratings.scores)
    for worker in range(ratings.n_workers):
        own = ratings.scores[ratings.worker == worker].ravel()
        own = own[~np.isnan(own)]
        assert result.mean[worker] == pytest.approx(own.mean())
        assert result.sd[worker] == pytest.approx(own.std(ddof=1))


def test_kinds_may_be_kept_out_of_the_standardisation():
    ratings = crowd(2)
    result = standardise(ratings, ratings.scores, [Kind.ORDINARY, Kind.REPEAT])
    own = ratings.scores[(ratings.worker == 1) & np.isin(ratings.kind, [Kind.ORDINARY, Kind.REPEAT])]
    assert result.sd[1] == pytest.approx(own.std(ddof=1))


def test_a_repeat_is_averaged_with_its_twin_and_degraded_and_reference_items_do_not_count():
    ratings = ratings_of(
        [
            (0, 0, 0, Kind.ORDINARY, 60),
            (0, 0, 0, Kind.REPEAT, 70),
            (0, 0, 1, Kind.ORDINARY, 40),
            (0, 0, 1, Kind.DEGRADED, 5),
            (0, 0, 1, Kind.REFERENCE, 95),
        ]
    )
    _, systems = scored(ratings)
    assert systems.raw[0] == pytest.approx((65 + 40) / 2)
    assert systems.n_ratings[0] == 3
    x = np.array([60, 70, 40, 5, 95.0])
    assert systems.z[0] == pytest.approx((52.5 - x.mean()) / (x.std(ddof=1) + 1e-6))


def test_a_repeat_whose_twin_was_not_rated_is_left_out_unless_outputs_are_the_unit():
    ratings = ratings_of([(0, 0, 0, Kind.ORDINARY, 60), (0, 0, 1, Kind.REPEAT, 90)])
    assert scored(ratings)[1].n_ratings[0] == 1
    assert scored(ratings, Unit.OUTPUT)[1].n_ratings[0] == 2


def test_output_unit_averages_all_kept_ratings_of_an_output_first():
    ratings = ratings_of(
        [
            (0, 0, 0, Kind.ORDINARY, 80),
            (0, 0, 0, Kind.REPEAT, 60),
            (1, 0, 0, Kind.ORDINARY, 40),
            (1, 0, 1, Kind.ORDINARY, 10),
            (2, 0, 1, Kind.ORDINARY, 99),
        ]
    )
    _, systems = scored(ratings, Unit.OUTPUT, kept=[True, True, False])
    assert systems.raw[0] == pytest.approx((60 + 10) / 2)
    assert systems.n_ratings[0] == 4


def test_units_agree_with_one_rating_per_output():
    rng = np.random.default_rng(0)
    ratings = ratings_of([(k % 4, k % 3, k, Kind.ORDINARY, s) for k, s in enumerate(rng.uniform(0, 100, 60))])
    by_rating, by_output = scored(ratings)[1], scored(ratings, Unit.OUTPUT)[1]
    np.testing.assert_allclose(by_rating.z, by_output.z, rtol=1e-12)


def test_items_of_unknown_source_are_outputs_of_their_own():
    ratings = ratings_of([(0, 0, -1, Kind.ORDINARY, 20), (0, 0, -1, Kind.ORDINARY, 60), (0, 1, -1, Kind.ORDINARY, 50)])
    observations, _ = scored(ratings, Unit.OUTPUT)
    assert observations.system.tolist().count(0) == 2


def test_overall_is_the_mean_of_criterion_scores_and_tests_only_see_complete_items():
    ratings = ratings_of(
        [
            (0, 0, 0, Kind.ORDINARY, [50, 70]),
            (0, 0, 1, Kind.ORDINARY, [30, np.nan]),
            (0, 0, 2, Kind.ORDINARY, [80, 90]),
        ]
    )
    observations, systems = scored(ratings)
    assert systems.raw[0] == pytest.approx(np.mean([(50 + 30 + 80) / 3, (70 + 90) / 2]))
    assert systems.n_ratings[0] == 5
    assert np.isnan(observations.overall_z).tolist() == [False, True, False]


def test_equal_scores_have_z_zero_exactly():
    ratings = ratings_of([(0, 0, k, Kind.ORDINARY, 33.3) for k in range(7)])
    observations, systems = scored(ratings)
    assert systems.z[0] == pytest.approx(0, abs=1e-6)
    assert np.ptp(observations.z) == 0


def test_workers_who_failed_do_not_count():
    ratings = crowd(4)
    _, systems = scored(ratings, kept=[False] * ratings.n_workers)
    assert np.isnan(systems.z).all()
    assert systems.n_ratings.tolist() == [0] * ratings.n_systems


@pytest.mark.parametrize("unit", Unit)
def test_items_with_equal_totals_tie_whatever_their_parts(unit):
    rng = np.random.default_rng(5)
    items = []
    for k in range(200):
        part = rng.integers(0, 58, 3)
        items.append((0, k % 4, k, Kind.ORDINARY, [part[0], part[1], 115 - part[0] - part[1]]))
    observations, systems = scored(ratings_of(items), unit)
    assert np.unique(observations.overall_z).size == 1
    np.testing.assert_allclose(systems.z, observations.overall_z[0], atol=1e-9)


def test_a_worker_without_spread_in_the_chosen_kinds_has_z_zero():
    ratings = ratings_of(
        [(0, 0, k, Kind.ORDINARY, 33.3) for k in range(3)]
        + [(0, 0, 0, Kind.REPEAT, 34.3)]
        + [(0, 0, k, Kind.DEGRADED, 5 * k) for k in range(3)]
    )
    standardisation = standardise(ratings, ratings.scores, [Kind.ORDINARY])
    assert (standardisation.z(ratings.scores, ratings.worker) == 0).all()
