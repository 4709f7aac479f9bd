"""Sensitivity: does the ranking survive another α, the loss of a worker, other settings (METHOD §6)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from analysis.questions import Asked, Question
from analysis.questions.survival import (
    ALPHAS,
    PAGE,
    alpha_section,
    cells,
    describe_ranges,
    describe_survival,
    survival_section,
    worker_section,
)
from analysis.results.sections import Section
from analysis.results.stored import Report
from analysis.stats.procedures import ALPHA
from analysis.stats.ratings import Floats
from campaigns.design.worker_test import NO_TEST


class Sensitivity(Question):
    """How far the ranking, and what is said of pairs, depends on choices of the analysis and on single workers."""

    slug = "sensitivity"
    title = "Does the ranking survive?"
    page = PAGE

    def compute(self, asked: Asked) -> dict[str, Any]:
        """Return `order` and `score` of the systems; of each way to compute these otherwise what it does to the
        ranking: `alpha` (None without a worker test), `without_worker`, `settings`.
        """
        return {
            "order": asked.order,
            "score": cells(asked.scores_in(asked.report)),
            "alpha": _by_alpha(asked) if asked.is_tested else None,
            "without_worker": _without_worker(asked),
            "settings": _by_settings(asked),
        }

    def sections(self, found: Report) -> list[Section]:
        """Return whether the ranking survives, and what each way does to the systems' scores."""
        return [survival_section(found), *alpha_section(found), *worker_section(found)]


def _survival(asked: Asked, others: Sequence[Report]) -> tuple[dict[str, Any], Floats]:
    """Return what happens to the ranking, and the scores of each of the other analyses, (n_others, n_systems)."""
    scores = np.array([asked.scores_in(other) for other in others]).reshape(len(others), len(asked.order))
    found = describe_survival(asked.scores_in(asked.report), scores, asked.order, sign=asked.sign)
    called = _called(asked.report)
    otherwise = {pair for other in others for pair in called.items() ^ _called(other).items()}
    return found | {"n_called_otherwise": len({frozenset(pair) for pair, _ in otherwise})}, scores


def _called(report: Report) -> dict[tuple[str, str], bool]:
    """Return of every two systems, the better one first, whether they differ."""
    return {
        (pair["systems"][0], pair["systems"][1]): True
        for pair in report["pairs"]
        if pair["p_holm"] is not None and pair["p_holm"] < ALPHA
    }


def _by_alpha(asked: Asked) -> dict[str, Any]:
    p_values = [row["p"] for row in asked.report["worker_table"] if row["p"] is not None and not row["excluded"]]
    n_workers = [sum(p < alpha for p in p_values) for alpha in ALPHAS]
    # The same workers count at two values of α if as many do.
    known = {n: asked.analyse(replace(asked.settings, alpha=alpha)) for n, alpha in zip(n_workers, ALPHAS, strict=True)}
    survival, scores = _survival(asked, [known[n] for n in n_workers])
    return survival | {
        "alphas": list(ALPHAS),
        "n_workers": n_workers,
        "score": cells(scores.T),
        "chosen": asked.settings.alpha,
    }


def _without_worker(asked: Asked) -> dict[str, Any]:
    """Return what leaving out one worker does: each who counts, or of many responses those with the most."""
    left_out = asked.workers[: asked.n_times] if len(asked.workers) > 1 else []
    survival, scores = _survival(asked, [asked.without([worker]) for worker in left_out])
    ranges = describe_ranges(asked.scores_in(asked.report), scores)
    return survival | ranges | {"n_counting": len(asked.workers)}


def _by_settings(asked: Asked) -> list[dict[str, Any]]:
    ways = dict(asked.variants)
    if asked.is_tested:
        ways["every worker counts"] = replace(asked.settings, preset=NO_TEST)
    return [{"name": name, **_survival(asked, [asked.analyse(way)])[0]} for name, way in ways.items()]
