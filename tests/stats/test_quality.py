"""Worker tests: who passes, who fails, who cannot be tested."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, ttest_rel, wilcoxon

from analysis.stats.quality import PRESETS, Verdict, run_worker_test
from analysis.stats.ratings import match_twins
from analysis.stats.scores import rescale, reverse_negative
from benchmarks.worker_tests import ALIKE, ONE_IN_FOUR_UNSEEN, WORLDS, measure_gaps, passing
from campaigns.design.composition import Kind
from campaigns.design.worker_test import NO_TEST
from tests.stats.crowd import crowd, ratings_of

TESTS = [preset for preset in PRESETS if preset != NO_TEST]


def judge(ratings, preset, alpha=0.05, criteria=None):
    criteria = np.ones(ratings.n_criteria, dtype=bool) if criteria is None else criteria
    return run_worker_test(ratings, ratings.scores, match_twins(ratings), preset=preset, alpha=alpha, criteria=criteria)


def pairs_of(ratings, worker):
    """The worker's (degraded, ordinary) scores, twin by twin, found the slow way."""
    found = []
    for k in range(ratings.n_items):
        if ratings.worker[k] == worker and ratings.kind[k] == Kind.DEGRADED:
            for j in range(ratings.n_items):
                same = all(
                    getattr(ratings, name)[j] == getattr(ratings, name)[k]
                    for name in ("assignment", "source", "system")
                )
                if same and ratings.kind[j] == Kind.ORDINARY:
                    found += list(zip(ratings.scores[k], ratings.scores[j], strict=True))
                    break
    return np.array(found)


@pytest.mark.parametrize("n_criteria", [1, 3])
@pytest.mark.parametrize(
    ("preset", "reference"),
    [
        ("paired-wilcoxon", lambda d, o: wilcoxon(d, o, alternative="less").pvalue),
        ("paired-t", lambda d, o: ttest_rel(d, o, alternative="less").pvalue),
    ],
)
def test_paired_presets_pool_the_worker_s_twin_pairs_over_criteria(preset, reference, n_criteria):
    ratings = crowd(3, n_criteria=n_criteria)
    result = judge(ratings, preset)
    for worker in range(ratings.n_workers):
        pairs = pairs_of(ratings, worker)
        assert result.n_compared[worker] == len(pairs)
        assert result.p_value[worker] == pytest.approx(reference(pairs[:, 0], pairs[:, 1]), rel=1e-9)


def test_unpaired_preset_compares_degraded_with_ordinary_ratings_on_the_chosen_criteria():
    ratings = crowd(5, n_criteria=3)
    chosen = np.array([True, False, True])
    result = judge(ratings, "unpaired-ranksum", criteria=chosen)
    for worker in range(ratings.n_workers):
        own = ratings.worker == worker
        degraded = ratings.scores[own & (ratings.kind == Kind.DEGRADED)][:, chosen].ravel()
        ordinary = ratings.scores[own & (ratings.kind == Kind.ORDINARY)][:, chosen].ravel()
        expected = mannwhitneyu(degraded, ordinary, alternative="less", method="auto").pvalue
        assert result.p_value[worker] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("preset", TESTS)
def test_ratings_on_another_scale_get_the_p_values_of_the_scores_as_given(preset):
    ratings, is_negative = crowd(2, n_workers=20, n_criteria=2), np.array([True, False])
    given = 1 + (ratings.scores * 0.06).round()  # from 1 to 7, with many ties
    mapped = reverse_negative(rescale(given, 1, 7), is_negative)
    on_own_scale = np.where(is_negative, 8 - given, given)
    found, expected = (judge(replace(ratings, scores=scores), preset) for scores in (mapped, on_own_scale))
    assert found.p_value == pytest.approx(expected.p_value, rel=1e-9)


@pytest.mark.parametrize("preset", TESTS)
def test_verdicts_follow_alpha(preset):
    ratings = crowd(1, n_workers=20)
    result = judge(ratings, preset)
    for alpha in (0.001, 0.02, 0.3):
        passed = judge(ratings, preset, alpha=alpha).is_passed
        assert (passed == (result.p_value < alpha)).all()


def hit(worker, degraded, ordinary):
    items = []
    for source, (low, high) in enumerate(zip(degraded, ordinary, strict=True)):
        items += [(worker, 0, source, Kind.DEGRADED, low), (worker, 0, source, Kind.ORDINARY, high)]
    return items


@pytest.mark.parametrize("preset", TESTS)
def test_a_worker_whose_ratings_are_all_equal_fails(preset):
    result = judge(ratings_of(hit(0, [50] * 12, [50] * 12)), preset)
    assert result.p_value[0] == 1.0
    assert result.verdict[0] == Verdict.FAILED


@pytest.mark.parametrize("preset", ["paired-wilcoxon", "paired-t"])
def test_a_worker_whose_twins_all_differ_by_zero_fails(preset):
    scores = np.arange(12.0)
    result = judge(ratings_of(hit(0, scores, scores)), preset)
    assert result.p_value[0] == 1.0


@pytest.mark.parametrize("preset", TESTS)
def test_a_worker_without_quality_control_items_is_untested_not_failed(preset):
    careful = hit(0, np.arange(12.0), np.arange(12.0) + 40)
    ratings = ratings_of([*careful, (1, 0, 99, Kind.ORDINARY, 30), (1, 0, 98, Kind.REPEAT, 30)])
    result = judge(ratings, preset)
    assert result.verdict.tolist() == [Verdict.PASSED, Verdict.UNTESTED]
    assert np.isnan(result.p_value[1])


def test_a_degraded_item_whose_twin_was_not_rated_is_left_out_of_paired_tests():
    ratings = ratings_of([*hit(0, np.arange(6.0), np.arange(6.0) + 9), (0, 0, 77, Kind.DEGRADED, 100)])
    assert judge(ratings, "paired-wilcoxon").n_compared[0] == 6


def test_paired_t_gives_equal_differences_a_defined_answer():
    below = judge(ratings_of(hit(0, [0.1, 0.2, 0.3], [40.1, 40.2, 40.3])), "paired-t")
    above = judge(ratings_of(hit(0, [40.1, 40.2, 40.3], [0.1, 0.2, 0.3])), "paired-t")
    one = judge(ratings_of(hit(0, [1.0], [90.0])), "paired-t")
    assert (below.p_value[0], above.p_value[0], one.p_value[0]) == (0.0, 1.0, 1.0)


def test_without_a_test_every_worker_counts_and_nobody_is_untested():
    careless = hit(0, [50] * 12, [50] * 12)
    ratings = ratings_of([*careless, (1, 0, 99, Kind.ORDINARY, 30)], n_workers=3)
    result = judge(ratings, NO_TEST)
    assert result.verdict.tolist() == [Verdict.TRUSTED] * 3
    assert np.isnan(result.p_value).all() and not result.n_compared.any()
    assert result.counts.all() and not result.is_passed.any()


def test_an_unknown_preset_is_refused():
    with pytest.raises(KeyError):
        judge(crowd(), "lucky-guess")


@pytest.mark.parametrize("world", [each for each in WORLDS if each.test in PRESETS], ids=lambda each: each.response)
def test_careless_workers_rarely_pass_and_careful_ones_the_more_the_more_they_see(world):
    """A small run of `benchmarks/worker_tests.py`."""
    assert all(max(passing(world, answer, 1000)) < 0.075 for answer in world.careless.values())
    by_gap = [shares[-1] for shares in measure_gaps(world, ALIKE, 500).values()]
    assert by_gap == sorted(by_gap) and by_gap[0] > 0.05 and by_gap[-1] > 0.95
    where_some_show_nothing = measure_gaps(world, ONE_IN_FOUR_UNSEEN, 500)
    assert where_some_show_nothing[1.0][-1] < by_gap[2]
