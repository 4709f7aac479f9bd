"""What Mechanical Turk tells of a HIT, in the words of the contract."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from campaigns.contracts.account import PostingSeen, PostingState, SubmissionSeen, SubmissionState
from campaigns.platforms.mturk.questions import read_code

STATUSES = {
    "Submitted": SubmissionState.SUBMITTED,
    "Approved": SubmissionState.APPROVED,
    "Rejected": SubmissionState.REJECTED,
}


def read_posting(hit: Mapping[str, Any], assignments: Iterable[Mapping[str, Any]], now: datetime) -> PostingSeen:
    """Return a HIT with its submitted assignments as they stand.

    One whose time is over is paused while it has places that nobody has filled: it can be prolonged. Amazon knows no
    difference between a pause and an end.
    """
    submissions = tuple(map(_submission, assignments))
    return PostingSeen(_state(hit, len(submissions), now), submissions, int(hit.get("NumberOfAssignmentsPending") or 0))


def _state(hit: Mapping[str, Any], n_submitted: int, now: datetime) -> PostingState:
    if hit.get("HITStatus") == "Disposed":
        return PostingState.GONE
    if n_submitted >= int(hit.get("MaxAssignments") or 0):
        return PostingState.ENDED
    # Its status tells more surely than our clock; “Unassignable” may be full, or over with somebody still at work.
    if hit.get("HITStatus") in ("Reviewable", "Reviewing"):
        return PostingState.PAUSED
    is_over = hit.get("HITStatus") == "Unassignable" and hit.get("Expiration", now) <= now
    return PostingState.PAUSED if is_over else PostingState.OPEN


def _submission(told: Mapping[str, Any]) -> SubmissionSeen:
    return SubmissionSeen(
        platform_id=told["AssignmentId"],
        worker_key=told["WorkerId"],
        state=STATUSES[told["AssignmentStatus"]],
        code=read_code(told.get("Answer") or ""),
        accepted_at=told.get("AcceptTime"),
        submitted_at=told.get("SubmitTime"),
        decided_by_itself_at=told.get("AutoApprovalTime"),
        told={name: value.isoformat() if isinstance(value, datetime) else value for name, value in told.items()},
    )
