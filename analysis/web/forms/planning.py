"""The shape of what a researcher asks of a plan."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.functional import lazy

from analysis.methods import DEFAULT, get_method
from analysis.models import AnalysisRun
from analysis.planning.methods import PLANNED
from analysis.planning.plans import (
    LEVELS,
    MOST_ITEMS,
    MOST_SYSTEMS,
    MOST_WORKERS,
    OUTPUTS_PER_PAGE,
    PlanSettings,
    make_design,
)
from analysis.stats.scores import MOST_LEVELS
from analysis.web.queries.planning import PilotChoice, fee_if_doubled, plan_defaults, why_unplanned
from campaigns.design.composition import Layout
from campaigns.design.worker_test import WORKER_TESTS
from campaigns.models import Campaign
from evalsite.lib.errors import DomainError

ASSUMED = ""
"""The choice of variances that are assumed."""
SIMULATIONS = {"100": "Quick: 100 campaigns of each design", "200": "200 campaigns", "500": "Precise: 500 campaigns"}
DEFAULTS = {
    "n_systems": 6,
    "n_workers": 30,
    "hits_per_worker": 1,
    "workers_per_hit": 1,
    "n_sources": 100,
    "n_ordinary": 70,
    "n_degraded": 10,
    "n_repeat": 10,
    "n_criteria": 1,
    "layout": Layout.POOLED.value,
    "worker_test": "paired-wilcoxon",
    "difference": 5,
    "target": 80,
    "n_simulations": "200",
    "method": DEFAULT,
    "n_levels": LEVELS,
    "outputs_per_page": OUTPUTS_PER_PAGE,
}
_LAYOUTS = [
    (Layout.POOLED.value, "any outputs"),
    (Layout.BY_SOURCE.value, "the outputs of one source"),
    (Layout.BY_SYSTEM.value, "chats with chatbots"),
]
_DESIGN = (
    *("n_systems", "n_workers", "hits_per_worker", "workers_per_hit", "n_sources", "n_ordinary", "n_degraded"),
    *("n_repeat", "n_criteria"),
)
_ASKED = (
    ("Systems", ("n_systems",)),
    ("Raters and their time", ("n_workers", "hits_per_worker", "minutes")),
    ("The difference that matters", ("difference",)),
)
_MORE = (
    ("What is to be found", ("method", "n_levels", "target", "variances")),
    ("What is rated", ("n_sources", "workers_per_hit", "n_ordinary", "outputs_per_page")),
    ("Items of a HIT and worker test", ("n_degraded", "n_repeat", "n_criteria", "layout", "worker_test", "careless")),
    ("Cost and time", ("reward", "fee", "currency", "hits_per_day")),
    ("Simulation", ("n_simulations",)),
)


def _whole(label: str, least: int, most: int, text: str = "") -> forms.IntegerField:
    return forms.IntegerField(label=label, min_value=least, max_value=most, help_text=text)


def _amount(label: str, text: str) -> forms.DecimalField:
    return forms.DecimalField(label=label, min_value=0, max_digits=8, decimal_places=2, required=False, help_text=text)


def _difference_in_words() -> str:
    """Return what number the difference is, of each response method."""
    of_methods = (f"{get_method(slug).title}: {planned.asked}" for slug, planned in PLANNED.items())
    return f"Between two neighbours in rank. {'; '.join(of_methods)}."


def _difference_of(slug: str | None) -> str:
    """Return what number the difference is, of one response method."""
    method = slug if slug in PLANNED else DEFAULT
    asked = f"{get_method(method).title}: {PLANNED[method].asked}"
    return f"Between two neighbours in rank. {asked}. “How a plan is made” says what it is of other methods."


def _number(label: str, most: float, text: str, *, required: bool = False) -> forms.FloatField:
    return forms.FloatField(
        label=label,
        min_value=0.01,
        max_value=most,
        required=required,
        help_text=text,
        widget=forms.NumberInput(attrs={"step": "any"}),
    )


class PlanningForm(forms.Form):
    """A design, what it is to find, where the variances come from, what work costs."""

    method = forms.ChoiceField(
        label="Response method", required=False, choices=lambda: [(slug, get_method(slug).title) for slug in PLANNED]
    )
    difference = _number(
        "Difference",
        100,
        lazy(_difference_in_words, str)(),
        required=True,
    )
    n_levels = forms.IntegerField(
        label="Levels", min_value=2, max_value=MOST_LEVELS, required=False, help_text="Of ordered levels."
    )
    outputs_per_page = forms.IntegerField(
        label="Outputs of a page",
        min_value=2,
        max_value=MOST_SYSTEMS,
        required=False,
        help_text="Of rankings and best–worst.",
    )
    target = _whole("Power wanted, in %", 10, 99, "How often it is to be found.")
    variances = forms.ChoiceField(
        label="Variances", required=False, help_text="Assumed, or as in ratings that you have: a pilot."
    )
    n_workers = _whole("Workers", 1, MOST_WORKERS)
    hits_per_worker = _whole("HITs per worker", 1, 1000, "Of each worker.")
    workers_per_hit = _whole("Workers per HIT", 1, 1000, "Who rate the same HIT.")
    n_systems = _whole("Systems", 2, MOST_SYSTEMS)
    n_sources = _whole("Sources", 1, 100_000, "Each with an output of every system. Not used for chats.")
    n_ordinary = _whole("Ordinary items of a HIT", 1, MOST_ITEMS)
    n_degraded = _whole("Degraded", 0, MOST_ITEMS)
    n_repeat = _whole("Repeats", 0, MOST_ITEMS)
    n_criteria = _whole("Criteria", 1, 40)
    layout = forms.ChoiceField(label="A HIT holds", choices=_LAYOUTS)
    worker_test = forms.ChoiceField(
        label="Worker test", choices=[(slug, test.title) for slug, test in WORKER_TESTS.items()]
    )
    careless = forms.IntegerField(
        label="Careless workers, in %",
        min_value=0,
        max_value=95,
        required=False,
        help_text="Empty: 25, or as in the pilot; 0 without a worker test.",
    )
    reward = _amount("Reward for a HIT", "")
    fee = _amount("Platform’s fee for a HIT", "")
    currency = forms.CharField(max_length=3, required=False)
    minutes = _number("Minutes per HIT", 1440, "As measured so far, if any HIT is finished.")
    hits_per_day = _number("HITs finished in a day", 1_000_000, "By all workers together; as measured so far.")
    n_simulations = forms.ChoiceField(label="Precision", choices=list(SIMULATIONS.items()))

    def __init__(self, campaign: Campaign | None, pilots: Sequence[PilotChoice], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._campaign = campaign
        self._pilots = {str(choice.run.pk): choice.run for choice in pilots}
        self.fields["difference"].help_text = _difference_of(self["method"].value())
        chosen: Any = self.fields["variances"]
        chosen.choices = [(ASSUMED, "assumed, as in two public studies")] + [
            (str(choice.run.pk), choice.title) for choice in pilots
        ]

    def clean(self) -> dict[str, Any]:
        """Refuse a campaign whose responses cannot be planned."""
        if self._campaign and (reason := why_unplanned(self._campaign)):
            raise forms.ValidationError(reason)
        return super().clean() or {}

    @property
    def asked(self) -> list[tuple[str, list[forms.BoundField]]]:
        """What is asked first, by heading."""
        return [(title, [self[name] for name in names]) for title, names in _ASKED]

    @property
    def more(self) -> list[tuple[str, list[forms.BoundField]]]:
        """What has a default that fits, by heading."""
        return [(title, [self[name] for name in names]) for title, names in _MORE]

    @property
    def is_more_refused(self) -> bool:
        """Whether something of `more` was refused."""
        return any(field.errors for _, fields in self.more for field in fields)

    @property
    def pilot(self) -> AnalysisRun | None:
        """The run whose ratings are the pilot; None for assumed variances."""
        return self._pilots.get(self.cleaned_data["variances"])

    def settings(self) -> PlanSettings | None:
        """Return what was sent; None, with an error in the form, if there is no such design."""
        data = self.cleaned_data
        try:
            design = make_design(
                layout=Layout(data["layout"]),
                worker_test=data["worker_test"],
                **{name: data[name] for name in _DESIGN},
            )
            found = PlanSettings(
                design=design,
                difference=data["difference"],
                target=data["target"] / 100,
                careless=None if data["careless"] is None else data["careless"] / 100,
                n_simulations=int(data["n_simulations"]),
                reward=data["reward"],
                fee=data["fee"] or Decimal(0),
                fee_if_doubled=fee_if_doubled(self._campaign, data["reward"], data["workers_per_hit"]),
                currency=data["currency"],
                minutes=data["minutes"],
                hits_per_day=data["hits_per_day"],
                method=data["method"] or DEFAULT,
                n_levels=data["n_levels"] or LEVELS,
                outputs_per_page=data["outputs_per_page"] or OUTPUTS_PER_PAGE,
            )
            if self.pilot:
                found.planned_method.refuse_pilot()
            return found
        except DomainError as error:
            self.add_error(None, error.message)
            return None


def first_values(campaign: Campaign | None, pilots: Sequence[PilotChoice]) -> dict[str, Any]:
    """Return what the form begins with: the campaign's design, and its own ratings as the pilot."""
    if campaign is None:
        return DEFAULTS | {"variances": ASSUMED}
    own = [str(each.run.pk) for each in pilots if each.run.ratings_file.campaign_id == campaign.pk]
    return DEFAULTS | {"variances": own[0] if own else ASSUMED} | plan_defaults(campaign)


def initial_of(settings: PlanSettings, pilot: AnalysisRun | None) -> dict[str, Any]:
    """Return what the form begins with to change a plan."""
    design = settings.design
    return {name: getattr(design, name) for name in _DESIGN} | {
        "layout": design.layout.value,
        "worker_test": design.worker_test,
        "difference": f"{settings.difference:g}",
        "target": round(100 * settings.target),
        "careless": None if settings.careless is None else round(100 * settings.careless),
        "n_simulations": str(settings.n_simulations),
        "reward": settings.reward,
        "fee": settings.fee if settings.reward is not None else None,
        "currency": settings.currency,
        "minutes": settings.minutes,
        "hits_per_day": settings.hits_per_day,
        "variances": str(pilot.pk) if pilot else ASSUMED,
        "method": settings.method,
        "n_levels": settings.n_levels,
        "outputs_per_page": settings.outputs_per_page,
    }
