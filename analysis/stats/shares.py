"""Shares of answers: exact intervals, the exact binomial test, and McNemar's test of two systems."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.stats.ratings import Codes, Floats, Mask
from analysis.stats.significance import adjust

_AS_PROBABLE = 1e-7
"""Logarithms of probabilities that differ by less are equal but for rounding."""


@dataclass(frozen=True)
class McNemar:
    """Every two systems on the responses that they share, all arrays (n_systems, n_systems).

    Attributes
    ----------
    n_shared : int64
        Pairs of answers: of one worker about one source, to either system.
    only : int64
        How many of these are good for the row and not for the column.
    p_value, holm : float64
        Two-sided and exact; corrected over all pairs that share answers. NaN without shared answers.
    """

    n_shared: NDArray[np.int64]
    only: NDArray[np.int64]
    p_value: Floats
    holm: Floats


def exact_interval(count: NDArray[np.integer], n: NDArray[np.integer], level: float = 0.95) -> tuple[Floats, Floats]:
    """Return the exact interval of shares, count / n (Clopper & Pearson 1934); NaN where n is 0.

    `count`, `n`: int, of any one shape, 0 ≤ count ≤ n.

    Examples
    --------
    >>> [round(float(bound), 4) for bound in exact_interval(np.array(15), np.array(148))]
    [0.0578, 0.1617]
    """
    from scipy.special import betaincinv

    count, n = np.asarray(count, np.float64), np.asarray(n, np.float64)
    tail = (1 - level) / 2
    with np.errstate(invalid="ignore"):
        low = np.where(count > 0, betaincinv(np.maximum(count, 1), n - count + 1, tail), 0.0)
        high = np.where(count < n, betaincinv(count + 1, np.maximum(n - count, 1), 1 - tail), 1.0)
    is_defined = n > 0
    return np.where(is_defined, low, np.nan), np.where(is_defined, high, np.nan)


def binomial_p(count: int, n: int, chance: float) -> float:
    """Return the two-sided exact p that a share is `chance` (0–1); NaN where n is 0.

    As `scipy.stats.binomtest`: all counts that are at most as probable.

    Examples
    --------
    >>> round(binomial_p(3, 15, 0.1), 4)
    0.1841
    """
    from scipy.special import gammaln, xlog1py, xlogy

    if not n:
        return float("nan")
    counts = np.arange(n + 1)
    log_p = gammaln(n + 1) - gammaln(counts + 1) - gammaln(n - counts + 1)
    log_p += xlogy(counts, chance) + xlog1py(n - counts, -chance)
    return float(min(1, np.exp(log_p[log_p <= log_p[count] + _AS_PROBABLE]).sum()))


def mcnemar_test(system: Codes, judgement: Codes, is_good: Mask, n_systems: int) -> McNemar:
    """Test of every two systems whether as many answers are good for the one as for the other, where both have one.

    Parameters
    ----------
    system : int, (n,)
        Codes 0 … n_systems − 1; each at most once in a judgement.
    judgement : int, (n,)
        What makes two answers a pair: codes of a worker and a source.
    is_good : bool, (n,)

    Notes
    -----
    With b and c answers that are good for one of the two only, p = min(1, 2 P(B ≤ min(b, c))), B binomial with b + c
    and ½; 1 where b + c = 0. Pairs are taken to be independent of each other.

    References
    ----------
    McNemar 1947, Note on the sampling error of the difference between correlated proportions (Psychometrika 12).

    Examples
    --------
    >>> found = mcnemar_test(np.array([0, 1] * 6), np.repeat(np.arange(6), 2), np.arange(12) % 2 == 0, 2)
    >>> int(found.only[0, 1]), float(found.p_value[0, 1])
    (6, 0.03125)
    """
    from scipy.special import bdtr

    shape = (int(judgement.max(initial=-1)) + 1, n_systems)
    good, bad = (_table(system[rows], judgement[rows], shape) for rows in (is_good, ~is_good))
    only = _dense(good.T @ bad)
    n_shared = _dense((good + bad).T @ (good + bad))
    discordant = only + only.T
    p = np.minimum(1.0, 2 * bdtr(np.minimum(only, only.T), discordant, 0.5))
    p[(n_shared == 0) | np.eye(n_systems, dtype=bool)] = np.nan
    upper = np.triu(np.ones_like(p, dtype=bool), 1)
    holm = adjust(np.where(upper, p, np.nan), "holm")
    return McNemar(n_shared, only, p, np.where(upper, holm, holm.T))


def _table(system: Codes, judgement: Codes, shape: tuple[int, int]) -> Any:
    from scipy.sparse import csr_array

    return csr_array((np.ones(system.size, np.int64), (judgement, system)), shape=shape)


def _dense(matrix: Any) -> NDArray[np.int64]:
    found: NDArray[np.int64] = matrix.toarray()
    return found
