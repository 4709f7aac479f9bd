"""What a researcher sets for Prolific, and how it is read."""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from campaigns.contracts.option import Option, OptionReader
from evalsite.lib.errors import DomainError

YES, NO = "yes", "no"
_NO_OR_YES = ((NO, "no"), (YES, "yes"))
_DEVICES = {"any": [], "desktop": ["desktop"], "large": ["desktop", "tablet"]}
_MAX_PERCENT = 100

OPTIONS: tuple[Option, ...] = (
    Option(
        "token",
        "API token",
        help="Made in Prolific's settings under “Go to API token page”. Whoever has it can spend your money. "
        "Empty: the token of this installation.",
        kind="secret",
        is_operational=True,
    ),
    Option(
        "workspace",
        "Workspace",
        help="The id of the workspace that pays, from the address of its page on Prolific. Empty: your only one.",
        default="",
        kind="text",
        is_operational=True,
    ),
    Option(
        "project",
        "Project",
        help="The id of the project of that workspace in which the studies are kept. Empty: its first one.",
        default="",
        kind="text",
        is_operational=True,
    ),
    Option(
        "title",
        "Title",
        help="What participants see in the list of studies. Empty: a neutral sentence.",
        default="",
        kind="text",
    ),
    Option(
        "description",
        "Description",
        help="What there is to do, and on what; participants read it before they accept. Empty: two neutral sentences.",
        default="",
        kind="long_text",
    ),
    Option(
        "maximum_minutes",
        "Minutes for one HIT, at most",
        help="After so many a participant's place is given to somebody else. Prolific asks for at least "
        "2 + 2 t + 2 √t, with t the expected minutes. Empty: as many as Prolific allows.",
        default=None,
    ),
    Option(
        "devices",
        "Devices",
        choices=(("any", "any"), ("desktop", "computers"), ("large", "computers and tablets")),
        default="any",
    ),
    Option(
        "countries",
        "Countries of residence",
        help="As Prolific names them, separated by commas, such as United Kingdom, United States. Empty: any.",
        default="",
        kind="text",
    ),
    Option("min_approval_percent", "Approved work, at least (%)", help="Empty: any.", default=None),
    Option(
        "min_approved",
        "Approved submissions, at least",
        help="How many a participant must have behind them. Empty: any.",
        default=None,
    ),
    Option(
        "secure_url",
        "Prolific signs who comes",
        help="Prolific adds a signature to the address, and nobody can pass themselves off as somebody else. "
        "Only some workspaces have this: ask Prolific's support. Without it, whoever changes the ids in their address "
        "is found out once the submissions are compared.",
        choices=_NO_OR_YES,
        default=NO,
    ),
    Option(
        "exclude_earlier_runs",
        "Only workers who were in no earlier run",
        help="Participants of the runs that this one repeats are kept in a group, to whom the study is not shown.",
        choices=_NO_OR_YES,
        default=YES,
    ),
    Option(
        "replace_failed",
        "Replace workers who fail the worker test",
        help="Adds a place to the study for each of them, at your cost; they are paid as well.",
        choices=_NO_OR_YES,
        default=NO,
        is_operational=True,
    ),
    Option(
        "budget_cap",
        "Spend at most",
        help="On the places of this campaign, rewards and fees, without bonuses, in its currency: beyond it, or "
        "without it, nobody is replaced.",
        default=None,
        is_operational=True,
    ),
    Option(
        "fee_percent",
        "Prolific's fee (%)",
        help="Of rewards and bonuses. It differs between academic and other customers: see your last invoice.",
        default="33.3",
        kind="text",
        is_operational=True,
    ),
    Option(
        "vat_percent",
        "Value added tax on the fee (%)",
        help="What Prolific adds to its fee where you are: 20 in the United Kingdom.",
        default="0",
        kind="text",
        is_operational=True,
    ),
)

_reader = OptionReader(OPTIONS)
text_of, number_of = _reader.text_of, _reader.number_of


def percent_of(settings: Mapping[str, Any], name: str) -> Decimal:
    """Return an option that is a percentage; raise DomainError `bad_option` if it is none."""
    value = text_of(settings, name)
    try:
        percent = Decimal(value.replace(",", ".").removesuffix("%").strip())
    except InvalidOperation:
        percent = Decimal(-1)
    if not percent.is_finite() or not 0 <= percent <= _MAX_PERCENT:
        label = next(option.label for option in OPTIONS if option.name == name)
        raise DomainError("bad_option", f"{label}: a number from 0 to {_MAX_PERCENT}, such as 33.3, not {value}.")
    return percent


def devices_of(settings: Mapping[str, Any]) -> list[str]:
    """Return the kinds of devices in Prolific's words, none for any."""
    return _DEVICES.get(text_of(settings, "devices"), [])


def countries_of(settings: Mapping[str, Any]) -> list[str]:
    """Return the names of countries."""
    return [name for each in text_of(settings, "countries").split(",") if (name := each.strip())]


def is_secure(settings: Mapping[str, Any]) -> bool:
    """Return whether participants come with a signature of Prolific's."""
    return text_of(settings, "secure_url") == YES
