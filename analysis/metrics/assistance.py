"""What each metric adds to the human ratings of a study, in names: intervals, measured and predicted savings."""

from typing import Any

import numpy as np

from analysis.methods.study.study import Study
from analysis.metrics.loading import SegmentScores
from analysis.stats.pipeline import compare_assisted
from analysis.stats.prediction_powered import AssistedComparison, MetricOutputs, predict_saving
from analysis.stats.ratings import Mask, or_none
from analysis.stats.scores import counted_items

GROWTH = (1, 2, 4)
"""How many times the ratings of now the saving is predicted for."""


def assist_ratings(study: Study, metrics: SegmentScores) -> dict[str, Any]:
    """Return the difference of every two systems by people alone and with each metric, and what that saves.

    Savings are shares of the ratings, from 0 to 1. Metrics that save most come first; those that have scores of whole
    systems only are named apart. Undefined numbers are None.
    """
    names, order = study.loaded.systems, study.order
    pairs = [(i, j) for place, i in enumerate(order) for j in order[place + 1 :]]
    people: list[dict[str, Any]] = []
    found: list[dict[str, Any]] = []
    without: list[str] = []
    for name in metrics.metrics:
        outputs = outputs_of(study, metrics, name)
        if not outputs.score.size:
            without.append(name)
            continue
        compared = compare(study, outputs)
        people = [{"systems": [names[i], names[j]]} | _by_people(compared, i, j) for i, j in pairs]
        of_pairs = [_with_metric(compared, i, j) for i, j in pairs]
        half = compare(study, outputs, _every_second_worker(study))
        found.append(
            {"name": name, "n_outputs": int(outputs.score.size)} | _savings(compared, half) | {"pairs": of_pairs}
        )
    found.sort(key=lambda metric: -(metric["saving"] or 0.0))
    n_ratings = counted_items(study.ratings, study.analysis.is_kept).size
    return {"n_ratings": int(n_ratings), "pairs": people, "metrics": found, "whole_systems_only": without}


def outputs_of(study: Study, metrics: SegmentScores, name: str) -> MetricOutputs:
    """Return a metric's scores of single outputs of the study's systems, whether they were rated or not."""
    code_of_system = {study.loaded.systems[code]: code for code in study.order}
    system = np.array([code_of_system.get(label, -1) for label in metrics.systems], np.int64)[metrics.system]
    code_of_source = {label: code for code, label in enumerate(study.loaded.sources)}
    code_of_source |= {
        label: len(code_of_source) + k for k, label in enumerate(metrics.sources) if label not in code_of_source
    }
    source = np.array([*(code_of_source[label] for label in metrics.sources), -1], np.int64)[metrics.source]
    used = (metrics.metric == metrics.metrics.index(name)) & (system >= 0) & (source >= 0)
    return MetricOutputs(metrics.scores[used], system[used], source[used])


def compare(study: Study, outputs: MetricOutputs, is_used: Mask | None = None) -> AssistedComparison:
    """Return the comparison of a study's systems with a metric.

    It uses the ratings of all workers, or of those in `is_used`, (n_workers,).
    """
    design = study.settings.design(study.loaded.workers)
    return compare_assisted(study.ratings, design, study.analysis, outputs, study.weights, is_used=is_used)


def learn_savings(study: Study) -> list[dict[str, Any]]:
    """Return of each metric of a pilot its scores of outputs, and the saving with many more; empty without metrics."""
    found: list[dict[str, Any]] = []
    if study.metrics is None:
        return found
    for name in study.metrics.metrics:
        outputs = outputs_of(study, study.metrics, name)
        if outputs.score.size:
            limit = compare(study, outputs).limit
            found.append({"name": name, "n_outputs": int(outputs.score.size), "limit": or_none(limit)})
    return found


def _every_second_worker(study: Study) -> Mask:
    """Return every second worker whose ratings count, (n_workers,): a pilot within the study."""
    is_kept = study.analysis.is_kept
    return is_kept & (np.cumsum(is_kept) % 2 == 1)


def _savings(compared: AssistedComparison, half: AssistedComparison) -> dict[str, Any]:
    """Return what a metric saves over all pairs together, and what was, and is, predicted."""
    is_pair = np.tril(~np.isnan(compared.weight), -1)
    alone, assisted = ((each[is_pair] ** 2).sum() for each in (compared.standard_error, compared.assisted_error))
    share = compared.share_rated
    return {
        "n_missing": compared.n_missing,
        "share_rated": or_none(share),
        "saving": or_none(1 - assisted / alone) if is_pair.any() else None,
        "predicted_by_half": or_none(predict_saving(half.limit, share)),
        "sample_p": or_none(compared.sample_p),
        "limit": or_none(compared.limit),
        "predicted": [
            {
                "times": times,
                "share_rated": or_none(min(1.0, times * share)),
                "saving": or_none(predict_saving(compared.limit, times * share)),
            }
            for times in GROWTH
        ],
    }


def _by_people(compared: AssistedComparison, i: int, j: int) -> dict[str, Any]:
    return {name: or_none(getattr(compared, name)[i, j]) for name in ("difference", "low", "high")}


def _with_metric(compared: AssistedComparison, i: int, j: int) -> dict[str, Any]:
    names = {
        "difference": "assisted",
        "low": "assisted_low",
        "high": "assisted_high",
        "weight": "weight",
        "saving": "saving",
    }
    return {key: or_none(getattr(compared, name)[i, j]) for key, name in names.items()}
