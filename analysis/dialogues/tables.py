"""The tables of chats: workers and time, opinions, lengths, topics and their words."""

from typing import Any

from analysis.dialogues.rows import OPINIONS
from analysis.dialogues.summary import ALL, PASSED, groups_of
from analysis.tables import Cell, Table

MEASURES = {
    "inputs_per_chat": "inputs per chat",
    "words_per_chat": "words per chat",
    "characters_per_chat": "characters per chat",
    "words_per_input": "words per input",
    "characters_per_input": "characters per input",
}
"""What lengths are called."""
PER_INPUT = {
    "inputs": "per input: over single inputs",
    "chats": "per input: quartiles of each chat's mean, for want of single inputs; means over all inputs",
}
"""What lengths per input are of."""
_SHOWN = {"Q1": "low", "median": "median", "Q3": "high", "mean": "mean"}


def dialogue_tables(report: dict[str, Any]) -> list[Table]:
    """Return the tables of a report's chats; none if it has no chats."""
    found = report["summary"].get("dialogues")
    if not found:
        return []
    return [chats_table(found), opinions_table(found), lengths_table(found), topics_table(found), words_table(found)]


def chats_table(found: dict[str, Any]) -> Table:
    """Return workers, HITs, chats, minutes a chat and changes of topic of each group of workers."""
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
        for name, group in groups_of(found).items()
    ]
    caption = "Changes of topic: mean per chat, chats with the degraded chatbot left out. "
    if PASSED in found["groups"]:
        caption = f"Chats by the worker test. {caption}All: whoever neither passed nor failed as well."
    else:
        caption = f"Chats. {caption}No worker test was applied."
    return Table("chats", caption, header, rows, [0, 0, 0, 2, 0, 0, 2, 2, 2, 2])


def opinions_table(found: dict[str, Any]) -> Table:
    """Return how many chats began with which opinion of their topic, in numbers and per cent."""
    groups = groups_of(found)
    header = ["opinion", *(f"{group}{unit}" for group in groups for unit in (", %", ", n"))]
    rows: list[list[Cell]] = []
    for name in OPINIONS:
        opinions = [group["opinions"][name] for group in groups.values()]
        rows.append([name, *(cell for each in opinions for cell in (percent(each["share"]), each["n"]))])
    caption = "Workers' opinions of the topics of all their chats."
    return Table("opinions", caption, header, rows, [0] + [2, 0] * len(groups))


def lengths_table(found: dict[str, Any]) -> Table:
    """Return quartiles and means of what workers say, per chat and per input."""
    groups = groups_of(found)
    header = ["measure", *(f"{group} {title}" for group in groups for title in _SHOWN)]
    rows: list[list[Cell]] = [
        [title, *(group["lengths"][name].get(key) for group in groups.values() for key in _SHOWN.values())]
        for name, title in MEASURES.items()
    ]
    caption = (
        "What workers say: chats with the degraded chatbot are left out. Words by white space; characters without "
        f"white space; {PER_INPUT[found.get('per_input_over', 'chats')]}."
    )
    return Table("chat-lengths", caption, header, rows, [0] + [1] * (len(header) - 1))


def topics_table(found: dict[str, Any], n: int | None = None) -> Table:
    """Return the most frequent topics, at most `n`, with the number of chats."""
    groups = groups_of(found)
    rows: list[list[Cell]] = [[row["topic"], *(row[group] for group in groups)] for row in found["topics"][:n]]
    caption = f"The {len(rows)} most frequent of {found['n_topics']:,} topics; number of chats."
    return Table("topics", caption, ["topic", *groups], rows, [0] * (1 + len(groups)))


def words_table(found: dict[str, Any]) -> Table:
    """Return the words of the word cloud, with the number of chats."""
    rows: list[list[Cell]] = [[row["word"], row["n"]] for row in found["words"]]
    whose = "workers who passed" if PASSED in found["groups"] else f"{ALL} workers"
    caption = f"The most frequent words of the topics of {whose}; number of chats."
    return Table("topic-words", caption, ["word", "chats"], rows, [0, 0])


def percent(share: float | None) -> float | None:
    """Return a share in per cent."""
    return None if share is None else 100 * share
