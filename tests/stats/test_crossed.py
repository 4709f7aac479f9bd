"""Crossed random effects: a published example, statsmodels, every matrix written out, and the paired t test."""

import json

import numpy as np
import pytest
from scipy import stats

from analysis.stats import crossed
from analysis.stats.crossed import compare_crossed, fit_components
from analysis.stats.inference import TooLargeError
from tests.stats import crossed_effects

# Six workers, three times each on machines A, B and C: Pinheiro & Bates 2000, §1.3 (`Machines` of R's nlme, from
# Milliken & Johnson 1992).
MACHINES = """
52.0 52.8 53.1 51.8 52.8 53.1 60.0 60.2 58.4 51.1 52.3 50.3 50.9 51.8 51.4 46.4 44.8 49.2
62.1 62.6 64.0 59.7 60.0 59.0 68.6 65.8 69.7 63.2 62.8 62.2 64.8 65.0 65.4 43.7 44.2 43.0
67.5 67.2 66.9 61.5 61.7 62.3 70.8 70.6 71.0 64.1 66.2 64.0 72.1 72.0 71.1 62.0 61.4 60.5
"""


def machines():
    z = np.array([float(each) for each in MACHINES.split()])
    return z, np.repeat([0, 1, 2], 18), np.tile(np.repeat(np.arange(6), 3), 3), np.full(54, -1)


def test_workers_and_workers_by_system_are_those_of_pinheiro_and_bates():
    """Their fit by REML: standard deviations 4.781, 3.730 and .9616, log-likelihood −107.84, B − A 7.967 (2.177)."""
    found = fit_components(*machines())
    assert np.sqrt([found.worker, found.worker_system, found.residual]) == pytest.approx(
        [4.78105, 3.72954, 0.96158], 1e-5
    )
    assert found.log_likelihood == pytest.approx(-107.8438, abs=1e-4)
    assert np.isnan([found.source, found.output]).all()
    compared = compare_crossed(*machines(), 3)
    assert compared.difference[1, 0] == pytest.approx(7.96667, abs=1e-5)
    assert compared.difference[2, 0] == pytest.approx(13.91667, abs=1e-5)
    assert compared.standard_error[1, 0] == pytest.approx(2.17698, abs=1e-5)
    assert compared.df[1, 0] == pytest.approx(10)  # balanced: (6 − 1)(3 − 1)


def test_all_effects_are_those_of_statsmodels():
    expected = json.loads(crossed_effects.PATH.read_text())
    columns = crossed_effects.ratings()
    found = fit_components(*columns)
    for name in ("worker", "worker_system", "source", "output", "residual", "log_likelihood"):
        assert getattr(found, name) == pytest.approx(expected[name], rel=1e-6)
    assert compare_crossed(*columns, 3).difference[1:, 0] == pytest.approx(expected["differences"], rel=1e-6)


def test_errors_and_degrees_of_freedom_follow_from_the_components_by_dense_matrices():
    z, system, worker, source = crossed_effects.ratings()
    found = fit_components(z, system, worker, source)
    groups = (worker, worker * 3 + system, source, source * 3 + system, np.arange(z.size))
    variance = [found.worker, found.worker_system, found.source, found.output, found.residual]
    parts = [(group[:, None] == group[None, :]).astype(float) for group in groups]
    inverse = np.linalg.inv(sum(v * part for v, part in zip(variance, parts, strict=True)))
    design = np.eye(3)[system]
    covariance = np.linalg.inv(design.T @ inverse @ design)
    projection = inverse - inverse @ design @ covariance @ design.T @ inverse
    projected = projection @ z
    information = np.array([[(a @ projected) @ projection @ (b @ projected) / 2 for b in parts] for a in parts])
    contrast = np.array([1.0, 0, -1])
    weights = inverse @ design @ covariance @ contrast
    gradient = np.array([weights @ part @ weights for part in parts])
    error = contrast @ covariance @ contrast
    compared = compare_crossed(z, system, worker, source, 3)
    assert compared.difference[0, 2] == pytest.approx(weights @ z, rel=1e-6)
    assert compared.standard_error[0, 2] ** 2 == pytest.approx(error, rel=1e-6)
    assert compared.df[0, 2] == pytest.approx(
        2 * error**2 / (gradient @ np.linalg.solve(information, gradient)), rel=1e-4
    )


def test_workers_and_sources_are_treated_alike():
    """Whichever has fewer effects is solved for: exchanging their names exchanges components and nothing else."""
    z, system, worker, source = crossed_effects.ratings()
    one, other = fit_components(z, system, worker, source), fit_components(z, system, source, worker)
    assert (one.worker, one.worker_system) == pytest.approx((other.source, other.output), rel=1e-5)
    assert (one.source, one.output) == pytest.approx((other.worker, other.worker_system), rel=1e-5)
    first, second = compare_crossed(z, system, worker, source, 3), compare_crossed(z, system, source, worker, 3)
    np.testing.assert_allclose(first.standard_error, second.standard_error, rtol=1e-5)
    np.testing.assert_allclose(first.df, second.df, rtol=1e-3)


def test_one_rating_of_each_of_two_systems_by_each_worker_is_the_paired_t_test():
    rng = np.random.default_rng(2)
    pairs = rng.normal(0, 1, (12, 2)) + rng.normal(0, 1.5, (12, 1))
    system, worker = np.tile([0, 1], 12), np.repeat(np.arange(12), 2)
    found = compare_crossed(pairs.ravel(), system, worker, np.full(24, -1), 2)
    expected = stats.ttest_rel(pairs[:, 0], pairs[:, 1], alternative="greater")
    assert found.df[0, 1] == pytest.approx(11, rel=1e-5)
    assert found.p_value[0, 1] == pytest.approx(expected.pvalue, rel=1e-5)


def test_a_component_that_is_not_there_is_zero():
    """Residuals of workers that cancel out: no variance between workers is left."""
    system, worker = np.indices((2, 8)).reshape(2, -1)
    z = np.where(system == worker % 2, 1.0, -1.0) + 0.01 * np.arange(16) * (-1) ** system
    found = fit_components(z, system, worker, np.full(16, -1))
    assert found.worker == 0
    assert found.residual > 0


def test_what_cannot_be_compared_is_undefined():
    z, system, worker, source = crossed_effects.ratings()
    empty = compare_crossed(z[:0], system[:0], worker[:0], source[:0], 3)
    constant = compare_crossed(np.ones(z.size), system, worker, source, 3)
    alone = compare_crossed(z, system, np.zeros(z.size, int), source, 3)
    for found in (empty, constant, alone):
        assert np.isnan(found.p_value).all()
    assert constant.difference[0, 1] == 0
    unrated = compare_crossed(np.append(z, np.nan), np.append(system, 3), np.append(worker, 0), np.append(source, 0), 5)
    assert np.isnan(unrated.difference[3:]).all()
    np.testing.assert_allclose(unrated.p_value[:3, :3], compare_crossed(z, system, worker, source, 3).p_value)
    assert np.isnan(fit_components(np.ones(3), np.zeros(3, int), np.arange(3), np.arange(3)).residual)


def test_too_many_effects_are_refused(monkeypatch):
    monkeypatch.setattr(crossed, "MOST_EFFECTS", 20)
    with pytest.raises(TooLargeError, match="up to 20 effects"):
        compare_crossed(*crossed_effects.ratings(), 3)
