"""The results of an analysis as one JSON document, in names."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.ratings.loading import LoadedRatings
from analysis.settings import AnalysisSettings
from analysis.stats.correlation import Correlation, correlate, share_same_conclusions
from analysis.stats.pipeline import Analysis, Progress, analyse
from analysis.stats.quality import Verdict
from analysis.stats.ratings import Kind
from analysis.stats.significance import (
    Intervals,
    PairwiseTests,
    adjust,
    bootstrap_means,
    cluster,
)

CLUSTER_ALPHA = 0.05
CONCLUSION_ALPHAS = (0.1, 0.05)
N_BOOTSTRAP = 1000
HISTOGRAM_BINS = 10
# What the comparison over all criteria is called, where no criterion has the name itself.
_OVERALL = ("overall", "all criteria", "mean of all criteria")


@dataclass(frozen=True)
class Study:
    """One set of ratings, how it was analysed and what came out."""

    loaded: LoadedRatings
    settings: AnalysisSettings
    analysis: Analysis

    @property
    def order(self) -> list[int]:
        """Codes of the systems that have ordinary items, best first; a chatbot that is all degraded has none."""
        ratings = self.loaded.ratings
        has_outputs = np.bincount(ratings.system[ratings.kind == Kind.ORDINARY], minlength=ratings.n_systems) > 0
        return [code for code in self.analysis.order if has_outputs[code]]


def run_study(loaded: LoadedRatings, settings: AnalysisSettings, on_progress: Progress = lambda _: None) -> Study:
    """Analyse loaded ratings by these settings; `on_progress` gets the name of each stage."""
    return Study(loaded, settings, analyse(loaded.ratings, settings.design(loaded.workers), on_progress))


def summarise(study: Study) -> dict[str, Any]:
    """Return the summary that `manage.py analyse --format json` prints. Undefined numbers are None."""
    analysis, settings = study.analysis, study.settings
    order = study.order
    names = [study.loaded.systems[code] for code in order]
    verdicts = analysis.workers.verdict
    return {
        "protocol": settings.protocol,
        "unit": settings.unit,
        "worker_test": {"preset": settings.preset, "alpha": settings.alpha},
        "workers": {
            "total": int(verdicts.size),
            "passed": int(np.count_nonzero(verdicts == Verdict.PASSED)),
            "failed": int(np.count_nonzero(verdicts == Verdict.FAILED)),
            "untested": int(np.count_nonzero(verdicts == Verdict.UNTESTED)),
        },
        "systems": [_system(study, code) for code in order],
        "significance": {"order": names, "p": _square(analysis.tests.p_value, order)},
        "clusters": [
            [study.loaded.systems[code] for code in group]
            for group in cluster(order, analysis.tests.p_value, CLUSTER_ALPHA)
        ],
    }


def _system(study: Study, code: int) -> dict[str, Any]:
    scores = study.analysis.systems
    return {
        "system": study.loaded.systems[code],
        "n": int(scores.n_ratings[code]),
        "z": _number(scores.z[code]),
        "raw": _number(scores.raw[code]),
        "criteria": {
            name: {"z": _number(scores.criterion_z[code, k]), "raw": _number(scores.criterion_raw[code, k])}
            for k, name in enumerate(study.settings.criterion_names)
        },
    }


def compare_runs(original: Study, replication: Study) -> dict[str, Any]:
    """Return how far a replication agrees with the original run, over the systems that both rate.

    `systems` lists them as the original ranks them; correlations that are undefined are None.
    """
    theirs = {replication.loaded.systems[code] for code in replication.order}
    names = [original.loaded.systems[code] for code in original.order]
    common = [name for name in names if name in theirs]
    first = [original.loaded.systems.index(name) for name in common]
    second = [replication.loaded.systems.index(name) for name in common]
    shared = [name for name in original.settings.criterion_names if name in replication.settings.criterion_names]

    def of_criterion(name: str) -> dict[str, float | None]:
        k = original.settings.criterion_names.index(name)
        j = replication.settings.criterion_names.index(name)
        scores, other = original.analysis.systems.criterion_z, replication.analysis.systems.criterion_z
        return _correlation(correlate(scores[first, k], other[second, j]))

    p_original = original.analysis.tests.p_value[np.ix_(first, first)]
    p_replication = replication.analysis.tests.p_value[np.ix_(second, second)]
    return {
        "systems": common,
        "overall": _correlation(correlate(original.analysis.systems.z[first], replication.analysis.systems.z[second])),
        "criteria": {name: of_criterion(name) for name in shared},
        "same_conclusions": {
            f"{alpha:g}": _number(share_same_conclusions(p_original, p_replication, range(len(common)), alpha))
            for alpha in CONCLUSION_ALPHAS
        },
    }


def report(study: Study, *, n_bootstrap: int = N_BOOTSTRAP) -> dict[str, Any]:
    """Return everything that a results page or a download shows.

    `summary`; `intervals` (95 % bootstrap, per system); `comparisons` (overall first, then each of several criteria:
    p, Holm, BH, superiority); `boxes` (five numbers of z per system); `worker_table`; `warnings`; `notes`;
    `settings`; `fingerprint` of the ratings.
    """
    analysis, order = study.analysis, study.order
    taken = {name.casefold() for name in study.settings.criterion_names if len(study.settings.criteria) > 1}
    overall = next(name for name in _OVERALL if name not in taken)
    tests = [(overall, analysis.tests)]
    if len(study.settings.criteria) > 1:
        tests += zip(study.settings.criterion_names, analysis.criterion_tests, strict=True)
    observations = analysis.observations
    intervals = bootstrap_means(
        observations.overall_z,
        observations.system,
        study.loaded.ratings.n_systems,
        n_samples=n_bootstrap,
        rng=np.random.default_rng(20160501),
    )
    return {
        "summary": summarise(study),
        "intervals": _intervals(study, intervals),
        "comparisons": [_comparison(study, name, pairwise, order) for name, pairwise in tests],
        "boxes": [_box(study, code) for code in order],
        "worker_table": _worker_table(study),
        "warnings": [
            {"code": w.code, "count": w.count, "message": w.message, "examples": list(w.examples)}
            for w in study.loaded.warnings
        ],
        "notes": explain(study),
        "settings": study.settings.to_json(),
        "fingerprint": study.loaded.fingerprint,
    }


def _comparison(study: Study, name: str, tests: PairwiseTests, order: list[int]) -> dict[str, Any]:
    own = tests.p_value[np.ix_(order, order)]
    return {
        "name": name,
        "order": [study.loaded.systems[code] for code in order],
        "p": _matrix(own),
        "holm": _matrix(adjust(own, "holm")),
        "bh": _matrix(adjust(own, "fdr_bh")),
        "superiority": _square(tests.superiority, order),
    }


def _intervals(study: Study, intervals: Intervals) -> dict[str, list[float | None]]:
    return {
        study.loaded.systems[code]: [_number(intervals.low[code]), _number(intervals.high[code])]
        for code in study.order
    }


def _box(study: Study, code: int) -> dict[str, Any]:
    """Return the 5th, 25th, 50th, 75th and 95th percentile of a system's item-level z."""
    observations = study.analysis.observations
    z = observations.overall_z[observations.system == code]
    z = z[~np.isnan(z)]
    points = np.percentile(z, [5, 25, 50, 75, 95]).tolist() if z.size else [None] * 5
    return {"system": study.loaded.systems[code], "n": int(z.size), "percentiles": points}


def _worker_table(study: Study) -> list[dict[str, Any]]:
    """Return a row a worker: p, verdict, numbers, and a histogram of the scores as given."""
    loaded, analysis = study.loaded, study.analysis
    ratings = loaded.ratings
    shape = ratings.scores.shape
    is_rated = ~np.isnan(ratings.scores)
    worker = np.broadcast_to(ratings.worker[:, None], shape)[is_rated]
    bins = np.minimum(ratings.scores[is_rated] * (HISTOGRAM_BINS / 100), HISTOGRAM_BINS - 1).astype(np.int64)
    counts = np.bincount(worker.astype(np.int64) * HISTOGRAM_BINS + bins, minlength=ratings.n_workers * HISTOGRAM_BINS)
    histogram = counts.reshape(-1, HISTOGRAM_BINS)
    pairs = np.unique(np.stack([ratings.worker, ratings.assignment], axis=1), axis=0)
    n_assignments = np.bincount(pairs[:, 0], minlength=ratings.n_workers)
    return [
        {
            "worker": name,
            "p": _number(analysis.workers.p_value[code]),
            "verdict": Verdict(int(analysis.workers.verdict[code])).name.lower(),
            "excluded": study.settings.excluded.get(name),
            "n_ratings": int(histogram[code].sum()),
            "n_assignments": int(n_assignments[code]),
            "n_compared": int(analysis.workers.n_compared[code]),
            "mean": _number(analysis.standardisation.mean[code]),
            "sd": _number(analysis.standardisation.sd[code]),
            "histogram": histogram[code].tolist(),
        }
        for code, name in enumerate(loaded.workers)
    ]


def explain(study: Study) -> list[str]:
    """Return a sentence for whatever in these results is undefined or surprising, and why."""
    analysis, ratings = study.analysis, study.loaded.ratings
    verdicts = analysis.workers.verdict
    notes = []
    if (verdicts == Verdict.UNTESTED).all():
        notes.append(
            "No worker could be tested, because no quality-control item can be compared with an ordinary one; "
            "untested workers do not count, so no system has a score."
        )
    elif not analysis.is_kept.any():
        notes.append("No worker passed the worker test or all were excluded, so no system has a score.")
    elif (untested := int(np.count_nonzero(verdicts == Verdict.UNTESTED))) > 0:
        notes.append(f"Workers without a quality-control item to compare, whose ratings do not count: {untested}.")
    if (constant := int(np.count_nonzero(analysis.standardisation.sd == 0))) > 0:
        notes.append(f"Workers who gave the same score throughout, and so have z scores of 0: {constant}.")
    if len(study.order) < 2:
        notes.append("There is only one system, so there is nothing to compare it with.")
    empty = [study.loaded.systems[code] for code in study.order if analysis.systems.n_ratings[code] == 0]
    if empty and analysis.is_kept.any():
        notes.append(f"Without a rating from a kept worker, and so without a score: {', '.join(empty)}.")
    if unknown := set(study.settings.excluded) - set(study.loaded.workers):
        notes.append(f"Excluded workers who are not in the ratings: {len(unknown)}.")
    overall_z = analysis.observations.overall_z
    if overall_z.size and np.isnan(overall_z).all():
        notes.append(
            "No item was rated on every criterion, so systems cannot be compared overall. If the ratings of one item "
            "have different positions, leave the column of positions out."
        )
    if study.settings.unit == "output" and (ratings.source < 0).any():
        notes.append("Where the source is not known, each item counts as an output of its own.")
    return notes


def _correlation(value: Correlation) -> dict[str, float | None]:
    return {
        "pearson": _number(value.pearson),
        "spearman": _number(value.spearman),
        "kendall": _number(value.kendall),
    }


def _square(matrix: NDArray[np.float64], order: Sequence[int]) -> list[list[float | None]]:
    return _matrix(matrix[np.ix_(order, order)])


def _matrix(matrix: NDArray[np.float64]) -> list[list[float | None]]:
    return [[_number(value) for value in row] for row in matrix]


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
