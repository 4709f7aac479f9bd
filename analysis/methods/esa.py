"""ESA: scores of segments by expert raters (Kocmi et al. 2024), averaged over raters, then over segments."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.data.judgements import AnswerKind, Judgements, Scale
from analysis.data.loading import WITH_COPIES, load_scores
from analysis.data.output_scores import OutputScores, counted_outputs
from analysis.data.responses import AnsweredBy, Responses, average_repeats
from analysis.data.spans.marked import MarkedErrors, load_marked
from analysis.methods import OF_TESTED, Progress, ResponseMethod, ResponsesFile, unwatched
from analysis.methods.by_groups import GroupedScores, groups_sections
from analysis.methods.clusters import choose_groups, few_raters, in_words
from analysis.methods.settings import AnalysisSettings
from analysis.methods.system_scores import Analysed, SystemScores, pairs_section, systems_section, weights_in
from analysis.methods.workers import JudgedWorkers, judge_by_scores, judgements_of, workers_in_words, workers_section
from analysis.results.result import Result
from analysis.results.sections import Cell, Column, Section, Table
from analysis.stats.codes import n_distinct
from analysis.stats.ratings import Codes, Mask
from analysis.stats.segment_means import segment_means
from campaigns.design.composition import Kind
from evalsite.lib.words import counted

if TYPE_CHECKING:
    from campaigns.contracts.response import ResponseKind

CRITERION = "score"
_LOWEST, _HIGHEST = 0.0, 100.0


@dataclass(frozen=True)
class EsaData:
    """Scores, and the errors that were marked before, where the file has them."""

    scores: Responses
    marked: MarkedErrors | None = None


class Esa(ResponseMethod[EsaData]):
    """The mean score of a segment, from 0 to 100."""

    slug = "esa"
    title = "ESA"
    summary = "Scores of segments, averaged over raters, then over segments."
    unit = "points"
    table = "rated_spans"
    file_columns = ("worker", "source", "system", "score", "errors")
    takes = OF_TESTED

    @classmethod
    def reads(cls, kind: "type[ResponseKind]", settings: Mapping[str, Any]) -> bool:
        """Tell whether answers are scores from 0 to 100."""
        return kind.bounds(settings) == (_LOWEST, _HIGHEST)

    def read(self, file: ResponsesFile, settings: AnalysisSettings) -> EsaData:
        """Return the scores of a file: rater, system, segment, document and score; and the errors of a tool's file."""
        allowed = "a number from 0 to 100"
        scores = load_scores(
            file.path,
            _read_score,
            allowed,
            criterion=CRITERION,
            choices=file.choices_for(settings),
            kinds=WITH_COPIES,
        )
        return EsaData(scores, load_marked(file.path, file.choices.encoding))

    def scores_of(self, data: EsaData) -> Responses:
        """Return the scores without the errors."""
        return data.scores

    def answered_by(self, data: EsaData) -> AnsweredBy:
        """Return who gave each answer."""
        return AnsweredBy(data.scores.workers, data.scores.worker, data.scores.attributes)

    def sources_of(self, data: EsaData) -> tuple[list[str], Codes]:
        """Return those of the scores."""
        return data.scores.sources, data.scores.source[data.scores.kind == Kind.ORDINARY]

    def of_sources(self, data: EsaData, is_taken: Mask) -> EsaData:
        """Return the scores on some sources."""
        return EsaData(data.scores.take(is_taken[data.scores.source]), data.marked)

    def analyse(
        self, data: EsaData, settings: AnalysisSettings, on_progress: Progress = unwatched, *, brief: bool = False
    ) -> Result:
        """Return verdicts on raters, mean scores, and the differences of systems."""
        everything, twin = data.scores, data.scores.twins
        judged = self.judge(data, settings)
        is_counted = judged.is_counted[everything.worker]
        averaged, is_left = average_repeats(everything, everything.score, twin)
        given = replace(everything, numbers={"score": averaged}).take(is_counted & is_left)
        of_answers = given.worker, given.document, given.segment
        groups = choose_groups(*of_answers, len(given.documents), settings.workers_planned)
        weight = weights_in(given.attributes, settings)
        found = segment_means(given.score, given.system, given.segment, len(given.systems), groups, weight)
        scores = SystemScores.of(given.systems, found, found.n_segments, {CRITERION: found.mean})
        n_raters = n_distinct(given.worker)
        summary = {
            "n_raters": n_raters,
            "n_scores": int(given.score.size),
            "n_left_out": int(np.count_nonzero(~is_counted & (everything.kind != Kind.DEGRADED))),
        }
        in_groups = partial(
            GroupedScores,
            *(given.score, given.system, given.systems, scores.order, groups, given.attributes),
            output=given.segment,
        )
        errors = _errors(data.marked, scores.order, given.systems, judged) if data.marked else None
        return Analysed(
            *(settings, scores, everything, judged),
            summary=summary,
            own={} if errors is None else {"errors": errors},
            notes=[few_raters(n_raters)] if given.score.size and "rater" not in groups else [],
            criteria=given.criteria,
            groups=in_groups,
        ).result()

    def judge(self, data: EsaData, settings: AnalysisSettings) -> JudgedWorkers:
        """Return the verdicts on raters: whether they give degraded items lower scores."""
        return judge_by_scores(data.scores, data.scores.score, settings)

    def outputs(self, data: EsaData, settings: AnalysisSettings) -> OutputScores | None:
        """Return the scores."""
        return counted_outputs(data.scores, data.scores.score, self.judge(data, settings).is_counted)

    def judgements(self, data: EsaData, settings: AnalysisSettings) -> Judgements:
        """Return the scores."""
        judged = self.judge(data, settings)
        return judgements_of(data.scores, data.scores.score, [Scale(AnswerKind.SLIDER)], judged)

    def sections(self, result: Result) -> list[Section]:
        """Return the ranking, the pairs, and marked errors."""
        by = in_words(result.summary.n_clusters)
        caption = (
            f"Mean score of a segment, averaged over its raters, then over segments. Errors are clustered by {by}."
        )
        return [
            systems_section(result, score="score", n="segments", caption=caption),
            pairs_section(result, caption="Differences of mean scores, the better system first."),
            *groups_sections(result, score="score"),
            *([_errors_section(result.own["errors"])] if "errors" in result.own else []),
            *workers_section(result),
        ]

    def headline(self, result: Result) -> str:
        """Return how many scores there are."""
        n_raters, n_scores = result.summary.n_raters, result.own_summary["n_scores"]
        given = f"{counted(n_raters, 'rater')} gave {counted(n_scores, 'score')}."
        return f"{workers_in_words(result)} {given}".strip()


def _errors(marked: MarkedErrors, order: list[int], systems: list[str], judged: JudgedWorkers) -> list[dict[str, Any]]:
    """Return how many outputs of each system were marked, and how many errors of each severity one has in the mean.

    Those of raters who do not count are left out.
    """
    is_counted = judged.are_counted(marked.rater)
    found = []
    for name in (systems[code] for code in order if systems[code] in marked.rows_of):
        rows = marked.rows_of[name]
        rows = rows[is_counted[rows]]
        if rows.size:
            mean = marked.counts[rows].mean(axis=0).tolist()
            found.append({"system": name, "n": rows.size, "counts": dict(zip(marked.severities, mean, strict=True))})
    return found


def _errors_section(errors: list[dict[str, Any]]) -> Section:
    severities = sorted(errors[0]["counts"]) if errors else []
    columns = [Column("system"), Column("outputs"), *(Column(name, 2) for name in severities)]
    rows: list[list[Cell]] = [
        [row["system"], row["n"], *(row["counts"][severity] for severity in severities)] for row in errors
    ]
    caption = "Errors that were marked in an output, by severity, in the mean of a system’s annotations."
    table = Table("marked-errors", "Marked errors", caption, columns, rows)
    return Section("marked-errors", "Marked errors", tables=[table] if severities else [])


def _read_score(label: str) -> float:
    try:
        value = float(label)
    except ValueError:
        return nan
    return value if _LOWEST <= value <= _HIGHEST else nan
