"""Sensitivity: does the ranking survive another α, the loss of a worker, other settings, short texts (METHOD §6)?"""

from collections.abc import Iterable
from dataclasses import asdict, replace

import numpy as np

from analysis.questions import Asked, Question
from analysis.questions.survival import (
    ALPHAS,
    PAGE,
    TEXTS,
    alpha_section,
    length_section,
    survival_section,
    worker_section,
)
from analysis.results.answers import (
    Survival,
    SurvivalByAlpha,
    SurvivalByLength,
    SurvivalOtherwise,
    SurvivalWithoutWorker,
    SurvivingRanking,
)
from analysis.results.result import Result
from analysis.results.sections import Section
from analysis.stats.correlation import correlate
from analysis.stats.ratings import Floats, or_nan, or_none
from analysis.stats.sensitivity import compare_rankings, length_bounds
from campaigns.design.worker_test import NO_TEST
from evalsite.lib.typed_json import to_json


class Sensitivity(Question[SurvivingRanking]):
    """How far the ranking, and what is said of pairs, depends on choices of the analysis, workers and long texts."""

    slug = "sensitivity"
    title = "Does the ranking survive?"
    page = PAGE
    answer = SurvivingRanking

    def compute(self, asked: Asked) -> SurvivingRanking:
        """Return what each way to compute scores otherwise does to the ranking."""
        return SurvivingRanking(
            order=asked.order,
            measure=asked.result.words.column,
            score=to_json(asked.scores_in(asked.result)),
            alpha=_by_alpha(asked) if asked.result.has_test else None,
            without_worker=_without_worker(asked),
            settings=_by_settings(asked),
            lengths=_by_length(asked),
        )

    def sections(self, answer: SurvivingRanking) -> list[Section]:
        """Return whether the ranking survives, and what each way does to the systems' scores."""
        of_lengths = [length_section(answer, text) for text in TEXTS if text in answer.lengths]
        return [survival_section(answer), *alpha_section(answer), *worker_section(answer), *of_lengths]


def _survival(asked: Asked, others: Iterable[Result]) -> tuple[Survival, Floats]:
    """Return what becomes of the ranking in other analyses, and their scores, (n_others, n_systems).

    Nothing else is kept of an analysis when the next one is made.
    """
    called, otherwise, found_scores = _called(asked.result), set(), []
    is_compared = asked.result.recommended is None  # else pairs are not compared again, which takes too long
    for other in others:
        found_scores.append(asked.scores_in(other))
        if is_compared:
            otherwise |= {frozenset(pair) for pair in called ^ _called(other)}
    scores = np.array(found_scores).reshape(-1, len(asked.order))
    found = compare_rankings(asked.result.sign * asked.scores_in(asked.result), asked.result.sign * scores)
    survival = Survival(
        n=found.n,
        n_same_order=found.n_same_order,
        n_same_best=found.n_same_best,
        largest_change=or_none(found.largest_change),
        system=asked.order[found.system] if found.system >= 0 else None,
        n_called_otherwise=len(otherwise) if is_compared else None,
    )
    return survival, scores


def _called(result: Result) -> set[tuple[str, str]]:
    """Return the pairs of systems that differ, the better one first."""
    return {pair.systems for pair in result.pairs if pair.differs}


def _by_alpha(asked: Asked) -> SurvivalByAlpha:
    p_values = [row.p for row in asked.result.workers if row.p is not None and row.excluded is None]
    n_workers = [sum(p < alpha for p in p_values) for alpha in ALPHAS]
    # The same workers count at two values of α if as many do.
    alphas = dict(zip(n_workers, ALPHAS, strict=True))
    known = {n: asked.analyse(replace(asked.settings, alpha=alpha)) for n, alpha in alphas.items()}
    survival, scores = _survival(asked, [known[n] for n in n_workers])
    return SurvivalByAlpha(
        **asdict(survival),
        alphas=ALPHAS,
        n_workers=n_workers,
        score=to_json(scores.T),
        chosen=asked.settings.alpha,
    )


def _without_worker(asked: Asked) -> SurvivalWithoutWorker:
    """Return what leaving out one worker does: each who counts, or of many responses those with the most."""
    others: Iterable[Result] | None = asked.method.rank_without_each(asked.data, asked.settings)
    if others is None:
        left_out = asked.workers[: asked.n_times] if len(asked.workers) > 1 else []
        others = (asked.without([worker]) for worker in left_out)
    survival, scores = _survival(asked, others)
    is_known = ~np.isnan(scores)
    low, high = (
        np.where(is_known.any(axis=0), pick(np.where(is_known, scores, fill), axis=0, initial=fill), np.nan)
        for pick, fill in ((np.min, np.inf), (np.max, -np.inf))
    )
    change = np.where(is_known, np.abs(scores - asked.scores_in(asked.result)), 0.0)
    return SurvivalWithoutWorker(
        **asdict(survival),
        n_workers=len(scores),
        n_counting=len(asked.workers),
        low=to_json(low),
        high=to_json(high),
        change=to_json(change.max(axis=0, initial=0.0)),
    )


def _by_settings(asked: Asked) -> list[SurvivalOtherwise]:
    """Return what other ways to score do, and that everybody counts, with r and τ-b of the scores.

    What scores change by is only said where they are of one measure.
    """
    ways = dict(asked.method.rank_otherwise(asked.data, asked.settings))
    if asked.result.has_test and asked.not_counting:
        ways["every worker counts"] = asked.analyse(replace(asked.settings, preset=NO_TEST))
    reported = asked.scores_in(asked.result)
    entries = []
    for name, other in ways.items():
        survival, scores = _survival(asked, [other])
        if other.words != asked.result.words:
            survival = replace(survival, largest_change=None, system=None)
        r = correlate(reported, scores[0])
        entry = SurvivalOtherwise(name=name, r=or_none(r.pearson), tau=or_none(r.kendall), **asdict(survival))
        entries.append(entry)
    return entries


def _by_length(asked: Asked) -> dict[str, SurvivalByLength]:
    """Return what the ranking is over items whose reference, or other text of the source, has at most so many words."""
    known = asked.method.sources_of(asked.data) if asked.source_words else None
    if known is None:
        return {}
    names, source = known
    words_of = {words.source: words for words in asked.source_words}
    not_counting = dict.fromkeys(asked.not_counting, "does not count")
    # Who counts is not tested again on few items.
    settings = replace(asked.settings, preset=NO_TEST, excluded={**not_counting, **asked.settings.excluded})
    answers = {}
    for text in TEXTS:
        n_words = or_nan(getattr(words_of.get(name), text, None) for name in names)
        if not (bounds := length_bounds(np.append(n_words, np.nan)[source])):
            continue
        others = asked.method.rank_short(asked.data, settings, n_words, bounds)
        survival, scores = _survival(asked, others)
        answers[text] = SurvivalByLength(
            **asdict(survival),
            most_words=bounds,
            n_observations=[sum(row.n for row in other.summary.systems) for other in others],
            score=to_json(scores.T),
        )
    return answers
