"""Metrics against human scores of the same segments, as one JSON document in names (METHOD §7)."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.metrics.loading import SegmentScores
from analysis.results.sections import Column, Output, Table
from analysis.stats.correlation import correlate
from analysis.stats.metrics import (
    calibrate_ties,
    draw_swaps,
    pairwise_accuracy,
    permutation_p_values,
    soft_pairwise_accuracy,
    williams_test,
)
from analysis.stats.ratings import Floats, or_none
from evalsite.lib.errors import DomainError
from evalsite.lib.tables.errors import listing

SEED = 1
"""Of the permutations, if nothing else is said."""


@dataclass(frozen=True)
class MetricComparison:
    """What `manage.py metrics` prints: one JSON document, and what is surprising about it."""

    document: dict[str, Any]
    notes: list[str]


def compare_metrics(human: SegmentScores, metrics: SegmentScores, seed: int = SEED) -> MetricComparison:
    """Return how each metric agrees with people, and Williams' test of every two metrics.

    A system's score is its own if the file has one, else the mean of all its segments in the file. Segments count where
    people and metric have a score. Pearson's r and Kendall's τ-b of segments are over all of them together, accuracy is
    within sources, as in the metrics task of WMT23.

    Raises DomainError `different_systems` where two metrics do not have scores of the same systems, `no_common_systems`
    where people and metrics share none.
    """
    covered = _systems_of_metrics(metrics)
    systems = [system for system in human.systems if system in covered]
    if not systems:
        raise DomainError(
            "no_common_systems",
            f"{human.file} and {metrics.file} have no system in common. {human.file} has {listing(human.systems)}, "
            f"{metrics.file} has {listing(sorted(covered))}. Give the same system the same name in both.",
        )
    judged = human.matrix(human.metrics[0], systems, human.sources)
    by_people = human.system_scores(human.metrics[0], systems)
    swaps = draw_swaps(len(human.sources), np.random.default_rng(seed))
    of_people = permutation_p_values(judged, swaps)
    found, means = {}, {}
    for name in metrics.metrics:
        means[name] = metrics.system_scores(name, systems)
        scores = metrics.matrix(name, systems, human.sources)
        scores[np.isnan(judged)] = np.nan
        found[name] = {
            "system": _of_systems(by_people, means[name], soft_accuracy(judged, of_people, scores, swaps)),
            "segment": asdict(segment_agreement(judged, scores)),
        }
    document = {
        "n_systems": len(systems),
        "n_segments": int(np.count_nonzero(~np.isnan(judged))),
        "n_permutations": int(swaps.shape[0]),
        "seed": seed,
        "metrics": found,
        "williams": _williams(by_people, means),
    }
    notes = _left_out(human.systems, systems, f"{metrics.file} has no scores of", human.file)
    notes += _left_out(sorted(covered), systems, f"{human.file} has no scores of", metrics.file)
    return MetricComparison(document, notes)


def _systems_of_metrics(metrics: SegmentScores) -> set[str]:
    """Return the systems that every metric has scores of; raise DomainError where some metric lacks one."""
    of_each = {name: metrics.systems_of(name) for name in metrics.metrics}
    every = set().union(*of_each.values())
    lacking = {name: sorted(every - systems) for name, systems in of_each.items() if systems != every}
    if lacking:
        missing = "; ".join(f"“{name}” has no scores of {listing(systems)}" for name, systems in lacking.items())
        raise DomainError(
            "different_systems",
            f"{metrics.file}: metrics can only be compared on the same systems, and {missing}. Add these scores, or "
            "leave the system or the metric out.",
        )
    return every


def _of_systems(human: Floats, metric: Floats, soft: float) -> dict[str, float | None]:
    r = correlate(human, metric)
    return {
        "pearson": or_none(r.pearson),
        "spearman": or_none(r.spearman),
        "kendall": or_none(r.kendall),
        "pairwise_accuracy": or_none(pairwise_accuracy(human, metric)),
        "soft_pairwise_accuracy": or_none(soft),
    }


def soft_accuracy(human: Floats, of_people: Floats, metric: Floats, swaps: NDArray[np.int8]) -> float:
    """Return soft pairwise accuracy on the segments that both have, sources × systems; NaN where undefined.

    `of_people` are the p-values of all human scores, by the same swaps.
    """
    lacks = np.isnan(metric) & ~np.isnan(human)
    if lacks.all():
        return float("nan")
    p_human = permutation_p_values(np.where(lacks, np.nan, human), swaps) if lacks.any() else of_people
    return soft_pairwise_accuracy(p_human, permutation_p_values(metric, swaps))


@dataclass(frozen=True)
class SegmentAgreement:
    """How a metric agrees with people on single outputs: r and τ-b, and accuracy with the threshold of ties."""

    pearson: float | None
    kendall: float | None
    acc_eq: float | None
    tie_threshold: float | None


def segment_agreement(human: Floats, metric: Floats) -> SegmentAgreement:
    """Return r and τ-b over all segments, (n_sources, n_systems), and accuracy with calibrated ties."""
    r = correlate(human.ravel(), metric.ravel())
    ties = calibrate_ties(human, metric)
    return SegmentAgreement(*map(or_none, (r.pearson, r.kendall, ties.accuracy, ties.threshold)))


OF_SYSTEMS = ("pearson", "spearman", "kendall", "pairwise_accuracy", "soft_pairwise_accuracy")
"""What is found of a metric over systems, in the order of tables."""


def _williams(human: Floats, means: dict[str, Floats]) -> dict[str, dict[str, dict[str, float | None]]]:
    r = {name: correlate(human, scores).pearson for name, scores in means.items()}
    return {
        a: {
            b: {"p": or_none(williams_test(r[a], r[b], correlate(means[a], means[b]).pearson, human.size))}
            for b in means
            if b != a
        }
        for a in means
    }


def _left_out(systems: list[str], used: list[str], what: str, file: str) -> list[str]:
    others = [system for system in systems if system not in used]
    return [f"{what} {listing(others)}, which {file} has: left out."] if others else []


def comparison_tables(document: dict[str, Any]) -> list[Table]:
    """Return the comparison as tables: a metric a row, and the p-values of every two metrics."""
    of_systems = ("r", "ρ", "τ", "accuracy", "soft accuracy")
    of_segments = ("r (segments)", "τ (segments)", "accuracy (segments)", "tie threshold")
    rows = [
        [name, *(metric["system"][key] for key in OF_SYSTEMS), *metric["segment"].values()]
        for name, metric in document["metrics"].items()
    ]
    n_systems, n_segments = document["n_systems"], document["n_segments"]
    columns = [Column("metric"), *map(Column, (*of_systems, *of_segments))]
    caption = f"Metrics against people: {n_systems:,} systems, {n_segments:,} segments with a human score."
    tables = [Table("metrics", "Metrics", caption, columns, rows, output=Output.TERMINAL)]
    names = list(document["metrics"])
    if len(names) > 1:
        cells = [
            [name, *(document["williams"][name][other]["p"] if other != name else None for other in names)]
            for name in names
        ]
        caption = "Williams' test: p that the row's metric correlates no better with people than the column's."
        columns = [Column("metric"), *(Column(name, 4) for name in names)]
        tables.append(Table("williams", "Williams' test", caption, columns, cells, output=Output.TERMINAL))
    return tables
