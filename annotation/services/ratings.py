"""Keeping what a worker rates."""

from collections.abc import Mapping, Sequence

from django.db import transaction
from django.utils import timezone

from annotation.models import NO_REASON, Assignment, Conversation, Event, Response
from annotation.queries import criteria_of, items_of
from annotation.services.leases import reclaim, renew
from campaigns.contracts.response import BadAnswerError
from campaigns.models import Criterion
from evalsite.lib.errors import DomainError
from evalsite.lib.tables.errors import shorten

State = Assignment.State
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
    *,
    assignment_id: int,
    position: int,
    answers: Mapping[int, Sequence[str]],
    abstained: Mapping[int, str] | None = None,
    telemetry: Mapping[str, int] | None = None,
) -> Assignment:
    """Keep what was answered to each criterion (by id) of the item at `position`; return the assignment as it is then.

    `answers` are as a form sends them; `abstained`: why a criterion could not be judged, which goes before an answer.
    Of an item that is rated already nothing changes: a request that is sent twice does no harm. After the lease has
    ended the answers are kept too, and the assignment is active again if its place is still free: its state says so.
    Four queries, five of a chat. Raises DomainError `not_next`, `bad_answer`, `chat_open` or `returned`.
    """
    assignment = _ASSIGNMENTS.get(pk=assignment_id)
    if 1 <= position < assignment.position:
        return assignment
    if position != assignment.position or position > assignment.n_items:
        raise DomainError("not_next", f"Item {assignment.position} comes next, not item {position}.")
    if assignment.state == State.RETURNED:
        raise DomainError("returned", f"You have returned this {assignment.campaign.crowd_platform.task_name}.")
    read = _read(answers, abstained or {}, criteria_of(assignment.campaign))
    item_id = items_of(assignment)[position].id
    if assignment.campaign.is_live:
        _check_chat(assignment, item_id)
    if _keep(assignment, item_id, read, telemetry or {}):
        return assignment
    # Another request has rated the item, or the lease has just ended: read it again.
    return save_item(
        assignment_id=assignment_id, position=position, answers=answers, abstained=abstained, telemetry=telemetry
    )


@transaction.atomic
def _keep(assignment: Assignment, item_id: int, responses: Sequence[Response], telemetry: Mapping[str, int]) -> bool:
    """Store the responses to the next item; return False if the assignment is no longer as it was read."""
    if not _claim(assignment):
        return False
    if assignment.state == State.EXPIRED:
        reclaim(assignment, assignment.campaign)
    at = assignment.seen_at
    for response in responses:
        response.assignment, response.item_id, response.rated_at = assignment, item_id, at
    Response.objects.bulk_create(responses)
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


def _read(
    answers: Mapping[int, Sequence[str]], abstained: Mapping[int, str], criteria: Sequence[Criterion]
) -> list[Response]:
    """Return the responses, not stored yet, by the criteria's kinds; an optional one without an answer is left out.

    Raises DomainError `bad_answer` that says how many are missing, or which cannot be taken and why.
    """
    known = {criterion.pk for criterion in criteria}
    if not known.issuperset([*answers, *abstained]):
        raise DomainError("bad_answer", "These answers belong to another page. Answer the statements on this one.")
    found, missing = [], []
    for criterion in criteria:
        if criterion.may_abstain and abstained.get(criterion.pk):
            found.append(Response(criterion=criterion, abstained=_reason(abstained[criterion.pk], criterion)))
            continue
        kind = criterion.response_kind
        try:
            value = kind.clean(answers.get(criterion.pk, ()), criterion.settings)
        except BadAnswerError as error:
            raise DomainError(error.code, f"“{shorten(criterion.statement)}”: {error.message}") from None
        if value is not None:
            found.append(Response(criterion=criterion, value=value, score=kind.score(value, criterion.settings)))
        elif criterion.is_required:
            missing.append(kind)
    if missing:
        ask = missing[0].ask if len(set(missing)) == 1 else "Answer every statement"
        raise DomainError("bad_answer", f"{ask}: {len(missing)} of {len(criteria)} have no answer.")
    return found


def _reason(sent: str, criterion: Criterion) -> str:
    """Return why a criterion could not be judged, as it is kept; raise DomainError `bad_answer`."""
    reasons = criterion.abstain_reasons.splitlines()
    if reasons and sent not in reasons:
        raise DomainError("bad_answer", f"“{sent[:40]}” is none of the reasons that are offered. Choose one of them.")
    return sent if reasons else NO_REASON
