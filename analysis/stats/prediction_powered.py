"""Human ratings and a metric together: the same differences of systems, with narrower intervals (METHOD §7)."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from analysis.stats.clustered import (
    Fit,
    GroupedRatings,
    Matrix,
    PairVariances,
    contrasts_of,
    dense,
    fit_systems,
    group_ratings,
    pair_variances,
    random_effects,
    scaled,
    worker_variances,
)
from analysis.stats.pairs import variance_of_differences
from analysis.stats.ratings import Codes, Floats, Mask

# Of the variance of people's difference: what the metric varies by is rounding below it.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class MetricOutputs:
    """A metric's score of each output, whether it was rated or not.

    Attributes
    ----------
    score : float64, (n_outputs,)
        In any unit, higher is better; no NaN.
    system, source : int, (n_outputs,)
        Codes of systems from 0, and of sources from 0 as in the ratings; sources without a rating have greater codes.
        No output occurs twice.
    """

    score: Floats
    system: Codes
    source: Codes


@dataclass(frozen=True)
class AssistedComparison:
    """The difference of every two systems by people alone and with a metric; arrays are (n_systems, n_systems).

    Attributes
    ----------
    difference, standard_error, df : float64
        By people alone, row less column, as `inference.compare_clustered` has them; NaN where undefined.
    low, high : float64
        95 % interval by people alone.
    assisted, assisted_error, assisted_low, assisted_high : float64
        The same with the metric; as by people where it gains nothing.
    weight : float64
        λ, from 0 to 1: how much of the metric's difference is used. NaN where the metric has no score of a system.
    saving : float64
        1 − (assisted_error / standard_error)², the share of ratings that the metric saves; below 0 by chance. NaN like
        `weight`.
    unit : float
        Points of the metric that are one z: the metric is divided by it. NaN where it does not vary.
    share_rated : float
        Of the outputs that have a score, those that were rated.
    n_missing : int
        Ratings of outputs without a score.
    sample_p : float
        That the metric's differences among rated outputs are those among all, as in a random sample: the least p of all
        pairs, times their number. NaN where undefined.
    limit : float
        The saving over all pairs with one λ, if many more outputs had a score than are rated; NaN where undefined.
    """

    difference: Floats
    standard_error: Floats
    df: Floats
    low: Floats
    high: Floats
    assisted: Floats
    assisted_error: Floats
    assisted_low: Floats
    assisted_high: Floats
    weight: Floats
    saving: Floats
    unit: float
    share_rated: float
    n_missing: int
    sample_p: float
    limit: float


@dataclass(frozen=True)
class _Control:
    """What is known of the metric's difference among the rated outputs less that among all.

    `correction` is that difference; `with_people` and `own`, its covariance with people's difference and its variance,
    as sums over sources without a correction for their number. `of_metric` and `of_both` are the variances by worker,
    and by worker and source, of the metric's difference among the rated outputs, and of its sum with people's.
    All (n_systems, n_systems).
    """

    correction: Floats
    with_people: Floats
    own: Floats
    of_metric: tuple[Floats, Floats]
    of_both: tuple[Floats, Floats]
    unit: float


def compare_with_metric(
    z: Floats,
    system: Codes,
    worker: Codes,
    source: Codes,
    n_systems: int,
    outputs: MetricOutputs,
    weight: Floats | None = None,
) -> AssistedComparison:
    """Compare every two systems by ratings and a metric together: prediction-powered inference with a tuned weight.

    Parameters
    ----------
    z : float64, (n,)
        Standardised scores of single ratings; NaN is left out.
    system, worker, source : int, (n,)
        As `inference.compare_clustered` takes them.
    outputs : MetricOutputs
        Of all outputs, of which the rated ones are a random sample.
    weight : float64, (n,), optional
        What each rating weighs, as in `inference.compare_clustered`.

    Notes
    -----
    With d the recommended comparison's difference of two systems in z, m the difference of the metric by the same
    least squares of the same ratings, and M that by least squares over all outputs, the estimate is d − λ(m − M). As
    rated outputs are a random sample, m − M is 0 in the mean, whatever the metric prefers: the estimate is unbiased.

    m depends on outputs alone, so m − M varies with sources. λ = Σ ah / Σ h² over sources, a and h being the terms of a
    source in d and in m − M; it is no less than 0 and no more than 1, the metric having the standard deviation of the
    residuals of z. The variance is V_w + V_s − V_c as of the recommended comparison. V_s = c Σ (a − λh)² with
    c = k/(k − 2): of k, the effective number of sources, one more is taken off than for d, as λ is estimated. V_w and
    V_c, by worker and by both, are those of z less λ times the metric. λ is 0 where V_s would be no less than for d.
    There are min(effective workers − 1, k − 2) degrees of freedom. An interval may come out wider than by people alone,
    by chance, as V_w − V_c is an estimate.

    A rated output without a score gets the mean of its system's outputs that have one; as that mean is M's, what it
    adds to m is not counted as known. Where all outputs of two systems are rated nothing is gained: λ is 0.

    For `limit`, λ and the saving are those of all pairs together: sums are over sources and pairs, and the gain is that
    in V_s, over V_s + V_w − V_c, or V_s where V_w − V_c is negative. It is proportional to 1 − share_rated, as the
    variance of m − M is to 1/n − 1/N, n of N outputs being rated.

    References
    ----------
    METHOD §7; Angelopoulos, Duchi & Zrnic 2023, PPI++, arXiv 2311.01453, §6 (power tuning); Angelopoulos et al. 2023,
    Science 382.

    Examples
    --------
    The metric knows the rest of a rating but for a little noise; nine in ten outputs were not rated.

    >>> rng = np.random.default_rng(0)
    >>> system, source = np.indices((2, 500)).reshape(2, -1)
    >>> quality = system + rng.normal(0, 1, 1000)
    >>> outputs = MetricOutputs(10 * quality + rng.normal(0, 3, 1000), system, source)
    >>> rated = rng.permutation(1000)[:100]
    >>> found = compare_with_metric(
    ...     quality[rated], system[rated], np.arange(100), source[rated], 2, outputs)
    >>> bool(found.saving[1, 0] > 0.6), bool(found.assisted_low[1, 0] < 1 < found.assisted_high[1, 0])
    (True, True)
    """
    from scipy.special import stdtrit

    is_number = ~np.isnan(z)
    if not is_number.any():
        nothing = np.full((n_systems, n_systems), np.nan)
        return _alone(nothing, nothing, nothing, outputs, n_missing=0)
    weight = np.ones(z.size) if weight is None else weight / weight[is_number].mean()
    grouped = group_ratings(
        *(z[is_number], system[is_number], worker[is_number], source[is_number], n_systems, weight[is_number])
    )
    counts = grouped.total(grouped.stratum, grouped.weight)
    theta = random_effects(grouped, grouped.total(grouped.stratum, np.ones(grouped.z.size)))
    fit = fit_systems(grouped, counts, theta)
    parts = pair_variances(grouped, fit)
    difference, variance, df = contrasts_of(grouped, fit, parts)
    if not outputs.score.size:
        return _alone(difference, variance, df, outputs, n_missing=grouped.z.size)
    codes = source[is_number]
    score = _look_up(outputs, grouped.system, codes, n_systems)
    is_scored = ~np.isnan(score)
    share_rated = (
        np.unique(codes[is_scored] * np.int64(n_systems) + grouped.system[is_scored]).size / outputs.score.size
    )
    alone = _alone(difference, variance, df, outputs, int(np.count_nonzero(~is_scored)), share_rated)
    control = _control(grouped, fit, counts, parts.of_workers, score, outputs)
    if control is None:
        return alone
    used, assisted_variance, assisted_df = _assist(parts, control, df)
    reach = -stdtrit(assisted_df, 0.025) * np.sqrt(assisted_variance)
    assisted = difference - used * control.correction
    is_assisted = used > 0
    is_used = np.tril(~np.isnan(variance) & (control.own > _ROUNDING * parts.sources), -1)
    return replace(
        alone,
        assisted=assisted,
        assisted_error=np.where(is_assisted, np.sqrt(assisted_variance), alone.standard_error),
        assisted_low=np.where(is_assisted, assisted - reach, alone.low),
        assisted_high=np.where(is_assisted, assisted + reach, alone.high),
        weight=np.where(np.isnan(alone.weight), np.nan, used),
        saving=np.where(is_assisted, 1 - assisted_variance / variance, alone.saving),
        unit=control.unit,
        sample_p=_sample_p(parts, control, is_used),
        limit=_limit(parts, control, is_used, share_rated),
    )


def _alone(
    difference: Floats,
    variance: Floats,
    df: Floats,
    outputs: MetricOutputs,
    n_missing: int,
    share_rated: float = float("nan"),
) -> AssistedComparison:
    """Return the comparison by people alone, as it stays where a metric helps nothing."""
    from scipy.special import stdtrit

    error = np.sqrt(variance)
    reach = -stdtrit(df, 0.025) * error
    is_scored = np.bincount(outputs.system, minlength=difference.shape[0]) > 0
    none = np.where(is_scored[:, None] & is_scored[None, :] & ~np.isnan(variance), 0.0, np.nan)
    return AssistedComparison(
        difference=difference,
        standard_error=error,
        df=df,
        low=difference - reach,
        high=difference + reach,
        assisted=difference,
        assisted_error=error,
        assisted_low=difference - reach,
        assisted_high=difference + reach,
        weight=none,
        saving=none,
        unit=float("nan"),
        share_rated=share_rated,
        n_missing=n_missing,
        sample_p=float("nan"),
        limit=float("nan"),
    )


def predict_saving(limit: float, share_rated: float) -> float:
    """Return the share of ratings that a metric saves when this share of its outputs is rated.

    Parameters
    ----------
    limit : float
        `AssistedComparison.limit` of a pilot, or of what is rated so far.
    share_rated : float
        Of the outputs with a score, those that will be rated.

    Returns
    -------
    float
        limit · (1 − share_rated), 0–1; NaN where `limit` is.

    Notes
    -----
    It holds if further ratings come from new workers and new outputs as those did, so that the variance by people alone
    is proportional to 1/n.

    Examples
    --------
    >>> predict_saving(0.5, 0.25)
    0.375
    """
    return limit * (1 - min(share_rated, 1.0))


def _look_up(outputs: MetricOutputs, system: NDArray[np.int64], source: Codes, n_systems: int) -> Floats:
    """Return the metric's score of the output of each rating, NaN where there is none."""
    key = outputs.source.astype(np.int64) * n_systems + outputs.system
    order = np.argsort(key)
    wanted = source.astype(np.int64) * n_systems + system  # negative, and so never found, of unknown sources
    place = np.minimum(np.searchsorted(key, wanted, sorter=order), key.size - 1)
    return np.where(key[order[place]] == wanted, outputs.score[order[place]], np.nan)


def _control(
    grouped: GroupedRatings, fit: Fit, counts: Matrix, of_workers: Floats, score: Floats, outputs: MetricOutputs
) -> _Control | None:
    """Return what the metric's difference says of the rated outputs; None where it does not vary there."""
    spread = outputs.score.std()
    if not grouped.is_known.any() or spread <= _ROUNDING * np.abs(outputs.score).max():
        return None
    every = group_ratings(
        *((outputs.score - outputs.score.mean()) / spread, outputs.system, np.arange(outputs.score.size)),
        *(outputs.source, grouped.n_systems, np.ones(outputs.score.size)),
    )
    n_outputs = every.total(every.stratum, every.weight)
    of_all = fit_systems(every, n_outputs, random_effects(every, n_outputs))
    is_missing = np.isnan(score)
    filled = np.where(is_missing, of_all.coefficient[grouped.system], (score - outputs.score.mean()) / spread)
    of_rated = fit_systems(replace(grouped, z=filled), counts, fit.theta)
    size = np.sqrt((of_rated.residual**2).mean())
    if size <= _ROUNDING:
        return None
    in_z = float(np.sqrt((fit.residual**2).mean()) / size)
    # What the means of outputs with a score add to the coefficients, where they stand in for scores that are missing
    missing = grouped.total(grouped.stratum, grouped.weight * is_missing)
    lost = (2 * fit.theta - fit.theta**2) / counts.sum(axis=1)
    filling = fit.bread @ (np.diag(missing.sum(axis=0)) - dense(counts.T @ scaled(missing, lost)))
    n_sources = 1 + int(max(grouped.label.max(), every.label.max()))
    people = _source_scores(grouped, fit, n_sources) @ fit.bread
    metric = _source_scores(grouped, of_rated, n_sources) @ fit.bread
    metric -= _source_scores(every, of_all, n_sources) @ of_all.bread @ (np.eye(grouped.n_systems) - filling).T
    beyond = of_rated.coefficient - of_all.coefficient
    n_scored = np.asarray(n_outputs.sum(axis=0))
    n_unrated = n_scored - (grouped.total(grouped.stratum, (~is_missing).astype(np.float64)) > 0).sum(axis=0)
    is_covered = (n_scored[:, None] > 0) & (n_scored[None, :] > 0) & (n_unrated[:, None] + n_unrated[None, :] > 0)
    alone = replace(of_rated, residual=in_z * of_rated.residual)
    both = replace(of_rated, residual=fit.residual + alone.residual)
    return _Control(
        in_z * (beyond[:, None] - beyond[None, :]),
        np.where(is_covered, in_z * variance_of_differences(people.T @ metric), 0.0),
        np.where(is_covered, in_z**2 * variance_of_differences(metric.T @ metric), 0.0),
        worker_variances(grouped, alone, of_workers),
        worker_variances(grouped, both, of_workers),
        float(spread / in_z),
    )


def _source_scores(grouped: GroupedRatings, fit: Fit, n_sources: int) -> Floats:
    """Return the scores of each known source in the least squares, (n_sources, n_systems), 0 for those without any."""
    residual = grouped.weight * fit.residual
    total = np.bincount(grouped.stratum, weights=residual)
    score = dense(grouped.total(grouped.stratum, residual) - scaled(fit.share, total))
    found = np.zeros((n_sources, grouped.n_systems))
    is_known = grouped.label >= 0
    found[grouped.label[is_known]] = score[is_known]
    return found


def _sources(parts: PairVariances, control: _Control, used: Floats | float, n_weights: float) -> Floats:
    """Return the variance by source with a weight of the metric that costs so many degrees of freedom."""
    k = parts.of_sources
    with np.errstate(invalid="ignore", divide="ignore"):
        squares = parts.sources * (k - 1) / k - 2 * used * control.with_people + used**2 * control.own
        found: Floats = np.where(k - 1 - n_weights > _ROUNDING, k / (k - 1 - n_weights), np.nan) * squares
    return found


def _assist(parts: PairVariances, control: _Control, df: Floats) -> tuple[Floats, Floats, Floats]:
    """Return λ, the variance, and the degrees of freedom of every pair; λ is 0 where sources vary no less with it."""
    with np.errstate(invalid="ignore", divide="ignore"):
        varies = control.own > _ROUNDING * parts.sources
        used = np.where(varies, np.clip(control.with_people / control.own, 0, 1), 0.0)
        sources = _sources(parts, control, used, 1)
        workers, cells = (
            of_people + used**2 * of_metric - used * (of_both - of_people - of_metric)
            for of_people, of_metric, of_both in zip(
                (parts.workers, parts.cells), control.of_metric, control.of_both, strict=True
            )
        )
        variance = replace(parts, workers=workers, sources=sources, cells=cells).total()
        gains = (used > 0) & (sources < parts.sources) & (variance > 0)
    return np.where(gains, used, 0.0), variance, np.where(gains, np.minimum(df, parts.of_sources - 2), df)


def _sample_p(parts: PairVariances, control: _Control, is_used: Mask) -> float:
    """Return p that the rated outputs are a random sample, by the metric's differences of these pairs (Bonferroni)."""
    from scipy.special import stdtr

    if not is_used.any():
        return float("nan")
    k = parts.of_sources[is_used]
    t = np.abs(control.correction[is_used]) / np.sqrt(control.own[is_used] * k / (k - 1))
    return float(min(1.0, 2 * stdtr(k - 1, -t).min() * k.size))


def _limit(parts: PairVariances, control: _Control, is_used: Mask, share_rated: float) -> float:
    """Return what the metric would save with one λ for all of these pairs, were hardly any output rated."""
    if not is_used.any() or share_rated >= 1:
        return float("nan")
    used = float(np.clip(control.with_people[is_used].sum() / control.own[is_used].sum(), 0, 1))
    n_free = np.count_nonzero(is_used.any(axis=0) | is_used.any(axis=1)) - 1
    gain = (parts.sources - _sources(parts, control, used, 1 / n_free))[is_used].sum()
    of_workers = max(0.0, (parts.workers - parts.cells)[is_used].sum())
    return float(np.clip(gain / (parts.sources[is_used].sum() + of_workers) / (1 - share_rated), 0, 1))
