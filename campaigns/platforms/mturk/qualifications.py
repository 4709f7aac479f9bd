"""Who may work on Mechanical Turk: the qualification requirements of a HIT type, from a campaign's options."""

import re
from collections.abc import Mapping
from typing import Any

from campaigns.platforms.mturk.options import value_of
from evalsite.lib.errors import DomainError

# Amazon's own, the same in the sandbox.
_LOCALE, _PERCENT_APPROVED, _N_APPROVED = "00000000000000000071", "000000000000000000L0", "00000000000000000040"
# “Masters”, in production and in the sandbox, for whom Amazon asks more.
MASTERS = frozenset({"2F1QJWKUDD8XADTFD2Q0G6UTO95ALH", "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6"})
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
_TYPE_ID = re.compile(r"[A-Z0-9]{1,64}", re.ASCII)
_ITEM = re.compile(r"[^\s,;]+")
_PLACE = re.compile(r"([A-Z]{2})(?:-([A-Z0-9]{2}))?", re.ASCII)
_INTEGER = re.compile(r"[0-9]{1,9}", re.ASCII)


def requirements(settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the qualification requirements of a HIT type; raise DomainError `bad_option` in plain words."""
    found = []
    countries = list(dict.fromkeys(_ITEM.findall(value_of(settings, "countries").upper())))
    for code in countries:
        if not re.fullmatch("[A-Z]{2}", code):
            raise _bad("Countries", f"“{code}” is not a two-letter code of a country, such as US or GB")
    if len(countries) > _MOST_PLACES:
        raise _bad("Countries", f"there are {len(countries)}, and Amazon takes {_MOST_PLACES}")
    if countries:
        found.append(_requirement(_LOCALE, "In", LocaleValues=[{"Country": code} for code in countries]))
    percent, n_approved = value_of(settings, "min_approval_percent"), value_of(settings, "min_approved")
    if percent is not None:
        if not 0 <= percent <= 100:
            raise _bad("Approved work", f"{percent} is not a percentage")
        found.append(_requirement(_PERCENT_APPROVED, "GreaterThanOrEqualTo", IntegerValues=[percent]))
    if n_approved is not None:
        found.append(_requirement(_N_APPROVED, "GreaterThanOrEqualTo", IntegerValues=[n_approved]))
    for number, line in enumerate(value_of(settings, "qualifications").splitlines(), 1):
        if line.strip():
            found.append(_custom(line.strip(), f"Further qualifications, line {number}"))
    if len(found) >= _MOST_REQUIREMENTS:  # one is left for the workers of earlier runs
        raise _bad("Further qualifications", f"there are {len(found)}, and Amazon takes {_MOST_REQUIREMENTS - 1}")
    return found


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
    if not _TYPE_ID.fullmatch(type_id):
        raise _bad(where, f"“{type_id}” is not the id of a qualification type, which has capital letters and digits")
    if word.lower() not in _SPELLINGS:
        raise _bad(where, f"after the id comes one of {', '.join(_COMPARATORS)}, not “{word}”")
    return type_id, _SPELLINGS[word.lower()], _ITEM.findall(values)


def _places(values: list[str], comparator: str, where: str) -> list[dict[str, str]]:
    if comparator not in _OF_PLACES:
        raise _bad(where, f"countries are compared by {', '.join(sorted(_OF_PLACES))}")
    if len(values) > _MOST_PLACES:
        raise _bad(where, f"Amazon takes {_MOST_PLACES} countries")
    places = []
    for value in values:
        match = _PLACE.fullmatch(value.upper())
        if not match:
            raise _bad(where, f"“{value}” is not a country, such as US, or part of one, such as US-CA")
        country, part = match.groups()
        places.append({"Country": country} | ({"Subdivision": part} if part else {}))
    return places


def _integers(values: list[str], where: str) -> list[int]:
    if len(values) > _MOST_INTEGERS:
        raise _bad(where, f"Amazon takes {_MOST_INTEGERS} values")
    for value in values:
        if not _INTEGER.fullmatch(value):
            raise _bad(where, f"“{value}” is not a whole number")
    return [int(value) for value in values]


def _requirement(type_id: str, comparator: str, **values: Any) -> dict[str, Any]:
    # Workers who do not fulfil it do not see the HIT at all: nobody reads what they cannot accept.
    return {
        "QualificationTypeId": type_id,
        "Comparator": comparator,
        "ActionsGuarded": "DiscoverPreviewAndAccept",
    } | values


def _bad(where: str, what: str) -> DomainError:
    return DomainError("bad_option", f"{where}: {what}.")
