"""What a researcher sets for Prolific, and how it is read."""

from collections.abc import Mapping
from typing import Any

from campaigns.contracts.options import Choice, LongText, Number, OptionsForm, Percent, Secret, Switch, Text

_DEVICES = {"any": [], "desktop": ["desktop"], "large": ["desktop", "tablet"]}


class Options(OptionsForm):
    """What a study says and asks for, and what it costs."""

    is_empty_default = True

    token = Secret(
        label="API token",
        help_text="Create it in Prolific's settings: “Go to API token page”. With it, anybody can spend your money."
        " Empty: the token of this installation.",
        is_operational=True,
    )
    workspace = Text(
        label="Workspace",
        help_text="The id of the workspace that pays, from the address of its page on Prolific. Empty: your only one.",
        is_operational=True,
    )
    project = Text(
        label="Project",
        help_text="The id of the project of that workspace in which the studies are kept. Empty: its first one.",
        is_operational=True,
    )
    title = Text(label="Title", help_text="What participants see in the list of studies. Empty: a neutral sentence.")
    description = LongText(
        label="Description",
        help_text="What there is to do, and on what; participants read it before they accept. Empty: two "
        "neutral sentences.",
    )
    maximum_minutes = Number(
        label="Minutes for one HIT, at most",
        help_text="After so many a participant's place is given to somebody else. Prolific asks for at least "
        "2 + 2 t + 2 √t, with t the expected minutes. Empty: as many as Prolific allows.",
        min_value=1,
        max_value=1440,
    )
    devices = Choice(
        label="Devices",
        choices=(("any", "any"), ("desktop", "computers"), ("large", "computers and tablets")),
        initial="any",
    )
    countries = Text(
        label="Countries of residence",
        help_text="As Prolific names them, separated by commas, such as United Kingdom, United States. Empty: any.",
    )
    min_approval_percent = Number(
        label="Approved work, at least (%)", help_text="Empty: any.", min_value=0, max_value=100
    )
    min_approved = Number(
        label="Approved submissions, at least",
        help_text="How many a participant must have. Empty: any.",
        min_value=0,
        max_value=10_000,
    )
    secure_url = Switch(
        label="Prolific signs who comes",
        help_text="Prolific adds a signature to the address, and nobody can pass themselves off as somebody else. "
        "Only some workspaces have this: ask Prolific's support. Without it, a changed id in the address "
        "is found only when the submissions are compared.",
    )
    exclude_earlier_runs = Switch(
        label="Only workers who were in no earlier run",
        help_text="Participants of the runs that this one repeats are kept in a group, to whom the study is not shown.",
        initial="yes",
    )
    replace_failed = Switch(
        label="Replace workers who fail the worker test",
        help_text="Adds a place to the study for each of them, at your cost; they are paid as well.",
        is_operational=True,
    )
    budget_cap = Number(
        label="Spend at most",
        help_text="On the places of this campaign, rewards and fees, without bonuses, in its currency: beyond it, or "
        "without it, nobody is replaced.",
        is_operational=True,
        min_value=0,
        max_value=100_000_000,
    )
    fee_percent = Percent(
        label="Prolific's fee (%)",
        help_text="Of rewards and bonuses. It differs between academic and other customers: see your last invoice.",
        initial="33.3",
        is_operational=True,
    )
    vat_percent = Percent(
        label="Value added tax on the fee (%)",
        help_text="What Prolific adds to its fee where you are: 20 in the United Kingdom.",
        initial="0",
        is_operational=True,
    )


value_of = Options.value_of


def devices_of(settings: Mapping[str, Any]) -> list[str]:
    """Return the kinds of devices in Prolific's words, none for any."""
    return _DEVICES.get(value_of(settings, "devices"), [])


def countries_of(settings: Mapping[str, Any]) -> list[str]:
    """Return the names of countries."""
    return [name for each in value_of(settings, "countries").split(",") if (name := each.strip())]
