"""How criteria go together within ratings: least squares of one on the others, errors clustered by worker."""

from dataclasses import dataclass

import numpy as np

from analysis.stats.ratings import Codes, Floats


@dataclass(frozen=True)
class Regression:
    """Standardised coefficients of a regression, with 95 % intervals.

    Attributes
    ----------
    estimate, low, high : float64, (n_predictors,)
        Change of the outcome, in its standard deviations, by one standard deviation of a predictor while the others
        stay. The bounds are NaN with fewer than two workers.
    r_squared : float
        Share of the outcome's variance that the predictors explain together.
    n : int
        Items with a rating on every criterion.
    """

    estimate: Floats
    low: Floats
    high: Floats
    r_squared: float
    n: int


def regress(outcome: Floats, predictors: Floats, worker: Codes) -> Regression:
    """Regress an outcome on predictors by least squares, all standardised, with errors clustered by worker.

    Parameters
    ----------
    outcome : float64, (n,)
    predictors : float64, (n, n_predictors)
        Items in which any number is NaN are left out.
    worker : int, (n,)
        Codes; ratings of one worker may depend on each other in any way.

    Returns
    -------
    Regression
        All NaN where the outcome or a predictor is constant, where predictors determine each other, or with too few
        items.

    Notes
    -----
    With X the standardised predictors and u the residuals, the variance is (XᵀX)⁻¹ (Σ_w X_wᵀu_w u_wᵀX_w) (XᵀX)⁻¹ times
    G/(G − 1) · (n − 1)/(n − k), k counting the intercept; t has G − 1 degrees of freedom, with G workers.

    References
    ----------
    Liang & Zeger 1986; the correction is Stata's, and that of statsmodels.
    """
    from scipy.special import stdtrit

    is_known = ~np.isnan(outcome) & ~np.isnan(predictors).any(axis=1)
    y, x, who = outcome[is_known], predictors[is_known], worker[is_known]
    n, n_predictors = x.shape
    undefined = np.full(n_predictors, np.nan)
    if n <= n_predictors + 1 or np.ptp(y) == 0 or (np.ptp(x, axis=0) == 0).any():
        return Regression(undefined, undefined, undefined, float("nan"), n)
    y = (y - y.mean()) / y.std(ddof=1)
    x = (x - x.mean(axis=0)) / x.std(axis=0, ddof=1)
    products = x.T @ x
    if np.linalg.cond(products) > 1e12:
        return Regression(undefined, undefined, undefined, float("nan"), n)
    inverse = np.linalg.inv(products)
    estimate = inverse @ (x.T @ y)
    residual = y - x @ estimate
    workers, cluster = np.unique(who, return_inverse=True)
    n_workers = workers.size
    r_squared = float(1 - (residual @ residual) / (y @ y))
    if n_workers < 2:
        return Regression(estimate, undefined, undefined, r_squared, n)
    sums = np.column_stack([np.bincount(cluster, weights=each * residual, minlength=n_workers) for each in x.T])
    correction = n_workers / (n_workers - 1) * (n - 1) / (n - n_predictors - 1)
    error = np.sqrt(np.diag(inverse @ (sums.T @ sums) @ inverse) * correction)
    half = stdtrit(n_workers - 1, 0.975) * error
    return Regression(estimate, estimate - half, estimate + half, r_squared, n)
