"""What was said in the chats of a live campaign, as researchers read it: lists of chats, flags, one chat turn by turn.

The caller has fetched the campaign for its user.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.shortcuts import get_object_or_404

from annotation.chat.flags import FLAGS, Finding, find_flags, inputs_of
from annotation.models import Assignment, Conversation, Event, Response, TopicChange, Turn, Worker
from annotation.queries import worker_name
from campaigns.chatbots import is_sent_topic
from campaigns.models import Campaign

State = Conversation.State

AT_ONCE = timedelta(minutes=5)
"""A chat is running while its worker was seen so lately."""
CHATS_FLAGGED = 2_000
_ROWS_AT_ONCE = 2_000
_S_PER_MIN = 60
# How much of a turn is shown around the words that were searched for.
_AROUND = 60
_SYSTEM = "item__output__system"

# A turn as flags and excerpts read it: its number, text, time and data.
TurnRow = tuple[int, str, datetime, dict[str, Any]]


def running(now: datetime) -> Q:
    """Return the condition for chats that go on: somebody is in them, or a reply is being asked for."""
    is_open = Q(state=State.OPEN, assignment__state=Assignment.State.ACTIVE)
    return is_open & (Q(assignment__seen_at__gt=now - AT_ONCE) | Q(asked_until__gt=now))


def list_chats(
    campaign: Campaign,
    *,
    now: datetime | None = None,
    chatbot: int | None = None,
    worker: str = "",
    hit: int | None = None,
    state: str = "",
    search: str = "",
    flag: str = "",
) -> QuerySet[Conversation]:
    """Return the chats that match, newest first, with workers, HITs and systems.

    `chatbot` is a pk; `worker` is a part of a name as the user may see it (a query more); `state` is one of a
    conversation, or `running` (at `now`); `search` is a part of what either side said or of a topic, in capitals or
    not; `flag` leaves those of the newest CHATS_FLAGGED that have it (a query more, which reads them).
    """
    found = Conversation.objects.filter(assignment__campaign=campaign)
    found = found.select_related("assignment__worker", "assignment__hit", _SYSTEM)
    if chatbot is not None:
        found = found.filter(item__output__system__chatbot=chatbot)
    if worker:
        found = found.filter(assignment__worker__in=_find_workers(campaign, worker))
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
    if flag:
        found = _only_flagged(found, flag)
    return found.order_by("-pk")


def _find_workers(campaign: Campaign, name: str) -> list[int]:
    """Return the ids of the campaign's workers whose name, as the user may see it, has `name` in it."""
    workers = Worker.objects.filter(pk__in=Assignment.objects.filter(campaign=campaign).values("worker"))
    return [each.pk for each in workers if name.casefold() in worker_name(campaign, each).casefold()]


class Excerpt(NamedTuple):
    """Where in a chat something was found: the number of the turn, and its text around what was found."""

    number: int
    before: str
    found: str
    after: str


class ChatRow(NamedTuple):
    """A chat in a list: with its worker's name as the user may see it, its minutes if it is over, and its flags."""

    chat: Conversation
    worker: str
    minutes: float | None
    findings: list[Finding]
    excerpt: Excerpt | None


def describe_chats(campaign: Campaign, chats: Iterable[Conversation], *, search: str = "") -> list[ChatRow]:
    """Return chats as rows of a list, each with the first turn that has `search` in it. One query."""
    chats = list(chats)
    turns_of = dict(iter_turns([chat.pk for chat in chats]))
    rows = []
    for chat in chats:
        turns = turns_of.get(chat.pk, [])
        minutes = (chat.ended_at - chat.started_at).total_seconds() / _S_PER_MIN if chat.ended_at else None
        name, findings = worker_name(campaign, chat.assignment.worker), find_flags(inputs_of(turns))
        rows.append(ChatRow(chat, name, minutes, findings, _find_excerpt(turns, search) if search else None))
    return rows


def _find_excerpt(turns: Iterable[TurnRow], search: str) -> Excerpt | None:
    sought = re.compile(re.escape(search), re.IGNORECASE)
    for number, text, _, _ in turns:
        if match := sought.search(text):
            begin, end = max(match.start() - _AROUND, 0), match.end() + _AROUND
            before = ("…" if begin else "") + text[begin : match.start()]
            return Excerpt(number, before, match.group(), text[match.end() : end] + ("…" if end < len(text) else ""))
    return None


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


def _only_flagged(chats: QuerySet[Conversation], flag: str) -> QuerySet[Conversation]:
    """Return those of the newest CHATS_FLAGGED of some chats that have a flag."""
    found = find_flagged(chats).items()
    flagged = [pk for pk, findings in found if any(finding.flag.name == flag for finding in findings)]
    return chats.filter(pk__in=flagged)


class WorkerFlags(NamedTuple):
    """How many chats a worker, named as the user may see them, has had, and how many of them have each flag."""

    worker: str
    n_chats: int
    n_flagged: int
    by_flag: dict[str, int]


def count_worker_flags(campaign: Campaign) -> list[WorkerFlags]:
    """Return the flags in the campaign's newest CHATS_FLAGGED chats by worker, who has most first. Three queries."""
    chats = Conversation.objects.filter(assignment__campaign=campaign)
    newest = chats.order_by("-pk").values_list("pk", "assignment__worker")[:CHATS_FLAGGED]
    worker_of = dict(newest)
    n_chats, n_flagged = Counter(worker_of.values()), Counter[int]()
    by_flag: dict[int, Counter[str]] = defaultdict(Counter)
    for chat, findings in find_flagged(chats).items():
        if chat in worker_of:  # else it was begun between the two queries
            n_flagged[worker_of[chat]] += 1
            by_flag[worker_of[chat]].update(finding.flag.name for finding in findings)
    workers = Worker.objects.in_bulk(by_flag)
    return [
        WorkerFlags(worker_name(campaign, workers[pk]), n_chats[pk], n, {name: by_flag[pk][name] for name in FLAGS})
        for pk, n in sorted(n_flagged.items(), key=lambda item: (-item[1], item[0]))
    ]


@dataclass(frozen=True)
class TranscriptTurn:
    """One turn, how long after the one before, and what happened until the next: failed tries, changes of topic."""

    turn: Turn
    since: timedelta
    failures: Sequence[Event]
    changes: Sequence[TopicChange]


@dataclass(frozen=True)
class Transcript:
    """All that is known of one chat.

    `first_changes` are the changes of topic before anything was said. `awaited_for`: how long a reply is awaited,
    None if none is. `siblings` are the chats of its assignment, itself included, by position.
    """

    chat: Conversation
    worker: str
    lasted: timedelta
    first_changes: Sequence[TopicChange]
    turns: Sequence[TranscriptTurn]
    awaited_for: timedelta | None
    is_sent_topic: bool
    findings: Sequence[Finding]
    ratings: Sequence[Response]
    siblings: Sequence[Conversation]


def get_transcript(campaign: Campaign, chat_id: int, now: datetime) -> Transcript:
    """Return a chat of the campaign and all that belongs to it; raise Http404 for any other. Six queries."""
    chat = get_object_or_404(list_chats(campaign).select_related(f"{_SYSTEM}__chatbot"), pk=chat_id)
    of_item = {"assignment": chat.assignment_id, "item": chat.item_id}
    siblings = Conversation.objects.filter(assignment=chat.assignment_id).select_related(_SYSTEM)
    said = list(chat.turns.order_by("number"))
    ratings = Response.objects.filter(**of_item).select_related("criterion")
    failures: dict[int, list[Event]] = defaultdict(list)
    for failure in Event.objects.filter(**of_item, kind=Event.Kind.UNANSWERED).order_by("pk"):
        failures[failure.data.get("turn", 0)].append(failure)
    changes: dict[int, list[TopicChange]] = defaultdict(list)
    for change in chat.topic_changes.order_by("pk"):
        changes[change.after_turn].append(change)
    before = [chat.started_at, *(turn.at for turn in said)]
    is_awaited = chat.state == State.OPEN and chat.awaits_reply and bool(said)
    return Transcript(
        chat=chat,
        worker=worker_name(campaign, chat.assignment.worker),
        lasted=(chat.ended_at or now) - chat.started_at,
        first_changes=changes[0],
        turns=[
            TranscriptTurn(turn, turn.at - at, failures[turn.number], changes[turn.number])
            for turn, at in zip(said, before, strict=False)
        ],
        awaited_for=now - said[-1].at if is_awaited else None,
        is_sent_topic=is_sent_topic(chat.item.system.chatbot, campaign.chat_rules),
        findings=find_flags(inputs_of((turn.number, turn.text, turn.at, turn.data) for turn in said)),
        ratings=list(ratings.order_by("turn", "criterion__order")),
        siblings=list(siblings.order_by("item__position")),
    )
