"""Counts of facts in outputs: precision, recall and F of each system, over all facts and over outputs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from analysis.data.judgements import AnswerKind, Judgements, Scale
from analysis.data.loading import WITH_COPIES, Answer, load_answers
from analysis.data.notices import ResponsesWarning
from analysis.data.output_scores import OutputScores, counted_outputs
from analysis.data.responses import Responses
from analysis.methods import OF_TESTED, Progress, Report, ResponseMethod, ResponsesFile
from analysis.methods.by_groups import GroupedScores, compare_by_groups, groups_sections
from analysis.methods.clusters import explain_single, in_words, with_several
from analysis.methods.settings import AnalysisSettings
from analysis.methods.system_scores import (
    SystemScores,
    closing,
    list_pairs,
    pairs_section,
    summarise_systems,
    systems_section,
    weights_in,
)
from analysis.methods.workers import (
    JudgedWorkers,
    judge_rows,
    judgements_of,
    worker_parts,
    workers_in_words,
    workers_section,
)
from analysis.results.sections import Cell, Column, Section, Table
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
        rows = load_answers(
            file.path,
            _COLUMNS,
            criterion=CRITERION,
            choices=file.choices_for(settings),
            kinds=WITH_COPIES,
        )
        if rows.n and _is_impossible(rows.without_repeats()).all():
            raise DomainError(
                "bad_counts",
                "More facts are correct than present in every row. “present” counts all facts that an output states, "
                "“correct” those of them that are right, “missing” those that it should state, too.",
            )
        return rows

    def analyse(
        self,
        data: Responses,
        settings: AnalysisSettings,
        on_progress: Progress = lambda _: None,
        *,
        brief: bool = False,
    ) -> dict[str, Any]:
        """Return precision, recall and F with errors clustered by worker and source.

        Rows in which more facts are correct than present are left out of them, and counted in a warning.
        """
        judged = self.judge(data, settings)
        data = data.without_repeats()
        of_summary, of_workers = worker_parts(data, judged, settings)
        data = data.take(judged.is_counted[data.worker] & (data.kind == Kind.ORDINARY))
        is_impossible = _is_impossible(data)
        warnings = [*data.warnings, *_left_out(int(is_impossible.sum()))]
        data = data.take(~is_impossible)
        micro = _ratios(data, settings)
        macro = _means(data)
        found = micro[F]
        scores = SystemScores(
            data.systems,
            found.mean,
            found.low,
            found.high,
            np.bincount(data.system, minlength=len(data.systems)),
            found.pairs,
            higher_is_better=True,
            criteria={name: each.mean for name, each in micro.items()}
            | {f"{name} (macro)": each.mean for name, each in macro.items()},
        )
        summary = summarise_systems(self.slug, settings, scores) | {
            "n_workers": len(data.workers),
            "n_outputs": data.n,
            "n_facts": int(data.numbers["present"].sum()),
            "clusters": dict(found.n_clusters),
            **of_summary,
        }
        notes = list(of_workers["notes"])
        if data.n:
            notes += explain_single(found.n_clusters)
        return {
            "summary": summary,
            "pairs": list_pairs(scores, settings),
            **compare_by_groups(settings, partial(_in_groups, data, scores.order)),
            "rates": [
                {"system": data.systems[code]}
                | {
                    f"{kind} {name}": [or_none(values[code]) for values in (each.mean, each.low, each.high)]
                    for kind, of in (("micro", micro), ("macro", macro))
                    for name, each in of.items()
                }
                for code in scores.order
            ],
            "worker_table": of_workers["worker_table"],
            **closing(settings, data.fingerprint, warnings, notes, _COUNTS),
        }

    def judge(self, data: Responses, settings: AnalysisSettings) -> JudgedWorkers:
        """Return the verdicts on workers: whether they find fewer correct facts in degraded items."""
        data = data.without_repeats()
        return judge_rows(data, data.numbers["correct"], settings)

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

    def sections(self, report: Report) -> list[Section]:
        """Return the ranking by F, the pairs, and precision, recall and F both ways."""
        by = in_words(report["summary"]["clusters"])
        caption = f"Score: F over all facts of a system’s outputs (micro). Errors are clustered by {by}."
        return [
            systems_section(report, score="F", n="outputs", caption=caption, decimals=3),
            pairs_section(report, caption="Differences of F, the better system first.", decimals=3),
            *groups_sections(report, score=F, decimals=3, note=_OF_GROUPS),
            _rates_section(report["rates"]),
            *workers_section(report),
        ]

    def headline(self, report: Report) -> str:
        """Return how many facts were counted."""
        summary = report["summary"]
        return (
            f"{counted(summary['n_workers'], 'worker')} counted {counted(summary['n_facts'], 'fact')} in "
            f"{counted(summary['n_outputs'], 'output')}. {workers_in_words(report)}"
        ).strip()


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
