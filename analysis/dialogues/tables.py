"""The tables of chats: workers and time, opinions, lengths, topics and their words."""

from typing import Any

from analysis.dialogues.rows import OPINIONS
from analysis.dialogues.summary import GROUPS
from analysis.tables import Cell, Table

MEASURES = {
    "inputs_per_chat": "inputs per chat",
    "words_per_chat": "words per chat",
    "characters_per_chat": "characters per chat",
    "words_per_input": "words per input",
    "characters_per_input": "characters per input",
}
"""What lengths are called."""
_QUARTILES = ("low", "median", "high")


def dialogue_tables(report: dict[str, Any]) -> list[Table]:
    """Return the tables of a report's chats; none if it has no chats."""
    found = report["summary"].get("dialogues")
    if not found:
        return []
    return [chats_table(found), opinions_table(found), lengths_table(found), topics_table(found), words_table(found)]


def chats_table(found: dict[str, Any]) -> Table:
    """Return workers, HITs, chats, minutes a chat and changes of topic of passed, failed and all workers."""
    header = ["workers", "n", "HITs", "HITs per worker", "chats", "not degraded", "minutes per chat"]
    header += ["topic changes by chatbot", "by worker", "chats with a change, %"]
    rows: list[list[Cell]] = [
        [
            name,
            group["workers"],
            group["assignments"],
            group["assignments_per_worker"],
            group["chats"],
            group["chats_not_degraded"],
            group["minutes_per_chat"],
            group["topic_changes"]["by_chatbot"],
            group["topic_changes"]["by_worker"],
            percent(group["topic_changes"]["share_of_chats"]),
        ]
        for name, group in found["groups"].items()
    ]
    caption = (
        "Chats by the worker test. Changes of topic: mean per chat, chats with the degraded chatbot left out. All: "
        "whoever neither passed nor failed as well."
    )
    return Table("chats", caption, header, rows, [0, 0, 0, 2, 0, 0, 2, 2, 2, 2])


def opinions_table(found: dict[str, Any]) -> Table:
    """Return how many chats began with which opinion of their topic, in numbers and per cent."""
    header = ["opinion", *(f"{group}{unit}" for group in GROUPS for unit in (", %", ", n"))]
    rows: list[list[Cell]] = []
    for name in OPINIONS:
        opinions = [found["groups"][group]["opinions"][name] for group in GROUPS]
        rows.append([name, *(cell for each in opinions for cell in (percent(each["share"]), each["n"]))])
    caption = "Workers' opinions of the topics of all their chats."
    return Table("opinions", caption, header, rows, [0, 2, 0, 2, 0, 2, 0])


def lengths_table(found: dict[str, Any]) -> Table:
    """Return quartiles of what workers say, per chat and per input."""
    header = ["measure", *(f"{group} {quartile}" for group in GROUPS for quartile in ("Q1", "median", "Q3"))]
    rows: list[list[Cell]] = [
        [title, *(found["groups"][group]["lengths"][name][quartile] for group in GROUPS for quartile in _QUARTILES)]
        for name, title in MEASURES.items()
    ]
    caption = (
        "What workers say: quartiles over chats, those with the degraded chatbot left out. Words by white space; "
        "characters without white space; per input: of each chat's mean."
    )
    return Table("chat-lengths", caption, header, rows, [0] + [1] * 9)


def topics_table(found: dict[str, Any], n: int | None = None) -> Table:
    """Return the most frequent topics, at most `n`, with the number of chats."""
    rows: list[list[Cell]] = [[row["topic"], *(row[group] for group in GROUPS)] for row in found["topics"][:n]]
    caption = f"The {len(rows)} most frequent of {found['n_topics']:,} topics; number of chats."
    return Table("topics", caption, ["topic", *GROUPS], rows, [0, 0, 0, 0])


def words_table(found: dict[str, Any]) -> Table:
    """Return the words of the word cloud, with the number of chats."""
    rows: list[list[Cell]] = [[row["word"], row["n"]] for row in found["words"]]
    caption = "The most frequent words of the topics of workers who passed; number of chats."
    return Table("topic-words", caption, ["word", "chats"], rows, [0, 0])


def percent(share: float | None) -> float | None:
    """Return a share in per cent."""
    return None if share is None else 100 * share
