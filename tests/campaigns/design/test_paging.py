"""Pages of several outputs: what is compared, documents, and how a plan of pages becomes one of items."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.design.composition import Kind, Mix
from campaigns.design.errors import DesignError
from campaigns.design.paging import compare_outputs, join_documents, write_out
from campaigns.design.plan import plan_hits


def grid(n_sources: int, n_systems: int) -> tuple[np.ndarray, np.ndarray]:
    return np.repeat(np.arange(n_sources), n_systems), np.tile(np.arange(n_systems), n_sources)


def test_two_at_once_are_all_pairs_of_a_source() -> None:
    source, system = grid(3, 4)
    pages = compare_outputs(source, system, 2, seed=1)
    found = {(s, *sorted(system[m].tolist())) for s, m in zip(pages.source.tolist(), pages.members, strict=True)}
    assert found == {(s, i, j) for s in range(3) for i, j in combinations(range(4), 2)}
    assert all((source[m] == s).all() for s, m in zip(pages.source.tolist(), pages.members, strict=True))


@given(n_systems=st.integers(3, 9), n_at_once=st.integers(3, 5), seed=st.integers(0, 5))
def test_of_more_at_once_each_output_is_in_every_round(n_systems: int, n_at_once: int, seed: int) -> None:
    source, system = grid(2, n_systems)
    if n_systems < n_at_once:
        with pytest.raises(DesignError, match=f"at most {n_systems}"):
            compare_outputs(source, system, n_at_once, seed)
        return
    pages = compare_outputs(source, system, n_at_once, seed)
    uses = Counter(np.concatenate(pages.members).tolist())
    n_rounds = -(-(n_systems - 1) // (n_at_once - 1)) if n_systems > n_at_once else 1
    assert min(uses.values()) >= n_rounds
    assert all(len(set(system[m].tolist())) == n_at_once for m in pages.members)


def test_a_comparison_needs_two() -> None:
    with pytest.raises(DesignError, match="at least 2"):
        compare_outputs(*grid(2, 3), 1, seed=0)


def test_documents_are_of_one_system_and_in_order() -> None:
    document = np.array([0, 0, 0, 0, 1, 1])
    place = np.array([2, 1, 2, 1, 1, 1])
    system = np.array([0, 0, 1, 1, 0, 1])
    pages = join_documents(document, place, system)
    assert [m.tolist() for m in pages.members] == [[1, 0], [3, 2], [4], [5]]
    assert pages.source.tolist() == [0, 0, 1, 1]
    assert pages.system.tolist() == [0, 1, 0, 1]


@pytest.fixture(scope="module")
def compared():
    source, system = grid(30, 4)
    pages = compare_outputs(source, system, 2, seed=7)
    plan = plan_hits(Mix(20, 4, 3), source=pages.source, system=pages.system, seed=7)
    return source, system, write_out(plan, pages, system=system)


def test_items_of_a_page_follow_one_another(compared) -> None:
    hits = compared[2].hits
    for hit in range(hits.hit.max() + 1):
        own = hits.hit == hit
        assert hits.position[own].tolist() == list(range(1, 55))
        assert hits.page[own].tolist() == [page for page in range(1, 28) for _ in range(2)]


def test_each_system_is_first_and_second_equally_often_against_each_other(compared) -> None:
    _, system, plan = compared
    shown = system[plan.hits.output].reshape(-1, 2)
    orders = Counter(map(tuple, shown.tolist()))
    for i, j in combinations(range(4), 2):
        assert abs(orders[i, j] - orders[j, i]) <= 1


def test_a_degraded_page_has_one_degraded_output_and_its_twins_are_on_one_page(compared) -> None:
    hits, at = compared[2].hits, {}
    for k in range(hits.hit.size):
        at[int(hits.hit[k]), int(hits.position[k])] = k
    for hit in range(hits.hit.max() + 1):
        for page in range(1, 28):
            items = np.flatnonzero((hits.hit == hit) & (hits.page == page))
            kinds = Counter(hits.kind[items].tolist())
            assert kinds in ({Kind.ORDINARY: 2}, {Kind.REPEAT: 2}, {Kind.DEGRADED: 1, Kind.REPEAT: 1})
            if Kind.ORDINARY in kinds:
                assert (hits.twin_position[items] == -1).all()
                continue
            twins = [at[hit, int(hits.twin_position[k])] for k in items]
            assert hits.output[twins].tolist() == hits.output[items].tolist()
            assert len({int(hits.page[k]) for k in twins}) == 1
            assert (hits.kind[twins] == Kind.ORDINARY).all()


def test_degraded_outputs_are_left_and_right_alike(compared) -> None:
    hits = compared[2].hits
    left = Counter((hits.position[hits.kind == Kind.DEGRADED] % 2).tolist())
    assert 0.25 < left[1] / left.total() < 0.75


def test_totals_count_outputs_not_pages(compared) -> None:
    _, system, plan = compared
    ordinary = plan.hits.output[plan.hits.kind == Kind.ORDINARY]
    assert plan.totals.n_items == plan.hits.hit.size
    assert plan.totals.ratings_per_system.tolist() == np.bincount(system[ordinary]).tolist()
    assert plan.totals.n_outputs_left_out == 120 - np.unique(ordinary).size


def test_of_a_degraded_document_every_output_with_words_is_degraded() -> None:
    document, place, system = np.repeat(np.arange(6), 4), np.tile([1, 2, 1, 2], 6), np.tile([0, 0, 1, 1], 6)
    is_degradable = np.arange(24) != 1
    pages = join_documents(document, place, system)
    plan = plan_hits(Mix(5, 1, 1), source=pages.source, system=pages.system, seed=3, n_hits=4)
    hits = write_out(plan, pages, system=system, is_degradable=is_degradable).hits
    for hit in range(4):
        own = hits.hit == hit
        assert Counter(hits.kind[own].tolist())[Kind.ORDINARY] == 10
        degraded = np.flatnonzero(own & (hits.kind == Kind.DEGRADED))
        assert is_degradable[hits.output[degraded]].all()
        assert degraded.size == 2 - np.isin(1, hits.output[np.isin(hits.page, hits.page[degraded]) & own])


def test_the_same_seed_gives_the_same_pages() -> None:
    source, system = grid(10, 3)

    def plan(seed: int):
        pages = compare_outputs(source, system, 3, seed)
        return write_out(
            plan_hits(Mix(5, 2, 1), source=pages.source, system=pages.system, seed=seed), pages, system=system
        )

    one, same, other = plan(4), plan(4), plan(5)
    np.testing.assert_array_equal(one.hits.output, same.hits.output)
    np.testing.assert_array_equal(one.hits.kind, same.hits.kind)
    assert one.hits.output.tolist() != other.hits.output.tolist()
