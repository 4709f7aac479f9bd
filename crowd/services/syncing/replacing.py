"""Offering a HIT once more to replace a worker who failed the worker test, within a budget."""

from datetime import timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from django.db import transaction
from django.db.models import F, Q, QuerySet, Sum
from django.utils import timezone

from analysis.web.queries.campaigns import can_analyse, judging_settings_of
from analysis.web.queries.workers_now import list_live_workers
from annotation.models import Assignment
from campaigns.models import Campaign, Hit
from crowd.models import Order, Posting, Submission, Wave
from crowd.queries.publishing import Cost, cost_of_places, list_stops
from crowd.services.payments.orders import place_orders
from crowd.services.syncing.discrepancies import SUBMITTED_STATES
from evalsite.lib.errors import DomainError

_SWITCH, _CAP = "replace_failed", "budget_cap"
SPENDING_OPTIONS = (_SWITCH, _CAP)
"""The platform's options by which more HITs are offered without anybody's doing."""
_FAILED = "failed"
_REJECTED = Submission.State.REJECTED
_POLL_AFTER = timedelta(seconds=60)  # after the order was sent to the platform
_NOTHING = Decimal("0.00")


def replace_failed(*, campaign: Campaign) -> int:
    """Offer the HITs once more that workers did who have failed the worker test by now; return how many.

    So are HITs whose work was rejected, where the platform itself does not give their places to others.

    Only if the platform's option `replace_failed` is on and the campaign is not closed, and as far as `budget_cap`
    goes, the most that waves and such places may cost together. Each submission is replaced once, ever, and none of a
    posting that was stopped for good. Locks HITs and campaign.
    """
    if campaign.status == Campaign.Status.CLOSED or not _option(campaign, _SWITCH):
        return 0
    workers = (
        list_live_workers(campaign, judging_settings_of(campaign), timezone.now()) if can_analyse(campaign) else []
    )
    failed = {worker.name for worker in workers if worker.conduct.verdict == _FAILED}
    due = [each for each in _replaceable(campaign) if each.state == _REJECTED or each.worker.name in failed]
    return _replace(campaign, due) if due else 0


def _option(campaign: Campaign, name: str) -> Any:
    return campaign.crowd_platform.options.value_of(campaign.platform_settings, name)


def _cap_of(campaign: Campaign) -> Decimal:
    """Return the budget cap; without one that can be read, nothing is spent: who replaces may fail, too, for ever."""
    try:
        return Decimal(str(_option(campaign, _CAP)))
    except (DomainError, InvalidOperation):
        return _NOTHING


def _replaceable(campaign: Campaign) -> list[Submission]:
    """Return the submissions of finished work that were not replaced and can be, in order."""
    ordered = _add_orders(campaign).filter(submission__isnull=False)
    done = [Assignment.State.FINISHED, Assignment.State.REJECTED]
    found = Submission.objects.filter(
        campaign=campaign, state__in=SUBMITTED_STATES, assignment__state__in=done
    ).exclude(pk__in=ordered.values("submission"))
    if campaign.crowd_platform.frees_rejected:  # also where the rejection is still to be noted here
        found = found.exclude(Q(state=_REJECTED) | Q(assignment__state=Assignment.State.REJECTED))
    found = found.exclude(posting__state=Posting.State.GONE).exclude(posting__in=list_stops(campaign).values("posting"))
    return list(found.select_related("worker", "posting", "assignment").order_by("pk"))


@transaction.atomic
def _replace(campaign: Campaign, due: list[Submission]) -> int:
    hit_of = {each.pk: each.assignment.hit_id for each in due if each.assignment}
    # HITs before the campaign, as everywhere.
    list(Hit.objects.select_for_update(no_key=True).filter(pk__in=hit_of.values()).order_by("pk"))
    locked = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    orders = [] if locked.status == Campaign.Status.CLOSED else _orders_within_cap(locked, due)
    for order in orders:
        assert order.submission_id
        Hit.objects.filter(pk=hit_of[order.submission_id]).update(n_places_left=F("n_places_left") + 1)
    postings = Posting.objects.filter(pk__in={order.posting_id for order in orders})
    postings.update(poll_at=timezone.now() + _POLL_AFTER)
    place_orders(campaign=locked, orders=orders)
    return len(orders)


def _orders_within_cap(campaign: Campaign, due: list[Submission]) -> list[Order]:
    """Return an order for each submission that was not replaced meanwhile, as far as the budget goes."""
    left = _cap_of(campaign) - _committed(campaign)
    replaced = set(_add_orders(campaign).filter(submission__in=due).values_list("submission", flat=True))
    orders = []
    for submission in due:
        cost = cost_of_places(campaign, 1, places_per_posting=submission.posting.n_places)
        if submission.pk in replaced or cost.total > left:
            continue
        left -= cost.total
        orders.append(_order(campaign, submission, cost))
    return orders


def _add_orders(campaign: Campaign) -> QuerySet[Order]:
    return Order.objects.filter(campaign=campaign, kind=Order.Kind.ADD_PLACES)


def _committed(campaign: Campaign) -> Decimal:
    """Return what waves and added places cost at most."""
    waves = Wave.objects.filter(campaign=campaign).aggregate(cost=Sum("max_cost"))["cost"]
    orders = _add_orders(campaign).exclude(state=Order.State.REFUSED)
    added = orders.aggregate(cost=Sum(F("amount") + F("fee")))["cost"]
    return (waves or _NOTHING) + (added or _NOTHING)


def _order(campaign: Campaign, submission: Submission, cost: Cost) -> Order:
    return Order(
        campaign=campaign,
        kind=Order.Kind.ADD_PLACES,
        submission=submission,
        posting=submission.posting,
        n_places=1,
        amount=cost.rewards,
        fee=cost.fees,
        currency=cost.currency,
    )
