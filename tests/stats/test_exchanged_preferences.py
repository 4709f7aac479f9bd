"""Exchanging the labels of two systems in comparisons: every exchange written out, and how often it is wrong."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize

from analysis.stats import permutation
from analysis.stats.davidson import Outcome
from analysis.stats.exchanged_preferences import compare_preferences
from analysis.stats.inference import TooLargeError

N_SYSTEMS = 4
Columns = tuple[np.ndarray, ...]


def votes(rng: np.random.Generator, n: int = 90, n_sources: int = 6) -> Columns:
    """Return first, second, outcome, worker and source of votes of five workers on any two of four systems."""
    first = rng.integers(0, N_SYSTEMS, n)
    second = (first + rng.integers(1, N_SYSTEMS, n)) % N_SYSTEMS
    ahead = rng.normal(0, 1, n) + 0.5 * (first == 3) - 0.5 * (second == 3) + 0.3 * (first == 0) - 0.3 * (second == 0)
    outcome = np.where(np.abs(ahead) < 0.3, Outcome.TIE, np.where(ahead > 0, Outcome.LEFT, Outcome.RIGHT))
    return first, second, outcome, rng.integers(0, 5, n), rng.integers(0, n_sources, n)


def chances(difference: np.ndarray, log_tie: float) -> np.ndarray:
    """Return the chance of a win, a loss and a tie by Davidson's model."""
    weight = np.exp(np.stack([difference / 2, -difference / 2, np.full_like(difference, log_tie)]))
    return weight / weight.sum(axis=0)


def statistic(columns: Columns, i: int, j: int, block: np.ndarray) -> float:
    """Return t of the score of a difference of i and j, with a model of equal ones fitted from scratch."""
    first, second, outcome, worker, _ = columns
    first_as, second_as = (np.where(codes == j, i, codes) for codes in (first, second))
    is_other = first_as != second_as

    def cost(parameters: np.ndarray) -> float:
        share = chances(parameters[first_as] - parameters[second_as], parameters[-1])
        return float(-np.log(share[outcome, np.arange(outcome.size)])[is_other].sum() + parameters[:-1].sum() ** 2)

    fitted = minimize(cost, np.zeros(N_SYSTEMS + 1), tol=1e-12).x
    share = chances(fitted[first_as] - fitted[second_as], fitted[-1])
    expected = (share[0] - share[1]) / 2
    lever = ((first == i) * 1.0 - (first == j) - (second == i) + (second == j)) / 2
    score = lever * (np.array([0.5, -0.5, 0.0])[outcome] - expected)
    information = lever**2 * ((1 - share[2]) / 4 - expected**2)
    used = lever != 0
    difference = score.sum() / information.sum()
    rest, raw, corrected = (score - difference * information)[used], [], []
    for cluster in (worker[used], block[used], (worker * 100 + block)[used]):
        sums = np.array([rest[cluster == each].sum() for each in np.unique(cluster)])
        raw.append((sums**2).sum())
        corrected.append(raw[-1] * sums.size / (sums.size - 1))
    variance = corrected[0] + corrected[1] - corrected[2]
    return float(score.sum() / np.sqrt(variance if variance > 0 else max(raw[:2])))


def exchanged(columns: Columns, i: int, j: int, block: np.ndarray, is_turned: tuple[bool, ...]) -> Columns:
    """Return the comparisons with the names of i and j exchanged in some blocks."""
    first, second, *rest = columns
    turned = np.array(is_turned)[block]
    other = np.arange(N_SYSTEMS)
    other[[i, j]] = j, i
    return np.where(turned, other[first], first), np.where(turned, other[second], second), *rest


@pytest.mark.parametrize("has_sources", [True, False])
def test_every_exchange_is_counted(has_sources: bool) -> None:
    columns = votes(np.random.default_rng(3))
    if not has_sources:
        columns = (*columns[:4], np.full(columns[0].size, -1))
    block = columns[4] if has_sources else columns[3]
    found = compare_preferences(*columns, N_SYSTEMS, np.random.default_rng(0))
    for i, j in ((0, 1), (1, 2)):
        ways = product([False, True], repeat=int(block.max()) + 1)
        t = np.array([statistic(exchanged(columns, i, j, block, way), i, j, block) for way in ways])
        assert found.difference[i, j] / found.standard_error[i, j] == pytest.approx(t[0], rel=1e-4)
        assert found.p_value[i, j] == pytest.approx(np.mean(t >= t[0] - 1e-5))
        assert found.p_value[j, i] == pytest.approx(np.mean(t <= t[0] + 1e-5))


def test_the_step_from_equal_strengths_is_about_the_difference() -> None:
    rng = np.random.default_rng(4)
    first, second, _, worker, source = votes(rng, 20_000, 400)
    strength = np.array([0.15, 0.0, 0.4, -0.3])
    share = chances(strength[first] - strength[second], -1.0)
    outcome = (rng.random(first.size) > np.cumsum(share, axis=0)[:2]).sum(axis=0)
    found = compare_preferences(first, second, outcome, worker, source, N_SYSTEMS, rng, n_flips=199)
    expected = strength[:, None] - strength
    off = ~np.eye(N_SYSTEMS, dtype=bool)
    assert found.difference[off] == pytest.approx(expected[off], abs=0.1)


def ranked(rng: np.random.Generator, liking: float) -> Columns:
    """Return the pairs of rankings of four systems by 12 workers on 4 of 24 sources each, two of which are equal."""
    worker, source = np.repeat(np.arange(12), 4), rng.integers(0, 24, 48)
    likes = rng.normal(0, liking, (12, N_SYSTEMS))[worker] + rng.normal(0, 0.5, (24, N_SYSTEMS))[source]
    merit = likes + np.array([0, 0, 0.5, -0.5]) + rng.gumbel(size=(48, N_SYSTEMS))
    judgement, pair = (each.ravel() for each in np.indices((48, 6)))
    first, second = (codes[pair] for codes in np.triu_indices(N_SYSTEMS, 1))
    outcome = np.where(merit[judgement, first] > merit[judgement, second], Outcome.LEFT, Outcome.RIGHT)
    return first, second, outcome, worker[judgement], source[judgement]


@pytest.mark.parametrize("liking", [0.0, 0.5])
def test_equal_systems_of_rankings_are_rarely_found_to_differ(liking: float) -> None:
    rng = np.random.default_rng(6)
    wrong = []
    for _ in range(150):
        found = compare_preferences(*ranked(rng, liking), N_SYSTEMS, rng, n_flips=99)
        wrong += [found.p_value[0, 1] <= 0.05, found.p_value[1, 0] <= 0.05]
    assert 0.01 < np.mean(wrong) < 0.09


def test_what_cannot_be_compared_is_undefined() -> None:
    rng = np.random.default_rng(1)
    first, second, outcome, worker, source = votes(rng)
    nothing = np.zeros(0, np.int64)
    for columns in (
        (nothing,) * 5,
        (first, second, np.full(first.size, Outcome.TIE), worker, source),
        (first, second, outcome, 0 * worker, 0 * source - 1),  # one worker, sources unknown
    ):
        assert np.isnan(compare_preferences(*columns, N_SYSTEMS, rng).holm).all()


def test_systems_that_always_win_and_systems_apart_from_the_others_are_compared() -> None:
    """Of two groups that never meet, each pair of one group is compared within it, and one may always lose."""
    rng = np.random.default_rng(2)
    source = np.arange(40)
    first, second = np.tile([0, 2], 20), np.tile([1, 3], 20)
    outcome = np.where(first == 0, Outcome.LEFT, rng.integers(0, 2, 40))
    found = compare_preferences(first, second, outcome, source % 7, source, N_SYSTEMS, rng)
    assert found.holm[2, 3] > 0.05 and np.isnan(found.holm[0, 1])  # nothing varies between 0 and 1
    assert found.difference[0, 1] == pytest.approx(2.0)


def test_too_much_work_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(permutation, "MOST_WORK", 1000)
    with pytest.raises(TooLargeError, match="exchanges of labels"):
        compare_preferences(*votes(np.random.default_rng(1)), N_SYSTEMS, np.random.default_rng(1))
