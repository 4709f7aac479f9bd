"""The worker tests: their words, and what each can say of a worker at best, given what they rate of a design.

What a test computes of ratings is in `analysis.stats.quality`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
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
    n_alike : int
        Among how many a degraded item could be any one, if nobody sees which: 2, the item and its twin, or as many as
        a response compares.
    """

    n_pairs: int
    n_degraded: int
    n_ordinary: int
    n_alike: int = 2

    def times(self, n: int) -> "Compared":
        """Return the same of `n` criteria, or of `n` such HITs: ratings are pooled over both (METHOD §3)."""
        return replace(self, n_pairs=self.n_pairs * n, n_degraded=self.n_degraded * n, n_ordinary=self.n_ordinary * n)


def _wilcoxon(compared: Compared) -> float:
    n = compared.n_pairs
    return 0.5**n if n <= _WILCOXON_EXACT_MAX else _normal_cdf(-sqrt(n))  # of n equal differences


def _ranksum(compared: Compared) -> float:
    n, m = compared.n_degraded, compared.n_ordinary
    if not n or not m:
        return 1.0
    if min(n, m) <= _RANKSUM_EXACT_MAX:
        return 1 / comb(n + m, n)
    return _normal_cdf((0.5 - n * m / 2) / sqrt(n * m * (n + m + 1) / 12))


def _normal_cdf(z: float) -> float:
    return erfc(-z / sqrt(2)) / 2


@dataclass(frozen=True)
class WorkerTest:
    """A worker test in words, and the smallest p-value that it can give.

    `name`: what people call it. `title`: as a campaign's settings offer it. `meaning`: what it does. `compared`: what
    is counted as compared. `others`: what degraded items are compared with. `is_paired`: whether it compares twins.
    """

    name: str
    title: str
    meaning: str
    compared: str
    others: str
    is_paired: bool
    smallest_p_value: Callable[[Compared], float]


NO_TEST = "none"
"""The test that tests nobody: every worker counts."""
DEFAULT_TEST = "paired-wilcoxon"
_TWINS = "pairs of a degraded item and its twin", "their twins"
WORKER_TESTS = {
    DEFAULT_TEST: WorkerTest(
        "paired Wilcoxon",
        "Wilcoxon signed-rank, twins (MRC, QG)",
        "each degraded item against its twin, by signed ranks",
        *_TWINS,
        is_paired=True,
        smallest_p_value=_wilcoxon,
    ),
    "unpaired-ranksum": WorkerTest(
        "unpaired rank-sum",
        "Rank-sum, unpaired (dialogue)",
        "all degraded items against all ordinary ones",
        "ratings of degraded items",
        "ordinary ones",
        is_paired=False,
        smallest_p_value=_ranksum,
    ),
    "paired-t": WorkerTest(
        "paired t",
        "Paired t, twins (WMT)",
        "each degraded item against its twin, by means",
        *_TWINS,
        is_paired=True,
        smallest_p_value=lambda compared: 0.0 if compared.n_pairs > 1 else 1.0,
    ),
    "sign": WorkerTest(
        "sign",
        "Sign test, twins and comparisons",
        "how often each degraded item loses against its twin, or against what it is shown with",
        "comparisons with a degraded item",
        "the others",
        is_paired=True,
        smallest_p_value=lambda compared: (1 / compared.n_alike) ** compared.n_pairs,
    ),
    NO_TEST: WorkerTest(
        "no worker test",
        "None: every worker counts",
        "every worker counts",
        "",
        "",
        is_paired=False,
        smallest_p_value=lambda _: 0.0,
    ),
}
"""Every worker test by its slug, in the order in which they are offered."""


def smallest_p_value(preset: str, compared: Compared) -> float:
    """Return the smallest p-value that a worker can reach: every degraded rating lies below what it is compared with.

    Parameters
    ----------
    preset : str
        A key of `WORKER_TESTS`.
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
    Signed ranks and signs of n pairs: 2⁻ⁿ; signs of n responses that compare k outputs each: k⁻ⁿ. Rank sum of n and m
    ratings: 1/C(n + m, n), or the normal approximation where both have more than 8. Paired t: 0 from two pairs on, 1
    below. Rank sums are taken of ratings that all differ: with ties SciPy approximates, and of few ratings its p may be
    smaller (0.037 instead of 1/6 where one rating lies below five equal ones). A design that only such workers could
    pass is not a design to rely on.

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
    return WORKER_TESTS[preset].smallest_p_value(compared)
