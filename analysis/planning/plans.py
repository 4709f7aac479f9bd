"""From a design to what it will find, cost and take, as one JSON document."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from functools import partial
from math import ceil, isnan
from typing import Any

from analysis.methods import DEFAULT
from analysis.planning.methods import planned_method
from analysis.planning.methods.planned import PlannedMethod, bad_plan
from analysis.planning.pilot import Pilot, PilotSummary
from analysis.stats.designs import PlannedDesign, change_designs, with_workers
from analysis.stats.power import P_BELOW, TARGET, DesignPower, search_workers
from analysis.stats.prediction_powered import predict_saving
from analysis.stats.scores import MOST_LEVELS
from campaigns.design.composition import Layout
from campaigns.design.worker_test import WORKER_TESTS, smallest_p_value
from evalsite.lib.typed_json import from_json, to_json

SIMULATIONS, SEED = 200, 1
LEVELS = 5
OUTPUTS_PER_PAGE = 4
MOST_SIMULATIONS, MOST_WORKERS, MOST_ITEMS, MOST_SYSTEMS, MOST_RATINGS = 2000, 2000, 500, 100, 200_000
_MIN_PER_HOUR = 60
Say = Callable[[int, int, str], None]


@dataclass(frozen=True)
class PlannedWith:
    """What was planned: a design, the difference that it is to find, and what work costs.

    `reward` and `fee` are for one worker's HIT; `fee_if_doubled` is the fee if twice as many workers rate each HIT,
    None if it is the same. `minutes` is how long a HIT takes, `hits_per_day` how many are finished in a day.
    `difference` is between neighbours in rank, as the response method `method` says it, for instance in points of 100.
    `n_levels` is of ordered levels, `outputs_per_page` of rankings and choices of the best and the worst. `careless` is
    the share of careless workers; None: as assumed, or as in the pilot.
    """

    design: PlannedDesign
    difference: float
    target: float = TARGET
    careless: float | None = None
    n_simulations: int = SIMULATIONS
    seed: int = SEED
    reward: Decimal | None = None
    fee: Decimal = Decimal(0)
    fee_if_doubled: Decimal | None = None
    currency: str = ""
    minutes: float | None = None
    hits_per_day: float | None = None
    method: str = DEFAULT
    n_levels: int = LEVELS
    outputs_per_page: int = OUTPUTS_PER_PAGE

    @property
    def planned_method(self) -> PlannedMethod:
        """How campaigns are simulated; raises DomainError `bad_plan` for a method without a plan."""
        return planned_method(self.method, self.difference, self.n_levels, self.outputs_per_page)


@dataclass(frozen=True)
class PlanSettings(PlannedWith):
    """The same of a plan that can be made; raises DomainError `bad_plan` with what to change if it cannot."""

    def __post_init__(self) -> None:
        _check(self)

    def to_json(self) -> Any:
        """Return the settings as the JSON object that `from_json` reads."""
        return to_json(self)

    @classmethod
    def from_json(cls, stored: object) -> "PlanSettings":
        """Return the settings of a JSON object that `to_json` made."""
        return from_json(stored, cls)


@dataclass(frozen=True, kw_only=True)
class PlannedNumbers:
    """A design with what it finds, costs and takes; undefined numbers are None."""

    workers: int
    hits_per_worker: int
    workers_per_hit: int
    hits: int
    assignments: int
    sources: int | None
    items: int
    ratings_per_system: float
    workers_counted: float
    ratings_per_system_counted: float
    power: float
    power_error: float
    power_corrected: float
    power_corrected_error: float
    half_width: float | None
    cost: float | None
    hours: float | None
    days: float | None


@dataclass(frozen=True, kw_only=True)
class ChangedDesign(PlannedNumbers):
    """The same of a design with one change, by its name."""

    name: str


@dataclass(frozen=True)
class StillNeeded:
    """What is to be collected beyond a pilot, if its ratings are a part of the campaign."""

    assignments: int
    hits: int
    cost: float | None
    hours: float | None
    days: float | None


@dataclass(frozen=True)
class MetricSaves:
    """What a metric with scores of a pilot's outputs would save in a design, of which a share of them is rated."""

    name: str
    n_outputs: int
    share_rated: float
    saving: float | None


@dataclass(frozen=True)
class AssumedModel:
    """How responses are taken to vary, by the names of its fields; `source`: pilot or assumed."""

    source: str
    sd: Mapping[str, int | float]  # tables show whole numbers as such


@dataclass(frozen=True, kw_only=True)
class PowerPlan:
    """What a design finds, what would be enough, what changes buy, cost and time; plans are stored as its JSON."""

    settings: PlannedWith
    model: AssumedModel
    pilot: PilotSummary | None
    planned: PlannedNumbers
    curve: Sequence[PlannedNumbers]
    curve_with_sources: Sequence[PlannedNumbers]
    required: PlannedNumbers | None
    required_with_sources: PlannedNumbers | None
    still_needed: StillNeeded | None
    metric_savings: Sequence[MetricSaves] = ()
    variance_parts: Mapping[str, float]
    changes: Sequence[ChangedDesign]
    notes: Sequence[str] = ()


def make_design(**numbers: Any) -> PlannedDesign:
    """Return a design; raise DomainError `bad_plan` with what to change if there is none such."""
    try:
        return PlannedDesign(**numbers)
    except ValueError as error:
        raise bad_plan(str(error)) from None


def _check(settings: PlanSettings) -> None:
    design = settings.design
    if not 2 <= settings.n_levels <= MOST_LEVELS:
        raise bad_plan(f"There are {settings.n_levels} levels; a plan is for 2 to {MOST_LEVELS}.")
    method = settings.planned_method
    method.check(design)
    if not P_BELOW < settings.target < 1:
        raise bad_plan(f"The power that is wanted is {settings.target:g}; it must lie between {P_BELOW:g} and 1.")
    n_shown = method.responses_of_item(design)
    limits = (
        ("workers", design.n_workers, MOST_WORKERS),
        ("items in a HIT", design.hit_size, MOST_ITEMS),
        ("systems", design.n_systems, MOST_SYSTEMS),
        ("ratings", n_shown * design.n_assignments * design.hit_size * design.n_criteria, MOST_RATINGS),
        ("simulated campaigns", settings.n_simulations, MOST_SIMULATIONS),
    )
    for what, n, most in limits:
        if n > most:
            raise bad_plan(f"There are {n:,} {what}; a plan is simulated with at most {most:,}.")
    least = smallest_p_value(design.worker_test, method.compared(design))
    if least >= P_BELOW:
        raise bad_plan(
            f"Nobody can pass the worker test ({WORKER_TESTS[design.worker_test].name}): with {design.n_degraded} "
            f"degraded items a worker’s p is {least:.3f} at best, and it must be below {P_BELOW:g}. Add degraded "
            "items, give workers more HITs, or choose another worker test."
        )


@dataclass
class _Steps:
    """Counts the designs that are simulated, for people who watch."""

    say: Say
    total: int
    done: int = field(default=0)

    def __call__(self, design: PlannedDesign) -> None:
        self.total = max(self.total, self.done + 1)
        self.say(self.done, self.total, f"Simulating {design.n_workers:,} workers, {design.n_sources:,} sources")
        self.done += 1


def make_plan(
    settings: PlanSettings, pilot: Pilot | None = None, on_progress: Say = lambda done, total, stage: None
) -> Any:
    """Return the JSON of a `PowerPlan`: what a design finds, what would be enough, what changes buy, cost and time.

    `pilot`: whose variances are taken; None: the assumed ones. `on_progress` is called with designs done, designs in
    all, and what is simulated now.
    """
    design, method, target = settings.design, settings.planned_method, settings.target
    if pilot:
        method.refuse_pilot()
    model = method.model_for(design, pilot.model if pilot else None, settings.careless)
    changes = change_designs(design)
    if not method.has_sources:
        changes = {name: changes[name] for name in ("workers", "hits") if name in changes}
    steps = _Steps(on_progress, 8 + len(changes))
    simulate = partial(method.power, model=model, n_simulations=settings.n_simulations, seed=settings.seed)

    def search(*, sources_grow: bool = False) -> tuple[list[DesignPower], DesignPower | None]:
        start = method.first_guess(design, model, target, sources_grow=sources_grow)
        return search_workers(design, simulate, start, target=target, sources_grow=sources_grow, on_design=steps)

    curve, required = search()
    planned = next(each for each in curve if each.design == with_workers(design, design.n_workers))
    grown: list[DesignPower] = []
    with_sources = None
    if required is None and method.has_sources and design.layout != Layout.BY_SYSTEM:
        steps.total += 7
        grown, with_sources = search(sources_grow=True)
    changed = []
    for name, other in changes.items():
        steps(other)
        changed.append(ChangedDesign(name=name, **asdict(_row(settings, DesignPower(other, simulate(other))))))
    enough = required or with_sources
    plan = PowerPlan(
        settings=settings,
        model=AssumedModel("pilot" if pilot else "assumed", asdict(model)),
        pilot=pilot.summary if pilot else None,
        planned=_row(settings, planned),
        curve=[_row(settings, point) for point in curve],
        curve_with_sources=[_row(settings, point) for point in grown],
        required=_row(settings, required) if required else None,
        required_with_sources=_row(settings, with_sources) if with_sources else None,
        still_needed=_still_needed(settings, pilot, enough) if pilot and enough else None,
        metric_savings=_metric_savings(design, pilot) if pilot else [],
        variance_parts=method.variance_parts(design, model, planned.found),
        changes=changed,
        notes=pilot.notes if pilot else [],
    )
    return to_json(plan)


def _row(settings: PlanSettings, point: DesignPower) -> PlannedNumbers:
    design, found, method = point.design, point.found, settings.planned_method
    is_chat = design.layout == Layout.BY_SYSTEM
    return PlannedNumbers(
        workers=design.n_workers,
        hits_per_worker=design.hits_per_worker,
        workers_per_hit=design.workers_per_hit,
        hits=design.n_hits,
        assignments=design.n_assignments,
        sources=None if not method.has_sources or is_chat else design.n_sources,
        items=design.n_ordinary,
        ratings_per_system=design.ratings_per_system * method.responses_of_item(design),
        workers_counted=found.workers_counted,
        ratings_per_system_counted=found.ratings_counted,
        power=found.power,
        power_error=found.power_error,
        power_corrected=found.corrected,
        power_corrected_error=found.corrected_error,
        half_width=None if isnan(found.half_width) else found.half_width,
        cost=_cost(settings, design),
        hours=design.n_assignments * settings.minutes / _MIN_PER_HOUR if settings.minutes else None,
        days=design.n_assignments / settings.hits_per_day if settings.hits_per_day else None,
    )


def _metric_savings(design: PlannedDesign, pilot: Pilot) -> list[MetricSaves]:
    """Return what each metric with scores of the pilot's outputs would save in a design, the largest saving first."""
    n_rated = min(design.n_hits * design.n_ordinary, design.n_sources * design.n_systems)
    savings = []
    for metric in pilot.summary.metrics:
        share = min(1.0, n_rated / metric.n_outputs)
        saving = None if metric.limit is None else predict_saving(metric.limit, share)
        savings.append(MetricSaves(metric.name, metric.n_outputs, share, saving))
    return sorted(savings, key=lambda metric: -(metric.saving or 0.0))


def _cost(settings: PlanSettings, design: PlannedDesign) -> float | None:
    if settings.reward is None:
        return None
    fee = settings.fee
    if design.workers_per_hit > settings.design.workers_per_hit and settings.fee_if_doubled is not None:
        fee = settings.fee_if_doubled
    return float(design.n_assignments * (settings.reward + fee))


def _still_needed(settings: PlanSettings, pilot: Pilot, required: DesignPower) -> StillNeeded:
    wanted = required.found.ratings_counted * required.design.n_systems
    left = max(0.0, 1 - pilot.n_ordinary / wanted) if wanted else 1.0
    n = ceil(left * required.design.n_assignments - 1e-9)
    of_hit = None if settings.reward is None else float(settings.reward + settings.fee)
    return StillNeeded(
        assignments=n,
        hits=ceil(n / required.design.workers_per_hit),
        cost=None if of_hit is None else n * of_hit,
        hours=n * settings.minutes / _MIN_PER_HOUR if settings.minutes else None,
        days=n / settings.hits_per_day if settings.hits_per_day else None,
    )
