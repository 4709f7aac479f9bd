"""How often a design finds a difference, and how many workers are enough, by simulation (METHOD §8)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, isfinite
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from analysis.stats.designs import PlannedDesign, RatingModel, simulate_ratings, with_workers
from analysis.stats.pipeline import Design, compare_recommended, score_ratings
from analysis.stats.ratings import Floats
from campaigns.design.composition import Layout
from campaigns.design.worker_test import NO_TEST

TARGET, P_BELOW = 0.8, 0.05
"""Power that a design should have, and the one-sided p below which a difference counts as found."""
# Powers that say how the standard error grows: others are too near to the ends.
_LEAST_USED, _MOST_USED = 0.12, 0.985
_MANY_WORKERS = 400
_LEAST_WORKERS, _MOST_WORKERS, _MOST_TRIED = 3, 20_000, 1_000.0
_CURVE = (0.3, 0.55, 0.8, 1.0, 1.3, 1.8)


@dataclass(frozen=True)
class Power:
    """What simulated campaigns of one design found.

    Attributes
    ----------
    power, power_error : float
        Share of the differences between neighbours in rank that are found at one-sided p < 0.05, and its standard
        error. Errors are those of the simulation.
    corrected, corrected_error : float
        The same after Holm's correction over all pairs, two-sided: what pages conclude.
    half_width : float
        Of the 95 % interval of a difference of two systems, in points; NaN where it was never defined.
    workers_counted, ratings_counted : float
        Mean number of workers who count, and of their ratings of one system.
    """

    power: float
    power_error: float
    corrected: float
    corrected_error: float
    half_width: float
    workers_counted: float
    ratings_counted: float


@dataclass(frozen=True)
class DesignPower:
    """A design and what it finds."""

    design: PlannedDesign
    found: Power


def simulate_power(
    design: PlannedDesign, model: RatingModel, difference: float, *, n_simulations: int, seed: int
) -> Power:
    """Return how often campaigns of a design find a difference, by simulating and analysing them.

    Parameters
    ----------
    difference : float
        Points between neighbours in rank; 0 gives the level of the test.
    n_simulations : int
        Campaigns, at least 1. The standard error of the power is at most 0.5/√n_simulations.
    seed : int
        The same seed, design and model give the same numbers.

    Returns
    -------
    Power
        A difference that is not defined, because too few workers count, is not found.

    Notes
    -----
    Each campaign goes through worker test, standardisation and recommended comparison as real ratings do. The standard
    error is that of the mean over campaigns of the share that each finds, with one campaign added that finds all and
    one that finds nothing, so that it is never 0.

    References
    ----------
    METHOD §8; Morris, White & Crowther 2019, Statistics in Medicine 38 (errors of simulations).
    """
    k = design.n_systems
    every = np.ones(design.n_criteria, dtype=bool)
    settings = Design(~every, every, design.worker_test)
    found, corrected, width = np.empty((3, n_simulations))
    n_workers, n_ratings = np.empty((2, n_simulations))
    for number in range(n_simulations):
        ratings = simulate_ratings(design, model, difference, np.random.default_rng([seed, number]))
        result = score_ratings(ratings, settings)
        comparison = compare_recommended(ratings, settings, result)
        above = np.arange(k - 1), np.arange(1, k)
        with np.errstate(invalid="ignore"):
            found[number] = (comparison.p_value[above] < P_BELOW).mean()
            is_right = comparison.difference[above] > 0
            corrected[number] = ((comparison.holm[above] < P_BELOW) & is_right).mean()
        n_workers[number] = result.is_kept.sum()
        n_ratings[number] = np.bincount(result.observations.system, minlength=k)[:k].mean()
        width[number] = _half_width(
            comparison.high[above] - comparison.low[above], result.standardisation.sd, result.is_kept
        )
    return power_of_campaigns(found, corrected, width, n_workers, n_ratings)


def power_of_campaigns(found: Floats, corrected: Floats, width: Floats, n_workers: Floats, n_ratings: Floats) -> Power:
    """Return the power of simulated campaigns, of which each array, float64, (n_campaigns,), has one number.

    `found`, `corrected`: share of the differences between neighbours that were found, alone and after Holm's
    correction; `width`: half width of an interval, NaN where not defined; `n_workers`, `n_ratings`: who and what count.
    """
    is_known = np.isfinite(width)
    return Power(
        float(found.mean()),
        _error(found),
        float(corrected.mean()),
        _error(corrected),
        float(width[is_known].mean()) if is_known.any() else float("nan"),
        float(n_workers.mean()),
        float(n_ratings.mean()),
    )


def _half_width(widths: Floats, sd: Floats, is_kept: NDArray[np.bool_]) -> float:
    """Return the mean half width in points, one z being what it is for the workers who count; NaN if not defined."""
    known = widths[np.isfinite(widths)]
    return float(known.mean() / 2 * sd[is_kept].mean()) if known.size else float("nan")


def _error(shares: Floats) -> float:
    with_both = np.append(shares, [0.0, 1.0])
    return float(np.sqrt(with_both.var() / with_both.size))


def share_counted(design: PlannedDesign, model: RatingModel, *, seed: int) -> float:
    """Return the share of workers who count, 0 to 1, in one simulated campaign of 400 workers."""
    many = with_workers(design, _MANY_WORKERS)
    every = np.ones(design.n_criteria, dtype=bool)
    ratings = simulate_ratings(many, model, 0.0, np.random.default_rng(seed))
    return float(score_ratings(ratings, Design(~every, every, design.worker_test)).is_kept.mean())


def approximate_workers(
    design: PlannedDesign,
    model: RatingModel,
    difference: float,
    *,
    target: float = TARGET,
    sources_grow: bool = False,
) -> float:
    """Return about how many workers reach a power, without simulation: where a search begins.

    Returns
    -------
    float
        Infinite where no number of workers does with so many sources.

    Notes
    -----
    From the standard error √(2·(σ_l²/w + σ_o²/m + σ_e²/n)) of a difference, w workers who count, n ratings of a system
    by them, m of its outputs; degrees of freedom are taken as infinite.
    """
    quantile = NormalDist().inv_cdf
    allowed = (difference / (quantile(target) + quantile(1 - P_BELOW))) ** 2 / 2
    careful = 1 - model.careless if design.worker_test != NO_TEST else 1.0
    per_worker = design.hits_per_worker * design.n_ordinary / design.n_systems * max(careful, 0.05)
    residual = model.residual**2 + model.criterion**2 / design.n_criteria
    is_chat = design.layout == Layout.BY_SYSTEM
    fixed = 0.0 if is_chat else model.output**2 / design.n_sources
    fresh = residual + model.output**2 * (design.workers_per_hit if not is_chat else 1)
    n_workers = (model.liking**2 / careful + fresh / per_worker) / allowed
    if n_workers * per_worker > design.n_sources and not (
        is_chat or sources_grow
    ):  # every output is rated, most of them again
        left = allowed - fixed
        n_workers = (model.liking**2 / careful + residual / per_worker) / left if left > 0 else float("inf")
    return n_workers


def power_curve(
    design: PlannedDesign,
    model: RatingModel,
    difference: float,
    *,
    target: float,
    n_simulations: int,
    seed: int,
    sources_grow: bool = False,
    on_design: Callable[[PlannedDesign], None] = lambda design: None,
) -> tuple[list[DesignPower], DesignPower | None]:
    """Return the power of a design with fewer and more workers, and the fewest workers that reach the target.

    Parameters
    ----------
    design : PlannedDesign
        Its own number of workers is one point of the curve.
    model, difference, n_simulations, seed
        As of `simulate_power`.
    target : float
        Between 0.05 and 1.
    sources_grow : bool
        Whether there are as many more sources as workers. Else more workers rate the same outputs again.
    on_design : callable
        Called before each design is simulated.

    Returns
    -------
    curve : list of DesignPower
        In the order of workers.
    required : DesignPower or None
        None if no number of workers up to 20,000 is enough.

    """
    return search_workers(
        design,
        lambda tried: simulate_power(tried, model, difference, n_simulations=n_simulations, seed=seed),
        approximate_workers(design, model, difference, target=target, sources_grow=sources_grow),
        target=target,
        sources_grow=sources_grow,
        on_design=on_design,
    )


def search_workers(
    design: PlannedDesign,
    simulate: Callable[[PlannedDesign], Power],
    start: float,
    *,
    target: float,
    sources_grow: bool = False,
    on_design: Callable[[PlannedDesign], None] = lambda design: None,
) -> tuple[list[DesignPower], DesignPower | None]:
    """Return what `power_curve` does, of designs whose power `simulate` returns.

    `start`: about how many workers are enough; infinite where none are.

    Notes
    -----
    As t = δ/√(A + B/w) less the quantile of the level is normal in large campaigns, (Φ⁻¹(power) + 1.645)⁻² is a line
    in 1/w. It is fitted to the points of the curve, weighted by their errors; the design that it names is simulated,
    and one more time if that shows that it was wrong by more than two standard errors.
    """

    def run(n_workers: int) -> DesignPower:
        tried = with_workers(design, n_workers, sources_grow=sources_grow)
        on_design(tried)
        return DesignPower(tried, simulate(tried))

    around = min(start if isfinite(start) else 4.0 * design.n_workers, _MOST_TRIED)
    wanted = {design.n_workers} | {max(_LEAST_WORKERS, round(around * factor)) for factor in _CURVE}
    curve = {n: run(n) for n in sorted({max(n, design.workers_per_hit) for n in wanted})}
    required = None
    for _ in range(2):
        n = workers_for(list(curve.values()), target)
        if n is None:
            break
        n = max(n, design.workers_per_hit)
        if n not in curve:
            curve[n] = run(n)
        required = curve[n]
        if abs(required.found.power - target) <= 2 * required.found.power_error:
            break
    points = [curve[n] for n in sorted(curve)]
    return points, required


def workers_for(curve: Sequence[DesignPower], target: float) -> int | None:
    """Return the fewest workers with which a curve reaches a power; None if it never does."""
    quantile = NormalDist()
    level = quantile.inv_cdf(1 - P_BELOW)
    x, y, weight = [], [], []
    for point in curve:
        power = point.found.power
        if not _LEAST_USED <= power <= _MOST_USED:
            continue
        signal = quantile.inv_cdf(power) + level
        x.append(1 / point.design.n_workers)
        y.append(signal**-2)
        # The error of the power, carried through both functions
        weight.append(quantile.pdf(signal - level) * signal**3 / (2 * point.found.power_error))
    wanted = (quantile.inv_cdf(target) + level) ** -2
    if len(x) < 2:
        enough = [point.design.n_workers for point in curve if point.found.power >= target]
        return min(enough, default=None)
    slope, floor = np.polyfit(x, y, 1, w=weight)
    if floor < 0 or slope <= 0:  # nothing but the number of workers is in the way
        squares = np.square(weight)
        slope, floor = float((squares * x) @ np.array(y) / ((squares * x) @ np.array(x))), 0.0
    if wanted <= floor:
        return None
    n = ceil(slope / (wanted - floor))
    return max(n, _LEAST_WORKERS) if n <= _MOST_WORKERS else None


def variance_parts(design: PlannedDesign, model: RatingModel, found: Power) -> dict[str, float]:
    """Return how much of the variance of a difference comes from what, in points².

    Parameters
    ----------
    found : Power
        Of this design and model: who counts.

    Returns
    -------
    dict of str to float
        "workers": which systems they like; "outputs": which outputs were chosen; "residual": the rest of single
        ratings. Two systems with equal counts, compared on the same sources.

    Notes
    -----
    2·σ²/w, 2·σ²/m and 2·σ²/n, as in docs/method/planning.md. It explains a design; its power is simulated.
    """
    n, w = max(found.ratings_counted, 1e-9), max(found.workers_counted, 1e-9)
    is_chat = design.layout == Layout.BY_SYSTEM
    m = n if is_chat else min(n / design.workers_per_hit, design.n_sources)
    residual = model.residual**2 + model.criterion**2 / design.n_criteria
    return {
        "workers": 2 * model.liking**2 / min(w, n),
        "outputs": 2 * model.output**2 / max(m, 1.0),
        "residual": 2 * residual / n,
    }
