"""What is sent and returned, as DRF and the schema know it: made of the pages' Django forms and of typed values."""

import dataclasses
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, cast

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.db import models
from rest_framework import serializers
from rest_framework_dataclasses.serializers import DataclassSerializer

from api.access import ApiRequest
from api.problems import InvalidFieldsError, RefusedError
from campaigns.forms.partial import NamesField, PartialForm
from evalsite.lib.errors import UNPROCESSABLE, DomainError

Shape = type[serializers.BaseSerializer[Any]]
Save = Callable[[dict[str, Any]], object]
# The first that a field is an instance of.
_KINDS: list[tuple[type[forms.Field], type[serializers.Field[Any, Any, Any, Any]]]] = [
    (forms.FileField, serializers.FileField),
    (forms.JSONField, serializers.JSONField),
    (forms.BooleanField, serializers.BooleanField),
    (forms.MultipleChoiceField, serializers.ListField),
    (forms.FloatField, serializers.FloatField),
    (forms.DecimalField, serializers.DecimalField),
    (forms.IntegerField, serializers.IntegerField),
    (forms.UUIDField, serializers.UUIDField),
    (forms.DateField, serializers.DateField),
    (forms.ChoiceField, serializers.ChoiceField),
    (forms.Field, serializers.CharField),
]


@cache
def shape_of(kind: type, *, is_shown: bool = False) -> Shape:
    """Return the serializer of a serializer, a form or a dataclass.

    A form that is shown has each of its fields, but for those that a campaign's form leaves out.
    """
    if issubclass(kind, serializers.BaseSerializer):
        return kind
    if issubclass(kind, forms.BaseForm):
        known = cast(type[forms.Form], kind).base_fields
        fields = {name: _field(field, is_shown=is_shown) for name, field in known.items()}
        return type(kind.__name__.removesuffix("Form"), (serializers.Serializer,), fields | {"__doc__": kind.__doc__})
    if dataclasses.is_dataclass(kind):
        meta = type("Meta", (), {"dataclass": kind})
        return type(kind.__name__, (DataclassSerializer,), {"Meta": meta, "__doc__": kind.__doc__})
    raise TypeError(f"nothing says what {kind} looks like")


def _field(field: forms.Field, *, is_shown: bool = False) -> serializers.Field[Any, Any, Any, Any]:
    """Return what a field of a form takes in JSON: its type only, as the form checks all else."""
    kind = next(kind for of, kind in _KINDS if isinstance(field, of))
    options: dict[str, Any] = {"required": False, "allow_null": True, "help_text": str(field.help_text)}
    if kind is serializers.ChoiceField and not list(field.choices):  # type: ignore[attr-defined]
        kind = serializers.CharField  # they depend on the campaign: the form knows them
    elif field.required and field.initial is None and not is_shown:
        options |= {"required": True, "allow_null": False}
    if kind is serializers.CharField:
        options |= {"allow_blank": True, "trim_whitespace": False}
    elif kind is serializers.ListField:
        choices = list(field.choices)  # type: ignore[attr-defined]
        ids_or_names = serializers.CharField() if isinstance(field, NamesField) else serializers.IntegerField()
        options |= {"child": serializers.ChoiceField(choices=choices) if choices else ids_or_names}
    elif kind is serializers.ChoiceField:
        options |= {"choices": list(field.choices), "allow_blank": not field.required}  # type: ignore[attr-defined]
    elif kind is serializers.DecimalField:
        options |= {"max_digits": None, "decimal_places": None}
    return kind(**options)


def sent_to(form: type[forms.BaseForm], request: ApiRequest, *, partial: bool = False) -> dict[str, Any]:
    """Return what was sent, of the types that a form takes; raise InvalidFieldsError for others and unknown fields."""
    data = request.data
    if not isinstance(data, Mapping):
        raise InvalidFieldsError({"": ["Send one JSON object."]})
    shape = cast(serializers.Serializer[Any], shape_of(cast(type, form))(data=data, partial=partial))
    errors = {name: ["There is no such field."] for name in data if name not in shape.fields}
    if not shape.is_valid():
        errors |= {name: _texts(found) for name, found in dict(shape.errors).items()}
    fields = cast(type[forms.Form], form).base_fields
    # Django's field would parse the text without the limits of the parser of requests.
    in_text = [name for name in data if isinstance(fields.get(name), forms.JSONField) and isinstance(data[name], str)]
    errors = {name: ["Send JSON, not a text that holds it."] for name in in_text} | errors
    if errors:
        raise InvalidFieldsError(errors)
    # Words such as “no”, which a form takes for a ticked box, are read here.
    switches = {name: shape.validated_data[name] for name in data if isinstance(fields[name], forms.BooleanField)}
    return {name: "" if value is None else value for name, value in {**data, **switches}.items()}


def _texts(found: Any) -> list[str]:
    """Return the messages of a field; of a list's items, with their place."""
    if isinstance(found, Mapping):
        return [f"{place}: {text}" for place, texts in found.items() for text in _texts(texts)]
    return [str(text) for text in found]


def cleaned(form: forms.BaseForm) -> dict[str, Any]:
    """Return a form's cleaned values; raise InvalidFieldsError."""
    if not form.is_valid():
        errors = {name: [str(text) for text in texts] for name, texts in form.errors.items()}
        raise InvalidFieldsError({"" if name == NON_FIELD_ERRORS else name: t for name, t in errors.items()})
    return form.cleaned_data


def model_shape(name: str, model: type[models.Model], *fields: str, **more: Any) -> Shape:
    """Return a serializer of a model's fields; `more` are fields that are no columns."""
    meta = type("Meta", (), {"model": model, "fields": [*fields, *more], "read_only_fields": [*fields, *more]})
    return type(name, (serializers.ModelSerializer,), {**more, "Meta": meta})


def shown(form: forms.BaseForm) -> dict[str, Any]:
    """Return the values that a form shows before anything is sent."""
    return {name: form.get_initial_for_field(field, name) for name, field in form.fields.items()}


def save_sent(form: PartialForm, save: Save) -> None:
    """Hand what was sent to a partial form to a service; raise InvalidFieldsError, RefusedError for what it refuses."""
    if form.unknown:
        raise InvalidFieldsError({name: ["It cannot be set in this campaign."] for name in form.unknown})
    cleaned(form)
    try:
        save(form.changes())
    except DomainError as error:
        raise RefusedError(error, UNPROCESSABLE, form.field_of_code.get(error.code)) from None
