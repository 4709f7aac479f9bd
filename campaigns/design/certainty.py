"""How sure the results of a design will be: the expected interval of a system's mean z, and what can be told apart."""

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

# Variance components of z within a system, of workers who pass the worker test: in the public batch of Direct
# Assessment (24 workers, one criterion) and the first free-topic run of dialogues (173 workers, 7 criteria). Two
# ratings of one output covary by .34 (batch, 70 outputs); workers' liking of systems is .00 and .12; all together are
# .82 and .83.
OUTPUT_VARIANCE, LIKING_VARIANCE, RESIDUAL_VARIANCE = 0.34, 0.06, 0.42
POINTS_PER_Z = 30
"""What one z is in points of 100: the mean standard deviation of a worker's ratings, 32 and 30 in the two studies."""
ASSUMED = {
    "output": OUTPUT_VARIANCE,
    "liking": LIKING_VARIANCE,
    "residual": RESIDUAL_VARIANCE,
    "points": POINTS_PER_Z,
}
"""What is assumed, by name, for people to read."""
CONFIDENCE, P_BELOW, POWER = 0.95, 0.05, 0.8


@dataclass(frozen=True)
class Certainty:
    """What is expected of a system's mean z, and of the comparison of two such systems.

    Attributes
    ----------
    half_width : float
        Of the 95 % interval of the mean, in z.
    smallest_difference : float
        The difference of two systems' true means, in z, that is found (one-sided p < .05) with a probability of .8.
    smallest_points : float
        The same in points of 100.
    """

    half_width: float
    smallest_difference: float
    smallest_points: float


def expected_certainty(n_ratings: float, n_outputs: float, n_workers: float) -> Certainty | None:
    """Return the certainty of a system's mean z on one criterion.

    Parameters
    ----------
    n_ratings : float, ≥ 0
        Ratings of the system on the criterion that count, a repeat and its twin as one.
    n_outputs : float, ≥ 0
        Different outputs of the system that these are ratings of. At most `n_ratings` count.
    n_workers : float, ≥ 0
        Workers who give them. At most `n_ratings` count.

    Returns
    -------
    Certainty or None
        None without ratings.

    Notes
    -----
    The standard error of the mean is s = √(σ_l²/w + σ_o²/m + σ_e²/n) with n ratings of m outputs by w workers:
    σ_l² = .06 is how much workers differ in which systems they like, σ_o² = .34 how much outputs of one system differ,
    σ_e² = .42 the rest. The half width is 1.960 s; the smallest difference (1.645 + .842) · √2 · s, for two systems
    with equal counts. It assumes balanced counts, normal means, and systems that are compared as if their sources were
    different, so that with the same sources it is a little less certain than the truth. Few workers make the normal
    quantiles too small: by Student's t the half width would be 1.4 times as large with 5 workers, 1.1 times with 12.

    References
    ----------
    METHOD §8; components by analysis of variance of the public ratings (docs/method/planning.md).

    Examples
    --------
    >>> found = expected_certainty(68, 34, 12)
    >>> round(found.half_width, 2), round(found.smallest_difference, 2), round(found.smallest_points)
    (0.29, 0.51, 15)
    """
    if min(n_ratings, n_outputs, n_workers) <= 0:
        return None
    n_outputs, n_workers = min(n_outputs, n_ratings), min(n_workers, n_ratings)
    error = sqrt(LIKING_VARIANCE / n_workers + OUTPUT_VARIANCE / n_outputs + RESIDUAL_VARIANCE / n_ratings)
    quantile = NormalDist().inv_cdf
    difference = (quantile(1 - P_BELOW) + quantile(POWER)) * sqrt(2) * error
    return Certainty(quantile((1 + CONFIDENCE) / 2) * error, difference, difference * POINTS_PER_Z)
