"""The response methods whose campaigns can be planned: how each is simulated, and how its differences are called."""

from abc import ABC, abstractmethod
from dataclasses import replace
from statistics import NormalDist
from typing import Any, ClassVar

from analysis.planning.methods import VoteModel, power_of_levels, power_of_votes, strength_of_share
from analysis.response_methods import DEFAULT
from analysis.response_methods.ordinal import Ordinal
from analysis.response_methods.preference import Preference
from analysis.stats.designs import CHATS, TEXTS, PlannedDesign, RatingModel
from analysis.stats.power import P_BELOW, Power, approximate_workers, simulate_power, variance_parts
from campaigns.design.composition import Layout
from campaigns.design.worker_test import NO_TEST
from evalsite.lib.errors import DomainError

SIGN = "sign"
_INFORMATION = 0.2  # of a vote of two equal systems about their difference, a fifth of them ties


class PlannedMethod(ABC):
    """How campaigns that one response method analyses are simulated; `difference` is as people say it.

    `unit` is that of half widths, with so many `decimals`. `item` is what a worker judges at once. `has_sources`:
    whether more sources find more.
    """

    slug: ClassVar[str]
    unit: ClassVar[str]
    item: ClassVar[str] = "ordinary item"
    compared_by: ClassVar[str]
    decimals: ClassVar[int] = 1
    has_sources: ClassVar[bool] = True

    def __init__(self, difference: float, n_levels: int = 0) -> None:
        self.difference, self.n_levels = difference, n_levels

    @abstractmethod
    def check(self, design: PlannedDesign) -> None:
        """Raise DomainError `bad_plan` unless campaigns of this design can have the difference."""

    @abstractmethod
    def words(self) -> str:
        """Return the difference as the object of “is found”."""

    @abstractmethod
    def model_for(self, design: PlannedDesign, pilot: RatingModel | None, careless: float | None) -> Any:
        """Return how responses are taken to vary; `careless`: the share of careless workers, if somebody says it."""

    @abstractmethod
    def power(self, design: PlannedDesign, model: Any, *, n_simulations: int, seed: int) -> Power:
        """Return what simulated campaigns find."""

    @abstractmethod
    def first_guess(self, design: PlannedDesign, model: Any, target: float, *, sources_grow: bool) -> float:
        """Return about how many workers are enough."""

    def variance_parts(self, design: PlannedDesign, model: Any, found: Power) -> dict[str, float]:
        """Return how much of the variance of a difference comes from what; empty where that is not known."""
        return {}


class _OfRatings(PlannedMethod):
    """Responses that are ratings, in points of 100 or made of these."""

    @property
    def points(self) -> float:
        """The difference in points of 100."""
        return self.difference

    def model_for(self, design: PlannedDesign, pilot: RatingModel | None, careless: float | None) -> RatingModel:
        """Return the model of the pilot, or the assumed one; without a worker test raters are taken to be careful."""
        model = pilot or (CHATS if design.layout == Layout.BY_SYSTEM else TEXTS)
        if pilot is None and design.worker_test == NO_TEST:
            model = replace(model, careless=0.0)
        return model if careless is None else replace(model, careless=careless)

    def first_guess(self, design: PlannedDesign, model: Any, target: float, *, sources_grow: bool) -> float:
        """Return what the formula of variances says."""
        return approximate_workers(design, model, self.points, target=target, sources_grow=sources_grow)

    def variance_parts(self, design: PlannedDesign, model: Any, found: Power) -> dict[str, float]:
        """Return the parts of workers, outputs and single ratings."""
        return variance_parts(design, model, found)


class PlannedScores(_OfRatings):
    """Sliders, analysed by direct assessment."""

    slug, unit, compared_by = DEFAULT, "points", "the recommended comparison"

    def check(self, design: PlannedDesign) -> None:
        """Points are of 100."""
        if not 0 < self.difference <= 100:
            raise _bad(f"The difference is {self.difference:g} points; it must be above 0 and at most 100.")

    def words(self) -> str:
        """Return the points."""
        return f"a difference of {self.difference:g} points between two systems"

    def power(self, design: PlannedDesign, model: Any, *, n_simulations: int, seed: int) -> Power:
        """Return what simulated campaigns find."""
        return simulate_power(design, model, self.difference, n_simulations=n_simulations, seed=seed)


class PlannedLevels(_OfRatings):
    """Labelled points such as Likert scales, analysed as ordered levels."""

    slug, unit, compared_by, decimals = Ordinal.slug, "levels", "the comparison of mean levels", 2

    @property
    def points(self) -> float:
        """The difference in points of 100, which the levels divide."""
        return self.difference * 100 / (self.n_levels - 1)

    def check(self, design: PlannedDesign) -> None:
        """Levels are few, and of texts."""
        _refuse_chats(design, "levels")
        if not 0 < self.difference <= self.n_levels - 1:
            most = f"of {self.n_levels} levels it must be above 0 and at most {self.n_levels - 1}"
            raise _bad(f"The difference is {self.difference:g} levels; {most}.")

    def words(self) -> str:
        """Return the levels."""
        return f"a difference of {self.difference:g} of {self.n_levels} levels between two systems"

    def power(self, design: PlannedDesign, model: Any, *, n_simulations: int, seed: int) -> Power:
        """Return what simulated campaigns find."""
        numbers = {"n_simulations": n_simulations, "seed": seed}
        return power_of_levels(design, model, self.difference, self.n_levels, **numbers)


class PlannedVotes(PlannedMethod):
    """Comparisons, analysed by strengths; the difference is how many votes in 100 the better system wins."""

    slug, unit, compared_by, decimals = Preference.slug, "log strength", "the comparison of strengths", 2
    item, has_sources = "comparison", False

    def check(self, design: PlannedDesign) -> None:
        """The better system wins more than half of the votes; votes are tested by signs."""
        _refuse_chats(design, "comparisons")
        if not 50 < self.difference < 100:
            raise _bad(
                f"The better of two neighbours is to win {self.difference:g} % of the votes that decide; write more "
                "than 50 and less than 100, for instance 60."
            )
        if design.worker_test not in (NO_TEST, SIGN):
            raise _bad(f"Votes are tested by the sign test: choose “{SIGN}” or “{NO_TEST}” as the worker test.")
        if design.n_criteria > 1:
            raise _bad("Strengths are of one criterion: plan comparisons with 1.")

    def words(self) -> str:
        """Return the share of votes."""
        return f"a system that wins {self.difference:g} % of the decided votes against its neighbour in rank"

    def model_for(self, design: PlannedDesign, pilot: RatingModel | None, careless: float | None) -> VoteModel:
        """Return the assumed model."""
        if pilot is not None:
            raise _bad("The variances of a pilot are those of scores. Plan comparisons without one.")
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


def _refuse_chats(design: PlannedDesign, what: str) -> None:
    if design.layout == Layout.BY_SYSTEM:
        raise _bad(f"There is no plan for {what} of live chats. Choose another layout, or direct assessment.")


def _bad(message: str) -> DomainError:
    return DomainError("bad_plan", message)


PLANNED: dict[str, type[PlannedMethod]] = {each.slug: each for each in (PlannedScores, PlannedVotes, PlannedLevels)}
"""The methods that can be planned, by name."""


def planned_method(slug: str, difference: float, n_levels: int) -> PlannedMethod:
    """Return how a method is planned; raise DomainError `bad_plan` if it cannot be."""
    if slug not in PLANNED:
        raise _bad(f"There is no plan for the method “{slug}”. There are plans for: {', '.join(PLANNED)}.")
    return PLANNED[slug](difference, n_levels)
