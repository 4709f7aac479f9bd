"""Contrasts between chats: where workers liked the topic, where it changed, with and without a persona."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.data.dialogues.rows import OPINIONS, Chat
from analysis.methods.study import Method
from analysis.methods.study.study import Study
from analysis.results.curves import short_label
from analysis.results.result import Result
from analysis.results.sections import COLUMN_IN, Cell, Column, Figure, Output, Picture, Section, Table, Theme
from analysis.results.stored import Report
from analysis.stats.contrasts import Contrast, contrast
from analysis.stats.ratings import Codes, or_nones
from analysis.stats.scores import Unit, counted_items, observe, reverse_negative

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

_CHANGED = ("topic not changed", "topic changed")
_PERSONA = ("without persona", "with persona")
_TITLES = {"opinion": "Opinion of the topic", "change": "Change of topic", "persona": "Persona"}
_SUBJECTS = {
    "ambivalent": "Chats on topics that workers are ambivalent about",
    "dislike": "Chats on topics that workers dislike",
    _CHANGED[1]: "Chats whose topic changed",
    _PERSONA[1]: "Chatbots with a persona",
}
_REFERENCES = {
    "opinion": "chats on topics that workers like",
    "change": "chats whose topic did not change",
    "persona": "the same chatbots without one",
}
_NUMBERS = ("n", "mean", "difference", "low", "high")


class Contrasts(Method):
    """How scores differ between kinds of chats, within the same chatbots."""

    slug = "contrasts"

    def detail(self, study: Study) -> dict[str, Any]:
        """Return `contrasts`, if the study has chats or knows which chatbots have a persona: `opinion`, `change` and
        `persona`, as far as two groups have a chat of a worker who counts; and `personas`, each pair of chatbots.
        """
        ratings, analysis, settings = study.ratings, study.analysis, study.settings
        if study.dialogues is None and not settings.personas:
            return {}
        z = analysis.observations.overall_z
        if settings.unit != Unit.RATING:
            scores = reverse_negative(ratings.scores, settings.design(study.loaded.workers).is_negative)
            kept = analysis.is_kept
            z = observe(
                ratings, scores, analysis.standardisation, analysis.twin, is_kept=kept, unit=Unit.RATING
            ).overall_z
        items = counted_items(ratings, analysis.is_kept)
        worker, system = ratings.worker[items], ratings.system[items]
        found: dict[str, Any] = {}
        chats = _chats_of(study, items)
        by_opinion = np.array([OPINIONS.index(c.opinion) if c and c.opinion in OPINIONS else -1 for c in chats], int)
        found["opinion"] = _groups(OPINIONS, contrast(z, by_opinion, system, worker, len(OPINIONS)))
        by_change = np.array([_has_changed(chat) for chat in chats], int)
        found["change"] = _groups(_CHANGED, contrast(z, by_change, system, worker, 2))
        group, family, pairs = _persona_codes(study, system)
        found["persona"] = _groups(_PERSONA, contrast(z, group, family, worker, 2))
        found["personas"] = [
            {"systems": pair} | _groups(_PERSONA, contrast(z, np.where(family == k, group, -1), family, worker, 2))
            for k, pair in enumerate(pairs)
        ]
        return {self.slug: found}

    def sections(self, result: Result) -> list[Section]:
        """Return the differences between groups of chats, if there are any two groups."""
        found = result.own.get(self.slug)
        if not found:
            return []
        known = {name: found[name] for name in _TITLES if sum(n > 0 for n in found[name]["n"]) > 1}
        if not known:
            return []
        tables = [_table(known), *([_personas_table(found["personas"])] if found["personas"] else [])]
        drawn = [row for row in _rows(known) if row[3] is not None]
        figure = Figure(
            "contrasts",
            "Differences between kinds of chats",
            Picture.of(draw_differences, drawn),
            "Point and interval of each difference in z.",
            "Difference in z from the first group, within the same chatbots, with 95 % intervals.",
        )
        said = " ".join(_words(name, known[name]) for name in known)
        return [Section("contrasts", "Contrasts", said, tables, [figure] if drawn else [], page="chats")]


# --- What is computed


def _chats_of(study: Study, items: "np.ndarray[tuple[int], np.dtype[np.intp]]") -> list[Chat | None]:
    """Return the chat that each item is of: of one chatbot's chats in an assignment the first is the first rated."""
    waiting: defaultdict[tuple[str, str, str], list[Chat]] = defaultdict(list)
    for chat in study.dialogues.chats if study.dialogues else ():
        waiting[chat.worker, chat.assignment, chat.system].append(chat)
    loaded, ratings = study.loaded, study.ratings
    found: list[Chat | None] = []
    for item in items.tolist():
        worker, assignment = loaded.workers[ratings.worker[item]], loaded.assignments[ratings.assignment[item]]
        chats = waiting[worker, assignment, loaded.systems[ratings.system[item]]]
        found.append(chats.pop(0) if chats else None)
    return found


def _has_changed(chat: Chat | None) -> int:
    """Return whether the topic of a chat changed: 0 or 1; −1 where it is not known."""
    if chat is None or chat.changes_by_chatbot is None or chat.changes_by_worker is None:
        return -1
    return int(chat.changes_by_chatbot + chat.changes_by_worker > 0)


def _persona_codes(study: Study, system: Codes) -> tuple[Codes, Codes, list[list[str]]]:
    """Return whether each item is of a chatbot with a persona (−1: of neither), its pair, and the pairs."""
    code = {name: k for k, name in enumerate(study.loaded.systems)}
    pairs = [[having, lacking] for having, lacking in study.settings.personas.items() if {having, lacking} <= set(code)]
    group, family = np.full(len(code), -1), np.zeros(len(code), np.int64)
    for k, (having, lacking) in enumerate(pairs):
        group[code[having]], group[code[lacking]] = 1, 0
        family[[code[having], code[lacking]]] = k
    return group[system], family[system], pairs


def _groups(names: Sequence[str], found: Contrast) -> dict[str, Any]:
    numbers = {key: or_nones(getattr(found, key)) for key in ("mean", "difference", "low", "high")}
    return {"groups": list(names), "n": found.n.tolist()} | numbers


# --- What is shown


def _rows(known: Mapping[str, Report]) -> list[list[Cell]]:
    return [
        [f"{_TITLES[name]}: {group}", *row]
        for name in known
        for group, *row in zip(*(known[name][key] for key in ("groups", *_NUMBERS)), strict=True)
    ]


def _table(known: Mapping[str, Report]) -> Table:
    columns = [Column("chats"), Column("n"), Column("mean z"), Column("difference")]
    caption = (
        "Chats of workers who count, those with the degraded chatbot left out. The difference is from the first group, "
        "within the same chatbots (persona: within the same family), with a 95 % interval; errors clustered by worker."
    )
    rows = _rows(known)
    title = "Contrasts between chats"
    return Table("contrasts", title, caption, [*columns, Column("low"), Column("high")], rows, output=Output.SHOWN)


def _personas_table(pairs: Sequence[Report]) -> Table:
    rows: list[list[Cell]] = [
        [*each["systems"], each["mean"][1], each["mean"][0], each["difference"][1], each["low"][1], each["high"][1]]
        for each in pairs
    ]
    columns = [Column("with persona"), Column("without"), Column("z with"), Column("z without")]
    columns += [Column("difference"), Column("low"), Column("high")]
    caption = "Each chatbot with and without a persona; differences with 95 % intervals, errors clustered by worker."
    return Table("personas", "With and without persona", caption, columns, rows, output=Output.SHOWN)


def _words(name: str, found: Report) -> str:
    """Return how the groups of a contrast differ from its first, a sentence each."""
    said = []
    for k, group in enumerate(found["groups"]):
        difference, low, high = (found[key][k] for key in ("difference", "low", "high"))
        if difference is None:
            continue
        if low is None or low <= 0 <= high:
            said.append(f"{_SUBJECTS[group]} are not shown to score otherwise than {_REFERENCES[name]}.")
        else:
            sense = "higher" if difference > 0 else "lower"
            said.append(f"{_SUBJECTS[group]} score {abs(difference):.2f} z {sense} than {_REFERENCES[name]}.")
    return " ".join(said)


def draw_differences(rows: Sequence[Sequence[Any]], theme: Theme) -> "Drawing":
    """Draw each difference with its interval."""
    figure, axes = theme.canvas(width=COLUMN_IN, height=1.0 + 0.34 * len(rows))
    for k, row in enumerate(reversed(rows)):
        difference, low, high = row[3:6]
        if low is not None and high is not None:
            axes.plot([low, high], [k, k], color=theme.accent, linewidth=2)
        axes.plot(difference, k, marker="o", markersize=5, color=theme.ink)
    axes.set_yticks(range(len(rows)), [short_label(str(row[0]).partition(": ")[2]) for row in reversed(rows)])
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.axvline(0, color=theme.faint, linewidth=1, zorder=0)
    axes.set_xlabel("difference in z")
    return figure
