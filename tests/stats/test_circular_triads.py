"""Circular triads: Kendall and Babington Smith's frequencies, counting them one by one, and what shuffling expects."""

from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.stats.circular_triads import count_triads, share_by_chance
from analysis.stats.davidson import Outcome
from analysis.stats.rankings import implied_pairs


@pytest.mark.parametrize(
    ("n", "frequencies"),
    [(3, [6, 2]), (4, [24, 16, 24]), (5, [120, 120, 240, 240, 280, 24])],
)
def test_all_tournaments_have_the_triads_of_the_published_frequencies(n: int, frequencies: list[int]) -> None:
    # How many tournaments of n have d = 0, 1, … circular triads, as Kendall & Babington Smith 1940 tabulate it.
    pairs = np.array(list(combinations(range(n), 2)))
    outcome = np.array(list(product([Outcome.LEFT, Outcome.RIGHT], repeat=len(pairs))))
    first, second = np.tile(pairs.T, len(outcome))
    group = np.repeat(np.arange(len(outcome)), len(pairs))
    found = count_triads(first, second, outcome.ravel(), group, len(outcome))
    assert np.bincount(found.n_circular).tolist() == frequencies
    won = np.where(outcome.ravel() == Outcome.LEFT, first, second)
    scores = np.bincount(group * n + won, minlength=len(outcome) * n).reshape(-1, n)
    d = n * (n - 1) * (n - 2) // 6 - (scores * (scores - 1) // 2).sum(axis=1)
    assert found.n_circular.tolist() == d.tolist()
    assert found.consistence == pytest.approx(1 - d / (len(frequencies) - 1))
    assert found.n_circular.sum() / found.n_decided.sum() == 0.25


def test_of_seven_systems_fourteen_circular_triads_are_the_most() -> None:
    pairs = [(k, (k + step) % 7) for k in range(7) for step in (1, 2, 4)]
    first, second = np.array(pairs).T
    found = count_triads(first, second, np.zeros(21, int), np.zeros(21, int), 1)
    assert (found.n_circular.tolist(), found.consistence.tolist()) == ([14], [0.0])


def test_a_pair_is_decided_by_the_majority_and_without_one_its_triads_do_not_count() -> None:
    first, second = np.array([0, 0, 1, 0, 1, 2, 2]), np.array([1, 1, 0, 2, 2, 1, 3])
    outcome = np.array([Outcome.LEFT, Outcome.LEFT, Outcome.LEFT, Outcome.TIE, *[Outcome.LEFT] * 3])
    found = count_triads(first, second, outcome, np.zeros(7, int), 1)
    assert (found.n_systems[0], found.n_compared[0], found.n_decided[0], found.n_circular[0]) == (4, 1, 0, 0)
    assert np.isnan(found.consistence[0])


def test_groups_without_comparisons_have_nothing() -> None:
    nothing = np.empty(0, int)
    found = count_triads(nothing, nothing, nothing, nothing, 2)
    assert found.n_systems.tolist() == found.n_compared.tolist() == found.n_circular.tolist() == [0, 0]
    assert np.isnan(found.consistence).all()
    one, other, rng = np.array([0, 1]), np.array([1, 2]), np.random.default_rng(1)
    undecided = one, other, np.full(2, Outcome.TIE), np.zeros(2, int), 1
    assert np.isnan(share_by_chance(*undecided, judgement=np.zeros(2, int), n_draws=3, rng=rng))


comparisons = st.lists(
    st.tuples(st.integers(0, 5), st.integers(1, 5), st.sampled_from(Outcome), st.integers(0, 2)),
    min_size=1,
    max_size=60,
)


@given(rows=comparisons, n_at_once=st.sampled_from([3, 10, 500_000]))
def test_triads_are_those_counted_one_by_one(rows: list[tuple[int, int, Outcome, int]], n_at_once: int) -> None:
    first, step, outcome, group = (np.array(each) for each in zip(*rows, strict=True))
    second = (first + step) % 6
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("analysis.stats.circular_triads._AT_ONCE", n_at_once)
        found = count_triads(first, second, outcome, group, 3)
    for one in range(3):
        net: dict[tuple[int, int], int] = {}
        for a, b, result in zip(first[group == one], second[group == one], outcome[group == one], strict=True):
            value = {Outcome.LEFT: 1, Outcome.RIGHT: -1, Outcome.TIE: 0}[Outcome(result)]
            net[a, b] = net.get((a, b), 0) + value
            net[b, a] = net.get((b, a), 0) - value
        compared = [t for t in combinations(range(6), 3) if all(pair in net for pair in combinations(t, 2))]
        decided = [t for t in compared if all(net[pair] for pair in combinations(t, 2))]
        circular = [
            t for t in decided if any(net[a, b] > 0 < net[b, c] and net[c, a] > 0 for a, b, c in permutations(t))
        ]
        expected = [len(each) for each in (compared, decided, circular)]
        assert [found.n_compared[one], found.n_decided[one], found.n_circular[one]] == expected
        assert found.n_systems[one] == len({system for pair in net for system in pair})
        n_pairs = sum(value != 0 for value in net.values()) // 2
        n = found.n_systems[one]
        assert np.isnan(found.consistence[one]) == (n < 3 or n_pairs < n * (n - 1) // 2)


@given(ranks=st.lists(st.integers(1, 6), min_size=2, max_size=7))
def test_a_ranking_is_never_circular(ranks: list[int]) -> None:
    pairs = implied_pairs(np.zeros(len(ranks), int), np.array(ranks, float))
    found = count_triads(pairs.first, pairs.second, pairs.outcome, np.zeros(pairs.first.size, int), 1)
    assert found.n_circular.tolist() == [0]


def test_three_random_rankings_of_three_systems_are_circular_in_one_of_eighteen_cases() -> None:
    # Guilbaud's effect: of the 216 ways to rank three systems three times, 12 have a circular majority.
    n = 400
    judgement, system = np.repeat(np.arange(3 * n), 3), np.tile(np.arange(3), 3 * n)
    pairs = implied_pairs(judgement, system.astype(float))
    of = judgement[pairs.first]
    arrays = system[pairs.first], system[pairs.second], pairs.outcome, of // 3, n
    rng = np.random.default_rng(5)
    found = share_by_chance(*arrays, judgement=of, n_draws=50, rng=rng)
    assert found == pytest.approx(1 / 18, abs=4 * np.sqrt(1 / 18 * 17 / 18 / (50 * n)))
    assert share_by_chance(*arrays, judgement=np.arange(of.size), n_draws=1, rng=rng) == 0.25
