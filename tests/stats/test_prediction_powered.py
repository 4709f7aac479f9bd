"""Human ratings and a metric together: against ppi-python, on simulated campaigns, and what must always hold."""

import json
from dataclasses import fields, replace

import numpy as np
import pytest
from scipy import stats

from analysis.stats.inference import compare_clustered
from analysis.stats.prediction_powered import MetricOutputs, compare_with_metric, predict_saving
from tests.stats import ppi_python

QUALITY = np.array([0.0, 0.2, 0.5])
PREFERS = np.array([1.0, -0.5, 0.3])


def campaign(rng, n_sources=300, n_workers=16, n_items=30, agreement=0.8, noise=0.6, n_systems=3):
    """Ratings of outputs drawn at random, each at most once, and a metric of all outputs that prefers some systems.

    z is quality + source + output + what the worker likes + noise; the metric follows source and output as far as
    `agreement` says.
    """
    source_level, output_level = rng.normal(0, 0.6, n_sources), rng.normal(0, 0.6, (n_sources, n_systems))
    follows = 0.5 * source_level[:, None] + agreement * output_level
    score = 30 + 7 * (
        PREFERS[:n_systems] + follows + 0.6 * np.sqrt(1 - agreement**2) * rng.normal(0, 1, output_level.shape)
    )
    source, system = np.divmod(rng.permutation(n_sources * n_systems)[: n_workers * n_items], n_systems)
    worker = np.repeat(np.arange(n_workers), n_items)
    z = QUALITY[system] + source_level[source] + output_level[source, system]
    z += rng.normal(0, 0.2, (n_workers, n_systems))[worker, system] + rng.normal(0, noise, source.size)
    of_outputs = np.divmod(np.arange(n_sources * n_systems), n_systems)
    return (z, system, worker, source, n_systems), MetricOutputs(score.ravel(), of_outputs[1], of_outputs[0])


def same(a, b):
    return all(
        np.allclose(getattr(a, each.name), getattr(b, each.name), rtol=1e-8, atol=1e-10, equal_nan=True)
        for each in fields(a)
        if each.name not in ("unit", "n_missing")
    )


# --- Against the authors' program


def two_systems(unrated):
    """Two systems with the labels and metric of the example, the second higher by 2: λ is that of one mean."""
    rated, metric, _ = ppi_python.labels()
    n, n_all = rated.size, metric.size + unrated.size
    source = np.concatenate([np.arange(n), n_all + np.arange(n)])  # each output has a source and a rater of its own
    every = np.concatenate([metric, unrated])
    outputs = MetricOutputs(np.tile(every, 2), np.repeat([0, 1], n_all), np.arange(2 * n_all))
    found = compare_with_metric(
        *(np.concatenate([rated, rated + 2]), np.repeat([0, 1], n), np.arange(2 * n), source, 2, outputs)
    )
    return found, found.weight[1, 0] / found.unit * unrated.size / n_all  # λ for points of the metric


def test_interval_and_weight_are_those_of_ppi_python():
    published = json.loads(ppi_python.PATH.read_text())
    own, *given = published
    reach = stats.norm.isf(ppi_python.ALPHA / 2)
    variance = [((row["high"] - row["low"]) / 2 / reach) ** 2 for row in given]
    of_weight = np.polynomial.Polynomial.fit([row["lam"] for row in given], variance, 2)  # it is a parabola
    _, metric, unrated = ppi_python.labels()
    found, weight = two_systems(unrated - unrated.mean() + metric.mean())
    assert weight == pytest.approx(of_weight.deriv().roots()[0], rel=1e-6)  # where the published intervals are shortest
    k = 2 * ppi_python.N_RATED
    assert found.assisted_error[1, 0] ** 2 == pytest.approx(2 * of_weight(weight) * k / (k - 2), rel=1e-6)
    assert found.standard_error[1, 0] ** 2 == pytest.approx(2 * of_weight(0) * k / (k - 1), rel=1e-6)
    shortest = ((own["high"] - own["low"]) / 2 / reach) ** 2
    assert of_weight(weight) == pytest.approx(shortest, rel=0.01)  # their λ takes the variance of rated and unrated


def test_estimate_is_that_of_ppi_python():
    """The second system's metric is left at its mean, so that the difference is corrected as one mean is."""
    published = json.loads(ppi_python.PATH.read_text())
    slope = (published[-1]["estimate"] - published[1]["estimate"]) / published[-1]["lam"]
    rated, metric, unrated = ppi_python.labels()
    n, n_all = rated.size, metric.size + unrated.size
    source = np.concatenate([np.arange(n), n_all + np.arange(n)])
    score = np.concatenate([metric, unrated, np.full(n_all, 0.5)])
    outputs = MetricOutputs(score, np.repeat([0, 1], n_all), np.arange(2 * n_all))
    z, system = np.concatenate([rated, rated]), np.repeat([0, 1], n)
    found = compare_with_metric(z, system, np.arange(2 * n), source, 2, outputs)
    weight = found.weight[0, 1] / found.unit * unrated.size / n_all
    assert weight > 0.1
    assert found.assisted[0, 1] == pytest.approx(weight * slope, abs=1e-9)


# --- On simulated campaigns


def test_simulated_campaigns_are_unbiased_covered_and_saved_as_predicted():
    """The metric prefers systems by up to 1.5 z. Predictions are from the ratings of every second worker."""
    rng, n = np.random.default_rng(5), 240
    pair = np.triu_indices(3, 1)
    truth, found, predicted = (QUALITY[:, None] - QUALITY)[pair], [], []
    for k in range(n):
        (z, system, worker, source, n_systems), outputs = campaign(rng, n_sources=800, agreement=0.95, noise=0.3)
        each = compare_with_metric(z, system, worker, source, n_systems, outputs)
        columns = (each.difference, each.assisted, each.assisted_low, each.assisted_high)
        errors = each.standard_error[pair], each.assisted_error[pair]
        found.append([*(values[pair] - truth for values in columns), *errors])
        if k % 4 == 0:
            half = worker % 2 == 0
            pilot = compare_with_metric(z[half], system[half], worker[half], source[half], n_systems, outputs)
            predicted.append(predict_saving(pilot.limit, each.share_rated))
    people, assisted, low, high, error, assisted_error = np.moveaxis(np.array(found), 1, 0)
    assert (np.abs(assisted.mean(axis=0)) < 3 * assisted.std(axis=0) / np.sqrt(n)).all()
    assert 0.93 <= np.mean((low < 0) & (high > 0)) <= 0.97
    true = 1 - assisted.var(axis=0).sum() / people.var(axis=0).sum()
    measured = 1 - (assisted_error**2).sum() / (error**2).sum()
    assert true > 0.3
    assert measured == pytest.approx(true, rel=0.2)
    assert np.mean(predicted) == pytest.approx(true, rel=0.2)
    assert np.mean(predicted) == pytest.approx(measured, rel=0.2)


def test_a_metric_of_noise_saves_nothing():
    rng, saving = np.random.default_rng(2), []
    for _ in range(20):
        ratings, outputs = campaign(rng)
        found = compare_with_metric(*ratings, replace(outputs, score=rng.normal(0, 1, outputs.score.size)))
        saving.append(1 - np.nansum(found.assisted_error**2) / np.nansum(found.standard_error**2))
        assert found.limit < 0.1
    assert abs(np.mean(saving)) < 0.02


# --- What must always hold


def test_people_alone_are_the_recommended_comparison():
    ratings, outputs = campaign(np.random.default_rng(3))
    found, recommended = compare_with_metric(*ratings, outputs), compare_clustered(*ratings)
    for name in ("difference", "standard_error", "df", "low", "high"):
        np.testing.assert_array_equal(getattr(found, name), getattr(recommended, name))


def test_units_and_what_the_metric_prefers_change_nothing():
    """So that a metric that favours a system by any number of points moves no difference; also with gaps."""
    ratings, outputs = campaign(np.random.default_rng(4))
    kept = np.random.default_rng(4).random(outputs.score.size) < 0.7
    for own in (outputs, MetricOutputs(outputs.score[kept], outputs.system[kept], outputs.source[kept])):
        favoured = replace(own, score=3 * own.score + np.array([50.0, -20.0, 0.0])[own.system])
        found, other = compare_with_metric(*ratings, own), compare_with_metric(*ratings, favoured)
        assert found.weight[0, 1] > 0.2
        assert same(found, other) and other.unit == pytest.approx(3 * found.unit)
    assert found.n_missing == np.count_nonzero(~kept[ratings[3] * 3 + ratings[1]])


def test_order_and_codes_of_outputs_change_nothing():
    ratings, outputs = campaign(np.random.default_rng(6))
    order = np.random.default_rng(6).permutation(outputs.score.size)
    shuffled = MetricOutputs(outputs.score[order], outputs.system[order], outputs.source[order])
    assert same(compare_with_metric(*ratings, outputs), compare_with_metric(*ratings, shuffled))


def test_equal_weights_change_nothing_and_pairs_are_antisymmetric():
    ratings, outputs = campaign(np.random.default_rng(7))
    found = compare_with_metric(*ratings, outputs)
    assert same(found, compare_with_metric(*ratings, outputs, np.full(ratings[0].size, 2.5)))
    np.testing.assert_allclose(found.assisted, -found.assisted.T)
    np.testing.assert_allclose(found.weight, found.weight.T)


def test_gaps_among_rated_outputs_leave_the_estimate_unbiased():
    """The outputs without a score are rated higher: the ratings still count, and their mean is no part of m − M."""
    rng, errors = np.random.default_rng(8), []
    for _ in range(40):
        (z, system, worker, source, n_systems), outputs = campaign(rng, agreement=0.9)
        is_missing = rng.random(outputs.score.size) < 0.4
        of_rated = is_missing[source * 3 + system]
        kept = MetricOutputs(outputs.score[~is_missing], outputs.system[~is_missing], outputs.source[~is_missing])
        found = compare_with_metric(z + of_rated, system, worker, source, n_systems, kept)
        errors.append(found.assisted[2, 0] - (QUALITY[2] - QUALITY[0]))
        assert found.n_missing == of_rated.sum() > 0
    assert abs(np.mean(errors)) < 3 * np.std(errors) / np.sqrt(len(errors))


def test_rated_outputs_that_are_no_random_sample_are_noticed():
    rng = np.random.default_rng(14)
    p_values = []
    for _ in range(40):
        ratings, outputs = campaign(rng, n_items=10)
        p_values.append(compare_with_metric(*ratings, outputs).sample_p)
    assert np.mean(np.array(p_values) < 0.2) < 0.35 and min(p_values) > 0.001
    ratings, outputs = campaign(rng)
    is_rated = np.zeros(outputs.score.size, dtype=bool)
    is_rated[ratings[3] * 3 + ratings[1]] = True
    other = replace(outputs, score=outputs.score - 10 * (~is_rated & (outputs.system == 2)))
    assert compare_with_metric(*ratings, other).sample_p < 0.001


# --- Where nothing is gained


def nothing_gained(found):
    pair = np.triu_indices(3, 1)
    np.testing.assert_array_equal(found.assisted[pair], found.difference[pair])
    np.testing.assert_array_equal(found.assisted_low, found.low)
    return (found.weight[pair] == 0).all() and (found.saving[pair] == 0).all()


def test_a_constant_metric_gains_nothing():
    ratings, outputs = campaign(np.random.default_rng(9))
    found = compare_with_metric(*ratings, replace(outputs, score=np.full(outputs.score.size, 31.7)))
    assert nothing_gained(found) and np.isnan(found.unit) and np.isnan(found.limit)
    by_system = compare_with_metric(*ratings, replace(outputs, score=PREFERS[outputs.system]))
    assert nothing_gained(by_system)


def test_without_unrated_outputs_nothing_is_gained():
    ratings, outputs = campaign(np.random.default_rng(10), n_sources=40, n_workers=4)
    found = compare_with_metric(*ratings, outputs)
    assert found.share_rated == 1 and nothing_gained(found) and np.isnan(found.limit)


def test_a_metric_without_scores_of_rated_outputs_gains_nothing():
    ratings, outputs = campaign(np.random.default_rng(11))
    found = compare_with_metric(*ratings, replace(outputs, source=outputs.source + 1000))
    assert nothing_gained(found) and found.share_rated == 0 and found.n_missing == ratings[0].size
    unknown = (*ratings[:3], np.full(ratings[0].size, -1), 3)
    assert nothing_gained(compare_with_metric(*unknown, outputs))
    one_source = (*ratings[:3], np.zeros(ratings[0].size, int), 3)
    assert nothing_gained(compare_with_metric(*one_source, outputs))


def test_a_system_that_the_metric_lacks_is_compared_by_people_alone():
    ratings, outputs = campaign(np.random.default_rng(12))
    kept = outputs.system != 1
    found = compare_with_metric(
        *ratings, MetricOutputs(outputs.score[kept], outputs.system[kept], outputs.source[kept])
    )
    assert np.isnan(found.weight[1, [0, 2]]).all() and np.isnan(found.saving[1, 0])
    assert found.assisted[1, 0] == found.difference[1, 0] and found.assisted_low[1, 0] == found.low[1, 0]
    assert found.weight[0, 2] > 0.2 and found.limit > 0


def test_without_ratings_or_scores_all_is_undefined_or_by_people():
    ratings, outputs = campaign(np.random.default_rng(13))
    none = compare_with_metric(np.full(ratings[0].size, np.nan), *ratings[1:], outputs)
    assert np.isnan(none.assisted).all() and np.isnan(none.weight).all()
    empty = MetricOutputs(np.empty(0), np.empty(0, int), np.empty(0, int))
    found = compare_with_metric(*ratings, empty)
    assert np.isnan(found.weight).all() and np.isnan(found.share_rated)
    np.testing.assert_array_equal(found.assisted_high, found.high)
    few = compare_with_metric(*(each[:2] for each in ratings[:4]), 3, outputs)
    assert not np.isinf(few.assisted_error).any()
