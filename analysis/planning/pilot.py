"""The rating model of a pilot: how its ratings vary, in points of 100 (METHOD §8)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from analysis.methods.study.study import Study
from analysis.metrics.assistance import LearntSaving, learn_savings
from analysis.stats.codes import n_distinct
from analysis.stats.designs import CHATS, TEXTS, PlannedDesign, RatingModel
from analysis.stats.power import share_counted
from analysis.stats.quality import twin_differences
from analysis.stats.ratings import Floats
from analysis.stats.scores import counted_items, reverse_negative
from analysis.stats.variance import COMPONENTS, Components, estimate_components
from campaigns.design.composition import Kind, Layout
from campaigns.design.worker_test import NO_TEST
from evalsite.lib.errors import DomainError
from evalsite.lib.tables.errors import listing

FEWEST_WORKERS, FEWEST_RATINGS = 3, 20
"""Of a pilot, that count: fewer say nothing about variances."""


@dataclass(frozen=True)
class PilotSummary:
    """What plans keep of a pilot: its size, the points of one z, variances by component (None: not separated from
    others), and what each metric would save.
    """

    name: str
    workers: int
    workers_counted: int
    systems: int
    assignments: int
    ratings: int
    points_per_z: float
    variances: Mapping[str, float | None]
    metrics: Sequence[LearntSaving] = ()


@dataclass(frozen=True)
class Pilot:
    """What a pilot says: its model, what plans keep of it, and notes on what it could not say.

    `n_ordinary` are the ordinary items of workers who count, `n_assignments` the HITs of all workers.
    """

    model: RatingModel
    summary: PilotSummary
    notes: list[str]
    n_criteria: int
    n_ordinary: int
    n_assignments: int
    is_tested: bool


def learn_from(study: Study, name: str) -> Pilot:
    """Return the rating model that the ratings of a study suggest; `name` is what notes call it.

    Variances are those of z of ordinary items of the workers who count, mean over criteria, times the points of one z.
    Raises DomainError `small_pilot` with fewer than 3 workers who count, 20 of their ratings or two systems.
    """
    ratings, analysis = study.ratings, study.analysis
    scores = reverse_negative(ratings.scores, study.settings.design(study.loaded.workers).is_negative)
    items = counted_items(ratings, analysis.is_kept)
    n_systems = n_distinct(ratings.system[items])
    n_workers = n_distinct(ratings.worker[items])
    if n_workers < FEWEST_WORKERS or items.size < FEWEST_RATINGS or n_systems < 2:
        raise DomainError(
            "small_pilot",
            f"{name} has {items.size:,} ratings of {n_systems} systems by {n_workers} workers who count. Variances "
            f"need {FEWEST_RATINGS} ratings of two systems by {FEWEST_WORKERS} workers at least. Collect more, or plan "
            "with the assumed variances.",
        )
    points = float(analysis.standardisation.sd[analysis.is_kept].mean())
    z = points * analysis.standardisation.z(scores, ratings.worker)
    who = ratings.system[items], ratings.worker[items], ratings.source[items]
    found = estimate_components(z[items].mean(axis=1), *who)
    levels = estimate_components(scores[items].mean(axis=1), *who).positive("worker")
    criterion = _between_criteria(z[items])
    is_tested = study.settings.preset != NO_TEST
    has_sources = "source" in found.n_levels
    model, notes = _model_of(found, criterion, ratings.n_criteria, has_sources)
    degradation = _degradation(study, scores, z)
    model = replace(model, worker=sqrt(levels), careless=0.0, degradation=degradation or model.degradation)
    model = replace(model, careless=_careless(study, model, has_sources) if is_tested else 0.0)
    return Pilot(
        model=model,
        summary=PilotSummary(
            name=name,
            workers=ratings.n_workers,
            workers_counted=int(analysis.is_kept.sum()),
            systems=int(n_systems),
            assignments=n_distinct(ratings.assignment),
            ratings=int(items.size),
            points_per_z=points,
            metrics=learn_savings(study.peoples_scores, study.metrics),
            variances={part: levels if part == "worker" else found.variance.get(part) for part in COMPONENTS},
        ),
        notes=[f"{name}: {note}" for note in notes],
        n_criteria=ratings.n_criteria,
        n_ordinary=int(items.size),
        n_assignments=n_distinct(ratings.assignment),
        is_tested=is_tested,
    )


def _model_of(found: Components, criterion: float, n_criteria: int, has_sources: bool) -> tuple[RatingModel, list[str]]:
    """Return the model of some components, and notes; what they do not separate is divided as in the studies."""
    notes = []
    residual = found.positive("residual")
    source, output = found.positive("source"), found.positive("source x system")
    if has_sources and "source x system" not in found.variance:
        rest = TEXTS.output**2 + TEXTS.residual**2
        output, residual = residual * TEXTS.output**2 / rest, residual * TEXTS.residual**2 / rest
        notes.append(
            "no output was rated by two workers, so that the variance of outputs cannot be separated from the rest. "
            "They are divided as assumed."
        )
    if negative := [each for each in COMPONENTS if each != "worker" and found.variance.get(each, 0.0) < 0]:
        notes.append(f"the estimated variance of {listing(negative)} is negative and is taken as 0.")
    if not has_sources:
        notes.append("sources are not known: each item is taken as an output of its own.")
    residual = max(residual - criterion / n_criteria, 0.0)
    model = replace(
        TEXTS if has_sources else CHATS,
        liking=sqrt(found.positive("worker x system")),
        source=sqrt(source),
        output=sqrt(output),
        residual=sqrt(residual),
        criterion=sqrt(criterion),
    )
    return model, notes


def _careless(study: Study, model: RatingModel, has_sources: bool) -> float:
    """Return the share of careless workers with which as many workers count as in the pilot.

    Careful workers have failed by chance there, too: how many do is simulated, with HITs like the pilot's. A careless
    one passes with a probability of 0.05.
    """
    ratings, settings = study.ratings, study.settings
    n_assignments = n_distinct(ratings.assignment)
    n_ordinary, n_degraded = (
        max(1, round(np.count_nonzero(ratings.kind == kind) / n_assignments)) for kind in (Kind.ORDINARY, Kind.DEGRADED)
    )
    design = PlannedDesign(
        n_systems=max(ratings.n_systems, n_ordinary if not has_sources else 2, 2),
        n_workers=ratings.n_workers,
        n_sources=max(n_ordinary, 2),
        n_ordinary=n_ordinary,
        n_degraded=min(n_degraded, n_ordinary),
        hits_per_worker=max(1, round(n_assignments / ratings.n_workers)),
        n_criteria=sum(criterion.is_in_worker_test for criterion in settings.criteria),
        layout=Layout.POOLED if has_sources else Layout.BY_SYSTEM,
        worker_test=settings.preset,
    )
    careful, count = share_counted(design, model, seed=0), float(study.analysis.is_kept.mean())
    if careful <= settings.alpha:
        return 1 - count
    return min(max((careful - count) / (careful - settings.alpha), 0.0), 1.0)


def _between_criteria(points: Floats) -> float:
    """Return the mean square of item × criterion, in points²: 0 with one criterion."""
    complete = points[~np.isnan(points).any(axis=1)]
    n, k = complete.shape
    if k < 2 or n < 2:
        return 0.0
    rest = complete - complete.mean(axis=0) - complete.mean(axis=1, keepdims=True) + complete.mean()
    return float((rest**2).sum() / ((n - 1) * (k - 1)))


def _degradation(study: Study, scores: Floats, points: Floats) -> float:
    """Return by how many points those who count rate degraded items lower, where that is tested; 0 without any."""
    ratings, analysis = study.ratings, study.analysis
    tested = study.settings.design(study.loaded.workers).is_in_worker_test
    if not tested.any():
        return 0.0
    points = points[:, tested]
    difference, worker = twin_differences(ratings, scores[:, tested], analysis.twin)
    difference = difference[analysis.is_kept[worker]]
    if difference.size:
        return max(0.0, float(-difference.mean()))
    is_kept = analysis.is_kept[ratings.worker]
    degraded = points[is_kept & (ratings.kind == Kind.DEGRADED)]
    if not degraded.size:
        return 0.0
    return max(0.0, float(np.nanmean(points[is_kept & (ratings.kind == Kind.ORDINARY)]) - np.nanmean(degraded)))
