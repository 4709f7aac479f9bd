"""Strengths with style taken out: against brute force, what must not matter, and votes with a known length bias."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize

from analysis.stats.bradley_terry import count_votes, fit_bradley_terry
from analysis.stats.bradley_terry import robust_covariance as robust_without_style
from analysis.stats.davidson import Outcome
from analysis.stats.style_control import (
    Use,
    find_use,
    fit_with_style,
    relative_difference,
    robust_covariance,
    spread_of,
)

TRUE = np.array([0.6, 0.3, 0.0, -0.3, -0.6])
N = TRUE.size
SWAPPED = np.array([Outcome.RIGHT, Outcome.LEFT, Outcome.TIE])


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def simulate(rng, n_votes=4000, bias=3.0, n_workers=20, longer_is_worse=0.8, log_tie=-1.0):
    """Return votes on systems of strengths `TRUE`, in which longer outputs win more often: worse systems write more.

    `bias` is the log odds of an output against one without any words.
    """
    left = rng.integers(0, N, n_votes)
    right = (left + rng.integers(1, N, n_votes)) % N
    worker = rng.integers(0, n_workers, n_votes)
    words = np.stack(
        [np.round(np.exp(5 - longer_is_worse * TRUE[side] + rng.normal(0, 0.5, n_votes))) for side in (left, right)], 1
    )
    d = TRUE[left] - TRUE[right] + bias * relative_difference(words)
    share = np.exp(np.stack([d / 2, -d / 2, np.full(n_votes, log_tie)], axis=1))
    share /= share.sum(axis=1, keepdims=True)
    outcome = (rng.random(n_votes)[:, None] > share.cumsum(axis=1)[:, :2]).sum(axis=1)
    return left, right, outcome, words, worker


def fitted(left, right, outcome, words):
    return fit_with_style(left, right, outcome, relative_difference(words)[:, None], N)


def minus_log(x, left, right, outcome, z, n=N):
    """Return the sum over votes of −log P, written out."""
    d = x[left] - x[right] + z @ x[n + 1 :]
    terms = np.exp(np.stack([d / 2, -d / 2, np.full(d.size, x[n])]))
    return -np.log(terms[outcome, np.arange(d.size)] / terms.sum(axis=0))


def test_the_fit_is_where_the_likelihood_is_largest(rng):
    left, right, outcome, words, worker = simulate(rng, 500)
    headings = rng.poisson(1.5, (500, 2))
    difference = np.stack([relative_difference(each) for each in (words, headings)], axis=1)
    z = difference / np.sqrt((difference**2).mean(axis=0))
    arrays = left, right, outcome, z
    found = minimize(lambda x: minus_log(x, *arrays).sum(), np.zeros(N + 3), method="BFGS", options={"gtol": 1e-7})
    fit = fit_with_style(left, right, outcome, difference, N)
    np.testing.assert_allclose(fit.strength, found.x[:N] - found.x[:N].mean(), atol=1e-4)
    np.testing.assert_allclose([fit.log_tie, *fit.coefficient], found.x[N:], atol=1e-4)
    assert fit.log_likelihood == pytest.approx(-found.fun)

    at = np.r_[fit.strength, fit.log_tie, fit.coefficient]
    of_workers = lambda x: np.bincount(worker, minus_log(x, *arrays))  # noqa: E731
    scores = approx_fprime(at, of_workers, 1e-6)
    gradient = lambda x: approx_fprime(x, lambda y: minus_log(y, *arrays).sum(), 1e-6)  # noqa: E731
    bread = np.linalg.pinv(approx_fprime(at, gradient, 1e-4), rcond=1e-4)
    np.testing.assert_allclose(fit.covariance, bread, rtol=2e-2, atol=1e-4)
    expected = bread @ (scores.T @ scores) @ bread * 20 / 19
    found = robust_covariance(fit, left, right, worker, 20)
    np.testing.assert_allclose(found, expected, rtol=3e-2, atol=2e-4)
    assert np.isnan(robust_covariance(fit, left, right, np.zeros(500, int), 1)).all()


@pytest.mark.parametrize("has_ties", [True, False])
def test_without_features_it_is_bradley_and_terrys_model(rng, has_ties):
    left, right, outcome, _, worker = simulate(rng, 600, log_tie=-1.0 if has_ties else -np.inf)
    fit = fit_with_style(left, right, outcome, np.zeros((600, 0)), N)
    plain = fit_bradley_terry(count_votes(left, right, outcome, N))
    np.testing.assert_allclose(fit.strength, plain.strength, atol=1e-9)
    np.testing.assert_allclose(fit.log_tie, plain.log_tie, atol=1e-9)
    robust = robust_covariance(fit, left, right, worker, 20)
    np.testing.assert_allclose(robust, robust_without_style(plain, left, right, outcome, worker, 20), atol=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_votes_with_a_known_length_bias_show_the_true_order_only_with_style(seed):
    left, right, outcome, words, worker = simulate(np.random.default_rng(seed))
    assert np.argsort(-fit_bradley_terry(count_votes(left, right, outcome, N)).strength).tolist() != list(range(N))
    fit = fitted(left, right, outcome, words)
    assert np.argsort(-fit.strength).tolist() == list(range(N))
    error = np.sqrt(np.diag(robust_covariance(fit, left, right, worker, 20)))
    assert (np.abs(fit.strength - TRUE) < 4 * error[:N]).all()
    bias = fit.coefficient[0] / spread_of(relative_difference(words)[:, None])[0]
    assert bias == pytest.approx(3.0, abs=0.6)


@pytest.mark.parametrize("seed", range(5))
def test_without_a_bias_the_order_stays_and_intervals_are_somewhat_wider(seed):
    left, right, outcome, words, _ = simulate(np.random.default_rng(seed), bias=0.0)
    plain, fit = fit_bradley_terry(count_votes(left, right, outcome, N)), fitted(left, right, outcome, words)
    assert np.argsort(-fit.strength).tolist() == np.argsort(-plain.strength).tolist() == list(range(N))
    ratio = np.sqrt(np.diag(fit.covariance)[:N] / np.diag(plain.covariance)[:N])
    assert (ratio[[0, -1]] >= 1).all() and (ratio < 1.6).all()
    assert abs(fit.coefficient[0]) < 4 * np.sqrt(fit.covariance[-1, -1])


def test_sides_units_and_names_do_not_matter(rng):
    left, right, outcome, words, worker = simulate(rng, 800)
    fit = fitted(left, right, outcome, words)
    mirrored = fitted(right, left, SWAPPED[outcome], words[:, ::-1])
    new = rng.permutation(N)
    for other, order in (
        (mirrored, np.arange(N)),
        (fitted(left, right, outcome, 5.3 * words), np.arange(N)),
        (fitted(new[left], new[right], outcome, words), new),
    ):
        np.testing.assert_allclose(other.strength[order], fit.strength, atol=1e-9)
        np.testing.assert_allclose(other.coefficient, fit.coefficient, atol=1e-9)
    np.testing.assert_allclose(
        robust_covariance(mirrored, right, left, worker, 20), robust_covariance(fit, left, right, worker, 20), atol=1e-9
    )


def test_differences_are_those_of_the_arena():
    found = relative_difference(np.array([[520.0, 500.0], [40, 20], [0, 0], [0, 7], [np.nan, 3]]))
    np.testing.assert_allclose(found, [20 / 1020, 1 / 3, 0, -1, np.nan])
    assert spread_of(np.array([[0.3, 0.0], [-0.4, 0.0]])).tolist() == pytest.approx([np.sqrt(0.125), 0])


def test_what_style_cannot_be_told_apart_from_is_left_out(rng):
    left, right, _, words, _ = simulate(rng, 400)
    own = np.array([100.0, 150, 200, 300, 50])  # of each system always as many
    of_system = np.stack([own[left], own[right]], axis=1)
    of_words = relative_difference(words)
    features = [of_words, np.zeros(400), relative_difference(of_system), 2 * of_words, rng.normal(0, 0.1, 400)]
    assert find_use(left, right, np.stack(features, axis=1), N) == [
        *(Use.USED, Use.CONSTANT, Use.CONFOUNDED, Use.CONFOUNDED, Use.USED),
    ]


def test_of_no_votes_and_of_one_nothing_is_told():
    none = np.zeros(0, int)
    assert find_use(none, none, np.zeros((0, 1)), 2) == [Use.CONSTANT]
    assert spread_of(np.zeros((0, 1))).tolist() == [0]
    assert fit_with_style(none, none, none, np.zeros((0, 1)), 2) is None
    one = np.array([0])
    assert find_use(one, 1 + one, np.array([[0.5]]), 2) == [Use.CONFOUNDED]
    assert fit_with_style(one, 1 + one, one, np.array([[0.5]]), 2) is None


def test_votes_that_follow_length_without_exception_have_no_finite_fit(rng):
    left, right, _, words, _ = simulate(rng, 300)
    outcome = np.where(words[:, 0] > words[:, 1], Outcome.LEFT, Outcome.RIGHT)
    assert fitted(left, right, outcome, words) is None
    assert fit_with_style(left, right, outcome, relative_difference(words)[:, None], N, prior=1.0) is None


def test_a_prior_keeps_the_strength_of_a_system_that_never_lost_finite(rng):
    left, right, outcome, words, _ = simulate(rng, 300)
    outcome = np.where(left == 0, Outcome.LEFT, np.where(right == 0, Outcome.RIGHT, outcome))
    assert fitted(left, right, outcome, words) is None
    fit = fit_with_style(left, right, outcome, relative_difference(words)[:, None], N, prior=1.0)
    assert np.isfinite(fit.strength).all() and fit.strength.argmax() == 0
