"""One set of ratings, how it is analysed and what comes out, in arrays."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from analysis.data.dialogues.rows import LoadedDialogues, Work
from analysis.data.judgements import AnswerKind, Judgements, Scale
from analysis.data.ratings.loading import LoadedRatings
from analysis.methods.settings import AnalysisSettings, RatedCriterion
from analysis.metrics.assistance import PeoplesScores
from analysis.metrics.loading import SegmentScores
from analysis.stats.inference import Comparison, TooLargeError
from analysis.stats.pipeline import Analysis, Progress, analyse, counted_ratings
from analysis.stats.procedures import ALPHA, Procedure, compare_by
from analysis.stats.quality import Verdict
from analysis.stats.ratings import Floats, Ratings
from analysis.stats.scores import rescale, reverse_negative
from analysis.stats.sequences import at_every_look


@dataclass(frozen=True)
class Study:
    """One set of ratings, how it was analysed and what came out; of chats, the chats as well.

    `loaded` has the scores as they were given, `ratings` on 0–100. `work` says how long assignments took, `metrics`
    what metrics say of the outputs. `asked` are all criteria that the settings named, with those of single replies that
    `settings` has no more.
    """

    loaded: LoadedRatings
    ratings: Ratings
    settings: AnalysisSettings
    analysis: Analysis
    dialogues: LoadedDialogues | None = None
    work: Sequence[Work] = ()
    metrics: SegmentScores | None = None
    asked: tuple[RatedCriterion, ...] = ()

    @property
    def order(self) -> list[int]:
        """Codes of the systems that have ordinary items, best first; a chatbot that is all degraded has none."""
        has_outputs = self.has_outputs
        return [code for code in self.analysis.order if has_outputs[code]]

    @property
    def weights(self) -> Floats | None:
        """What the ratings of each assignment weigh in comparisons, (n_assignments,); None where all weigh the same.

        One whose weight is not known weighs 1.
        """
        known = {row[:2]: row.weight for row in self.work if row.weight is not None}
        if not known:
            return None
        found, loaded = np.ones(len(self.loaded.assignments)), self.loaded
        worker_of = dict(zip(self.ratings.assignment.tolist(), self.ratings.worker.tolist(), strict=True))
        for code, worker in worker_of.items():
            found[code] = known.get((loaded.workers[worker], loaded.assignments[code]), 1.0)
        return found

    @property
    def procedure(self) -> Procedure:
        """By what systems are said to differ; of ratings that are looked at while they come, the recommended one."""
        return Procedure.CLUSTERED if self.settings.workers_planned else Procedure(self.settings.comparison)

    @cached_property
    def compared(self) -> Comparison | TooLargeError:
        """Every two systems by the procedure of the settings, or why it cannot be; beside the studies' the recommended.

        Of ratings that are looked at while they come it holds at every look.
        """
        procedure = Procedure.CLUSTERED if self.procedure is Procedure.STUDIES else self.procedure
        n_planned = self.settings.workers_planned
        try:
            found = self.compare_by(procedure)
        except TooLargeError as error:
            return error
        return at_every_look(found, alpha=ALPHA, n_planned=n_planned) if n_planned else found

    def compare_by(self, procedure: Procedure) -> Comparison:
        """Return every two systems by a procedure, on the overall z of single ratings; may raise TooLargeError."""
        counted = counted_ratings(self.ratings, self.settings.design(self.loaded.workers), self.analysis)
        weight = None if self.weights is None else self.weights[counted.assignment]
        return compare_by(procedure, counted.columns(), self.ratings.n_systems, weight)

    @cached_property
    def judgements(self) -> Judgements:
        """The scores of all items, 0–100, negative criteria reversed."""
        design, given = self.settings.design(self.loaded.workers), self.loaded.ratings.scores
        low, high = np.array(self.settings.scales).T
        return Judgements(
            replace(self.ratings, scores=reverse_negative(self.ratings.scores, design.is_negative)),
            list(self.loaded.criteria),
            [Scale(AnswerKind.SLIDER)] * self.ratings.n_criteria,
            self.analysis.is_kept,
            self.analysis.workers.verdict == Verdict.FAILED,
            np.where(design.is_negative, low + high - given, given),
        )

    @property
    def peoples_scores(self) -> PeoplesScores:
        """The z of single ratings that count, and of systems with outputs, best first."""
        design, is_kept = self.settings.design(self.loaded.workers), self.analysis.is_kept
        counted = counted_ratings(self.ratings, design, self.analysis)
        return PeoplesScores(
            *(self.loaded.systems, self.loaded.sources, self.order, *counted.columns()),
            is_in_half=(is_kept & (np.cumsum(is_kept) % 2 == 1))[counted.worker],
            measure="z",
            weight=None if self.weights is None else self.weights[counted.assignment],
        )

    @property
    def concluded(self) -> Floats:
        """p that the row's system is better than the column's, (n_systems, n_systems): what is concluded by.

        With Holm's correction over all pairs, or of the studies' tests if these were asked for. 1 where it is open, NaN
        where either has no score.
        """
        if self.procedure is Procedure.STUDIES:
            return self.analysis.tests.p_value
        scored = ~np.isnan(self.analysis.systems.z)
        p = np.where(np.outer(scored, scored), 1.0, np.nan)
        if isinstance(self.compared, Comparison):
            is_better = (self.compared.difference > 0) & ~np.isnan(self.compared.holm)
            p[is_better] = self.compared.holm[is_better]
        return p

    @property
    def has_outputs(self) -> NDArray[np.bool_]:
        """Whether each system has ordinary items, (n_systems,)."""
        return self.ratings.has_outputs


def run_study(
    loaded: LoadedRatings,
    settings: AnalysisSettings,
    on_progress: Progress = lambda _: None,
    *,
    dialogues: LoadedDialogues | None = None,
    work: Sequence[Work] = (),
    metrics: SegmentScores | None = None,
) -> Study:
    """Analyse loaded ratings by these settings; `on_progress` gets the name of each stage.

    `work` is how long assignments took; the dialogues, if given, have their own.
    """
    asked = settings.criteria
    ratings, settings = prepare_ratings(loaded, settings)
    analysis = analyse(ratings, settings.design(loaded.workers), on_progress)
    times = dialogues.work if dialogues else work
    return Study(loaded, ratings, settings, analysis, dialogues, times, metrics, asked)


def prepare_ratings(loaded: LoadedRatings, settings: AnalysisSettings) -> tuple[Ratings, AnalysisSettings]:
    """Return loaded ratings on 0–100, and the settings without criteria on which only single replies were rated."""
    if len(loaded.criteria) < len(settings.criteria):
        settings = replace(settings, criteria=tuple(each for each in settings.criteria if each.name in loaded.criteria))
    low, high = np.array(settings.scales).T
    return replace(loaded.ratings, scores=rescale(loaded.ratings.scores, low, high)), settings
