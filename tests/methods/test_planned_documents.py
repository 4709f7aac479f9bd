"""Simulated campaigns of segments: scores of experts (ESA), and errors that they mark (MQM)."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.data.spans.loading import load_spans
from analysis.data.spans.weights import DEFAULTS
from analysis.planning.methods.esa import PlannedEsa, simulate_scores
from analysis.planning.methods.spans import (
    MAJOR,
    MINOR,
    MOST_ERRORS,
    ErrorModel,
    PlannedSpans,
    penalties_of_systems,
    simulate_errors,
)
from analysis.stats.designs import TEXTS, PlannedDesign
from campaigns.design.composition import Kind

CAREFUL = replace(TEXTS, careless=0.0)


def test_scores_of_segments_differ_as_planned_and_vary_as_the_model_says(rng):
    model = replace(CAREFUL, worker=6)
    scores = simulate_scores(PlannedDesign(3, 1000, 1000, 12), model, 8, rng)
    means = [scores.score[scores.system == code].mean() for code in range(3)]
    assert -np.diff(means) == pytest.approx([8, 8], abs=2.4)  # three standard errors
    parts = [model.worker, model.liking, model.source, model.output, model.residual]
    assert scores.score[scores.system == 1].std() == pytest.approx(np.hypot.reduce(parts), rel=0.05)


def test_degraded_segments_score_lower_than_their_twins(rng):
    scores = simulate_scores(PlannedDesign(2, 200, 200, 10, 5, worker_test="paired-wilcoxon"), CAREFUL, 0, rng)
    is_degraded = scores.kind == Kind.DEGRADED
    fall = scores.score[~is_degraded].mean() - scores.score[is_degraded].mean()
    assert fall == pytest.approx(CAREFUL.degradation, abs=4)


def test_scores_of_segments_are_found_more_often_by_more_raters():
    found = [PlannedEsa(4).power(PlannedDesign(3, n, 300, 20), CAREFUL, n_simulations=30, seed=5) for n in (8, 30, 120)]
    assert found[0].power < found[1].power < found[2].power
    assert found[0].half_width > found[1].half_width > found[2].half_width
    assert found[0].ratings_counted == pytest.approx(8 * 20 / 3)


def test_equal_scores_are_found_as_often_as_the_test_errs_whatever_raters_like():
    """Fewer than six raters are taken as they are: where they like systems differently, it finds that."""
    found = {
        (n_raters, liking): PlannedEsa(0)
        .power(PlannedDesign(3, n_raters, 150, 30), replace(CAREFUL, liking=liking), n_simulations=200, seed=3)
        .power
        for n_raters in (5, 20)
        for liking in (0.0, 20.0)
    }
    for key in ((20, 0.0), (20, 20.0), (5, 0.0)):
        assert 0.02 <= found[key] <= 0.09, key  # 400 neighbours at 0.05: about three standard errors
    assert found[5, 20.0] > 0.15


def test_careless_raters_of_segments_are_left_out():
    design = PlannedDesign(3, 60, 100, 40, 10, worker_test="paired-wilcoxon")
    power = PlannedEsa(5).power(design, replace(TEXTS, careless=0.5), n_simulations=10, seed=3)
    assert 27 <= power.workers_counted <= 35  # of 30 careful ones and 30 of whom one in twenty passes


# --- Marked errors

RATERS = ErrorModel(careless=0)


def numbers(data):
    """Return how many errors each annotation has, and what they weigh, (n_annotations,) each."""
    is_major = np.array([name.casefold() == "major" for name in data.severities])[data.severity]
    is_error = np.array([name.casefold() in ("major", "minor") for name in data.severities])[data.severity]
    n = np.bincount(data.annotation, is_error, data.n_annotations)
    return n, np.bincount(data.annotation, np.where(is_major, MAJOR, MINOR * is_error), data.n_annotations)


@pytest.mark.parametrize("difference", [0.2, 0.9, 1.6])
def test_penalties_differ_as_planned_also_where_there_are_too_many_errors_to_mark(rng, difference):
    data = simulate_errors(PlannedDesign(6, 2000, 3000, 50), RATERS, difference, rng)
    n, penalty = numbers(data)
    found = [penalty[data.system == code].mean() for code in range(6)]
    assert found == pytest.approx(penalties_of_systems(6, difference, RATERS), rel=0.08)
    assert -np.mean(np.diff(found)) == pytest.approx(-difference, rel=0.08)
    assert n.max() == MOST_ERRORS


def test_the_best_system_has_half_a_point_at_least():
    assert penalties_of_systems(3, 0.5, RATERS).tolist() == pytest.approx([1.8, 2.3, 2.8])
    assert penalties_of_systems(3, 4, RATERS).tolist() == [0.5, 4.5, 8.5]


def test_the_assumed_numbers_are_near_those_of_the_ted_talks(rng, shared_data):
    """13 systems on 529 segments, each output marked once; the two human translations are left out."""
    path = shared_data / "mqm-ted-zhen" / "mqm_ted_zhen.tsv"
    real = load_spans(path, DEFAULTS)
    is_of_system = ~np.isin(real.system, [real.systems.index(name) for name in ("ref", "refB")])
    n, penalty = (each[is_of_system] for each in numbers(real))
    design = PlannedDesign(13, 120, 529, 57)
    campaigns = [numbers(simulate_errors(design, RATERS, 0.08, rng)) for _ in range(5)]
    simulated, penalties = (np.concatenate(each) for each in zip(*campaigns, strict=True))
    assert simulated.mean() == pytest.approx(n.mean(), rel=0.1)
    assert penalties.mean() == pytest.approx(penalty.mean(), rel=0.1)
    assert simulated.var() == pytest.approx(n.var(), rel=0.2)
    assert penalties.var() == pytest.approx(penalty.var(), rel=0.2)
    assert (simulated == 0).mean() == pytest.approx((n == 0).mean(), abs=0.05)


def test_degraded_outputs_have_one_more_major_error_mostly(rng):
    data = simulate_errors(PlannedDesign(2, 400, 400, 20, 20, worker_test="paired-wilcoxon"), RATERS, 0.1, rng)
    _, penalty = numbers(data)
    is_degraded = data.kind == Kind.DEGRADED
    more = penalty[is_degraded].mean() - penalty[~is_degraded].mean()
    assert more == pytest.approx(MAJOR * RATERS.degradation, abs=0.4)


def test_marked_errors_are_found_more_often_by_more_raters():
    found = [
        PlannedSpans(0.4).power(PlannedDesign(3, n, 300, 20), RATERS, n_simulations=30, seed=5) for n in (10, 40, 160)
    ]
    assert found[0].power < found[1].power < found[2].power
    assert found[0].half_width > found[1].half_width > found[2].half_width
    assert found[0].ratings_counted == pytest.approx(10 * 20 / 3)


def test_equal_penalties_are_found_as_often_as_the_test_errs_and_a_large_difference_mostly():
    design = PlannedDesign(3, 20, 150, 30)
    assert 0.02 <= PlannedSpans(0).power(design, RATERS, n_simulations=200, seed=3).power <= 0.09
    assert PlannedSpans(2).power(design, RATERS, n_simulations=20, seed=3).power >= 0.9


def test_raters_who_mark_errors_anywhere_are_left_out():
    design = PlannedDesign(3, 60, 100, 40, 20, worker_test="paired-wilcoxon")
    power = PlannedSpans(0.5).power(design, ErrorModel(careless=0.5), n_simulations=10, seed=3)
    assert 27 <= power.workers_counted <= 35  # of 30 careful ones and 30 of whom one in twenty passes
