"""How sure results will be, against what comes of simulated ratings with the same variances."""

import numpy as np
import pytest

from campaigns.design.certainty import LIKING_VARIANCE, OUTPUT_VARIANCE, RESIDUAL_VARIANCE, expected_certainty

WORKERS, OUTPUTS, PER_OUTPUT = 10, 40, 2
RATINGS = OUTPUTS * PER_OUTPUT


def simulated_means(n: int, rng: np.random.Generator) -> np.ndarray:
    """Means of n systems of equal quality, each with 80 ratings of 40 outputs by 10 workers."""
    liking = rng.normal(0, LIKING_VARIANCE**0.5, (n, WORKERS))
    outputs = rng.normal(0, OUTPUT_VARIANCE**0.5, (n, OUTPUTS))
    noise = rng.normal(0, RESIDUAL_VARIANCE**0.5, (n, RATINGS))
    worker = np.arange(RATINGS) % WORKERS
    output = np.arange(RATINGS) // PER_OUTPUT
    return (liking[:, worker] + outputs[:, output] + noise).mean(axis=1)


def test_the_interval_holds_95_of_100_simulated_means() -> None:
    certainty = expected_certainty(RATINGS, OUTPUTS, WORKERS)
    means = simulated_means(4000, np.random.default_rng(1))

    assert certainty
    assert np.mean(np.abs(means) < certainty.half_width) == pytest.approx(0.95, abs=0.012)


def test_the_smallest_difference_is_found_4_times_in_5() -> None:
    certainty = expected_certainty(RATINGS, OUTPUTS, WORKERS)
    means = simulated_means(8000, np.random.default_rng(2)).reshape(2, -1)

    assert certainty
    found = means[0] - means[1] + certainty.smallest_difference
    standard_error = certainty.half_width / 1.959964 * 2**0.5
    assert np.mean(found > 1.644854 * standard_error) == pytest.approx(0.8, abs=0.02)
    assert certainty.smallest_points == pytest.approx(30 * certainty.smallest_difference)


def test_one_rating_has_all_the_variance_and_none_has_no_certainty() -> None:
    one = expected_certainty(1, 1, 1)

    assert one
    assert one.half_width == pytest.approx(1.959964 * 0.82**0.5)  # within a system, in both public studies
    assert expected_certainty(1, 5, 5) == one  # no more outputs or workers than ratings
    assert expected_certainty(0, 0, 0) is None
    assert expected_certainty(10, 5, 0) is None


def test_four_times_the_work_halves_the_interval_and_more_ratings_of_the_same_outputs_do_not() -> None:
    few, more, same_outputs = (expected_certainty(*n) for n in ((20, 20, 5), (80, 80, 20), (80, 20, 20)))

    assert few and more and same_outputs
    assert more.half_width == pytest.approx(few.half_width / 2)
    assert more.half_width < same_outputs.half_width < few.half_width
