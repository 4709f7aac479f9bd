"""What is stored on one worker of a campaign, as it is handed out to them: nothing that says which item is a check."""

from typing import Any

from django.db.models import Model

from annotation.models import Assignment, Conversation, Event, Invitation, Response, TopicChange, Turn, Worker

_ASSIGNMENT = (
    *("state", "is_accessible", "started_at", "seen_at", "ended_at", "feedback", "completion_code"),
    *("platform_id", "platform_data", "consent_version", "consented_at"),
)
_INVITATION = ("email", "attribute_values", "created_at", "revoked_at", "reminded_at", "is_reminder_sent")


def values_of(row: Model, names: tuple[str, ...]) -> dict[str, Any]:
    """Return columns of a row by their names."""
    return {name: getattr(row, name) for name in names}


def stored_on(campaign_id: int, worker_id: int) -> dict[str, Any]:
    """Return the worker, their invitation, and what they did in each HIT. Seven queries, however many HITs."""
    worker = Worker.objects.get(pk=worker_id)
    invitations = Invitation.objects.filter(campaign=campaign_id, worker=worker_id)
    mine = list(Assignment.objects.filter(campaign=campaign_id, worker=worker_id).select_related("hit"))
    answers, events, chats = _answers(mine), _events(mine), _chats(mine)
    return {
        "worker": {"name": worker.name, **values_of(worker, ("platform", "created_at"))},
        "invitations": [values_of(each, _INVITATION) for each in invitations],
        "hits": [
            {
                "hit": each.hit.number,
                **values_of(each, _ASSIGNMENT),
                "answers": answers.get(each.pk, []),
                "chats": chats.get(each.pk, []),
                "events": events.get(each.pk, []),
            }
            for each in mine
        ],
    }


Grouped = dict[int, list[dict[str, Any]]]


def _answers(mine: list[Assignment]) -> Grouped:
    found: Grouped = {}
    columns = ("turn", "value", "abstained", "rated_at", "earlier")
    responses = Response.objects.filter(assignment__in=mine).select_related("item", "criterion")
    for each in responses.order_by("item__position", "turn", "criterion__order"):
        asked = {"position": each.item.position, "statement": each.criterion.statement}
        found.setdefault(each.assignment_id, []).append(asked | values_of(each, columns))
    return found


def _events(mine: list[Assignment]) -> Grouped:
    found: Grouped = {}
    for each in Event.objects.filter(assignment__in=mine).select_related("item").order_by("pk"):
        position = each.item.position if each.item else None
        happened = {"position": position, "event": each.get_kind_display(), "at": each.at}
        if each.kind != Event.Kind.UNANSWERED:  # which may name the chatbot
            happened["data"] = each.data
        found.setdefault(each.assignment_id, []).append(happened)
    return found


def _chats(mine: list[Assignment]) -> Grouped:
    found: Grouped = {}
    chats = list(Conversation.objects.filter(assignment__in=mine).select_related("item").order_by("item__position"))
    turns: Grouped = {}
    for turn in Turn.objects.filter(conversation__in=chats).order_by("number"):
        turns.setdefault(turn.conversation_id, []).append(_turn(turn))
    changes: Grouped = {}
    for change in TopicChange.objects.filter(conversation__in=chats):
        noted = values_of(change, ("after_turn", "by", "topic", "attitude", "at"))
        changes.setdefault(change.conversation_id, []).append(noted)
    for chat in chats:
        about = {"position": chat.item.position} | values_of(chat, ("topic", "opinion", "started_at", "ended_at"))
        said = {"turns": turns.get(chat.pk, []), "topic_changes": changes.get(chat.pk, [])}
        found.setdefault(chat.assignment_id, []).append(about | said)
    return found


def _turn(turn: Turn) -> dict[str, Any]:
    """Return what was said, and of the worker's turns what the browser reported: other times are the chatbot's."""
    said = values_of(turn, ("speaker", "text", "at"))
    return said | {"data": turn.data} if turn.speaker == Turn.Speaker.WORKER else said
