"""Simulated campaigns of several methods: what they are made of, and how often differences are found."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.planning.methods.levels import PlannedLevels, simulate_levels
from analysis.planning.methods.magnitudes import REFERENCE, PlannedMagnitudes, simulate_magnitudes
from analysis.planning.methods.votes import VoteModel, power_of_votes, simulate_votes, strength_of_share
from analysis.stats.designs import TEXTS, PlannedDesign
from campaigns.design.composition import Kind

CAREFUL = VoteModel(careless=0)


@pytest.mark.parametrize("share", [0.55, 0.7, 0.9])
def test_the_better_system_wins_the_share_of_decided_votes_that_was_asked_for(rng, share):
    design = PlannedDesign(2, 3000, 100, 20)
    votes = simulate_votes(design, CAREFUL, strength_of_share(share, CAREFUL), rng)
    has_won = (votes.left == 0) == (votes.outcome == 0)
    decided = votes.outcome < 2
    per_worker = np.bincount(votes.worker[decided], weights=has_won[decided]) / np.bincount(votes.worker[decided])
    error = per_worker.std() / np.sqrt(per_worker.size)
    assert has_won[decided].mean() == pytest.approx(share, abs=4 * error)


def test_hits_of_comparisons_have_all_pairs_evenly_and_both_sides(rng):
    votes = simulate_votes(PlannedDesign(4, 50, 100, 12, 6, worker_test="sign"), VoteModel(), 0.5, rng)
    ordinary = votes.kind == Kind.ORDINARY
    assert votes.left.size == 50 * 18 and ordinary.sum() == 50 * 12
    assert (votes.left != votes.right).all()
    assert ((votes.degraded > 0) == (votes.kind == Kind.DEGRADED)).all()
    low, high = np.minimum(votes.left, votes.right), np.maximum(votes.left, votes.right)
    assert np.bincount(low * 4 + high)[[1, 2, 3, 6, 7, 11]].tolist() == [150] * 6
    assert 0.4 < (votes.left < votes.right).mean() < 0.6
    loses = np.where(votes.degraded == 1, votes.outcome == 1, votes.outcome == 0)[~ordinary]
    assert loses.mean() > 0.5


def test_levels_are_whole_numbers_of_the_scale_and_differ_as_planned(rng):
    model = replace(TEXTS, careless=0.0)
    scores = simulate_levels(PlannedDesign(2, 400, 400, 20), model, 0.5, 5, rng)
    assert set(np.unique(scores.score)) == {1, 2, 3, 4, 5}
    means = [scores.score[scores.system == code].mean() for code in range(2)]
    assert means[0] - means[1] == pytest.approx(0.5, abs=0.1)


def test_magnitudes_are_above_0_and_their_geometric_means_have_the_ratio_that_was_asked_for(rng):
    model = replace(TEXTS, careless=0.0)
    values = simulate_magnitudes(PlannedDesign(3, 400, 2000, 30), model, 1.5, rng)
    logs = np.log(values.numbers["value"])
    assert (values.numbers["value"] > 0).all()
    means = [logs[values.system == code].mean() for code in range(3)]
    assert np.exp(np.diff(means)) == pytest.approx(1 / 1.5, rel=0.05)
    assert np.exp(means[1]) == pytest.approx(REFERENCE, rel=0.1)


def test_logs_of_magnitudes_vary_as_the_model_says(rng):
    """Two systems without a difference: sources, outputs, workers, likings and single values add up."""
    model = replace(TEXTS, careless=0.0)
    values = simulate_magnitudes(PlannedDesign(2, 1000, 1000, 10), model, 1, rng)
    parts = [model.worker, model.liking, model.source, model.output, model.residual]
    in_logs = np.log(2) / 30  # 30 points are twice the value
    assert np.log(values.numbers["value"]).std() == pytest.approx(in_logs * np.hypot.reduce(parts), rel=0.05)


def test_degraded_magnitudes_are_copies_with_smaller_values(rng):
    values = simulate_magnitudes(PlannedDesign(2, 100, 200, 10, 5, worker_test="paired-wilcoxon"), TEXTS, 1.2, rng)
    is_degraded = values.kind == Kind.DEGRADED
    assert is_degraded.sum() == 500
    assert np.log(values.numbers["value"][is_degraded]).mean() < np.log(values.numbers["value"][~is_degraded]).mean()


def test_magnitudes_are_found_more_often_by_more_workers():
    found = [
        PlannedMagnitudes(1.2).power(PlannedDesign(3, n, 300, 20), TEXTS, n_simulations=30, seed=5)
        for n in (10, 30, 90)
    ]
    assert found[0].power < found[1].power < found[2].power
    assert found[0].half_width > found[1].half_width > found[2].half_width


def test_magnitudes_without_a_difference_are_found_as_often_as_the_test_errs():
    design = PlannedDesign(3, 30, 100, 20)
    power = PlannedMagnitudes(1).power(design, replace(TEXTS, careless=0.0), n_simulations=200, seed=3)
    assert 0.02 <= power.power <= 0.09  # 400 neighbours at 0.05: about three standard errors


@pytest.mark.parametrize("method", ["votes", "levels"])
def test_without_a_difference_few_are_found_and_with_a_large_one_most(method):
    def power(difference: float) -> float:
        if method == "votes":
            design = PlannedDesign(3, 24, 50, 24)
            return power_of_votes(design, CAREFUL, difference, n_simulations=40, seed=2).power
        design = PlannedDesign(3, 24, 200, 24)
        return PlannedLevels(difference, 5).power(design, TEXTS, n_simulations=40, seed=2).power

    assert power(0) <= 0.15  # 80 neighbours at 0.05: four standard errors above
    assert power(2) >= 0.9


def test_the_same_seed_gives_the_same_power():
    design = PlannedDesign(3, 8, 50, 10)
    found = [power_of_votes(design, CAREFUL, 0.5, n_simulations=3, seed=seed) for seed in (1, 1, 2)]
    assert found[0] == found[1] != found[2]
