"""Confidence sequences: their formula against integration, and how often they are ever wrong."""

from itertools import combinations

import numpy as np
import pytest
from scipy import integrate, stats

from analysis.stats.inference import compare_clustered
from analysis.stats.sequences import at_every_look, compare_at_any_time, confidence_sequence, critical_t


def bayes_factor(t, n, g):
    """The density of t under effects δ ~ N(0, g), by integration, over that under none."""

    def of_effect(delta):
        return stats.nct.pdf(t, n - 1, delta * np.sqrt(n)) * stats.norm.pdf(delta, scale=np.sqrt(g))

    return integrate.quad(of_effect, -6 * np.sqrt(g), 6 * np.sqrt(g))[0] / stats.t.pdf(t, n - 1)


@pytest.mark.parametrize(("n", "alpha", "n_planned"), [(12, 0.05, 30), (30, 0.05, 30), (40, 0.1, 100)])
def test_the_bound_is_where_the_bayes_factor_reaches_one_over_alpha(n, alpha, n_planned):
    g = (-2 * np.log(alpha) + np.log(1 - 2 * np.log(alpha))) / n_planned
    t = float(critical_t(np.array(n), alpha=alpha, n_planned=n_planned))
    assert bayes_factor(t, n, g) == pytest.approx(1 / alpha, rel=1e-4)


def test_many_values_have_the_bound_of_robbins():
    n, alpha, n_planned = 1e6, 0.05, 1e6
    g = (-2 * np.log(alpha) + np.log(1 - 2 * np.log(alpha))) / n_planned
    robbins = np.sqrt((n * g + 1) / (n * g) * 2 * np.log(np.sqrt(n * g + 1) / alpha))
    assert critical_t(np.array(n), alpha=alpha, n_planned=n_planned) == pytest.approx(robbins, rel=1e-5)


def test_bounds_and_p_values_say_the_same():
    values = np.random.default_rng(2).normal(0.4, 1, 200)
    found = confidence_sequence(values)
    np.testing.assert_array_equal(found.p_value < 0.05, (found.low > 0) | (found.high < 0))
    assert found.p_value[0] == 1 and found.p_value[-1] < 0.05
    assert found.estimate[-1] == pytest.approx(values.mean())
    error = stats.sem(values[:50])
    assert found.high[49] - found.estimate[49] == pytest.approx(error * critical_t(np.array(50.0)), rel=1e-9)


def test_looking_after_every_value_is_rarely_ever_wrong():
    rng = np.random.default_rng(6)
    values = rng.normal(0, 1, (400, 120))
    ever = np.mean([(confidence_sequence(row).p_value < 0.05).any() for row in values])
    n = np.arange(2, 121)
    mean = np.cumsum(values, axis=1)[:, 1:] / n
    squares = np.cumsum(values**2, axis=1)[:, 1:] - n * mean**2
    naive = np.mean((2 * stats.t.sf(np.abs(mean) / np.sqrt(squares / (n - 1) / n), n - 1) < 0.05).any(axis=1))
    assert ever <= 0.05 < 0.3 < naive


def test_it_narrows_around_a_difference():
    found = confidence_sequence(np.random.default_rng(0).normal(1, 1, 300))
    assert found.low[-1] > 0.7 and found.high[-1] < 1.3


def test_nothing_is_said_of_equal_values_or_of_none():
    found = confidence_sequence(np.full(40, 0.3))
    assert (found.p_value == 1).all() and np.isinf(found.low).all()
    assert confidence_sequence(np.empty(0)).estimate.size == 0


def test_pairs_of_systems_have_the_bounds_of_their_standard_errors():
    rng = np.random.default_rng(8)
    worker, system = np.indices((40, 3)).reshape(2, -1)
    so_far = compare_clustered(rng.normal(size=120) + (system == 0), system, worker, np.full(120, -1), 4)
    found = compare_at_any_time(so_far, n_planned=40)
    reach = float(critical_t(np.array(40.0), n_planned=40)) * so_far.standard_error[0, 1]
    assert found.high[0, 1] - found.low[0, 1] == pytest.approx(2 * reach)
    # A later, wider look than one at the end only
    assert found.p_value[0, 1] > 2 * so_far.p_value[0, 1]
    assert found.p_value[0, 1] < 0.05
    assert np.isnan(found.p_value[3]).all() and np.isnan(found.low[3]).all()


def comparison_of(z: np.ndarray):
    """Compare systems (columns) rated once by each worker (rows), sources unknown."""
    worker, system = np.indices(z.shape).reshape(2, -1)
    return compare_clustered(z.ravel(), system, worker, np.full(z.size, -1), z.shape[1])


def test_a_comparison_at_every_look_is_wider_and_corrected_over_pairs():
    rng = np.random.default_rng(8)
    once = comparison_of(rng.normal(0, 1, (40, 4)) - np.array([0, 0, 2, 4]))
    watched = at_every_look(once, n_planned=40)
    upper = np.triu_indices(4, 1)
    assert (watched.low < once.low)[upper].all() and (watched.high > once.high)[upper].all()
    of_pair = compare_at_any_time(once, n_planned=40).p_value[upper]
    holm = [  # closed testing: the largest p of Bonferroni over all sets of pairs that hold this one
        max(
            min(1, of_pair[list(chosen)].min() * n)
            for n in range(1, 7)
            for chosen in combinations(range(6), n)
            if k in chosen
        )
        for k in range(6)
    ]
    np.testing.assert_allclose(watched.holm[upper], holm)
    np.testing.assert_array_equal(watched.holm, watched.holm.T)
    assert watched.holm[0, 1] > 0.05 > watched.holm[0, 2] and watched.p_value[0, 2] < 0.05 < watched.p_value[2, 0]


def test_of_all_pairs_and_looks_together_few_campaigns_ever_err():
    """Six equal systems: share of campaigns in which any pair is ever called different, with a look at each worker."""
    rng = np.random.default_rng(9)
    n_wrong = {"watched": 0, "once": 0}
    for _ in range(40):
        z = rng.normal(0, 1, (24, 6)) + rng.normal(0, 0.5, (24, 1))
        looks = [comparison_of(z[:n]) for n in range(4, 25, 2)]
        n_wrong["watched"] += any((at_every_look(look, n_planned=24).holm < 0.05).any() for look in looks)
        n_wrong["once"] += any((look.holm < 0.05).any() for look in looks)
    assert n_wrong["watched"] <= 3 < n_wrong["once"]
