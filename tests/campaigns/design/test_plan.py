"""A campaign's HITs, from codes to items."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.design.composition import POOL_OF_100, SOURCE_OF_20, SYSTEMS_OF_6, Kind, Layout, Mix
from campaigns.design.errors import DesignError
from campaigns.design.plan import plan_hits
from campaigns.design.sampling import Leftover
from tests.campaigns.design.designs import assert_sound, grid, mixes, rows, seeds

leftovers = st.sampled_from(list(Leftover))


def items_of(plan, source, system):
    """The plan's items, by source and system instead of the index of the output."""
    hits = plan.hits
    return np.stack([hits.hit, hits.position, source[hits.output], system[hits.output], hits.kind, hits.twin_position])


def refusal(mix, **arguments):
    with pytest.raises(DesignError) as refused:
        plan_hits(mix, **{"seed": 0, **arguments})
    return refused.value


# --- What holds of every plan


@given(mixes(), st.integers(1, 6), st.integers(0, 40), leftovers, st.sampled_from([None, 1, 5]), seeds)
def test_hits_from_a_pool_keep_every_rule_at_any_size(mix, n_systems, n_more, leftover, n_hits, seed):
    n = mix.n_ordinary + n_more
    source, system = np.arange(n) // n_systems, np.arange(n) % n_systems
    plan = plan_hits(mix, source=source, system=system, seed=seed, leftover=leftover, n_hits=n_hits)
    assert_sound(plan, mix, source, system)
    totals = plan.totals
    ordinary = plan.hits.output[plan.hits.kind == Kind.ORDINARY]
    uses = np.bincount(ordinary, minlength=n)
    assert np.ptp(uses) <= 1
    assert totals.n_items == totals.n_hits * mix.size
    assert totals.n_outputs_used == (uses > 0).sum() == n - totals.n_outputs_left_out
    assert totals.n_reuses == ordinary.size - totals.n_outputs_used
    np.testing.assert_array_equal(totals.ratings_per_system, np.bincount(system[ordinary], minlength=system.max() + 1))
    if n_hits is not None:
        assert totals.n_hits == n_hits
    elif leftover is Leftover.FILL:
        assert totals.n_outputs_left_out == 0 and totals.n_reuses < mix.n_ordinary
    else:
        assert totals.n_reuses == 0 and totals.n_outputs_left_out < mix.n_ordinary


@given(mixes(Layout.BY_SOURCE), st.integers(0, 3), st.integers(1, 6), leftovers, seeds)
def test_hits_of_one_source_keep_every_rule_at_any_size(mix, n_more, n_sources, leftover, seed):
    source, system = grid(n_sources, mix.n_ordinary + n_more)
    plan = plan_hits(mix, source=source, system=system, seed=seed, leftover=leftover, anchor=0)
    assert_sound(plan, mix, source, system)
    table = rows(plan, mix)
    assert (np.ptp(source[table["output"]], axis=1) == 0).all()
    if mix.has_anchor:
        is_anchor = system[table["output"]] == 0
        wanted = {Kind.ORDINARY: 1, Kind.DEGRADED: 1, Kind.REPEAT: 1}
        for kind, count in wanted.items():
            assert ((is_anchor & (table["kind"] == kind)).sum(axis=1) == count).all()


@given(mixes(Layout.BY_SYSTEM), st.integers(0, 5), st.integers(1, 20), seeds)
def test_hits_of_live_systems_keep_every_rule_at_any_size(mix, n_more, n_hits, seed):
    n = mix.n_ordinary + n_more
    plan = plan_hits(mix, source=np.zeros(n, int), system=np.arange(n), seed=seed, n_hits=n_hits)
    table = rows(plan, mix)
    is_ordinary = table["kind"] == Kind.ORDINARY
    assert (is_ordinary.sum(axis=1) == mix.n_ordinary).all()
    assert (table["output"][~is_ordinary] == -1).all() and (table["twin_position"] == -1).all()
    for output, chosen in zip(table["output"], is_ordinary, strict=True):
        assert len(set(output[chosen])) == mix.n_ordinary and output[chosen].min() >= 0
    assert np.ptp(plan.totals.ratings_per_system) <= 1


@given(mixes(), st.integers(0, 30), seeds)
def test_the_same_seed_gives_the_same_hits_and_another_seed_others(mix, n_more, seed):
    source, system = grid(mix.n_ordinary + 30 + n_more, 2)
    first, second, other = (plan_hits(mix, source=source, system=system, seed=s) for s in (seed, seed, seed + 1))
    np.testing.assert_array_equal(items_of(first, source, system), items_of(second, source, system))
    assert (items_of(first, source, system) != items_of(other, source, system)).any()


@given(st.sampled_from([Layout.POOLED, Layout.BY_SOURCE]).flatmap(mixes), seeds)
def test_hits_do_not_depend_on_the_order_of_the_outputs(mix, seed):
    source, system = grid(4, mix.n_ordinary + 1)
    order = np.random.default_rng(seed).permutation(source.size)
    can_be = np.random.default_rng(1).random(source.size) < 2  # all of them, as an array

    def planned(source, system, can_be):
        """Return the items; why there are none where an output and its copies cannot be kept apart."""
        try:
            plan = plan_hits(mix, source=source, system=system, seed=seed, anchor=0, is_degradable=can_be)
        except DesignError as error:
            return [str(error)]
        return items_of(plan, source, system)

    np.testing.assert_array_equal(planned(source, system, can_be), planned(source[order], system[order], can_be[order]))


def test_a_seed_gives_these_hits_on_every_machine():
    source, system = grid(4, 3)
    hits = plan_hits(Mix(4, 1, 1), source=source, system=system, seed=2026).hits
    assert hits.output.tolist() == [9, 8, 4, 2, 9, 2, 10, 7, 0, 5, 0, 10, 6, 11, 6, 11, 3, 1]
    assert hits.kind.tolist() == [0, 0, 0, 2, 1, 0, 2, 0, 0, 0, 1, 0, 0, 1, 2, 0, 0, 0]
    assert hits.twin_position.tolist() == [-1, -1, -1, 6, 1, -1, 6, -1, -1, -1, 3, -1, -1, 4, 1, -1, -1, -1]


def test_only_outputs_that_can_be_degraded_are_degraded():
    source, system = grid(30, 4)
    can_be = source % 3 == 0
    plan = plan_hits(Mix(30, 4, 4, 4), source=source, system=system, seed=3, is_degradable=can_be)
    assert can_be[plan.hits.output[plan.hits.kind == Kind.DEGRADED]].all()
    assert not can_be[plan.hits.output[plan.hits.kind == Kind.REPEAT]].all()


# --- The published designs


def test_the_pooled_hit_of_a_hundred():
    source, system = grid(500, 7)
    plan = plan_hits(POOL_OF_100, source=source, system=system, seed=1)
    assert_sound(plan, POOL_OF_100, source, system)
    assert (plan.totals.n_hits, plan.totals.n_items, plan.totals.n_reuses) == (50, 5000, 0)
    assert plan.totals.ratings_per_system.tolist() == [500] * 7
    ordinary = np.where(plan.hits.kind == Kind.ORDINARY, system[plan.hits.output], 7).reshape(50, 100)
    assert all(np.bincount(row).tolist() == [10] * 7 + [30] for row in ordinary)


@pytest.mark.parametrize(("leftover", "n_hits"), [(Leftover.FILL, 400), (Leftover.DROP, 200)])
def test_the_by_source_hit_of_twenty_on_real_outputs(shared_data, leftover, n_hits):
    lines = (shared_data / "qg-outputs" / "qg.jsonl").read_text().splitlines()
    outputs = [(k, name) for k, line in enumerate(lines) for name in json.loads(line)["outputs"]]
    names = sorted({name for _, name in outputs})
    source = np.array([k for k, _ in outputs])
    system = np.array([names.index(name) for _, name in outputs])
    human = names.index("human")
    design = {"source": source, "system": system, "seed": 5, "anchor": human, "leftover": leftover}
    assert len(names) == 15 and source.size == 3000

    plan = plan_hits(SOURCE_OF_20, **design)  # 11 of the 15 systems in a HIT
    assert_sound(plan, SOURCE_OF_20, source, system)
    assert plan.totals.n_hits == n_hits
    assert plan.totals.ratings_per_system[human] == n_hits
    others = np.delete(plan.totals.ratings_per_system, human)
    if leftover is Leftover.FILL:
        assert plan.totals.n_outputs_left_out == 0
    else:
        assert plan.totals.n_outputs_left_out == 200 * 4 and np.ptp(others) <= 1

    mix = Mix(15, 6, 3, layout=Layout.BY_SOURCE, has_anchor=True)  # all of them
    plan = plan_hits(mix, **design)
    assert_sound(plan, mix, source, system)
    assert (plan.totals.n_hits, plan.totals.n_items) == (200, 4800)
    assert plan.totals.ratings_per_system.tolist() == [200] * 15


def test_the_live_hit_of_six_uses_families_as_the_study_did(shared_data):
    tables = json.loads((shared_data / "published_tables.json").read_text())
    study = tables["unit_fixtures"]["dialogue_hits_inferred"]["free run 1"]
    family = np.arange(10) // 2
    zeros = np.zeros(10, dtype=int)
    plan = plan_hits(SYSTEMS_OF_6, source=zeros, system=np.arange(10), family=family, seed=9, n_hits=study["hits"])
    per_system = plan.totals.ratings_per_system
    assert (per_system[::2] + per_system[1::2]).tolist() == study["dialogues_per_pair(X,Xp)"]
    position = plan.hits.position[plan.hits.kind == Kind.DEGRADED]
    assert position.size == 215 and np.bincount(position, minlength=7)[1:].min() > 20


# --- Refusals


@pytest.mark.parametrize(
    ("mix", "changes", "code", "message"),
    [
        (POOL_OF_100, {}, "too_few_outputs", "needs 70 ordinary outputs per HIT and there are 55"),
        (Mix(5), {"source": np.array([], int), "system": np.array([], int)}, "no_outputs", "there are none"),
        (Mix(5), {"source": np.zeros(55, int)}, "duplicate_output", "of 55 outputs 44 have"),
        (Mix(5), {"source": np.zeros(3, int)}, "bad_outputs", "one value per output"),
        (Mix(5), {"source": np.arange(55) - 1}, "bad_outputs", "negative"),
        (Mix(5), {"n_hits": 0}, "bad_number_of_hits", "at least 1 HIT, not 0"),
        (Mix(5), {"seed": -1}, "negative_seed", "-1"),
        (SYSTEMS_OF_6, {}, "bad_number_of_hits", "must be given"),
        (SYSTEMS_OF_6, {"n_hits": 2, "family": np.arange(55) % 4}, "too_few_systems", "4 of 5"),
        (SOURCE_OF_20, {}, "no_anchor", "say which"),
        (SOURCE_OF_20, {"anchor": 11}, "no_anchor_output", "system 11"),
        (Mix(12, layout=Layout.BY_SOURCE), {}, "too_few_systems", "11 of 12"),
        (Mix(5, 3), {"is_degradable": np.arange(55) % 11 == 0}, "too_few_degradable", "3 degraded items per HIT"),
    ],
)
def test_a_design_that_cannot_be_built_is_refused_with_the_numbers(mix, changes, code, message):
    source, system = grid(5, 11)
    refused = refusal(mix, **{"source": source, "system": system, **changes})
    assert refused.code == code
    assert message in refused.message


def test_fewer_systems_than_the_mix_wants_are_counted():
    source, system = grid(8, 5)
    refused = refusal(SOURCE_OF_20, source=source, system=system, anchor=0)
    assert refused.code == "too_few_systems" and "5 of 11" in refused.message and "8 of 8" in refused.message


def test_incomplete_sources_are_left_out_where_that_is_asked_for():
    source, system = grid(6, 4)
    is_there = ~((source == 3) & (system > 1))
    source, system = source[is_there], system[is_there]
    mix = Mix(4, layout=Layout.BY_SOURCE)
    assert refusal(mix, source=source, system=system).code == "too_few_systems"
    totals = plan_hits(mix, source=source, system=system, seed=0, leftover=Leftover.DROP).totals
    assert (totals.n_hits, totals.n_sources_left_out, totals.n_outputs_left_out) == (5, 1, 2)
