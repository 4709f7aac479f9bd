"""Options of a plug-in in JSON: the pages' forms put a word before their names, the API has them in objects."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django import forms
from django.forms.utils import pretty_name

from api.problems import InvalidFieldsError
from campaigns.contracts.options import Choice, JsonObject, Number, Option, Switch

_KINDS: tuple[tuple[type[Option], str], ...] = (
    (Switch, "switch"),
    (Choice, "choice"),
    (Number, "number"),
    (JsonObject, "object"),
)
# What the pages' forms put before the name of an option, and where the API has the options.
_PLACES = {"option_": "settings", "secret_": "secrets", "key_": "keys"}


@dataclass(frozen=True)
class OptionSummary:
    """An option of a plug-in. Only operational ones may change after the launch."""

    name: str
    label: str
    help_text: str
    kind: str
    default: str | None
    choices: list[str]
    is_required: bool
    is_secret: bool
    is_operational: bool


def summarise_options(options: Mapping[str, Option]) -> list[OptionSummary]:
    """Return what can be set."""
    return [
        OptionSummary(
            name=name,
            label=str(option.label or pretty_name(name)),
            help_text=str(option.help_text),
            kind=next((kind for of, kind in _KINDS if isinstance(option, of)), "text"),
            default=None if option.initial is None or option.is_secret else str(option.initial),
            choices=[str(value) for value in option.labels()] if isinstance(option, Choice) else [],
            is_required=option.required,
            is_secret=option.is_secret,
            is_operational=option.is_operational,
        )
        for name, option in options.items()
    ]


def named_as_on_pages(sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was sent with its options as the pages' forms call them, and of their types."""
    data = dict(sent)
    for start, place in _PLACES.items():
        options = data.pop(place, None) or {}
        if not isinstance(options, dict):
            raise InvalidFieldsError({place: ["Send an object with a value for each option."]})
        data |= {start + name: typed(value) for name, value in options.items()}
    return data


def typed(value: Any) -> Any:
    """Return a value as an option takes it."""
    match value:
        case bool():
            return "yes" if value else "no"
        case dict() | list():
            return json.dumps(value, ensure_ascii=False)
        case None:
            return ""
    return value


def check_known(data: Mapping[str, Any], form: forms.Form) -> None:
    """Raise InvalidFieldsError for what the form does not have."""
    if unknown := {name: ["There is no such field."] for name in data if name not in form.fields}:
        raise InvalidFieldsError(_as_sent(unknown))


@contextmanager
def named_as_sent() -> Iterator[None]:
    """Name options in errors as they were sent: `settings.model`."""
    try:
        yield
    except InvalidFieldsError as error:
        raise InvalidFieldsError(_as_sent(error.errors)) from None


def _as_sent(errors: Mapping[str, list[str]]) -> dict[str, list[str]]:
    found = {}
    for name, texts in errors.items():
        start = next((start for start in _PLACES if name.startswith(start)), "")
        found[f"{_PLACES[start]}.{name.removeprefix(start)}" if start else name] = texts
    return found
