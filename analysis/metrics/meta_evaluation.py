"""Metrics against what people say, in names: what the page *Metrics* shows (METHOD §7)."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from analysis.metrics.comparison import SEED, SegmentAgreement, segment_agreement, soft_accuracy
from analysis.metrics.loading import SegmentScores
from analysis.results.answers import Numbers
from analysis.stats.correlation import bootstrap_correlations, correlate
from analysis.stats.metrics import draw_swaps, pairwise_accuracy, permutation_p_values, williams_test
from analysis.stats.ranks import mean_ranks
from analysis.stats.ratings import Floats, Mask, or_none, or_nones
from analysis.stats.smoothing import lowess

OVERALL = "overall"
_POINTS, _LINE_POINTS = 1000, 60
_DISAGREEMENTS = 10


@dataclass(frozen=True)
class People:
    """What people say, of systems best first; higher is better.

    `systems`, `sources`: the systems with a score, and the sources of their outputs; `rated`: all systems that were
    rated. `criteria`: `OVERALL` first; `scores`: float64, (n_systems,), on each. `outputs`: what they say of single
    outputs, (n_sources, n_systems), NaN where not rated. `measure`: what scores are called.
    """

    systems: list[str]
    sources: list[str]
    rated: set[str]
    criteria: list[str]
    scores: list[Floats]
    outputs: Floats
    measure: str


@dataclass(frozen=True)
class SystemCorrelations:
    """r, ρ and τ-b over systems, each with the ends of its 95 % bootstrap interval."""

    pearson: Numbers
    spearman: Numbers
    kendall: Numbers


@dataclass(frozen=True)
class Scatter:
    """Points of `n` outputs, metric and human scores, and those of the LOWESS line through them."""

    n: int
    points: Sequence[Sequence[float]]
    line: Sequence[Sequence[float]]


@dataclass(frozen=True)
class OutputApart:
    """An output whose places among all, from 0 (worst) to 1, differ much; `z`: what people say of it."""

    system: str
    source: str
    z: float
    score: float
    place_human: float
    place_metric: float


@dataclass(frozen=True)
class MetricAgreement:
    """How a metric agrees with people: over systems on each criterion, and over single outputs."""

    name: str
    scores: Numbers
    n_systems: int
    n_segments: int
    system: Sequence[SystemCorrelations]
    pairwise_accuracy: float | None
    soft_pairwise_accuracy: float | None
    segment: SegmentAgreement
    scatter: Scatter | None
    disagreements: Sequence[OutputApart]


@dataclass(frozen=True)
class MetricsAgainstPeople:
    """How each metric agrees with people, those that correlate best first.

    `human`: the scores of systems on each criterion; `measure`: what these are called, results of before are all of
    studies. `williams`: p that the row's metric correlates no better with people than the column's. `is_by_system`: no
    output has a score of its own, as of comparisons.
    """

    systems: Sequence[str]
    criteria: Sequence[str]
    human: Sequence[Numbers]
    n_segments: int
    n_permutations: int
    metrics: Sequence[MetricAgreement]
    williams: Sequence[Numbers]
    unknown_systems: Sequence[str] = ()
    seed: int = SEED
    measure: str = "mean z"
    is_by_system: bool = False

    @property
    def measure_of_outputs(self) -> str:
        """What people's scores of single outputs are called."""
        return self.measure.removeprefix("mean ")


def evaluate_metrics(people: People, metrics: SegmentScores, *, is_by_system: bool = False) -> MetricsAgainstPeople:
    """Return how each metric agrees with people: each is compared on the systems that it has."""
    systems, judged, human = people.systems, people.outputs, people.scores
    swaps = draw_swaps(judged.shape[0], np.random.default_rng(SEED))
    of_people = permutation_p_values(judged, swaps)
    scores = {name: metrics.system_scores(name, systems) for name in metrics.metrics}
    used = [name for name in metrics.metrics if not np.isnan(scores[name]).all()]
    r = {name: correlate(human[0], scores[name]).pearson for name in used}
    used.sort(key=lambda name: (np.isnan(r[name]), -r[name] if not np.isnan(r[name]) else 0.0))
    found = []
    for name in used:
        of_segments = metrics.matrix(name, systems, people.sources)
        of_segments[np.isnan(judged)] = np.nan
        found.append(
            MetricAgreement(
                name=name,
                scores=or_nones(scores[name]),
                n_systems=int(np.count_nonzero(~np.isnan(scores[name]))),
                n_segments=int(np.count_nonzero(~np.isnan(of_segments))),
                system=[_with_interval(column, scores[name]) for column in human],
                pairwise_accuracy=or_none(pairwise_accuracy(human[0], scores[name])),
                soft_pairwise_accuracy=or_none(soft_accuracy(judged, of_people, of_segments, swaps)),
                segment=segment_agreement(judged, of_segments),
                scatter=_scatter(judged, of_segments),
                disagreements=_disagreements(judged, of_segments, systems, people.sources),
            )
        )
    return MetricsAgainstPeople(
        systems=systems,
        measure=people.measure,
        criteria=people.criteria,
        human=[or_nones(column) for column in human],
        n_segments=int(np.count_nonzero(~np.isnan(judged))),
        n_permutations=int(swaps.shape[0]),
        metrics=found,
        williams=_williams(human[0], [scores[name] for name in used]),
        unknown_systems=sorted({metrics.systems[code] for code in np.unique(metrics.system)} - people.rated),
        is_by_system=is_by_system,
    )


def _with_interval(human: Floats, metric: Floats) -> SystemCorrelations:
    value = correlate(human, metric)
    ends = bootstrap_correlations(human, metric, np.random.default_rng(SEED))
    return SystemCorrelations(
        **{name: [or_none(getattr(each, name)) for each in (value, *ends)] for name in asdict(value)}
    )


def _williams(human: Floats, scores: Sequence[Floats]) -> list[list[float | None]]:
    """Return p that the row's metric correlates no better with people than the column's.

    None on the diagonal, and where the two metrics do not cover the same systems.
    """

    def p(a: Floats, b: Floats) -> float | None:
        both = _covered(a)
        if (both != _covered(b)).any():
            return None
        r12, r13, r23 = (correlate(x[both], y[both]).pearson for x, y in ((human, a), (human, b), (a, b)))
        return or_none(williams_test(r12, r13, r23, int(both.sum())))

    return [[p(a, b) if a is not b else None for b in scores] for a in scores]


def _covered(scores: Floats) -> Mask:
    return ~np.isnan(scores)


def _scatter(human: Floats, metric: Floats) -> Scatter | None:
    """Return points of segments, metric and human score, and the LOWESS line through them; None below two.

    Of more than 1,000 segments, so many are drawn at random.
    """
    rows, columns = np.nonzero(~np.isnan(metric) & ~np.isnan(human))
    if rows.size < 2:
        return None
    drawn = np.arange(rows.size)
    if rows.size > _POINTS:
        drawn = np.sort(np.random.default_rng(SEED).choice(rows.size, _POINTS, replace=False))
    x, y = (each[rows[drawn], columns[drawn]] for each in (metric, human))
    at, line = lowess(x, y)
    kept = np.unique(np.linspace(0, at.size - 1, min(at.size, _LINE_POINTS)).astype(int))
    return Scatter(
        n=int(rows.size),
        points=[x.round(4).tolist(), y.round(4).tolist()],
        line=[at[kept].round(4).tolist(), line[kept].round(4).tolist()],
    )


def _disagreements(human: Floats, metric: Floats, systems: Sequence[str], sources: Sequence[str]) -> list[OutputApart]:
    """Return the segments whose places among all, from 0 (worst) to 1, differ most between people and a metric."""
    rows, columns = np.nonzero(~np.isnan(metric) & ~np.isnan(human))
    if rows.size < 2:
        return []
    by_human, by_metric = human[rows, columns], metric[rows, columns]
    place_human, place_metric = ((mean_ranks(each) - 0.5) / rows.size for each in (by_human, by_metric))
    most = np.argsort(-np.abs(place_metric - place_human), kind="stable")[:_DISAGREEMENTS]
    return [
        OutputApart(
            system=systems[columns[k]],
            source=sources[rows[k]],
            z=float(by_human[k]),
            score=float(by_metric[k]),
            place_human=float(place_human[k]),
            place_metric=float(place_metric[k]),
        )
        for k in most
    ]
