"""Drawing the next HIT at random, those more often that hold more outputs of systems still undecided. Pure."""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

FLOOR = 0.25
"""The share of the probability that is spread evenly over all free places, so that no HIT is ever left out."""

Floats = NDArray[np.float64]


def even_probabilities(n_places: ArrayLike) -> Floats:
    """Return how probable each HIT is if all free places, (n_hits,), are equally so."""
    places = np.asarray(n_places, np.float64)
    return np.asarray(places / places.sum())


def draw_probabilities(weight: ArrayLike, n_places: ArrayLike) -> Floats:
    """Return with which probability each HIT is drawn.

    Parameters
    ----------
    weight : float, (n_hits,)
        How much a HIT holds of what is undecided, 0 or more.
    n_places : int, (n_hits,)
        Free places, 1 or more.

    Returns
    -------
    float64, (n_hits,)
        Of each free place in proportion to the weight of its HIT, but for the share `FLOOR`, which is spread evenly;
        evenly altogether where all weights are 0.

    Examples
    --------
    >>> draw_probabilities([3, 1], [1, 1]).tolist()
    [0.6875, 0.3125]
    """
    even = even_probabilities(n_places)
    weighted = np.asarray(weight, np.float64) * even
    total = weighted.sum()
    return np.asarray(FLOOR * even + (1 - FLOOR) * weighted / total) if total > 0 else even


def weigh_hits(n_outputs: Mapping[int, Mapping[int, int]], undecided: Iterable[tuple[int, int]]) -> dict[int, float]:
    """Return how much each HIT holds of undecided pairs: the mean, over its outputs, of the pairs of their systems.

    Parameters
    ----------
    n_outputs : {hit: {system: n}}
        How many outputs of each system a HIT has, copies not counted.
    undecided : iterable of (system, system)

    Examples
    --------
    >>> weigh_hits({1: {7: 2, 8: 2}, 2: {8: 1, 9: 3}}, [(7, 8)])
    {1: 1.0, 2: 0.25}
    """
    n_pairs: dict[int, int] = {}
    for pair in undecided:
        for system in pair:
            n_pairs[system] = n_pairs.get(system, 0) + 1
    return {
        hit: sum(n * n_pairs.get(system, 0) for system, n in counts.items()) / max(sum(counts.values()), 1)
        for hit, counts in n_outputs.items()
    }


def is_choice(n_outputs: Mapping[int, Mapping[int, int]]) -> bool:
    """Return whether HITs differ in how many outputs they have of each system: else there is nothing to choose."""
    return len({frozenset(counts.items()) for counts in n_outputs.values()}) > 1


def draw_weights(probability: Floats, even: Floats, n_places: int) -> Floats:
    """Return the weight of each draw, in the order in which they were made.

    Parameters
    ----------
    probability : float64, (n_drawn,)
        With which probability the HIT was drawn; NaN: it was not drawn at random.
    even : float64, (n_drawn,)
        With which it would have been if all free places were equally probable.
    n_places : int
        How many places there were before the first draw.

    Returns
    -------
    float64, (n_drawn,)
        1 where draws were even, and where every place was drawn in the end.

    Notes
    -----
    v_m = 1 + (N − M)/(N − m) · (r_m − 1) of the m-th of M draws from N places, r_m = even/probability. The mean of v
    times what the drawn places hold is an unbiased estimate of its mean over all places, however the probabilities
    depend on what was drawn before: drawing is without replacement, so that plain inverse probabilities would be of the
    places that are left.

    References
    ----------
    METHOD §5; Farquhar, Gal & Rainforth 2021, ICLR (R_LURE, eq. 3); Horvitz & Thompson 1952, JASA 47.

    Examples
    --------
    >>> draw_weights(np.array([0.5, 0.25]), np.array([0.25, 0.25]), 5).round(3).tolist()
    [0.625, 1.0]
    """
    n_drawn = probability.size
    n_places = max(n_places, n_drawn)
    place = np.arange(1, n_drawn + 1)
    ratio = np.where(np.isnan(probability) | np.isnan(even), 1.0, even / probability)
    left = np.maximum(n_places - place, 1)
    return np.asarray(1 + (n_places - n_drawn) / left * (ratio - 1))
