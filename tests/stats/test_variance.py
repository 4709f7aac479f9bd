"""Variance components: against statsmodels, exact expectations, and what cannot be separated."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.stats.variance import COMPONENTS, estimate_components
from tests.stats.variance_components import PATH, ratings


def unbalanced(seed=5, n=60):
    """System, worker, source of ratings that share all of them, some outputs often."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 3, n), rng.integers(0, 5, n), rng.integers(0, 6, n)


def test_balanced_ratings_give_the_estimates_of_statsmodels():
    """With balanced ratings and positive estimates, moments and restricted maximum likelihood agree."""
    found = estimate_components(*ratings())
    assert found.variance == pytest.approx(json.loads(PATH.read_text()), rel=2e-3)


def test_estimates_are_unbiased_on_unbalanced_ratings():
    """Estimates are quadratic forms: the expectation for y ~ (μ, LL′) is the sum of the values at the columns of L."""
    system, worker, source = unbalanced()
    truth = dict(zip(COMPONENTS, (4.0, 2.0, 3.0, 1.5, 2.5, 5.0), strict=True))
    groups = {
        "system": system,
        "worker": worker,
        "source": source,
        "worker x system": worker * 3 + system,
        "source x system": source * 3 + system,
        "residual": np.arange(system.size),
    }
    expected = dict.fromkeys(COMPONENTS, 0.0)
    for name, code in groups.items():
        for level in np.unique(code):
            column = np.sqrt(truth[name]) * (code == level)
            for each, value in estimate_components(column, system, worker, source).variance.items():
                expected[each] += value
    assert expected == pytest.approx(truth, rel=1e-9)


def test_outputs_rated_once_cannot_be_told_from_the_residual():
    source, system = np.indices((30, 3)).reshape(2, -1)
    rng = np.random.default_rng(0)
    worker = rng.integers(0, 6, source.size)
    found = estimate_components(rng.normal(size=source.size), system, worker, source)
    assert found.not_separated == ["source x system"]
    assert found.positive("source x system") == 0


def test_without_sources_there_is_no_component_of_them():
    system, worker, _ = unbalanced()
    found = estimate_components(np.arange(60.0), system, worker, np.full(60, -1))
    assert set(found.variance) == {"system", "worker", "worker x system", "residual"}


def test_ratings_that_are_missing_are_left_out():
    system, worker, source = unbalanced()
    y = np.random.default_rng(1).normal(size=60)
    y[:10] = np.nan
    whole = estimate_components(y, system, worker, source)
    part = estimate_components(y[10:], system[10:], worker[10:], source[10:])
    assert whole == part


def test_too_few_ratings_say_nothing():
    one = np.zeros(1, int)
    assert estimate_components(np.array([3.0]), one, one, one).variance == {}
    assert estimate_components(np.full(1, np.nan), one, one, one).not_separated == list(COMPONENTS)


@settings(max_examples=20, deadline=None)
@given(st.floats(-100, 100), st.floats(0.1, 10))
def test_a_shift_changes_nothing_and_a_scale_its_square(shift, scale):
    system, worker, source = unbalanced()
    y = np.random.default_rng(2).normal(size=60)
    found = estimate_components(y, system, worker, source).variance
    moved = estimate_components(shift + scale * y, system, worker, source).variance
    assert moved == pytest.approx({name: scale**2 * value for name, value in found.items()}, rel=1e-6, abs=1e-8)
