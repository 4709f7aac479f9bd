"""Weights that undo what drawing HITs with unequal probabilities does to an estimate (METHOD §5)."""

import numpy as np

from analysis.stats.ratings import Floats


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
