"""Judgements of the same items: whose is the first, and how far two of them are apart."""

import numpy as np
from numpy.typing import NDArray

from analysis.stats.ratings import Codes, Floats


def first_and_own(item: Codes, worker: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows that are the first of their worker and item, and a code of each row's worker and item, (n,).

    Agreement of workers with each other is of the former; with themselves, of rows with the same code.

    Examples
    --------
    >>> first_and_own(np.array([0, 0, 0]), np.array([1, 0, 1]))
    (array([1, 0]), array([1, 0, 1]))
    """
    n_workers = int(worker.max(initial=-1)) + 1
    _, first, own = np.unique(item.astype(np.int64) * n_workers + worker, return_index=True, return_inverse=True)
    return first, own


def share_opposite(value: Floats, item: Codes) -> float:
    """Return the share of pairs of votes on an item that name each another winner, in the mean over items.

    Parameters
    ----------
    value : float64, (n,)
        1 where the first of two systems won, −1 where the second one did, 0 for a tie.
    item : int, (n,)
        Codes without gaps from 0, of two votes or more each.

    Returns
    -------
    float
        0–1; NaN without votes.

    Examples
    --------
    >>> share_opposite(np.array([1.0, 1, 0, 1, -1]), np.array([0, 0, 0, 1, 1]))
    0.5
    """
    if not value.size:
        return float("nan")
    size = np.bincount(item)
    won, lost = (np.bincount(item[value == sign], minlength=size.size) for sign in (1, -1))
    return float((2 * won * lost / (size * (size - 1))).mean())


def mean_difference(value: Floats, item: Codes) -> float:
    """Return how far two numbers of an item are apart, in the mean over items.

    Parameters
    ----------
    value : float64, (n,)
        No NaN.
    item : int, (n,)
        Codes without gaps from 0, of two numbers or more each.

    Returns
    -------
    float
        0 or more; NaN without numbers.

    Notes
    -----
    Of m numbers of an item in rising order, the k-th (from 0) is the larger one in k pairs and the smaller one in
    m − 1 − k; so the sum of |c − k| over its pairs is one over its numbers. Time is O(n log n).

    References
    ----------
    David 1968, Gini's mean difference rediscovered.

    Examples
    --------
    Scores of 10, 20 and 50 are 10, 30 and 40 apart; two others are equal.

    >>> round(mean_difference(np.array([10.0, 50, 20, 7, 7]), np.array([0, 0, 0, 1, 1])), 3)
    13.333
    """
    if not value.size:
        return float("nan")
    order = np.lexsort((value, item))
    value, item = value[order], item[order]
    size = np.bincount(item)
    start = (np.cumsum(size) - size)[item]
    place = np.arange(item.size) - start
    above = value - value[start]  # so that equal numbers add up to 0
    difference = np.bincount(item, weights=above * (2 * place - size[item] + 1)) / (size * (size - 1) / 2)
    return float(difference.mean())
