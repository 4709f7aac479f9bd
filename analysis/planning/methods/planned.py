"""What a response method needs to be planned: how its campaigns are simulated, and how its differences are called."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from analysis.methods import ResponseMethod
from analysis.methods.settings import AnalysisSettings
from analysis.planning.methods.campaigns import of_result, power_of_designs
from analysis.results.result import Result
from analysis.results.sections import Cell
from analysis.stats.designs import PlannedDesign, RatingModel
from analysis.stats.power import P_BELOW, Power
from campaigns.design.composition import Layout
from campaigns.design.worker_test import NO_TEST, WORKER_TESTS, Compared
from evalsite.lib.errors import DomainError

SIGN = "sign"
Data = TypeVar("Data")


@dataclass(frozen=True)
class ModelWords:
    """How responses are taken to vary, as a table says it: a caption, what the numbers are, and a row for each."""

    caption: str
    column: str
    rows: list[list[Cell]]
    decimals: int = 1


class PlannedMethod(ABC):
    """How campaigns that one response method analyses are simulated; `difference` is as people say it.

    `unit` is that of half widths, with so many `decimals`. `called` are the responses that a plan is of. `item` is what
    a worker judges at once; `is_page`: whether that is a page with several outputs; `responses` are what counts of a
    system. `has_sources`: whether more sources find more. `takes_pilot`: whether variances may be those of a pilot,
    which are of scores. `takes_chats`: whether live chats can be planned, and `has_criteria`, several criteria.
    `worker_tests`: those that the method has beside none, the usual first; None: all. `least_degraded`: how many
    degraded items a test needs at least, as the command proposes. `asked`: what number the difference is, for people
    who write it. `first_values`: what a form begins with for a campaign of the method.
    """

    slug: ClassVar[str]
    unit: ClassVar[str]
    called: ClassVar[str]
    item: ClassVar[str] = "ordinary item"
    responses: ClassVar[str] = "ratings"
    compared_by: ClassVar[str]
    asked: ClassVar[str]
    decimals: ClassVar[int] = 1
    is_page: ClassVar[bool] = False
    has_sources: ClassVar[bool] = True
    takes_pilot: ClassVar[bool] = False
    takes_chats: ClassVar[bool] = False
    has_criteria: ClassVar[bool] = False
    worker_tests: ClassVar[tuple[str, ...] | None] = None
    least_degraded: ClassVar[int] = 5
    first_values: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, difference: float, n_levels: int = 0, outputs_per_page: int = 0) -> None:
        self.difference, self.n_levels, self.outputs_per_page = difference, n_levels, outputs_per_page

    def check(self, design: PlannedDesign) -> None:
        """Raise DomainError `bad_plan` unless campaigns of this design can be simulated, and have the difference."""
        if design.layout == Layout.BY_SYSTEM and not self.takes_chats:
            raise bad_plan(
                f"There is no plan for {self.called} of live chats. Choose another layout, or direct assessment."
            )
        self.check_difference(design)
        if self.worker_tests is not None and design.worker_test not in (NO_TEST, *self.worker_tests):
            raise bad_plan(f"{self.called.capitalize()} are tested by {self._tests_in_words()} as the worker test.")
        if design.n_criteria > 1 and not self.has_criteria:
            raise bad_plan(f"A plan for {self.called} has one criterion: write 1.")

    @classmethod
    def _tests_in_words(cls) -> str:
        if not cls.worker_tests:
            return f"no worker test: choose “{NO_TEST}”"
        names = " or ".join(WORKER_TESTS[test].name for test in cls.worker_tests)
        slugs = " or ".join(f"“{test}”" for test in (*cls.worker_tests, NO_TEST))
        return f"the {names} test: choose {slugs}"

    @abstractmethod
    def check_difference(self, design: PlannedDesign) -> None:
        """Raise DomainError `bad_plan` unless there can be such a difference."""

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

    @abstractmethod
    def describe_model(self, sd: Mapping[str, float], *, is_pilot: bool) -> ModelWords:
        """Return the model in words; `sd`: its fields, `is_pilot`: whether it is that of a pilot."""

    def responses_of_item(self, design: PlannedDesign) -> int:
        """Return how many responses an item brings, of all systems that it shows."""
        return 1

    def compared(self, design: PlannedDesign) -> Compared:
        """Return what the worker test compares of all that one worker does."""
        n_pairs = 0 if design.layout == Layout.BY_SYSTEM else design.n_degraded
        of_hit = Compared(n_pairs, design.n_degraded, design.n_ordinary)
        return of_hit.times(design.n_criteria * design.hits_per_worker)

    def refuse_pilot(self) -> None:
        """Raise DomainError `bad_plan` if the variances of a pilot say nothing of these responses."""
        if not self.takes_pilot:
            raise bad_plan(f"The variances of a pilot are those of scores. Plan {self.called} without one.")

    def variance_parts(self, design: PlannedDesign, model: Any, found: Power) -> dict[str, float]:
        """Return how much of the variance of a difference comes from what; empty where that is not known."""
        return {}


class SimulatedMethod(PlannedMethod, Generic[Data]):
    """A method whose campaigns are simulated as its `Data`, and analysed by its `method`, briefly.

    `count`: as of `of_result`. `scale`: what half widths of results are multiplied by to be in `unit`.
    """

    method: ClassVar[type[ResponseMethod[Any]]]
    count: ClassVar[str | None] = None
    scale: ClassVar[float] = 1.0

    @abstractmethod
    def simulate(self, design: PlannedDesign, model: Any, rng: np.random.Generator) -> Data:
        """Return the responses of one simulated campaign; systems are named in the order of quality, best first."""

    def settings(self, design: PlannedDesign) -> AnalysisSettings:
        """Return what simulated campaigns are analysed with."""
        return AnalysisSettings("plan", (), design.worker_test, P_BELOW, method=self.slug)

    def power(self, design: PlannedDesign, model: Any, *, n_simulations: int, seed: int) -> Power:
        """Return what simulated campaigns find."""
        settings = self.settings(design)

        def campaign(rng: np.random.Generator) -> Any:
            return of_result(self.result(self.simulate(design, model, rng), settings), design, self.count)

        found = power_of_designs(design, campaign, n_simulations, seed)
        return replace(found, half_width=self.scale * found.half_width)

    def result(self, data: Data, settings: AnalysisSettings) -> Result:
        """Return the brief result of a simulated campaign."""
        return self.method().analyse(data, settings, brief=True)


def bad_plan(message: str) -> DomainError:
    """Return the error of a plan that cannot be made."""
    return DomainError("bad_plan", message)
