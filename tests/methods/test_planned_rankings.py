"""Simulated campaigns of rankings and of choices of the best and the worst."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.data.rankings import BEST, WORST
from analysis.planning.methods.rankings import PlannedBestWorst, PlannedRankings, points_of_placing, simulate_pages
from analysis.stats.designs import TEXTS, PlannedDesign
from campaigns.design.composition import Kind

RANKED = replace(TEXTS, careless=0.0)


@pytest.mark.parametrize("share", [0.55, 0.75, 0.95])
def test_the_better_system_is_placed_above_on_the_share_of_pages_that_was_asked_for(rng, share):
    design = PlannedDesign(5, 1500, 3000, 20)
    data = simulate_pages(design, RANKED, points_of_placing(share, RANKED), 3, rng)
    rank = np.full((data.worker.size, 5), np.nan)
    rank[data.judgement, data.system] = data.rank
    for better in range(4):
        is_above = rank[:, better] < rank[:, better + 1]
        both = ~np.isnan(rank[:, better]) & ~np.isnan(rank[:, better + 1])
        # Pages of a worker depend on each other; twice the error of independent ones is more than enough
        error = 2 * np.sqrt(share * (1 - share) / both.sum())
        assert is_above[both].mean() == pytest.approx(share, abs=3 * error)


def test_pages_show_different_systems_of_one_source_and_all_systems_evenly(rng):
    design = PlannedDesign(6, 30, 80, 16, 10, worker_test="sign")
    data = simulate_pages(design, TEXTS, 5, 4, rng)
    is_copy = data.kind == Kind.DEGRADED
    assert np.bincount(data.worker, weights=is_copy).tolist() == [10] * 30
    assert np.bincount(data.worker, weights=~is_copy).tolist() == [16] * 30
    systems, ranks = (each.reshape(-1, 4) for each in (data.system, data.rank))
    assert (np.diff(np.sort(systems, axis=1)) > 0).all()
    assert (np.sort(ranks, axis=1) == [1, 2, 3, 4]).all()
    assert (
        np.bincount(data.judgement[data.is_degraded], minlength=is_copy.size).tolist()
        == np.where(is_copy, 1, 0).tolist()
    )
    shown = np.bincount(data.system[data.kind[data.judgement] == Kind.ORDINARY])
    assert shown == pytest.approx(np.full(6, 320), rel=0.15)


def test_a_degraded_page_is_a_copy_of_the_page_before_it_whose_degraded_output_falls(rng):
    data = simulate_pages(PlannedDesign(5, 200, 200, 12, 12, worker_test="sign"), RANKED, 0, 4, rng)
    systems, ranks = (each.reshape(-1, 2, 4) for each in (data.system, data.rank))
    assert (systems[:, 0] == systems[:, 1]).all()
    falls = ranks[:, 1, 0] - ranks[:, 0, 0]
    assert falls.mean() > 0.5
    assert (data.source.reshape(-1, 2)[:, 0] == data.source.reshape(-1, 2)[:, 1]).all()


def test_workers_of_one_hit_see_the_same_pages(rng):
    data = simulate_pages(PlannedDesign(5, 8, 400, 10, workers_per_hit=2), RANKED, 0, 3, rng)
    pages: dict[tuple, set[int]] = {}
    for page, worker in enumerate(data.worker):
        key = (data.source[page], *sorted(data.system.reshape(-1, 3)[page]))
        pages.setdefault(key, set()).add(int(worker))
    assert {len(workers) for workers in pages.values()} == {2}


def test_of_a_choice_the_best_and_the_worst_are_the_ends_of_the_ranking(rng):
    design = PlannedDesign(5, 20, 50, 10)
    data = PlannedBestWorst(60, 0, 4).simulate(design, RANKED, rng)
    ranks = np.sort(data.rank.reshape(-1, 4), axis=1)
    assert (ranks[:, 0] == BEST).all() and (ranks[:, -1] == WORST).all()
    assert ((ranks[:, 1:-1] > BEST) & (ranks[:, 1:-1] < WORST)).all()


@pytest.mark.parametrize("planned", [PlannedRankings, PlannedBestWorst])
def test_placings_are_found_more_often_by_more_workers(planned):
    found = [
        planned(58, 0, 4).power(PlannedDesign(4, n, 200, 12), RANKED, n_simulations=30, seed=5) for n in (8, 24, 72)
    ]
    assert found[0].power < found[1].power < found[2].power
    assert found[0].half_width > found[1].half_width > found[2].half_width
    assert found[0].ratings_counted == 8 * 12


@pytest.mark.parametrize("planned", [PlannedRankings, PlannedBestWorst])
def test_placings_by_chance_are_found_as_often_as_the_test_errs(planned):
    power = planned(50, 0, 4).power(PlannedDesign(4, 24, 100, 12), RANKED, n_simulations=150, seed=3)
    assert 0.02 <= power.power <= 0.085  # 450 neighbours at 0.05: about three standard errors


def test_careless_rankers_are_left_out():
    design = PlannedDesign(5, 60, 100, 16, 14, worker_test="sign")
    power = PlannedRankings(60, 0, 4).power(design, replace(TEXTS, careless=0.5), n_simulations=10, seed=3)
    assert 28 <= power.workers_counted <= 34  # of 30 careful ones and 30 of whom one in twenty passes
