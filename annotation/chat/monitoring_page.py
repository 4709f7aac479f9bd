"""The pages on which researchers watch chats: numbers, warnings and lists, in words and shapes."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from django.urls import reverse
from django.utils.formats import date_format
from numpy.typing import NDArray

from annotation.chat.flags import FEWEST_INPUTS, FLAGS, Finding, find_flags, inputs_of
from annotation.chat.monitoring import (
    CHATS_FLAGGED,
    CHATS_TIMED,
    ChatbotState,
    TurnRow,
    WorkerFlags,
)
from annotation.models import Conversation, Worker
from annotation.presenters.monitoring import worker_name
from annotation.presenters.progress import histogram_bars, round_up
from campaigns.models import Campaign
from campaigns.navigation import campaign_context
from campaigns.presenters.chatbots import spent_words

_PARTS = (("chats", "Now"), ("transcripts", "Transcripts"), ("chat_flags", "Flags"))
_SPARK_WIDTH, _SPARK_HEIGHT, _N_BARS = 80, 28, 12
_MOST_SHOWN_SHARE = 0.97
_MS_PER_S, _S_PER_MIN, _MIN_PER_HOUR = 1000, 60, 60
# How much of a turn is shown around what was searched for.
_AROUND = 60


def chats_frame(campaign: Campaign, part: str) -> dict[str, Any]:
    """Return what monitoring/frame.html needs; `part` names the page of the tab of chats that shows."""
    parts = [
        {"title": title, "url": reverse(f"monitoring:{name}", args=[campaign.public_id]), "current": name == part}
        for name, title in _PARTS
    ]
    return campaign_context(campaign, "chats") | {"parts": parts, "parts_of": "Chats"}


# --- Now


def chats_now(
    campaign: Campaign, states: Sequence[ChatbotState], running: Iterable[Conversation], now: datetime
) -> dict[str, Any]:
    """Return the numbers and warnings of a campaign's chats, a row for each chatbot, and the chats that go on."""
    # The degraded chatbot, which runs here, waits as long as the others took: its own times say nothing of a reply's.
    asked = [state for state in states if not state.chatbot.system.is_degraded]
    latencies_ms = np.concatenate([np.array([]), *(state.latencies_ms for state in asked)])
    top_ms = float(np.quantile(latencies_ms, _MOST_SHOWN_SHARE)) if latencies_ms.size else 0.0
    rows = [_chatbot_row(state, round_up(top_ms / _MS_PER_S)) for state in states]
    return {
        "at": now,
        "n_chats": sum(state.n_chats for state in states),
        "n_running": sum(state.n_running for state in states),
        "stats": _stats(states, latencies_ms),
        "warnings": [] if campaign.status == campaign.Status.CLOSED else _warnings(campaign, states),
        "rows": rows,
        "has_costs": any(row["spent"] for row in rows),
        "n_timed": CHATS_TIMED,
        "running": [_running_row(campaign, chat, now) for chat in running],
        "min_inputs": campaign.chat_rules.min_inputs,
    }


def _stats(states: Sequence[ChatbotState], latencies_ms: NDArray[np.float64]) -> list[dict[str, str]]:
    n_replies = sum(state.n_replies for state in states)
    n_failed, n_given_up = sum(state.n_failed for state in states), sum(state.n_given_up for state in states)
    median, p95 = _seconds(latencies_ms, 0.5), _seconds(latencies_ms, 0.95)
    return [
        {"label": "Running now", "value": f"{sum(state.n_running for state in states):,}", "note": ""},
        {"label": "Replies awaited", "value": f"{sum(state.n_awaiting for state in states):,}", "note": ""},
        {"label": "Ended", "value": f"{sum(state.n_ended for state in states):,}", "note": ""},
        {"label": "Dead", "value": f"{sum(state.n_dead for state in states):,}", "note": "not rated"},
        {"label": "Left open", "value": f"{sum(state.n_left for state in states):,}", "note": "nobody is there"},
        {"label": "Seconds to a reply, median", "value": median, "note": f"95 % within {p95}" if n_replies else ""},
        {"label": "Failed tries", "value": f"{n_failed:,}", "note": f"{n_given_up:,} given up"},
    ]


def _chatbot_row(state: ChatbotState, top_s: float) -> dict[str, Any]:
    return {
        "state": state,
        "median": _seconds(state.latencies_ms, 0.5),
        "p95": _seconds(state.latencies_ms, 0.95),
        "bars": histogram_bars(
            state.latencies_ms / _MS_PER_S, top_s, "s", n_bars=_N_BARS, width=_SPARK_WIDTH, height=_SPARK_HEIGHT
        ),
        "bars_label": f"Seconds to a reply, from 0 to {top_s:g}",
        "spent": spent_words(state.chatbot),
    }


def _seconds(latencies_ms: NDArray[np.float64], share: float) -> str:
    if not latencies_ms.size:
        return "–"
    seconds = float(np.quantile(latencies_ms, share)) / _MS_PER_S
    return f"{seconds:.1f}" if seconds >= 1 else f"{seconds:.2g}"


def _warnings(campaign: Campaign, states: Sequence[ChatbotState]) -> list[dict[str, str]]:
    """Return what somebody should look at: chatbots that have spent their cap, then those that fail often."""
    warnings = []
    for state in sorted(states, key=lambda each: not each.chatbot.is_spent):
        chatbot = state.chatbot
        if chatbot.is_spent:
            title = "has reached its spending cap"
            text = f"It has cost {spent_words(chatbot)} and is asked no more: its chats are passed over and not rated."
        elif state.fails_often and (last := state.last_failure):
            title = "fails often"
            text = (
                f"Of its newest {state.n_tried_lately} tries {state.n_failed_lately} failed, the last one on "
                f"{date_format(last.at, 'j M, H:i')}: {last.message or last.code}"
            )
        else:
            continue
        url = reverse("campaigns:chatbot", args=[campaign.public_id, chatbot.pk])
        warnings.append({"name": str(chatbot), "title": title, "text": text, "url": url})
    return warnings


def _running_row(campaign: Campaign, chat: Conversation, now: datetime) -> dict[str, Any]:
    return {
        "chat": chat,
        "worker": worker_name(campaign, chat.assignment.worker),
        "seen": brief((now - chat.assignment.seen_at).total_seconds()),
        "lasts": brief((now - chat.started_at).total_seconds()),
    }


# --- Transcripts


def workers_called(campaign: Campaign, workers: Iterable[Worker], name: str) -> list[int]:
    """Return the workers whose name, as the user may see it, has `name` in it."""
    sought = name.casefold()
    return [each.pk for each in workers if sought in worker_name(campaign, each).casefold()]


def chats_listed(
    campaign: Campaign, chats: Iterable[Conversation], turns: Mapping[int, Sequence[TurnRow]], search: str
) -> list[dict[str, Any]]:
    """Return chats as rows of their table, with flags and the first turn that has what was searched for."""
    return [
        {
            "chat": chat,
            "worker": worker_name(campaign, chat.assignment.worker),
            "minutes": _minutes(chat),
            "findings": find_flags(inputs_of(turns.get(chat.pk, []))),
            "excerpt": _excerpt(turns.get(chat.pk, []), search) if search else None,
        }
        for chat in chats
    ]


def _minutes(chat: Conversation) -> str:
    return f"{(chat.ended_at - chat.started_at).total_seconds() / _S_PER_MIN:.1f}" if chat.ended_at else "–"


def _excerpt(turns: Iterable[TurnRow], search: str) -> dict[str, Any] | None:
    sought = re.compile(re.escape(search), re.IGNORECASE)
    for number, text, _, _ in turns:
        if match := sought.search(text):
            begin, end = max(match.start() - _AROUND, 0), match.end() + _AROUND
            return {
                "number": number,
                "before": ("…" if begin else "") + text[begin : match.start()],
                "found": match.group(),
                "after": text[match.end() : end] + ("…" if end < len(text) else ""),
            }
    return None


# --- Flags


def flags_shown(campaign: Campaign, counts: Iterable[WorkerFlags]) -> dict[str, Any]:
    """Return the rules of the flags, and the workers whose chats have any."""
    workers = [
        {
            "worker": worker_name(campaign, each.worker),
            "n_chats": each.n_chats,
            "n_flagged": each.n_flagged,
            "by_flag": [{"name": name, "n": each.by_flag.get(name, 0)} for name in FLAGS],
        }
        for each in counts
    ]
    return {
        "flags": list(FLAGS.values()),
        "workers": workers,
        "n_newest": CHATS_FLAGGED,
        "fewest_inputs": FEWEST_INPUTS,
    }


def flags_found(findings: Iterable[Finding]) -> list[dict[str, str]]:
    """Return the flags of a chat, each with what raised it and its rule."""
    return [{"title": each.flag.title, "text": each.text, "rule": each.flag.rule} for each in findings]


def brief(seconds: float) -> str:
    """Return a duration in few characters.

    >>> brief(0.24), brief(8.25), brief(75), brief(7300)
    ('0.2 s', '8.2 s', '1 min 15 s', '2 h 1 min')
    """
    if seconds < _S_PER_MIN:
        return f"{max(seconds, 0.0):.1f} s"
    minutes, rest = divmod(round(seconds), _S_PER_MIN)
    if minutes < _MIN_PER_HOUR:
        return f"{minutes} min {rest} s"
    return f"{minutes // _MIN_PER_HOUR} h {minutes % _MIN_PER_HOUR} min"


def told_ms(data: Mapping[str, Any], name: str) -> str:
    """Return a duration that a turn's data tell in milliseconds, in few characters; "" if they do not."""
    return brief(data[name] / _MS_PER_S) if data.get(name) else ""
