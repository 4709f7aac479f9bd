"""Dialogues: what the chats that were rated are like: workers and time, opinions, lengths, topics."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from analysis.dialogues.cloud import draw_cloud
from analysis.dialogues.rows import NO, OPINIONS, YES
from analysis.dialogues.summary import ALL, CLOUD, FAILED, LENGTHS, PASSED, groups_of, summarise_dialogues
from analysis.dialogues.topics import can_draw
from analysis.methods.base import Method
from analysis.sections import Cell, Column, Figure, Output, Range, Section, Table, Theme
from analysis.stats.quality import Verdict
from analysis.study import Study
from campaigns.design.worker_test import NO_TEST

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

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
_QUARTILES = {"Q1": "low", "median": "median", "Q3": "high", "mean": "mean"}
_NAMED = 8  # words that stand for the cloud
_TOPICS_ON_PAGE, _TOPICS_IN_PRINT = 25, 10
_IN_PRINT = Output.FILES | Output.TERMINAL
_WIDTH = 7.5  # inches
Found = Mapping[str, Any]


class Dialogue(Method):
    """Topics, opinions, lengths and minutes of chats, by the worker test."""

    slug = "dialogue"

    def summarise(self, study: Study) -> dict[str, Any]:
        """Return `dialogues`, if the study has chats. Excluded and trusted workers neither passed nor failed."""
        if study.dialogues is None:
            return {}
        words = {Verdict.PASSED: PASSED, Verdict.FAILED: FAILED}
        verdicts = zip(study.loaded.workers, study.analysis.workers.verdict.tolist(), strict=True)
        groups = {name: "" if name in study.settings.excluded else words.get(Verdict(v), "") for name, v in verdicts}
        is_degraded = dict(zip(study.loaded.systems, (~study.has_outputs).tolist(), strict=True))
        is_tested = study.settings.preset != NO_TEST
        return {"dialogues": summarise_dialogues(study.dialogues, groups, is_degraded, is_tested=is_tested)}

    def sections(self, report: Mapping[str, Any]) -> list[Section]:
        """Return opinions, workers and time, lengths, changes of topic, topics and their words."""
        found = report["summary"].get("dialogues")
        return [_time(found), _opinions(found), _lengths(found), *_changes(found), *_topics(found)] if found else []


def has_chats(report: Mapping[str, Any]) -> bool:
    """Return whether a report says anything of chats."""
    found = report["summary"].get("dialogues")
    return bool(found and found["groups"][ALL]["chats"])


def whose(found: Found) -> str:
    """Return whose topics the words and the cloud are of."""
    return "workers who passed" if PASSED in found["groups"] else f"{ALL} workers"


def topic_sent(found: Found) -> str:
    """Return whether chatbots were sent the topic, as a sentence; "" if it is not known, or differs."""
    sent = found.get("topic_sent", {})
    if bool(sent.get(YES)) == bool(sent.get(NO)):
        return ""
    return "Chatbots were sent the topic." if sent[YES] else "Chatbots were not sent the topic."


def _time(found: Found) -> Section:
    """Return workers, HITs, chats, minutes a chat and changes of topic of each group of workers."""
    groups = groups_of(found)
    counts: dict[str, list[Cell]] = {
        name: [
            name,
            group["workers"],
            group["assignments"],
            group["assignments_per_worker"],
            group["chats"],
            group["chats_not_degraded"],
            group["minutes_per_chat"],
        ]
        for name, group in groups.items()
    }
    caption = "Changes of topic: mean per chat, chats with the degraded chatbot left out. "
    if PASSED in groups:
        caption = f"Chats by the worker test. {caption}All: also workers who neither passed nor failed."
    else:
        caption = f"Chats. {caption}No worker test was applied."
    columns = [Column("workers"), Column("n"), Column("HITs"), Column("HITs per worker", 2), Column("chats")]
    columns += [Column("not degraded"), Column("minutes per chat", 2)]
    written = Table(
        "chats",
        "Chats: workers, time, changes of topic",
        caption,
        [*columns, *(Column(name, 2) for name in ("topic changes by chatbot", "by worker", "chats with a change, %"))],
        [[*counts[name], *_changes_of(group)] for name, group in groups.items()],
        output=_IN_PRINT,
    )
    shown = Table(
        "chats",
        "Workers and time",
        "Minutes per chat: working time of the HITs over their chats. Not degraded: chats with other chatbots than the "
        "degraded one.",
        [
            *(Column("Workers"), Column("n"), Column("HITs"), Column("HITs per worker", 2)),
            *(Column("Chats"), Column("Not degraded"), Column("Minutes per chat", 2)),
        ],
        list(counts.values()),
        output=Output.PAGE,
    )
    return Section("time", "Workers and time", tables=[written, shown], page="chats")


def _changes_of(group: Mapping[str, Any]) -> list[Cell]:
    changes = group["topic_changes"]
    return [changes["by_chatbot"], changes["by_worker"], _percent(changes["share_of_chats"])]


def _changes(found: Found) -> list[Section]:
    """Return the changes of topic again, for the page; none where nobody could note any."""
    groups = groups_of(found)
    if groups[ALL]["topic_changes"]["share_of_chats"] is None:
        return []
    columns = [Column("Workers")]
    columns += [Column(name, 2) for name in ("By the chatbot", "By the worker")] + [Column("Chats with a change, %", 1)]
    table = Table(
        "changes",
        "Changes of topic",
        "Changes that workers noted, mean per chat; chats with the degraded chatbot are left out.",
        columns,
        [[name, *_changes_of(group)] for name, group in groups.items()],
        output=Output.PAGE,
    )
    return [Section("changes", "Changes of topic", tables=[table], page="chats")]


def _opinions(found: Found) -> Section:
    """Return how many chats began with which opinion of their topic, in numbers and per cent."""
    groups = groups_of(found)
    rows: list[list[Cell]] = []
    for name in OPINIONS:
        opinions = [group["opinions"][name] for group in groups.values()]
        rows.append([name, *(cell for each in opinions for cell in (_percent(each["share"]), each["n"]))])
    written = Table(
        "opinions",
        "Chats: opinions of topics",
        "Workers' opinions of the topics of all their chats.",
        [Column("opinion"), *(Column(f"{group}{unit}", 2) for group in groups for unit in (", %", ", n"))],
        rows,
        output=_IN_PRINT,
    )
    by_test = ", by their worker test" if len(groups) > 1 else ""
    shown = Table(
        "opinions",
        "Opinions of topics",
        f"What workers thought of the topic of a chat before it began{by_test}: per cent of chats, and their number.",
        [
            Column("Opinion"),
            *(c for group in groups for c in (Column(f"{group}, %", 2), Column("n", hint="number of chats"))),
        ],
        rows,
        output=Output.PAGE,
    )
    has_any = any(groups[ALL]["opinions"][name]["n"] for name in OPINIONS)
    return Section("opinions", "Opinions of topics", tables=[written, shown], page="chats" if has_any else "")


def _lengths(found: Found) -> Section:
    """Return quartiles and means of what workers say, per chat and per input."""
    groups = groups_of(found)
    per_input = PER_INPUT[found.get("per_input_over", "chats")]
    lengths = {title: [group["lengths"][name] for group in groups.values()] for name, title in MEASURES.items()}
    written = Table(
        "chat-lengths",
        "Chats: words and characters",
        "What workers say: chats with the degraded chatbot are left out. Words by white space; characters without "
        f"white space; {per_input}.",
        [Column("measure"), *(Column(f"{group} {title}", 1) for group in groups for title in _QUARTILES)],
        [
            [title, *(each.get(key) for each in of_groups for key in _QUARTILES.values())]
            for title, of_groups in lengths.items()
        ],
        output=_IN_PRINT,
    )
    shown = Table(
        "chat-lengths",
        "Lengths of what workers say",
        "Median, quartiles and mean; chats with the degraded chatbot are left out. Words by white space, characters "
        f"without white space; {per_input}.",
        [
            Column("Measure"),
            *(
                column
                for group in groups
                for column in (Column(group, 1), Column("Q1–Q3", 1, hint="quartiles"), Column("Mean", 1))
            ),
        ],
        [
            # Earlier reports have no mean.
            [title, *(c for each in of for c in (each["median"], Range(each["low"], each["high"]), each.get("mean")))]
            for title, of in lengths.items()
        ],
        output=Output.PAGE,
    )
    figure = Figure(
        LENGTHS,
        "Words per chat",
        partial(draw_lengths, found["histogram"]),
        "Distribution of the words of a worker in a chat; the table above has the quartiles.",
        "Share of the chats of workers who passed (bars) and who failed (line)."
        if PASSED in groups
        else "Share of all chats.",
    )
    figures = [figure] if found["histogram"]["edges"] else []
    return Section("lengths", "What workers say", tables=[written, shown], figures=figures, page="chats")


def _topics(found: Found) -> list[Section]:
    """Return the most frequent topics, and the words of topics with their cloud: for files, for the page, in print."""
    groups = groups_of(found)
    words = [row for row in found["words"] if can_draw(row["word"])]
    most_frequent = ", ".join(f"{row['word']} ({row['n']})" for row in found["words"][:_NAMED])
    cloud = Figure(
        CLOUD,
        "Word cloud of topics",
        partial(draw_cloud, words),
        f"Word cloud of topics; most frequent: {most_frequent}",
        f"The larger, the more chats; topics of {whose(found)}.",
    )

    def topics(n: int | None, output: Output, heading: str = "topic", apart: str = "; number of chats.") -> Table:
        rows: list[list[Cell]] = [[row["topic"], *(row[group] for group in groups)] for row in found["topics"][:n]]
        caption = f"The {len(rows)} most frequent of {found['n_topics']:,} topics{apart}"
        columns = [Column(heading), *map(Column, groups)]
        return Table("topics", "Chats: most frequent topics", caption, columns, rows, output=output)

    tables = [topics(None, Output.FILES), topics(_TOPICS_IN_PRINT, Output.TERMINAL)]
    if found["topics"]:
        apart = ", apart from case and spaces: number of chats."
        tables.append(topics(_TOPICS_ON_PAGE, Output.PAGE, "Topic", apart))
    return [
        Section("topics", "Topics", topic_sent(found), tables, page="chats"),
        _words(found, [cloud] if words else []),
    ]


def _words(found: Found, cloud: Sequence[Figure]) -> Section:
    rows: list[list[Cell]] = [[row["word"], row["n"]] for row in found["words"]]
    written = Table(
        CLOUD,
        "Chats: words of topics",
        f"The most frequent words of the topics of {whose(found)}; number of chats.",
        [Column("word"), Column("chats")],
        rows,
        output=Output.FILES,
    )
    shown = Table(
        CLOUD,
        "Words of topics",
        f"Words of the topics of {whose(found)}.",
        [Column("Word"), Column("Chats")],
        rows,
        output=Output.PAGE,
    )
    return Section("words", "Words of topics", "", [written, shown] if rows else [written], cloud, page="chats")


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def draw_lengths(histogram: Found, theme: Theme) -> "Drawing":
    """Draw the distribution of words per chat: bars of passed workers, an outline of failed ones, as shares.

    Without a worker test: bars of all.
    """
    edges = histogram["edges"]
    width = edges[1] - edges[0] if len(edges) > 1 else 1
    figure, axes = theme.canvas(width=_WIDTH, height=3.2)
    group = PASSED if PASSED in histogram else ALL
    counts, n_failed = histogram[group], histogram.get(FAILED, [])
    shares, failed = _shares(counts), _shares(n_failed)
    if n := sum(counts):
        axes.bar(
            edges,
            shares,
            width=width,
            align="edge",
            color=theme.accent,
            alpha=0.55,
            edgecolor=theme.ink,
            linewidth=0.5,
            label=f"{group} ({n:,} chats)",
        )
    if n := sum(n_failed):
        axes.stairs(failed, [*edges, edges[-1] + width], color=theme.warn, linewidth=1.8, label=f"failed ({n:,} chats)")
    axes.set(xlabel=f"words of the worker in a chat ({edges[-1]:,} and more: last bin)", ylabel="chats, %")
    if any(shares + failed):
        axes.legend(frameon=False, labelcolor=theme.ink, reverse=True)
    return figure


def _shares(counts: Sequence[int]) -> list[float]:
    n = sum(counts)
    return [100 * count / n if n else 0.0 for count in counts]
