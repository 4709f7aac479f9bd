"""Contrasts between kinds of chats: do scores differ where workers liked the topic, or where a persona was given?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.stats.ratings import Codes, Floats

_NO_SPREAD = 1e-12


@dataclass(frozen=True)
class Contrast:
    """Groups of chats compared with the first one.

    Attributes
    ----------
    n : int64, (n_groups,)
        Chats of each group.
    mean : float64, (n_groups,)
        Mean z of each group as it is, NaN without a chat.
    difference, low, high : float64, (n_groups,)
        Mean z less that of the first group, where both have the same systems, with its 95 % interval; NaN of the
        first group and where it is undefined.
    """

    n: NDArray[np.int64]
    mean: Floats
    difference: Floats
    low: Floats
    high: Floats


def contrast(z: Floats, group: Codes, block: Codes, worker: Codes, n_groups: int) -> Contrast:
    """Compare groups of chats within blocks, such as within systems.

    Parameters
    ----------
    z : float64, (n,)
        Overall z of chats; NaN is left out.
    group : int, (n,)
        Codes 0 … n_groups − 1; −1: in no group.
    block : int, (n,)
        Codes of what the groups are compared within: of systems for opinions, of families for personas.
    worker : int, (n,)
        Errors are clustered by worker.

    Notes
    -----
    Of the chats of two groups, least squares of z on the group and on blocks: the means of the blocks are taken out of
    z and of the indicator of the group (Frisch & Waugh 1933). The variance of the slope is G/(G − 1) · Σ_w (Σ_i d_i
    u_i)²/(Σ d²)² over G workers, d and u being indicator and residual; t has G − 1 degrees of freedom. Where each
    worker has one chat of either group, this is Student's paired t.

    References
    ----------
    Ji's thesis §5.4.1 (with and without a persona) and Table 5.2 (opinions) have the groups; Liang & Zeger 1986.
    """
    known = np.flatnonzero((group >= 0) & ~np.isnan(z))
    z, group, block, worker = z[known], group[known], block[known], worker[known]
    n = np.bincount(group, minlength=n_groups)
    with np.errstate(invalid="ignore"):
        mean = np.bincount(group, weights=z, minlength=n_groups) / n
    empty = np.full(n_groups, np.nan)
    difference, low, high = empty.copy(), empty.copy(), empty.copy()
    for other in range(1, n_groups):
        both = np.flatnonzero((group == 0) | (group == other))
        is_other = (group[both] == other).astype(np.float64)
        difference[other], low[other], high[other] = _slope(z[both], is_other, block[both], worker[both])
    return Contrast(n, np.asarray(mean), difference, low, high)


def _slope(z: Floats, is_other: Floats, block: Codes, worker: Codes) -> tuple[float, float, float]:
    from scipy.special import stdtrit

    nothing = float("nan")
    d, y = _without_means(is_other, block), _without_means(z, block)
    squares = float(d @ d)
    if squares < _NO_SPREAD:  # no block has both groups
        return nothing, nothing, nothing
    slope = float(d @ y) / squares
    workers, cluster = np.unique(worker, return_inverse=True)
    n_workers = workers.size
    sums = np.bincount(cluster, weights=d * (y - slope * d))
    variance = float(sums @ sums) / squares**2
    if n_workers < 2 or variance < _NO_SPREAD**2:
        return slope, nothing, nothing
    error = np.sqrt(variance * n_workers / (n_workers - 1))
    half = float(stdtrit(n_workers - 1, 0.975) * error)
    return slope, slope - half, slope + half


def _without_means(values: Floats, block: Codes) -> Floats:
    n = np.maximum(np.bincount(block), 1)
    return np.asarray(values - (np.bincount(block, weights=values) / n)[block])
