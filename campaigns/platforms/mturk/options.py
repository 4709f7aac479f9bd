"""What a researcher sets for Mechanical Turk, and how it is read: also who may work, as Amazon wants it."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from campaigns.contracts.options import Choice, LongText, Number, OptionsForm, Secret, Switch, Text
from evalsite.lib.errors import DomainError

SANDBOX, PRODUCTION = "sandbox", "production"


class Options(OptionsForm):
    """What a HIT type has, who may work, and where it is published."""

    is_empty_default = True

    access_key_id = Secret(
        label="Access key ID",
        help_text="Of the IAM user that AWS has made for your Mechanical Turk account. Empty: the key of this "
        "installation.",
        is_operational=True,
    )
    secret_access_key = Secret(label="Secret access key", help_text="Of the same IAM user.", is_operational=True)
    mode = Choice(
        label="Marketplace",
        help_text="In the sandbox nothing is paid and only people whom you send there come: try everything "
        "there first. "
        "What was published in one is not in the other, so a campaign stays where it began.",
        choices=((SANDBOX, "sandbox: a rehearsal, nobody is paid"), (PRODUCTION, "production: real workers and money")),
        initial=SANDBOX,
    )
    title = Text(
        label="Title", help_text="What workers see in the list of HITs. Empty: a neutral sentence.", max_length=128
    )
    description = LongText(
        label="Description",
        help_text="One or two sentences on what there is to do and how long it takes; workers read them before "
        "they accept. "
        "Empty: two neutral sentences.",
        max_length=2000,
    )
    keywords = Text(
        label="Keywords",
        help_text="Separated by commas; workers search by them.",
        initial="rating, language, text, evaluation",
        max_length=1000,
    )
    assignment_minutes = Number(
        label="Minutes for one HIT, at most",
        help_text="After so many a HIT that was accepted and not submitted is offered to somebody else, and its "
        "work is "
        "lost: allow three or four times what it takes.",
        initial=120,
        required=True,
        min_value=1,
        max_value=525_600,
    )
    lifetime_days = Number(
        label="Days on offer",
        help_text="So long a HIT waits for workers; it can be prolonged. At most 365.",
        initial=7,
        required=True,
        is_operational=True,
        min_value=1,
        max_value=365,
    )
    auto_approval_days = Number(
        label="Days until work is approved by itself",
        help_text="If you decide nothing, Amazon pays after so many days. At most 30; workers like few.",
        initial=7,
        required=True,
        is_operational=True,
        min_value=0,
        max_value=30,
    )
    countries = Text(
        label="Countries",
        help_text="Two-letter codes separated by commas, such as US, GB, AU. Empty: workers from everywhere.",
    )
    min_approval_percent = Number(
        label="Approved work, at least (%)",
        help_text="Of all that a worker has submitted to anybody. Empty: any. In the sandbox leave it empty.",
        min_value=0,
        max_value=100,
    )
    min_approved = Number(
        label="Approved HITs, at least",
        help_text="How many a worker must have behind them. Empty: any. In the sandbox leave it empty.",
        min_value=0,
        max_value=10_000_000,
    )
    qualifications = LongText(
        label="Further qualifications",
        help_text="One a line: the id of the qualification type, a comparator, and values, such as "
        "“2F1QJWKUDD8XADTFD2Q0G6UTO95ALH Exists” (Masters; in the sandbox 2ARFPLSP75KLA8M8DH1HTEQVJT3SY6), or, with "
        "an id of your own, “… >= 80” or “… In 1, 2”. Amazon asks more for premium ones, which the preview of the "
        "cost does not know.",
    )
    exclude_earlier_runs = Switch(
        label="Only workers who were in no earlier run",
        help_text="Workers of the runs that this one repeats get a qualification of yours, and workers who have it "
        "does not see "
        "these HITs.",
        initial="yes",
    )
    replace_failed = Switch(
        label="Replace workers who fail the worker test",
        help_text="Offers the HIT once more for each of them, at your cost; they are paid as well. "
        "Amazon lets a HIT that began with fewer than 10 places have 9 at most.",
        is_operational=True,
    )
    budget_cap = Number(
        label="Spend at most (USD)",
        help_text="On the places of this campaign, rewards and fees, without bonuses: beyond it, or without it, "
        "nobody is "
        "replaced.",
        is_operational=True,
        min_value=0,
        max_value=100_000_000,
    )
    sqs_queue_url = Text(
        label="Queue for notifications",
        help_text="The address of an Amazon SQS queue in us-east-1 that only this campaign uses and that "
        "Mechanical Turk "
        "may send to. With it, returned HITs are known at once. Empty: the site asks every few minutes.",
        is_operational=True,
    )


MIN_FEE = Decimal("0.01")
CODE = "code"
"""The field of `externalSubmit` with the completion code."""

value_of = Options.value_of


# --- Who may work

# Amazon's own, the same in the sandbox.
_LOCALE, _PERCENT_APPROVED, _N_APPROVED = "00000000000000000071", "000000000000000000L0", "00000000000000000040"
# “Masters”, in production and in the sandbox, for whom Amazon asks more.
_MASTERS = frozenset({"2F1QJWKUDD8XADTFD2Q0G6UTO95ALH", "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6"})
_MOST_REQUIREMENTS, _MOST_INTEGERS, _MOST_PLACES = 10, 15, 30

_COMPARATORS = (
    "LessThan",
    "LessThanOrEqualTo",
    "GreaterThan",
    "GreaterThanOrEqualTo",
    "EqualTo",
    "NotEqualTo",
    "Exists",
    "DoesNotExist",
    "In",
    "NotIn",
)
_SPELLINGS = {name.lower(): name for name in _COMPARATORS} | {
    "<": "LessThan",
    "<=": "LessThanOrEqualTo",
    ">": "GreaterThan",
    ">=": "GreaterThanOrEqualTo",
    "=": "EqualTo",
    "==": "EqualTo",
    "!=": "NotEqualTo",
}
_WITHOUT_VALUES, _WITH_MANY = frozenset({"Exists", "DoesNotExist"}), frozenset({"In", "NotIn"})
_OF_PLACES = frozenset({"EqualTo", "NotEqualTo", "In", "NotIn"})
_ID = re.compile(r"[A-Z0-9]{1,64}", re.ASCII)
_PLACE = re.compile(r"([A-Z]{2})(?:-([A-Z0-9]{2}))?", re.ASCII)
_INTEGER = re.compile(r"[0-9]{1,9}", re.ASCII)


def requirements(settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the qualification requirements of a HIT type; raise DomainError `bad_option` in plain words."""
    found = []
    countries = list(dict.fromkeys(_split(value_of(settings, "countries").upper())))
    for code in countries:
        if not re.fullmatch("[A-Z]{2}", code):
            raise _bad("Countries", f"“{code}” is no two-letter code of a country, such as US or GB")
    if len(countries) > _MOST_PLACES:
        raise _bad("Countries", f"there are {len(countries)}, and Amazon takes {_MOST_PLACES}")
    if countries:
        found.append(_requirement(_LOCALE, "In", LocaleValues=[{"Country": code} for code in countries]))
    percent, n_approved = value_of(settings, "min_approval_percent"), value_of(settings, "min_approved")
    if percent is not None:
        if not 0 <= percent <= 100:
            raise _bad("Approved work", f"{percent} is no percentage")
        found.append(_requirement(_PERCENT_APPROVED, "GreaterThanOrEqualTo", IntegerValues=[percent]))
    if n_approved is not None:
        found.append(_requirement(_N_APPROVED, "GreaterThanOrEqualTo", IntegerValues=[n_approved]))
    for number, line in enumerate(value_of(settings, "qualifications").splitlines(), 1):
        if line.strip():
            found.append(_custom(line.strip(), f"Further qualifications, line {number}"))
    if len(found) >= _MOST_REQUIREMENTS:  # one is left for the workers of earlier runs
        raise _bad("Further qualifications", f"there are {len(found)}, and Amazon takes {_MOST_REQUIREMENTS - 1}")
    return found


def asks_for_masters(settings: Mapping[str, Any]) -> bool:
    """Return whether only Masters may work."""
    lines = value_of(settings, "qualifications").splitlines()
    return any(line.split()[0] in _MASTERS for line in lines if line.strip())


def never_had(qualification_type: str) -> dict[str, Any]:
    """Return the requirement that a worker does not have a qualification; who has it does not see the HIT."""
    return _requirement(qualification_type, "DoesNotExist")


def _custom(line: str, where: str) -> dict[str, Any]:
    """Return what a line asks for: `type comparator value`."""
    type_id, comparator, values = _words(line, where)
    if comparator in _WITHOUT_VALUES:
        if values:
            raise _bad(where, f"{comparator} takes no value")
        return _requirement(type_id, comparator)
    if not values:
        raise _bad(where, f"after {comparator} comes a value")
    if len(values) > 1 and comparator not in _WITH_MANY:
        raise _bad(where, f"{comparator} takes one value; In and NotIn take several")
    if type_id == _LOCALE:
        return _requirement(type_id, comparator, LocaleValues=_places(values, comparator, where))
    return _requirement(type_id, comparator, IntegerValues=_integers(values, where))


def _words(line: str, where: str) -> tuple[str, str, list[str]]:
    type_id, _, rest = line.partition(" ")
    word, _, values = rest.strip().partition(" ")
    if not _ID.fullmatch(type_id):
        raise _bad(where, f"“{type_id}” is no id of a qualification type: capital letters and digits")
    if word.lower() not in _SPELLINGS:
        raise _bad(where, f"after the id comes one of {', '.join(_COMPARATORS)}, not “{word}”")
    return type_id, _SPELLINGS[word.lower()], _split(values)


def _places(values: list[str], comparator: str, where: str) -> list[dict[str, str]]:
    if comparator not in _OF_PLACES:
        raise _bad(where, f"countries are compared by {', '.join(sorted(_OF_PLACES))}")
    if len(values) > _MOST_PLACES:
        raise _bad(where, f"Amazon takes {_MOST_PLACES} countries")
    places = []
    for value in values:
        match = _PLACE.fullmatch(value.upper())
        if not match:
            raise _bad(where, f"“{value}” is no country, such as US, or part of one, such as US-CA")
        country, part = match.groups()
        places.append({"Country": country} | ({"Subdivision": part} if part else {}))
    return places


def _integers(values: list[str], where: str) -> list[int]:
    if len(values) > _MOST_INTEGERS:
        raise _bad(where, f"Amazon takes {_MOST_INTEGERS} values")
    for value in values:
        if not _INTEGER.fullmatch(value):
            raise _bad(where, f"“{value}” is no whole number")
    return [int(value) for value in values]


def _split(text: str) -> list[str]:
    return re.split(r"[\s,;]+", text.strip(" ,;")) if text.strip(" ,;") else []


def _requirement(type_id: str, comparator: str, **values: Any) -> dict[str, Any]:
    # Workers who do not fulfil it do not see the HIT at all: nobody reads what they cannot accept.
    return {
        "QualificationTypeId": type_id,
        "Comparator": comparator,
        "ActionsGuarded": "DiscoverPreviewAndAccept",
    } | values


def _bad(where: str, what: str) -> DomainError:
    return DomainError("bad_option", f"{where}: {what}.")
