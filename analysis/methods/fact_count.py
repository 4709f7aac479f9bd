"""Counts of facts in outputs: precision, recall and F of each system, over all facts and over outputs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from analysis.data.judgements import AnswerKind, Judgements, Scale
from analysis.data.loading import WITH_COPIES, Answer, load_answers
from analysis.data.notices import ResponsesWarning
from analysis.data.output_scores import OutputScores, counted_outputs
from analysis.data.responses import Responses
from analysis.methods import OF_TESTED, Progress, ResponseMethod, ResponsesFile, unwatched
from analysis.methods.by_groups import GroupedScores, groups_sections
from analysis.methods.clusters import explain_single, in_words, with_several
from analysis.methods.settings import AnalysisSettings
from analysis.methods.system_scores import Analysed, SystemScores, pairs_section, systems_section, weights_in
from analysis.methods.workers import JudgedWorkers, judge_rows, judgements_of, workers_in_words, workers_section
from analysis.results.result import Result
from analysis.results.sections import Cell, Column, Section, Table
from analysis.results.stored import Report
from analysis.stats.pools import ValuesByWorker
from analysis.stats.ratings import Floats, Mask, or_none
from analysis.stats.segment_means import ClusteredMeans, clustered_means, clustered_ratios
from campaigns.design.composition import Kind
from evalsite.lib.errors import DomainError
from evalsite.lib.words import counted

CRITERION = "facts"
PRECISION, RECALL, F = "precision", "recall", "F"
_COLUMNS = (
    Answer(("present", "n_present", "facts"), is_whole=True),
    Answer(("correct", "n_correct"), is_whole=True),
    Answer(("missing", "n_missing", "omitted"), is_whole=True),
)
_COUNTS = ("present", "correct", "missing")
_OF_GROUPS = "F of each output that has facts, averaged over outputs; that of the ranking is over the facts of all."


class FactCount(ResponseMethod[Responses]):
    """F of a system over all facts of its outputs."""

    slug = "fact_count"
    title = "Fact counts"
    summary = "Precision, recall and F of facts that were counted."
    unit = "F"
    table = "counts"
    takes = OF_TESTED

    def read(self, file: ResponsesFile, settings: AnalysisSettings) -> Responses:
        """Return the counts of a file; raise DomainError if in every row more facts are correct than there are."""
        choices = file.choices_for(settings)
        rows = load_answers(file.path, _COLUMNS, criterion=CRITERION, choices=choices, kinds=WITH_COPIES)
        if rows.n and _is_impossible(rows.without_repeats()).all():
            raise DomainError(
                "bad_counts",
                "More facts are correct than present in every row. “present” counts all facts that an output states, "
                "“correct” those of them that are right, “missing” those that it should state, too.",
            )
        return rows

    def analyse(
        self, data: Responses, settings: AnalysisSettings, on_progress: Progress = unwatched, *, brief: bool = False
    ) -> Result:
        """Return precision, recall and F with errors clustered by worker and source.

        Rows in which more facts are correct than present are left out of them, and counted in a warning.
        """
        judged, everything = self.judge(data, settings), data.without_repeats()
        data = everything.take(judged.is_counted[everything.worker] & (everything.kind == Kind.ORDINARY))
        is_impossible = _is_impossible(data)
        warnings = [*data.warnings, *_left_out(int(is_impossible.sum()))]
        data = data.take(~is_impossible)
        micro, macro = _ratios(data, settings), _means(data)
        n_of = np.bincount(data.system, minlength=len(data.systems))
        means = {name: each.mean for name, each in micro.items()}
        means |= {f"{name} (macro)": each.mean for name, each in macro.items()}
        scores = SystemScores.of(data.systems, micro[F], n_of, means)
        both = {f"micro {name}": each for name, each in micro.items()}
        both |= {f"macro {name}": each for name, each in macro.items()}
        rates = [
            {"system": data.systems[code]}
            | {name: [or_none(values[code]) for values in (of.mean, of.low, of.high)] for name, of in both.items()}
            for code in scores.order
        ]
        n_facts = int(data.numbers["present"].sum())
        return Analysed(
            *(settings, scores, replace(everything, warnings=warnings), judged),
            summary={"n_workers": len(data.workers), "n_outputs": data.n, "n_facts": n_facts},
            own={"rates": rates},
            notes=explain_single(scores.n_clusters) if data.n else [],
            criteria=_COUNTS,
            groups=partial(_in_groups, data, scores.order),
        ).result()

    def judge(self, data: Responses, settings: AnalysisSettings) -> JudgedWorkers:
        """Return the verdicts on workers: whether they find fewer correct facts in degraded items."""
        data = data.without_repeats()
        return judge_rows(data, data.numbers["correct"], settings)

    def values_by_worker(self, data: Responses, settings: AnalysisSettings) -> ValuesByWorker:
        """Return the totals of which F is the ratio."""
        rows = data.take((data.kind == Kind.ORDINARY) & ~_is_impossible(data))
        return ValuesByWorker.of_ratios(data.workers, data.systems, *_sums(rows)[F], rows.worker, rows.system)

    def outputs(self, data: Responses, settings: AnalysisSettings) -> OutputScores | None:
        """Return F of each output."""
        data = data.without_repeats()
        is_counted = self.judge(data, settings).is_counted
        data = data.take(~_is_impossible(data))
        correct, needed = _sums(data)[F]
        with np.errstate(invalid="ignore", divide="ignore"):
            return counted_outputs(data, np.where(needed > 0, correct / needed, np.nan), is_counted)

    def judgements(self, data: Responses, settings: AnalysisSettings) -> Judgements:
        """Return the counts, without rows in which more facts are correct than present."""
        judged, rows = self.judge(data, settings), data.take(~_is_impossible(data))
        found = judgements_of(rows, rows.numbers["present"], [Scale(AnswerKind.AMOUNT)], judged)
        ratings = replace(found.ratings, scores=np.stack([rows.numbers[name] for name in _COUNTS], axis=1))
        return replace(found, ratings=ratings, criteria=list(_COUNTS), scales=found.scales * len(_COUNTS))

    def sections(self, result: Result) -> list[Section]:
        """Return the ranking by F, the pairs, and precision, recall and F both ways."""
        by = in_words(result.summary.n_clusters)
        caption = f"Score: F over all facts of a system’s outputs (micro). Errors are clustered by {by}."
        return [
            systems_section(result, score="F", n="outputs", caption=caption, decimals=3),
            pairs_section(result, caption="Differences of F, the better system first.", decimals=3),
            *groups_sections(result, score=F, decimals=3, note=_OF_GROUPS),
            _rates_section(result.own["rates"]),
            *workers_section(result),
        ]

    def headline(self, result: Result) -> str:
        """Return how many facts were counted."""
        said = result.own_summary
        facts = f"{counted(said['n_workers'], 'worker')} counted {counted(said['n_facts'], 'fact')}"
        return f"{facts} in {counted(said['n_outputs'], 'output')}. {workers_in_words(result)}".strip()


def _is_impossible(rows: Responses) -> Mask:
    """Return in which rows more facts are correct than present, bool, (n,)."""
    impossible: Mask = rows.numbers["correct"] > rows.numbers["present"]
    return impossible


def _left_out(n: int) -> list[ResponsesWarning]:
    """Return the warning of so many impossible rows."""
    said = f"More facts are correct than present in {counted(n, 'row')}. They are left out of the scores."
    return [ResponsesWarning("bad_counts", n, said)] if n else []


def _sums(data: Responses) -> Mapping[str, tuple[Floats, Floats]]:
    """Return the numerator and denominator of each rate, (n,) each; F is 2 · correct over both denominators."""
    present, correct, missing = (data.numbers[name] for name in ("present", "correct", "missing"))
    return {
        PRECISION: (correct, present),
        RECALL: (correct, correct + missing),
        F: (2 * correct, present + correct + missing),
    }


def _ratios(data: Responses, settings: AnalysisSettings) -> dict[str, ClusteredMeans]:
    groups = with_several({"worker": data.worker, "source": data.source}, settings.workers_planned)
    weight = weights_in(data.attributes, settings)
    return {
        name: clustered_ratios(*parts, data.system, len(data.systems), groups, weight)
        for name, parts in _sums(data).items()
    }


def _means(data: Responses) -> dict[str, ClusteredMeans]:
    """Return means over outputs of the rates of each, of those outputs that have one."""
    found = {}
    for name, (numerator, denominator) in _sums(data).items():
        has = denominator > 0
        groups = with_several({"worker": data.worker[has], "source": data.source[has]})
        values = numerator[has] / denominator[has]
        found[name] = clustered_means(values, data.system[has], len(data.systems), None, groups)
    return found


def _in_groups(data: Responses, order: list[int]) -> GroupedScores:
    """Return F of each output that has one."""
    correct, needed = _sums(data)[F]
    has, rows = needed > 0, data.take(needed > 0)
    clusters = with_several({"worker": rows.worker, "source": rows.source})
    return GroupedScores(correct[has] / needed[has], rows.system, data.systems, order, clusters, rows.attributes)


def _rates_section(rows: Sequence[Report]) -> Section:
    names = [f"{kind} {rate}" for kind in ("micro", "macro") for rate in (PRECISION, RECALL, F)]
    cells: list[list[Cell]] = [[row["system"], name, *row[name]] for row in rows for name in names]
    columns = [Column("system"), Column("rate"), Column("value", 3), Column("low", 3), Column("high", 3)]
    caption = (
        "Precision: correct of present facts. Recall: correct of correct and missing ones. F: their harmonic mean. "
        "Micro: over all facts; macro: means over outputs that have such facts. 95 % intervals."
    )
    return Section(
        "rates", "Precision and recall", tables=[Table("rates", "Precision and recall", caption, columns, cells)]
    )
