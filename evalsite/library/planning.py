"""Plans: how often a design finds a difference, how many workers are enough, what they cost."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from analysis.methods import DEFAULT
from analysis.methods.direct_assessment import DirectAssessmentMethod
from analysis.planning.methods import PLANNED
from analysis.planning.pilot import Pilot, learn_from
from analysis.planning.plans import LEVELS, OUTPUTS_PER_PAGE, SEED, SIMULATIONS, PlanSettings, make_design, make_plan
from analysis.planning.sections import findings_of, sections_of_plan
from analysis.results import exports
from analysis.stats.power import TARGET
from campaigns.design.composition import Layout
from campaigns.design.worker_test import NO_TEST
from evalsite.lib.errors import DomainError
from evalsite.library.analysis import load_extras
from evalsite.library.data import Data, read, response_method
from evalsite.library.frames import Drawing, Frame

ITEMS, SOURCES = 70, 100
"""Ordinary items of a HIT, and sources, if nothing else is said."""
_TESTS = {Layout.POOLED: "paired-wilcoxon", Layout.BY_SOURCE: "paired-wilcoxon", Layout.BY_SYSTEM: "unpaired-ranksum"}


class Plan:
    """What `plan` returns: power, workers, cost and time of a design. Print it to read its findings."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document

    def __repr__(self) -> str:
        return "\n".join(self.findings)

    @property
    def findings(self) -> list[str]:
        """What the plan says, the most important first."""
        return findings_of(self.document)

    @property
    def notes(self) -> list[str]:
        """What is surprising about the design."""
        return list(self.document["notes"])

    @property
    def power(self) -> float:
        """How often the design finds the difference at p < .05, from 0 to 1."""
        return float(self.document["planned"]["power"])

    @property
    def workers_needed(self) -> int | None:
        """How many workers give the power that is wanted; None where no number does with these sources."""
        required = self.document["required"]
        return required and int(required["workers"])

    @property
    def tables(self) -> list[Frame]:
        """The power curve, what changes buy, and the variances."""
        return [Frame(table) for section in sections_of_plan(self.document) for table in section.tables]

    @property
    def figures(self) -> list[Drawing]:
        """The power curve."""
        texts = exports.dump_json(self.document)
        return [Drawing(figure, texts) for part in sections_of_plan(self.document) for figure in part.figures]


def plan(
    *,
    systems: int,
    workers: int,
    difference: float,
    items: int = ITEMS,
    method: str = DEFAULT,
    levels: int = LEVELS,
    outputs_per_page: int = OUTPUTS_PER_PAGE,
    sources: int | None = None,
    hits_per_worker: int = 1,
    workers_per_hit: int = 1,
    degraded: int | None = None,
    repeats: int = 0,
    criteria: int | None = None,
    layout: str = Layout.POOLED.value,
    worker_test: str | None = None,
    careless: float | None = None,
    pilot: Any = None,
    metrics: Any = None,
    reward: Decimal | None = None,
    fee: Decimal = Decimal(0),
    currency: str = "",
    minutes: float | None = None,
    hits_per_day: float | None = None,
    target: float = TARGET,
    simulations: int = SIMULATIONS,
    seed: int = SEED,
    progress: Callable[[str], None] = lambda stage: None,
) -> Plan:
    """Return what a design finds, by simulated campaigns with a known truth (METHOD §9).

    Parameters
    ----------
    systems, workers : int
    difference : float
        That is to be found, in the unit of the method: points of 100, levels, or a share of votes.
    items : int
        Ordinary items of a HIT.
    method : str
        How responses are analysed.
    pilot : Data, or whatever `read` takes, optional
        Ratings whose variances are taken, with direct assessment; `metrics`: scores of its outputs, to say what
        ratings they save.
    reward, fee : Decimal, optional
        For a HIT, in `currency`.
    target : float
        The power that is wanted, from 0 to 1.
    simulations, seed : int
        Campaigns of each design.
    levels, outputs_per_page, sources, hits_per_worker, workers_per_hit, degraded, repeats, criteria, layout, careless
        As the options of `evalsite plan`: see docs/commands.md.

    Raises
    ------
    DomainError
        `bad_plan` with what to change.

    Examples
    --------
    >>> found = plan(systems=4, workers=30, difference=10, simulations=50)
    >>> found.power > 0.5
    True
    """
    learned = _learned(pilot, metrics)
    usual = Layout(layout)
    test = worker_test
    if test is None:
        is_untested = degraded == 0 or (learned is not None and not learned.is_tested)
        test = NO_TEST if is_untested else _usual_test(method, usual)
    if degraded is None:
        degraded = 0 if test == NO_TEST else 1 if usual == Layout.BY_SYSTEM else _degraded(method, items)
    n_criteria = 7 if usual == Layout.BY_SYSTEM and PLANNED[method].has_criteria else 1
    design = make_design(
        n_systems=systems,
        n_workers=workers,
        n_sources=sources or SOURCES,
        n_ordinary=items,
        n_degraded=degraded,
        n_repeat=repeats,
        hits_per_worker=hits_per_worker,
        workers_per_hit=workers_per_hit,
        n_criteria=criteria or (learned.n_criteria if learned else n_criteria),
        layout=usual,
        worker_test=test,
    )
    settings = PlanSettings(
        design=design,
        difference=difference,
        target=target,
        careless=careless,
        n_simulations=simulations,
        seed=seed,
        reward=reward,
        fee=fee,
        currency=currency,
        minutes=minutes,
        hits_per_day=hits_per_day,
        method=method,
        n_levels=levels,
        outputs_per_page=outputs_per_page,
    )
    return Plan(make_plan(settings, learned, lambda done, total, stage: progress(stage)))


def _learned(pilot: Any, metrics: Any) -> Pilot | None:
    """Return what a pilot says of how ratings vary."""
    if pilot is None:
        return None
    data = pilot if isinstance(pilot, Data) else read(pilot)
    method = response_method(data.settings)
    if not isinstance(method, DirectAssessmentMethod):
        raise DomainError(
            "no_scores",
            f"{data.path.name}: responses of the protocol {data.method} say nothing of how scores vary. Choose a "
            "protocol whose outputs are scored one by one, such as custom.",
        )
    extras = {} if metrics is None else load_extras(data, {"metrics": metrics})
    responses = method.read(data.file(extras), data.settings)
    return learn_from(method.study(responses, data.settings), data.path.name)


def _usual_test(method: str, layout: Layout) -> str:
    """Return the worker test that a method and a layout usually have."""
    tests = PLANNED[method].worker_tests
    if tests is None or (layout == Layout.BY_SYSTEM and _TESTS[layout] in tests):
        return _TESTS[layout]
    return next(iter(tests), NO_TEST)


def _degraded(method: str, items: int) -> int:
    """Return a seventh of the ordinary items, as in HITs of 100, or all; for a test as many as the method needs."""
    return min(max(PLANNED[method].least_degraded, round(items / 7)), items)
