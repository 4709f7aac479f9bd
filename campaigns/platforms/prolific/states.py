"""Prolific's words for how studies and submissions stand."""

from campaigns.contracts.account import PostingState, SubmissionState

_STUDIES = {
    "UNPUBLISHED": PostingState.DRAFT,
    "SCHEDULED": PostingState.DRAFT,
    "PUBLISHING": PostingState.OPEN,
    "ACTIVE": PostingState.OPEN,
    "PAUSED": PostingState.PAUSED,
    "AWAITING REVIEW": PostingState.ENDED,
    "COMPLETED": PostingState.ENDED,
}
_SUBMISSIONS = {
    "RESERVED": SubmissionState.ACTIVE,
    "ACTIVE": SubmissionState.ACTIVE,
    "AWAITING REVIEW": SubmissionState.SUBMITTED,
    "APPROVED": SubmissionState.APPROVED,
    "PARTIALLY APPROVED": SubmissionState.APPROVED,
    "SCREENED OUT": SubmissionState.APPROVED,  # paid, if not in full
    "REJECTED": SubmissionState.REJECTED,
    "RETURNED": SubmissionState.RETURNED,
    "TIMED-OUT": SubmissionState.ABANDONED,
}


def posting_state(status: str) -> PostingState:
    """Return how a study stands; one in a state that is not known is open."""
    return _STUDIES.get(_plain(status), PostingState.OPEN)


def submission_state(status: str) -> SubmissionState | None:
    """Return how a submission stands, None for a state that is not known."""
    return _SUBMISSIONS.get(_plain(status))


def _plain(status: str) -> str:
    return status.upper().replace("_", " ").replace("TIMED OUT", "TIMED-OUT")
