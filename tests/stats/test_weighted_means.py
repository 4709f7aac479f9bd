"""Means of weighted values: as if each value were there as often as it weighs."""

from collections.abc import Callable

import numpy as np
import pytest

from analysis.stats.segment_means import (
    ClusteredMeans,
    clustered_means,
    clustered_ratios,
    means_over_criteria,
    segment_means,
    shares_of,
)

N, N_SYSTEMS = 240, 3
Rows = dict[str, np.ndarray]


def of_values(rows: Rows, weight: np.ndarray | None) -> ClusteredMeans:
    share = None if weight is None else shares_of(weight, rows["system"])
    return clustered_means(rows["value"], rows["system"], N_SYSTEMS, share, clusters(rows))


def over_criteria(rows: Rows, weight: np.ndarray | None) -> ClusteredMeans:
    columns = rows["value"], rows["system"], rows["criterion"], (N_SYSTEMS, 2)
    return means_over_criteria(*columns, clusters(rows), weight).overall


def of_ratios(rows: Rows, weight: np.ndarray | None) -> ClusteredMeans:
    columns = rows["value"] * rows["words"], rows["words"], rows["system"], N_SYSTEMS
    return clustered_ratios(*columns, clusters(rows), weight)


def clusters(rows: Rows) -> dict[str, np.ndarray]:
    return {"worker": rows["worker"], "source": rows["source"]}


@pytest.mark.parametrize("means", [of_values, over_criteria, of_ratios])
def test_a_weight_of_3_is_the_same_as_three_equal_values(means: Callable[..., ClusteredMeans]) -> None:
    rng = np.random.default_rng(4)
    rows = {
        "value": rng.normal(size=N),
        "words": rng.integers(1, 9, N).astype(float),
        "system": rng.integers(0, N_SYSTEMS, N),
        "criterion": rng.integers(0, 2, N),
        "worker": rng.integers(0, 10, N),
        "source": rng.integers(0, 20, N),
    }
    times = rng.integers(1, 4, N)
    repeated = {name: np.repeat(column, times) for name, column in rows.items()}
    weighted, expected = means(rows, times.astype(float)), means(repeated, None)
    for name in ("mean", "low", "high"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(expected, name))
    np.testing.assert_allclose(weighted.pairs.p_value, expected.pairs.p_value)
    assert not np.allclose(weighted.mean, means(rows, None).mean)
    np.testing.assert_allclose(means(rows, np.full(N, 0.7)).mean, means(rows, None).mean)


def test_a_segment_with_two_raters_counts_by_the_mean_of_what_they_weigh() -> None:
    values, segment = np.array([1.0, 3.0, 8.0]), np.array([0, 0, 1])
    system, one = np.zeros(3, int), {"segment": segment}
    found = segment_means(values, system, segment, 1, one, np.array([1.0, 2.0, 3.0]))
    assert found.mean[0] == pytest.approx((1 / 2 + 2 * 3 / 2 + 3 * 8) / (1 / 2 + 2 / 2 + 3))
    even = segment_means(values, system, segment, 1, one, np.full(3, 2.0))
    assert even.mean[0] == pytest.approx(segment_means(values, system, segment, 1, one).mean[0])
