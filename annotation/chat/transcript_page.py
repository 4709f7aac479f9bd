"""The page of one chat: what happened in it, in order."""

from collections.abc import Iterator
from datetime import datetime
from itertools import groupby
from typing import Any

from annotation.chat.flags import find_flags, inputs_of
from annotation.chat.monitoring import Transcript
from annotation.chat.monitoring_page import brief, flags_found, told_ms
from annotation.models import Conversation, Event, TopicChange, Turn
from annotation.presenters.monitoring import worker_name
from campaigns.chatbots import is_sent_topic
from campaigns.models import Campaign
from evalsite.lib.words import counted

# Who changed the topic, as a third person says it.
_BY = {
    TopicChange.By.CHATBOT: "The chatbot",
    TopicChange.By.WORKER_LAST: "The worker, in the message before,",
    TopicChange.By.WORKER_NEXT: "The worker, in the message that follows,",
}


def transcript_shown(campaign: Campaign, found: Transcript, now: datetime) -> dict[str, Any]:
    """Return a chat: what is known of it, its turns with what happened between them, flags, ratings, and its HIT."""
    chat = found.chat
    rows = [(turn.number, turn.text, turn.at, turn.data) for turn in found.turns]
    return {
        "chat": chat,
        "worker": worker_name(campaign, chat.assignment.worker),
        "lasted": brief(((chat.ended_at or now) - chat.started_at).total_seconds()),
        "entries": list(_entries(found)),
        "waits": brief((now - found.turns[-1].at).total_seconds()) if _is_waiting(found) else "",
        "is_sent_topic": is_sent_topic(chat.item.output.system.chatbot, campaign.chat_rules),
        "findings": flags_found(find_flags(inputs_of(rows))),
        "ratings": found.ratings,
        "siblings": [{"chat": each, "is_current": each.pk == chat.pk} for each in found.siblings],
    }


def _is_waiting(found: Transcript) -> bool:
    return found.chat.state == Conversation.State.OPEN and found.chat.awaits_reply and bool(found.turns)


def _entries(found: Transcript) -> Iterator[dict[str, Any]]:
    """Yield turns, failed tries and changes of topic in the order in which they happened."""
    failures = {number: list(group) for number, group in groupby(found.failures, key=_turn_of)}
    changes = {number: list(group) for number, group in groupby(found.changes, key=lambda each: each.after_turn)}
    yield from map(_change_entry, changes.get(0, []))
    before = found.chat.started_at
    for turn in found.turns:
        yield _turn_entry(turn, before)
        yield from map(_failure_entry, failures.get(turn.number, []))
        yield from map(_change_entry, changes.get(turn.number, []))
        before = turn.at


def _turn_of(failure: Event) -> int:
    return failure.data.get("turn", 0)


def _turn_entry(turn: Turn, before: datetime) -> dict[str, Any]:
    is_worker = turn.speaker == Turn.Speaker.WORKER
    return {
        "kind": "turn",
        "turn": turn,
        "is_worker": is_worker,
        "since": brief((turn.at - before).total_seconds()),
        "notes": [note for note in (_worker_notes(turn) if is_worker else _chatbot_notes(turn)) if note],
    }


def _worker_notes(turn: Turn) -> list[str]:
    typed, n_pasted = told_ms(turn.data, "typed_ms"), turn.data.get("n_pasted_chars", 0)
    n_lost = turn.data.get("n_focus_lost", 0)
    return [
        f"typed in {typed}" if typed else "",
        f"{counted(n_pasted, 'character')} pasted" if n_pasted else "",
        f"left the page {counted(n_lost, 'time')}" if n_lost else "",
    ]


def _chatbot_notes(turn: Turn) -> list[str]:
    data = turn.data
    answered, n_tokens = told_ms(data, "answered_ms"), data.get("n_tokens_in", 0) + data.get("n_tokens_out", 0)
    return [
        f"answered in {answered}" if answered else "",
        f"at try {data['n_tries']}" if data.get("n_tries", 1) > 1 else "",
        f"{data.get('n_tokens_in', 0):,} + {data.get('n_tokens_out', 0):,} tokens" if n_tokens else "",
        "cut to the longest reply" if data.get("is_cut") else "",
    ]


def _failure_entry(failure: Event) -> dict[str, Any]:
    return {
        "kind": "failure",
        "at": failure.at,
        "took": told_ms(failure.data, "took_ms"),
        "code": failure.data.get("code", ""),
        "message": failure.data.get("message", ""),
    }


def _change_entry(change: TopicChange) -> dict[str, Any]:
    return {"kind": "change", "change": change, "by": _BY[TopicChange.By(change.by)]}
