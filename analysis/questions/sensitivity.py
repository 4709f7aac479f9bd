"""Sensitivity: does the ranking survive another α, the loss of a worker, other settings, short texts (METHOD §6)?"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from analysis.questions import Asked, Question
from analysis.questions.survival import (
    ALPHAS,
    PAGE,
    TEXTS,
    alpha_section,
    cells,
    describe_ranges,
    describe_survival,
    length_section,
    survival_section,
    worker_section,
)
from analysis.results.sections import Section
from analysis.results.stored import Report, result_of
from analysis.stats.correlation import correlate
from analysis.stats.procedures import ALPHA
from analysis.stats.ratings import Floats, or_nan, or_none
from analysis.stats.sensitivity import length_bounds
from campaigns.design.worker_test import NO_TEST


class Sensitivity(Question):
    """How far the ranking, and what is said of pairs, depends on choices of the analysis, workers and long texts."""

    slug = "sensitivity"
    title = "Does the ranking survive?"
    page = PAGE

    def compute(self, asked: Asked) -> dict[str, Any]:
        """Return `order` and `score` of the systems, and `measure`, what scores are called; of each way to compute
        these otherwise what it does to the ranking: `alpha` (None without a worker test), `without_worker`, `settings`,
        `lengths` by text.
        """
        return {
            "order": asked.order,
            "measure": asked.scored.words.column,
            "score": cells(asked.scores_in(asked.report)),
            "alpha": _by_alpha(asked) if asked.is_tested else None,
            "without_worker": _without_worker(asked),
            "settings": _by_settings(asked),
            "lengths": _by_length(asked),
        }

    def sections(self, found: Report) -> list[Section]:
        """Return whether the ranking survives, and what each way does to the systems' scores."""
        of_lengths = [length_section(found, text) for text in TEXTS if text in found["lengths"]]
        return [survival_section(found), *alpha_section(found), *worker_section(found), *of_lengths]


def _survival(asked: Asked, others: Sequence[Report]) -> tuple[dict[str, Any], Floats]:
    """Return what happens to the ranking, and the scores of each of the other analyses, (n_others, n_systems)."""
    scores = np.array([asked.scores_in(other) for other in others]).reshape(len(others), len(asked.order))
    found = describe_survival(asked.scores_in(asked.report), scores, asked.order, sign=asked.scored.sign)
    if not all("pairs" in other for other in others):
        return found, scores
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
    alphas = dict(zip(n_workers, ALPHAS, strict=True))
    known = {n: asked.analyse(replace(asked.settings, alpha=alpha)) for n, alpha in alphas.items()}
    survival, scores = _survival(asked, [known[n] for n in n_workers])
    return survival | {
        "alphas": list(ALPHAS),
        "n_workers": n_workers,
        "score": cells(scores.T),
        "chosen": asked.settings.alpha,
    }


def _without_worker(asked: Asked) -> dict[str, Any]:
    """Return what leaving out one worker does: each who counts, or of many responses those with the most."""
    others = asked.method.rank_without_each(asked.data, asked.settings)
    if others is None:
        left_out = asked.workers[: asked.n_times] if len(asked.workers) > 1 else []
        others = [asked.without([worker]) for worker in left_out]
    survival, scores = _survival(asked, others)
    ranges = describe_ranges(asked.scores_in(asked.report), scores)
    return survival | ranges | {"n_counting": len(asked.workers)}


def _by_settings(asked: Asked) -> list[dict[str, Any]]:
    """Return what other ways to score do, and that everybody counts, with r and τ-b of the scores.

    What scores change by is only said where they are of one measure.
    """
    ways = dict(asked.method.rank_otherwise(asked.data, asked.settings))
    if asked.is_tested and asked.not_counting:
        ways["every worker counts"] = asked.analyse(replace(asked.settings, preset=NO_TEST))
    reported = asked.scores_in(asked.report)
    entries = []
    for name, other in ways.items():
        survival, scores = _survival(asked, [other])
        r = correlate(reported, scores[0])
        entry = {"name": name, "r": or_none(r.pearson), "tau": or_none(r.kendall), **survival}
        is_same = result_of(other).words == asked.scored.words
        entries.append(entry if is_same else entry | {"largest_change": None, "system": None})
    return entries


def _by_length(asked: Asked) -> dict[str, Any]:
    """Return what the ranking is over items whose reference, or other text of the source, has at most so many words."""
    known = asked.method.sources_of(asked.data) if asked.source_words else None
    if known is None:
        return {}
    names, source = known
    words = {each.source: each for each in asked.source_words}
    not_counting = dict.fromkeys(asked.not_counting, "does not count")
    # Who counts is not tested again on few items.
    settings = replace(asked.settings, preset=NO_TEST, excluded={**not_counting, **asked.settings.excluded})
    answers = {}
    for text in TEXTS:
        n_words = or_nan(getattr(words.get(name), text, None) for name in names)
        if not (bounds := length_bounds(np.append(n_words, np.nan)[source])):
            continue
        others = asked.method.rank_short(asked.data, settings, n_words, bounds)
        survival, scores = _survival(asked, others)
        answers[text] = survival | {
            "most_words": bounds,
            "n_observations": [sum(row["n"] for row in other["summary"]["systems"]) for other in others],
            "score": cells(scores.T),
        }
    return answers
