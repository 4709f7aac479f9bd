"""Direct Assessment: scores of a number each, of one output at a time, with worker tests and z scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.data.dialogues.loading import load_dialogues, load_work
from analysis.data.dialogues.rows import LoadedDialogues, Work
from analysis.data.judgements import Judgements
from analysis.data.ratings.loading import LoadedRatings, load_ratings
from analysis.data.ratings.scales import check_scale, unclear_scale
from analysis.data.ratings.sources import SourceWords, load_sources
from analysis.methods import (
    DEFAULT,
    OPTIONS,
    PaperSentences,
    Progress,
    Report,
    ResponseMethod,
    ResponsesFile,
)
from analysis.methods.settings import AnalysisSettings
from analysis.methods.study import list_methods
from analysis.methods.study.direct_assessment import compact_table, quick_intervals, systems_table
from analysis.methods.study.recommended_comparison import concluded_pair
from analysis.methods.study.report import first_report, report
from analysis.methods.study.study import Study, run_study
from analysis.metrics.loading import SegmentScores, load_segment_scores
from analysis.results.findings import find
from analysis.results.paper.study import comparison, results, standardisation
from analysis.results.sections import Section, Table
from campaigns.contracts.response import ResponseKind
from campaigns.design.worker_test import NO_TEST
from evalsite.lib.tables import if_windows


@dataclass(frozen=True)
class StudyData:
    """Ratings and what else is known of them, as `run_study` takes it."""

    loaded: LoadedRatings
    dialogues: LoadedDialogues | None = None
    work: Sequence[Work] = ()
    source_words: Sequence[SourceWords] = ()
    metrics: SegmentScores | None = None


class DirectAssessmentMethod(ResponseMethod[StudyData]):
    """The analysis of studies, whose parts are the methods of `settings.EVALSITE_METHODS`."""

    slug = DEFAULT
    title = "Direct assessment"
    summary = "Scores standardised by worker (z), averaged by system."
    unit = "z"
    takes = frozenset(OPTIONS)
    has_criteria = True
    is_of_whole_chats = True
    is_study = True

    @classmethod
    def reads(cls, kind: type[ResponseKind], settings: Mapping[str, Any]) -> bool:
        """Tell whether answers have scores between two bounds."""
        return kind.bounds(settings) is not None

    def read(self, file: ResponsesFile, settings: AnalysisSettings) -> StudyData:
        """Return ratings with the chats, working times, sources and scores of metrics that `extras` name."""
        path, encoding, extras = file.path, file.choices.encoding, file.extras
        loaded = load_ratings(
            path,
            criteria=settings.criterion_names,
            statements=settings.statements,
            encoding=if_windows(path, encoding),
            wide=extras.get("score_columns", ()),
            scale=settings.scales,
            choices=file.choices_for(settings),
        )
        if not settings.is_scale_said and (observed := check_scale(loaded.ratings.scores)):
            raise unclear_scale(path.name, loaded.score_columns, observed)
        chats, assignments = extras.get("dialogues"), extras.get("assignments")
        sources, scores = extras.get("sources"), extras.get("metrics")
        return StudyData(
            loaded,
            dialogues=load_dialogues(chats, assignments, encoding=encoding) if chats else None,
            work=load_work(assignments, encoding) if assignments and not chats else (),
            source_words=load_sources(sources, encoding) if sources else (),
            metrics=scores and load_segment_scores(scores, has_metrics=True, encoding=if_windows(scores, encoding)),
        )

    def study(self, data: StudyData, settings: AnalysisSettings, on_progress: Progress = lambda _: None) -> Study:
        """Return the analysis in arrays."""
        return run_study(
            data.loaded,
            settings,
            on_progress,
            dialogues=data.dialogues,
            work=data.work,
            source_words=data.source_words,
            metrics=data.metrics,
        )

    def analyse(
        self,
        data: StudyData,
        settings: AnalysisSettings,
        on_progress: Progress = lambda _: None,
        *,
        brief: bool = False,
    ) -> dict[str, Any]:
        """Return the report of the study."""
        study = self.study(data, settings, on_progress)
        if not brief:
            return report(study)
        return first_report(study) | {"intervals": quick_intervals(study)}

    def judgements(self, data: StudyData, settings: AnalysisSettings) -> Judgements:
        """Return the scores of all items."""
        return self.study(data, settings).judgements

    def sections(self, report: Report) -> list[Section]:
        """Return the sections of all parts."""
        return [section for method in list_methods() for section in method.sections(report)]

    def headline(self, report: Report) -> str:
        """Return how many workers count, and by which test."""
        workers, test = report["summary"]["workers"], report["settings"]["worker_test"]
        if test["preset"] == NO_TEST:
            n_kept = workers["total"] - len(_excluded(report))
            return f"No worker test was applied: {n_kept} of {workers['total']} workers count."
        return (
            f"{workers['passed']} of {workers['total']} workers passed {test['preset']} at "
            f"α = {test['alpha']:g} ({workers['failed']} failed, {workers['untested']} untested)."
        )

    def printed(self, report: Report) -> dict[str, Any]:
        """Return the summary, and what all methods print: of each system `score` (mean z), `interval`, `rank` and
        `ranks`; `findings`, `pairs` and `groups`.
        """
        summary, intervals = report["summary"], report["intervals"]
        ranks = {row["system"]: [row["best"], row["worst"]] for row in report["recommended"]["ranks"]}
        scored = [row["z"] for row in summary["systems"] if row["z"] is not None]
        rows = []
        for row in summary["systems"]:
            z, interval = row["z"], intervals[row["system"]]
            rank = None if z is None else 1 + sum(other > z for other in scored)
            rows.append(row | {"score": z, "interval": None if None in interval else list(interval), "rank": rank})
            rows[-1]["ranks"] = ranks.get(row["system"])
        return {
            **summary,
            "method": self.slug,
            "higher_is_better": True,
            "systems": rows,
            "findings": find(report),
            "pairs": [concluded_pair(pair) for pair in report["recommended"]["pairs"]],
            **({"groups": report["groups"]} if "groups" in report else {}),
        }

    def findings(self, report: Report) -> list[str]:
        """Return who beats whom by z, what is undecided, and whose ratings count."""
        return find(report)

    def tables_to_copy(self, report: Report) -> list[Table]:
        """Return the table for a column of a paper, and that of all that is known of each system."""
        return [compact_table(report), systems_table(report)]

    def paper(self, report: Report) -> PaperSentences:
        """Return how scores were standardised, by which tests systems were compared, and what these found."""
        effect = "The effect size is P(row > column), the probability of superiority, ties counted half."
        scored = standardisation(report["settings"])
        return PaperSentences(scored, comparison(report), results(report), [effect])


def _excluded(report: Report) -> list[str]:
    """Return the workers of a report whose ratings do not count though nobody was tested."""
    excluded: Mapping[str, str] = report["settings"]["excluded"]
    return [row["worker"] for row in report["worker_table"] if row["worker"] in excluded]
