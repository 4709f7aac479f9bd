"""Asking chatbots for the replies that chats await.

The request that waits for a reply asks for it: that of the worker's page calls the chatbot itself and holds no database
connection meanwhile. So no other process is needed, nobody asks on behalf of a worker who has left, and the
row of a conversation holds its whole state: a lease on the asking, the tries that failed, when to try again.
"""

import hashlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from annotation.chat.queries import get_chatbot, said_in, topic_now
from annotation.models import Conversation, Event, Turn
from campaigns.chatbots import ask, is_sent_topic, release_connection
from campaigns.contracts.connector import ConnectorError, Reply, Request
from campaigns.design.seeds import draw_below, generator
from campaigns.models import Campaign, Chatbot

Status = Literal["replied", "waiting", "failed"]
State = Conversation.State

# How long a request waits for a reply that another one has asked for, and how often it asks the database.
_HOLD_S, _POLL_S = 20.0, 0.25
# Beyond the chatbot's own time-out, before another may ask instead.
_GRACE_S = 15.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 30.0
_FULL_PAUSE_S = 1.0
_MS_PER_S = 1000
# What generators are for: the first number of their place under the campaign's seed.
_DELAY, _SEED = 2, 3
_N_SEEDS = 2**31  # servers take no larger ones
# The degraded chatbot, which could answer at once, waits as long as one of so many of the others' latest replies took.
_LATEST, _LONGEST_DELAY_S = 50, 30.0

_places = threading.BoundedSemaphore(max(settings.CHATS_AT_ONCE, 1))
# The chats in which a request waits for the reply that another one has asked for.
_awaited: dict[int, object] = {}


@dataclass(frozen=True)
class ReplyState:
    """How far a reply is: there, or to be asked for again in `wait_s`, or given up until the worker asks again.

    `turn` is the reply, where it came just now.
    """

    status: Status
    wait_s: float = 0.0
    turn: Turn | None = field(default=None, compare=False)


def fetch_reply_of(
    conversation: Conversation, *, is_retry: bool = False, sleep: Callable[[float], None] = time.sleep
) -> ReplyState:
    """Get the reply that a chat awaits, if it awaits one; `is_retry` asks once more for one that was given up.

    The chat has just been read or changed, with its assignment and campaign. One try at a time: after one that failed
    and that another try may fix, `waiting` says when to come again. Until then nobody asks, however often they come.
    Not to be called in a transaction. About six queries.
    """
    if conversation.state != State.OPEN or not conversation.awaits_reply:
        return ReplyState("replied")
    chatbot, now = get_chatbot(conversation.item_id), timezone.now()
    if conversation.n_tries > chatbot.n_retries:
        if not is_retry:
            return ReplyState("failed")
        _allow_one_more(conversation, chatbot)
    if conversation.retry_at and conversation.retry_at > now:
        return ReplyState("waiting", (conversation.retry_at - now).total_seconds())
    if not _places.acquire(blocking=False):
        return ReplyState("waiting", _FULL_PAUSE_S)
    try:
        if conversation.asked_until and conversation.asked_until > now:
            return _await_other(conversation, sleep)
        if not _claim(conversation, chatbot, now):
            return ReplyState("waiting", _FULL_PAUSE_S)
        return _ask(conversation, chatbot, sleep)
    finally:
        _places.release()


def _awaiting(conversation: Conversation) -> QuerySet[Conversation]:
    """Return the chat's row, if it still awaits this reply."""
    return Conversation.objects.filter(pk=conversation.pk, n_turns=conversation.n_turns, state=State.OPEN)


def _allow_one_more(conversation: Conversation, chatbot: Chatbot) -> None:
    """Have a reply that was given up asked for once more, now or by the first request after the pause."""
    _awaiting(conversation).filter(n_tries=conversation.n_tries).update(n_tries=chatbot.n_retries)
    conversation.n_tries = chatbot.n_retries


def _await_other(conversation: Conversation, sleep: Callable[[float], None]) -> ReplyState:
    """Wait for the reply that another request has asked for; of many windows one does, and the rest comes again."""
    mine = object()
    if _awaited.setdefault(conversation.pk, mine) is not mine:
        return ReplyState("waiting", _FULL_PAUSE_S)
    end = time.monotonic() + _HOLD_S
    try:
        while time.monotonic() < end:
            release_connection()
            sleep(_POLL_S)
            if not _awaiting(conversation).filter(asked_until__gt=timezone.now()).exists():
                break
    finally:
        del _awaited[conversation.pk]
    return ReplyState("waiting", 0.0) if _awaiting(conversation).exists() else ReplyState("replied")


def _claim(conversation: Conversation, chatbot: Chatbot, now: datetime) -> bool:
    """Take the right to ask; return False if another has it or the chatbot is asked as often at once as it may be."""
    until = now + timedelta(seconds=chatbot.timeout_s + _GRACE_S)
    free = _awaiting(conversation).filter(
        Q(asked_until=None) | Q(asked_until__lte=now),
        Q(retry_at=None) | Q(retry_at__lte=now),
        n_tries=conversation.n_tries,  # nobody has tried since it was read
    )
    if chatbot.max_parallel is None:
        is_ours = bool(free.update(asked_until=until))
    else:
        with transaction.atomic():
            Chatbot.objects.select_for_update(no_key=True).get(pk=chatbot.pk)  # those who count queue here
            others = Conversation.objects.filter(item__output__system=chatbot.system_id, asked_until__gt=now)
            is_ours = others.count() < chatbot.max_parallel and bool(free.update(asked_until=until))
    conversation.asked_until = until
    return is_ours


def _ask(conversation: Conversation, chatbot: Chatbot, sleep: Callable[[float], None]) -> ReplyState:
    turns = list(conversation.turns.all())
    rules = conversation.assignment.campaign.chat_rules
    topic = topic_now(conversation) if is_sent_topic(chatbot, rules) else ""
    began = time.monotonic()
    try:
        reply = _call(conversation, chatbot, turns, topic)
    except ConnectorError as error:
        return _keep_failure(conversation, chatbot, error, time.monotonic() - began)
    answered_s = time.monotonic() - began
    if chatbot.system.is_degraded:  # an answer at once would show what it is
        wait_s = draw_delay_s(conversation.assignment.campaign, conversation.pk, conversation.n_turns) - answered_s
        if wait_s > 0:
            release_connection()
            sleep(wait_s)
    return ReplyState("replied", turn=_keep_reply(conversation, chatbot, turns[-1], reply, answered_s, topic))


def draw_delay_s(campaign: Campaign, conversation_id: int, n_turns: int) -> float:
    """Return the seconds that one of the latest 50 replies of the campaign's other chatbots took, drawn by its seed.

    So its speed does not reveal the degraded chatbot. Only the campaign's newest 50 chats with a reply are
    read. While there is none, one of the times that the chatbots' tests took; 0 without those too. Two queries at most.
    """
    answered = Conversation.objects.filter(
        assignment__campaign=campaign, item__output__system__is_degraded=False, n_turns__gte=2
    )
    chats = answered.order_by("-pk").values("pk")[:_LATEST]
    replies = Turn.objects.filter(conversation__in=chats, speaker=Turn.Speaker.CHATBOT)
    latest = list(replies.order_by("-pk").values_list("data", flat=True)[:_LATEST])
    took_ms = [data["answered_ms"] for data in latest if "answered_ms" in data]
    if not took_ms:
        others = Chatbot.objects.filter(system__campaign=campaign, system__is_degraded=False).order_by("pk")
        took_ms = [tested["took_ms"] for tested in others.values_list("tested", flat=True) if "took_ms" in tested]
    if not took_ms:
        return 0.0
    rng = generator(campaign.seed, _DELAY, conversation_id, n_turns)
    return min(float(took_ms[draw_below(len(took_ms), rng)]) / _MS_PER_S, _LONGEST_DELAY_S)


def _call(conversation: Conversation, chatbot: Chatbot, turns: list[Turn], topic: str) -> Reply:
    """Ask the chatbot; raise ConnectorError, whatever goes wrong."""
    campaign = conversation.assignment.campaign
    # Campaigns are joined by their public id, and designed by their seed: a chatbot learns neither.
    name = hashlib.sha256(f"{campaign.public_id}-{conversation.pk}".encode()).hexdigest()[:32]
    request = Request(
        chat=name,
        turns=tuple(said_in(turns)),
        topic=topic,
        persona=tuple(conversation.persona),
        seed=draw_below(_N_SEEDS, generator(campaign.seed, _SEED, conversation.pk)),
        timeout_s=chatbot.timeout_s,
        max_chars=chatbot.max_chars,
    )
    return ask(chatbot, request)


@transaction.atomic
def _keep_reply(
    conversation: Conversation, chatbot: Chatbot, asked: Turn, reply: Reply, answered_s: float, topic: str
) -> Turn | None:
    """Store and return a reply, with the topic that was sent for it; count what it cost.

    It comes too late where the chat has ended, or where another request, whose lease came later, was faster.
    """
    _count_cost(chatbot, reply)
    number, now = conversation.n_turns + 1, timezone.now()
    if not _awaiting(conversation).update(n_turns=number, asked_until=None, retry_at=None, n_tries=0):
        return None
    data: dict[str, Any] = {
        "took_ms": round((now - asked.at).total_seconds() * _MS_PER_S),
        "answered_ms": round(answered_s * _MS_PER_S),
        "n_tries": _count_failures(conversation) + 1,
    }
    if reply.n_tokens_in or reply.n_tokens_out:
        data |= {"n_tokens_in": reply.n_tokens_in, "n_tokens_out": reply.n_tokens_out}
    if reply.is_cut:
        data["is_cut"] = True
    if topic:
        data["topic"] = topic
    return Turn.objects.create(
        conversation=conversation, number=number, speaker=Turn.Speaker.CHATBOT, text=reply.text, at=now, data=data
    )


def _count_cost(chatbot: Chatbot, reply: Reply) -> None:
    if cost := chatbot.price_of(reply.n_tokens_in, reply.n_tokens_out):
        Chatbot.objects.filter(pk=chatbot.pk).update(spent=F("spent") + cost)


def _count_failures(conversation: Conversation) -> int:
    """Return how many tries to get this reply have failed. No query for a chat in which none ever did."""
    if not conversation.last_error:
        return 0
    failed = Event.objects.filter(
        assignment=conversation.assignment_id,
        item=conversation.item_id,
        kind=Event.Kind.UNANSWERED,
        data__turn=conversation.n_turns,
    )
    return failed.count()


@transaction.atomic
def _keep_failure(conversation: Conversation, chatbot: Chatbot, error: ConnectorError, took_s: float) -> ReplyState:
    """Note a try that failed, and what it cost; return when to try again, or that the reply is given up."""
    if error.reply:
        _count_cost(chatbot, error.reply)
    now = timezone.now()
    n_tries = conversation.n_tries + 1
    pause_s = max(error.retry_after_s, _pause_after(n_tries))
    is_hopeless = not error.is_passing or n_tries > chatbot.n_retries or pause_s > _LONGEST_PAUSE_S
    if is_hopeless:  # the worker may ask again, in vain less and less often
        n_tries, pause_s = chatbot.n_retries + 1, _pause_after(conversation.n_failures + 1)
    failure = {"code": error.code, "message": error.message}
    changes: dict[str, Any] = {
        "asked_until": None,
        "last_error": failure,
        "n_tries": n_tries,
        "retry_at": now + timedelta(seconds=pause_s),
    }
    if is_hopeless:
        changes["n_failures"] = F("n_failures") + 1
    is_ours = _awaiting(conversation).filter(asked_until=conversation.asked_until).update(**changes)
    Event.objects.create(
        assignment=conversation.assignment,
        item_id=conversation.item_id,
        kind=Event.Kind.UNANSWERED,
        at=now,
        data=failure | {"took_ms": round(took_s * _MS_PER_S), "turn": conversation.n_turns},
    )
    if not is_ours:  # the lease has ended, or the chat: other requests report its state now
        return ReplyState("waiting", _FULL_PAUSE_S)
    return ReplyState("failed") if is_hopeless else ReplyState("waiting", pause_s)


def _pause_after(n_failures: int) -> float:
    return float(min(_FIRST_PAUSE_S * 2 ** min(n_failures - 1, 10), _LONGEST_PAUSE_S))
