"""What a HIT consists of."""

import json
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.design.composition import (
    ANALYSED_KINDS,
    KINDS,
    POOL_OF_100,
    SOURCE_OF_20,
    SYSTEMS_OF_6,
    Kind,
    Layout,
    Mix,
    arrange,
    choose_twins,
)
from campaigns.design.errors import DesignError
from campaigns.design.seeds import generator
from tests.campaigns.design.designs import mixes, seeds


def test_the_mixes_are_the_published_ones(shared_data):
    published = json.loads((shared_data / "published_tables.json").read_text())["unit_fixtures"]["hit_composition"]
    pool, by_source, live = published["mrc"], published["qg"], published["dialogue"]
    assert (POOL_OF_100.n_ordinary, POOL_OF_100.n_degraded) == (pool["ordinary"], pool["bad_reference"])
    assert (POOL_OF_100.n_repeat, POOL_OF_100.n_reference) == (pool["repeat"], pool["reference_answer"])
    assert POOL_OF_100.size == pool["total"] and POOL_OF_100.n_twins == 30
    assert (SOURCE_OF_20.n_ordinary, SOURCE_OF_20.n_degraded) == (by_source["ordinary"], by_source["bad_reference"])
    assert (SOURCE_OF_20.n_repeat, SOURCE_OF_20.size) == (by_source["repeat"], by_source["total"])
    assert SOURCE_OF_20.n_twins == 1 + by_source["ord+repeat_pairs"] + by_source["ord+bad_pairs"]
    assert SOURCE_OF_20.n_ordinary - SOURCE_OF_20.n_twins == by_source["ord_only"]
    assert (SYSTEMS_OF_6.n_ordinary, SYSTEMS_OF_6.n_degraded) == (live["genuine"], live["qc"])
    assert SYSTEMS_OF_6.size == live["total"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"n_ordinary": 0}, "no_ordinary"),
        ({"n_ordinary": 5, "n_repeat": -1}, "negative_count"),
        ({"n_ordinary": 10, "n_degraded": 4, "n_repeat": 4, "n_reference": 3}, "too_many_twins"),
        ({"n_ordinary": 3, "n_degraded": 4, "has_distinct_twins": False}, "too_many_twins"),
        ({"n_ordinary": 1, "n_degraded": 1}, "twins_always_adjacent"),
        ({"n_ordinary": 2, "n_degraded": 1, "n_repeat": 1, "has_distinct_twins": False}, "twins_always_adjacent"),
        ({"n_ordinary": 5, "n_repeat": 1, "layout": Layout.BY_SYSTEM}, "live_copies"),
        ({"n_ordinary": 5, "n_reference": 1, "layout": Layout.BY_SYSTEM}, "live_copies"),
        ({"n_ordinary": 9, "n_degraded": 2, "n_repeat": 2, "has_anchor": True}, "anchor_without_source"),
        ({"n_ordinary": 9, "n_degraded": 2, "layout": Layout.BY_SOURCE, "has_anchor": True}, "anchor_without_copies"),
    ],
)
def test_a_mix_that_cannot_be_built_is_refused(arguments, code):
    with pytest.raises(DesignError) as refused:
        Mix(**arguments)
    assert refused.value.code == code


def test_the_refusal_has_the_numbers():
    with pytest.raises(DesignError, match="11 different twins and the mix has 10 ordinary"):
        Mix(10, 4, 4, 3)


@pytest.mark.parametrize("mix", [Mix(1), Mix(2, 1), Mix(2, 2), Mix(1, 5, layout="by-system"), Mix(10, 4, 3, 3)])
def test_the_smallest_mixes_that_can_be_built_are_built(mix):
    twins = choose_twins(mix, 50, generator(0))
    assert twins.shape == (50, mix.n_copies)


# --- Twins


@given(mixes(), st.integers(1, 9), seeds)
def test_copies_have_twins_of_their_own(mix, n_hits, seed):
    twins = choose_twins(mix, n_hits, generator(seed))
    assert twins.shape == (n_hits, mix.n_copies)
    for row in twins:
        assert len(set(row)) == mix.n_copies or not mix.has_distinct_twins


@given(st.integers(0, 20), seeds)
def test_the_anchor_is_degraded_and_repeated_and_no_other_is_both(n_more, seed):
    mix = Mix(11 + n_more, 6, 3, layout=Layout.BY_SOURCE, has_anchor=True)
    for row in choose_twins(mix, 20, generator(seed)):
        degraded, repeated = set(row[:6]), set(row[6:])
        assert len(degraded) == 6 and len(repeated) == 3
        assert degraded & repeated == {0}


def test_every_ordinary_item_is_a_twin_equally_often():
    twins = choose_twins(POOL_OF_100, 7000, generator(1))
    for first in (0, 10, 20):
        counts = np.bincount(twins[:, first : first + 10].ravel(), minlength=70)
        assert ((counts - 1000) ** 2 / 1000).sum() < 111  # χ², 69 degrees of freedom, p = 0.001


@given(mixes(), st.integers(1, 9), seeds)
def test_only_what_can_be_degraded_is_degraded(mix, n_hits, seed):
    rng = generator(seed)
    can_be = np.argsort(rng.random((n_hits, mix.n_ordinary)), axis=1) < mix.n_degraded  # just enough
    twins = choose_twins(mix, n_hits, rng, can_be)
    assert np.take_along_axis(can_be, twins[:, : mix.n_degraded], axis=1).all()
    if mix.n_degraded:
        with pytest.raises(DesignError) as refused:
            choose_twins(mix, n_hits, rng, can_be & (np.arange(n_hits) > 0)[:, None])
        assert refused.value.code == "too_few_degradable"


# --- Order


@given(mixes(), st.integers(1, 5), seeds)
def test_no_two_of_one_output_are_neighbours(mix, n_hits, seed):
    rng = generator(seed)
    own = np.broadcast_to(np.arange(mix.n_ordinary), (n_hits, mix.n_ordinary))
    origin = np.concatenate([own, choose_twins(mix, n_hits, rng)], axis=1)
    order = arrange(origin, rng)
    assert (np.sort(order, axis=1) == np.arange(mix.size)).all()
    in_order = np.take_along_axis(origin, order, axis=1)
    assert (in_order[:, 1:] != in_order[:, :-1]).all()


@pytest.mark.parametrize("origin", [[0, 1, 2, 0], [0, 1, 0, 1], [0, 1, 2, 0, 0], [0, 1, 2, 3]])
def test_every_arrangement_that_keeps_twins_apart_is_equally_likely(origin):
    origin = np.array(origin)
    allowed = [p for p in permutations(range(origin.size)) if (np.diff(origin[list(p)]) != 0).all()]
    n = 1000 * len(allowed)
    drawn = map(tuple, arrange(np.tile(origin, (n, 1)), generator(11)).tolist())
    counts = dict.fromkeys(allowed, 0)
    for arrangement in drawn:
        counts[arrangement] += 1
    squares = (np.array(list(counts.values())) - 1000) ** 2 / 1000
    freedom = len(allowed) - 1
    assert squares.sum() < freedom + 4 * np.sqrt(2 * freedom)


def test_the_distance_of_twins_is_what_chance_gives():
    size, n_hits = POOL_OF_100.size, 2000
    twins = choose_twins(POOL_OF_100, n_hits, generator(3))
    origin = np.concatenate([np.broadcast_to(np.arange(70), (n_hits, 70)), twins], axis=1)
    place = np.argsort(arrange(origin, generator(4)), axis=1)
    distance = np.abs(place[:, 70:] - np.take_along_axis(place, twins, axis=1)).ravel()
    # A pair at random lies d apart with probability proportional to size − d, here from 2 up
    d = np.arange(size)
    expected = np.where(d > 1, size - d, 0) / np.where(d > 1, size - d, 0).sum()
    observed = np.bincount(distance, minlength=size) / distance.size
    assert distance.min() == 2 and distance.max() > 95
    assert distance.mean() == pytest.approx((d * expected).sum(), abs=0.5)
    assert np.abs(np.cumsum(observed) - np.cumsum(expected)).max() < 0.01
    assert (np.abs(np.corrcoef(place[:, 70], place[:, 71])[0, 1])) < 0.1


def test_kinds_are_numbered_as_they_are_stored():
    names = ["ordinary", "degraded", "repeat", "reference", "tutorial"]
    assert {kind.name.lower(): kind.value for kind in Kind} == {name: number for number, name in enumerate(names)}
    assert list(KINDS) == names
    assert list(ANALYSED_KINDS) == names[:-1]
