"""Criteria, and their order."""

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any, cast

from django import forms
from django.forms.models import model_to_dict

from campaigns.contracts.protocol import DEFAULT_KIND, Scope
from campaigns.forms.partial import CheckboxWidget, LinesField, OptionsPartialForm
from campaigns.models import LONGEST_REASON, Criterion
from campaigns.responses import list_response_kinds

_NEW = {"is_in_worker_test": True, "is_required": True, "response": DEFAULT_KIND, "scope": Scope.OUTPUT.value}
_SCOPES = [
    (Scope.OUTPUT.value, "Each output, or each chat as a whole"),
    (Scope.TURN.value, "Each reply of a chatbot, or step of an agent"),
    (Scope.PAGE.value, "All that is shown at once: a comparison, a document"),
    (Scope.ASSIGNMENT.value, "The whole HIT, on its last page"),
]
_CONDITIONS = ("scope", "shown_on", "shown_values")
_FLAGS = ("is_negative", "is_in_worker_test")
_EXCEPTIONS = ("is_required", "may_abstain", "abstain_reasons")
_OF_NEW = ("statement", "name", "response", *_FLAGS)


class ReasonsField(LinesField):
    """Reasons, one a line, as one text."""

    noun, longest, most = "reason", LONGEST_REASON, 20

    def clean(self, value: Any) -> Any:
        """Return the reasons as they are stored."""
        return "\n".join(super().clean(value))


class ValuesField(LinesField):
    """Answers, one a line."""

    noun, longest, most = "answer", LONGEST_REASON, 50


class CriterionForm(OptionsPartialForm):
    """One statement or question, and how it is answered; of an existing one with the options of its response kind.

    `others` are the criteria of its campaign, on which it may depend.
    """

    field_of_code = {"name_taken": "name", "unknown_response_kind": "response", "bad_condition": "shown_on"}
    settings_name = "settings"

    statement = forms.CharField(max_length=500, widget=forms.Textarea(attrs={"rows": 2}))
    name = forms.CharField(max_length=100, help_text="For results. Workers never see it.")
    response = forms.ChoiceField(
        label="Answered by",
        choices=lambda: [(kind.slug, kind.title) for kind in list_response_kinds()],
        initial=DEFAULT_KIND,
    )
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
    is_required = forms.BooleanField(
        label="Required", required=False, widget=CheckboxWidget, help_text="Workers cannot go on without an answer."
    )
    may_abstain = forms.BooleanField(
        label="Workers may say that they cannot judge", required=False, widget=CheckboxWidget
    )
    abstain_reasons = ReasonsField(
        label="Reasons why",
        required=False,
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="One a line, to choose from. Empty: a box to tick.",
    )

    scope = forms.ChoiceField(label="Asked of", choices=_SCOPES, initial=Scope.OUTPUT.value)
    shown_on = forms.TypedChoiceField(
        label="Only after an answer to",
        required=False,
        choices=[],
        coerce=int,
        empty_value=None,
        help_text="A criterion before it. Empty: it is always asked.",
    )
    shown_values = ValuesField(
        label="… which is",
        required=False,
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="One a line; of labelled points their scores, of options their texts. Any of them will do.",
    )

    def __init__(
        self,
        criterion: Criterion | None = None,
        data: Mapping[str, Any] | None = None,
        *,
        others: Sequence[Criterion] = (),
    ) -> None:
        initial = model_to_dict(criterion, fields=list(self.base_fields)) if criterion else dict(_NEW)
        super().__init__(data, initial=initial, id_prefix=f"criterion-{criterion.pk}" if criterion else "new")
        self.criterion = criterion
        before = takewhile(lambda each: each != criterion, others)
        choices = [("", "—"), *((each.pk, each.name) for each in before)]
        cast(forms.TypedChoiceField, self.fields["shown_on"]).choices = choices
        self.initial["shown_values"] = self._shown_values(cast(list[str], initial.get("shown_values") or []))
        if criterion:
            self.add_options(criterion.response_kind.options.plain(), criterion.settings)

    @staticmethod
    def _shown_values(values: list[str]) -> Any:
        """Return the answers as the field shows them."""
        return "\n".join(values)

    def fields_of_conditions(self) -> list[forms.BoundField]:
        """Return the fields that say what it is asked of, and when; they are shown on demand."""
        return [self[name] for name in _CONDITIONS]

    def fields_of_card(self) -> list[forms.BoundField]:
        """Return the fields of an existing criterion that are saved as they are typed: another kind has other ones."""
        first, last = [self[name] for name in ("statement", "name")], [self[name] for name in _FLAGS]
        return [*first, *self.option_fields(), *last]

    def fields_of_exceptions(self) -> list[forms.BoundField]:
        """Return the fields that say who need not answer; they are shown on demand."""
        return [self[name] for name in _EXCEPTIONS]

    def fields_of_new(self) -> list[forms.BoundField]:
        """Return the fields of a new criterion."""
        return [self[name] for name in _OF_NEW]


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
