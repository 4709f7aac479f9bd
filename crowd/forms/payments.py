"""What assignments and orders are filtered by, and what is sent to pay, to reject and to write to workers."""

import uuid
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from django import forms

from analysis.results.words import VERDICTS
from annotation.models import Assignment
from crowd.models import Order, Submission
from crowd.queries.payments import NONE
from crowd.services.payments.decisions import HIGHEST_BONUS, LONGEST_MESSAGE, LONGEST_SUBJECT, LONGEST_TEXT

_LARGEST_HIT = 2**31 - 1
_CENT = Decimal("0.01")


class PaymentFilter(forms.Form):
    """Which assignments to list; empty fields do not filter. `wage` only marks.

    Users who may not see workers' names cannot search for them.
    """

    here = forms.ChoiceField(
        label="State here", required=False, choices=[("", "all"), *Assignment.State.choices, (NONE, "Not started here")]
    )
    there = forms.ChoiceField(
        label="On the platform",
        required=False,
        choices=[("", "all"), *Submission.State.choices, (NONE, "Not known there")],
    )
    verdict = forms.ChoiceField(label="Worker test", required=False, choices=[("", "all"), *VERDICTS.items()])
    worker = forms.CharField(required=False, max_length=255, widget=forms.TextInput(attrs={"type": "search"}))
    hit = forms.IntegerField(label="HIT", required=False, min_value=1, max_value=_LARGEST_HIT)
    wage = forms.DecimalField(
        label="Fair wage per hour", required=False, min_value=_CENT, max_digits=8, decimal_places=2
    )

    def __init__(self, data: Mapping[str, Any], *, with_names: bool, has_account: bool) -> None:
        super().__init__(data)
        if not with_names:
            del self.fields["worker"]
        if not has_account:
            del self.fields["there"]
            self.fields["here"].choices = [("", "all"), *Assignment.State.choices]  # type: ignore[attr-defined]

    def filters(self) -> dict[str, Any]:
        """Return the filters of a valid form."""
        return {name: value for name, value in self.cleaned_data.items() if value not in ("", None) and name != "wage"}


class AgreedForm(forms.Form):
    """The sum, with fees, that somebody has seen and agrees to."""

    agreed = forms.DecimalField(widget=forms.HiddenInput, max_digits=12, decimal_places=2)


class RejectForm(forms.Form):
    """Why work is not paid."""

    message = forms.CharField(
        label="Message to the worker",
        max_length=LONGEST_MESSAGE,
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text="Say what was asked for and what is missing, so that they can answer. They read exactly this text.",
    )
    category = forms.ChoiceField(label="The platform’s category")
    is_sure = forms.BooleanField(label="I have checked the work myself, and reject it")

    def __init__(
        self, data: Mapping[str, Any] | None, *, categories: Sequence[tuple[str, str]], initial: dict[str, Any]
    ) -> None:
        super().__init__(data, initial=initial)
        if categories:
            self.fields["category"].choices = [("", "Choose one"), *categories]  # type: ignore[attr-defined]
        else:
            del self.fields["category"]


class ReverseForm(forms.Form):
    """A message to a worker whose rejection is taken back."""

    message = forms.CharField(
        label="Message to the worker",
        required=False,
        max_length=LONGEST_MESSAGE,
        widget=forms.Textarea(attrs={"rows": 3}),
    )


class BlockForm(forms.Form):
    """Why a worker gets no more work."""

    reason = forms.CharField(
        label="Why", max_length=LONGEST_MESSAGE, help_text="For the platform and for the list of orders."
    )


class BonusForm(forms.Form):
    """A bonus for each of some workers. `token` makes a form that is sent twice pay once; `agreed` is the sum seen."""

    amount = forms.DecimalField(
        label="Bonus for each", min_value=_CENT, max_value=HIGHEST_BONUS, max_digits=8, decimal_places=2
    )
    message = forms.CharField(
        label="Message to the workers", max_length=LONGEST_MESSAGE, widget=forms.Textarea(attrs={"rows": 3})
    )
    token = forms.UUIDField(widget=forms.HiddenInput)
    agreed = forms.DecimalField(widget=forms.HiddenInput, required=False, max_digits=12, decimal_places=2)

    def __init__(self, data: Mapping[str, Any] | None, initial: Mapping[str, Any]) -> None:
        super().__init__(data, initial={**initial, "token": uuid.uuid4()})


class MessageForm(forms.Form):
    """A message to workers. `token` makes a form that is sent twice send once."""

    subject = forms.CharField(max_length=LONGEST_SUBJECT)
    text = forms.CharField(max_length=LONGEST_TEXT, widget=forms.Textarea(attrs={"rows": 6}))
    token = forms.UUIDField(widget=forms.HiddenInput)

    def __init__(self, data: Mapping[str, Any] | None) -> None:
        super().__init__(data, initial={"token": uuid.uuid4()})


class DiscrepancyFilter(forms.Form):
    """Which discrepancies to list."""

    kind = forms.ChoiceField(
        label="Discrepancy",
        required=False,
        choices=[("", "all"), *(choice for choice in Submission.Discrepancy.choices if choice[0])],
    )
    dismissed = forms.ChoiceField(label="Show", required=False, choices=[("", "open ones"), ("1", "dismissed ones")])


class OrderFilter(forms.Form):
    """Which orders to list; empty fields do not filter."""

    kind = forms.ChoiceField(label="What", required=False, choices=[("", "all"), *Order.Kind.choices])
    state = forms.ChoiceField(label="Outcome", required=False, choices=[("", "all"), *Order.State.choices])


class PaymentFileForm(forms.Form):
    """What the file of payments has."""

    ids = forms.ChoiceField(
        required=False,
        choices=[("hashed", "hashed"), ("real", "real")],
        help_text="Keyed hashes of workers (if left out), or their own ids with those of the platform: for owners.",
    )
    orders = forms.ChoiceField(
        required=False,
        choices=[("done", "done"), ("all", "all")],
        help_text="What was paid (if left out), or also what was not, or not yet.",
    )

    @property
    def has_real_ids(self) -> bool:
        """Whether a valid form asks for the workers' own ids."""
        return self.cleaned_data["ids"] == "real"

    @property
    def has_only_done(self) -> bool:
        """Whether a valid form asks for what was paid only."""
        return self.cleaned_data["orders"] != "all"
