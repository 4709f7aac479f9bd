"""System scores computed otherwise: each against the whole analysis run again."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.stats.pipeline import analyse, observe_by
from analysis.stats.scores import Unit, score_systems
from analysis.stats.sensitivity import compare_rankings, score_by_length, score_without_each
from tests.stats.crowd import crowd, design, take


@pytest.fixture(params=list(Unit), scope="module")
def study(request):
    """Ratings on two criteria, some missing and one negative, their design and their analysis."""
    ratings = crowd(4, n_workers=9, n_sources=20, n_criteria=2)
    missing = np.random.default_rng(4).random(ratings.scores.shape) < 0.1
    ratings = replace(ratings, scores=np.where(missing, np.nan, ratings.scores))
    criteria = {"is_negative": np.array([False, True]), "is_in_worker_test": np.array([True, False])}
    how = design(2, alpha=0.4, unit=request.param, excluded=(1,), **criteria)
    return ratings, how, analyse(ratings, how)


def test_leaving_out_each_worker_is_excluding_them(study):
    ratings, how, found = study
    kept = np.flatnonzero(found.is_kept)
    assert kept.size > 3
    again = [analyse(ratings, replace(how, excluded=(*how.excluded, int(code)))).systems.z for code in kept]
    np.testing.assert_allclose(score_without_each(ratings, how, found), again, atol=1e-9)


def test_a_system_that_one_worker_rated_has_no_score_without_them(study):
    ratings, how, _ = study
    only = ratings.system.copy()
    only[(ratings.worker != 0) & (only == 2)] = 1
    ratings = replace(ratings, system=only)
    how = replace(how, preset="none", excluded=())
    found = analyse(ratings, how)
    z = score_without_each(ratings, how, found)
    assert np.isnan(z[0, 2]) and not np.isnan(z[1:]).any()


def test_items_of_short_texts_are_the_ratings_without_the_long_ones(study):
    ratings, how, found = study
    n_words = np.arange(20) % 7 + 1.0
    n_words[3] = np.nan
    counts, z = score_by_length(ratings, how, found, n_words, (2, 5, 50))
    for bound, of_bound in zip((2, 5, 50), z, strict=True):
        short = take(ratings, np.flatnonzero(n_words[ratings.source] <= bound))
        # The workers' μ and σ stay those of all their ratings.
        shorter = replace(analyse(short, how), standardisation=found.standardisation, is_kept=found.is_kept)
        again = score_systems(observe_by(short, how, shorter), ratings.n_systems).z
        np.testing.assert_allclose(of_bound, again, atol=1e-9)
    n_all = counts.sum(axis=1)
    assert 0 < n_all[0] < n_all[1] < n_all[2]


def test_a_ranking_survives_what_leaves_its_order():
    z = np.array([0.1, np.nan, 0.5, 0.1])
    others = np.array([[0.2, 9.0, 0.4, 0.3], [0.1, 0.0, 0.09, 0.1], [np.nan, 0.0, 0.5, 0.1]])
    found = compare_rankings(z, others)
    assert (found.n, found.n_same_order, found.n_same_best) == (2, 1, 1)  # equals may change places
    assert (found.largest_change, found.system) == (pytest.approx(0.41), 2)
    nothing = compare_rankings(np.array([np.nan]), np.zeros((2, 1)))
    assert np.isnan(nothing.largest_change) and nothing.system == -1
