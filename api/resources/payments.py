"""What was paid and what waits: submissions with their pay, totals, orders to the platform, discrepancies, a file."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import StreamingHttpResponse
from django.utils import timezone
from rest_framework import serializers

from annotation.export.encoding import csv_pieces
from annotation.models import Assignment
from annotation.queries import worker_name
from annotation.worker_names import hashed_name, real_name
from api.access import ApiRequest, may
from api.operations import Listed, Resource, UnionRows, operation
from api.problems import InvalidFieldsError
from api.resources.platform import check_has_account
from api.resources.waves import CostShape
from api.shapes import cleaned
from campaigns.models import Campaign
from campaigns.queries import Role, has_role
from crowd.forms.payments import DiscrepancyFilter, OrderFilter, PaymentFileForm, PaymentFilter
from crowd.models import Order, Submission
from crowd.payment_export import PAYMENT_COLUMNS, iter_payments
from crowd.queries.account import is_blocked
from crowd.queries.payment_rows import PaymentRow, get_row, read_rows
from crowd.queries.payments import (
    Totals,
    Wages,
    compare_wages,
    cost_of,
    get_totals,
    list_discrepancies,
    list_orders,
    list_payments,
    list_repeatable,
    read_verdicts,
)
from crowd.queries.publishing import Cost
from evalsite.accounts.models import Scope
from evalsite.lib.acts import note_act
from evalsite.lib.errors import CONFLICT, DomainError
from evalsite.lib.tables.blocks import in_blocks

_NAMES = "For owners with the scope admin; null for all others."


def sees_names(campaign: Campaign) -> bool:
    """Tell whether the workers' own ids are read, and what they could be known by: in operations with `has_names`."""
    return has_role(campaign, Role.EDITOR)


class DecisionShape(serializers.Serializer[Any]):
    """What was or is to be decided about a submission."""

    stage = serializers.ChoiceField(choices=["undecided", "sending", "decided"])
    order = serializers.IntegerField(source="order.pk", allow_null=True, help_text="Null: none of ours.")
    kind = serializers.CharField(source="order.kind", allow_null=True)
    refused_order = serializers.IntegerField(
        source="refused.pk", allow_null=True, help_text="The last try, if the platform refused it."
    )


class BonusesShape(serializers.Serializer[Any]):
    """The bonuses of a submission."""

    paid = serializers.DecimalField(max_digits=None, decimal_places=2)
    sending = serializers.DecimalField(max_digits=None, decimal_places=2)
    is_refused = serializers.BooleanField(help_text="The platform refused the last one.")


@dataclass(frozen=True)
class NamedRow:
    """An assignment with its pay, and what its worker may be called."""

    row: PaymentRow
    worker: str
    platform_id: str | None
    code: str | None
    completion_code: str | None


class PaymentShape(serializers.Serializer[NamedRow]):
    """An assignment here, the submission on the platform that belongs to it, or both."""

    submission = serializers.IntegerField(
        source="row.submission.pk", allow_null=True, help_text="Null: the platform knows of none."
    )
    assignment = serializers.IntegerField(
        source="row.assignment.pk", allow_null=True, help_text="Null: the worker never came here."
    )
    worker = serializers.CharField(help_text="A keyed hash; the worker's own id for owners with the scope admin.")
    hit = serializers.IntegerField(source="row.hit_number", allow_null=True)
    here = serializers.ChoiceField(source="row.assignment.state", choices=Assignment.State.choices, allow_null=True)
    there = serializers.ChoiceField(source="row.submission.state", choices=Submission.State.choices, allow_null=True)
    verdict = serializers.CharField(source="row.verdict", help_text="Of the worker test.")
    minutes = serializers.FloatField(source="row.time.minutes", allow_null=True)
    hourly = serializers.DecimalField(
        source="row.time.hourly", max_digits=None, decimal_places=2, allow_null=True, help_text="Reward per hour."
    )
    missing = serializers.DecimalField(
        source="row.time.missing",
        max_digits=None,
        decimal_places=2,
        allow_null=True,
        help_text="What the wage per hour would add.",
    )
    reward = serializers.DecimalField(
        source="row.reward", max_digits=None, decimal_places=2, allow_null=True, help_text="Paid, or to be paid."
    )
    bonuses = BonusesShape(source="row.bonuses")
    decision = DecisionShape(source="row.decision", allow_null=True)
    is_undecided = serializers.BooleanField(source="row.is_undecided")
    is_reversible = serializers.BooleanField(source="row.is_reversible", help_text="A rejection can be taken back.")
    discrepancy = serializers.ChoiceField(
        source="row.submission.discrepancy", choices=Submission.Discrepancy.choices, allow_null=True
    )
    has_open_discrepancy = serializers.BooleanField(
        source="row.submission.has_open_discrepancy", default=False, help_text="Nobody has dismissed it."
    )
    accepted_at = serializers.DateTimeField(source="row.submission.accepted_at", allow_null=True)
    submitted_at = serializers.DateTimeField(source="row.submission.submitted_at", allow_null=True)
    decided_by_itself_at = serializers.DateTimeField(
        source="row.submission.decided_by_itself_at",
        allow_null=True,
        help_text="When the platform approves what nobody has decided.",
    )
    platform_id = serializers.CharField(allow_null=True, help_text=_NAMES)
    code = serializers.CharField(allow_null=True, help_text=f"As it was submitted. {_NAMES}")
    completion_code = serializers.CharField(allow_null=True, help_text=f"As it was shown. {_NAMES}")


def _named(campaign: Campaign, row: PaymentRow) -> NamedRow:
    shown = sees_names(campaign)
    return NamedRow(
        row,
        worker_name(campaign, row.worker) if row.worker else "",
        platform_id=row.submission.platform_id if shown and row.submission else None,
        code=row.submission.code if shown and row.submission else None,
        completion_code=row.assignment.completion_code if shown and row.assignment else None,
    )


class Payments(Resource):
    """The assignments and what they pay."""

    @operation(Scope.READ, filters=PaymentFilter, returns=PaymentShape, many="pages", has_names=True)
    def get(self, request: ApiRequest, campaign: Campaign) -> Listed:
        """List the assignments that match, newest first. `worker` is for owners with the scope admin."""
        has_account = campaign.crowd_platform.has_account
        form = PaymentFilter(request.query_params, with_names=sees_names(campaign), has_account=has_account)
        check_filters(request, form)
        wage = cleaned(form)["wage"] or campaign.hourly_reward
        verdicts = read_verdicts(campaign, timezone.now())
        return Listed(
            UnionRows(lambda began: list_payments(campaign, **form.filters(), verdicts=verdicts, began=began)),
            ("-at", "-there_id", "-here_id"),
            lambda found: [_named(campaign, row) for row in read_rows(campaign, found, verdicts, wage)],
        )


_OF_PAGES = ("limit", "cursor")


def check_filters(request: ApiRequest, form: forms.Form) -> None:
    """Raise InvalidFieldsError for a filter that the form does not have: nobody is paid because of a typing error."""
    unknown = [name for name in request.query_params if name not in form.fields and name not in _OF_PAGES]
    if unknown:
        raise InvalidFieldsError({name: ["There is no such filter."] for name in unknown})


@dataclass(frozen=True)
class OrderRow:
    """An order, what its worker may be called, and whether it may be given again."""

    order: Order
    worker: str
    can_repeat: bool
    message: str | None
    error: str | None


class OrderShape(serializers.Serializer[OrderRow]):
    """An order to the platform."""

    id = serializers.IntegerField(source="order.pk")
    kind = serializers.ChoiceField(source="order.kind", choices=Order.Kind.choices)
    state = serializers.ChoiceField(source="order.state", choices=Order.State.choices)
    submission = serializers.IntegerField(source="order.submission_id", allow_null=True)
    posting = serializers.IntegerField(source="order.posting_id", allow_null=True)
    worker = serializers.CharField(help_text="A keyed hash; the worker's own id for owners with the scope admin.")
    amount = serializers.DecimalField(source="order.amount", max_digits=None, decimal_places=2)
    fee = serializers.DecimalField(source="order.fee", max_digits=None, decimal_places=2)
    currency = serializers.CharField(source="order.currency")
    category = serializers.CharField(source="order.category")
    ordered_by = serializers.EmailField(source="order.ordered_by.email", allow_null=True, help_text="Null: automatic.")
    ordered_at = serializers.DateTimeField(source="order.ordered_at")
    done_at = serializers.DateTimeField(source="order.done_at", allow_null=True)
    n_tries = serializers.IntegerField(source="order.n_tries")
    try_at = serializers.DateTimeField(source="order.try_at", allow_null=True, help_text="Not to be sent before.")
    is_held_up = serializers.BooleanField(source="order.is_held_up", help_text="It waits after an error.")
    can_repeat = serializers.BooleanField(help_text="It was refused, and may be ordered again.")
    message = serializers.CharField(allow_null=True, help_text=_NAMES)
    error = serializers.CharField(allow_null=True, help_text=f"What the platform said. {_NAMES}")


def describe_orders(campaign: Campaign, orders: Iterable[Order]) -> list[OrderRow]:
    """Return orders as rows of a list. One query."""
    orders, shown = list(orders), sees_names(campaign)
    repeatable = list_repeatable(campaign, orders)
    return [
        OrderRow(
            order,
            worker_name(campaign, order.concerned_worker) if order.concerned_worker else "",
            order.pk in repeatable,
            message=order.message if shown else None,
            error=order.last_error if shown else None,
        )
        for order in orders
    ]


def describe_order(campaign: Campaign, order: Order) -> OrderRow:
    """Return an order as it is now."""
    return describe_orders(campaign, list_orders(campaign).filter(pk=order.pk))[0]


@dataclass(frozen=True)
class OneRow:
    """An assignment of the platform with all that belongs to it."""

    payment: NamedRow
    orders: list[OrderRow]
    is_blocked: bool
    cost: Cost


class OneSubmissionShape(serializers.Serializer[OneRow]):
    """An assignment of the platform with all that was ordered about it."""

    payment = PaymentShape()
    orders = OrderShape(many=True)
    is_blocked = serializers.BooleanField(help_text="Its worker gets no more work of this account.")
    cost = CostShape(help_text="What it costs to pay it, or to take its rejection back.")


class OneSubmission(Resource):
    """One submission."""

    @operation(Scope.READ, returns=OneSubmissionShape, has_names=True)
    def get(self, request: ApiRequest, campaign: Campaign, submission_id: int) -> OneRow:
        """Return what is known of one assignment of the platform, and everything ordered about it."""
        row = get_row(campaign, submission_id, read_verdicts(campaign, timezone.now()))
        assert row.submission
        return OneRow(
            _named(campaign, row),
            describe_orders(campaign, list_orders(campaign).filter(submission=row.submission)),
            is_blocked(campaign, row.submission.worker),
            cost_of(campaign, [row.submission]),
        )


class SpentShape(serializers.Serializer[Any]):
    """What has left the account."""

    n_paid = serializers.IntegerField()
    rewards = serializers.DecimalField(max_digits=None, decimal_places=2)
    n_bonuses = serializers.IntegerField()
    bonuses = serializers.DecimalField(max_digits=None, decimal_places=2)
    fees = serializers.DecimalField(max_digits=None, decimal_places=2)
    total = serializers.DecimalField(max_digits=None, decimal_places=2)
    currency = serializers.CharField()


class TotalsShape(serializers.Serializer[Totals]):
    """What was paid, what is on its way, and what waits for a decision."""

    spent = SpentShape()
    waiting = CostShape(help_text="All complete work that nobody has decided about.")
    n_discrepancies = serializers.IntegerField()
    n_sending = serializers.IntegerField(help_text="Orders that are to be carried out.")
    n_rejected = serializers.IntegerField()
    n_refused = serializers.IntegerField(help_text="Orders that the platform refused.")


class TotalsOf(Resource):
    """The sums of a campaign."""

    @operation(Scope.READ, returns=TotalsShape, refused=CONFLICT)
    def get(self, request: ApiRequest, campaign: Campaign) -> Totals:
        """Return what was paid, what is on its way, and what waits for a decision."""
        check_has_account(campaign)
        return get_totals(campaign)


class WageForm(forms.Form):
    """A wage per hour to compare the reward to."""

    wage = PaymentFilter.base_fields["wage"]


class WagesOf(Resource):
    """What workers earn in an hour."""

    @operation(Scope.READ, filters=WageForm, returns=Wages, refused=CONFLICT)
    def get(self, request: ApiRequest, campaign: Campaign) -> Wages:
        """Return how many finished assignments paid less than a `wage` per hour, and what they lack of it."""
        wage = cleaned(WageForm(request.query_params))["wage"] or campaign.hourly_reward
        if not campaign.reward:
            raise DomainError("no_reward", "The reward of this campaign is 0.")
        if not wage:
            raise InvalidFieldsError({"wage": ["Name a wage per hour."]})
        return compare_wages(campaign, Decimal(wage))


class Orders(Resource):
    """The orders to the platform."""

    @operation(Scope.READ, filters=OrderFilter, returns=OrderShape, many="pages", has_names=True)
    def get(self, request: ApiRequest, campaign: Campaign) -> Listed:
        """List the orders that match, newest first. None is ever deleted."""
        found = list_orders(campaign, **cleaned(OrderFilter(request.query_params)))
        return Listed(found, ("-pk",), lambda orders: describe_orders(campaign, orders))


@dataclass(frozen=True)
class DiscrepancyRow:
    """A submission that does not fit what is here, and what its worker may be called."""

    submission: Submission
    worker: str
    platform_id: str | None
    code: str | None


class DiscrepancyShape(serializers.Serializer[DiscrepancyRow]):
    """A submission that does not fit what happened here."""

    submission = serializers.IntegerField(source="submission.pk")
    assignment = serializers.IntegerField(source="submission.assignment_id", allow_null=True)
    worker = serializers.CharField(help_text="A keyed hash; the worker's own id for owners with the scope admin.")
    hit = serializers.IntegerField(source="submission.hit_number", allow_null=True)
    here = serializers.ChoiceField(
        source="submission.assignment.state", choices=Assignment.State.choices, allow_null=True
    )
    there = serializers.ChoiceField(source="submission.state", choices=Submission.State.choices)
    discrepancy = serializers.ChoiceField(source="submission.discrepancy", choices=Submission.Discrepancy.choices)
    text = serializers.CharField(source="submission.get_discrepancy_display")
    first_seen_at = serializers.DateTimeField(source="submission.first_seen_at")
    dismissed_at = serializers.DateTimeField(source="submission.dismissed_at", allow_null=True)
    dismissed_by = serializers.EmailField(source="submission.dismissed_by.email", allow_null=True)
    platform_id = serializers.CharField(allow_null=True, help_text=_NAMES)
    code = serializers.CharField(allow_null=True, help_text=f"As it was submitted. {_NAMES}")


def describe_discrepancy(campaign: Campaign, submission: Submission) -> DiscrepancyRow:
    """Return a submission as a row of the list. No query."""
    shown = sees_names(campaign)
    return DiscrepancyRow(
        submission,
        worker_name(campaign, submission.worker),
        submission.platform_id if shown else None,
        submission.code if shown else None,
    )


class Discrepancies(Resource):
    """What does not fit between the platform and here."""

    @operation(Scope.READ, filters=DiscrepancyFilter, returns=DiscrepancyShape, many="pages", has_names=True)
    def get(self, request: ApiRequest, campaign: Campaign) -> Listed:
        """List the discrepancies that are open or, with `dismissed`, those that are dismissed; newest first.

        Approve, reject, dismiss, free the place, or write to the worker: nothing of it is done in bulk.
        """
        fields = cleaned(DiscrepancyFilter(request.query_params))
        found = list_discrepancies(campaign, is_dismissed=bool(fields["dismissed"]), kind=fields["kind"])
        return Listed(
            found,
            ("-first_seen_at", "-pk"),
            lambda submissions: [describe_discrepancy(campaign, each) for each in submissions],
        )


class PaymentsFile(Resource):
    """What was paid, for accounting."""

    @operation(Scope.READ, filters=PaymentFileForm, media_type="text/csv")
    def get(self, request: ApiRequest, campaign: Campaign) -> StreamingHttpResponse:
        """Stream the file of the payments page."""
        form = PaymentFileForm(request.query_params)
        cleaned(form)
        if form.has_real_ids and not (campaign.my_role == Role.OWNER and may(request, Scope.ADMIN)):
            raise PermissionDenied("Only owners may take out the workers’ own ids, with a token of the scope “admin”.")
        note_act(is_act=form.has_real_ids)
        names = real_name if form.has_real_ids else hashed_name
        rows = iter_payments(campaign, names=names, with_ids=form.has_real_ids, only_done=form.has_only_done)
        return StreamingHttpResponse(
            csv_pieces(PAYMENT_COLUMNS, in_blocks(rows)),
            content_type="text/csv; charset=utf-8",
            headers={"Cache-Control": "private, no-store"},
        )
