"""What the worker test can say of a worker at best, given how many items of a design they rate."""

from dataclasses import dataclass
from math import comb, erfc, sqrt

# As SciPy chooses between exact and normal p-values, and `analysis.stats.ranks` with it.
_WILCOXON_EXACT_MAX, _RANKSUM_EXACT_MAX = 50, 8


@dataclass(frozen=True)
class Compared:
    """What a worker rates that the worker test compares.

    Attributes
    ----------
    n_pairs : int
        Ratings of degraded items whose twin is rated too.
    n_degraded, n_ordinary : int
        Ratings of degraded and of ordinary items.
    """

    n_pairs: int
    n_degraded: int
    n_ordinary: int

    def times(self, n: int) -> "Compared":
        """Return the same of `n` criteria, or of `n` such HITs: ratings are pooled over both (METHOD §3)."""
        return Compared(self.n_pairs * n, self.n_degraded * n, self.n_ordinary * n)


def smallest_p_value(preset: str, compared: Compared) -> float:
    """Return the smallest p-value that a worker can reach: every degraded rating lies below what it is compared with.

    Parameters
    ----------
    preset : {"paired-wilcoxon", "unpaired-ranksum", "paired-t", "none"}
    compared : Compared

    Returns
    -------
    float
        0–1; 1 where there is nothing to compare. 0 for `none`, which every worker passes.

    Raises
    ------
    KeyError
        If there is no such preset.

    Notes
    -----
    Signed ranks of n pairs: 2⁻ⁿ. Rank sum of n and m ratings: 1/C(n + m, n), or the normal approximation where both
    have more than 8. Paired t: 0 from two pairs on, 1 below. Rank sums are taken of ratings that all differ: with ties
    SciPy approximates, and of few ratings its p may be smaller (0.037 instead of 1/6 where one rating lies below five
    equal ones). A design that only such workers could pass is no design to rely on.

    References
    ----------
    METHOD §3.

    Examples
    --------
    >>> smallest_p_value("paired-wilcoxon", Compared(4, 4, 20))
    0.0625
    >>> smallest_p_value("unpaired-ranksum", Compared(0, 1, 5))
    0.16666666666666666
    """
    n, m = compared.n_degraded, compared.n_ordinary
    return {
        "paired-wilcoxon": _wilcoxon(compared.n_pairs),
        "unpaired-ranksum": _ranksum(n, m) if n and m else 1.0,
        "paired-t": 0.0 if compared.n_pairs > 1 else 1.0,
        "none": 0.0,
    }[preset]


def _wilcoxon(n: int) -> float:
    return 0.5**n if n <= _WILCOXON_EXACT_MAX else _normal_cdf(-sqrt(n))  # of n equal differences


def _ranksum(n: int, m: int) -> float:
    if min(n, m) <= _RANKSUM_EXACT_MAX:
        return 1 / comb(n + m, n)
    return _normal_cdf((0.5 - n * m / 2) / sqrt(n * m * (n + m + 1) / 12))


def _normal_cdf(z: float) -> float:
    return erfc(-z / sqrt(2)) / 2
