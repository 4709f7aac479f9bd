"""Which outputs the ordinary items of HITs are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.design.errors import DesignError
from campaigns.design.sampling import Leftover, deal_families, deal_pool, deal_sources, spread
from campaigns.design.seeds import generator
from tests.campaigns.design.designs import grid, seeds


def range_of(counts):
    return int(counts.max() - counts.min())


# --- Spreading


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=8), st.data(), seeds)
def test_units_are_spread_as_evenly_as_the_room_allows(bins, data, seed):
    levels, room = np.array(bins).T
    amount = data.draw(st.integers(0, int(room.sum())))
    units = spread(amount, levels, room, generator(seed))
    assert units.sum() == amount and (units >= 0).all() and (units <= room).all()
    after = levels + units
    for k in np.flatnonzero(units):  # nothing could be moved to a bin that is lower by more than one
        assert after[k] <= 1 + min((after[j] for j in range(len(bins)) if units[j] < room[j]), default=99)


# --- From a pool


@given(st.lists(st.integers(0, 12), min_size=1, max_size=6).filter(any), st.integers(1, 15), st.data(), seeds)
def test_outputs_and_systems_are_dealt_evenly_and_no_hit_repeats_one(sizes, n_hits, data, seed):
    sizes = np.array(sizes)
    n_per_hit = data.draw(st.integers(1, int(sizes.sum())))
    dealt = deal_pool(sizes, n_hits, n_per_hit, generator(seed))
    assert dealt.shape == (n_hits, n_per_hit)
    assert all(len(set(row)) == n_per_hit for row in dealt.tolist())
    assert range_of(np.bincount(dealt.ravel(), minlength=sizes.sum())) <= 1
    system = np.repeat(np.arange(sizes.size), sizes)
    per_hit = np.array([np.bincount(row, minlength=sizes.size) for row in system[dealt]])
    assert (per_hit.max(axis=0) - per_hit.min(axis=0)).max() <= 1


@given(st.integers(2, 9), st.integers(1, 12), st.integers(1, 9), st.data(), seeds)
def test_every_hit_holds_systems_of_equal_pools_equally_often(n_systems, n_each, n_hits, data, seed):
    n_per_hit = data.draw(st.integers(1, n_systems * n_each))
    dealt = deal_pool(np.full(n_systems, n_each), n_hits, n_per_hit, generator(seed))
    for row in dealt:
        assert range_of(np.bincount(row // n_each, minlength=n_systems)) <= 1
    assert range_of(np.bincount(dealt.ravel() // n_each, minlength=n_systems)) <= 1


def test_every_output_meets_every_other_when_outputs_are_used_again():
    dealt = deal_pool(np.full(3, 8), 400, 6, generator(5))
    together = np.zeros((24, 24), dtype=int)
    for row in dealt:
        together[np.ix_(row, row)] += 1
    other_system = np.arange(24)[:, None] // 8 != np.arange(24) // 8
    assert together[other_system].min() > 10


# --- Source by source


@st.composite
def ragged(draw):
    """Outputs of sources that do not all have every system, sorted; system 0 has one everywhere."""
    systems = draw(st.lists(st.sets(st.integers(1, 8)), min_size=1, max_size=9))
    pairs = sorted((source, system) for source, chosen in enumerate(systems) for system in {0, *chosen})
    return np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])


def deal(source, system, n_per_hit, seed=0, **options):
    chosen = {"n_hits": None, "leftover": Leftover.DROP, "anchor": None, **options}
    return deal_sources(source, system, n_per_hit, rng=generator(seed), **chosen)


@given(ragged(), st.integers(2, 5), st.booleans(), st.sampled_from([None, 1, 7, 30]), seeds)
def test_a_hit_holds_one_source_and_different_systems(outputs, n_per_hit, has_anchor, n_hits, seed):
    source, system = outputs
    n_of_source = np.bincount(source)
    anchor = 0 if has_anchor else None
    if n_of_source.max() < n_per_hit:
        with pytest.raises(DesignError) as refused:
            deal(source, system, n_per_hit, seed, anchor=anchor)
        assert refused.value.code == "too_few_systems"
        return
    dealt, n_left_out = deal(source, system, n_per_hit, seed, anchor=anchor, n_hits=n_hits)
    assert n_left_out == (n_of_source < n_per_hit).sum()
    assert n_hits is None or len(dealt) == n_hits
    assert (source[dealt] == source[dealt][:, :1]).all()
    assert all(len(set(row)) == n_per_hit for row in system[dealt].tolist())
    assert not has_anchor or (system[dealt][:, 0] == 0).all()
    whole = np.flatnonzero(n_of_source >= n_per_hit)
    n_hits_of = np.bincount(source[dealt][:, 0], minlength=n_of_source.size)
    if n_hits is not None:
        assert range_of(n_hits_of[whole]) <= 1
    else:
        np.testing.assert_array_equal(n_hits_of[whole], (n_of_source[whole] - has_anchor) // (n_per_hit - has_anchor))
    uses = np.bincount(dealt.ravel(), minlength=source.size)
    for one in whole:
        is_free = (source == one) & (system != anchor)
        assert range_of(uses[is_free]) <= 1


@given(st.integers(3, 9), st.integers(1, 30), st.data(), seeds)
def test_systems_are_used_equally_often_over_all_sources(n_systems, n_sources, data, seed):
    n_per_hit = data.draw(st.integers(2, n_systems))
    source, system = grid(n_sources, n_systems)
    dealt, _ = deal(source, system, n_per_hit, seed, n_hits=n_sources)
    assert range_of(np.bincount(system[dealt].ravel(), minlength=n_systems)) <= 1
    dealt, _ = deal(source, system, n_per_hit, seed, n_hits=n_sources, anchor=1)
    uses = np.bincount(system[dealt].ravel(), minlength=n_systems)
    assert uses[1] == n_sources and range_of(np.delete(uses, 1)) <= 1


@given(ragged(), seeds)
def test_filling_uses_every_output(outputs, seed):
    source, system = outputs
    n_per_hit = max(int(np.bincount(source).min()), 2)
    if np.bincount(source).min() < n_per_hit:
        with pytest.raises(DesignError) as refused:
            deal(source, system, n_per_hit, seed, leftover=Leftover.FILL, anchor=0)
        assert refused.value.code == "too_few_systems"
    else:
        dealt, n_left_out = deal(source, system, n_per_hit, seed, leftover=Leftover.FILL, anchor=0)
        assert n_left_out == 0 and set(dealt.ravel()) == set(range(source.size))


def test_a_source_without_the_anchor_is_refused_or_left_out():
    source, system = grid(4, 3)
    has = ~((source == 2) & (system == 0))
    with pytest.raises(DesignError, match="1 of 4 sources have no output of the anchor"):
        deal(source[has], system[has], 2, leftover=Leftover.FILL, anchor=0)
    dealt, n_left_out = deal(source[has], system[has], 2, anchor=0)
    assert n_left_out == 1 and 2 not in source[has][dealt]


# --- Live systems


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12), st.integers(1, 40), st.data(), seeds)
def test_a_hit_holds_one_member_of_a_family(family, n_hits, data, seed):
    family = np.array(family)
    codes = np.unique(family)
    n_per_hit = data.draw(st.integers(1, codes.size))
    dealt = deal_families(family, n_hits, n_per_hit, generator(seed))
    assert dealt.shape == (n_hits, n_per_hit)
    assert all(len(set(row)) == n_per_hit for row in family[dealt].tolist())
    assert range_of(np.bincount(family[dealt].ravel(), minlength=family.max() + 1)[codes]) <= 1
    for code in codes:
        assert range_of(np.bincount(dealt.ravel(), minlength=family.size)[family == code]) <= 1


def test_members_of_a_family_are_drawn_at_random():
    dealt = np.sort(deal_families(np.arange(10) // 2, 3200, 5, generator(8)), axis=1)
    combinations = np.unique(dealt % 2, axis=0, return_counts=True)[1]
    assert combinations.size == 2**5
    assert ((combinations - 100) ** 2 / 100).sum() < 61  # χ², at most 31 degrees of freedom, p = 0.001


def test_fewer_families_than_the_mix_wants_are_refused():
    with pytest.raises(DesignError, match="5 of 6") as refused:
        deal_families(np.arange(10) // 2, 3, 6, generator(0))
    assert refused.value.code == "too_few_systems"
