"""Orders to the platform: written down first, claimed by one job at a time, tried again later, ended once."""

import uuid
from collections.abc import Iterable
from datetime import datetime, timedelta
from decimal import Decimal

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from annotation.models import Worker
from campaigns.contracts.account import (
    PlatformUnsureError,
)
from campaigns.models import Campaign
from crowd.models import Order, Posting, Submission
from crowd.queries.payments import OPEN
from crowd.queries.publishing import list_stops
from crowd.services.account import FIRST_PAUSE_S, enqueue_once
from evalsite.accounts.models import User
from evalsite.jobs.timing import LEASE_S
from evalsite.lib.errors import DomainError

State, Kind = Order.State, Order.Kind
# Pauses after a call whose effect is not known double, up to the longest.
LONGEST_PAUSE_S = 600
LONGEST_ERROR = 500
SUBMISSION_STATES = {Kind.APPROVE: Submission.State.APPROVED, Kind.REJECT: Submission.State.REJECTED}
_POSTING_STATES = {
    Kind.PAUSE: Posting.State.PAUSED,
    Kind.RESUME: Posting.State.OPEN,
    Kind.STOP: Posting.State.ENDED,
    Kind.DELETE: Posting.State.GONE,
}


def claim(order: Order) -> bool:
    """Take an order that is due, for as long as a job without a sign of life counts as alive."""
    now = timezone.now()
    due = Order.objects.filter(Q(try_at=None) | Q(try_at__lte=now), pk=order.pk, state__in=OPEN, n_tries=order.n_tries)
    if not due.update(state=State.SENDING, n_tries=F("n_tries") + 1, try_at=now + timedelta(seconds=LEASE_S)):
        return False
    order.n_tries += 1
    return True


def try_later(order: Order, error: PlatformUnsureError) -> None:
    """Let a claimed order wait after a call whose effect is not known, as long as the platform asks for at least."""
    pause_s = min(FIRST_PAUSE_S * 2 ** min(order.n_tries - 1, 20), LONGEST_PAUSE_S)
    at = timezone.now() + timedelta(seconds=max(pause_s, error.retry_after_s or 0))
    # Not if another job has taken it since.
    mine = Order.objects.filter(pk=order.pk, state=State.SENDING, n_tries=order.n_tries)
    mine.update(try_at=at, last_error=str(error)[:LONGEST_ERROR])


@transaction.atomic
def end_order(order: Order, state: str, error: str = "") -> None:
    """Write down what became of an order, unless another job was first."""
    if state == State.DONE and order.kind == Kind.REJECT:
        # Its place may be open there again. Locked before the submission, as by a poll.
        Posting.objects.filter(submissions=order.submission_id).update(poll_at=timezone.now())
    if order.submission_id:  # locked in the same order as by those who place orders
        Submission.objects.select_for_update(no_key=True).get(pk=order.submission_id)
    ended = Order.objects.filter(pk=order.pk, state=State.SENDING).update(
        state=state, done_at=timezone.now(), try_at=None, last_error=error[:LONGEST_ERROR]
    )
    if not ended or state != State.DONE:
        return
    if order.submission_id and order.kind in SUBMISSION_STATES:
        Submission.objects.filter(pk=order.submission_id).update(state=SUBMISSION_STATES[Kind(order.kind)])
    if order.posting_id and order.kind in _POSTING_STATES:
        poll_at = None if order.kind == Kind.DELETE else timezone.now()
        Posting.objects.filter(pk=order.posting_id).update(state=_POSTING_STATES[Kind(order.kind)], poll_at=poll_at)


CARRY_OUT = "crowd.orders"
# After which a posting that was stopped for good could be taken again, or resumed.
_REOPENING = (Kind.ADD_PLACES, Kind.PAUSE, Kind.RESUME)
# Of which a submission has only one in force.
_RIVALS = {
    Kind.APPROVE: (Kind.APPROVE, Kind.REJECT),
    Kind.REJECT: (Kind.APPROVE, Kind.REJECT),
    Kind.ADD_PLACES: (Kind.ADD_PLACES,),
}


@transaction.atomic
def place_orders(*, campaign: Campaign, orders: Iterable[Order]) -> list[Order]:
    """Write orders down and have them carried out once that is committed; the caller has locked what they are about."""
    wanted = list(orders)
    about = {each.worker_id for each in wanted if each.worker_id}
    if Worker.objects.filter(pk__in=about, erased_at__isnull=False).exists():
        raise DomainError("erased", "The worker’s personal data were erased: the platform cannot be given an id.")
    placed = Order.objects.bulk_create(wanted)
    if placed:
        enqueue_once(CARRY_OUT, campaign.pk)
    return placed


@transaction.atomic
def order_again(*, order: Order, user: User, agreed: Decimal | None = None) -> Order:
    """Order again what the platform refused; asked for twice, once.

    `agreed` is the sum, with the fee, that the user has seen; None: any. Raises DomainError `not_refused`, `decided`,
    if the opposite or the same has been ordered since, `stopped` or `cost_changed`.
    """
    refused = Order.objects.select_for_update(of=("self",), no_key=True).select_related("campaign").get(pk=order.pk)
    if refused.state != State.REFUSED:
        raise DomainError("not_refused", "Only what the platform refused can be ordered again.")
    if agreed is not None and agreed != refused.amount + refused.fee:
        raise DomainError(
            "cost_changed", "The cost of this order is not the one that you agreed to. Check the new sum."
        )
    token = uuid.uuid5(refused.token, "again")
    if known := Order.objects.filter(token=token).first():
        return known
    if refused.submission_id:  # locked also for a bonus: orders are carried out in the order of their locks
        Submission.objects.select_for_update(no_key=True).get(pk=refused.submission_id)
        rivals = _RIVALS.get(Kind(refused.kind), ())
        since = Order.objects.filter(submission=refused.submission_id, kind__in=rivals, pk__gt=refused.pk)
        if since.exclude(state=State.REFUSED).exists():
            raise DomainError("decided", "There is a newer order for this submission.")
    if refused.posting_id and refused.kind in _REOPENING:
        posting = Posting.objects.select_for_update(no_key=True).get(pk=refused.posting_id)
        if list_stops(posting.campaign).filter(posting=posting).exists():
            raise DomainError("stopped", "This posting has been stopped since then.")
    copied = ("campaign", "kind", "submission_id", "posting_id", "worker_id", "amount", "fee", "currency")
    fields = {name: getattr(refused, name) for name in (*copied, "n_places", "message", "category")}
    return place_orders(campaign=refused.campaign, orders=[Order(**fields, token=token, ordered_by=user)])[0]


@transaction.atomic
def retry_orders_now(*, campaign: Campaign) -> int:
    """Have the orders tried at once that wait because of an error; return how many."""
    waiting = Order.objects.filter(campaign=campaign, state__in=OPEN).exclude(last_error="")
    if n := waiting.update(try_at=None):
        enqueue_once(CARRY_OUT, campaign.pk)
    return n


def list_due(now: datetime | None = None) -> set[int]:
    """Return the campaigns of which an order is open and may be tried now."""
    now = now or timezone.now()
    due = Order.objects.filter(Q(try_at=None) | Q(try_at__lte=now), state__in=OPEN)
    return set(due.order_by().values_list("campaign", flat=True).distinct())


def enqueue_due_orders() -> None:
    """Have orders carried out that are due: first ones whose job was lost, and those to be tried again."""
    for campaign_id in list_due():
        enqueue_once(CARRY_OUT, campaign_id)
