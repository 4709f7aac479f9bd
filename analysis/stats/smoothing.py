"""A smooth line through a scatter of points."""

import numpy as np

from analysis.stats.ratings import Floats

_NEAR, _FAR = 0.001, 0.999
_SPREAD = 0.001


def lowess(x: Floats, y: Floats, share: float = 2 / 3, n_iterations: int = 3) -> tuple[Floats, Floats]:
    """Return the LOWESS line of a scatter: at each point a straight line is fitted to its nearest neighbours.

    Parameters
    ----------
    x, y : float64, (n,)
        No NaN. Time and memory grow with n²: draw a sample of more than some thousand points before.
    share : float
        The share of points that are neighbours.
    n_iterations : int
        How often points are weighted down that are far from the line.

    Returns
    -------
    x, y : float64, (n_different,)
        The different values of x, rising, and the line at each. Empty for fewer than two points.

    Notes
    -----
    Neighbours weigh by the tricube of their distance, points far from the line by the bisquare of their residual over
    six times the median. As R's `lowess(x, y, f, iter, delta = 0)`: its cut-offs at .001 and .999, and a mean instead
    of a line where neighbours hardly differ in x.

    References
    ----------
    METHOD §7; Cleveland 1979, Robust locally weighted regression and smoothing scatterplots.

    Examples
    --------
    >>> at, line = lowess(np.array([1.0, 2.0, 3.0, 4.0]), np.array([3.0, 5.0, 7.0, 9.0]))
    >>> line.round(6).tolist()
    [3.0, 5.0, 7.0, 9.0]
    """
    if x.size < 2:
        return np.empty(0), np.empty(0)
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    at, where = np.unique(x, return_inverse=True)
    n_near = min(max(int(share * x.size + 1e-7), 2), x.size)
    distance = np.abs(at[:, None] - x)
    reach = np.partition(distance, n_near - 1, axis=1)[:, n_near - 1, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        near = (1 - (distance / reach) ** 3) ** 3
    near = np.where(distance <= _NEAR * reach, 1.0, np.where(distance <= _FAR * reach, near, 0.0))
    trust = np.ones(x.size)
    for iteration in range(n_iterations + 1):
        line = _local_lines(at, x, y, near * trust)
        residual = np.abs(y - line[where])
        scale = 6 * float(np.median(residual))
        if iteration == n_iterations or scale < 1e-7 * float(residual.mean()) or scale == 0:
            break
        trust = np.where(residual <= _NEAR * scale, 1.0, (1 - np.minimum(residual / scale, 1) ** 2) ** 2)
        trust[residual > _FAR * scale] = 0.0
    return at, line


def _local_lines(at: Floats, x: Floats, y: Floats, weights: Floats) -> Floats:
    """Return the weighted straight line at each place, (n_places,); weights are (n_places, n)."""
    total = weights.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = weights / total
        centre = (weights @ x)[:, None]
        mean: Floats = weights @ y
        spread = (weights * (x - centre) ** 2).sum(axis=1)
        slope = (weights * (x - centre)) @ y / spread
    is_wide = np.sqrt(spread) > _SPREAD * np.ptp(x)
    return np.where(is_wide, mean + slope * (at - centre[:, 0]), mean)
