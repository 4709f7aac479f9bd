"""What the pages say of the chats of a run, apart from their sections."""

from typing import Any

from analysis.dialogues.summary import ALL, FAILED, PASSED, groups_of
from analysis.methods.dialogue import has_chats
from analysis.templatetags.results import number


def chats(report: dict[str, Any]) -> dict[str, Any] | None:
    """Return the numbers that matter of a report's chats, and notices; None if it has no chats."""
    if not has_chats(report):
        return None
    found = report["summary"]["dialogues"]
    return {"stats": _stats(found), "notices": found["notices"]}


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
