"""What was paid, as rows for accounting. Rows come in chunks: memory does not grow with the campaign."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, TypeVar

from django.db.models import QuerySet

from annotation.export.rows import FINISHED, assignment_chunks, utc_text
from annotation.worker_names import NameWorker
from campaigns.models import Campaign
from crowd.models import Order, Submission
from crowd.queries.payments import approved_by_itself, list_money_orders
from crowd.queries.publishing import cost_of_places

PAYMENT_COLUMNS = (
    *("date", "campaign", "platform", "worker", "hit", "submission", "kind", "amount", "fee", "currency", "state"),
    *("ordered_by", "ordered_at", "message", "completion_code"),
)
REWARD, BONUS = "reward", "bonus"
_KINDS = {Order.Kind.APPROVE: REWARD, Order.Kind.BONUS: BONUS}
_BY_PLATFORM, _NOT_FROM_HERE = "by the platform", "to be paid by you"
_AT_ONCE = 500

_Paid = TypeVar("_Paid", Order, Submission)


def iter_payments(
    campaign: Campaign, *, names: NameWorker, with_ids: bool, only_done: bool
) -> Iterator[tuple[Any, ...]]:
    """Yield rows of PAYMENT_COLUMNS: orders to pay, by id; then rewards that were approved without an order.

    Of a campaign whose platform has no account, every finished assignment and what it is worth. `with_ids` gives the
    platform's ids, completion codes and messages, by which workers could be known. Amounts are text, to the cent.
    """
    if not campaign.crowd_platform.has_account:
        yield from _finished_rows(campaign, names, with_ids)
        return
    for order in _chunked(list_money_orders(campaign, only_done=only_done)):
        yield _order_row(campaign, order, names, with_ids)
    fees: dict[int, Decimal] = {}
    for submission in _chunked(approved_by_itself(campaign)):
        size = submission.posting.n_places
        if size not in fees:
            fees[size] = cost_of_places(campaign, 1, places_per_posting=size).fees
        yield _row(
            campaign,
            date=utc_text(submission.decided_by_itself_at or submission.last_seen_at),
            worker=names(submission.worker),
            submission=submission if with_ids else None,
            hit=submission.hit_number,
            kind=REWARD,
            amount=campaign.reward,
            fee=fees[size],
            state=_BY_PLATFORM,
        )


def _order_row(campaign: Campaign, order: Order, names: NameWorker, with_ids: bool) -> tuple[Any, ...]:
    submission = order.submission
    worker = order.concerned_worker
    return _row(
        campaign,
        date=utc_text(order.done_at or order.ordered_at),
        worker=names(worker) if worker else "",
        submission=submission if with_ids else None,
        hit=submission.hit_number if submission else None,
        kind=_KINDS[Order.Kind(order.kind)],
        amount=order.amount,
        fee=order.fee,
        state=order.state,
        ordered_by=order.ordered_by.email if order.ordered_by else "",
        ordered_at=utc_text(order.ordered_at),
        message=order.message if with_ids else "",
    )


def _finished_rows(campaign: Campaign, names: NameWorker, with_ids: bool) -> Iterator[tuple[Any, ...]]:
    for assignments in assignment_chunks(campaign, FINISHED):
        for each in assignments:
            yield _row(
                campaign,
                date=utc_text(each.ended_at) if each.ended_at else "",
                worker=names(each.worker),
                hit=each.hit.number,
                kind=REWARD,
                amount=campaign.reward,
                fee=Decimal("0.00"),
                state=_NOT_FROM_HERE,
                code=each.completion_code if with_ids else "",
            )


def _row(
    campaign: Campaign,
    *,
    date: str,
    worker: str,
    hit: int | None,
    kind: str,
    amount: Decimal,
    fee: Decimal,
    state: str,
    submission: Submission | None = None,
    ordered_by: str = "",
    ordered_at: str = "",
    message: str = "",
    code: str = "",
) -> tuple[Any, ...]:
    if submission and submission.assignment:
        code = submission.assignment.completion_code
    beginning = (date, campaign.name, campaign.platform, worker, hit, submission.platform_id if submission else "")
    sums = (f"{amount:.2f}", f"{fee:.2f}", campaign.currency)
    return *beginning, kind, *sums, state, ordered_by, ordered_at, message, code


def _chunked(found: QuerySet[_Paid]) -> Iterator[_Paid]:
    """Yield rows by id, some at a time: no cursor stays open on either database."""
    last = 0
    while chunk := list(found.filter(pk__gt=last).order_by("pk")[:_AT_ONCE]):
        yield from chunk
        last = chunk[-1].pk
