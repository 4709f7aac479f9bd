"""What Prolific takes in the bodies of requests. Its reference names every field; any other is refused."""

import re
from collections.abc import Callable, Mapping
from math import sqrt
from typing import Any

Check = Callable[[Any], str]
"""Returns what is wrong with a value, "" if nothing is."""

_ID = re.compile(r"[0-9a-f]{24}")
_DEVICES = frozenset({"desktop", "tablet", "mobile"})
_CODE_ACTIONS = frozenset({"AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW", "REQUEST_RETURN"})
_REJECTION_CATEGORIES = (
    "TOO_QUICKLY",
    "TOO_SLOWLY",
    "FAILED_INSTRUCTIONS",
    "INCOMP_LONGITUDINAL",
    "FAILED_CHECK",
    "LOW_EFFORT",
    "MALINGERING",
    "NO_CODE",
    "BAD_CODE",
    "NO_DATA",
    "UNSUPP_DEVICE",
    "OTHER",
)
_LEAST_MESSAGE = 100
SELECT_FILTERS = frozenset({"current-country-of-residence", "participant_group_blocklist"})
RANGE_FILTERS = frozenset({"approval_rate", "approval_numbers"})


class RefusedError(Exception):
    """A request or an act that Prolific refuses: an HTTP status and its words, by field where they are about one."""

    def __init__(self, status: int, detail: str | Mapping[str, list[str]]) -> None:
        super().__init__(detail if isinstance(detail, str) else "; ".join(f"{k}: {v[0]}" for k, v in detail.items()))
        self.status = status
        self.detail = detail


def is_id(value: Any) -> bool:
    """Tell whether a value is an id of Prolific's: 24 hexadecimal digits."""
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def check_body(body: Mapping[str, Any], fields: Mapping[str, Check], required: frozenset[str]) -> None:
    """Raise RefusedError, with all that is wrong, unless a body has the required fields and none but right ones."""
    wrong = {name: ["This field is required."] for name in sorted(required - body.keys())}
    wrong |= {name: ["Extra inputs are not permitted."] for name in sorted(body.keys() - fields.keys())}
    for name, value in body.items():
        if name in fields and (said := fields[name](value)):
            wrong[name] = [said]
    if wrong:
        raise RefusedError(400, wrong)


def text(value: Any) -> str:
    """Check a text that is not empty."""
    return "" if isinstance(value, str) and value.strip() else "Not a valid string."


def identifier(value: Any) -> str:
    """Check an id."""
    return "" if is_id(value) else "Not a valid id."


def identifiers(value: Any) -> str:
    """Check a list of ids."""
    return "" if isinstance(value, list) and all(map(is_id, value)) else "Not a list of valid ids."


def flag(value: Any) -> str:
    """Check a truth value."""
    return "" if isinstance(value, bool) else "Not a valid boolean."


def whole(value: Any) -> str:
    """Check a whole number from 1."""
    good = isinstance(value, int) and not isinstance(value, bool) and value >= 1
    return "" if good else "A valid positive integer is required."


def one_of(*allowed: str) -> Check:
    """Return the check of a choice."""
    return lambda value: "" if value in allowed else f"“{value}” is not a valid choice."


def _address(value: Any) -> str:
    good = isinstance(value, str) and re.match(r"https?://[^/\s]+/", value)
    return "" if good else "Enter a valid URL."


def _devices(value: Any) -> str:
    return "" if isinstance(value, list) and set(value) <= _DEVICES else "Not a list of devices."


def _codes(value: Any) -> str:
    if not isinstance(value, list) or not value:
        return "Specify at least one completion code."
    for code in value:
        if not isinstance(code, dict) or code.keys() - {"code", "code_type", "actions", "actor"}:
            return "Not a valid completion code."
        if text(code.get("code")) or text(code.get("code_type")) or not isinstance(code.get("actions"), list):
            return "A completion code has a code, a code_type and actions."
        if any(not isinstance(each, dict) or each.get("action") not in _CODE_ACTIONS for each in code["actions"]):
            return "Not a valid action of a completion code."
    if len({code["code"] for code in value}) < len(value):
        return "Each code must be unique within a study."
    return ""


def _filters(value: Any) -> str:
    if not isinstance(value, list):
        return "Not a list of filters."
    for each in value:
        kind = each.get("filter_id") if isinstance(each, dict) else None
        if kind in SELECT_FILTERS and each.keys() == {"filter_id", "selected_values"}:
            values = each["selected_values"]
            if not isinstance(values, list) or not values or not all(isinstance(one, str) for one in values):
                return f"{kind}: selected_values is a list of ids."
        elif kind in RANGE_FILTERS and each.keys() == {"filter_id", "selected_range"}:
            bounds = each["selected_range"]
            if not isinstance(bounds, dict) or not bounds or bounds.keys() - {"lower", "upper"}:
                return f"{kind}: selected_range has a lower or an upper bound."
        else:
            return f"“{kind}” is not a valid filter."
    return ""


_STUDY: dict[str, Check] = {
    "name": text,
    "internal_name": text,
    "description": text,
    "external_study_url": _address,
    "is_external_study_url_secure": flag,
    "prolific_id_option": one_of("question", "url_parameters", "not_required"),
    "completion_codes": _codes,
    "total_available_places": whole,
    "estimated_completion_time": whole,
    "maximum_allowed_time": whole,
    "reward": whole,
    "device_compatibility": _devices,
    "filters": _filters,
    "project": identifier,
    "study_labels": lambda value: "" if value in (["annotation"], ["ai_evaluation"], ["survey"]) else "Not a label.",
}
_REQUIRED_OF_STUDY = frozenset(
    {
        "name",
        "description",
        "external_study_url",
        "prolific_id_option",
        "completion_codes",
        "total_available_places",
        "estimated_completion_time",
        "reward",
    }
)
_CHANGEABLE_WHEN_PUBLISHED = frozenset({"internal_name", "total_available_places"})


def check_study(body: Mapping[str, Any]) -> None:
    """Check what a draft is made of."""
    check_body(body, _STUDY, _REQUIRED_OF_STUDY)
    minutes = body["estimated_completion_time"]
    least = 2 + 2 * minutes + 2 * sqrt(minutes)
    if body.get("maximum_allowed_time", least) < least:
        raise RefusedError(400, {"maximum_allowed_time": [f"Must be at least {least:.0f} minutes."]})


def check_change(body: Mapping[str, Any], *, is_published: bool) -> None:
    """Check what a study is changed by."""
    check_body(body, _STUDY, frozenset())
    if is_published and (fixed := sorted(body.keys() - _CHANGEABLE_WHEN_PUBLISHED)):
        raise RefusedError(400, {name: ["Cannot be changed once the study is published."] for name in fixed})


def check_transition(body: Mapping[str, Any]) -> None:
    """Check what a submission is decided with."""
    fields: dict[str, Check] = {
        "action": one_of("APPROVE", "REJECT", "UNREJECT"),
        "message": text,
        "rejection_category": one_of(*_REJECTION_CATEGORIES),
    }
    is_rejection = body.get("action") == "REJECT"
    more = {"message", "rejection_category"} if is_rejection else set()
    check_body(body, fields, frozenset({"action"} | more))
    if is_rejection and len(body["message"]) < _LEAST_MESSAGE:
        raise RefusedError(400, {"message": [f"Must be at least {_LEAST_MESSAGE} chars long."]})
