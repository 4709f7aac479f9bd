"""Chats and a corpus: are workers' inputs as long as turns of dialogues that are known?"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from analysis.data.dialogues.corpus import MEASURES, describe_lengths
from analysis.methods.study import Method
from analysis.methods.study.study import Study
from analysis.results.curves import palette, short_label
from analysis.results.result import Result
from analysis.results.sections import Cell, Column, Figure, Output, Picture, Range, Section, Table, Theme
from analysis.results.stored import Report
from analysis.stats.quality import Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

_COMPARED = ("words_per_input", "words_per_chat")
_GROUPS: Mapping[int | None, tuple[str, ...]] = {Verdict.PASSED: ("passed",), Verdict.FAILED: ("failed",)}


class CorpusComparison(Method):
    """Lengths of what workers say beside those of a corpus (the thesis's Figures 5.13, 5.14, A.4 and A.5)."""

    slug = "corpus"

    def detail(self, study: Study) -> dict[str, Any]:
        """Return `corpus`, if the settings name one and the study has chats whose inputs are known one by one."""
        if study.dialogues is None or study.settings.corpus is None:
            return {}
        verdicts = dict(zip(study.loaded.workers, study.analysis.workers.verdict.tolist(), strict=True))
        has_outputs = dict(zip(study.loaded.systems, study.has_outputs.tolist(), strict=True))
        groups: dict[str, list[Any]] = {"passed": [], "failed": [], "all": []}
        for chat in study.dialogues.chats:
            is_degraded = chat.kind == "degraded" if chat.kind else not has_outputs.get(chat.system, True)
            if is_degraded or not chat.words_by_input or not chat.chars_by_input:
                continue
            inputs = list(zip(chat.words_by_input, chat.chars_by_input, strict=True))
            verdict = None if chat.worker in study.settings.excluded else verdicts.get(chat.worker)
            for name in (*_GROUPS.get(verdict, ()), "all"):
                groups[name].append(inputs)
        found = {name: describe_lengths(chats) for name, chats in groups.items() if chats}
        return {self.slug: {"groups": found, "corpus": study.settings.corpus}} if found else {}

    def sections(self, result: Result) -> list[Section]:
        """Return lengths of chats and inputs beside those of the corpus."""
        found = result.own.get(self.slug)
        if not found:
            return []
        name = found["corpus"]["name"]
        of = _lengths(found)
        rows: list[list[Cell]] = [
            [title, *(cell for group in of for cell in _cells(of[group][key]))] for key, title in MEASURES.items()
        ]
        columns = [Column("measure")]
        columns += [c for group in of for c in (Column(group, 1), Column("Q1–Q3", 1), Column("mean", 1))]
        caption = (
            "Median, quartiles and mean of what workers say, chats with the degraded chatbot left out, and of "
            f"“{name}” ({found['corpus']['dialogues']:,} dialogues, {found['corpus']['turns']:,} turns; what one "
            "speaker says in a dialogue is a chat). Words by white space, characters without white space."
        )
        written = [
            [title, group, box["n"], box["mean"], *box["percentiles"]]
            for key, title in MEASURES.items()
            for group in of
            for box in [of[group][key]]
        ]
        in_files = [Column("measure"), Column("of"), Column("n"), Column("mean", 1)]
        in_files += [Column(f"{p} %", 1) for p in (5, 25, 50, 75, 95)]
        tables = [
            Table("corpus", "Lengths beside a corpus", caption, columns, rows, output=Output.PAGE),
            Table("corpus", "Lengths beside a corpus", caption, in_files, written, output=Output.FILES),
        ]
        figure = Figure(
            "corpus",
            "Lengths beside a corpus",
            Picture.of(draw_lengths, [*of.items()]),
            "Box plots of words and characters per chat and per input, of workers and of the corpus.",
            "Box: middle half, with the median; whiskers: 5 % and 95 %.",
        )
        return [Section("corpus", "Beside a corpus", _finding(found, of), tables, [figure], page="chats")]


def _lengths(found: Report) -> dict[str, Any]:
    """Return the lengths of workers who passed and failed (of all, without a test), and of the corpus."""
    groups = found["groups"]
    shown = [name for name in ("passed", "failed") if name in groups] or ["all"]
    return {name: groups[name] for name in shown} | {short_label(found["corpus"]["name"]): found["corpus"]["lengths"]}


def _cells(box: Report) -> list[Cell]:
    p = box["percentiles"]
    return [p[2], Range(p[1], p[3]), box["mean"]]


def _finding(found: Report, of: Mapping[str, Any]) -> str:
    group, *_, corpus = of
    inputs, chats = ([of[each][key]["percentiles"][2] for each in (group, corpus)] for key in _COMPARED)
    who = "Workers" if group == "all" else "Workers who passed"
    return (
        f"{who} write {inputs[0]:g} words an input and {chats[0]:g} a chat in the median; in "
        f"“{found['corpus']['name']}” it is {inputs[1]:g} and {chats[1]:g}."
    )


def draw_lengths(of: Sequence[tuple[str, Report]], theme: Theme) -> "Drawing":
    """Draw box plots of each measure: of workers and of the corpus."""
    figure, axes = theme.canvas(width=6.4, height=4.6)
    axes.remove()
    colours = palette(theme, len(of))
    names = [name for name, _ in of]
    for k, (key, title) in enumerate(MEASURES.items(), start=1):
        panel = figure.add_subplot(2, 2, k, facecolor=theme.paper)
        for place, (box, colour) in enumerate(zip((lengths[key] for _, lengths in of), colours, strict=True)):
            if box["n"]:
                low, q1, median, q3, high = box["percentiles"]
                at = len(of) - 1 - place
                panel.plot([low, high], [at, at], color=theme.ink, linewidth=1, zorder=1)
                panel.barh(at, q3 - q1, left=q1, height=0.5, color=colour, edgecolor=theme.ink, linewidth=0.8)
                panel.plot([median, median], [at - 0.25, at + 0.25], color=theme.paper, linewidth=2.2)
        panel.set_yticks(range(len(of)), [short_label(each) for each in names[::-1]] if k % 2 else [""] * len(of))
        panel.set_ylim(-0.6, len(of) - 0.4)
        panel.set_xlim(left=0)
        panel.set_title(title, fontsize=10, color=theme.ink)
        panel.tick_params(colors=theme.ink, labelsize=9)
        for name, spine in panel.spines.items():
            spine.set_color(theme.faint)
            spine.set_visible(name in {"left", "bottom"})
    return figure
