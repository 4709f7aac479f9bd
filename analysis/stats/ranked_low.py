"""Whether degraded outputs are ranked below the others of their responses: the sign test of votes, and beyond pairs."""

from collections import Counter
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from analysis.stats.ranks import ranks_in_groups
from analysis.stats.ratings import Codes, Floats, Mask

Place = tuple[tuple[int, ...], int]
"""What a response can count: the values of its outputs, and how many of them are degraded."""


def ranked_low(
    judgement: Codes, rank: Floats, is_degraded: Mask, worker: Codes, n_workers: int
) -> tuple[Floats, NDArray[np.int64]]:
    """Test of each worker whether degraded outputs lose against the others that are shown with them, one-sided, exact.

    Parameters
    ----------
    judgement : int, (n_rows,)
        Codes of responses, 0 … n_judgements − 1.
    rank : float64, (n_rows,)
        The lower, the better; equal ones are ties.
    is_degraded : bool, (n_rows,)
    worker : int, (n_judgements,)
        Codes 0 … n_workers − 1.

    Returns
    -------
    p_value : float64, (n_workers,)
        1 where every response is one tie, NaN where no degraded output is shown with another one.
    n_compared : int64, (n_workers,)
        Pairs of a degraded output and another one.

    Notes
    -----
    Statistic: pairs of a degraded output and another one of its response that the degraded one loses, less those that
    it wins. Of a response of k outputs this is the sum of v = 2r − k − 1 over its degraded ones, with mid-ranks r, the
    worst one k. If a worker does not see what is degraded, any of the k outputs may be it, with the same chance: the
    distribution of the sum over a worker's responses follows by counting. Of votes it is the binomial one of the sign
    test, ties left out. The binomial one of all pairs would not do for more than two outputs: a random ranking that
    puts the degraded output last loses all of its pairs at once.

    Time is that of sorting, and of one distribution for every set of responses that workers have.

    Examples
    --------
    >>> votes = np.repeat(np.arange(5), 2)  # of one worker; the second output is degraded, and loses four of five
    >>> p, n = ranked_low(votes, np.array([1, 2] * 4 + [2, 1.0]), np.arange(10) % 2 == 1, np.zeros(5, int), 1)
    >>> float(p[0]), int(n[0])
    (0.1875, 5)
    """
    n_judgements = worker.size
    size = np.bincount(judgement, minlength=n_judgements)
    n_degraded = np.bincount(judgement, weights=is_degraded, minlength=n_judgements).astype(np.int64)
    is_compared = (n_degraded > 0) & (n_degraded < size)
    rows = np.flatnonzero(is_compared[judgement])
    value = _values(judgement[rows], rank[rows], size)
    low = is_degraded[rows]
    statistic = np.bincount(worker[judgement[rows[low]]], weights=value[low], minlength=n_workers)
    n_compared = np.bincount(worker, weights=n_degraded * (size - n_degraded), minlength=n_workers).astype(np.int64)
    p = np.full(n_workers, np.nan)
    for who, places in _places_of_workers(judgement[rows], value, n_degraded, worker).items():
        tail = _tail(places)
        p[who] = tail[int(statistic[who]) + tail.size // 2]
    return p, n_compared


def _values(judgement: Codes, rank: Floats, size: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return 2r − k − 1 of each row, (n_rows,)."""
    mid = ranks_in_groups(rank, judgement, size.size)
    return np.rint(2 * mid - size[judgement] - 1).astype(np.int64)


def _places_of_workers(
    judgement: Codes, value: NDArray[np.int64], n_degraded: NDArray[np.int64], worker: Codes
) -> dict[int, tuple[tuple[Place, int], ...]]:
    """Return which responses each worker gave, each kind with its number."""
    if not value.size:
        return {}
    order = np.lexsort((value, judgement))
    codes, start = np.unique(judgement[order], return_index=True)
    counts: dict[int, Counter[Place]] = {}
    sorted_values = value[order].tolist()
    ends = [*start[1:].tolist(), value.size]
    for code, begin, end in zip(codes.tolist(), start.tolist(), ends, strict=True):
        place = tuple(sorted_values[begin:end]), int(n_degraded[code])
        counts.setdefault(int(worker[code]), Counter())[place] += 1
    return {who: tuple(sorted(found.items())) for who, found in counts.items()}


@lru_cache(maxsize=4096)
def _tail(places: tuple[tuple[Place, int], ...]) -> Floats:
    """Return P(sum ≥ s) of random places for s = −m … m."""
    total = np.ones(1)
    for place, n in places:
        one = _chances(*place)
        for _ in range(n):
            total = np.convolve(total, one)
    tail: Floats = np.minimum(np.cumsum(total[::-1])[::-1], 1.0)
    return tail


@lru_cache(maxsize=4096)
def _chances(values: tuple[int, ...], n_degraded: int) -> Floats:
    """Return the chance of each sum of `n_degraded` of the values drawn without replacement, for −m … m."""
    most = n_degraded * max(map(abs, values))
    ways = np.zeros((n_degraded + 1, 2 * most + 1))
    ways[0, most] = 1
    for value in values:
        for n in range(n_degraded, 0, -1):
            ways[n] += np.roll(ways[n - 1], value)  # no sum of n values is beyond ±m, so nothing wraps around
    chances: Floats = ways[-1] / ways[-1].sum()
    return chances
