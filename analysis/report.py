"""The results of an analysis as one JSON document, in names."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.dialogues.rows import LoadedDialogues
from analysis.dialogues.summary import FAILED, PASSED, summarise_dialogues
from analysis.ratings.loading import LoadedRatings
from analysis.ratings.scales import FULL, words
from analysis.settings import AnalysisSettings
from analysis.stats.conduct import References
from analysis.stats.correlation import correlate, share_same_conclusions
from analysis.stats.pipeline import Analysis, Progress, analyse
from analysis.stats.quality import NO_TEST, Verdict
from analysis.stats.ratings import Ratings
from analysis.stats.scores import rescale
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
    """One set of ratings, how it was analysed and what came out; of chats, the chats as well.

    `loaded` has the scores as they were given, `ratings` on 0–100.
    """

    loaded: LoadedRatings
    ratings: Ratings
    settings: AnalysisSettings
    analysis: Analysis
    dialogues: LoadedDialogues | None = None

    @property
    def order(self) -> list[int]:
        """Codes of the systems that have ordinary items, best first; a chatbot that is all degraded has none."""
        return [code for code in self.analysis.order if self.has_outputs[code]]

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
) -> Study:
    """Analyse loaded ratings by these settings; `on_progress` gets the name of each stage."""
    low, high = settings.scale or FULL
    ratings = replace(loaded.ratings, scores=rescale(loaded.ratings.scores, low, high))
    return Study(loaded, ratings, settings, analyse(ratings, settings.design(loaded.workers), on_progress), dialogues)


def summarise(study: Study) -> dict[str, Any]:
    """Return the summary that `manage.py analyse --format json` prints; `dialogues` only if the study has chats,
    `scale` only if somebody has said which scale the scores are on.

    Undefined numbers are None; so is `references` where no reference item was rated. Where no worker test is applied,
    nobody passed, failed or is untested.
    """
    analysis, settings = study.analysis, study.settings
    order = study.order
    names = [study.loaded.systems[code] for code in order]
    verdicts = analysis.workers.verdict
    return {
        "protocol": settings.protocol,
        "unit": settings.unit,
        "n_counts": settings.n_counts,
        "worker_test": {"preset": settings.preset, "alpha": settings.alpha},
        "workers": {
            "total": int(verdicts.size),
            "passed": int(np.count_nonzero(verdicts == Verdict.PASSED)),
            "failed": int(np.count_nonzero(verdicts == Verdict.FAILED)),
            "untested": int(np.count_nonzero(verdicts == Verdict.UNTESTED)),
        },
        "references": _references(analysis.references),
        "systems": [_system(study, code) for code in order],
        "significance": {"order": names, "p": _square(analysis.tests.p_value, order)},
        "clusters": [
            [study.loaded.systems[code] for code in group]
            for group in cluster(order, analysis.tests.p_value, CLUSTER_ALPHA)
        ],
        **({"scale": list(settings.scale)} if settings.scale else {}),
        **_dialogues(study),
    }


def _references(found: References) -> dict[str, Any] | None:
    """Return how the workers who count rate reference items, and how far above ordinary ones."""
    if not found.n_ratings.any():
        return None
    return {"mean": _number(found.overall_mean), "distance": _number(found.overall_distance)}


def _dialogues(study: Study) -> dict[str, Any]:
    """Return what the chats of the study are like. Excluded and trusted workers neither passed nor failed."""
    if study.dialogues is None:
        return {}
    words = {Verdict.PASSED: PASSED, Verdict.FAILED: FAILED}
    verdicts = zip(study.loaded.workers, study.analysis.workers.verdict.tolist(), strict=True)
    groups = {name: "" if name in study.settings.excluded else words.get(Verdict(v), "") for name, v in verdicts}
    is_degraded = dict(zip(study.loaded.systems, (~study.has_outputs).tolist(), strict=True))
    return {
        "dialogues": summarise_dialogues(
            study.dialogues, groups, is_degraded, is_tested=study.settings.preset != NO_TEST
        )
    }


def _system(study: Study, code: int) -> dict[str, Any]:
    scores = study.analysis.systems
    counts = {"ratings": int(scores.n_ratings[code]), "outputs": int(scores.n_outputs[code])}
    return {
        "system": study.loaded.systems[code],
        "n": counts[study.settings.n_counts],
        "n_outputs": counts["outputs"],
        "n_ratings": counts["ratings"],
        "z": _number(scores.z[code]),
        "raw": _number(scores.raw[code]),
        "criteria": {
            name: {"z": _number(scores.criterion_z[code, k]), "raw": _number(scores.criterion_raw[code, k])}
            for k, name in enumerate(study.settings.criterion_names)
        },
    }


def compare_runs(original: dict[str, Any], replication: dict[str, Any]) -> dict[str, Any]:
    """Return how far a replication agrees with the original run, over the systems that both rate; of two summaries.

    `systems` lists them as the original ranks them; correlations that are undefined are None.
    """
    first = {row["system"]: row for row in original["systems"]}
    second = {row["system"]: row for row in replication["systems"]}
    common = [name for name in first if name in second]
    criteria = [criterion["criteria"] for criterion in (*first.values(), *second.values())]
    shared = [name for name in (criteria[0] if criteria else ()) if all(name in each for each in criteria)]

    def correlation(criterion: str | None = None) -> dict[str, float | None]:
        mine, theirs = ([_z(rows[name], criterion) for name in common] for rows in (first, second))
        found = correlate(_floats(mine), _floats(theirs))
        return {name: _number(value) for name, value in asdict(found).items()}

    p_original, p_replication = (_p_between(common, each["significance"]) for each in (original, replication))
    return {
        "systems": common,
        "overall": correlation(),
        "criteria": {name: correlation(name) for name in shared},
        "same_conclusions": {
            f"{alpha:g}": _number(share_same_conclusions(p_original, p_replication, range(len(common)), alpha))
            for alpha in CONCLUSION_ALPHAS
        },
    }


def _z(row: dict[str, Any], criterion: str | None) -> float | None:
    score: float | None = row["z"] if criterion is None else row["criteria"][criterion]["z"]
    return score


def _p_between(systems: Sequence[str], significance: dict[str, Any]) -> NDArray[np.float64]:
    """Return the p-values of these systems, in their order, NaN where a pair was not tested."""
    places = [significance["order"].index(name) for name in systems]
    return _floats(significance["p"][i][j] for i in places for j in places).reshape(len(systems), len(systems))


def _floats(values: Iterable[float | None]) -> NDArray[np.float64]:
    return np.array([np.nan if value is None else value for value in values], np.float64)


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
        study.ratings.n_systems,
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
    """Return a row a worker: p, verdict, numbers, and a histogram of the scores before reversal."""
    loaded, analysis, ratings = study.loaded, study.analysis, study.ratings
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
            "reference_mean": _number(analysis.references.mean[code]),
            "reference_distance": _number(analysis.references.distance[code]),
            "histogram": histogram[code].tolist(),
        }
        for code, name in enumerate(loaded.workers)
    ]


def explain(study: Study) -> list[str]:
    """Return a sentence for whatever in these results is undefined or surprising, and why."""
    analysis, ratings = study.analysis, study.ratings
    verdicts = analysis.workers.verdict
    notes = []
    if study.settings.scale and study.settings.scale != FULL:
        notes.append(f"Scores were given on a scale from {words(study.settings.scale)}; they are mapped to 0–100 here.")
    if study.settings.preset == NO_TEST:
        notes.append("No worker test was applied: every worker counts, apart from those excluded by hand.")
    if not analysis.is_kept.any() and (verdicts == Verdict.TRUSTED).any():
        notes.append("All workers were excluded, so no system has a score.")
    elif (verdicts == Verdict.UNTESTED).all():
        notes.append(
            "No worker could be tested, because no degraded item can be compared with an ordinary one; untested "
            "workers do not count, so no system has a score. If you trust the workers, analyse the ratings again with "
            "no worker test (on the command line: --worker-test none)."
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
    if study.dialogues:
        notes += study.dialogues.notices
    if study.settings.unit == "output" and (ratings.source < 0).any():
        notes.append("Where the source is not known, each item counts as an output of its own.")
    return notes


def _square(matrix: NDArray[np.float64], order: Sequence[int]) -> list[list[float | None]]:
    return _matrix(matrix[np.ix_(order, order)])


def _matrix(matrix: NDArray[np.float64]) -> list[list[float | None]]:
    return [[_number(value) for value in row] for row in matrix]


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
