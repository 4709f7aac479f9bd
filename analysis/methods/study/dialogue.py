"""Dialogues: what the chats that were rated are like: workers and time, opinions, lengths, topics."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from analysis.data.dialogues.rows import NO, OPINIONS, YES
from analysis.data.dialogues.summary import ALL, CLOUD, FAILED, LENGTHS, PASSED, groups_of, summarise_dialogues
from analysis.data.dialogues.topics import can_draw
from analysis.methods.study import Method
from analysis.methods.study.study import Study
from analysis.results.result import Result
from analysis.results.sections import (
    COLUMN_IN,
    Cell,
    Column,
    Figure,
    Output,
    Picture,
    Range,
    Section,
    Table,
    Theme,
    in_percent,
)
from analysis.results.word_cloud import draw_cloud
from analysis.stats.quality import Verdict
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
_NAMED = 8  # words that describe the cloud
_TOPICS_ON_PAGE, _TOPICS_IN_PRINT = 25, 10
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

    def sections(self, result: Result) -> list[Section]:
        """Return opinions, workers and time, lengths, changes of topic, topics and their words."""
        found = result.own_summary.get("dialogues")
        if not found:
            return []
        shown = [section(found) for section in (_opinions, _time, _lengths, _changes, _words, _topics)]
        return [Section("chats", "Chats", tables=_written(found), page=""), *shown]


def workers_in_words(found: Found) -> str:
    """Return whose topics the words and the cloud are of."""
    return "workers who passed" if PASSED in found["groups"] else f"{ALL} workers"


def topic_sent(found: Found) -> str:
    """Return whether chatbots were sent the topic, as a sentence; "" if it is not known, or differs."""
    sent = found.get("topic_sent", {})
    if bool(sent.get(YES)) == bool(sent.get(NO)):
        return ""
    return "Chatbots were sent the topic." if sent[YES] else "Chatbots were not sent the topic."


# --- In files and in print


def _written(found: Found) -> list[Table]:
    """Return all tables in full, with columns named in small letters."""
    groups = groups_of(found)
    caption = "Changes of topic: mean per chat, chats with the degraded chatbot left out. "
    if PASSED in groups:
        caption = f"Chats by the worker test. {caption}All: also workers who neither passed nor failed."
    else:
        caption = f"Chats. {caption}No worker test was applied."
    columns = [Column("workers"), Column("n"), Column("HITs"), Column("HITs per worker", 2), Column("chats")]
    columns += [Column("not degraded"), Column("minutes per chat", 2)]
    columns += [Column(name, 2) for name in ("topic changes by chatbot", "by worker", "chats with a change, %")]
    topics, words = _topic_rows(found), [[row["word"], row["n"]] for row in found["words"]]
    n_topics, n_printed = len(topics), len(topics[:_TOPICS_IN_PRINT])
    return [
        Table(
            "chats",
            "Chats: workers, time, changes of topic",
            caption,
            columns,
            [[name, *_counts_of(group), *_changes_of(group)] for name, group in groups.items()],
            output=Output.PRINTED,
        ),
        Table(
            "opinions",
            "Chats: opinions of topics",
            "Workers' opinions of the topics of all their chats.",
            [Column("opinion"), *(Column(f"{group}{unit}", 2) for group in groups for unit in (", %", ", n"))],
            _opinion_rows(found),
            output=Output.PRINTED,
        ),
        Table(
            "chat-lengths",
            "Chats: words and characters",
            "What workers say: chats with the degraded chatbot are left out. Words by white space; characters without "
            f"white space; {_per_input(found)}.",
            [Column("measure"), *(Column(f"{group} {title}", 1) for group in groups for title in _QUARTILES)],
            [
                [title, *(of_group.get(_QUARTILES[key]) for of_group in of_groups for key in _QUARTILES)]
                for title, of_groups in _lengths_of(found).items()
            ],
            output=Output.PRINTED,
        ),
        *(
            Table(
                "topics",
                "Chats: most frequent topics",
                f"The {n} most frequent of {found['n_topics']:,} topics; number of chats.",
                [Column("topic"), *map(Column, groups)],
                topics[:n],
                output=output,
            )
            for n, output in ((n_topics, Output.FILES), (n_printed, Output.TERMINAL))
        ),
        Table(
            CLOUD,
            "Chats: words of topics",
            f"The most frequent words of the topics of {workers_in_words(found)}; number of chats.",
            [Column("word"), Column("chats")],
            words,
            output=Output.FILES,
        ),
    ]


def _counts_of(group: Found) -> list[Cell]:
    names = ("workers", "assignments", "assignments_per_worker", "chats", "chats_not_degraded", "minutes_per_chat")
    return [group[name] for name in names]


def _changes_of(group: Found) -> list[Cell]:
    changes = group["topic_changes"]
    return [changes["by_chatbot"], changes["by_worker"], in_percent(changes["share_of_chats"])]


def _opinion_rows(found: Found) -> list[list[Cell]]:
    groups = groups_of(found)
    opinions = {name: [groups[group]["opinions"][name] for group in groups] for name in OPINIONS}
    return [
        [name, *(cell for each in of_groups for cell in (in_percent(each["share"]), each["n"]))]
        for name, of_groups in opinions.items()
    ]


def _lengths_of(found: Found) -> dict[str, list[Found]]:
    groups = groups_of(found)
    return {title: [groups[group]["lengths"][name] for group in groups] for name, title in MEASURES.items()}


def _per_input(found: Found) -> str:
    return PER_INPUT[found.get("per_input_over", "chats")]


def _topic_rows(found: Found) -> list[list[Cell]]:
    return [[row["topic"], *(row[group] for group in groups_of(found))] for row in found["topics"]]


# --- On the page


def _shown(name: str, title: str, caption: str, columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> Table:
    return Table(name, title, caption, columns, rows, output=Output.PAGE)


def _opinions(found: Found) -> Section:
    """Return how many chats began with which opinion of their topic, in numbers and per cent; none if none is known."""
    groups = groups_of(found)
    columns = [
        Column("Opinion"),
        *(c for group in groups for c in (Column(f"{group}, %", 2), Column("n", hint="number of chats"))),
    ]
    by_test = ", by their worker test" if len(groups) > 1 else ""
    caption = (
        f"What workers thought of the topic of a chat before it began{by_test}: per cent of chats, and their number."
    )
    has_any = any(groups[ALL]["opinions"][name]["n"] for name in OPINIONS)
    table = _shown("opinions", "Opinions of topics", caption, columns, _opinion_rows(found))
    return Section("opinions", "Opinions of topics", tables=[table] if has_any else [], page="chats")


def _time(found: Found) -> Section:
    """Return workers, HITs, chats and minutes a chat of each group of workers."""
    table = _shown(
        "chats",
        "Workers and time",
        "Minutes per chat: working time of the HITs over their chats. Not degraded: chats with other chatbots than the "
        "degraded one.",
        [
            *(Column("Workers"), Column("n"), Column("HITs"), Column("HITs per worker", 2)),
            *(Column("Chats"), Column("Not degraded"), Column("Minutes per chat", 2)),
        ],
        [[name, *_counts_of(group)] for name, group in groups_of(found).items()],
    )
    return Section("time", "Workers and time", tables=[table], page="chats")


def _lengths(found: Found) -> Section:
    """Return quartiles and means of what workers say, per chat and per input."""
    groups = groups_of(found)
    columns = [
        Column("Measure"),
        *(c for group in groups for c in (Column(group, 1), Column("Q1–Q3", 1, hint="quartiles"), Column("Mean", 1))),
    ]
    rows = [
        # Earlier reports have no mean.
        [title, *(c for each in of for c in (each["median"], Range(each["low"], each["high"]), each.get("mean")))]
        for title, of in _lengths_of(found).items()
    ]
    caption = (
        "Median, quartiles and mean; chats with the degraded chatbot are left out. Words by white space, characters "
        f"without white space; {_per_input(found)}."
    )
    figure = Figure(
        LENGTHS,
        "Words per chat",
        Picture.of(draw_lengths, found["histogram"]),
        "Distribution of the words of a worker in a chat; the table above has the quartiles.",
        "Share of the chats of workers who passed (bars) and who failed (line)."
        if PASSED in groups
        else "Share of all chats.",
    )
    figures = [figure] if found["histogram"]["edges"] else []
    table = _shown("chat-lengths", "Lengths of what workers say", caption, columns, rows)
    return Section("lengths", "What workers say", tables=[table], figures=figures, page="chats")


def _changes(found: Found) -> Section:
    """Return the changes of topic; none where nobody could note any."""
    groups = groups_of(found)
    columns = [Column("Workers")]
    columns += [Column(name, 2) for name in ("By the chatbot", "By the worker")] + [Column("Chats with a change, %", 1)]
    caption = "Changes that workers noted, mean per chat; chats with the degraded chatbot are left out."
    rows = [[name, *_changes_of(group)] for name, group in groups.items()]
    has_any = groups[ALL]["topic_changes"]["share_of_chats"] is not None
    tables = [_shown("changes", "Changes of topic", caption, columns, rows)] if has_any else []
    return Section("changes", "Changes of topic", tables=tables, page="chats")


def _words(found: Found) -> Section:
    """Return the words of topics with their cloud; none where no worker's topics are known."""
    words = [row for row in found["words"] if can_draw(row["word"])]
    most_frequent = ", ".join(f"{row['word']} ({row['n']})" for row in found["words"][:_NAMED])
    cloud = Figure(
        CLOUD,
        "Word cloud of topics",
        Picture.of(draw_cloud, words),
        f"Word cloud of topics; most frequent: {most_frequent}",
        f"The larger, the more chats; topics of {workers_in_words(found)}.",
    )
    columns, rows = [Column("Word"), Column("Chats")], [[row["word"], row["n"]] for row in found["words"]]
    table = _shown(CLOUD, "Words of topics", f"Words of the topics of {workers_in_words(found)}.", columns, rows)
    return Section(
        "words", "Words of topics", tables=[table] if rows else [], figures=[cloud] if words else [], page="chats"
    )


def _topics(found: Found) -> Section:
    """Return the most frequent topics."""
    rows = _topic_rows(found)[:_TOPICS_ON_PAGE]
    caption = (
        f"The {len(rows)} most frequent of {found['n_topics']:,} topics, apart from case and spaces: number of chats."
    )
    columns = [Column("Topic"), *map(Column, groups_of(found))]
    tables = [_shown("topics", "Chats: most frequent topics", caption, columns, rows)] if rows else []
    return Section("topics", "Topics", topic_sent(found), tables, page="chats")


def draw_lengths(histogram: Found, theme: Theme) -> "Drawing":
    """Draw the distribution of words per chat: bars of passed workers, an outline of failed ones, as shares.

    Without a worker test: bars of all.
    """
    edges = histogram["edges"]
    width = edges[1] - edges[0] if len(edges) > 1 else 1
    figure, axes = theme.canvas(width=COLUMN_IN, height=2.7)
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
    axes.set(xlabel=f"words of the worker in a chat (last bin: {edges[-1]:,} and more)", ylabel="chats, %")
    if any(shares + failed):
        axes.legend(frameon=False, labelcolor=theme.ink, reverse=True)
    return figure


def _shares(counts: Sequence[int]) -> list[float]:
    n = sum(counts)
    return [100 * count / n if n else 0.0 for count in counts]
