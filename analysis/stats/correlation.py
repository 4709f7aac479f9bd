"""Do two runs agree? Correlations of system scores and shared conclusions (METHOD §5, §6)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.stats.ranks import mean_ranks, ranks_in_groups
from analysis.stats.ratings import Floats

_NORMAL_97_5 = 1.959963984540054
FEWEST = 3
"""Two systems are always in line: their correlation says nothing."""
N_SAMPLES = 1000
_FEWEST_RESAMPLED = 4
_PARTNERS, _DECIMALS = 5, 9
_PAIRED_AT_ONCE = 1000


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
        All NaN with fewer than three systems, of which any two are in line, or where one run gives all the same score:
        an agreement coefficient is then undefined, not 1.

    References
    ----------
    METHOD §6 (self-replication); thesis Tables 4.5 and 5.6.

    Examples
    --------
    >>> agreement = correlate(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 3.0, 2.0, 4.0]))
    >>> round(agreement.pearson, 3), round(agreement.spearman, 3), round(agreement.kendall, 3)
    (0.8, 0.8, 0.667)
    """
    both = ~(np.isnan(first) | np.isnan(second))
    a, b = first[both], second[both]
    if _is_undefined(a, b):
        return Correlation(np.nan, np.nan, np.nan)
    return Correlation(pearson(a, b), float(np.corrcoef(mean_ranks(a), mean_ranks(b))[0, 1]), kendall(a, b))


def kendall(first: Floats, second: Floats) -> float:
    """Return Kendall's τ-b of two arrays without NaN, of which none is constant.

    `scipy.stats`, which takes half a second to import, is left to arrays whose pairs would not fit into memory.
    """
    if first.size > _PAIRED_AT_ONCE:
        from scipy.stats import kendalltau

        return float(kendalltau(first, second).statistic)
    return float(np.clip(_tau_of_rows(first[np.newaxis], second[np.newaxis])[0], -1, 1))


def pearson(first: Floats, second: Floats) -> float:
    """Return Pearson's r alone, as `correlate` does, in a tenth of its time: to the last digit as scipy rounds it."""
    both = ~(np.isnan(first) | np.isnan(second))
    a, b = first[both], second[both]
    if _is_undefined(a, b):
        return np.nan
    return float(np.clip(np.vecdot(_unit(a), _unit(b)), -1, 1))


def _unit(values: Floats) -> Floats:
    """Return the deviations from the mean as a vector of length 1, without overflow."""
    deviation = values - values.mean()
    largest = np.abs(deviation).max()
    unit: Floats = deviation / (largest * np.linalg.norm(deviation / largest, axis=0))
    return unit


def _is_undefined(a: Floats, b: Floats) -> bool:
    return bool(a.size < FEWEST or np.ptp(a) == 0 or np.ptp(b) == 0)


@dataclass(frozen=True)
class CorrelationBounds:
    """Ends of 95 % intervals of Pearson's r, Spearman's ρ and Kendall's τ-b; NaN where undefined."""

    pearson: tuple[float, float]
    spearman: tuple[float, float]
    kendall: tuple[float, float]


def correlation_bounds(found: Correlation, n: int) -> CorrelationBounds:
    """Return 95 % intervals of correlations over n systems, by Fisher's z.

    Parameters
    ----------
    n : int
        Systems that the correlations are of.

    Returns
    -------
    CorrelationBounds
        NaN with fewer than four systems (five for τ), and where a correlation is 1 or −1, whose interval is not known.

    Notes
    -----
    tanh(artanh c ± 1.96 s) with s² = 1/(n − 3) for r, (1 + ρ²/2)/(n − 3) for ρ, and 0.437/(n − 4) for τ. Systems are
    taken to be drawn at random: it is how far r of other systems would lie, not of the same ones by other workers.

    References
    ----------
    Fisher 1921; Bonett & Wright 2000 (ρ); Fieller, Hartley & Pearson 1957 (τ).

    Examples
    --------
    >>> low, high = correlation_bounds(Correlation(0.5, 0.5, 0.5), 28).pearson
    >>> round(low, 3), round(high, 3)
    (0.156, 0.736)
    """
    squares = {
        "pearson": 1 / (n - 3) if n > 3 else np.nan,
        "spearman": (1 + found.spearman**2 / 2) / (n - 3) if n > 3 else np.nan,
        "kendall": 0.437 / (n - 4) if n > 4 else np.nan,
    }
    return CorrelationBounds(**{name: _bounds(getattr(found, name), square) for name, square in squares.items()})


def _bounds(correlation: float, square: float) -> tuple[float, float]:
    if np.isnan(correlation) or abs(correlation) >= 1 - 1e-12:
        return float("nan"), float("nan")
    middle, half = np.arctanh(correlation), _NORMAL_97_5 * np.sqrt(square)
    return float(np.tanh(middle - half)), float(np.tanh(middle + half))


@dataclass(frozen=True)
class Conclusions:
    """What two runs conclude of `n` pairs of systems that both tested.

    `same_direction`: the same system beats the other in both. `both_open`: neither does, in both. `only_first`,
    `only_second`: a system beats the other in one run alone. `contradicted`: each run has the other one win.
    """

    n: int
    same_direction: int
    both_open: int
    only_first: int
    only_second: int
    contradicted: int


def compare_conclusions(first: Floats, second: Floats, alpha: float) -> Conclusions:
    """Count on how many pairs of systems two runs conclude the same, and on how many the opposite.

    Parameters
    ----------
    first, second : float64, (n_systems, n_systems)
        One-sided p-values, row beats column; NaN where not tested.
    alpha : float
        Row beats column at p < alpha.

    Examples
    --------
    >>> one = np.array([[np.nan, 0.01, 0.02], [0.99, np.nan, 0.4], [0.98, 0.6, np.nan]])
    >>> compare_conclusions(one, one.T, 0.05)
    Conclusions(n=3, same_direction=0, both_open=1, only_first=0, only_second=0, contradicted=2)
    """
    i, j = np.triu_indices(first.shape[0], k=1)
    is_tested = ~np.isnan(first[i, j] + first[j, i] + second[i, j] + second[j, i])
    i, j = i[is_tested], j[is_tested]
    one, other = ((p[i, j] < alpha).astype(int) - (p[j, i] < alpha) for p in (first, second))
    product = one * other
    return Conclusions(
        n=int(i.size),
        same_direction=int(np.count_nonzero(product == 1)),
        both_open=int(np.count_nonzero((one == 0) & (other == 0))),
        only_first=int(np.count_nonzero((one != 0) & (other == 0))),
        only_second=int(np.count_nonzero((one == 0) & (other != 0))),
        contradicted=int(np.count_nonzero(product == -1)),
    )


def bootstrap_correlations(
    first: Floats, second: Floats, rng: np.random.Generator, *, n_samples: int = N_SAMPLES, level: float = 0.95
) -> tuple[Correlation, Correlation]:
    """Return the lower and the upper ends of percentile bootstrap intervals of r, ρ and τ-b.

    Parameters
    ----------
    first, second : float64, (n_systems,)
        As for `correlate`.
    n_samples : int
        Number of resamples: as many systems as there are, drawn with replacement, both scores together.
    level : float
        Coverage, between 0 and 1.

    Returns
    -------
    low, high : Correlation
        NaN for fewer than four systems, and where the correlation is undefined. Resamples in which it is undefined,
        because all have the same score, are left out.

    Notes
    -----
    They say how far the correlation depends on which systems there are. With few systems they are wide, and a little
    too narrow still.

    References
    ----------
    Deutsch, Dror & Roth 2021, A statistical analysis of summarization evaluation metrics using resampling methods
    (Boot-Systems).

    Examples
    --------
    >>> low, high = bootstrap_correlations(np.arange(6.0), np.arange(6.0) ** 2, np.random.default_rng(1))
    >>> bool(0.9 < low.pearson < high.pearson <= 1), low.kendall
    (True, 1.0)
    """
    both = ~(np.isnan(first) | np.isnan(second))
    a, b = first[both], second[both]
    if a.size < _FEWEST_RESAMPLED or np.ptp(a) == 0 or np.ptp(b) == 0:
        nothing = Correlation(np.nan, np.nan, np.nan)
        return nothing, nothing
    draws = rng.integers(a.size, size=(n_samples, a.size))
    found = _correlations_of_rows(a[draws], b[draws])
    tails = [(1 - level) / 2, (1 + level) / 2]
    low, high = np.transpose([np.nanquantile(values, tails) for values in found])
    return Correlation(*map(float, low)), Correlation(*map(float, high))


def correlate_resamples(first: Floats, second: Floats, level: float = 0.95) -> tuple[Correlation, Correlation]:
    """Return the lower and the upper ends of percentile intervals of r, ρ and τ-b between two independent results.

    Parameters
    ----------
    first, second : float64, (n_samples, n_systems)
        Scores of the same systems by resampled workers of each result (`pools.resample_workers`).
    level : float
        Coverage, between 0 and 1.

    Returns
    -------
    low, high : Correlation
        NaN with fewer than three systems, and where the correlation is undefined in half of the samples or more.
        Samples in which a system has no score are left out.

    Notes
    -----
    The results are independent, so each sample of the first may go with any of the second: it goes with five. Resampled
    scores hold the chance of the workers twice, so the interval lies a little below r rather than around it.

    References
    ----------
    Deutsch, Dror & Roth 2021 (Boot-Inputs, with workers in place of inputs).
    """
    n, nothing = min(first.shape[0], second.shape[0]), Correlation(np.nan, np.nan, np.nan)
    if n == 0 or first.shape[1] < FEWEST:
        return nothing, nothing
    steps = (np.arange(n)[None, :] + np.arange(_PARTNERS)[:, None] * (n // _PARTNERS)).ravel() % n
    a, b = np.tile(first[:n], (_PARTNERS, 1)), second[steps]
    known = ~np.isnan(a + b).any(axis=1)
    if known.sum() * 2 <= known.size:
        return nothing, nothing
    found = _correlations_of_rows(np.round(a[known], _DECIMALS), np.round(b[known], _DECIMALS))
    tails = [(1 - level) / 2, (1 + level) / 2]
    ends = [
        np.nanquantile(values, tails) if np.isnan(values).sum() * 2 < values.size else np.full(2, np.nan)
        for values in found
    ]
    low, high = np.transpose(ends)
    return Correlation(*map(float, low)), Correlation(*map(float, high))


def _correlations_of_rows(a: Floats, b: Floats) -> list[Floats]:
    """Return r, ρ and τ-b of each row of two matrices; NaN where a row is constant."""
    row = np.repeat(np.arange(a.shape[0]), a.shape[1])
    ranks = [ranks_in_groups(each.ravel(), row, a.shape[0]).reshape(a.shape) for each in (a, b)]
    return [_row_correlations(a, b), _row_correlations(*ranks), _tau_of_rows(a, b)]


def _tau_of_rows(a: Floats, b: Floats) -> Floats:
    """Return τ-b of each row: (concordant − discordant) over the root of pairs not tied in a × in b; NaN if none."""
    i, j = np.triu_indices(a.shape[1], k=1)
    agreed, n_a, n_b = np.zeros(a.shape[0]), np.zeros(a.shape[0]), np.zeros(a.shape[0])
    at_once = max(1, (1 << 22) // a.shape[0])
    for begin in range(0, i.size, at_once):
        one, other = i[begin : begin + at_once], j[begin : begin + at_once]
        sign_a, sign_b = np.sign(a[:, one] - a[:, other]), np.sign(b[:, one] - b[:, other])
        agreed += (sign_a * sign_b).sum(axis=1)
        n_a += np.count_nonzero(sign_a, axis=1)
        n_b += np.count_nonzero(sign_b, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(agreed / np.sqrt(n_a * n_b))


def _row_correlations(a: Floats, b: Floats) -> Floats:
    """Return r of each row of two matrices; NaN where a row is constant."""
    is_constant = (np.ptp(a, axis=1) == 0) | (np.ptp(b, axis=1) == 0)
    a, b = a - a.mean(axis=1, keepdims=True), b - b.mean(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        r = (a * b).sum(axis=1) / np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    return np.where(is_constant, np.nan, np.clip(r, -1, 1))


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
