"""Power by simulation: against the noncentral t, its level at 0, and how designs are drawn."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from analysis.stats.designs import (
    CHATS,
    TEXTS,
    PlannedDesign,
    RatingModel,
    change_designs,
    simulate_ratings,
    with_workers,
)
from analysis.stats.power import DesignPower, Power, approximate_workers, power_curve, simulate_power, workers_for
from analysis.stats.ratings import match_twins
from campaigns.design.composition import Kind, Layout

CAREFUL = replace(TEXTS, careless=0.0)
POOL = PlannedDesign(n_systems=4, n_workers=10, n_sources=30, n_ordinary=20)


def noncentral_power(effect, n):
    """Power of a one-sided paired t test with a standardised mean difference, at .05."""
    return stats.nct.sf(stats.t.isf(0.05, n - 1), n - 1, effect * np.sqrt(n))


def test_power_is_that_of_the_paired_t_test_where_every_worker_rates_both_systems():
    """27 pairs find a standardised difference of .5 with a power of .81, as tables of the paired t test have it."""
    assert noncentral_power(0.5, 27) == pytest.approx(0.8118, abs=5e-4)
    design = PlannedDesign(2, 27, 1, 2, hits_per_worker=20, layout=Layout.BY_SYSTEM)
    model = RatingModel(worker=9, liking=1.5, source=0, output=0, residual=10, careless=0)
    of_worker = np.sqrt(2 * model.liking**2 + 2 * model.residual**2 / design.hits_per_worker)
    found = simulate_power(design, model, 0.5 * of_worker, n_simulations=150, seed=1)
    assert found.power == pytest.approx(0.8118, abs=3 * found.power_error)
    # (n − 1)s²/σ² is χ²: E s = σ √(2/(n − 1)) Γ(n/2)/Γ((n − 1)/2), .9904 σ for n = 27
    width = stats.t.isf(0.025, 26) * 0.9904 * of_worker / np.sqrt(27)
    assert found.half_width == pytest.approx(width, rel=0.05)


def test_equal_systems_are_found_to_differ_in_five_tests_of_a_hundred():
    design = replace(POOL, n_workers=24, n_ordinary=28, n_degraded=10, worker_test="paired-wilcoxon")
    found = simulate_power(design, TEXTS, 0.0, n_simulations=120, seed=2)
    assert found.power == pytest.approx(0.05, abs=3 * found.power_error)
    assert found.workers_counted == pytest.approx(24 * 0.75, abs=1.5)


def test_the_error_is_that_of_other_seeds():
    few = [simulate_power(POOL, CAREFUL, 8, n_simulations=8, seed=seed) for seed in range(12)]
    spread = np.std([each.power for each in few], ddof=1)
    assert np.mean([each.power_error for each in few]) == pytest.approx(spread, rel=0.5)


def test_the_level_of_a_worker_changes_nothing():
    both = [
        simulate_power(POOL, replace(CAREFUL, worker=level), 6, n_simulations=8, seed=3).power for level in (0.0, 25.0)
    ]
    assert both[0] == both[1]


@pytest.mark.parametrize("change", [{"n_workers": 40}, {"n_sources": 120, "n_workers": 40}, {"hits_per_worker": 4}])
def test_more_work_finds_more(change):
    less, more = (
        simulate_power(design, CAREFUL, 6, n_simulations=25, seed=4) for design in (POOL, replace(POOL, **change))
    )
    assert more.half_width < less.half_width
    assert more.power > less.power - 2 * (less.power_error + more.power_error)


def test_every_output_is_rated_before_any_is_rated_again():
    design = replace(POOL, n_workers=9, n_sources=10, n_ordinary=15)  # 135 of 40 outputs
    ratings = simulate_ratings(design, CAREFUL, 0, np.random.default_rng(0))
    outputs = np.bincount(ratings.source * 4 + ratings.system)
    assert outputs.size == 40
    assert set(outputs) <= {3, 4}
    for hit in range(9):
        own = ratings.assignment == hit
        assert np.unique(ratings.source[own] * 4 + ratings.system[own]).size == 15


@pytest.mark.parametrize("layout", [Layout.POOLED, Layout.BY_SOURCE])
def test_no_worker_does_a_hit_twice_and_copies_have_twins(layout):
    design = PlannedDesign(4, 5, 30, 4, n_degraded=2, n_repeat=1, hits_per_worker=4, workers_per_hit=3, layout=layout)
    ratings = simulate_ratings(design, CAREFUL, 0, np.random.default_rng(0))
    hits = ratings.assignment // 3
    pairs = np.unique(np.stack([hits, ratings.worker, ratings.assignment]), axis=1)
    assert np.unique(pairs[:2], axis=1).shape == (2, 20)
    assert np.bincount(ratings.worker).tolist() == [28] * 5
    assert (match_twins(ratings)[ratings.kind != Kind.ORDINARY] >= 0).all()
    if layout is Layout.BY_SOURCE:
        assert all(np.unique(ratings.source[ratings.assignment == each]).size == 1 for each in range(20))


def test_chats_have_a_degraded_chatbot_beside_the_systems():
    design = PlannedDesign(
        6, 40, 1, 5, n_degraded=1, n_criteria=7, layout=Layout.BY_SYSTEM, worker_test="unpaired-ranksum"
    )
    ratings = simulate_ratings(design, CHATS, 0, np.random.default_rng(0))
    assert ratings.n_systems == 7
    assert set(ratings.system[ratings.kind == Kind.DEGRADED]) == {6}
    # As in the study whose numbers are assumed, where 173 of 248 workers passed
    found = simulate_power(replace(design, n_workers=248), CHATS, 3, n_simulations=6, seed=0)
    assert found.workers_counted == pytest.approx(173, rel=0.06)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"n_systems": 1}, "two systems"),
        ({"n_ordinary": 121}, "121 ordinary items: there are 120 outputs"),
        ({"workers_per_hit": 11}, "11 different workers"),
        ({"worker_test": "paired-t"}, "needs degraded items"),
        ({"n_repeat": 21}, "more of them than ordinary"),
        ({"layout": Layout.BY_SOURCE}, "systems to choose from"),
        ({"layout": Layout.BY_SYSTEM, "n_ordinary": 2, "n_repeat": 1}, "cannot be repeated"),
    ],
)
def test_designs_that_cannot_be_are_refused(change, text):
    with pytest.raises(ValueError, match=text):
        replace(POOL, **change)


def exact_curve(slope, floor, sizes):
    """Points whose power is what the fitted line says."""
    level = stats.norm.isf(0.05)
    return [
        DesignPower(
            with_workers(POOL, n), Power(stats.norm.cdf((floor + slope / n) ** -0.5 - level), 0.02, 0, 0.02, 1, n, n)
        )
        for n in sizes
    ]


def test_the_fewest_workers_are_read_off_the_line():
    wanted = (stats.norm.ppf(0.8) + stats.norm.isf(0.05)) ** -2
    assert workers_for(exact_curve(6.0, 0.04, (10, 25, 50, 80)), 0.8) == int(np.ceil(6.0 / (wanted - 0.04)))
    assert workers_for(exact_curve(6.0, 0.3, (10, 25, 50, 80)), 0.8) is None


def test_more_sources_are_said_to_be_needed_where_workers_are_not_enough():
    few = replace(POOL, n_sources=6, n_ordinary=12)
    model = replace(CAREFUL, output=20.0, residual=8.0)
    _, same = power_curve(few, model, 9, target=0.8, n_simulations=6, seed=1)
    _, grown = power_curve(few, model, 9, target=0.8, n_simulations=6, seed=1, sources_grow=True)
    assert same is None or same.found.power < 0.8
    assert grown
    assert grown.design.n_sources > 6


@settings(max_examples=50, deadline=None)
@given(st.floats(1, 30), st.floats(1.01, 3), st.floats(0.2, 0.9))
def test_larger_differences_and_lower_targets_need_fewer_workers(difference, factor, target):
    few = approximate_workers(POOL, TEXTS, difference * factor, target=target)
    many = approximate_workers(POOL, TEXTS, difference, target=target)
    assert few <= many
    assert approximate_workers(POOL, TEXTS, difference, target=target + 0.05) >= many


def test_changes_are_those_that_can_be():
    assert set(change_designs(POOL)) == {"workers", "repeated", "hits", "sources"}
    assert set(change_designs(replace(POOL, n_repeat=3))) >= {"repeats"}
    chats = PlannedDesign(6, 40, 1, 5, layout=Layout.BY_SYSTEM)
    assert set(change_designs(chats)) == {"workers", "hits"}
