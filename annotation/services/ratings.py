"""Keeping what a worker answers, page by page.

A page is claimed by one UPDATE that names the state it expects, in the transaction that stores the responses and the
telemetry. So of two tabs, or a request that is sent twice, one wins; the other changes nothing and shows what is next.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.models import NO_REASON, Assignment, Conversation, Event, Response
from annotation.pages.questions import AnswerKey, Asked, asked_on
from annotation.queries import ShownPage, criteria_of, pages_of, replies_shown, replies_to_rate, responses_to
from annotation.services.leases import reclaim, renew
from campaigns.contracts.response import BadAnswerError
from campaigns.services.rows import insert_few, update_one
from evalsite.lib.errors import DomainError
from evalsite.lib.kept_queries import KeptQuery
from evalsite.lib.tables.errors import shorten

State = Assignment.State


class RefusedAnswerError(DomainError):
    """An answer that is missing or cannot be taken, and what it was to answer. Code `bad_answer`."""

    def __init__(self, message: str, key: AnswerKey) -> None:
        super().__init__("bad_answer", message)
        self.key = key


# What rating an item and showing the next one need: with the other columns the query takes a quarter longer.
_CAMPAIGN = (
    *("public_id", "launched_at", "platform", "platform_settings", "lease_minutes", "study_name", "contact"),
    *("instructions", "screen", "layout", "chat", "offers_text", "page_kind"),
)
_ASSIGNMENT = (
    *("campaign", "hit", "worker", "state", "n_rated", "n_items", "is_accessible", "seen_at", "leased_until"),
    *("platform_id", "completion_code"),
)
_RESPONSE = ("assignment", "item", "criterion", "turn", "value", "score", "abstained", "rated_at", "earlier")
_ASSIGNMENTS = KeptQuery(
    Assignment.objects.filter(pk=0)
    .select_related("campaign")
    .only(*_ASSIGNMENT, *(f"campaign__{name}" for name in _CAMPAIGN))
)


def save_page(
    *,
    assignment_id: int,
    position: int,
    answers: Mapping[AnswerKey, Sequence[str]],
    abstained: Mapping[AnswerKey, str] | None = None,
    telemetry: Mapping[str, int] | None = None,
) -> Assignment:
    """Keep what was answered on the page whose first item is at `position`; return the assignment as it is then.

    `answers` are as a form sends them; `abstained`: why a criterion could not be judged, which goes before an answer.
    Of a page that is rated already nothing changes: a request that is sent twice does no harm. After the lease has
    ended the answers are kept too, and the assignment is active again if its place is still free: its state says so.
    Four queries, five of a chat, six of one with questions about each reply, or of a page that may be revised.
    Raises DomainError `not_next`, `bad_answer`, `chat_open` or `returned`.
    """
    assignment = _ASSIGNMENTS.get(assignment_id)
    if 1 <= position < assignment.position:
        return assignment
    page = _page_at(assignment, position)
    criteria = criteria_of(assignment.campaign)
    asked = asked_on(page, criteria, replies_to_rate(assignment.campaign, assignment.pk, page, criteria))
    responses = _read(answers, abstained or {}, asked)
    if assignment.campaign.is_live:
        _check_chat(assignment, page)
    if _keep(assignment, page, responses, telemetry or {}):
        return assignment
    # Another request has rated the page, or the lease has just ended: read it again.
    return save_page(
        assignment_id=assignment_id, position=position, answers=answers, abstained=abstained, telemetry=telemetry
    )


def save_draft(
    *,
    assignment_id: int,
    position: int,
    answers: Mapping[AnswerKey, Sequence[str]],
    abstained: Mapping[AnswerKey, str] | None = None,
) -> Assignment:
    """Keep what was answered so far on a page that may be revised; return the assignment as it is then.

    Answers may be missing, and change until the page is rated: what each was before is kept with it. Of a page that
    is rated already nothing changes. Raises DomainError as `save_page` does, and `not_revisable`.
    """
    assignment = _ASSIGNMENTS.get(assignment_id)
    if 1 <= position < assignment.position:
        return assignment
    if not assignment.campaign.is_revisable:
        raise DomainError("not_revisable", "This page is saved once it is complete.")
    page = _page_at(assignment, position)
    criteria = criteria_of(assignment.campaign)
    asked = asked_on(page, criteria, replies_shown(assignment.campaign, page, criteria))
    if not _revise(assignment, page, _read(answers, abstained or {}, asked, is_draft=True)):
        assignment.refresh_from_db(fields=["n_rated", "state"])
    return assignment


def _page_at(assignment: Assignment, position: int) -> ShownPage:
    """Return the page that is rated next; raise DomainError `not_next` if another position is meant, or `returned`."""
    if position != assignment.position or position > assignment.n_items:
        raise DomainError("not_next", f"Item {assignment.position} comes next, not item {position}.")
    if assignment.state == State.RETURNED:
        raise DomainError("returned", f"You have returned this {assignment.campaign.crowd_platform.task_name}.")
    return pages_of(assignment)[position]


@transaction.atomic
def _keep(assignment: Assignment, page: ShownPage, responses: Sequence[Response], telemetry: Mapping[str, int]) -> bool:
    """Store the responses to the next page; return False if the assignment is no longer as it was read."""
    if not _claim(assignment, len(page.items)):
        return False
    if assignment.state == State.EXPIRED:
        reclaim(assignment, assignment.campaign)
    at, item_id = assignment.seen_at, page.items[0].id
    for response in responses:
        response.rated_at = at
    new = _replace(assignment, page, responses) if assignment.campaign.is_revisable else responses
    _store(assignment, new)
    event = (assignment.pk, item_id, Event.Kind.RATED.value, at, dict(telemetry))
    insert_few(Event, ("assignment", "item", "kind", "at", "data"), [event])
    return True


def _store(assignment: Assignment, responses: Sequence[Response]) -> None:
    """Store new responses."""
    rows: list[tuple[Any, ...]] = [
        (
            *(assignment.pk, each.item_id, each.criterion_id, each.turn),
            *(each.value, each.score, each.abstained, each.rated_at, []),
        )
        for each in responses
    ]
    if rows:
        insert_few(Response, _RESPONSE, rows)


@transaction.atomic
def _revise(assignment: Assignment, page: ShownPage, responses: Sequence[Response]) -> bool:
    """Store what was answered so far on the next page; return False if the page was rated meanwhile."""
    if not _claim(assignment, 0):
        return False
    if assignment.state == State.EXPIRED:
        reclaim(assignment, assignment.campaign)
    for response in responses:
        response.rated_at = assignment.seen_at
    _store(assignment, _replace(assignment, page, responses))
    return True


def _replace(assignment: Assignment, page: ShownPage, responses: Sequence[Response]) -> list[Response]:
    """Store responses in place of those that were saved for a page, which stay with them as earlier answers.

    One that is there no more stays as an empty answer. Return those that are new.
    """
    before = responses_to(assignment.pk, page, is_locked=True)
    saved = {(each.item_id, each.criterion_id, each.turn): each for each in before}
    new, changed = [], []
    for response in responses:
        earlier = saved.pop((response.item_id, response.criterion_id, response.turn), None)
        if earlier is None:
            new.append(response)
        elif earlier.replace_by(response):
            changed.append(earlier)
    changed += [earlier for earlier in saved.values() if earlier.replace_by(Response(rated_at=assignment.seen_at))]
    if changed:
        Response.objects.bulk_update(changed, ["value", "score", "abstained", "rated_at", "earlier"])
    return new


def _claim(assignment: Assignment, n_items: int) -> bool:
    """Move on by so many items and renew the lease; return False if another request was quicker.

    The one statement that takes a lock comes last before the rows are written: on SQLite it stops all who write.
    """
    expected = {"id": assignment.pk, "n_rated": assignment.n_rated, "state": assignment.state}
    renew(assignment, assignment.campaign, timezone.now())
    assignment.n_rated += n_items
    changes = {"n_rated": assignment.n_rated, "seen_at": assignment.seen_at, "leased_until": assignment.leased_until}
    return update_one(Assignment, changes, expected)


def _check_chat(assignment: Assignment, page: ShownPage) -> None:
    """Refuse scores of a chat that has not ended, or of several of which one has not."""
    items = [item.id for item in page.items]
    ended = Conversation.objects.filter(assignment=assignment, item__in=items, state=Conversation.State.ENDED)
    if ended.count() < len(items):
        raise DomainError("chat_open", "Chat first, then rate the chatbot.")


def _read(
    answers: Mapping[AnswerKey, Sequence[str]],
    abstained: Mapping[AnswerKey, str],
    asked: Sequence[Asked],
    *,
    is_draft: bool = False,
) -> list[Response]:
    """Return the responses, not stored yet, by the criteria's kinds; an optional one without an answer is left out.

    So is every one without an answer if `is_draft`, and what is not asked because of another answer.
    Raises RefusedAnswerError, which says how many are missing, or which cannot be taken and why; DomainError
    `bad_answer` for answers of another page.
    """
    known = {each.key for each in asked}
    if not known.issuperset([*answers, *abstained]):
        raise DomainError("bad_answer", "These answers belong to another page. Answer the statements on this one.")
    found: list[Response] = []
    missing: list[Asked] = []
    values: dict[AnswerKey, Any] = {}
    for each in asked:
        if not each.is_shown(values):
            continue
        response = _response(each, answers.get(each.key, ()), abstained.get(each.key, ""))
        if response:
            found.append(response)
            values[each.key] = response.value
        elif each.criterion.is_required and not is_draft:
            missing.append(each)
    if missing:
        asks = {each.criterion.response_kind.ask for each in missing}
        ask = asks.pop() if len(asks) == 1 else "Answer every statement"
        said = f"{ask}: {len(missing)} of {len(found) + len(missing)} have no answer."
        raise RefusedAnswerError(said, missing[0].key)
    return found


def _response(asked: Asked, sent: Sequence[str], reason: str) -> Response | None:
    """Return the response to what is asked, None without an answer; raise RefusedAnswerError."""
    criterion, kind = asked.criterion, asked.criterion.response_kind
    about: dict[str, Any] = {"criterion": criterion, "item_id": asked.item_id, "turn": asked.turn}
    if criterion.may_abstain and reason:
        return Response(**about, abstained=_reason(reason, asked))
    try:
        value = kind.clean(sent, criterion.settings, asked.subject)
    except BadAnswerError as error:
        raise RefusedAnswerError(f"“{shorten(criterion.statement)}”: {error.message}", asked.key) from None
    if value is None:
        return None
    score = kind.score(value, criterion.settings)
    return Response(**about, value=value, score=score)


def _reason(sent: str, asked: Asked) -> str:
    """Return why a criterion could not be judged, as it is kept; raise RefusedAnswerError."""
    reasons = asked.criterion.abstain_reasons.splitlines()
    if reasons and sent not in reasons:
        said = f"“{sent[:40]}” is none of the reasons that are offered. Choose one of them."
        raise RefusedAnswerError(said, asked.key)
    return sent if reasons else NO_REASON
