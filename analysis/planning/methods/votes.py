"""Votes between two outputs, of which strengths are compared."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np

from analysis.data.votes import VoteData
from analysis.methods.preference import Preference, compare_by_votes
from analysis.methods.settings import AnalysisSettings
from analysis.methods.system_scores import list_pairs
from analysis.planning.methods.campaigns import Campaign, names, power_of_designs
from analysis.planning.methods.planned import SIGN, ModelWords, PlannedMethod, bad_plan
from analysis.results.sections import Cell
from analysis.stats.davidson import Outcome
from analysis.stats.designs import PlannedDesign, RatingModel
from analysis.stats.power import P_BELOW, Power
from analysis.stats.ratings import Floats
from campaigns.design.composition import Kind, Layout
from campaigns.design.worker_test import NO_TEST

_NODES = 40
_INFORMATION = 0.2  # of a vote of two equal systems about their difference, a fifth of them ties


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
        names("s", k),
        names("w", design.n_workers),
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


class PlannedVotes(PlannedMethod):
    """Comparisons; the difference is how many votes in 100 the better system wins."""

    slug, unit, called, decimals = Preference.slug, "log strength", "comparisons", 2
    compared_by = "the comparison of strengths"
    asked = "how many in 100 of the votes that decide the better one wins"
    item, is_page, has_sources = "comparison", True, False
    responses = "votes"
    worker_tests, least_degraded = (SIGN,), 20
    first_values: ClassVar[Mapping[str, Any]] = {"difference": 60, "n_criteria": 1, "layout": Layout.POOLED.value}

    def check_difference(self, design: PlannedDesign) -> None:
        """The better system wins more than half of the votes."""
        if not 50 < self.difference < 100:
            raise bad_plan(
                f"The better of two neighbours is to win {self.difference:g} % of the votes that decide; write more "
                "than 50 and less than 100, for instance 60."
            )

    def responses_of_item(self, design: PlannedDesign) -> int:
        """Return that a vote is of two systems."""
        return 2

    def words(self) -> str:
        """Return the share of votes."""
        return f"a system that wins {self.difference:g} % of the decided votes against its neighbour in rank"

    def model_for(self, design: PlannedDesign, pilot: RatingModel | None, careless: float | None) -> VoteModel:
        """Return the assumed model."""
        model = replace(VoteModel(), careless=0.0) if design.worker_test == NO_TEST else VoteModel()
        return model if careless is None else replace(model, careless=careless)

    def power(self, design: PlannedDesign, model: Any, *, n_simulations: int, seed: int) -> Power:
        """Return what simulated campaigns find."""
        strength = strength_of_share(self.difference / 100, model)
        return power_of_votes(design, model, strength, n_simulations=n_simulations, seed=seed)

    def first_guess(self, design: PlannedDesign, model: Any, target: float, *, sources_grow: bool) -> float:
        """Return what the variances of tastes and of single votes say."""
        quantile = NormalDist().inv_cdf
        strength = strength_of_share(self.difference / 100, model)
        allowed = (strength / (quantile(target) + quantile(1 - P_BELOW))) ** 2
        votes = 2 * design.n_ordinary * design.hits_per_worker / design.n_systems
        careful = max(1 - model.careless, 0.05)
        return float(2 * (model.taste**2 + 1 / (_INFORMATION * votes)) / allowed / careful)

    def describe_model(self, sd: Mapping[str, float], *, is_pilot: bool) -> ModelWords:
        """Return the logs of odds."""
        effects = {
            "taste": "strength of a system, between workers (SD)",
            "log_tie": "ties (δ)",
            "degradation": "degraded outputs, weaker by",
        }
        rows: list[list[Cell]] = [[words, sd[name]] for name, words in effects.items()]
        caption = (
            "Natural logs of odds, assumed. A difference of 1.1 are odds of 3 to 1. "
            f"{100 * sd['careless']:.0f} % of the workers are taken to vote at random."
        )
        return ModelWords(caption, "log odds", rows, 2)


def power_of_votes(
    design: PlannedDesign, model: VoteModel, difference: float, *, n_simulations: int, seed: int
) -> Power:
    """Return how often the method *Preference* finds a difference of strengths, as `simulate_power` does of scores."""
    settings = AnalysisSettings("plan", (), design.worker_test, P_BELOW, method=Preference.slug)

    def campaign(rng: np.random.Generator) -> Campaign:
        judged, _, _, strengths, _ = compare_by_votes(simulate_votes(design, model, difference, rng), settings)
        return Campaign(list_pairs(strengths.scores, settings), int(judged.is_counted.sum()), strengths.scores.n)

    return power_of_designs(design, campaign, n_simulations, seed)
