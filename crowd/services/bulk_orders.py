"""Many orders of one kind by one call, where the platform has such calls; the rest is left to one call each.

Only orders that nobody has tried are taken. Approvals are asked for, and noted as done once they are seen: a platform
may take minutes. Until then `draft_id` of the order is when it was asked for. Bonuses are set up as one draft, which
is stored with all its orders or with none, and is asked to be paid once, by the job that has set it up.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from itertools import groupby

from django.db import transaction
from django.db.models import Exists, Max, OuterRef, Q, QuerySet
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
from crowd.models import Order, Submission
from crowd.queries import OPEN
from crowd.services.order_states import claim, end_order, try_later
from crowd.services.pacing import Pace

logger = logging.getLogger(__name__)

State, Kind = Order.State, Order.Kind
_FEWEST = 2
NOT_YET = PlatformUnsureError("The platform was asked to approve this with others, and has not done it yet.")


class _TakenError(Exception):
    """Another job has one of the orders."""


def unsettled_s(order: Order, account: CrowdAccount) -> float:
    """Return for how many seconds an approval that was asked for with others may still be on its way."""
    asked_at = datetime.fromisoformat(order.draft_id)
    return account.approvals_settle_s - (timezone.now() - asked_at).total_seconds()


def bonus_of(order: Order) -> BonusSpec:
    """Return the bonus of an order, as the platform is told. One query."""
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


# --- Approvals


def approve_in_bulk(campaign: Campaign, account: CrowdAccount, pace: Pace) -> None:
    """Ask for the approval of untried submissions, and note which of those asked for are approved by now."""
    if account.approvals_at_once < _FEWEST:
        return
    rejected = Order.objects.filter(submission=OuterRef("submission"), kind=Kind.REJECT, state=State.DONE)
    untried = _untried(campaign, Kind.APPROVE).exclude(submission__state=Submission.State.REJECTED)
    waiting: list[Order] = []
    for some in _parts(list(untried.exclude(Exists(rejected))), account.approvals_at_once):
        if len(some) >= _FEWEST:
            waiting += pace.call(partial(_ask_to_approve, account, _claimed(some)))
    known = [order.pk for order in waiting]
    is_due = Q(try_at=None) | Q(try_at__lte=timezone.now())
    asked = Order.objects.filter(is_due, campaign=campaign, kind=Kind.APPROVE, state=State.SENDING)
    before = asked.exclude(draft_id="").exclude(pk__in=known).select_related("submission__posting")
    waiting += _claimed(before.order_by("pk"))
    waiting.sort(key=_posting_of)
    for _, some_waiting in groupby(waiting, key=_posting_of):
        pace.call(partial(_note_approved, account, list(some_waiting)))


def _posting_of(order: Order) -> str:
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
        seen = account.look(_posting_of(orders[0])).submissions
    except PlatformUnsureError as error:
        _postpone(orders, error)
        return
    except PlatformRefusedError:
        seen = ()
    approved = {each.platform_id for each in seen if each.state is SubmissionState.APPROVED}
    for order in orders:
        if order.submission and order.submission.platform_id in approved:
            end_order(order, State.DONE)
        elif unsettled_s(order, account) > 0:
            try_later(order, NOT_YET)
        else:
            _release([order])


# --- Bonuses


def pay_in_bulk(campaign: Campaign, account: CrowdAccount, pace: Pace) -> None:
    """Pay untried bonuses, those of one posting together; who has had one of the same amount is paid by itself."""
    if account.bonuses_at_once < _FEWEST:
        return
    had = Order.objects.filter(
        submission=OuterRef("submission"), kind=Kind.BONUS, amount=OuterRef("amount"), state=State.DONE
    )
    untried = sorted(_untried(campaign, Kind.BONUS).exclude(Exists(had)), key=_posting_of)
    for _, of_posting in groupby(untried, key=_posting_of):
        for some in _parts(list(of_posting), account.bonuses_at_once):
            if len(some) >= _FEWEST:
                pace.call(partial(_pay_together, account, some))


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
