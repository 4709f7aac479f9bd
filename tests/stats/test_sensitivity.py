"""System scores computed otherwise: each against the whole analysis run again."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.stats.pipeline import analyse
from analysis.stats.scores import Unit, reverse_negative
from analysis.stats.sensitivity import (
    Scored,
    compare_rankings,
    score_by_alpha,
    score_by_length,
    score_without_each,
)
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


def scored(ratings, how, found):
    scores = reverse_negative(ratings.scores, how.is_negative)
    return Scored(ratings, scores, found.twin, found.standardisation, how.unit)


def test_leaving_out_each_worker_is_excluding_them(study):
    ratings, how, found = study
    kept = np.flatnonzero(found.is_kept)
    assert kept.size > 3
    again = [analyse(ratings, replace(how, excluded=(*how.excluded, int(code)))).systems.z for code in kept]
    np.testing.assert_allclose(score_without_each(scored(ratings, how, found), found.is_kept), again, atol=1e-9)


def test_a_system_that_one_worker_rated_has_no_score_without_them(study):
    ratings, how, _ = study
    only = ratings.system.copy()
    only[(ratings.worker != 0) & (only == 2)] = 1
    ratings = replace(ratings, system=only)
    how = replace(how, preset="none", excluded=())
    found = analyse(ratings, how)
    z = score_without_each(scored(ratings, how, found), found.is_kept)
    assert np.isnan(z[0, 2]) and not np.isnan(z[1:]).any()


def test_each_alpha_is_an_analysis_with_it(study):
    ratings, how, found = study
    alphas = (0.001, 0.1, 0.4, 0.9)
    is_excluded = np.isin(np.arange(ratings.n_workers), how.excluded)
    by_alpha = score_by_alpha(scored(ratings, how, found), found.workers.p_value, alphas, is_excluded)
    for alpha, n_workers, z in zip(alphas, by_alpha.n_workers, by_alpha.z, strict=True):
        again = analyse(ratings, replace(how, alpha=alpha))
        assert n_workers == np.count_nonzero(again.is_kept)
        np.testing.assert_array_equal(z, again.systems.z)


def test_items_of_short_texts_are_the_ratings_without_the_long_ones(study):
    ratings, how, found = study
    n_words = np.arange(20) % 7 + 1.0
    n_words[3] = np.nan
    counts, z = score_by_length(scored(ratings, how, found), found.is_kept, n_words, (2, 5, 50))
    for bound, of_bound in zip((2, 5, 50), z, strict=True):
        short = take(ratings, np.flatnonzero(n_words[ratings.source] <= bound))
        # The workers' μ and σ stay those of all their ratings.
        shorter = scored(short, how, analyse(short, how))
        again = replace(shorter, standardisation=found.standardisation).system_z(found.is_kept)
        np.testing.assert_allclose(of_bound, again, atol=1e-9)
    assert 0 < counts[0] < counts[1] < counts[2]


def test_a_ranking_survives_what_leaves_its_order():
    z = np.array([0.1, np.nan, 0.5, 0.1])
    others = np.array([[0.2, 9.0, 0.4, 0.3], [0.1, 0.0, 0.09, 0.1], [np.nan, 0.0, 0.5, 0.1]])
    found = compare_rankings(z, others)
    assert (found.n, found.n_same_order, found.n_same_best) == (2, 1, 1)  # equals may change places
    assert (found.largest_change, found.system) == (pytest.approx(0.41), 2)
    nothing = compare_rankings(np.array([np.nan]), np.zeros((2, 1)))
    assert np.isnan(nothing.largest_change) and nothing.system == -1
