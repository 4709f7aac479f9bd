"""What Mechanical Turk puts into a queue: JSON with one or more events."""

import json
from datetime import UTC, datetime

from campaigns.contracts.account import Event, SubmissionState

VERSION = "2014-08-15"
EVENT_TYPES = (
    "AssignmentAccepted",
    "AssignmentSubmitted",
    "AssignmentReturned",
    "AssignmentAbandoned",
    "AssignmentApproved",
    "AssignmentRejected",
    "HITReviewable",
    "HITExpired",
    "HITExtended",
    "HITDisposed",
)
# Looking at a HIT does not tell who has given it back: these are believed.
_ENDS = {"AssignmentReturned": SubmissionState.RETURNED, "AssignmentAbandoned": SubmissionState.ABANDONED}


def read_message(body: str, receipt: str) -> list[Event]:
    """Return the events of a message; of one that cannot be read, an event of no posting, so that it goes away."""
    try:
        told = json.loads(body)["Events"]
        events = [_event(each, receipt) for each in told]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        events = []
    return events or [Event(posting_id="", receipt=receipt)]


def _event(told: dict[str, object], receipt: str) -> Event:
    return Event(
        posting_id=str(told.get("HITId") or ""),
        submission_id=str(told.get("AssignmentId") or ""),
        state=_ENDS.get(str(told.get("EventType"))),
        receipt=receipt,
        at=_read_time(told.get("EventTimestamp")),
    )


def _read_time(told: object) -> datetime | None:
    try:
        at = datetime.fromisoformat(str(told))
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
