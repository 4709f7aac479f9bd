"""Criteria, and their order."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.forms.models import model_to_dict

from campaigns.forms.partial import CheckboxWidget, PartialForm
from campaigns.models import Criterion

_AGREE, _DISAGREE = "strongly agree", "strongly disagree"


class CriterionForm(PartialForm):
    """One statement that a worker agrees with on a slider. Without a criterion, the form of a new one."""

    field_of_code = {"name_taken": "name"}

    statement = forms.CharField(max_length=500, widget=forms.Textarea(attrs={"rows": 2}))
    name = forms.CharField(max_length=100, help_text="For results. Workers never see it.")
    left_label = forms.CharField(label="Left end", max_length=100, initial=_DISAGREE)
    right_label = forms.CharField(label="Right end", max_length=100, initial=_AGREE)
    is_negative = forms.BooleanField(
        label="Negative",
        required=False,
        widget=CheckboxWidget,
        help_text="Agreement is bad: analysis reverses the score.",
    )
    is_in_worker_test = forms.BooleanField(
        label="Used by the worker test",
        required=False,
        widget=CheckboxWidget,
        help_text="Careful workers rate degraded items lower on it.",
    )

    def __init__(self, criterion: Criterion | None = None, data: Mapping[str, Any] | None = None) -> None:
        initial = model_to_dict(criterion, fields=list(self.base_fields)) if criterion else {"is_in_worker_test": True}
        super().__init__(data, initial=initial, id_prefix=f"criterion-{criterion.pk}" if criterion else "new")
        self.criterion = criterion


class IdsField(forms.TypedMultipleChoiceField):
    """Any whole numbers; whether they are ids of criteria is checked later."""

    def valid_value(self, value: Any) -> bool:
        """Take every number."""
        return str(value).isdecimal()


class OrderForm(forms.Form):
    """All criteria in a new order, or one of them and which way it goes."""

    order = IdsField(coerce=int, required=False)
    criterion = forms.IntegerField(required=False)
    step = forms.TypedChoiceField(choices=[("-1", "up"), ("1", "down")], coerce=int, required=False)

    def clean(self) -> dict[str, Any]:
        """Refuse neither and both."""
        data: dict[str, Any] = super().clean() or {}
        if bool(data.get("order")) == bool(data.get("criterion") and data.get("step")):
            raise forms.ValidationError("Choose a place for the criterion.", code="bad_order")
        return data
