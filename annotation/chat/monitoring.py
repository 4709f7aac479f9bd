"""How the chats of a live campaign go at the moment, and how each chatbot does.

The caller has fetched the campaign for its user. What grows without end is counted by the database, or read where it is
newest.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
from django.db.models import BigIntegerField, Count, F, Q, Sum, Window
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, RowNumber
from numpy.typing import NDArray

from annotation.chat.transcripts import list_chats, running
from annotation.models import Conversation, Event, Turn
from annotation.queries import worker_name
from campaigns.models import Campaign, Chatbot
from campaigns.queries import list_chatbots
from evalsite.lib.histograms import Histogram, count_in_steps, round_top

State = Conversation.State

CHATS_TIMED, TRIES_JUDGED = 1_000, 50
FAILS_OFTEN, FEWEST_FAILURES = 0.2, 3
"""Share of the newest tries, and how many of them at least, that must have failed for a warning."""
_N_STEPS = 12
_MS_PER_S = 1000
_SYSTEM = "item__output__system"


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
    chats; `histogram`, of the same in seconds, has the steps of the other chatbots' histograms. `n_failed_lately` of
    its newest `n_tried_lately` tries failed.
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
    histogram: Histogram | None = None

    @property
    def n_left(self) -> int:
        """Number of chats that are open, and nobody is in them."""
        return self.n_chats - self.n_running - self.n_ended - self.n_dead

    @property
    def fails_often(self) -> bool:
        """Whether so many of its newest tries failed that the page warns of it."""
        n_enough = max(FEWEST_FAILURES, FAILS_OFTEN * self.n_tried_lately)
        return self.n_failed_lately >= n_enough

    @property
    def median_s(self) -> float | None:
        """Median seconds to a reply."""
        return _quantile_s(self.latencies_ms, 0.5)

    @property
    def p95_s(self) -> float | None:
        """Seconds within which 95 % of the replies came."""
        return _quantile_s(self.latencies_ms, 0.95)


def _quantile_s(latencies_ms: NDArray[np.float64], share: float) -> float | None:
    return float(np.quantile(latencies_ms, share)) / _MS_PER_S if latencies_ms.size else None


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
    top_s = round_top(_latencies_ms(states) / _MS_PER_S)
    return [
        replace(state, histogram=count_in_steps(state.latencies_ms / _MS_PER_S, n_steps=_N_STEPS, top=top_s))
        for state in states
    ]


def _latencies_ms(states: Iterable[ChatbotState]) -> NDArray[np.float64]:
    """Return how long replies took, without the degraded chatbot's, which waits as long as the others took."""
    asked = (state.latencies_ms for state in states if not state.chatbot.system.is_degraded)
    return np.concatenate([np.array([]), *asked])


def _count_chats(campaign: Campaign, now: datetime) -> dict[int, dict[str, Any]]:
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


class RunningChat(NamedTuple):
    """A chat that goes on, its worker's name as the user may see it, how long it lasts, when they were seen."""

    chat: Conversation
    worker: str
    lasts: timedelta
    seen_ago: timedelta


@dataclass(frozen=True)
class ChatsNow:
    """A campaign's chats at a moment: how each chatbot does, and the chats that go on."""

    at: datetime
    states: Sequence[ChatbotState]
    running: Sequence[RunningChat]
    warned: Sequence[ChatbotState]
    """Chatbots that have spent their cap, then those that fail often; none once the campaign is closed."""
    median_s: float | None
    p95_s: float | None

    @property
    def has_costs(self) -> bool:
        """Whether any chatbot has cost something or has a cap."""
        return any(state.chatbot.spent or state.chatbot.spending_cap is not None for state in self.states)

    @property
    def total(self) -> dict[str, int]:
        """The sum over all chatbots of each count of ChatbotState."""
        names = ("chats", "running", "awaiting", "ended", "dead", "left", "replies", "failed", "given_up")
        return {f"n_{name}": sum(getattr(state, f"n_{name}") for state in self.states) for name in names}


def get_chats_now(campaign: Campaign, now: datetime, *, n_running: int) -> ChatsNow:
    """Return how the campaign's chats go, with at most `n_running` of those that go on. Five queries."""
    states = get_chatbot_states(campaign, now)
    warned = [state for state in states if state.chatbot.is_spent or (state.fails_often and state.last_failure)]
    latencies_ms = _latencies_ms(states)
    found = list_chats(campaign).filter(running(now)).order_by("-assignment__seen_at", "-pk")[:n_running]
    return ChatsNow(
        at=now,
        states=states,
        running=[
            RunningChat(
                chat,
                worker_name(campaign, chat.assignment.worker),
                now - chat.started_at,
                now - chat.assignment.seen_at,
            )
            for chat in found
        ],
        warned=[]
        if campaign.status == campaign.Status.CLOSED
        else sorted(warned, key=lambda state: not state.chatbot.is_spent),
        median_s=_quantile_s(latencies_ms, 0.5),
        p95_s=_quantile_s(latencies_ms, 0.95),
    )
