"""Weights of HITs that were drawn with unequal probabilities: unbiased where plain means are not."""

import numpy as np
import pytest

from analysis.stats.inference import SourceEffects, compare_clustered
from campaigns.design.drawing import draw_probabilities, draw_weights, even_probabilities, weigh_hits

N_HITS, N_DRAWN, N_CAMPAIGNS = 20, 8, 400
PAIRS = [(0, 1), (0, 2), (1, 2)]


def drawn(rng: np.random.Generator, outputs: np.ndarray, quality: np.ndarray):
    """Draw HITs one after another, weighed by the pair that is closest so far; return them with both probabilities."""
    counts = {hit: dict(enumerate(row)) for hit, row in enumerate(outputs.tolist())}
    weight_for = [np.array(list(weigh_hits(counts, [pair]).values())) for pair in PAIRS]
    free, order, probability, even = np.arange(N_HITS), [], [], []
    while len(order) < N_DRAWN:
        weight = np.ones(free.size)
        if order:
            mean = (outputs[order] * quality[order]).sum(axis=0) / np.maximum(outputs[order].sum(axis=0), 1)
            closest = int(np.argmin([abs(mean[one] - mean[other]) for one, other in PAIRS]))
            weight = weight_for[closest][free]
        of_hit = draw_probabilities(weight, np.ones(free.size))
        k = rng.choice(free.size, p=of_hit)
        probability.append(of_hit[k])
        even.append(even_probabilities(np.ones(free.size))[k])
        order.append(int(free[k]))
        free = np.delete(free, k)
    return order, np.array(probability), np.array(even)


def test_weighted_sums_are_unbiased_however_the_draws_follow_from_what_was_drawn():
    """HITs of which some hold more of one system, and are better then: plain means are of what was preferred."""
    rng = np.random.default_rng(1)
    outputs = rng.multinomial(10, [1 / 3] * 3, N_HITS)
    outputs[: N_HITS // 2] = rng.multinomial(10, [0.7, 0.2, 0.1], N_HITS // 2)
    quality = rng.normal(0, 1, (N_HITS, 3)) + 0.6 * (outputs - outputs.mean(axis=0))
    truth = (outputs * quality).mean(axis=0)
    plain, weighted = [], []
    for _ in range(N_CAMPAIGNS):
        order, probability, even = drawn(rng, outputs, quality)
        value = (outputs * quality)[order]
        plain.append(value.mean(axis=0))
        weighted.append((value * draw_weights(probability, even, N_HITS)[:, None]).mean(axis=0))
    bias = {
        name: (np.abs(np.mean(each, axis=0) - truth) / (np.std(each, axis=0) / np.sqrt(N_CAMPAIGNS))).max()
        for name, each in (("plain", plain), ("weighted", weighted))
    }
    assert bias["weighted"] < 3 < bias["plain"], bias  # in standard errors of the mean over campaigns


def test_even_draws_and_a_pool_that_is_used_up_weigh_one():
    even = 1 / np.arange(10, 4, -1)
    np.testing.assert_allclose(draw_weights(even, even, 10), 1)
    unequal = np.linspace(0.05, 0.9, 6)
    np.testing.assert_allclose(draw_weights(unequal, even, 6), 1)
    np.testing.assert_allclose(draw_weights(np.full(6, np.nan), even, 10), 1)
    assert (draw_weights(unequal, even, 10) > 0).all()


def ratings(rng: np.random.Generator, n: int = 240):
    worker, source = np.repeat(np.arange(12), n // 12), rng.integers(0, 15, n)
    system = rng.integers(0, 3, n)
    z = rng.normal(0, 1, n) + 0.3 * system + rng.normal(0, 1, 15)[source]
    return z, system, worker, source


def test_weighted_differences_are_those_of_weighted_least_squares():
    rng = np.random.default_rng(4)
    z, system, worker, source = ratings(rng)
    weight = rng.uniform(0.3, 3, z.size)
    found = compare_clustered(z, system, worker, source, 3, SourceEffects.FIXED, weight)
    design = np.concatenate([np.eye(3)[system], np.eye(15)[source]], axis=1)
    root = np.sqrt(weight)[:, None]
    beta = np.linalg.lstsq(design * root, z * root[:, 0], rcond=None)[0]
    assert found.difference[2, 0] == pytest.approx(beta[2] - beta[0])


def test_their_standard_errors_are_sandwich_variances_of_weighted_scores():
    rng = np.random.default_rng(6)
    z, system, worker, _ = ratings(rng)
    weight = rng.uniform(0.3, 3, z.size)
    found = compare_clustered(z, system, worker, np.full(z.size, -1), 3, SourceEffects.FIXED, weight)
    share = np.bincount(system, weights=weight) / weight.sum()
    design = np.eye(3)[system] - share  # the weighted mean is taken out
    influence = design @ np.linalg.pinv(design.T @ (design * weight[:, None])) @ np.array([-1.0, 0, 1])
    mean = [np.average(z[system == k], weights=weight[system == k]) for k in range(3)]
    score = weight * influence * (z - np.array(mean)[system])
    of_workers = np.bincount(
        worker, weights=(weight / np.bincount(system, weights=weight)[system]) ** 2 * (system != 1)
    )
    of_ratings = (weight * influence) ** 2
    m_workers, m_ratings = (a.sum() ** 2 / (a**2).sum() for a in (of_workers, of_ratings))
    v_workers, v_ratings = (np.bincount(worker, weights=score) ** 2).sum(), (score**2).sum()
    variance = v_workers * m_workers / (m_workers - 1) + v_ratings * m_ratings / (m_ratings - 1)
    variance -= v_ratings * z.size / (z.size - 1)
    assert found.difference[2, 0] == pytest.approx(mean[2] - mean[0])
    assert found.standard_error[2, 0] == pytest.approx(np.sqrt(variance))
    assert found.df[2, 0] == pytest.approx(min(m_workers, m_ratings) - 1)


def test_only_ratios_of_weights_matter_and_equal_ones_change_nothing():
    rng = np.random.default_rng(5)
    columns = ratings(rng)
    weight = rng.uniform(0.3, 3, columns[0].size)
    one, scaled = (compare_clustered(*columns, 3, weight=w) for w in (weight, 7 * weight))
    plain, equal = compare_clustered(*columns, 3), compare_clustered(*columns, 3, weight=np.full(columns[0].size, 4.0))
    for name in ("difference", "standard_error", "df"):
        np.testing.assert_allclose(getattr(one, name), getattr(scaled, name))
        np.testing.assert_allclose(getattr(plain, name), getattr(equal, name))
    assert not np.allclose(one.difference, plain.difference, equal_nan=True)
