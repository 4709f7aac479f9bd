"""The crowd's model: what careful workers put on a slider follows the truth, what careless ones do does not."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.stats.ranks import wilcoxon_less
from annotation.simulation.crowd import (
    HIGH_FROM,
    Crowd,
    Item,
    Judged,
    Manner,
    spread_quality,
)
from campaigns.design.composition import Kind

SYSTEMS = ("human", *(f"system-{letter}" for letter in "abcde"))
ADEQUACY = (Judged("adequacy"),)
FOUR = tuple(Judged(name) for name in ("clear", "relevant", "answerable", "apt"))

kinds = st.sampled_from(Kind)
items = st.builds(
    Item,
    hit=st.integers(1, 10_000),
    position=st.integers(1, 100),
    source=st.text(max_size=20),
    system=st.sampled_from(SYSTEMS),
    kind=kinds,
)


def crowd_of(n_workers=40, careless=0.25, seed=7, criteria=FOUR, quality=None, **more):
    quality = quality or spread_quality(SYSTEMS, seed=seed, human="human")
    return Crowd(seed=seed, quality=quality, criteria=criteria, n_workers=n_workers, careless=careless, **more)


def pooled_hit(number, n_ordinary=70, n_copies=10):
    """The items of a HIT like MRC's: copies have twins of their own."""
    ordinary = [Item(number, k, f"q{number * 70 + k}", SYSTEMS[k % 6], Kind.ORDINARY) for k in range(n_ordinary)]
    copies = [
        Item(number, n_ordinary + n * n_copies + k, ordinary[n * n_copies + k].source, SYSTEMS[(n * 10 + k) % 6], kind)
        for n, kind in enumerate((Kind.DEGRADED, Kind.REPEAT, Kind.REFERENCE))
        for k in range(n_copies)
    ]
    return ordinary, copies


def worker_test(crowd: Crowd) -> np.ndarray:
    """p of each worker, who has rated one HIT of their own, in the product's own worker test."""
    lower = []
    for index in range(crowd.n_workers):
        worker, (ordinary, copies) = crowd.worker(index), pooled_hit(index + 1)
        pairs = zip(copies[:10], ordinary[:10], strict=True)
        lower += [np.subtract(worker.rate(copy).scores, worker.rate(twin).scores) for copy, twin in pairs]
    difference = np.array(lower, dtype=float).reshape(crowd.n_workers, -1)
    who = np.repeat(np.arange(crowd.n_workers), difference.shape[1])
    return wilcoxon_less(difference.ravel(), who, crowd.n_workers)


@given(item=items, index=st.integers(0, 39), seed=st.integers(0, 2**31))
def test_scores_are_whole_numbers_from_0_to_100_one_a_criterion(item, index, seed):
    response = crowd_of(seed=seed).worker(index).rate(item)
    assert len(response.scores) == len(FOUR)
    assert all(isinstance(score, int) and 0 <= score <= 100 for score in response.scores)
    assert all(isinstance(value, int) and value >= 0 for value in response.telemetry.values())
    assert response.telemetry["first_touch_ms"] <= response.telemetry["shown_ms"]


@given(rated=st.lists(items, min_size=2, max_size=3), seed=st.integers(0, 2**31))
def test_a_response_does_not_depend_on_what_was_rated_before(rated, seed):
    worker = crowd_of(seed=seed).worker(3)
    expected = {item: worker.rate(item) for item in rated}
    for order in permutations(rated):
        again = crowd_of(seed=seed).worker(3)
        assert [again.rate(item) for item in order] == [expected[item] for item in order]


@given(n_workers=st.integers(1, 60), share=st.floats(0, 1), seed=st.integers(0, 2**31))
def test_shares_are_whole_workers_and_everybody_arrives_once(n_workers, share, seed):
    crowd = crowd_of(n_workers, share, seed, leaving=share)
    assert len(crowd.careless) == len(crowd.leaving) == round(share * n_workers)
    assert sorted(crowd.arrivals()) == list(range(n_workers))
    workers = [crowd.worker(index) for index in range(n_workers)]
    assert {w.index for w in workers if w.manner is not Manner.CAREFUL} == crowd.careless
    assert {w.index for w in workers if w.leaves_after is not None} == crowd.leaving
    assert len({w.name for w in workers}) == n_workers


@given(system=st.sampled_from(SYSTEMS), source=st.text(max_size=20), seed=st.integers(0, 2**31))
def test_a_repeat_is_seen_like_its_twin_a_degraded_copy_lower_a_reference_high(system, source, seed):
    crowd = crowd_of(seed=seed)
    seen = {kind: crowd.see(Item(1, 5, source, system, kind)) for kind in Kind}
    assert (seen[Kind.REPEAT] == seen[Kind.ORDINARY]).all()
    assert (seen[Kind.DEGRADED] < seen[Kind.ORDINARY]).all()
    assert (seen[Kind.REFERENCE] > 0).all()


def test_what_is_liked_is_seen_better_by_that_much_and_nothing_else_is():
    plain, liking = crowd_of(), crowd_of(liking={("q", "human"): 0.5})
    for source, system, more in (("q", "human", 0.5), ("q", "system-a", 0.0), ("p", "human", 0.0)):
        item = Item(1, 5, source, system, Kind.ORDINARY)
        assert np.allclose(liking.see(item) - plain.see(item), more)


def test_a_negative_criterion_is_agreed_with_where_quality_is_low():
    criteria = Judged("interesting"), Judged("robotic", is_negative=True)
    worker = crowd_of(careless=0, criteria=criteria).worker(0)
    good, bad = (
        np.mean([worker.rate(Item(1, k, f"q{k}", name, Kind.ORDINARY)).scores for k in range(50)], axis=0)
        for name in ("human", min(worker.crowd.quality, key=worker.crowd.quality.get))
    )
    assert good[0] > bad[0] and good[1] < bad[1]


def test_the_human_system_is_best_and_the_others_are_spread_evenly_in_an_order_of_the_seed():
    quality = spread_quality(SYSTEMS, seed=1, human="human")
    ranked = sorted(quality.values(), reverse=True)
    assert quality["human"] == ranked[0]
    assert np.allclose([high - low for high, low in pairwise(ranked)], 2 / 5)
    assert spread_quality(SYSTEMS, seed=2, human="human") != quality
    assert spread_quality(SYSTEMS[::-1], seed=1, human="human") == quality
    assert spread_quality(["one"], seed=1) == {"one": 0.0}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_careful_workers_pass_the_worker_test_and_careless_ones_fail_it(seed):
    crowd = crowd_of(60, 0.5, seed, ADEQUACY)
    passed = set(np.flatnonzero(worker_test(crowd) < 0.05))
    careful = set(range(60)) - crowd.careless
    assert len(passed & careful) >= 0.95 * len(careful)
    assert len(passed & crowd.careless) <= 0.15 * len(crowd.careless)  # α lets one in twenty through


def test_careless_workers_click_anywhere_or_always_high():
    crowd = crowd_of(200, 1.0)
    ordinary, copies = pooled_hit(1)
    for manner, lowest in ((Manner.RANDOM, 0), (Manner.HIGH, HIGH_FROM)):
        workers = [w for w in map(crowd.worker, range(200)) if w.manner is manner]
        assert 60 < len(workers) < 140
        scores = np.array([w.rate(item).scores for w in workers[:10] for item in ordinary + copies])
        assert scores.min() == lowest and scores.max() == 100


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_mean_scores_of_careful_workers_rank_the_systems_in_their_true_order(seed):
    crowd = crowd_of(24, 0, seed)
    scores = {name: [] for name in SYSTEMS}
    for index in range(24):
        worker, (ordinary, _) = crowd.worker(index), pooled_hit(index + 1)
        for item in ordinary:
            scores[item.system].append(np.mean(worker.rate(item).scores))
    measured = sorted(SYSTEMS, key=lambda name: -np.mean(scores[name]))
    assert measured == sorted(SYSTEMS, key=lambda name: -crowd.quality[name])
