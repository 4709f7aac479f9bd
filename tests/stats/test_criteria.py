"""Criteria regressed on each other, against statsmodels."""

import numpy as np
import pytest

from analysis.stats.criteria import regress


@pytest.fixture
def ratings():
    """Scores on three criteria by workers with levels of their own, some of them missing."""
    rng = np.random.default_rng(8)
    worker = rng.integers(0, 12, 300)
    x = rng.normal(size=(300, 2)) + rng.normal(size=12)[worker][:, None]
    y = 0.6 * x[:, 0] - 0.2 * x[:, 1] + rng.normal(size=300) + 0.5 * rng.normal(size=12)[worker]
    x[:9, 1] = np.nan
    return y, x, worker


def test_coefficients_and_intervals_are_those_of_statsmodels(ratings):
    """statsmodels 0.15.0, which is too large to be installed for the tests: OLS of the standardised scores with an
    intercept, `fit(cov_type="cluster", cov_kwds={"groups": worker}, use_t=True)`.
    """
    found = regress(*ratings)
    assert found.n == 291
    assert found.estimate == pytest.approx([0.6426040123804707, -0.06844798895716443])
    assert found.low == pytest.approx([0.44228926306876926, -0.22715302975910923])
    assert found.high == pytest.approx([0.8429187616921722, 0.09025705184478035])
    assert found.r_squared == pytest.approx(0.3902113574378926)


def test_what_is_constant_or_determined_is_undefined(ratings):
    y, x, worker = ratings
    assert np.isnan(regress(np.ones_like(y), x, worker).estimate).all()
    assert np.isnan(regress(y, np.column_stack([x, x[:, 0]]), worker).estimate).all()
    assert np.isnan(regress(y[:2], x[:2], worker[:2]).r_squared)
    alone = regress(y, x, np.zeros(300, int))
    assert np.isnan(alone.low).all() and not np.isnan(alone.estimate).any()
