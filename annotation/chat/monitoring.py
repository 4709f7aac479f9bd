"""Watching the chats of a live campaign: how its chatbots do, and what was said. The caller has fetched the campaign.

What grows without end is counted by the database, or looked at where it is newest.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from django.db.models import BigIntegerField, Count, Exists, F, OuterRef, Q, QuerySet, Sum, Window
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, RowNumber
from django.shortcuts import get_object_or_404
from numpy.typing import NDArray

from annotation.chat.flags import Finding, find_flags, inputs_of
from annotation.models import Assignment, Conversation, Event, Rating, TopicChange, Turn, Worker
from campaigns.models import Campaign, Chatbot
from campaigns.queries import list_chatbots

State = Conversation.State

AT_ONCE = timedelta(minutes=5)
"""A chat is running while its worker was seen so lately."""
CHATS_TIMED, CHATS_FLAGGED, TRIES_JUDGED = 1_000, 2_000, 50
FAILS_OFTEN, FEWEST_FAILURES = 0.2, 3
"""Share of the newest tries, and how many of them at least, that must have failed for a warning."""
_ROWS_AT_ONCE = 2_000
_SYSTEM = "item__output__system"


def running(now: datetime) -> Q:
    """Return the condition for chats that go on: somebody is in them, or a reply is being asked for."""
    is_open = Q(state=State.OPEN, assignment__state=Assignment.State.ACTIVE)
    return is_open & (Q(assignment__seen_at__gt=now - AT_ONCE) | Q(asked_until__gt=now))


# The worker's turns are the first, third, …: of an odd number of turns the last has no reply.
_AWAITS = Q(n_turns__lt=2 * F("n_inputs"))


class Failure(NamedTuple):
    """A try that got no reply: when, and what the chatbot or its connector said."""

    at: datetime
    code: str
    message: str


@dataclass(frozen=True)
class ChatbotState:
    """How a chatbot does: its chats and replies so far, what went wrong, and how long its newest replies took.

    `n_left` chats are open and not running. `latencies_ms` are of the replies in the campaign's newest CHATS_TIMED
    chats. `n_failed_lately` of its newest `n_tried_lately` tries failed.
    """

    chatbot: Chatbot
    n_chats: int = 0
    n_running: int = 0
    n_awaiting: int = 0
    n_ended: int = 0
    n_dead: int = 0
    n_replies: int = 0
    n_given_up: int = 0
    n_failed: int = 0
    last_failure: Failure | None = None
    n_failed_lately: int = 0
    n_tried_lately: int = 0
    latencies_ms: NDArray[np.float64] = field(default_factory=lambda: np.array([]))

    @property
    def n_left(self) -> int:
        """Number of chats that are open, and nobody is in them."""
        return self.n_chats - self.n_running - self.n_ended - self.n_dead

    @property
    def fails_often(self) -> bool:
        """Whether so many of its newest tries failed that somebody should look."""
        n_enough = max(FEWEST_FAILURES, FAILS_OFTEN * self.n_tried_lately)
        return self.n_failed_lately >= n_enough


def get_chatbot_states(campaign: Campaign, now: datetime) -> list[ChatbotState]:
    """Return how each chatbot of the campaign does, by name. Four queries, whatever was said."""
    counts, failures, replies = _count_chats(campaign, now), _newest_failures(campaign), _newest_replies(campaign)
    states = []
    for chatbot in list_chatbots(campaign):
        n_failed, failed = failures.get(chatbot.system_id, (0, []))
        replied_at, latencies_ms = replies.get(chatbot.system_id, (np.array([]), np.array([])))
        n_failed_lately, n_tried_lately = _newest_tries([each.at.timestamp() for each in failed], replied_at)
        states.append(
            ChatbotState(
                chatbot,
                **counts.get(chatbot.system_id, {}),
                n_failed=n_failed,
                last_failure=failed[0] if failed else None,
                n_failed_lately=n_failed_lately,
                n_tried_lately=n_tried_lately,
                latencies_ms=latencies_ms,
            )
        )
    return states


def _count_chats(campaign: Campaign, now: datetime) -> dict[int, dict[str, int]]:
    is_running = running(now)
    counted = Conversation.objects.filter(assignment__campaign=campaign).order_by().values(_SYSTEM)
    rows = counted.annotate(
        n_chats=Count("pk"),
        n_running=Count("pk", filter=is_running),
        n_awaiting=Count("pk", filter=is_running & _AWAITS),
        n_ended=Count("pk", filter=Q(state=State.ENDED)),
        n_dead=Count("pk", filter=Q(state=State.DEAD)),
        n_replies=Sum(F("n_turns") - F("n_inputs")),
        n_given_up=Sum("n_failures"),
    )
    return {row.pop(_SYSTEM): row for row in rows}


def _newest_failures(campaign: Campaign) -> dict[int, tuple[int, list[Failure]]]:
    """Return by system how many tries failed, and the newest TRIES_JUDGED of them, newest first."""
    failed = Event.objects.filter(assignment__campaign=campaign, kind=Event.Kind.UNANSWERED).order_by()
    ranked = failed.annotate(
        place=Window(RowNumber(), partition_by=[F(_SYSTEM)], order_by=F("pk").desc()),
        n=Window(Count("pk"), partition_by=[F(_SYSTEM)]),
    )
    rows = ranked.filter(place__lte=TRIES_JUDGED).order_by("-pk").values_list(_SYSTEM, "n", "at", "data")
    found: dict[int, tuple[int, list[Failure]]] = {}
    for system, n, at, data in rows:
        found.setdefault(system, (n, []))[1].append(Failure(at, data.get("code", ""), data.get("message", "")))
    return found


def _newest_replies(campaign: Campaign) -> dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return by system when the replies in the newest chats came, and the milliseconds that they took."""
    newest = Conversation.objects.filter(assignment__campaign=campaign).order_by("-pk").values("pk")[:CHATS_TIMED]
    replies = Turn.objects.filter(conversation__in=newest, speaker=Turn.Speaker.CHATBOT).order_by()
    answered_ms = Cast(KT("data__answered_ms"), BigIntegerField())
    rows = list(replies.annotate(ms=answered_ms).values_list(f"conversation__{_SYSTEM}", "at", "ms"))
    systems = np.array([system for system, _, _ in rows])
    times = np.array([at.timestamp() for _, at, _ in rows])
    took_ms = np.array([np.nan if ms is None else ms for _, _, ms in rows], np.float64)
    found = {}
    for system in np.unique(systems).tolist():
        is_its = systems == system
        latencies_ms = took_ms[is_its]
        found[system] = times[is_its], latencies_ms[~np.isnan(latencies_ms)]
    return found


def _newest_tries(failed_at: Sequence[float], replied_at: NDArray[np.float64]) -> tuple[int, int]:
    """Return how many of the newest tries failed, and how many those are."""
    times = np.concatenate([failed_at, replied_at])
    is_failed = np.arange(times.size) < len(failed_at)
    newest = np.argsort(-times, kind="stable")[:TRIES_JUDGED]
    return int(is_failed[newest].sum()), newest.size


def list_running(campaign: Campaign, now: datetime, n_most: int) -> list[Conversation]:
    """Return the chats that go on, whose worker was seen last first, with workers and systems. One query."""
    found = list_chats(campaign).filter(running(now))
    return list(found.order_by("-assignment__seen_at", "-pk")[:n_most])


# --- Transcripts


def list_chats(
    campaign: Campaign,
    *,
    now: datetime | None = None,
    chatbot: int | None = None,
    workers: Collection[int] | None = None,
    hit: int | None = None,
    state: str = "",
    search: str = "",
) -> QuerySet[Conversation]:
    """Return the chats that match, newest first, with workers, HITs and systems.

    `chatbot` is a pk; `state` is one of a conversation, or `running` (at `now`); `search` is a part of what either side
    said or of a topic, in capitals or not.
    """
    found = Conversation.objects.filter(assignment__campaign=campaign)
    found = found.select_related("assignment__worker", "assignment__hit", _SYSTEM)
    if chatbot is not None:
        found = found.filter(item__output__system__chatbot=chatbot)
    if workers is not None:
        found = found.filter(assignment__worker__in=workers)
    if hit is not None:
        found = found.filter(assignment__hit__number=hit)
    if state == "running" and now:
        found = found.filter(running(now))
    elif state:
        found = found.filter(state=state)
    if search:
        of_chat = {"conversation": OuterRef("pk")}
        found = found.filter(
            Q(topic__icontains=search)
            | Exists(Turn.objects.filter(**of_chat, text__icontains=search))
            | Exists(TopicChange.objects.filter(**of_chat, topic__icontains=search))
        )
    return found.order_by("-pk")


def list_workers(campaign: Campaign) -> list[Worker]:
    """Return everybody who has an assignment in the campaign. One query."""
    return list(Worker.objects.filter(pk__in=Assignment.objects.filter(campaign=campaign).values("worker")))


# A turn as flags and transcripts read it: its number, text, time and data.
TurnRow = tuple[int, str, datetime, dict[str, Any]]


def iter_turns(chats: Any) -> Iterator[tuple[int, list[TurnRow]]]:
    """Yield the turns of chats, given as whatever `conversation__in` takes, chat by chat. One query, as it is read."""
    turns = Turn.objects.filter(conversation__in=chats).order_by("conversation", "number")
    rows = turns.values_list("conversation", "number", "text", "at", "data").iterator(chunk_size=_ROWS_AT_ONCE)
    for chat, of_chat in groupby(rows, key=lambda row: row[0]):
        yield chat, [row[1:] for row in of_chat]


def find_flagged(chats: QuerySet[Conversation]) -> dict[int, list[Finding]]:
    """Return the flags of those of the newest CHATS_FLAGGED of some chats that have any, newest first. One query."""
    newest = chats.order_by("-pk").values("pk")[:CHATS_FLAGGED]
    found = {chat: findings for chat, turns in iter_turns(newest) if (findings := find_flags(inputs_of(turns)))}
    return dict(sorted(found.items(), reverse=True))


def only_flagged(chats: QuerySet[Conversation], flag: str) -> QuerySet[Conversation]:
    """Return those of the newest CHATS_FLAGGED of some chats that have a flag. One query, which reads them."""
    found = find_flagged(chats).items()
    flagged = [pk for pk, findings in found if any(finding.flag.name == flag for finding in findings)]
    return chats.filter(pk__in=flagged)


class WorkerFlags(NamedTuple):
    """How many of a worker's chats there are, and how many of them have each flag."""

    worker: Worker
    n_chats: int
    n_flagged: int
    by_flag: dict[str, int]


def count_worker_flags(campaign: Campaign) -> list[WorkerFlags]:
    """Return the flags in the campaign's newest CHATS_FLAGGED chats by worker, who has most first. Three queries."""
    chats = Conversation.objects.filter(assignment__campaign=campaign)
    newest = chats.order_by("-pk").values_list("pk", "assignment__worker")[:CHATS_FLAGGED]
    worker_of = dict(newest)
    n_chats = Counter(worker_of.values())
    flags: dict[int, list[list[Finding]]] = {}
    for chat, findings in find_flagged(chats).items():
        if chat in worker_of:  # else it was begun between the two queries
            flags.setdefault(worker_of[chat], []).append(findings)
    workers = Worker.objects.in_bulk(flags)
    counts = [
        WorkerFlags(workers[pk], n_chats[pk], len(of_worker), _count_flags(of_worker))
        for pk, of_worker in flags.items()
    ]
    return sorted(counts, key=lambda each: (-each.n_flagged, each.worker.pk))


def _count_flags(findings: Sequence[Sequence[Finding]]) -> dict[str, int]:
    return Counter(finding.flag.name for of_chat in findings for finding in of_chat)


# --- One chat


@dataclass(frozen=True)
class Transcript:
    """All that is known of one chat; `siblings` are the chats of its assignment, itself included, by position."""

    chat: Conversation
    turns: Sequence[Turn]
    changes: Sequence[TopicChange]
    failures: Sequence[Event]
    ratings: Sequence[Rating]
    siblings: Sequence[Conversation]


def get_transcript(campaign: Campaign, chat_id: int) -> Transcript:
    """Return a chat of the campaign and all that belongs to it; raise Http404 for any other. Six queries."""
    chat = get_object_or_404(list_chats(campaign).select_related(f"{_SYSTEM}__chatbot"), pk=chat_id)
    of_item = {"assignment": chat.assignment_id, "item": chat.item_id}
    siblings = Conversation.objects.filter(assignment=chat.assignment_id).select_related(_SYSTEM)
    return Transcript(
        chat=chat,
        turns=list(chat.turns.order_by("number")),
        changes=list(chat.topic_changes.order_by("pk")),
        failures=list(Event.objects.filter(**of_item, kind=Event.Kind.UNANSWERED).order_by("pk")),
        ratings=list(Rating.objects.filter(**of_item).select_related("criterion").order_by("criterion__order")),
        siblings=list(siblings.order_by("item__position")),
    )
