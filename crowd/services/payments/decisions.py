"""What a researcher orders about submissions, workers and postings. Each writes orders down; a job carries them out.

Rules are checked under a lock on what the orders are about, so that of two people who decide at once the second sees
what the first has ordered. Whatever is asked for twice, with the same token or about the same submission, is ordered
once.
"""

import uuid
from collections.abc import Iterable
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from annotation.models import Worker
from campaigns.models import Campaign
from crowd.models import Order, Posting, Submission
from crowd.queries.account import is_blocked
from crowd.queries.payments import OPEN, cost_of, list_payable
from crowd.queries.publishing import cost_of_bonuses, cost_of_places, fee_of_bonus
from crowd.services.payments.orders import place_orders
from crowd.services.syncing.discrepancies import dismiss_discrepancies
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError

State, Kind = Submission.State, Order.Kind
FEWEST_WORDS, LONGEST_MESSAGE = 3, 1024
LONGEST_SUBJECT, LONGEST_TEXT = 200, 4000
HIGHEST_BONUS = Decimal("1000.00")
_CENT = Decimal("0.01")
_ACTS = {  # and the states in which each makes sense
    Kind.PAUSE: (Posting.State.OPEN,),
    Kind.RESUME: (Posting.State.PAUSED,),
    Kind.STOP: (Posting.State.OPEN, Posting.State.PAUSED),
    Kind.DELETE: (Posting.State.ENDED,),
}


@transaction.atomic
def approve(
    *,
    campaign: Campaign,
    submissions: Iterable[Submission] | None = None,
    user: User | None,
    message: str = "",
    agreed: Decimal | None = None,
) -> int:
    """Order the reward of submissions, by default of all complete work that nobody has decided; return of how many.

    Those that are approved already, or about to be, are skipped. With that, their discrepancies are dismissed. `agreed`
    is the sum, with fees, that the user has seen; None: any. Raises DomainError `not_submitted`, `rejected`,
    `message_too_long`, `other_campaign` or `cost_changed`.
    """
    message = _clean(message)
    found = _locked(list_payable(campaign)) if submissions is None else _named(campaign, submissions)
    orders = _decisions(found)
    if submissions is None:
        chosen = [each for each in found if each.pk not in orders]  # decided while we waited for the lock
    else:
        chosen = [each for each in found if _is_to_be_approved(each, orders.get(each.pk, []))]
    if agreed is not None and (not chosen or cost_of(campaign, chosen).total != agreed):
        raise DomainError(
            "cost_changed", "The assignments to approve have changed since you saw the sum. Check the new sum."
        )
    dismiss_discrepancies(submissions=found, user=user)
    sizes = {each.posting.n_places for each in chosen}
    fees = {n: cost_of_places(campaign, 1, places_per_posting=n).fees for n in sizes}
    placed = place_orders(
        campaign=campaign,
        orders=[
            _about(Kind.APPROVE, each, user, message, amount=campaign.reward, fee=fees[each.posting.n_places])
            for each in chosen
        ],
    )
    return len(placed)


def _is_to_be_approved(submission: Submission, orders: list[Order]) -> bool:
    """Return whether an approval is to be ordered; raise DomainError if it must not be."""
    if submission.state == State.APPROVED or any(order.kind == Kind.APPROVE for order in orders):
        return False
    if submission.state == State.REJECTED or orders:
        raise DomainError("rejected", f"{_called(submission)} has been rejected. Take the rejection back instead.")
    _check_submitted(submission)
    return True


@transaction.atomic
def reject(*, campaign: Campaign, submission: Submission, message: str, category: str = "", user: User | None) -> Order:
    """Order that a submission is not paid, and tell the worker why; again, return the order that is in force.

    With that, its discrepancy is dismissed. Raises DomainError `not_submitted`, `approved`, `no_reason`, `no_category`,
    `message_too_long` or `other_campaign`.
    """
    message = _clean(message)
    if len(message.split()) < FEWEST_WORDS:
        raise DomainError("no_reason", "Tell the worker in a sentence why their work is rejected.")
    shortest = campaign.crowd_platform.shortest_rejection
    if len(message) < shortest:
        n = len(message)
        raise DomainError("no_reason", f"The platform asks for at least {shortest} characters; these are {n}.")
    _check_category(campaign, category)
    (found,) = _named(campaign, [submission])
    orders = _decisions([found]).get(found.pk, [])
    if found.state == State.APPROVED or any(order.kind == Kind.APPROVE for order in orders):
        raise DomainError("approved", f"{_called(found)} has been approved, which cannot be taken back.")
    dismiss_discrepancies(submissions=[found], user=user)
    if orders:
        return orders[0]
    _check_submitted(found)
    order = _about(Kind.REJECT, found, user, message, category=category)
    return place_orders(campaign=campaign, orders=[order])[0]


def _check_category(campaign: Campaign, category: str) -> None:
    known = [value for value, _ in campaign.crowd_platform.rejection_categories]
    if (category or known) and category not in known:
        raise DomainError("no_category", "Choose the category of the rejection; the platform asks for one.")


@transaction.atomic
def reverse_rejection(
    *,
    campaign: Campaign,
    submission: Submission,
    message: str = "",
    user: User | None,
    agreed: Decimal | None = None,
) -> Order:
    """Order that a rejected submission is approved after all; again, return the order that is in force.

    Also one that was rejected from here, and waits for a decision there again: it cannot be approved otherwise.
    `agreed` is the sum, with fees, that the user has seen; None: any. Raises DomainError `not_rejected`,
    `message_too_long`, `other_campaign` or `cost_changed`.
    """
    message = _clean(message)
    (found,) = _named(campaign, [submission])
    orders = _decisions([found]).get(found.pk, [])
    if ordered := [order for order in orders if order.kind == Kind.APPROVE]:
        return ordered[0]
    was_rejected = any(order.state == Order.State.DONE for order in orders)
    if found.state != State.REJECTED and not (was_rejected and found.state == State.SUBMITTED):
        raise DomainError("not_rejected", f"{_called(found)} is not rejected on the platform.")
    fee = cost_of_places(campaign, 1, places_per_posting=found.posting.n_places).fees
    if agreed is not None and agreed != campaign.reward + fee:
        raise DomainError("cost_changed", "The reward has changed since you agreed to the sum. Check the new sum.")
    order = _about(Kind.APPROVE, found, user, message, amount=campaign.reward, fee=fee)
    return place_orders(campaign=campaign, orders=[order])[0]


@transaction.atomic
def give_bonus(
    *,
    campaign: Campaign,
    submissions: Iterable[Submission],
    amount: Decimal,
    message: str,
    token: UUID,
    user: User | None,
    agreed: Decimal | None = None,
) -> int:
    """Order a bonus of `amount` for each submission; return how many are new. `token` is of the form: sent twice, once.

    `agreed` is the sum, with fees, that the user has seen; None: any. Raises DomainError `bad_amount`, `no_reason`,
    `message_too_long`, `not_submitted`, `other_campaign` or `cost_changed`.
    """
    message = _clean(message)
    if not (amount.is_finite() and 0 < amount <= HIGHEST_BONUS and amount == amount.quantize(_CENT)):
        raise DomainError("bad_amount", f"A bonus is between {_CENT} and {HIGHEST_BONUS}, in whole cents.")
    if not message:
        raise DomainError("no_reason", "Tell the workers what the bonus is for.")
    found = _named(campaign, submissions)
    for each in found:
        if each.state not in (State.SUBMITTED, State.APPROVED, State.REJECTED):
            raise DomainError("not_submitted", f"{_called(each)} has not been submitted: it gets no bonus.")
    if agreed is not None and agreed != cost_of_bonuses(campaign, len(found), amount).total:
        raise DomainError(
            "cost_changed", "The sum of these bonuses is not the one that you agreed to. Check the new sum."
        )
    tokens = {uuid.uuid5(token, str(each.pk)): each for each in found}
    known = set(Order.objects.filter(token__in=tokens).values_list("token", flat=True))
    fee = fee_of_bonus(campaign, amount)
    placed = place_orders(
        campaign=campaign,
        orders=[
            _about(Kind.BONUS, each, user, message, amount=amount, fee=fee, token=own)
            for own, each in tokens.items()
            if own not in known
        ],
    )
    return len(placed)


@transaction.atomic
def notify(
    *,
    campaign: Campaign,
    submissions: Iterable[Submission],
    subject: str,
    text: str,
    token: UUID,
    user: User | None,
) -> int:
    """Order a message to the workers of submissions, one for each worker; return how many are new.

    `token` is of the form: sent twice, once. Raises DomainError `no_text`, `message_too_long` or `other_campaign`.
    """
    subject, text = " ".join(_clean(subject, LONGEST_SUBJECT).split()), _clean(text, LONGEST_TEXT)
    if not subject or not text:
        raise DomainError("no_text", "A message has a subject and a text.")
    by_worker = {each.worker_id: each for each in reversed(_named(campaign, submissions))}
    tokens = {uuid.uuid5(token, str(worker)): each for worker, each in by_worker.items()}
    known = set(Order.objects.filter(token__in=tokens).values_list("token", flat=True))
    new = [(own, each) for own, each in tokens.items() if own not in known]
    message = f"{subject}\n\n{text}"
    return len(
        place_orders(
            campaign=campaign, orders=[_about(Kind.NOTIFY, each, user, message, token=own) for own, each in new]
        )
    )


@transaction.atomic
def block(*, campaign: Campaign, worker: Worker, reason: str, user: User | None) -> Order:
    """Order that a worker gets no more work of this account. Raises DomainError `no_reason` or `already_so`."""
    reason = _clean(reason)
    if not reason:
        raise DomainError("no_reason", "Say why the worker is blocked.")
    return _order_about_worker(campaign, Kind.BLOCK, worker, reason, user)


@transaction.atomic
def unblock(*, campaign: Campaign, worker: Worker, user: User | None) -> Order:
    """Order that a blocked worker may come again. Raises DomainError `already_so`."""
    return _order_about_worker(campaign, Kind.UNBLOCK, worker, "", user)


def _order_about_worker(campaign: Campaign, kind: Order.Kind, worker: Worker, reason: str, user: User | None) -> Order:
    Worker.objects.select_for_update(no_key=True).get(pk=worker.pk)
    if is_blocked(campaign, worker) == (kind == Kind.BLOCK):
        raise DomainError("already_so", f"This worker is {'blocked' if kind == Kind.BLOCK else 'not blocked'} already.")
    order = Order(campaign=campaign, kind=kind, worker=worker, message=reason, ordered_by=user)
    return place_orders(campaign=campaign, orders=[order])[0]


@transaction.atomic
def act_on_postings(
    *, campaign: Campaign, act: str, postings: Iterable[Posting] | None = None, user: User | None
) -> int:
    """Order to pause, resume, stop or delete postings, by default all that are in a state for it; return how many.

    `act` is a kind of Order. Raises DomainError `wrong_state` if one that is named is in no state for it,
    `undecided` if submissions of one that is to be deleted are, `stays_there` if the platform deletes nothing, and
    `unknown_act`.
    """
    if act not in _ACTS:
        raise DomainError("unknown_act", "Postings can be paused, resumed, stopped and deleted.")
    platform = campaign.crowd_platform
    if act == Kind.DELETE and not platform.deletes_postings:
        raise DomainError("stays_there", f"What was published on {platform.title} cannot be deleted there.")
    wanted = Posting.objects.filter(campaign=campaign)
    if postings is not None:
        wanted = wanted.filter(pk__in=[each.pk for each in postings])
    found = list(wanted.select_for_update(no_key=True).order_by("pk"))
    busy = set(
        Order.objects.filter(posting__in=found, kind__in=list(_ACTS), state__in=OPEN).values_list("posting", flat=True)
    )
    undecided = Submission.objects.filter(posting__in=found, state__in=[State.ACTIVE, State.SUBMITTED])
    kept = set(undecided.values_list("posting", flat=True)) if act == Kind.DELETE else set()
    if postings is not None:
        for each in found:
            _check_act(each, act, is_busy=each.pk in busy, is_kept=each.pk in kept)
    ready = [each for each in found if each.state in _ACTS[Kind(act)] and each.pk not in busy | kept]
    orders = [Order(campaign=campaign, kind=act, posting=each, ordered_by=user) for each in ready]
    return len(place_orders(campaign=campaign, orders=orders))


def _check_act(posting: Posting, act: str, *, is_busy: bool, is_kept: bool) -> None:
    if is_busy:
        raise DomainError("wrong_state", f"{posting} is about to be changed already. Look again in a moment.")
    if posting.state not in _ACTS[Kind(act)]:
        state = posting.get_state_display().lower()
        raise DomainError("wrong_state", f"{posting} is “{state}”: {Kind(act).label.lower()} it is not possible.")
    if is_kept:
        raise DomainError("undecided", f"Decide about all submissions of {posting} before you delete it.")


def _named(campaign: Campaign, submissions: Iterable[Submission]) -> list[Submission]:
    """Return submissions of the campaign, locked, as they are now; raise DomainError `other_campaign`."""
    wanted = {each.pk for each in submissions}
    found = _locked(Submission.objects.filter(campaign=campaign, pk__in=wanted))
    if len(found) != len(wanted):
        raise DomainError("other_campaign", "Not all of these submissions are of this campaign.")
    return found


def _locked(submissions: QuerySet[Submission]) -> list[Submission]:
    """Lock submissions, in the order of keys."""
    rows = submissions.select_for_update(of=("self",), no_key=True).select_related("campaign", "posting")
    return list(rows.order_by("pk"))


def _decisions(submissions: list[Submission]) -> dict[int, list[Order]]:
    """Return the orders that were not refused to approve or reject of each submission, once they are locked."""
    orders = Order.objects.filter(submission__in=submissions, kind__in=[Kind.APPROVE, Kind.REJECT])
    found: dict[int, list[Order]] = {}
    for order in orders.exclude(state=Order.State.REFUSED).order_by("pk"):
        assert order.submission_id
        found.setdefault(order.submission_id, []).append(order)
    return found


def _check_submitted(submission: Submission) -> None:
    if submission.state != State.SUBMITTED:
        state = submission.get_state_display().lower()
        raise DomainError("not_submitted", f"{_called(submission)} is “{state}”: only submitted work can be decided.")


def _called(submission: Submission) -> str:
    """Return what every user may read: the platform's own id is for those who see names."""
    return f"Submission {submission.pk}"


def _about(kind: Order.Kind, submission: Submission, user: User | None, message: str, **fields: Any) -> Order:
    """Return an order about a submission, not stored; its currency is that of the campaign."""
    return Order(
        campaign=submission.campaign,
        kind=kind,
        submission=submission,
        posting_id=submission.posting_id,
        worker_id=submission.worker_id,
        currency=submission.campaign.currency,
        message=message,
        ordered_by=user,
        **fields,
    )


def _clean(message: str, longest: int = LONGEST_MESSAGE) -> str:
    text = message.replace("\0", "").strip()  # PostgreSQL takes no NUL
    if len(text) > longest:
        raise DomainError("message_too_long", f"This text has at most {longest:,} characters.")
    return text
