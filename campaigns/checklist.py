"""What a campaign still lacks before it can be launched."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from campaigns.contracts.platform import Option
from campaigns.models import Campaign
from campaigns.platforms import get_platform
from campaigns.protocols import get_protocol
from campaigns.queries import Contents, contents_of
from evalsite.lib.words import counted

State = Literal["ok", "todo", "optional"]


@dataclass(frozen=True)
class Step:
    """One thing to be set. `todo`: it stands in the way of the launch; `optional`: it may stay as it is."""

    key: str
    title: str
    page: str  # name of its address
    state: State
    text: str


def checklist(campaign: Campaign, contents: Contents | None = None) -> list[Step]:
    """Return the steps of setting a campaign up, in the order of the pages."""
    contents = contents or contents_of(campaign)
    is_tested = list(campaign.criteria.values_list("is_in_worker_test", flat=True))
    steps = [
        _name(campaign),
        _outputs(contents),
        _human(campaign, contents),
        _criteria(is_tested),
        _instructions(campaign),
        _hits(campaign, contents, sum(is_tested)),
        _payment(campaign),
        _platform(campaign),
    ]
    return [step for step in steps if step]


def missing(steps: list[Step]) -> list[Step]:
    """Return the steps that stand in the way of the launch."""
    return [step for step in steps if step.state == "todo"]


def _name(campaign: Campaign) -> Step:
    if campaign.name == get_protocol(campaign.protocol).title:
        return Step("name", "Name", "campaigns:settings", "optional", "Still the protocol's. Choose one of its own.")
    return Step("name", "Name", "campaigns:settings", "ok", campaign.name)


def _outputs(contents: Contents) -> Step:
    text = f"{contents.n_outputs:,} of {contents.n_systems:,} systems for {contents.n_sources:,} sources."
    if not contents.n_outputs:
        return Step("outputs", "Outputs", "campaigns:data", "todo", "Upload sources and the systems' outputs.")
    return Step("outputs", "Outputs", "campaigns:data", "ok", text)


def _human(campaign: Campaign, contents: Contents) -> Step | None:
    if not campaign.has_anchor or campaign.has_given_hits:
        return None
    human = campaign.systems.filter(is_human=True).first() if contents.n_systems else None
    if human:
        return Step("human", "Human system", "campaigns:systems", "ok", human.name)
    text = "Each HIT holds the human system, its degraded copy and its repeat: mark which system it is."
    return Step("human", "Human system", "campaigns:systems", "todo", text)


def _criteria(is_tested: list[bool]) -> Step:
    if not is_tested:
        return Step("criteria", "Criteria", "campaigns:criteria", "todo", "Add at least one statement to rate.")
    if not any(is_tested):
        text = "None is used by the worker test. Choose at least one that careful workers rate lower when degraded."
        return Step("criteria", "Criteria", "campaigns:criteria", "todo", text)
    text = f"{len(is_tested)}, used by the worker test: {sum(is_tested)}."
    return Step("criteria", "Criteria", "campaigns:criteria", "ok", text)


def _instructions(campaign: Campaign) -> Step:
    if not campaign.instructions.strip():
        text = "Tell workers what to do. The protocol has a text to begin with."
        return Step("instructions", "Instructions", "campaigns:instructions", "todo", text)
    text = "With a consent text." if campaign.consent.strip() else "Without a consent text."
    return Step("instructions", "Instructions", "campaigns:instructions", "ok", text)


def _hits(campaign: Campaign, contents: Contents, n_tested: int) -> Step:
    if not contents.n_hits:
        return Step("hits", "HITs", "campaigns:design", "todo", "Set their design and build them.")
    if campaign.status == Campaign.Status.DRAFT:
        text = "Outputs, systems or the design have changed since they were built. Build them again."
        return Step("hits", "HITs", "campaigns:design", "todo", text)
    if not campaign.n_degraded:
        text = "None has a degraded item, so no worker can pass the worker test and no rating would count in results."
        return Step("hits", "HITs", "campaigns:design", "optional", text)
    n_pairs = campaign.n_degraded * n_tested
    # The smallest p that the signed-rank test can give: every one of n pairs differs in the same direction.
    if campaign.worker_test == Campaign.WorkerTest.PAIRED_WILCOXON and 0.5**n_pairs >= campaign.alpha:
        text = (
            f"A HIT gives the worker test {counted(n_pairs, 'pair')}, too few to pass at "
            f"α = {campaign.alpha:g} after one HIT. Add degraded items, or let workers do several HITs."
        )
        return Step("hits", "HITs", "campaigns:design", "optional", text)
    n_workers = f"{counted(campaign.workers_per_hit, 'worker')} each"
    return Step(
        "hits", "HITs", "campaigns:design", "ok", f"{contents.n_hits:,} of {campaign.hit_size} items, {n_workers}."
    )


def _payment(campaign: Campaign) -> Step:
    if not campaign.reward:
        return Step("payment", "Payment", "campaigns:settings", "optional", "None: workers are unpaid volunteers.")
    if not campaign.minutes_per_hit:
        text = "Say how many minutes a HIT takes, to see what it comes to per hour."
        return Step("payment", "Payment", "campaigns:settings", "optional", text)
    return Step("payment", "Payment", "campaigns:settings", "ok", f"{campaign.reward} {campaign.currency} per HIT.")


def _platform(campaign: Campaign) -> Step:
    platform = get_platform(campaign.platform)
    words = [f"{option.label}: {_value(option, campaign.platform_settings)}." for option in platform.options]
    return Step("platform", platform.title, "campaigns:settings", "ok", " ".join(words))


def _value(option: Option, settings: Mapping[str, Any]) -> str:
    """Return the chosen value of a platform's option in words."""
    value = settings.get(option.name, option.default)
    return "no limit" if value is None else str(dict(option.choices).get(str(value), value))
