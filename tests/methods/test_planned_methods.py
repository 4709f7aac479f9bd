"""Simulated campaigns of comparisons and of levels: what they are made of, and how often differences are found."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.planning.methods import (
    VoteModel,
    power_of_levels,
    power_of_votes,
    simulate_levels,
    simulate_votes,
    strength_of_share,
)
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


@pytest.mark.parametrize("method", ["votes", "levels"])
def test_without_a_difference_few_are_found_and_with_a_large_one_most(method):
    def power(difference: float) -> float:
        if method == "votes":
            design = PlannedDesign(3, 24, 50, 24)
            return power_of_votes(design, CAREFUL, difference, n_simulations=40, seed=2).power
        design = PlannedDesign(3, 24, 200, 24)
        return power_of_levels(design, TEXTS, difference, 5, n_simulations=40, seed=2).power

    assert power(0) <= 0.15  # 80 neighbours at 0.05: four standard errors above
    assert power(2) >= 0.9


def test_the_same_seed_gives_the_same_power():
    design = PlannedDesign(3, 8, 50, 10)
    found = [power_of_votes(design, CAREFUL, 0.5, n_simulations=3, seed=seed) for seed in (1, 1, 2)]
    assert found[0] == found[1] != found[2]
