"""Orders to the platform: written down first, then carried out, each with one effect, whatever dies in between.

An order is claimed by one UPDATE, which also leases it (`try_at`) for as long as a call may take. No transaction is
open during a call. A job that dies, or hears no answer, leaves its order `sending`; the next try comes with the same
token, and for a bonus with the same draft, so that the platform, which may have done it already, does it once.
"""

import logging
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from functools import partial

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from campaigns.contracts.account import (
    CrowdAccount,
    DraftLapsedError,
    PlatformRefusedError,
    PlatformUnsureError,
)
from campaigns.models import Campaign
from crowd.accounts import open_account
from crowd.models import Order, Posting, Submission
from crowd.queries import OPEN, list_stops
from crowd.services.bulk_orders import NOT_YET, approve_in_bulk, bonus_of, pay_in_bulk, unsettled_s
from crowd.services.order_states import (
    LONGEST_ERROR,
    LONGEST_PAUSE_S,
    SUBMISSION_STATES,
    claim,
    end_order,
    try_later,
)
from crowd.services.pacing import Pace
from crowd.services.queueing import ask_for
from crowd.services.rejecting import settle_rejections
from evalsite.accounts.models import User
from evalsite.jobs.handlers import JobContext
from evalsite.lib.errors import DomainError

logger = logging.getLogger(__name__)

CARRY_OUT = "crowd.orders"
State, Kind = Order.State, Order.Kind
# How often one job goes through the open orders, and how long it waits at most to do so again.
ROUNDS, LONGEST_WAIT_S = 5, 5
# A platform may forget a token after a day; what else could tell whether places were added is not known.
TOKENS_LAST = timedelta(hours=20)
_AT_A_TIME = 200
# After which a posting that was stopped for good could be taken again, or resumed.
_REOPENING = (Kind.ADD_PLACES, Kind.PAUSE, Kind.RESUME)
# Of which a submission has only one that stands.
_RIVALS = {
    Kind.APPROVE: (Kind.APPROVE, Kind.REJECT),
    Kind.REJECT: (Kind.APPROVE, Kind.REJECT),
    Kind.ADD_PLACES: (Kind.ADD_PLACES,),
}


@transaction.atomic
def place_orders(*, campaign: Campaign, orders: Iterable[Order]) -> list[Order]:
    """Write orders down and have them carried out once that is committed; the caller has locked what they are about."""
    placed = Order.objects.bulk_create(orders)
    if placed:
        ask_for(CARRY_OUT, campaign.pk)
    return placed


@transaction.atomic
def order_again(*, order: Order, user: User) -> Order:
    """Order anew what the platform refused; asked for twice, once.

    Raises DomainError `not_refused`, `decided`, if the opposite or the same has been ordered since, or `stopped`.
    """
    refused = Order.objects.select_for_update(of=("self",), no_key=True).select_related("campaign").get(pk=order.pk)
    if refused.state != State.REFUSED:
        raise DomainError("not_refused", "Only what the platform refused can be ordered again.")
    token = uuid.uuid5(refused.token, "again")
    if known := Order.objects.filter(token=token).first():
        return known
    if refused.submission_id:  # locked also for a bonus: whoever is first has the order that is carried out first
        Submission.objects.select_for_update(no_key=True).get(pk=refused.submission_id)
        rivals = _RIVALS.get(Kind(refused.kind), ())
        since = Order.objects.filter(submission=refused.submission_id, kind__in=rivals, pk__gt=refused.pk)
        if since.exclude(state=State.REFUSED).exists():
            raise DomainError("decided", "Something else has been ordered about this submission since.")
    if refused.posting_id and refused.kind in _REOPENING:
        posting = Posting.objects.select_for_update(no_key=True).get(pk=refused.posting_id)
        if list_stops(posting.campaign).filter(posting=posting).exists():
            raise DomainError("stopped", "This posting has been stopped for good since.")
    copied = ("campaign", "kind", "submission_id", "posting_id", "worker_id", "amount", "fee", "currency")
    fields = {name: getattr(refused, name) for name in (*copied, "n_places", "message", "category")}
    return place_orders(campaign=refused.campaign, orders=[Order(**fields, token=token, ordered_by=user)])[0]


@transaction.atomic
def hurry_orders(*, campaign: Campaign) -> int:
    """Have the orders tried at once that wait because of an error; return how many."""
    waiting = Order.objects.filter(campaign=campaign, state__in=OPEN).exclude(last_error="")
    if n := waiting.update(try_at=None):
        ask_for(CARRY_OUT, campaign.pk)
    return n


def list_due(now: datetime | None = None) -> set[int]:
    """Return the campaigns of which an order is open and may be tried now."""
    now = now or timezone.now()
    due = Order.objects.filter(Q(try_at=None) | Q(try_at__lte=now), state__in=OPEN)
    return set(due.order_by().values_list("campaign", flat=True).distinct())


def carry_out_orders(ctx: JobContext, campaign_id: int) -> None:
    """Carry out the open orders of a campaign, in order, those about one thing one after the other.

    What the platform does not answer is tried again after the others, a few times; the rest is left for a later job.
    Two such jobs at once are harmless. Raises DomainError if the account cannot be opened; the orders tell why, and
    wait.
    """
    campaign = Campaign.objects.get(pk=campaign_id)
    if not _open_orders(campaign).exists():
        return
    try:
        account = open_account(campaign)
    except DomainError as error:
        later = timezone.now() + timedelta(seconds=LONGEST_PAUSE_S)
        _open_orders(campaign).update(try_at=later, last_error=error.message[:LONGEST_ERROR])
        raise
    pace = Pace()
    _go_through(ctx, campaign, account, pace)
    for _ in range(ROUNDS - 1):
        wait_s = _next_in_s(campaign)
        if wait_s is None or wait_s > LONGEST_WAIT_S:
            return
        time.sleep(wait_s)
        _go_through(ctx, campaign, account, pace)


def _go_through(ctx: JobContext, campaign: Campaign, account: CrowdAccount, pace: Pace) -> None:
    """Try every open order once; many of one kind by one call, where the platform has such calls."""
    approve_in_bulk(campaign, account, pace)
    pay_in_bulk(campaign, account, pace)
    total = _open_orders(campaign).count()
    held: set[tuple[str, int]] = set()
    for n, order in enumerate(_in_order(campaign)):
        ctx.progress(n, max(total, n + 1), "Telling the platform")
        subject = _subject_of(order)
        if subject in held or not pace.call(partial(_carry_out, account, order)):
            held.add(subject)


def _open_orders(campaign: Campaign) -> QuerySet[Order]:
    return Order.objects.filter(campaign=campaign, state__in=OPEN)


def _next_in_s(campaign: Campaign) -> float | None:
    """Return in how many seconds the first open order may be tried; None if none is open."""
    if not (first := _open_orders(campaign).order_by(F("try_at").asc(nulls_first=True)).first()):
        return None
    return max(0.0, (first.try_at - timezone.now()).total_seconds()) if first.try_at else 0.0


def _in_order(campaign: Campaign) -> Iterator[Order]:
    """Yield the open orders, also those that are placed meanwhile."""
    last = 0
    orders = (
        _open_orders(campaign)
        .order_by("pk")
        .select_related("campaign", "submission__posting", "submission__worker", "posting", "worker")
    )
    while some := list(orders.filter(pk__gt=last)[:_AT_A_TIME]):
        yield from some
        last = some[-1].pk


def _subject_of(order: Order) -> tuple[str, int]:
    """Return what an order is about: a later one about the same waits for it."""
    if order.submission_id and order.kind not in (Kind.NOTIFY, Kind.ADD_PLACES):
        return "submission", order.submission_id
    if order.posting_id and order.kind != Kind.NOTIFY:
        return "posting", order.posting_id
    return "worker", order.worker_id or 0


def _carry_out(account: CrowdAccount, order: Order) -> bool:
    """Claim an order and carry it out; return False if it stays open, here or in the hands of another job.

    Each try is claimed by itself, so that the row knows of it before the platform does.
    """
    if not claim(order):
        return False
    try:
        _CALLS[order.kind](account, order)
    except PlatformUnsureError as error:
        try_later(order, error)
        return False
    except PlatformRefusedError as error:
        logger.warning("order %d (%s) is refused: %s", order.pk, order.kind, error.code)
        end_order(order, State.REFUSED, error.message)
    else:
        end_order(order, State.DONE)
        if order.submission and order.kind in SUBMISSION_STATES:
            settle_rejections(order.campaign, Submission.objects.filter(pk=order.submission.pk))
    return True


# --- Telling the platform


def _approve(account: CrowdAccount, order: Order) -> None:
    submission = _submission_of(order)
    if order.draft_id and unsettled_s(order, account) > 0:
        raise NOT_YET
    rejected = Order.objects.filter(submission=submission, kind=Kind.REJECT, state=State.DONE).exists()
    account.approve(
        submission.platform_id,
        order.message,
        was_rejected=rejected or submission.state == Submission.State.REJECTED,
    )


def _reject(account: CrowdAccount, order: Order) -> None:
    account.reject(_submission_of(order).platform_id, order.message, order.category)


def _pay_bonus(account: CrowdAccount, order: Order) -> None:
    bonus = bonus_of(order)
    order.refresh_from_db(fields=["draft_id"])
    if not order.draft_id:
        draft_id = account.draft_bonus(bonus)
        Order.objects.filter(pk=order.pk, draft_id="").update(draft_id=draft_id)
        order.refresh_from_db(fields=["draft_id"])  # of two jobs, both pay the draft of the one that stored its own
    try:
        account.pay_bonus(bonus, order.draft_id)
    except DraftLapsedError:
        Order.objects.filter(pk=order.pk, draft_id=order.draft_id).update(draft_id="")
        raise


def _add_places(account: CrowdAccount, order: Order) -> None:
    posting = _posting_of(order)
    if list_stops(posting.campaign).filter(posting=posting).exists():
        raise PlatformRefusedError("stopped", "The posting was stopped for good: no place is added any more.")
    # Places have no draft: their `draft_id` is when they were first asked for.
    Order.objects.filter(pk=order.pk, draft_id="").update(draft_id=timezone.now().isoformat())
    order.refresh_from_db(fields=["draft_id"])
    if datetime.fromisoformat(order.draft_id) < timezone.now() - TOKENS_LAST:
        raise PlatformRefusedError(
            "too_late", "It is not known whether the place was added a day ago. Look at the platform, then order again."
        )
    account.add_places(posting.platform_id, order.n_places or 1, order.token)


def _notify(account: CrowdAccount, order: Order) -> None:
    subject, _, text = order.message.partition("\n\n")
    account.notify([_worker_key_of(order)], subject, text, _posting_of(order).platform_id)


def _submission_of(order: Order) -> Submission:
    assert order.submission is not None
    return order.submission


def _posting_of(order: Order) -> Posting:
    return order.posting or _submission_of(order).posting


def _worker_key_of(order: Order) -> str:
    return order.worker.key if order.worker else _submission_of(order).worker.key


_CALLS: dict[str, Callable[[CrowdAccount, Order], None]] = {
    Kind.APPROVE: _approve,
    Kind.REJECT: _reject,
    Kind.BONUS: _pay_bonus,
    Kind.ADD_PLACES: _add_places,
    Kind.NOTIFY: _notify,
    Kind.BLOCK: lambda account, order: account.block(_worker_key_of(order), order.message),
    Kind.UNBLOCK: lambda account, order: account.unblock(_worker_key_of(order)),
    Kind.PAUSE: lambda account, order: account.pause(_posting_of(order).platform_id),
    Kind.RESUME: lambda account, order: account.resume(_posting_of(order).platform_id),
    Kind.STOP: lambda account, order: account.stop(_posting_of(order).platform_id),
    Kind.DELETE: lambda account, order: account.delete(_posting_of(order).platform_id),
}
