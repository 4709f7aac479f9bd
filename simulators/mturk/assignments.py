"""Operations on assignments, bonuses and the account."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from simulators.mturk import hits
from simulators.mturk.pages import page
from simulators.mturk.records import CENT, REJECTED, REPORTED, SUBMITTED, Records, fee
from simulators.mturk.refusals import (
    already_processed,
    bad_value,
    does_not_exist,
    missing,
    out_of_range,
    request_error,
    wrong_state,
)

Operation = Callable[[Records, dict[str, Any]], dict[str, Any]]

_MONTH_S = 30 * 24 * 3600
_MAX_FEEDBACK = 1024
_MAX_BONUS = Decimal(10_000)
_TIMES = {
    "AcceptTime": "accepted_at",
    "SubmitTime": "submitted_at",
    "AutoApprovalTime": "approves_at",
    "Deadline": "deadline",
}
_DECISIONS = {"Approved": "ApprovalTime", "Rejected": "RejectionTime"}


def get_account_balance(records: Records, request: dict[str, Any]) -> dict[str, Any]:
    """Carry out GetAccountBalance: what may still be spent, and what is held for HITs."""
    available, held = records.account()
    return {"AvailableBalance": f"{available:.2f}", "OnHoldBalance": f"{held:.2f}"}


def describe(assignment: dict[str, Any]) -> dict[str, Any]:
    """Return an assignment as the API tells it."""
    payload = {
        "AssignmentId": assignment["id"],
        "WorkerId": assignment["worker_id"],
        "HITId": assignment["hit_id"],
        "AssignmentStatus": assignment["state"],
        "Answer": assignment["answer"],
    }
    payload |= {name: round(assignment[key], 3) for name, key in _TIMES.items()}
    if assignment["state"] in _DECISIONS:
        payload[_DECISIONS[assignment["state"]]] = round(assignment["decided_at"], 3)
    return payload | ({"RequesterFeedback": assignment["feedback"]} if assignment["feedback"] else {})


def get_assignment(records: Records, request: dict[str, Any]) -> dict[str, Any]:
    """Carry out GetAssignment; only of one that was submitted."""
    assignment = records.assignment(request["AssignmentId"])
    if assignment["state"] not in REPORTED:
        raise wrong_state("Assignment", "Reviewable", "Approved", "Rejected")
    return {"Assignment": describe(assignment), "HIT": hits.describe(records.hit(assignment["hit_id"]))}


def list_assignments(records: Records, request: dict[str, Any]) -> dict[str, Any]:
    """Carry out ListAssignmentsForHIT, as they were submitted."""
    states = request.get("AssignmentStatuses") or REPORTED
    found = records.assignments(records.hit(request["HITId"]), *states)
    return page(sorted(found, key=lambda each: each["submitted_at"]), request, "Assignments", describe)


def approve(records: Records, request: dict[str, Any]) -> dict[str, Any]:
    """Carry out ApproveAssignment; of a rejected one within 30 days, and while its HIT is there."""
    feedback = _feedback("ApproveAssignment", request)
    assignment = records.assignment(request["AssignmentId"])
    overrides = request.get("OverrideRejection", False)
    allowed = (SUBMITTED, REJECTED) if overrides else (SUBMITTED,)
    if assignment["state"] not in REPORTED:
        raise wrong_state("Assignment")
    if assignment["state"] not in allowed:
        raise wrong_state("Assignment", *allowed)
    if assignment["state"] == REJECTED:
        _check_override(records, assignment)
    records.approve(assignment, by="requester", feedback=feedback)
    return {}


def _check_override(records: Records, assignment: dict[str, Any]) -> None:
    is_late = records.now() > assignment["submitted_at"] + _MONTH_S
    if is_late or records.hit(assignment["hit_id"])["is_disposed"]:
        words = "Only assignments that were submitted within 30 days, of HITs that were not deleted, can be approved."
        raise request_error("MechanicalTurk.InvalidAssignmentState", words)


def reject(records: Records, request: dict[str, Any]) -> dict[str, Any]:
    """Carry out RejectAssignment."""
    feedback = _feedback("RejectAssignment", request)
    assignment = records.assignment(request["AssignmentId"])
    if assignment["state"] != SUBMITTED:
        raise wrong_state("Assignment", *((SUBMITTED,) if assignment["state"] in REPORTED else ()))
    records.decide(assignment, REJECTED, feedback)
    records.ledger.record("reject", assignment["id"], worker=assignment["worker_id"], message=feedback)
    return {}


def _feedback(operation: str, request: dict[str, Any]) -> str:
    feedback = request.get("RequesterFeedback", "")
    if len(feedback) > _MAX_FEEDBACK:
        raise out_of_range(operation, "RequesterFeedback", feedback, 0, _MAX_FEEDBACK)
    return feedback


def send_bonus(records: Records, request: dict[str, Any]) -> dict[str, Any]:
    """Carry out SendBonus; once for each token and day. Without a token every call pays."""
    token = request.get("UniqueRequestToken", "")
    if records.used_token("bonus", token):
        raise already_processed(token)
    assignment = records.assignment(request["AssignmentId"])
    if assignment["state"] not in REPORTED:
        raise does_not_exist("Assignment", assignment["id"])
    if assignment["worker_id"] != request["WorkerId"]:
        raise bad_value("WorkerId", request["WorkerId"])
    amount = Decimal(request["BonusAmount"]).quantize(CENT)
    if not CENT <= amount <= _MAX_BONUS:
        raise bad_value("BonusAmount", request["BonusAmount"])
    if not request["Reason"].strip():
        raise bad_value("Reason", request["Reason"])
    records.spend(amount + fee(amount))
    paid = {"amount": f"{amount:.2f}", "reason": request["Reason"], "at": records.now()}
    assignment["bonuses"].append(paid)
    records.ledger.put("assignment", assignment["id"], assignment)
    records.use_token("bonus", token, assignment["id"])
    worker, costs = assignment["worker_id"], {"amount": paid["amount"], "fee": str(fee(amount))}
    records.ledger.record("bonus", assignment["id"], token, worker=worker, **costs)
    return {}


def list_bonus_payments(records: Records, request: dict[str, Any]) -> dict[str, Any]:
    """Carry out ListBonusPayments, of an assignment or a whole HIT."""
    if "AssignmentId" in request:
        found = [records.assignment(request["AssignmentId"])]
    elif "HITId" in request:
        found = records.assignments(records.hit(request["HITId"]), *REPORTED)
    else:
        raise missing("HITId", "AssignmentId")
    payments = [
        {
            "WorkerId": assignment["worker_id"],
            "BonusAmount": bonus["amount"],
            "AssignmentId": assignment["id"],
            "Reason": bonus["reason"],
            "GrantTime": round(bonus["at"], 3),
        }
        for assignment in found
        for bonus in assignment["bonuses"]
    ]
    return page(sorted(payments, key=lambda each: each["GrantTime"]), request, "BonusPayments", dict)


OPERATIONS: dict[str, Operation] = {
    "GetAccountBalance": get_account_balance,
    "GetAssignment": get_assignment,
    "ListAssignmentsForHIT": list_assignments,
    "ApproveAssignment": approve,
    "RejectAssignment": reject,
    "SendBonus": send_bonus,
    "ListBonusPayments": list_bonus_payments,
}
