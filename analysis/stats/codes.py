"""Codes in place of others, without sorting where their range is small."""

import numpy as np
from numpy.typing import NDArray

from analysis.stats.ratings import Codes, Floats

_MOST_EMPTY, _SMALL = 4, 1024


def dense_ranks(codes: NDArray[np.integer], size: int) -> tuple[NDArray[np.int64], int]:
    """Return the rank of each code among those that occur, and how many occur.

    Parameters
    ----------
    codes : int, (n,)
        From 0 to below `size`.

    Returns
    -------
    ranks : int, (n,)
        As `scipy.stats.rankdata(codes, "dense")` gives them, from 0.
    n_codes : int

    Examples
    --------
    >>> ranks, n = dense_ranks(np.array([7, 3, 7]), 8)
    >>> ranks.tolist(), n
    ([1, 0, 1], 2)
    """
    if size > _MOST_EMPTY * codes.size + _SMALL:
        values, ranks = np.unique(codes, return_inverse=True)
        return ranks.astype(np.int64), values.size
    # A table of what occurs is many times faster than sorting.
    occurs = occurring(codes, size)
    rank = np.cumsum(occurs, dtype=np.int64) - 1
    return rank[codes], int(rank[-1]) + 1 if size else 0


def n_distinct(codes: NDArray[np.integer]) -> int:
    """Return how many different codes, (n,), occur; codes may be negative.

    Examples
    --------
    >>> n_distinct(np.array([7, -1, 7]))
    2
    """
    lowest = int(codes.min(initial=0))
    size = int(codes.max(initial=-1)) - lowest + 1
    if size > _MOST_EMPTY * codes.size + _SMALL:
        return int(np.unique(codes).size)
    return int(np.count_nonzero(occurring(codes - lowest, size)))


def count_codes(codes: NDArray[np.integer], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the codes from 0 to below `size` that occur among those of (n,), ascending, and how often each does.

    Examples
    --------
    >>> [found.tolist() for found in count_codes(np.array([7, 3, 7]), 8)]
    [[3, 7], [1, 2]]
    """
    if size > _MOST_EMPTY * codes.size + _SMALL:
        found, n_of_found = np.unique(codes, return_counts=True)
        return found.astype(np.int64), n_of_found
    n_of = np.bincount(codes, minlength=size)
    occurs = np.flatnonzero(n_of)
    return occurs, n_of[occurs]


def number_values(values: Floats) -> tuple[Floats, Codes, NDArray[np.int64]]:
    """Return the different values of (n,), ascending, the place of each value among them, and how often each occurs.

    As `np.unique` gives them, which sorts; whole numbers near each other are counted by a table.

    Examples
    --------
    >>> [found.tolist() for found in number_values(np.array([1.0, -1.0, 1.0]))]
    [[-1.0, 1.0], [1, 0, 1], [1, 2]]
    """
    low, high = values.min(initial=np.inf), values.max(initial=-np.inf)
    # Of no values, NaN or infinity one of these is not so.
    if low == np.rint(low) and low <= high < low + _MOST_EMPTY * values.size + _SMALL:
        size, whole = int(high - low) + 1, (values - low).astype(np.int64)
        # Compared as whole numbers: what is subtracted from a tiny value rounds it away.
        if (whole + low == values).all():
            different, n_of = count_codes(whole, size)
            return different.astype(np.float64) + low, dense_ranks(whole, size)[0], n_of
    return np.unique(values, return_inverse=True, return_counts=True)


def occurring(codes: NDArray[np.integer], size: int) -> NDArray[np.bool_]:
    """Return which codes from 0 to below `size` occur, (size,), among those of (n,)."""
    occurs = np.zeros(size, bool)
    occurs[codes] = True
    return occurs
