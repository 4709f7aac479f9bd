"""What the payments pages show: assignments with their pay, sums, discrepancies, orders."""

from collections.abc import Container, Iterable
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.urls import reverse

from annotation.models import Assignment
from annotation.queries import worker_name
from campaigns.models import Campaign
from campaigns.navigation import campaign_context
from campaigns.platforms import get_platform
from campaigns.queries import Role, has_role
from crowd.models import Order, Submission
from crowd.queries.account import last_check
from crowd.queries.payments import OPEN, Row, Totals, Wages
from crowd.queries.publishing import Cost
from evalsite.lib.words import counted

_PARTS = (("payments", "Assignments"), ("discrepancies", "Discrepancies"), ("orders", "Orders"))
_S_PER_MIN, _MIN_PER_HOUR = 60, 60
_CENT, _NOTHING = Decimal("0.01"), Decimal("0.00")
_DECIDED = (Submission.State.APPROVED, Submission.State.REJECTED)
_SENDING = {Order.Kind.APPROVE: "Approval is being sent", Order.Kind.REJECT: "Rejection is being sent"}
_BADGES = {
    Submission.State.ACTIVE: "state-active",
    Submission.State.SUBMITTED: "state-active",
    Submission.State.APPROVED: "badge-passed",
    Submission.State.REJECTED: "badge-failed",
    Submission.State.RETURNED: "",
    Submission.State.ABANDONED: "state-expired",
}


def money_words(amount: Decimal, currency: str) -> str:
    """Return an amount as pages show it.

    >>> money_words(Decimal("1234.5"), "USD")
    '1,234.50 USD'
    """
    return f"{amount:,.2f} {currency}"


def balance_of(campaign: Campaign) -> str:
    """Return what was in the account at the last check; "" if it is not known."""
    found = last_check(campaign)
    return "" if found.balance is None else money_words(found.balance, found.currency or campaign.currency)


def frame(campaign: Campaign, part: str, n_discrepancies: int | None = None) -> dict[str, Any]:
    """Return what crowd/payments_frame.html needs; `part` names the page of the payments tab that shows."""
    platform = get_platform(campaign.platform)
    parts = [
        {"title": title, "url": reverse(f"crowd:{name}", args=[campaign.public_id]), "current": name == part}
        for name, title in _PARTS
    ]
    if n_discrepancies:
        parts[1]["title"] = f"Discrepancies ({n_discrepancies})"
    return campaign_context(campaign, "payments") | {
        "parts": parts if platform.has_account else [],
        "platform": platform,
        "with_names": has_role(campaign, Role.EDITOR),
    }


# --- Assignments


def rows_shown(campaign: Campaign, rows: Iterable[Row], wage: Decimal | None) -> list[dict[str, Any]]:
    """Return assignments as rows of their table; hourly wages below `wage` are marked."""
    return [row_shown(campaign, row, wage) for row in rows]


def row_shown(campaign: Campaign, row: Row, wage: Decimal | None) -> dict[str, Any]:
    """Return an assignment, here and there, as a row of the table."""
    submission = row.submission
    # An older one of the platform, whose worker came back with another, says nothing of the assignment as it is now.
    is_older = bool(submission and row.assignment and row.assignment.platform_id not in ("", submission.platform_id))
    worker = submission.worker if submission else row.assignment.worker if row.assignment else None
    return {
        "submission": submission,
        "assignment": row.assignment,
        "worker": worker_name(campaign, worker) if worker else "",
        "hit": hit_number(row.assignment, submission),
        "is_older": is_older,
        "there_class": _BADGES.get(Submission.State(submission.state), "") if submission else "",
        "verdict": row.verdict,
        "time": None if is_older else _time_shown(campaign, row.assignment, wage),
        "reward": _reward(campaign, row),
        "bonus": _bonuses(row.orders, campaign.currency),
        "decision": _decision(row, with_words=has_role(campaign, Role.EDITOR)),
        "discrepancy": submission if submission and has_open_discrepancy(submission) else None,
        "can_tick": bool(submission and submission.state in (Submission.State.SUBMITTED, *_DECIDED)),
    }


def hit_number(assignment: Assignment | None, submission: Submission | None) -> int | None:
    """Return the number of the HIT that an assignment is of, None if it is not known."""
    if assignment:
        return assignment.hit.number
    hit = submission.posting.hit if submission else None
    return hit.number if hit else None


def has_open_discrepancy(submission: Submission) -> bool:
    """Tell whether a discrepancy waits to be dismissed."""
    return bool(submission.discrepancy) and submission.dismissed_at is None


def _time_shown(campaign: Campaign, assignment: Assignment | None, wage: Decimal | None) -> dict[str, Any] | None:
    """Return the minutes that an assignment took and what its reward comes to per hour, once it is finished."""
    if assignment is None:
        return None
    seconds = Decimal((assignment.seen_at - assignment.started_at).total_seconds())
    shown: dict[str, Any] = {"minutes": f"{seconds / _S_PER_MIN:.1f}", "wage": "", "missing": ""}
    if assignment.state != Assignment.State.FINISHED or seconds <= 0 or not campaign.reward:
        return shown
    hours = seconds / (_S_PER_MIN * _MIN_PER_HOUR)
    shown["wage"] = f"{campaign.reward / hours:,.2f}"
    if wage and (missing := (hours * wage - campaign.reward).quantize(_CENT)) > 0:
        shown["missing"] = f"{missing:,.2f} too little"
    return shown


def _reward(campaign: Campaign, row: Row) -> str:
    """Return what was paid for an assignment, or would be; nothing for one that cannot be paid."""
    submission = row.submission
    paid = [order for order in row.orders if order.kind == Order.Kind.APPROVE and order.state == Order.State.DONE]
    if paid:
        return f"{paid[-1].amount:,.2f}"
    if submission and submission.state == Submission.State.REJECTED:
        return f"{_NOTHING:,.2f}"
    if submission and submission.state in (Submission.State.SUBMITTED, Submission.State.APPROVED):
        return f"{campaign.reward:,.2f}"
    is_finished = row.assignment is not None and row.assignment.state == Assignment.State.FINISHED
    if is_finished and not get_platform(campaign.platform).has_account:
        return f"{campaign.reward:,.2f}"
    return ""


def _bonuses(orders: Iterable[Order], currency: str) -> dict[str, Any]:
    """Return the bonuses that were paid, those on their way, and whether the last one was refused."""
    bonuses = [order for order in orders if order.kind == Order.Kind.BONUS]
    paid = sum((order.amount for order in bonuses if order.state == Order.State.DONE), _NOTHING)
    open_ = sum((order.amount for order in bonuses if order.state in OPEN), _NOTHING)
    return {
        "paid": f"{paid:,.2f}" if paid else "",
        "sending": f"{money_words(open_, currency)} is being sent" if open_ else "",
        "is_refused": bool(bonuses) and bonuses[-1].state == Order.State.REFUSED,
    }


def _decision(row: Row, *, with_words: bool) -> dict[str, Any]:
    """Return what was decided about an assignment of the platform, by whom, or what waits.

    `with_words`: with those of the platform, which may name a worker.
    """
    submission = row.submission
    if submission is None:
        return {}
    decisions = [order for order in row.orders if order.kind in (Order.Kind.APPROVE, Order.Kind.REJECT)]
    last = decisions[-1] if decisions else None
    if last and last.state in OPEN:
        return {
            "text": _SENDING[Order.Kind(last.kind)],
            "badge": "badge-untested",
            "order": last,
            "note": last.last_error if with_words else "",
        }
    refused = ""
    if last and last.state == Order.State.REFUSED:
        refused = last.last_error if with_words else "editors and owners see why"
    if submission.state in _DECIDED:
        kind = Order.Kind.APPROVE if submission.state == Submission.State.APPROVED else Order.Kind.REJECT
        done = [order for order in decisions if order.kind == kind and order.state == Order.State.DONE]
        return {
            "text": submission.get_state_display(),
            "badge": _BADGES[Submission.State(submission.state)],
            "order": done[-1] if done else None,
            "is_by_platform": not done,
            "refused": refused,
        }
    if submission.state == Submission.State.SUBMITTED:
        return {
            "text": "To be decided",
            "badge": "",
            "by_itself_at": submission.decided_by_itself_at,
            "refused": refused,
        }
    return {}


# --- Sums


def stats_of(campaign: Campaign, totals: Totals) -> list[dict[str, str]]:
    """Return the sums of an account, as components/stats.html draws them."""
    spent, waiting = totals.spent, totals.waiting
    stats = [
        _stat(f"Rewards paid ({spent.n_paid:,})", money_words(spent.rewards, spent.currency)),
        _stat(f"Bonuses paid ({spent.n_bonuses:,})", money_words(spent.bonuses, spent.currency)),
        _stat("Fees paid", money_words(spent.fees, spent.currency)),
        _stat("Paid in all", money_words(spent.total, spent.currency)),
        _stat(f"Complete, to be decided ({waiting.n_places:,})", money_words(waiting.rewards, waiting.currency)),
        _stat("Rejected", f"{totals.n_rejected:,}"),
    ]
    if balance := balance_of(campaign):
        at = last_check(campaign).at
        stats.append(_stat(f"Balance ({at:%-d %b, %H:%M} UTC)" if at else "Balance at the last check", balance))
    return stats


def link_stats(campaign: Campaign, n_finished: int) -> list[dict[str, str]]:
    """Return the sums of a campaign without an account: what its finished work comes to."""
    return [
        _stat("Finished assignments", f"{n_finished:,}"),
        _stat("Reward for each", money_words(campaign.reward, campaign.currency)),
        _stat("Rewards in all", money_words(campaign.reward * n_finished, campaign.currency)),
    ]


def _stat(label: str, value: str) -> dict[str, str]:
    return {"label": label, "value": value}


def wages_in_words(campaign: Campaign, wages: Wages, wage: Decimal) -> str:
    """Return how the reward compares to a wage per hour, in a sentence."""
    hourly = money_words(wage, campaign.currency)
    if not wages.n_finished:
        return ""
    if not wages.n_below:
        return f"For everybody who finished, the reward comes to {hourly} per hour or more."
    late = f"{wages.n_below:,} of {counted(wages.n_finished, 'finished assignment')}"
    missing = money_words(wages.missing, campaign.currency)
    return (
        f"{late} took so long that the reward comes to less than {hourly} per hour; "
        f"{missing} in all would bring them up to it."
    )


def cost_words(cost: Cost) -> str:
    """Return rewards and fees in words."""
    if not cost.fees:
        return money_words(cost.rewards, cost.currency)
    return f"{money_words(cost.rewards, cost.currency)} and {money_words(cost.fees, cost.currency)} in fees"


def chosen_shown(
    campaign: Campaign, submissions: Iterable[Submission], verdicts: dict[int, str]
) -> list[dict[str, Any]]:
    """Return submissions that something is about to be done with, as rows of a list."""
    return [
        {
            "submission": each,
            "worker": worker_name(campaign, each.worker),
            "hit": hit_number(each.assignment, each),
            "verdict": verdicts[each.worker_id],
            "has_open_discrepancy": has_open_discrepancy(each),
        }
        for each in submissions
    ]


# --- Discrepancies

Discrepancy = Submission.Discrepancy
_EXPLAINED = {
    Discrepancy.NOT_FINISHED: "The worker submitted on the platform before all items were rated here. It may be "
    "a slip or a page that did not load; it may be an attempt to be paid for nothing. Look at how much was rated, and "
    "ask the worker if in doubt.",
    Discrepancy.NOT_SUBMITTED: "All items were rated here, but the platform has no submission, so it cannot be "
    "approved there. Often the worker closed the page too early or the time was up. Write to them; where the platform "
    "allows it, pay them by a bonus or another HIT. Their ratings count like all others.",
    Discrepancy.UNKNOWN: "The platform has a submission of somebody who never opened the HIT here. There is no "
    "work to pay for, unless the pages did not open for them: ask before you reject.",
    Discrepancy.OTHER_WORKER: "One worker rated here, another one submitted there. The address may have been "
    "passed on, or one person has two accounts. Decide whom you believe before anybody is paid.",
    Discrepancy.SURPLUS: "This work was rejected, so its place was offered again, and another worker took it. "
    "Now the rejection has been taken back: both count, both are paid, and the HIT has one worker more than you asked "
    "for. To count only one of them, exclude the other in the settings of the analysis.",
    Discrepancy.WRONG_CODE: "The work is finished here, but the completion code that came with the submission "
    "is not the one that was shown. Mostly it was mistyped or copied from another study.",
}


def discrepancy_shown(campaign: Campaign, submission: Submission) -> dict[str, Any]:
    """Return a discrepancy: what is known on both sides, what it means, and what can be done."""
    assignment = submission.assignment
    is_undecided = submission.state == Submission.State.SUBMITTED
    return {
        "submission": submission,
        "title": submission.get_discrepancy_display(),
        "text": _EXPLAINED[Submission.Discrepancy(submission.discrepancy)],
        "sides": sides_shown(campaign, submission),
        "worker": worker_name(campaign, submission.worker),
        "can_decide": is_undecided,
        "can_free": bool(assignment and assignment.state == Assignment.State.ACTIVE),
        "can_dismiss": has_open_discrepancy(submission),
    }


def sides_shown(campaign: Campaign, submission: Submission) -> list[dict[str, Any]]:
    """Return what is known of an assignment, on the platform and here, as lists of names and values."""
    with_names, assignment = has_role(campaign, Role.EDITOR), submission.assignment
    there: list[tuple[str, Any]] = [
        ("Worker", worker_name(campaign, submission.worker)),
        ("State", submission.get_state_display()),
        ("Accepted", submission.accepted_at),
        ("Submitted", submission.submitted_at),
        (
            "Approved automatically",
            submission.decided_by_itself_at if submission.state == Submission.State.SUBMITTED else None,
        ),
    ]
    here: list[tuple[str, Any]] = []
    if assignment:
        here = [
            ("Worker", worker_name(campaign, assignment.worker)),
            ("State", assignment.get_state_display()),
            ("HIT", assignment.hit.number),
            ("Items rated", f"{assignment.n_rated} of {assignment.n_items}"),
            ("Agreed to the consent text", assignment.consented_at),
            ("Version of the consent text", assignment.consent_version),
            ("Started", assignment.started_at),
            ("Last seen", assignment.seen_at),
            ("Ended", assignment.ended_at),
        ]
    if with_names:
        there += [("Its id there", submission.platform_id), ("Code that came", submission.code)]
        here += [("Completion code", assignment.completion_code)] if assignment else []
    return [
        {"title": f"On {get_platform(campaign.platform).title}", "facts": _facts(there)},
        {"title": "Here", "facts": _facts(here), "empty": "Nobody came here with it."},
    ]


def _facts(pairs: Iterable[tuple[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"name": name, "value": value, "is_time": isinstance(value, datetime)}
        for name, value in pairs
        if value not in (None, "")
    ]


# --- Orders


def orders_shown(
    campaign: Campaign, orders: Iterable[Order], can_repeat: Container[int] = frozenset()
) -> list[dict[str, Any]]:
    """Return orders as rows of the audit trail: what each is about, what it costs, what became of it.

    `can_repeat` are the ids of those that may be ordered anew. Messages, and the platform's words, may name workers:
    viewers do not see them.
    """
    with_words = has_role(campaign, Role.EDITOR)
    rows = []
    for order in orders:
        worker = order.worker or (order.submission.worker if order.submission else None)
        badges = {Order.State.DONE: "badge-passed", Order.State.REFUSED: "badge-failed"}
        rows.append(
            {
                "order": order,
                "worker": worker_name(campaign, worker) if worker else "",
                "about": _about(order),
                "amount": f"{order.amount:,.2f}" if order.amount else "",
                "fee": f"{order.fee:,.2f}" if order.amount else "",
                "badge": badges.get(Order.State(order.state), "badge-untested"),
                "message": order.message if with_words else "",
                "error": order.last_error if with_words and order.state != Order.State.DONE else "",
                "can_repeat": order.pk in can_repeat,
                "is_held_up": order.state in OPEN and bool(order.last_error),
            }
        )
    return rows


def _about(order: Order) -> str:
    """Return the HIT or the wave that an order is about, in words."""
    hit = hit_number(order.submission.assignment, order.submission) if order.submission else None
    if hit is None and order.posting:
        hit = order.posting.hit.number if order.posting.hit else None
        if hit is None:
            return str(order.posting.wave)
    places = f", {counted(order.n_places, 'place')}" if order.n_places else ""
    return f"HIT {hit}{places}" if hit is not None else ""
