"""Direct Assessment: scores of a number each, of one output at a time, with worker tests and z scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.dialogues.loading import load_dialogues, load_work
from analysis.dialogues.rows import LoadedDialogues, Work
from analysis.methods import list_methods
from analysis.methods.replication import compare_runs
from analysis.metrics.loading import SegmentScores, load_segment_scores
from analysis.ratings.loading import LoadedRatings, load_ratings
from analysis.ratings.scales import check_scale, unclear_scale
from analysis.ratings.sources import SourceWords, load_sources
from analysis.report import explain, report, summarise, warnings_of
from analysis.response_methods import OPTIONS, Progress, ReplicableMethod, Report, ResponsesFile
from analysis.sections import Section
from analysis.settings import AnalysisSettings
from analysis.study import Study, run_study
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


class DirectAssessmentMethod(ReplicableMethod[StudyData]):
    """The analysis of studies, whose parts are the methods of `settings.EVALSITE_METHODS`."""

    slug = "direct_assessment"
    takes = frozenset(OPTIONS)
    has_criteria = True

    def read(self, file: ResponsesFile, settings: AnalysisSettings) -> StudyData:
        """Return ratings with the chats, working times, sources and scores of metrics that `extras` name."""
        path, encoding, extras = file.path, file.encoding, file.extras
        loaded = load_ratings(
            path,
            criteria=settings.criterion_names,
            statements=settings.statements,
            encoding=if_windows(path, encoding),
            wide=extras.get("score_columns", ()),
            scale=settings.scales,
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
        return {"summary": summarise(study), "warnings": warnings_of(study), "notes": explain(study)}

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

    def compare(self, original: Report, report: Report) -> dict[str, Any]:
        """Return how far the two runs agree."""
        return compare_runs(original["summary"], report["summary"])


def _excluded(report: Report) -> list[str]:
    """Return the workers of a report whose ratings do not count though nobody was tested."""
    excluded: Mapping[str, str] = report["settings"]["excluded"]
    return [row["worker"] for row in report["worker_table"] if row["worker"] in excluded]
