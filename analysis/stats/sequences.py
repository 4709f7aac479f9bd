"""Differences that may be looked at after every HIT: confidence sequences (METHOD §5)."""

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from analysis.stats.inference import Comparison
from analysis.stats.pairs import Pairs
from analysis.stats.ratings import Floats
from analysis.stats.significance import adjust

N_PLANNED = 30
"""For how many workers sequences are narrowest, unless a campaign says how many it wants."""
Compared = TypeVar("Compared", Comparison, Pairs)


@dataclass(frozen=True)
class Sequence:
    """Estimates with bounds that hold at all looks together, and p-values that are valid at any of them.

    Attributes
    ----------
    estimate, low, high, p_value : float64
        All of one shape. `p_value` is two-sided: that the difference is 0. As long as there is too little to say
        anything, the bounds are infinite and p is 1; NaN where the estimate is.
    """

    estimate: Floats
    low: Floats
    high: Floats
    p_value: Floats


def critical_t(n: Floats, *, alpha: float = 0.05, n_planned: float = N_PLANNED) -> Floats:
    """Return how many standard errors a confidence sequence reaches to each side of the mean of n values.

    Parameters
    ----------
    n : float64, (…)
        Number of independent values so far, effective numbers included.
    alpha : float
        The sequence leaves out the true mean at any n with a probability of at most alpha.
    n_planned : float
        For how many values it is narrowest, about.

    Returns
    -------
    float64, (…)
        Infinite as long as n is small.

    Notes
    -----
    It is the t at which the Bayes factor of a mean of δσ, δ ~ N(0, g), against 0, with the right Haar prior 1/σ,
    reaches 1/α. With ν = n − 1:

    E = (1 + ng)^(−1/2) · [(1 + t²/ν) / (1 + t²/(ν(1 + ng)))]^(n/2).

    For normal values E is a nonnegative martingale of mean 1 where the mean is 0, whatever σ, so that it ever reaches
    1/α with a probability of at most α (Ville). For other values this holds as n grows: t then becomes Robbins' normal
    mixture, as in asymptotic confidence sequences. g is the best of Robbins' for n_planned:
    (−2 ln α + ln(1 − 2 ln α))/n_planned.

    References
    ----------
    METHOD §5; Lai 1976, Annals of Statistics 4; Howard, Ramdas, McAuliffe & Sekhon 2021, Annals of Statistics 49;
    Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas 2024, Annals of Statistics 52 (g: §2); Wang & Ramdas 2025, Sequential
    Analysis 44 (t).

    Examples
    --------
    >>> critical_t(np.array([2, 5, 30, 1000])).round(2)
    array([ inf,  inf, 3.26, 3.42])
    """
    n = np.asarray(n, dtype=np.float64)
    growth = 1 + n * _prior_variance(alpha, n_planned)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        ratio = (np.sqrt(growth) / alpha) ** (2 / n)
        found: Floats = np.sqrt((n - 1) * (ratio - 1) / (1 - ratio / growth))
    return np.where((n > 1) & (ratio < growth), found, np.where(np.isnan(n), np.nan, np.inf))


def confidence_sequence(values: Floats, *, alpha: float = 0.05, n_planned: float = N_PLANNED) -> Sequence:
    """Return the mean of values that come one after another, with bounds at every look.

    Parameters
    ----------
    values : float64, (n,)
        Independent, in the order in which they came: of each worker, the mean z of one system less that of another.
    alpha, n_planned
        As in `critical_t`.

    Returns
    -------
    Sequence
        (n,), after each value. Where all values so far are equal, nothing is said.

    Examples
    --------
    >>> found = confidence_sequence(np.array([1.0, 2.0, 1.5, 1.2, 1.8, 1.4, 1.6, 1.3]))
    >>> found.low.round(2)
    array([ -inf,  -inf,  -inf,  -inf,  -inf,  -inf, -0.55,  0.7 ])
    """
    n = np.arange(1, values.size + 1)
    mean = np.cumsum(values) / n
    # Welford's update: no square of a large mean is taken away
    before = np.concatenate([[0.0], mean[:-1]])
    squares = np.cumsum(np.where(n > 1, (values - before) * (values - mean), 0.0))
    error = np.sqrt(squares / np.maximum(n - 1, 1) / n)
    error[error <= 1e-12 * np.abs(values).max(initial=0)] = np.nan
    return _sequence(mean, error, n.astype(np.float64), alpha, n_planned)


def compare_at_any_time(
    comparison: Comparison | Pairs, *, alpha: float = 0.05, n_planned: float = N_PLANNED
) -> Sequence:
    """Return the differences of all pairs of systems with bounds that hold at every look at a growing campaign.

    Parameters
    ----------
    comparison : Comparison or Pairs
        Of the responses so far.
    alpha, n_planned
        As in `critical_t`; in workers.

    Returns
    -------
    Sequence
        (n_systems, n_systems), row less column.

    Notes
    -----
    The bounds are as many standard errors of the difference as those of a mean, n being one more than its degrees of
    freedom: the (effective) number of workers, or of sources, if less. A sequence over workers' own differences is
    narrower, but holds for the outputs in the campaign only: workers share them. It is asymptotic;
    `benchmarks/error_rates.py` counts how often it is wrong.
    """
    return _sequence(
        comparison.difference, comparison.standard_error, np.asarray(comparison.df) + 1.0, alpha, n_planned
    )


def at_every_look(comparison: Compared, *, alpha: float = 0.05, n_planned: float = N_PLANNED) -> Compared:
    """Return the same comparison with bounds and corrected p-values that hold at every look at a growing campaign.

    Parameters
    ----------
    comparison : Comparison or Pairs
        Of the responses so far.
    alpha, n_planned
        As in `critical_t`; in workers.

    Returns
    -------
    Comparison or Pairs
        `low`, `high` and `p_value` (that of a `Comparison` is one-sided: half the two-sided one on the side of the
        difference) are of the sequence of each pair alone; `holm` is two-sided, over the pairs that have a difference.
        Where there is too little to say anything, bounds are infinite and p-values say nothing (1; one-sided ½).

    Notes
    -----
    Holm's correction of p-values that are each valid at every look is so, too: it errs on a pair only if p of one of
    the m₀ pairs of equal systems is ever at most α/m₀, which has a probability of at most α (Bonferroni).

    References
    ----------
    METHOD §5; Howard, Ramdas, McAuliffe & Sekhon 2021, Annals of Statistics 49, §6; Holm 1979.

    Examples
    --------
    >>> from analysis.stats.inference import compare_clustered
    >>> rng = np.random.default_rng(0)
    >>> system, worker = np.indices((3, 20)).reshape(2, -1)
    >>> z = rng.normal(0, 0.5, 60) - 2.0 * (system == 2)
    >>> found = compare_clustered(z, system, worker, np.full(60, -1), 3)
    >>> watched = at_every_look(found)
    >>> [round(float(each.low[0, 2]), 2) for each in (found, watched)]
    [1.43, 1.23]
    """
    sequence = compare_at_any_time(comparison, alpha=alpha, n_planned=n_planned)
    lower = np.tril_indices_from(sequence.p_value)
    two_sided = sequence.p_value.copy()
    two_sided[lower] = np.nan
    holm = adjust(two_sided, "holm")
    holm[lower] = holm.T[lower]
    p_value = sequence.p_value
    if isinstance(comparison, Comparison):
        p_value = np.where(comparison.difference > 0, p_value / 2, 1 - p_value / 2)
    return replace(comparison, low=sequence.low, high=sequence.high, p_value=p_value, holm=holm)


def _prior_variance(alpha: float, n_planned: float) -> float:
    return float((-2 * np.log(alpha) + np.log1p(-2 * np.log(alpha))) / n_planned)


def _sequence(estimate: Floats, error: Floats, n: Floats, alpha: float, n_planned: float) -> Sequence:
    has_error = ~np.isnan(error)
    with np.errstate(invalid="ignore", divide="ignore"):
        reach = np.where(has_error, critical_t(n, alpha=alpha, n_planned=n_planned) * error, np.inf)
        growth = 1 + n * _prior_variance(alpha, n_planned)
        x = (estimate / error) ** 2 / (n - 1)
        log_factor = n / 2 * (np.log1p(x) - np.log1p(x / growth)) - np.log(growth) / 2
    p_value = np.where(has_error, np.exp(-np.maximum(log_factor, 0)), 1.0)
    p_value[np.isnan(estimate)] = np.nan
    return Sequence(estimate, estimate - reach, estimate + reach, p_value)
