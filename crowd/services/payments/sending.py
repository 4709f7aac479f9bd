"""Sending orders to the platform, each with one effect, whatever dies in between.

An order is claimed by one UPDATE, which also leases it (`try_at`) for as long as a call may take. No transaction is
open during a call. A job that dies, or hears no answer, leaves its order `sending`; the next try comes with the same
token, and for a bonus with the same draft, so that the platform, which may have done it already, does it once.

Many orders of one kind go by one call where the platform has such calls. Only orders that nobody has tried are taken.
Approvals are asked for, and noted as done once a poll shows them: a platform may take minutes. Until then `draft_id` of
the order is when it was asked for. Bonuses are set up as one draft, which is stored with all its orders or with none,
and is asked to be paid once, by the job that has set it up.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import groupby

from django.db import transaction
from django.db.models import Exists, F, Max, OuterRef, Q, QuerySet
from django.utils import timezone

from campaigns.contracts.account import (
    BonusSpec,
    CrowdAccount,
    DraftLapsedError,
    PlatformRefusedError,
    PlatformUnsureError,
    SubmissionState,
)
from campaigns.models import Campaign
from crowd.models import Order, Posting, Submission
from crowd.queries.payments import OPEN
from crowd.queries.publishing import list_stops
from crowd.services.account import RateLimitedCalls, open_account
from crowd.services.payments.orders import (
    LONGEST_ERROR,
    LONGEST_PAUSE_S,
    SUBMISSION_STATES,
    claim,
    end_order,
    try_later,
)
from crowd.services.syncing.discrepancies import apply_rejections
from evalsite.jobs.handlers import JobContext
from evalsite.lib.errors import DomainError

logger = logging.getLogger(__name__)
State, Kind = Order.State, Order.Kind
# How often one job goes through the open orders, and how long it waits at most to do so again.
ROUNDS, LONGEST_WAIT_S = 5, 5
# A platform may forget a token after a day; what else could tell whether places were added is not known.
TOKENS_LAST = timedelta(hours=20)
_AT_A_TIME = 200
# Fewer of one kind go one by one.
_FEWEST = 2
_NOT_YET = PlatformUnsureError("The platform was asked to approve this with others, and has not done it yet.")


class _TakenError(Exception):
    """Another job has one of the orders."""


def carry_out_orders(ctx: JobContext, campaign: int) -> None:
    """Carry out the open orders of a campaign, in order, those about one thing one after the other.

    What the platform does not answer is tried again after the others, a few times; the rest is left for a later job.
    Two such jobs at once are harmless. Raises DomainError if the account cannot be opened; the orders tell why, and
    wait.
    """
    found = Campaign.objects.get(pk=campaign)
    if not _open_orders(found).exists():
        return
    try:
        account = open_account(found)
    except DomainError as error:
        later = timezone.now() + timedelta(seconds=LONGEST_PAUSE_S)
        _open_orders(found).update(try_at=later, last_error=error.message[:LONGEST_ERROR])
        raise
    calls = RateLimitedCalls()
    _send_open_orders(ctx, found, account, calls)
    for _ in range(ROUNDS - 1):
        wait_s = _next_in_s(found)
        if wait_s is None or wait_s > LONGEST_WAIT_S:
            return
        time.sleep(wait_s)
        _send_open_orders(ctx, found, account, calls)


def _send_open_orders(ctx: JobContext, campaign: Campaign, account: CrowdAccount, calls: RateLimitedCalls) -> None:
    """Try every open order once; many of one kind by one call, where the platform has such calls."""
    approve_in_bulk(campaign, account, calls)
    pay_in_bulk(campaign, account, calls)
    total = _open_orders(campaign).count()
    held: set[tuple[str, int]] = set()
    for n, order in enumerate(_in_order(campaign)):
        ctx.progress(n, max(total, n + 1), "Sending orders")
        subject = _subject_of(order)
        if subject in held or not calls.call(partial(_carry_out, account, order)):
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
            apply_rejections(order.campaign, Submission.objects.filter(pk=order.submission.pk))
    return True


# --- One by one


def _approve(account: CrowdAccount, order: Order) -> None:
    submission = _submission_of(order)
    if order.draft_id and remaining_approval_s(order, account) > 0:
        raise _NOT_YET
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
        raise PlatformRefusedError("stopped", "The posting was stopped: no more places are added.")
    # Places have no draft: their `draft_id` is when they were first asked for.
    Order.objects.filter(pk=order.pk, draft_id="").update(draft_id=timezone.now().isoformat())
    order.refresh_from_db(fields=["draft_id"])
    if datetime.fromisoformat(order.draft_id) < timezone.now() - TOKENS_LAST:
        raise PlatformRefusedError(
            "too_late",
            "It is not known whether the place was added a day ago. Check it on the platform, then order again.",
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


# --- Many by one call


def remaining_approval_s(order: Order, account: CrowdAccount) -> float:
    """Return for how many seconds an approval that was asked for with others may still be on its way."""
    asked_at = datetime.fromisoformat(order.draft_id)
    return account.approvals_take_s - (timezone.now() - asked_at).total_seconds()


def bonus_of(order: Order) -> BonusSpec:
    """Return the bonus of an order, as it is sent to the platform. One query."""
    submission = order.submission
    assert submission is not None
    same = Order.objects.filter(submission=submission, kind=Kind.BONUS, amount=order.amount, state=State.DONE)
    return BonusSpec(
        token=order.token,
        posting_id=submission.posting.platform_id,
        submission_id=submission.platform_id,
        worker_key=submission.worker.key,
        amount=order.amount,
        message=order.message,
        is_repeat=order.n_tries > 1,
        given_at=same.aggregate(at=Max("done_at"))["at"],
    )


def _untried(campaign: Campaign, kind: Order.Kind) -> QuerySet[Order]:
    """Return the orders of a kind that nobody has tried and that wait for no earlier one about their submission."""
    earlier = Order.objects.filter(submission=OuterRef("submission"), pk__lt=OuterRef("pk"), state__in=OPEN)
    found = Order.objects.filter(campaign=campaign, kind=kind, state=State.QUEUED, n_tries=0, try_at=None)
    waits = Exists(earlier.exclude(kind__in=[Kind.NOTIFY, Kind.ADD_PLACES]))
    return found.exclude(waits).select_related("submission__posting", "submission__worker").order_by("pk")


def _parts(orders: list[Order], size: int) -> Iterator[list[Order]]:
    return (orders[start : start + size] for start in range(0, len(orders), size))


def _claimed(orders: Iterable[Order]) -> list[Order]:
    return [order for order in orders if claim(order)]


def _release(orders: Sequence[Order]) -> None:
    """Leave orders, of which nothing was done, to one call each."""
    for order in orders:
        mine = Order.objects.filter(pk=order.pk, state=State.SENDING, n_tries=order.n_tries)
        mine.update(draft_id="", try_at=None)


def _postpone(orders: Sequence[Order], error: PlatformUnsureError) -> None:
    for order in orders:
        try_later(order, error)


def approve_in_bulk(campaign: Campaign, account: CrowdAccount, calls: RateLimitedCalls) -> None:
    """Ask for the approval of untried submissions, and note which of those asked for are approved by now."""
    if account.approvals_at_once < _FEWEST:
        return
    rejected = Order.objects.filter(submission=OuterRef("submission"), kind=Kind.REJECT, state=State.DONE)
    untried = _untried(campaign, Kind.APPROVE).exclude(submission__state=Submission.State.REJECTED)
    waiting: list[Order] = []
    for some in _parts(list(untried.exclude(Exists(rejected))), account.approvals_at_once):
        if len(some) >= _FEWEST:
            waiting += calls.call(partial(_ask_to_approve, account, _claimed(some)))
    known = [order.pk for order in waiting]
    is_due = Q(try_at=None) | Q(try_at__lte=timezone.now())
    asked = Order.objects.filter(is_due, campaign=campaign, kind=Kind.APPROVE, state=State.SENDING)
    before = asked.exclude(draft_id="").exclude(pk__in=known).select_related("submission__posting")
    waiting += _claimed(before.order_by("pk"))
    waiting.sort(key=_posting_id_of)
    for _, some_waiting in groupby(waiting, key=_posting_id_of):
        calls.call(partial(_note_approved, account, list(some_waiting)))


def _posting_id_of(order: Order) -> str:
    assert order.submission is not None
    return order.submission.posting.platform_id


def _ask_to_approve(account: CrowdAccount, orders: list[Order]) -> list[Order]:
    """Ask once for the approval of claimed orders; return those that are to be looked for."""
    asked_at = timezone.now().isoformat()
    for order in orders:
        Order.objects.filter(pk=order.pk, state=State.SENDING, n_tries=order.n_tries).update(draft_id=asked_at)
        order.draft_id = asked_at
    try:
        account.approve_all([order.submission.platform_id for order in orders if order.submission])
    except PlatformUnsureError as error:
        _postpone(orders, error)
    except PlatformRefusedError as error:
        logger.warning("%d submissions are approved one by one: %s", len(orders), error.code)
        _release(orders)
    else:
        return orders
    return []


def _note_approved(account: CrowdAccount, orders: list[Order]) -> None:
    """Look at the posting of claimed orders, and end those whose submissions are approved."""
    try:
        seen = account.poll(_posting_id_of(orders[0])).submissions
    except PlatformUnsureError as error:
        _postpone(orders, error)
        return
    except PlatformRefusedError:
        seen = ()
    approved = {each.platform_id for each in seen if each.state is SubmissionState.APPROVED}
    for order in orders:
        if order.submission and order.submission.platform_id in approved:
            end_order(order, State.DONE)
        elif remaining_approval_s(order, account) > 0:
            try_later(order, _NOT_YET)
        else:
            _release([order])


def pay_in_bulk(campaign: Campaign, account: CrowdAccount, calls: RateLimitedCalls) -> None:
    """Pay untried bonuses, those of one posting together; who has had one of the same amount is paid by itself."""
    if account.bonuses_at_once < _FEWEST:
        return
    had = Order.objects.filter(
        submission=OuterRef("submission"), kind=Kind.BONUS, amount=OuterRef("amount"), state=State.DONE
    )
    untried = sorted(_untried(campaign, Kind.BONUS).exclude(Exists(had)), key=_posting_id_of)
    for _, of_posting in groupby(untried, key=_posting_id_of):
        for some in _parts(list(of_posting), account.bonuses_at_once):
            if len(some) >= _FEWEST:
                calls.call(partial(_pay_together, account, some))


def _pay_together(account: CrowdAccount, untried: Sequence[Order]) -> None:
    orders = _claimed(untried)
    if not orders:
        return
    bonuses = [bonus_of(order) for order in orders]
    try:
        draft_ids = account.draft_bonuses(bonuses)
        _store_drafts(orders, draft_ids)
        account.pay_bonuses(bonuses, draft_ids)
    except DraftLapsedError as error:
        for order in orders:
            Order.objects.filter(pk=order.pk, draft_id=order.draft_id).update(draft_id="")
        _postpone(orders, error)
    except PlatformUnsureError as error:
        _postpone(orders, error)
    except PlatformRefusedError as error:
        logger.warning("%d bonuses are paid one by one: %s", len(orders), error.code)
        _release(orders)
    except _TakenError:
        _release(orders)
    else:
        for order in orders:
            end_order(order, State.DONE)


@transaction.atomic
def _store_drafts(orders: Sequence[Order], draft_ids: Sequence[str]) -> None:
    """Store the drafts with all orders; raise _TakenError, and store none, if another job has one of them by now.

    What was drafted then costs nothing and is never paid.
    """
    for order, draft_id in zip(orders, draft_ids, strict=True):
        mine = Order.objects.filter(pk=order.pk, state=State.SENDING, n_tries=order.n_tries, draft_id="")
        if not mine.update(draft_id=draft_id):
            raise _TakenError
        order.draft_id = draft_id
