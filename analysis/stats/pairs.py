"""Every two systems compared by estimates and their covariance, and the ranks that follow for all of them jointly."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.stats.ratings import Floats
from analysis.stats.significance import adjust

# Of the larger variance: what is left of a smaller one is rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Pairs:
    """The difference of every two systems, row less column; all arrays are (n_systems, n_systems).

    Attributes
    ----------
    difference, standard_error : float64
        NaN on the diagonal and where one of the systems has no estimate; the standard error also where nothing varies.
    p_value : float64
        Two-sided, by t; symmetric.
    holm : float64
        `p_value` with Holm's correction over all unordered pairs.
    low, high : float64
        95 % interval of the difference, for this pair alone.
    df : float
        Degrees of freedom of t; of clustered errors, one less than there are clusters.
    """

    difference: Floats
    standard_error: Floats
    p_value: Floats
    holm: Floats
    low: Floats
    high: Floats
    df: float


def variance_of_differences(covariance: Floats) -> Floats:
    """Return the variance of the difference of every two estimates, (n, n), from their covariance, (n, n).

    Of a matrix M that is not symmetric: c′Mc of every difference c.

    Examples
    --------
    >>> variance_of_differences(np.array([[2.0, 0.5], [0.5, 1.0]])).tolist()
    [[0.0, 2.0], [2.0, 0.0]]
    """
    own = np.diag(covariance)
    found: Floats = own[:, None] + own[None, :] - covariance - covariance.T
    return found


def compare_pairs(estimate: Floats, variance: Floats, df: float) -> Pairs:
    """Compare every two systems.

    Parameters
    ----------
    estimate : float64, (n_systems,)
        NaN for a system without one.
    variance : float64, (n_systems, n_systems)
        Of the difference of every two systems.
    df : float
        Degrees of freedom of t; below 1 nothing can be tested; infinite for the normal distribution.

    Examples
    --------
    >>> pairs = compare_pairs(np.array([1.0, 0.0]), np.full((2, 2), 0.25), np.inf)
    >>> round(float(pairs.p_value[0, 1]), 4), round(float(pairs.low[0, 1]), 2)
    (0.0455, 0.02)
    """
    from scipy.special import stdtr, stdtrit

    difference = estimate[:, None] - estimate[None, :]
    is_itself = np.eye(estimate.size, dtype=bool)
    is_tested = ~is_itself & ~np.isnan(difference) & (variance > _ROUNDING * np.abs(variance).max(initial=0))
    is_tested &= df >= 1
    error = np.where(is_tested, np.sqrt(np.where(is_tested, variance, 1.0)), np.nan)
    p_value = 2 * stdtr(df, -np.abs(difference / error))
    upper = np.triu(np.ones_like(difference, dtype=bool), 1)
    holm = adjust(np.where(upper, p_value, np.nan), "holm")
    half = stdtrit(df, 0.975) * error
    difference = np.where(is_itself, np.nan, difference)
    return Pairs(
        difference=difference,
        standard_error=error,
        p_value=p_value,
        holm=np.where(upper, holm, holm.T),
        low=difference - half,
        high=difference + half,
        df=df,
    )


def rank_range(
    difference: Floats, holm: Floats, *, higher_is_better: bool = True, alpha: float = 0.05
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the best and the worst rank that each system may have, for all systems jointly; 0 without an estimate.

    Parameters
    ----------
    difference, holm : float64, (n_systems, n_systems)
        As in `Pairs`. A pair that could not be tested leaves both orders open.
    alpha : float
        All intervals hold together with a probability of 1 − alpha.

    Notes
    -----
    The best rank is one more than the number of systems that are better by Holm's corrected p, the worst the number of
    systems less the number of those that are worse.

    Examples
    --------
    >>> difference = np.array([[np.nan, 2, 3], [-2, np.nan, 1], [-3, -1, np.nan]])
    >>> holm = np.array([[np.nan, 0.2, 0.01], [0.2, np.nan, 0.4], [0.01, 0.4, np.nan]])
    >>> [ranks.tolist() for ranks in rank_range(difference, holm)]
    [[1, 1, 2], [2, 3, 3]]
    """
    has_estimate = ~np.isnan(difference).all(axis=1)
    with np.errstate(invalid="ignore"):
        beats = (holm < alpha) & (difference > 0 if higher_is_better else difference < 0)
    best = np.where(has_estimate, 1 + beats.sum(axis=0), 0)
    worst = np.where(has_estimate, has_estimate.sum() - beats.sum(axis=1), 0)
    return best, worst
