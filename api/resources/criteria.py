"""The criteria of a campaign."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms

from api.access import ApiRequest
from api.operations import Resource, operation
from api.options import OptionSummary, summarise_options, typed
from api.shapes import cleaned, model_shape, save_sent, sent_to
from campaigns.contracts.options import Option
from campaigns.forms.criteria import CriterionForm, OrderForm
from campaigns.models import Campaign, Criterion
from campaigns.queries import get_criterion_of
from campaigns.responses import list_response_kinds
from campaigns.services.criteria import (
    MOST,
    add_criterion,
    change_criterion,
    delete_criterion,
    move_criterion,
    order_criteria,
)
from evalsite.accounts.models import Scope


class SentCriterionForm(CriterionForm):
    """A criterion, the options of its response kind in one object."""

    field_of_code = {**CriterionForm.field_of_code, "bad_option": "settings"}

    settings = forms.JSONField(required=False, help_text="An object with options of its response kind.")

    shown_values = forms.JSONField(  # type: ignore[assignment]
        required=False, help_text="Answers that show it: a list of texts."
    )

    @staticmethod
    def _shown_values(values: list[str]) -> Any:
        """Return the answers as they are."""
        return values

    def clean_shown_values(self) -> list[str]:
        """Return the answers; refuse what is no list of texts."""
        values = self.cleaned_data["shown_values"] or []
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise forms.ValidationError("Send a list of texts.")
        return values

    def add_options(self, options: Mapping[str, Option], values: Mapping[str, Any]) -> None:
        """Add none: they are in `settings`."""

    def clean_settings(self) -> dict[str, Any]:
        """Return the options; refuse what is no object."""
        settings = self.cleaned_data["settings"] or {}
        if not isinstance(settings, dict):
            raise forms.ValidationError("Send an object with a value for each option.")
        return {name: typed(value) for name, value in settings.items()}


CriterionShape = model_shape("Criterion", Criterion, "id", "order", *SentCriterionForm.base_fields)


class NewCriterionForm(SentCriterionForm):
    """A criterion, and its place."""

    order = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=MOST,
        help_text="Its place, from 0; last if left out. What deleting a criterion returned makes it again.",
    )


DeletedCriterionShape = model_shape("DeletedCriterion", Criterion, "order", *SentCriterionForm.base_fields)


@dataclass(frozen=True)
class ResponseKindSummary:
    """A way to answer a criterion."""

    slug: str
    title: str
    summary: str
    options: list[OptionSummary]


class ResponseKinds(Resource):
    """The response kinds of this site."""

    @operation(Scope.READ, returns=ResponseKindSummary, many="all")
    def get(self, request: ApiRequest) -> list[ResponseKindSummary]:
        """Return the response kinds, and what of each can be set."""
        return [
            ResponseKindSummary(each.slug, each.title, each.summary, summarise_options(each.options.named()))
            for each in list_response_kinds()
        ]


class Criteria(Resource):
    """What workers rate."""

    @operation(Scope.READ, returns=CriterionShape, many="all")
    def get(self, request: ApiRequest, campaign: Campaign) -> Any:
        """List the criteria in their order."""
        return campaign.criteria.all()

    @operation(
        Scope.EDIT, takes=NewCriterionForm, returns=CriterionShape, status=201, fields=SentCriterionForm.field_of_code
    )
    def post(self, request: ApiRequest, campaign: Campaign) -> Criterion:
        """Add a criterion. Adding the same one twice adds it once."""
        others = list(campaign.criteria.all())
        values = cleaned(NewCriterionForm(data=sent_to(NewCriterionForm, request), others=others))
        if values["order"] is None:
            del values["order"]
        return add_criterion(campaign=campaign, fields=values)


class OneCriterion(Resource):
    """One criterion."""

    @operation(Scope.READ, returns=CriterionShape)
    def get(self, request: ApiRequest, campaign: Campaign, criterion_id: int) -> Criterion:
        """Return the criterion."""
        return get_criterion_of(campaign, criterion_id)

    @operation(Scope.EDIT, takes=SentCriterionForm, returns=CriterionShape)
    def patch(self, request: ApiRequest, campaign: Campaign, criterion_id: int) -> Criterion:
        """Change the fields that are sent."""
        found = get_criterion_of(campaign, criterion_id)
        others = list(campaign.criteria.all())
        form = SentCriterionForm(found, sent_to(SentCriterionForm, request, partial=True), others=others)
        save_sent(form, lambda changes: change_criterion(campaign=campaign, criterion=found, changes=changes))
        return get_criterion_of(campaign, criterion_id)

    @operation(Scope.EDIT, returns=DeletedCriterionShape)
    def delete(self, request: ApiRequest, campaign: Campaign, criterion_id: int) -> Any:
        """Delete the criterion, and return what makes it again."""
        get_criterion_of(campaign, criterion_id)
        return delete_criterion(campaign=campaign, criterion_id=criterion_id)


class Order(Resource):
    """The order in which workers see the criteria."""

    @operation(Scope.EDIT, takes=OrderForm, returns=CriterionShape, many="all", fields={"bad_order": "order"})
    def put(self, request: ApiRequest, campaign: Campaign) -> Any:
        """Put all criteria in the order of these ids, or move one `criterion` by a `step`."""
        data = cleaned(OrderForm(sent_to(OrderForm, request)))
        if data["order"]:
            order_criteria(campaign=campaign, order=data["order"])
        else:
            move_criterion(campaign=campaign, criterion_id=data["criterion"], step=data["step"])
        return campaign.criteria.all()
