"""Campaigns of comparisons and of levels, simulated and analysed by their own response methods."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.plain_scores.loading import PlainScores
from analysis.response_methods.ordinal import Ordinal
from analysis.response_methods.preference import Preference, compare_by_votes
from analysis.response_methods.system_scores import list_pairs
from analysis.settings import AnalysisSettings
from analysis.stats.bradley_terry import Outcome
from analysis.stats.designs import PlannedDesign, RatingModel, simulate_ratings
from analysis.stats.power import P_BELOW, Power, power_of_campaigns
from analysis.stats.ratings import Floats
from analysis.votes.loading import VoteData
from campaigns.design.composition import Kind
from campaigns.design.worker_test import NO_TEST

_NODES = 40


@dataclass(frozen=True)
class VoteModel:
    """How votes vary, in natural logs of odds.

    `taste` is the standard deviation of a system's strength between workers, `log_tie` is δ of Davidson's model,
    `degradation` how much weaker a degraded output is than the other one of its page, and `careless` the share of
    workers who vote at random.
    """

    taste: float = 0.8
    log_tie: float = -0.7
    degradation: float = 2.5
    careless: float = 0.25


def strength_of_share(share: float, model: VoteModel) -> float:
    """Return the difference of strengths at which the better of two systems wins a share of the votes that decide.

    Parameters
    ----------
    share : float
        Above 0.5 and below 1, over the votes of all possible careful workers, ties left out.
    model : VoteModel
        The differences of single workers are normal, with the variance 2·taste².

    Examples
    --------
    Without tastes it is the log of the odds:

    >>> round(strength_of_share(0.75, VoteModel(taste=0)), 3), round(float(np.log(3)), 3)
    (1.099, 1.099)
    """
    from scipy.optimize import brentq

    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)

    def missing(difference: float) -> float:
        each = _shares(difference + np.sqrt(2) * model.taste * nodes, model.log_tie)
        won, lost = (weights @ each[:, outcome] for outcome in (Outcome.LEFT, Outcome.RIGHT))
        return float(won / (won + lost) - share)

    return float(brentq(missing, 0.0, 60.0))


def _shares(difference: Floats, log_tie: float) -> Floats:
    """Return the probabilities of each `Outcome` for differences of strengths, (n, 3)."""
    logs = np.stack([difference / 2, -difference / 2, np.full_like(difference, log_tie)], axis=1)
    odds = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def simulate_votes(design: PlannedDesign, model: VoteModel, difference: float, rng: np.random.Generator) -> VoteData:
    """Return the votes of one simulated campaign; systems are named in the order of their strength, best first.

    `difference`, of strengths, is that between neighbours in rank. A HIT has `design.n_ordinary` comparisons, of all
    pairs of systems as evenly as possible, and `design.n_degraded` in which one of the two outputs is degraded.
    """
    n, k = design.n_assignments, design.n_systems
    n_items = design.n_ordinary + design.n_degraded
    pairs = np.array([(i, j) for i in range(k) for j in range(i + 1, k)])
    rounds = -(-n_items // len(pairs))
    drawn = rng.permuted(np.tile(np.arange(len(pairs)), (n, rounds)), axis=1)[:, :n_items].ravel()
    left, right = pairs[drawn].T
    is_turned = rng.random(left.size) < 0.5
    left, right = np.where(is_turned, right, left), np.where(is_turned, left, right)
    worker = np.repeat(np.arange(n) % design.n_workers, n_items)
    own = difference * ((k - 1) / 2 - np.arange(k)) + rng.normal(0, model.taste, (design.n_workers, k))
    is_degraded = np.tile(np.arange(n_items) >= design.n_ordinary, n)
    side = np.where(is_degraded, rng.integers(1, 3, left.size), 0)
    weaker = np.where(side == 1, -1.0, 1.0) * model.degradation
    true = np.where(is_degraded, weaker, own[worker, left] - own[worker, right])
    is_careless = rng.random(design.n_workers) < model.careless
    share = np.where(is_careless[worker][:, None], _shares(np.zeros(1), model.log_tie), _shares(true, model.log_tie))
    outcome = (rng.random((left.size, 1)) > share.cumsum(axis=1)[:, :2]).sum(axis=1)
    return VoteData(
        _names("s", k),
        _names("w", design.n_workers),
        left,
        right,
        worker,
        outcome,
        np.zeros(left.size, bool),
        np.where(is_degraded, Kind.DEGRADED, Kind.ORDINARY),
        side,
        np.repeat(np.arange(n), n_items),
        np.full(left.size, -1),
    )


def simulate_levels(
    design: PlannedDesign, model: RatingModel, difference: float, n_levels: int, rng: np.random.Generator
) -> PlainScores:
    """Return the levels, from 1, of one simulated campaign; systems are named in the order of their quality.

    Scores of `simulate_ratings` are rounded to levels that divide their 100 points evenly, those beyond to the ends.
    `difference` is in levels, before that.
    """
    step = 100 / (n_levels - 1)
    ratings = simulate_ratings(design, model, difference * step, rng)
    level = np.clip(np.round(ratings.scores / step), 0, n_levels - 1) + 1
    n_items, n_criteria = level.shape

    def each(codes: NDArray[Any]) -> NDArray[np.int64]:
        return np.repeat(codes.astype(np.int64), n_criteria)

    return PlainScores(
        _names("w", ratings.n_workers),
        _names("s", ratings.n_systems),
        _names("q", design.n_sources),
        [""],
        _names("c", n_criteria),
        each(ratings.worker),
        each(ratings.system),
        each(ratings.source),
        each(np.zeros(n_items)),
        np.tile(np.arange(n_criteria), n_items),
        level.ravel(),
        each(ratings.kind),
        each(ratings.assignment),
    )


def _names(letter: str, n: int) -> list[str]:
    return [f"{letter}{k:06d}" for k in range(n)]


def power_of_votes(
    design: PlannedDesign, model: VoteModel, difference: float, *, n_simulations: int, seed: int
) -> Power:
    """Return how often the method *Preference* finds a difference of strengths, as `simulate_power` does of scores."""
    settings = AnalysisSettings("plan", (), design.worker_test, P_BELOW, method=Preference.slug)

    def campaign(rng: np.random.Generator) -> _Campaign:
        judged, _, _, strengths = compare_by_votes(simulate_votes(design, model, difference, rng), settings)
        return _Campaign(list_pairs(strengths.scores), int(judged.is_counted.sum()), strengths.scores.n)

    return _power(design, campaign, n_simulations, seed)


def power_of_levels(
    design: PlannedDesign, model: RatingModel, difference: float, n_levels: int, *, n_simulations: int, seed: int
) -> Power:
    """Return how often the method *Ordered levels* finds a difference of mean levels, as `simulate_power` does."""
    options = {"levels": n_levels}
    settings = AnalysisSettings("plan", (), design.worker_test, P_BELOW, method=Ordinal.slug, options=options)

    def campaign(rng: np.random.Generator) -> _Campaign:
        report = Ordinal().analyse(simulate_levels(design, model, difference, n_levels, rng), settings, brief=True)
        summary = report["summary"]
        n_workers = design.n_workers if design.worker_test == NO_TEST else summary["workers"]["passed"]
        return _Campaign(report["pairs"], n_workers, [row["n"] for row in summary["systems"]])

    return _power(design, campaign, n_simulations, seed)


class _Campaign(NamedTuple):
    """What a simulated campaign shows: pairs of systems as reports have them, workers who count, counts by system."""

    pairs: list[dict[str, Any]]
    n_workers: int
    n_of_system: Sequence[int] | NDArray[np.integer]


def _power(
    design: PlannedDesign, campaign: Callable[[np.random.Generator], _Campaign], n_simulations: int, seed: int
) -> Power:
    rows = [_found(campaign(np.random.default_rng([seed, k])), design.n_systems) for k in range(n_simulations)]
    return power_of_campaigns(*np.array(rows).T)


def _found(campaign: _Campaign, n_systems: int) -> tuple[float, float, float, float, float]:
    """Return the share of neighbours that a campaign finds, alone and after Holm's correction, the mean half width of
    their intervals, workers who count, and the mean of what counts of a system.
    """
    names = _names("s", n_systems)
    pairs = {tuple(row["systems"]): row for row in campaign.pairs}
    alone, corrected, widths = 0, 0, []
    for better, worse in pairwise(names):
        if row := pairs.get((better, worse)):
            alone += row["p"] is not None and row["p"] / 2 < P_BELOW
            corrected += row["p_holm"] is not None and row["p_holm"] < P_BELOW
        if (row := row or pairs.get((worse, better))) and row["interval"][0] is not None:
            widths.append((row["interval"][1] - row["interval"][0]) / 2)
    n = n_systems - 1
    width = float(np.mean(widths)) if widths else np.nan
    return alone / n, corrected / n, width, campaign.n_workers, float(np.mean(campaign.n_of_system))
