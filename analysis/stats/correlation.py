"""Do two runs agree? Correlations of system scores and shared conclusions (METHOD §5, §6)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.stats.ratings import Floats


@dataclass(frozen=True)
class Correlation:
    """Pearson's r, Spearman's ρ and Kendall's τ-b; NaN where undefined."""

    pearson: float
    spearman: float
    kendall: float


def correlate(first: Floats, second: Floats) -> Correlation:
    """Return the correlations of two runs' scores of the same systems.

    Parameters
    ----------
    first, second : float64, (n_systems,)
        Scores in the same order of systems; a system without a score in either is left out.

    Returns
    -------
    Correlation
        All NaN with fewer than two systems or where one run gives all the same score: an agreement coefficient is
        then undefined, not 1.

    References
    ----------
    METHOD §6 (self-replication); thesis Tables 4.5 and 5.6.

    Examples
    --------
    >>> agreement = correlate(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 3.0, 2.0, 4.0]))
    >>> round(agreement.pearson, 3), round(agreement.spearman, 3), round(agreement.kendall, 3)
    (0.8, 0.8, 0.667)
    """
    from scipy.stats import kendalltau, pearsonr, spearmanr

    both = ~(np.isnan(first) | np.isnan(second))
    a, b = first[both], second[both]
    if a.size < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return Correlation(np.nan, np.nan, np.nan)
    return Correlation(
        float(pearsonr(a, b).statistic), float(spearmanr(a, b).statistic), float(kendalltau(a, b).statistic)
    )


def share_same_conclusions(original: Floats, replication: Floats, order: Sequence[int], alpha: float) -> float:
    """Return the share of pairs of systems on which two runs conclude the same.

    Parameters
    ----------
    original, replication : float64, (n_systems, n_systems)
        One-sided p-values, row beats column, of the two runs.
    order : sequence of int
        System codes as ranked in the original run, best first.
    alpha : float
        i beats j at p < alpha.

    Returns
    -------
    float
        Between 0 and 1, over the pairs {i, j}, i ranked above j; NaN where no pair was tested in both runs.

    References
    ----------
    METHOD §5; the dialogue study's two free-topic runs give 0.84 at α = 0.1 and at 0.05.
    """
    upper, lower = np.triu_indices(len(order), k=1)
    ranked = np.asarray(order, dtype=np.intp)
    first = original[ranked[upper], ranked[lower]]
    second = replication[ranked[upper], ranked[lower]]
    is_tested = ~(np.isnan(first) | np.isnan(second))
    if not is_tested.any():
        return float("nan")
    return float(np.mean((first < alpha)[is_tested] == (second < alpha)[is_tested]))
