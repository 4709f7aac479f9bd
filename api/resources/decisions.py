"""Deciding about work and workers: approve, reject, bonus, message, block; ways out of discrepancies and refusals.

What spends money is agreed to by the sum, with fees, that the client has read: `agreed`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from django import forms
from rest_framework import serializers

from annotation.models import PlaceFreed
from annotation.services.assignments import release_assignment
from api.access import ApiRequest
from api.idempotency import token_of
from api.operations import Resource, operation
from api.problems import InvalidFieldsError
from api.resources.payments import (
    DiscrepancyRow,
    DiscrepancyShape,
    OrderRow,
    OrderShape,
    check_filters,
    describe_discrepancy,
    describe_order,
    sees_names,
)
from api.resources.platform import check_has_account
from api.resources.waves import CostShape, Ordered
from api.shapes import cleaned, sent_to
from campaigns.models import Campaign
from campaigns.queries import Role
from crowd.forms.chosen import ChosenForm
from crowd.forms.payments import AgreedForm, BlockForm, BonusForm, MessageForm, RejectForm, ReverseForm
from crowd.models import Submission
from crowd.queries.payments import (
    cost_of,
    get_order_of,
    get_submission_of,
    list_complete,
    pick_submitted,
    pick_undecided,
)
from crowd.queries.publishing import Cost, cost_of_bonuses
from crowd.services.payments import decisions
from crowd.services.payments.orders import order_again, retry_orders_now
from crowd.services.syncing.discrepancies import dismiss_discrepancy
from evalsite.accounts.models import Scope
from evalsite.lib.errors import CONFLICT, DomainError

_TOKEN = "Of your own: sent again, it is done once. An Idempotency-Key takes its place."
_AGREED = "The sum, with fees, that you have read and agree to."


@dataclass(frozen=True)
class Proposal:
    """What would be paid, and what that costs; of what was asked for, how many are left out."""

    submissions: list[int]
    n_left_out: int
    n_with_discrepancy: int
    cost: Cost


class ProposalShape(serializers.Serializer[Proposal]):
    """What would be paid, and what that costs."""

    submissions = serializers.ListField(child=serializers.IntegerField())
    n_left_out = serializers.IntegerField(help_text="Of those that were asked for: nothing can be paid for them.")
    n_with_discrepancy = serializers.IntegerField()
    cost = CostShape()


def _propose(found: list[Submission] | None, payable: list[Submission], cost: Cost) -> Proposal:
    return Proposal(
        [each.pk for each in payable],
        0 if found is None else len(found) - len(payable),
        sum(each.has_open_discrepancy for each in payable),
        cost,
    )


def _chosen(request: ApiRequest, campaign: Campaign, kind: type[ChosenForm] = ChosenForm) -> ChosenForm:
    """Return the valid form of what the address names or filters."""
    check_has_account(campaign)
    form = kind(request.query_params, with_names=sees_names(campaign), has_account=True)
    check_filters(request, form)
    cleaned(form)
    if not form.cleaned_data["matching"] and (unused := form.filters()):  # else all complete work would be meant
        raise InvalidFieldsError({key: ["Send matching=1, too, to choose by this."] for key in unused})
    return form


def _some(found: Iterable[Submission] | None) -> list[Submission]:
    """Return the submissions that were named or filtered; raise InvalidFieldsError if there are none."""
    if some := list(found or []):
        return some
    raise InvalidFieldsError({"submission": ["Name at least one submission in the address, or say which match."]})


# --- About several: those that the address names, or that match, or all that is complete


class AgreedToForm(AgreedForm):
    """The sum that was agreed to."""

    agreed = forms.DecimalField(max_digits=12, decimal_places=2, help_text=_AGREED)


class Approve(Resource):
    """Paying for work."""

    @operation(
        Scope.READ, role=Role.EDITOR, filters=ChosenForm, returns=ProposalShape, refused=CONFLICT, has_names=True
    )
    def get(self, request: ApiRequest, campaign: Campaign) -> Proposal:
        """Return what would be approved and what it costs: by default all complete work that nobody has decided about.

        Else the submissions that are named or, with `matching`, all that the filter finds; of these also work with a
        discrepancy or not complete.
        """
        found = _chosen(request, campaign).read(campaign).submissions
        wanted = list_complete(campaign) if found is None else pick_undecided(found)
        return _propose(found, wanted, cost_of(campaign, wanted))

    @operation(
        Scope.PAY,
        takes=AgreedToForm,
        filters=ChosenForm,
        returns=Ordered,
        status=202,
        refused=CONFLICT,
        has_names=True,
    )
    def post(self, request: ApiRequest, campaign: Campaign) -> Ordered:
        """Approve what reading the same address returns; refused as `cost_changed` if that costs another sum by now."""
        found = _chosen(request, campaign).read(campaign).submissions
        agreed = cleaned(AgreedToForm(sent_to(AgreedToForm, request)))["agreed"]
        wanted = list_complete(campaign) if found is None else pick_undecided(found)
        return Ordered(decisions.approve(campaign=campaign, submissions=wanted, agreed=agreed, user=request.user))


class BonusFilter(ChosenForm):
    """For whom a bonus would be, and how much for each."""

    amount = BonusForm.base_fields["amount"]


class NewBonusForm(BonusForm):
    """A bonus for each of some workers, and the sum that was agreed to."""

    agreed = forms.DecimalField(max_digits=12, decimal_places=2, help_text=_AGREED)
    token = forms.UUIDField(required=False, help_text=_TOKEN)


class Bonus(Resource):
    """Bonuses."""

    @operation(
        Scope.READ, role=Role.EDITOR, filters=BonusFilter, returns=ProposalShape, refused=CONFLICT, has_names=True
    )
    def get(self, request: ApiRequest, campaign: Campaign) -> Proposal:
        """Return who would get a bonus of `amount` and what that costs: those who are named, or who match."""
        form = _chosen(request, campaign, BonusFilter)
        found = _some(form.read(campaign).submissions)
        workers = pick_submitted(found)
        return _propose(found, workers, cost_of_bonuses(campaign, len(workers), form.cleaned_data["amount"]))

    @operation(
        Scope.PAY,
        takes=NewBonusForm,
        filters=ChosenForm,
        returns=Ordered,
        status=202,
        refused=CONFLICT,
        fields={"bad_amount": "amount", "no_reason": "message", "message_too_long": "message"},
        has_names=True,
    )
    def post(self, request: ApiRequest, campaign: Campaign) -> Ordered:
        """Give a bonus to those who are named, or who match; refused as `cost_changed` for another sum."""
        workers = pick_submitted(_some(_chosen(request, campaign).read(campaign).submissions))
        fields = cleaned(NewBonusForm(sent_to(NewBonusForm, request), {}))
        fields["token"] = token_of(request, fields)
        return Ordered(decisions.give_bonus(campaign=campaign, submissions=workers, user=request.user, **fields))


class NewMessageForm(MessageForm):
    """A message to workers."""

    token = forms.UUIDField(required=False, help_text=_TOKEN)


class Message(Resource):
    """Messages."""

    @operation(
        Scope.PAY,
        takes=NewMessageForm,
        filters=ChosenForm,
        returns=Ordered,
        status=202,
        refused=CONFLICT,
        fields={"no_text": "text", "message_too_long": "text"},
        has_names=True,
    )
    def post(self, request: ApiRequest, campaign: Campaign) -> Ordered:
        """Write to the workers of the submissions that are named, or that match; to each once."""
        chosen = _some(_chosen(request, campaign).read(campaign).submissions)
        fields = cleaned(NewMessageForm(sent_to(NewMessageForm, request)))
        fields["token"] = token_of(request, fields)
        return Ordered(decisions.notify(campaign=campaign, submissions=chosen, user=request.user, **fields))


# --- About one


class Reject(Resource):
    """A rejection."""

    @operation(
        Scope.PAY,
        takes=RejectForm,
        returns=OrderShape,
        status=202,
        refused=CONFLICT,
        fields={"no_reason": "message", "message_too_long": "message", "no_category": "category"},
        has_names=True,
    )
    def post(self, request: ApiRequest, campaign: Campaign, submission_id: int) -> OrderRow:
        """Reject work that somebody has checked (`is_sure`), with a message that the worker reads."""
        submission = get_submission_of(campaign, submission_id)
        categories = campaign.crowd_platform.rejection_categories
        fields = cleaned(RejectForm(sent_to(RejectForm, request), categories=categories, initial={}))
        order = decisions.reject(
            campaign=campaign,
            submission=submission,
            message=fields["message"],
            category=fields.get("category", ""),
            user=request.user,
        )
        return describe_order(campaign, order)


class ReverseToForm(ReverseForm, AgreedToForm):
    """A message to the worker, and the sum that was agreed to."""


class Reverse(Resource):
    """The end of a rejection."""

    @operation(
        Scope.PAY,
        takes=ReverseToForm,
        returns=OrderShape,
        status=202,
        refused=CONFLICT,
        fields={"message_too_long": "message"},
        has_names=True,
    )
    def post(self, request: ApiRequest, campaign: Campaign, submission_id: int) -> OrderRow:
        """Take a rejection back: the worker is paid after all. The submission says what that costs."""
        submission = get_submission_of(campaign, submission_id)
        fields = cleaned(ReverseToForm(sent_to(ReverseToForm, request)))
        order = decisions.reverse_rejection(campaign=campaign, submission=submission, user=request.user, **fields)
        return describe_order(campaign, order)


class Block(Resource):
    """A block."""

    @operation(
        Scope.PAY,
        takes=BlockForm,
        returns=OrderShape,
        status=202,
        refused=CONFLICT,
        fields={"no_reason": "reason", "message_too_long": "reason"},
        has_names=True,
    )
    def post(self, request: ApiRequest, campaign: Campaign, submission_id: int) -> OrderRow:
        """Keep the worker of a submission from all further work of this account, in any campaign."""
        worker = get_submission_of(campaign, submission_id).worker
        reason = cleaned(BlockForm(sent_to(BlockForm, request)))["reason"]
        order = decisions.block(campaign=campaign, worker=worker, reason=reason, user=request.user)
        return describe_order(campaign, order)


class Unblock(Resource):
    """The end of a block."""

    @operation(Scope.PAY, returns=OrderShape, status=202, refused=CONFLICT, has_names=True)
    def post(self, request: ApiRequest, campaign: Campaign, submission_id: int) -> OrderRow:
        """Let the worker of a submission come again."""
        worker = get_submission_of(campaign, submission_id).worker
        order = decisions.unblock(campaign=campaign, worker=worker, user=request.user)
        return describe_order(campaign, order)


class Dismiss(Resource):
    """A discrepancy that is none."""

    @operation(Scope.PAY, returns=DiscrepancyShape, refused=CONFLICT, has_names=True)
    def post(self, request: ApiRequest, campaign: Campaign, submission_id: int) -> DiscrepancyRow:
        """Dismiss a discrepancy: complete work is then approved in bulk like all other."""
        dismiss_discrepancy(submission=get_submission_of(campaign, submission_id), user=request.user)
        return describe_discrepancy(campaign, get_submission_of(campaign, submission_id))


class Free(Resource):
    """The place of somebody who submitted before the end."""

    @operation(Scope.EDIT, returns=DiscrepancyShape, refused=CONFLICT, has_names=True)
    def post(self, request: ApiRequest, campaign: Campaign, submission_id: int) -> DiscrepancyRow:
        """Free the place of the assignment here that belongs to a submission; what was rated is kept."""
        assignment = get_submission_of(campaign, submission_id).assignment
        if assignment is None:
            raise DomainError("not_active", "Nobody is working on this here.")
        release_assignment(assignment=assignment, cause=PlaceFreed.RESEARCHER)
        return describe_discrepancy(campaign, get_submission_of(campaign, submission_id))


# --- About orders


class Again(Resource):
    """An order that the platform refused, once more."""

    @operation(Scope.PAY, takes=AgreedToForm, returns=OrderShape, status=202, refused=CONFLICT, has_names=True)
    def post(self, request: ApiRequest, campaign: Campaign, order_id: int) -> OrderRow:
        """Order again what the platform refused, for the amount and the fee that it has."""
        order = get_order_of(campaign, str(order_id))
        agreed: Decimal = cleaned(AgreedToForm(sent_to(AgreedToForm, request)))["agreed"]
        return describe_order(campaign, order_again(order=order, user=request.user, agreed=agreed))


class Retry(Resource):
    """Orders that wait after an error."""

    @operation(Scope.PAY, returns=Ordered, status=202, refused=CONFLICT)
    def post(self, request: ApiRequest, campaign: Campaign) -> Ordered:
        """Have the orders tried at once that wait after an error; each is carried out once."""
        check_has_account(campaign)
        return Ordered(retry_orders_now(campaign=campaign))
