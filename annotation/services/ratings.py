"""Keeping what a worker rates."""

from collections.abc import Mapping

from django.db import transaction
from django.utils import timezone

from annotation.models import Assignment, Conversation, Event, Rating
from annotation.queries import criteria_of, items_of
from annotation.services.leases import reclaim, renew
from evalsite.lib.errors import DomainError

State = Assignment.State
LOWEST, HIGHEST = 0, 100
# What rating an item and showing the next one need: with the other columns the query takes a quarter longer.
_CAMPAIGN = (
    *("public_id", "launched_at", "platform", "platform_settings", "lease_minutes", "study_name", "contact"),
    *("instructions", "screen", "layout", "chat", "offers_text"),
)
_ASSIGNMENT = (
    *("campaign", "hit", "worker", "state", "n_rated", "n_items", "is_accessible", "seen_at", "leased_until"),
    *("platform_id", "completion_code"),
)
_ASSIGNMENTS = Assignment.objects.select_related("campaign").only(
    *_ASSIGNMENT, *(f"campaign__{name}" for name in _CAMPAIGN)
)


def save_item(
    *, assignment_id: int, position: int, scores: Mapping[int, int], telemetry: Mapping[str, int] | None = None
) -> Assignment:
    """Keep the scores (criterion id → 0–100) of the item at `position`; return the assignment as it is then.

    Of an item that is rated already nothing changes: a request that is sent twice does no harm. After the lease has
    ended the scores are kept too, and the assignment is active again if its place is still free: its state says so.
    Four queries, five of a chat. Raises DomainError `not_next`, `bad_scores`, `chat_open` or `returned`.
    """
    assignment = _ASSIGNMENTS.get(pk=assignment_id)
    if 1 <= position < assignment.position:
        return assignment
    if position != assignment.position or position > assignment.n_items:
        raise DomainError("not_next", f"Item {assignment.position} comes next, not item {position}.")
    if assignment.state == State.RETURNED:
        raise DomainError("returned", f"You have returned this {assignment.campaign.crowd_platform.task_name}.")
    _check_scores(scores, [criterion.pk for criterion in criteria_of(assignment.campaign)])
    item_id = items_of(assignment)[position].id
    if assignment.campaign.is_live:
        _check_chat(assignment, item_id)
    if _keep(assignment, item_id, scores, telemetry or {}):
        return assignment
    # Another request has rated the item, or the lease has just ended: read it again.
    return save_item(assignment_id=assignment_id, position=position, scores=scores, telemetry=telemetry)


@transaction.atomic
def _keep(assignment: Assignment, item_id: int, scores: Mapping[int, int], telemetry: Mapping[str, int]) -> bool:
    """Store the ratings of the next item; return False if the assignment is no longer as it was read."""
    if not _claim(assignment):
        return False
    if assignment.state == State.EXPIRED:
        reclaim(assignment, assignment.campaign)
    at = assignment.seen_at
    Rating.objects.bulk_create(
        Rating(assignment=assignment, item_id=item_id, criterion_id=criterion, score=score, rated_at=at)
        for criterion, score in scores.items()
    )
    Event.objects.create(assignment=assignment, item_id=item_id, kind=Event.Kind.RATED, at=at, data=dict(telemetry))
    return True


def _claim(assignment: Assignment) -> bool:
    """Move on to the next item and renew the lease; return False if another request was quicker.

    The one statement that takes a lock comes last before the rows are written: on SQLite it stops all who write.
    """
    unrated = Assignment.objects.filter(pk=assignment.pk, n_rated=assignment.n_rated, state=assignment.state)
    renew(assignment, assignment.campaign, timezone.now())
    assignment.n_rated += 1
    changes = {"n_rated": assignment.n_rated, "seen_at": assignment.seen_at, "leased_until": assignment.leased_until}
    return bool(unrated.update(**changes))


def _check_chat(assignment: Assignment, item_id: int) -> None:
    """Refuse scores of a chat that has not ended."""
    ended = Conversation.objects.filter(assignment=assignment, item=item_id, state=Conversation.State.ENDED)
    if not ended.exists():
        raise DomainError("chat_open", "Chat first, then rate the chatbot.")


def _check_scores(scores: Mapping[int, int], criteria: list[int]) -> None:
    """Refuse scores that are not one from 0 to 100 for each criterion."""
    if set(scores) != set(criteria):
        n_missing = len(set(criteria) - set(scores))
        raise DomainError("bad_scores", f"Move every slider: {n_missing} of {len(criteria)} have not been moved.")
    if any(not LOWEST <= score <= HIGHEST for score in scores.values()):
        raise DomainError("bad_scores", f"A score lies between {LOWEST} and {HIGHEST}.")
