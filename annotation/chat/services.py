"""Keeping what a worker says and does in a chat. Asking the chatbot is `replies`.

Every verb names the position of the page, is harmless when it is sent twice, and returns the chats of the page: one,
or those with several chatbots at once. The assignment is locked throughout, so that of two windows one goes first.
"""

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from annotation.chat.queries import conversations_of, get_opening, is_given_up
from annotation.models import Assignment, Conversation, Event, TopicChange, Turn
from annotation.queries import pages_of
from annotation.services.leases import reclaim, renew
from campaigns.contracts.chat import ChatRules
from evalsite.lib.errors import DomainError

State = Assignment.State
LONGEST_TOPIC = 500


@transaction.atomic
def open_conversations(*, assignment_id: int, position: int, topic: str, opinion: str) -> list[Conversation]:
    """Begin the chats of the page that comes next, on the worker's topic or, where one is given, on that.

    A chat that has begun stays as it is. Raises DomainError `no_topic`, `no_opinion`, `not_next` or `returned`.
    """
    assignment = _locked(assignment_id, position)
    items = pages_of(assignment)[position].items
    if begun := conversations_of(assignment, items):
        return begun
    openings = [get_opening(assignment, item) for item in items]
    topic = openings[0].statement or _topic(topic)
    opinion = _opinion(opinion)
    conversations = [
        Conversation.objects.create(
            assignment=assignment, item_id=item.id, topic=topic, opinion=opinion, persona=list(opening.persona)
        )
        for item, opening in zip(items, openings, strict=True)
    ]
    _keep_lease(assignment)
    return conversations


@transaction.atomic
def keep_input(
    *, assignment_id: int, position: int, number: int, text: str, telemetry: Mapping[str, int] | None = None
) -> list[Conversation]:
    """Keep what the worker says as turn `number`; it awaits a reply in each chat of the page then. Six queries.

    A turn that is there already with this text changes nothing. After the lease has ended it is kept too, and the
    assignment is active again if its place is still free. Raises DomainError `empty_text`, `long_text`,
    `enough_inputs`, `awaits_reply`, `not_next_turn`, `chat_ended`, `no_chat`, `not_next` or `returned`.
    """
    assignment = _locked(assignment_id, position)
    conversations = _conversations(assignment, position)
    text = text.replace("\0", "").replace("\r\n", "\n").strip()
    mine = conversations[0].turns.filter(number=number, speaker=Turn.Speaker.WORKER, text=text)
    if number <= conversations[0].n_turns and mine.exists():
        return conversations
    for each in conversations:
        _check_input(each, number, text, assignment.campaign.chat_rules)
    at = timezone.now()
    for each in conversations:
        _add_input(each, number, text, at, dict(telemetry or {}))
    _keep_lease(assignment)
    return conversations


@transaction.atomic
def change_topic(*, assignment_id: int, position: int, by: str, topic: str, attitude: str) -> list[Conversation]:
    """Note that the chat's topic has changed. The same note, sent twice after the same turn, is one.

    With several chatbots at once, of which each may change it, there are no such notes. Raises DomainError `no_topic`,
    `no_opinion`, `bad_change`, `chat_ended`, `no_chat`, `not_next` or `returned`.
    """
    assignment = _locked(assignment_id, position)
    conversation, *others = _conversations(assignment, position)
    if others:
        raise DomainError("bad_change", "With two chatbots at once, changes of the topic are not noted.")
    _check_open(conversation)
    if by not in TopicChange.By.values:
        raise DomainError("bad_change", "Choose who changed the topic.")
    noted = {"by": by, "topic": _topic(topic), "attitude": _opinion(attitude), "after_turn": conversation.n_turns}
    if not conversation.topic_changes.filter(**noted).exists():
        TopicChange.objects.create(conversation=conversation, **noted)
    _keep_lease(assignment)
    return [conversation]


@transaction.atomic
def end_conversations(*, assignment_id: int, position: int) -> list[Conversation]:
    """End the chats of a page, so that the worker goes on to rate them; once ended, do nothing.

    Raises DomainError `few_inputs`, `no_chat`, `not_next` or `returned`.
    """
    assignment = _locked(assignment_id, position)
    conversations = _conversations(assignment, position)
    if conversations[0].state == Conversation.State.OPEN:
        n_left = assignment.campaign.chat_rules.min_inputs - conversations[0].n_inputs
        if n_left > 0:
            more = "one more message" if n_left == 1 else f"{n_left} more messages"
            raise DomainError("few_inputs", f"Write {more} before you continue: a chat this short cannot be rated.")
        for each in conversations:
            _end(each, Conversation.State.ENDED)
        _keep_lease(assignment)
    return conversations


@transaction.atomic
def leave_conversations(*, assignment_id: int, position: int) -> list[Conversation]:
    """Go on without a chatbot that does not answer: its page stays unrated, and the HIT can be finished all the same.

    Raises DomainError `may_answer` if the awaited reply has not been given up, `no_chat`, `not_next` or `returned`.
    """
    assignment = _locked(assignment_id, position)
    conversations = _conversations(assignment, position)
    if conversations[0].state == Conversation.State.OPEN:
        if not any(is_given_up(each) for each in conversations):
            raise DomainError("may_answer", "The chatbot may still answer. Try again first.")
        for each in conversations:
            _end(each, Conversation.State.DEAD)
            Event.objects.create(assignment=assignment, item_id=each.item_id, kind=Event.Kind.SKIPPED)
        assignment.n_rated += len(conversations)
        _keep_lease(assignment)
    return conversations


def _locked(assignment_id: int, position: int) -> Assignment:
    """Return the assignment, locked, if the item at `position` comes next in it."""
    found = Assignment.objects.select_for_update(of=("self",), no_key=True).select_related("campaign")
    assignment = found.get(pk=assignment_id)
    if position != assignment.position or position > assignment.n_items:
        raise DomainError("not_next", f"Chat {assignment.position} comes next, not chat {position}.")
    if assignment.state == State.RETURNED:
        raise DomainError("returned", f"You have returned this {assignment.campaign.crowd_platform.task_name}.")
    return assignment


def _conversations(assignment: Assignment, position: int) -> list[Conversation]:
    # Locked, for a reply that comes at this moment.
    found = conversations_of(assignment, pages_of(assignment)[position].items, is_locked=True)
    if not found:
        raise DomainError("no_chat", "Choose what to talk about first.")
    return found


def _add_input(conversation: Conversation, number: int, text: str, at: datetime, telemetry: dict[str, int]) -> None:
    """Store what the worker says; it awaits the chatbot's reply then."""
    Turn.objects.create(
        conversation=conversation, number=number, speaker=Turn.Speaker.WORKER, text=text, at=at, data=telemetry
    )
    conversation.n_turns, conversation.n_inputs = number, conversation.n_inputs + 1
    conversation.n_tries, conversation.retry_at, conversation.asked_until = 0, None, None
    conversation.save(update_fields=["n_turns", "n_inputs", "n_tries", "retry_at", "asked_until"])


def _check_input(conversation: Conversation, number: int, text: str, rules: ChatRules) -> None:
    """Refuse what cannot be the next turn."""
    if number <= conversation.n_turns:
        raise _changed_in_another_window()
    _check_open(conversation)
    if conversation.awaits_reply:
        raise DomainError("awaits_reply", "Wait for the reply to your last message first.")
    if number != conversation.n_turns + 1:
        raise _changed_in_another_window()
    if not text:
        raise DomainError("empty_text", "Write something first.")
    if len(text) > rules.longest_input:
        raise DomainError(
            "long_text", f"That is {len(text):,} characters long; a message has at most {rules.longest_input:,}."
        )
    if conversation.n_inputs >= rules.max_inputs:
        raise DomainError(
            "enough_inputs", "This chat has reached the largest number of messages. Go on to the rating now."
        )


def _changed_in_another_window() -> DomainError:
    return DomainError("not_next_turn", "This chat was continued in another window. This page shows it as it is now.")


def _check_open(conversation: Conversation) -> None:
    if conversation.state != Conversation.State.OPEN:
        raise DomainError("chat_ended", "You have ended this chat already.")


def _end(conversation: Conversation, state: str) -> None:
    conversation.state, conversation.ended_at, conversation.asked_until = state, timezone.now(), None
    conversation.save(update_fields=["state", "ended_at", "asked_until"])


def _keep_lease(assignment: Assignment) -> None:
    """Renew the lease; of one that has ended, take the place again if it is still free."""
    if assignment.state == State.EXPIRED:
        reclaim(assignment, assignment.campaign)
    renew(assignment, assignment.campaign, timezone.now())
    assignment.save(update_fields=["seen_at", "leased_until", "n_rated"])


def _topic(text: str) -> str:
    topic = " ".join(text.replace("\0", "").split())
    if not topic:
        raise DomainError("no_topic", "Write what the chat is about.")
    if len(topic) > LONGEST_TOPIC:
        raise DomainError("no_topic", f"A topic has at most {LONGEST_TOPIC} characters.")
    return topic


def _opinion(text: str) -> str:
    if text not in Conversation.Opinion.values:
        raise DomainError("no_opinion", "Choose like, ambivalent or dislike.")
    return text
