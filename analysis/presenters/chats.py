"""What the pages say of the chats of a run."""

from typing import Any

from analysis.dialogues.rows import NO, OPINIONS, YES
from analysis.dialogues.summary import ALL, CLOUD, FAILED, LENGTHS, PASSED, groups_of
from analysis.dialogues.tables import MEASURES, PER_INPUT, percent
from analysis.dialogues.topics import can_draw
from analysis.presenters.numbers import number

_NAMED = 8  # words that stand for the cloud
_TOPICS = 25


def has_chats(report: dict[str, Any]) -> bool:
    """Return whether a report says anything of chats."""
    found = report["summary"].get("dialogues")
    return bool(found and found["groups"][ALL]["chats"])


def chats(report: dict[str, Any]) -> dict[str, Any] | None:
    """Return what the templates show of a report's chats; None if it has no chats."""
    if not has_chats(report):
        return None
    found = report["summary"]["dialogues"]
    groups = groups_of(found)
    return {
        "groups": list(groups),
        "stats": _stats(found),
        "topic_sent": _topic_sent(found),
        "per_input": PER_INPUT[found.get("per_input_over", "chats")],
        "notices": found["notices"],
        "rows": [_group_row(name, group) for name, group in groups.items()],
        "has_changes": groups[ALL]["topic_changes"]["share_of_chats"] is not None,
        "opinions": [
            {"name": name, "cells": [_opinion(group["opinions"][name]) for group in groups.values()]}
            for name in OPINIONS
        ],
        "has_opinions": any(groups[ALL]["opinions"][name]["n"] for name in OPINIONS),
        "lengths": [
            {"name": title, "cells": [_quartiles(group["lengths"][measure]) for group in groups.values()]}
            for measure, title in MEASURES.items()
        ],
        "has_lengths": bool(found["histogram"]["edges"]),
        "topics": [
            {"topic": row["topic"], "counts": [row[group] for group in groups]} for row in found["topics"][:_TOPICS]
        ],
        "n_topics": found["n_topics"],
        "words": found["words"],
        "has_cloud": any(can_draw(row["word"]) for row in found["words"]),
        "first_words": ", ".join(f"{row['word']} ({row['n']})" for row in found["words"][:_NAMED]),
        "cloud": CLOUD,
        "whose": "workers who passed" if PASSED in groups else "all workers",
        "lengths_caption": "Share of the chats of workers who passed (bars) and who failed (line)."
        if PASSED in groups
        else "Share of all chats.",
        "histogram": LENGTHS,
    }


def _stats(found: dict[str, Any]) -> list[dict[str, str]]:
    """Return the numbers that matter, as components/stats.html shows them."""
    groups = groups_of(found)
    everyone = groups[ALL]
    n_degraded = everyone["chats"] - everyone["chats_not_degraded"]

    def words(group: str) -> str:
        return number(groups[group]["lengths"]["words_per_chat"]["median"], 0)

    def minutes(group: str) -> str:
        return number(groups[group]["minutes_per_chat"], 2)

    n_words, by_test, words_failed = words(ALL), "", ""
    if PASSED in groups:
        by_test = f"{minutes(PASSED)} passed, {minutes(FAILED)} failed"
        n_words, words_failed = words(PASSED), f"passed; {words(FAILED)} failed"

    return [
        {"label": "Chats", "value": f"{everyone['chats']:,}", "note": f"{n_degraded:,} with the degraded chatbot"},
        {"label": "Minutes per chat", "value": minutes(ALL), "note": by_test},
        {"label": "Words per chat, median", "value": n_words, "note": words_failed},
        {"label": "Topics", "value": f"{found['n_topics']:,}", "note": "apart from case and spaces"},
    ]


def _topic_sent(found: dict[str, Any]) -> str:
    """Return whether chatbots were sent the topic, as a sentence; "" if it is not known, or differs."""
    sent = found.get("topic_sent", {})
    if bool(sent.get(YES)) == bool(sent.get(NO)):
        return ""
    return "Chatbots were sent the topic." if sent[YES] else "Chatbots were not sent the topic."


def _group_row(name: str, group: dict[str, Any]) -> dict[str, Any]:
    changes = group["topic_changes"]
    return {
        "name": name,
        "workers": group["workers"],
        "assignments": group["assignments"],
        "per_worker": number(group["assignments_per_worker"], 2),
        "chats": group["chats"],
        "not_degraded": group["chats_not_degraded"],
        "minutes": number(group["minutes_per_chat"], 2),
        "by_chatbot": number(changes["by_chatbot"], 2),
        "by_worker": number(changes["by_worker"], 2),
        "changed": number(percent(changes["share_of_chats"]), 1),
    }


def _opinion(found: dict[str, Any]) -> dict[str, Any]:
    return {"n": found["n"], "percent": number(percent(found["share"]), 2)}


def _quartiles(found: dict[str, Any]) -> dict[str, str]:
    is_known = found["median"] is not None
    low, median, high = (number(found[name], 1) for name in ("low", "median", "high"))
    mean = number(found.get("mean"), 1)  # which earlier reports do not have
    return {"median": median, "range": f"{low}–{high}" if is_known else "", "mean": mean}
