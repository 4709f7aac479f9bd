"""Direct Assessment: scores of a number each, of one output at a time, with worker tests and z scores."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.data.dialogues.loading import load_dialogues, load_work
from analysis.data.dialogues.rows import LoadedDialogues, Work
from analysis.data.judgements import Judgements
from analysis.data.output_scores import OutputScores
from analysis.data.ratings.loading import LoadedRatings, load_ratings
from analysis.data.ratings.scales import check_scale, unclear_scale
from analysis.methods import DEFAULT, OPTIONS, Progress, ResponseMethod, ResponsesFile, unwatched
from analysis.methods.by_groups import groups_sections
from analysis.methods.settings import AnalysisSettings
from analysis.methods.study import list_methods
from analysis.methods.study.direct_assessment import quick_intervals
from analysis.methods.study.report import first_report, report
from analysis.methods.study.study import Study, prepare_ratings, run_study
from analysis.methods.workers import workers_in_words
from analysis.metrics.assistance import PeoplesScores
from analysis.metrics.loading import SegmentScores
from analysis.results.findings import find
from analysis.results.paper.study import comparison, results, standardisation
from analysis.results.result import PaperSentences, Result, Summary, SystemResult
from analysis.results.sections import Section
from analysis.results.stored import as_result, with_shared_parts
from analysis.stats.pipeline import counted_ratings, observe_by, score_ratings
from analysis.stats.ratings import Codes, Floats, or_none
from analysis.stats.reliability import split_half
from analysis.stats.scores import Standardisation, Unit, reverse_negative, score_systems, standardise
from analysis.stats.sensitivity import score_by_length, score_without_each
from campaigns.design.composition import ANALYSED, Kind
from evalsite.lib.tables import if_windows

if TYPE_CHECKING:
    from campaigns.contracts.response import ResponseKind

_N_SPLITS = 500  # of the workers, into halves


@dataclass(frozen=True)
class StudyData:
    """Ratings and what else is known of them, as `run_study` takes it; `last` is how they were analysed last."""

    loaded: LoadedRatings
    dialogues: LoadedDialogues | None = None
    work: Sequence[Work] = ()
    metrics: SegmentScores | None = None
    last: list[tuple[AnalysisSettings, Study]] = field(default_factory=list, repr=False, compare=False)


class DirectAssessmentMethod(ResponseMethod[StudyData]):
    """The analysis of studies, whose parts are the methods of `EVALSITE_METHODS`."""

    slug = DEFAULT
    title = "Direct assessment"
    summary = "Scores standardised by worker (z), averaged by system."
    unit = "z"
    takes = frozenset((*OPTIONS, "standardised_kinds")) - {"style"}
    has_criteria = True
    is_of_whole_chats = True
    is_study = True

    @classmethod
    def reads(cls, kind: "type[ResponseKind]", settings: Mapping[str, Any]) -> bool:
        """Tell whether answers have scores between two bounds."""
        return kind.bounds(settings) is not None

    def read(self, file: ResponsesFile, settings: AnalysisSettings) -> StudyData:
        """Return ratings with the chats, working times and scores of metrics that `extras` have."""
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
        return StudyData(
            loaded,
            dialogues=load_dialogues(chats, assignments, encoding=encoding) if chats else None,
            work=load_work(assignments, encoding) if assignments and not chats else (),
            metrics=extras.get("metrics"),
        )

    def study(self, data: StudyData, settings: AnalysisSettings, on_progress: Progress = unwatched) -> Study:
        """Return the analysis in arrays."""
        for analysed, study in data.last:
            if analysed == settings:
                return study
        study = run_study(
            data.loaded, settings, on_progress, dialogues=data.dialogues, work=data.work, metrics=data.metrics
        )
        data.last[:] = [(settings, study)]
        return study

    def analyse(
        self, data: StudyData, settings: AnalysisSettings, on_progress: Progress = unwatched, *, brief: bool = False
    ) -> Result:
        """Return the result of the study."""
        study = self.study(data, settings, on_progress)
        if not brief:
            return as_result(report(study))
        return as_result(with_shared_parts(first_report(study) | {"intervals": quick_intervals(study)}))

    def judgements(self, data: StudyData, settings: AnalysisSettings) -> Judgements:
        """Return the scores of all items."""
        return self.study(data, settings).judgements

    def outputs(self, data: StudyData, settings: AnalysisSettings) -> OutputScores:
        """Return the overall z of single ratings that count."""
        study = self.study(data, settings)
        counted = counted_ratings(study.ratings, study.settings.design(data.loaded.workers), study.analysis)
        rows = (counted.source >= 0) & ~np.isnan(counted.z)
        labels = data.loaded.systems, data.loaded.sources, data.loaded.workers
        codes = counted.system[rows], counted.source[rows], counted.worker[rows]
        return OutputScores(*labels, *codes, np.zeros(codes[0].size, np.int64), counted.z[rows])

    def peoples_scores(self, data: StudyData, settings: AnalysisSettings, order: Sequence[str]) -> PeoplesScores:
        """Return the z of single ratings that count, weighted as systems' scores are."""
        return self.study(data, settings).peoples_scores

    def rank(self, data: StudyData, settings: AnalysisSettings) -> Result:
        """Return the mean z of systems alone: to compare all pairs takes too long to be done often."""
        ratings, settings = prepare_ratings(data.loaded, settings)
        found = score_ratings(ratings, settings.design(data.loaded.workers))
        return ranking_of(data.loaded.systems, score_systems(found.observations, ratings.n_systems).z)

    def rank_otherwise(self, data: StudyData, settings: AnalysisSettings) -> Mapping[str, Result]:
        """Return the rankings by other ways to standardise, by the other unit and by raw scores."""
        return dict(rank_otherwise(self.study(data, settings)))

    def rank_without_each(self, data: StudyData, settings: AnalysisSettings) -> list[Result]:
        """Return the ranking without each of the workers who count."""
        study = self.study(data, settings)
        scores = score_without_each(study.ratings, study.settings.design(data.loaded.workers), study.analysis)
        return [ranking_of(data.loaded.systems, z) for z in scores]

    def correlate_halves(self, data: StudyData, settings: AnalysisSettings, rng: np.random.Generator) -> Floats:
        """Return r of halves by z of ordinary items, mean over criteria."""
        study = self.study(data, settings)
        ratings, analysis = study.ratings, study.analysis
        rows = np.flatnonzero((ratings.kind == Kind.ORDINARY) & analysis.is_kept[ratings.worker])
        worker, system = ratings.worker[rows], ratings.system[rows]
        z = analysis.standardisation.z(study.judgements.ratings.scores[rows].mean(axis=1), worker)
        shape = {"n_systems": ratings.n_systems, "n_workers": ratings.n_workers}
        return split_half(z, system, worker, **shape, n_splits=_N_SPLITS, rng=rng)

    def sources_of(self, data: StudyData) -> tuple[list[str], Codes]:
        """Return the sources of ratings."""
        ratings = data.loaded.ratings
        return data.loaded.sources, ratings.source[ratings.kind == Kind.ORDINARY]

    def rank_short(
        self, data: StudyData, settings: AnalysisSettings, n_words: Floats, bounds: Sequence[int]
    ) -> list[Result]:
        """Return the rankings over short sources, by the μ and σ of all of a worker's ratings."""
        ratings, settings = prepare_ratings(data.loaded, settings)
        design = settings.design(data.loaded.workers)
        counts, scores = score_by_length(ratings, design, score_ratings(ratings, design), n_words, bounds)
        return [ranking_of(data.loaded.systems, z, n=n) for n, z in zip(counts, scores, strict=True)]

    def sections(self, result: Result) -> list[Section]:
        """Return the sections of all parts."""
        sections = [section for method in list_methods() for section in method.sections(result)]
        return [*sections, *groups_sections(result, score="z")]

    def headline(self, result: Result) -> str:
        """Return how many workers count, and by which test."""
        n_kept, n_workers = sum(row.excluded is None for row in result.workers), len(result.workers)
        return workers_in_words(result) or f"No worker test was applied: {n_kept} of {n_workers} workers count."

    def findings(self, result: Result) -> list[str]:
        """Return who beats whom by z, what is undecided, and whose ratings count."""
        return find(result)

    def paper(self, result: Result) -> PaperSentences:
        """Return how scores were standardised, by which tests systems were compared, and what these found."""
        effect = "The effect size is P(row > column), the probability of superiority, ties counted half."
        return PaperSentences(standardisation(result.settings), comparison(result), results(result), [effect])


# --- A study scored otherwise: by other μ and σ, by the other unit, without standardisation (METHOD §6)


def rank_otherwise(study: Study) -> Iterator[tuple[str, Result]]:
    """Yield what other ways to score systems are called, and the ranking by each."""
    systems, ratings, analysis = study.loaded.systems, study.ratings, study.analysis
    design = study.settings.design(study.loaded.workers)

    def ranked(unit: Unit, way: Standardisation) -> Result:
        otherwise = replace(analysis, standardisation=way)
        observed = observe_by(ratings, replace(design, unit=unit), otherwise)
        return ranking_of(systems, score_systems(observed, ratings.n_systems).z)

    for name, way in _standardisations(study):
        yield name, ranked(design.unit, way)
    if (ratings.source >= 0).any():  # else each item is an output of its own
        other = Unit.OUTPUT if design.unit is Unit.RATING else Unit.RATING
        yield f"unit: {other.value}", ranked(other, analysis.standardisation)
    yield "raw scores, not standardised", ranking_of(systems, analysis.systems.raw, is_standardised=False)


def _standardisations(study: Study) -> Iterator[tuple[str, Standardisation]]:
    ratings, own = study.ratings, study.analysis.standardisation
    design = study.settings.design(study.loaded.workers)
    standardised = set(design.standardised_kinds)
    if standardised == set(ANALYSED):  # else n is of other ratings
        n_rated = np.count_nonzero(~np.isnan(ratings.scores), axis=1)
        n = np.bincount(ratings.worker, weights=n_rated, minlength=ratings.n_workers)
        with np.errstate(divide="ignore", invalid="ignore"):
            yield "σ with ddof = 0", replace(own, sd=own.sd * np.sqrt((n - 1) / n))
    there = {Kind(kind) for kind in np.unique(ratings.kind)}
    for name, kinds in (
        ("μ, σ of all kinds", ANALYSED),
        ("μ, σ of ordinary items and repeats", (Kind.ORDINARY, Kind.REPEAT)),
        ("μ, σ of ordinary items", (Kind.ORDINARY,)),
    ):
        if there & set(kinds) not in (there & standardised, set()):
            yield name, standardise(ratings, reverse_negative(ratings.scores, design.is_negative), kinds)


def ranking_of(
    systems: Sequence[str], scores: Floats, n: Codes | None = None, *, is_standardised: bool = True
) -> Result:
    """Return the ranking of scores, (n_systems,), and of how many observations, (n_systems,), each is of."""
    counts = [0] * len(systems) if n is None else n.tolist()
    rows = [SystemResult(name, or_none(z), n=of) for name, z, of in zip(systems, scores, counts, strict=True)]
    return Result(Summary(rows, is_standardised=is_standardised))
