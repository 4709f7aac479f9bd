"""Keeping what a worker rates."""

from collections.abc import Mapping

from django.db import transaction
from django.utils import timezone

from annotation.models import Assignment, Event, Rating
from annotation.queries import criteria_of, items_of
from annotation.services.assignments import reclaim, renew
from evalsite.lib.errors import DomainError

State = Assignment.State
LOWEST, HIGHEST = 0, 100


def save_item(
    *, assignment_id: int, position: int, scores: Mapping[int, int], telemetry: Mapping[str, int] | None = None
) -> Assignment:
    """Keep the scores (criterion id → 0–100) of the item at `position`; return the assignment as it is then.

    Of an item that is rated already nothing changes: a request that is sent twice does no harm. After the lease has
    ended the scores are kept too, and the assignment is active again if its place is still free; look at its state.
    Four queries. Raises DomainError `not_next`, `bad_scores` or `returned`.
    """
    assignment = Assignment.objects.select_related("campaign").get(pk=assignment_id)
    if position < assignment.position:
        return assignment
    if position > assignment.position or assignment.position > assignment.n_items:
        raise DomainError("not_next", f"Item {assignment.position} comes next, not item {position}.")
    if assignment.state == State.RETURNED:
        raise DomainError("returned", "You have returned this HIT.")
    _check_scores(scores, [criterion.pk for criterion in criteria_of(assignment.campaign)])
    item_id = items_of(assignment)[position].id
    with transaction.atomic():
        if not _claim(assignment, position):
            return Assignment.objects.select_related("campaign").get(pk=assignment_id)
        if assignment.state == State.EXPIRED:
            reclaim(assignment, assignment.campaign)
        at = assignment.seen_at
        Rating.objects.bulk_create(
            Rating(assignment=assignment, item_id=item_id, criterion_id=criterion, score=score, rated_at=at)
            for criterion, score in scores.items()
        )
        data = dict(telemetry or {})
        Event.objects.create(assignment=assignment, item_id=item_id, kind=Event.Kind.RATED, at=at, data=data)
    return assignment


def _claim(assignment: Assignment, position: int) -> bool:
    """Move on from the item at `position`, and renew the lease; return False if another request has done so.

    The one statement that takes a lock comes last before the rows are written: on SQLite it stops all who write.
    """
    renew(assignment, assignment.campaign, timezone.now())
    assignment.n_rated = position
    unrated = Assignment.objects.filter(pk=assignment.pk, n_rated=position - 1).exclude(state=State.RETURNED)
    changes = {"n_rated": position, "seen_at": assignment.seen_at, "leased_until": assignment.leased_until}
    return bool(unrated.update(**changes))


def _check_scores(scores: Mapping[int, int], criteria: list[int]) -> None:
    """Refuse scores that are not one from 0 to 100 for each criterion."""
    if set(scores) != set(criteria):
        n_missing = len(set(criteria) - set(scores))
        raise DomainError("bad_scores", f"Move every slider: {n_missing} of {len(criteria)} have not been moved.")
    if any(not LOWEST <= score <= HIGHEST for score in scores.values()):
        raise DomainError("bad_scores", f"A score lies between {LOWEST} and {HIGHEST}.")
