"""Circular triads: does somebody who compares systems prefer A to B, B to C, and C to A?"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.stats.codes import dense_ranks
from analysis.stats.ratings import Codes, Floats

_NET = np.array([1, -1, 0])  # of a comparison, by `Outcome`
_IN_ROUND, _AT_ONCE = 100_000, 500_000
_BY_COINS = 0.25  # two of the eight ways to decide three pairs are circular


@dataclass(frozen=True)
class Triads:
    """Triads of systems in each group of comparisons, all arrays (n_groups,).

    Attributes
    ----------
    n_systems : int64
        Systems that the group compared.
    n_compared, n_decided, n_circular : int64
        Triads whose three pairs were compared; of these, those without an undecided pair; of these, the circular ones.
    consistence : float64
        ζ, from 0 (as many circular triads as there can be) to 1 (none); NaN unless every pair of three systems or more
        is decided.
    """

    n_systems: NDArray[np.int64]
    n_compared: NDArray[np.int64]
    n_decided: NDArray[np.int64]
    n_circular: NDArray[np.int64]
    consistence: Floats


def count_triads(first: Codes, second: Codes, outcome: Codes, group: Codes, n_groups: int) -> Triads:
    """Count circular triads in groups of comparisons.

    Parameters
    ----------
    first, second : int, (n,)
        Codes of two systems, which differ.
    outcome : int, (n,)
        An `Outcome`; left: the first won.
    group : int, (n,)
        Whose comparisons are taken together, such as those of a worker; 0 … n_groups − 1.

    Notes
    -----
    A pair that a group compared several times is decided by the majority. It is undecided if both won as often, or all
    are ties. With A[i, j] = 1 where i beats j, d = tr(A³)/3 triads are circular. Where all pairs of n systems are
    decided, d = n(n − 1)(n − 2)/6 − Σ s(s − 1)/2 (s: how many each system beats), and ζ = 1 − 24 d/(n³ − n) for odd n,
    1 − 24 d/(n³ − 4n) for even n.

    References
    ----------
    Kendall & Babington Smith 1940, On the method of paired comparisons (Biometrika 31).

    Examples
    --------
    0 over 1, 1 over 2, 2 over 0; and 0 over 1, 1 over 2, 0 over 2.

    >>> found = count_triads(np.array([0, 1, 2, 0, 1, 0]), np.array([1, 2, 0, 1, 2, 2]), np.zeros(6, int),
    ...                      np.array([0, 0, 0, 1, 1, 1]), 2)
    >>> found.n_circular.tolist(), found.consistence.tolist()
    ([1, 0], [0.0, 1.0])
    """
    if first.size <= _AT_ONCE or n_groups < 2:
        return _count_at_once(first, second, outcome, group, n_groups)
    # Groups one after another, so that memory does not grow with their number.
    round_of = np.bincount(group, minlength=n_groups).cumsum() // _AT_ONCE
    starts = [*np.flatnonzero(np.diff(round_of, prepend=-1)).tolist(), n_groups]
    found = []
    for start, stop in pairwise(starts):
        rows = (group >= start) & (group < stop)
        found.append(_count_at_once(first[rows], second[rows], outcome[rows], group[rows] - start, stop - start))
    return Triads(*(np.concatenate(each) for each in zip(*(vars(some).values() for some in found), strict=True)))


def _count_at_once(first: Codes, second: Codes, outcome: Codes, group: Codes, n_groups: int) -> Triads:
    from scipy.sparse import csr_array

    n_codes = int(max(first.max(initial=-1), second.max(initial=-1))) + 1
    place = group.astype(np.int64) * n_codes
    node, n_nodes = dense_ranks(np.concatenate([place + first, place + second]), n_groups * n_codes)
    group_of = np.zeros(n_nodes, np.int64)
    group_of[node] = np.tile(group, 2)
    ends, shape = (node[: first.size], node[first.size :]), (n_nodes, n_nodes)
    net = csr_array((_NET[outcome], ends), shape=shape)
    beats = (net - net.T > 0).astype(np.int64)
    decided = beats + beats.T
    compared = csr_array((np.ones(first.size, np.int64), ends), shape=shape)
    compared = (compared + compared.T > 0).astype(np.int64)

    def sums(of_nodes: NDArray[Any]) -> NDArray[np.int64]:
        return np.bincount(group_of, of_nodes, n_groups).astype(np.int64)

    def closed_paths(matrix: Any) -> NDArray[np.int64]:
        return sums((matrix @ matrix).multiply(matrix.T).sum(axis=1))

    n = np.bincount(group_of, minlength=n_groups)
    n_circular = closed_paths(beats) // 3
    is_complete = (n > 2) & (sums(decided.sum(axis=1)) == n * (n - 1))
    most = np.where(n % 2 == 1, n**3 - n, n**3 - 4 * n) / 24
    consistence = np.where(is_complete, 1 - n_circular / np.where(is_complete, most, 1), np.nan)
    return Triads(n, closed_paths(compared) // 6, closed_paths(decided) // 6, n_circular, consistence)


def share_by_chance(
    first: Codes,
    second: Codes,
    outcome: Codes,
    group: Codes,
    n_groups: int,
    *,
    judgement: Codes,
    n_draws: int,
    rng: np.random.Generator,
) -> float:
    """Return which share of decided triads would be circular if every judgement were random; NaN if none were decided.

    Parameters
    ----------
    first, second, outcome, group, n_groups
        As of `count_triads`.
    judgement : int, (n,)
        Codes from 0 of what was answered at once: of votes each another one, of rankings that of all pairs of one.

    Notes
    -----
    Of votes it is ¼. A ranking cannot be circular, and many rankings together are so less often than votes: the systems
    of each are shuffled `n_draws` times, its ties staying as they are. The majority of very many random rankings of
    three systems is circular in 8.8 % of cases (Guilbaud 1952).

    Examples
    --------
    >>> ranking = np.array([0, 0, 1]), np.array([1, 2, 2]), np.zeros(3, int)
    >>> rng = np.random.default_rng(1)
    >>> share_by_chance(*ranking, np.zeros(3, int), 1, judgement=np.zeros(3, int), n_draws=9, rng=rng)
    0.0
    >>> share_by_chance(*ranking, np.zeros(3, int), 1, judgement=np.arange(3), n_draws=9, rng=rng)
    0.25
    """
    if np.bincount(judgement).max(initial=0) < 2:
        return _BY_COINS
    n_codes = int(max(first.max(), second.max())) + 1
    place = judgement.astype(np.int64) * n_codes
    shown, node = np.unique(np.concatenate([place + first, place + second]), return_inverse=True)
    judgement_of, system_of = np.divmod(shown, n_codes)
    n_decided = n_circular = 0
    n_at_once = max(_IN_ROUND // shown.size, 1)
    for n_before in range(0, n_draws, n_at_once):
        n = min(n_at_once, n_draws - n_before)
        draw = np.arange(n)[:, None]
        key = (judgement_of + draw * (judgement_of[-1] + 1)).ravel()
        order = np.lexsort((rng.random(key.size), key)) % shown.size
        one, other = np.split(system_of[order].reshape(n, -1)[:, node], 2, axis=1)
        own_group = (group + draw * n_groups).ravel()
        found = count_triads(one.ravel(), other.ravel(), np.tile(outcome, n), own_group, n * n_groups)
        n_decided += int(found.n_decided.sum())
        n_circular += int(found.n_circular.sum())
    return n_circular / n_decided if n_decided else float("nan")
