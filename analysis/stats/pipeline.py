"""The whole analysis of one set of ratings, from scores as given to systems ranked and tested."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from analysis.stats.conduct import References, compare_references
from analysis.stats.inference import Comparison, compare_clustered
from analysis.stats.quality import WorkerTests, run_worker_test
from analysis.stats.ratings import Codes, Floats, Mask, Ratings, match_twins
from analysis.stats.scores import (
    Observations,
    Standardisation,
    SystemScores,
    Unit,
    counted_items,
    observe,
    reverse_negative,
    score_systems,
    standardise,
)
from analysis.stats.significance import PairwiseTests, compare_systems, rank_systems
from campaigns.design.composition import ANALYSED, Kind

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Design:
    """How ratings are analysed.

    Attributes
    ----------
    is_negative, is_in_worker_test : bool, (n_criteria,)
        Which criteria are reversed, and which enter the worker test.
    preset : str
        A key of `quality.PRESETS`.
    alpha : float
        A worker passes iff p < alpha.
    standardised_kinds : tuple of Kind
        Kinds of item that enter a worker's mean and standard deviation.
    excluded : tuple of int
        Codes of workers whose ratings never count, whatever their test says.
    """

    is_negative: Mask
    is_in_worker_test: Mask
    preset: str
    alpha: float = 0.05
    unit: Unit = Unit.RATING
    standardised_kinds: tuple[Kind, ...] = field(default=ANALYSED)
    excluded: tuple[int, ...] = ()


@dataclass(frozen=True)
class ScoredRatings:
    """Ratings after the worker test, in z scores.

    `is_kept` (n_workers,) marks the workers whose ratings count; `observations` are theirs; `twin` as of `match_twins`.
    """

    workers: WorkerTests
    standardisation: Standardisation
    is_kept: Mask
    observations: Observations
    twin: NDArray[np.int64]


@dataclass(frozen=True)
class Analysis(ScoredRatings):
    """What the ratings mean.

    `tests` compares systems on overall z; `criterion_tests` on each criterion's z; `order` ranks system codes, best
    first; `references`: of reference items.
    """

    systems: SystemScores
    tests: PairwiseTests
    criterion_tests: tuple[PairwiseTests, ...]
    order: list[int]
    references: References


@dataclass(frozen=True)
class CountedRatings:
    """Single ratings that count, whatever the unit of the design is, in the order of `counted_items`.

    Overall z (NaN where undefined), and codes of system, worker, source (−1 if unknown) and assignment, (n,) each.
    """

    z: Floats
    system: Codes
    worker: Codes
    source: Codes
    assignment: Codes

    def columns(self, chosen: Mask | slice = slice(None)) -> tuple[Floats, Codes, Codes, Codes]:
        """Return z, system, worker and source of the chosen ratings, as `compare_clustered` and others take them."""
        return self.z[chosen], self.system[chosen], self.worker[chosen], self.source[chosen]


def score_ratings(ratings: Ratings, design: Design, on_progress: Progress = lambda stage: None) -> ScoredRatings:
    """Test workers and standardise the scores of ratings: all that `compare_recommended` needs.

    Parameters, errors and references as of `analyse`.
    """
    on_progress("Testing workers")
    twin = match_twins(ratings)
    scores = reverse_negative(ratings.scores, design.is_negative)
    workers = run_worker_test(
        ratings, scores, twin, preset=design.preset, alpha=design.alpha, criteria=design.is_in_worker_test
    )
    is_kept = workers.counts
    is_kept[list(design.excluded)] = False
    on_progress("Standardising scores")
    standardisation = standardise(ratings, scores, design.standardised_kinds)
    observations = observe(ratings, scores, standardisation, twin, is_kept=is_kept, unit=design.unit)
    return ScoredRatings(workers, standardisation, is_kept, observations, twin)


def analyse(ratings: Ratings, design: Design, on_progress: Progress = lambda stage: None) -> Analysis:
    """Analyse ratings: worker tests, standardised scores, system scores, tests of every pair of systems.

    Parameters
    ----------
    on_progress : callable
        Called with the name of each stage as it begins.

    Returns
    -------
    Analysis
        Degenerate ratings give NaN scores and p-values, never an error.

    References
    ----------
    METHOD §3–§5.
    """
    scored = score_ratings(ratings, design, on_progress)
    observations = scored.observations
    systems = score_systems(observations, ratings.n_systems)
    on_progress("Comparing systems")
    tests = compare_systems(observations.overall_z, observations.system, ratings.n_systems)
    criterion_tests = (
        (tests,)
        if ratings.n_criteria == 1
        else tuple(compare_systems(z, observations.system, ratings.n_systems) for z in observations.z.T)
    )
    order = rank_systems(systems.z)
    references = compare_references(ratings, reverse_negative(ratings.scores, design.is_negative), scored.is_kept)
    return Analysis(
        **vars(scored),
        systems=systems,
        tests=tests,
        criterion_tests=criterion_tests,
        order=order,
        references=references,
    )


def compare_recommended(
    ratings: Ratings, design: Design, analysis: ScoredRatings, weight: Floats | None = None
) -> Comparison:
    """Return the recommended comparison of every two systems, on overall z.

    Parameters
    ----------
    analysis : ScoredRatings
        Of these ratings by this design.
    weight : float64, (n_assignments,), optional
        What the ratings of each assignment weigh, where its HIT was not drawn evenly (`weighting.draw_weights`).

    Notes
    -----
    Whatever the unit of the design is, observations are single ratings: the errors of ratings that share an output are
    clustered, so they need no averaging.

    References
    ----------
    METHOD §5.
    """
    counted = counted_ratings(ratings, design, analysis)
    of_rating = None if weight is None else weight[counted.assignment]
    return compare_clustered(*counted.columns(), ratings.n_systems, weight=of_rating)


def counted_ratings(ratings: Ratings, design: Design, analysis: ScoredRatings) -> CountedRatings:
    """Return the single ratings that count, by an analysis of these ratings by this design."""
    observations = observe_ratings(ratings, design, analysis)
    items = counted_items(ratings, analysis.is_kept)
    codes = (each[items] for each in (ratings.worker, ratings.source, ratings.assignment))
    return CountedRatings(observations.overall_z, observations.system, *codes)


def observe_ratings(ratings: Ratings, design: Design, analysis: ScoredRatings) -> Observations:
    """Return the observations that are single ratings, whatever the unit of the design is.

    They are in the order of `counted_items`.
    """
    if design.unit is Unit.RATING:
        return analysis.observations
    return observe_by(ratings, replace(design, unit=Unit.RATING), analysis)


def observe_by(ratings: Ratings, design: Design, found: ScoredRatings) -> Observations:
    """Return the observations by a design, of the workers who count and by their μ and σ in `found`."""
    scores = reverse_negative(ratings.scores, design.is_negative)
    return observe(ratings, scores, found.standardisation, found.twin, is_kept=found.is_kept, unit=design.unit)
