"""What each metric adds to human answers, in names: intervals, measured and predicted savings (METHOD §7)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.data.compared import ComparedPairs
from analysis.data.output_scores import OutputScores
from analysis.metrics.loading import SegmentScores
from analysis.stats.davidson import Outcome
from analysis.stats.prediction_powered import AssistedComparison, MetricOutputs, compare_with_metric, predict_saving
from analysis.stats.ratings import Codes, Floats, Mask, or_none

GROWTH = (1, 2, 4)
"""How many times the answers of now the saving is predicted for."""
WIN_RATE = "win rate"
_WON = {Outcome.LEFT: 1.0, Outcome.RIGHT: 0.0, Outcome.TIE: 0.5}


@dataclass(frozen=True)
class PeoplesScores:
    """What people say of single outputs: scores, (n,), higher is better, of `systems` and `sources` (−1: not known).

    `order`: codes of the systems that are compared, best first. `is_in_half`: bool, (n,), whether the score is by one
    of every second worker. `measure`: what scores are, in a word. `weight`: what each weighs, if not the same.
    """

    systems: Sequence[str]
    sources: Sequence[str]
    order: Sequence[int]
    score: Floats
    system: Codes
    worker: Codes
    source: Codes
    is_in_half: Mask
    measure: str
    weight: Floats | None = None

    @classmethod
    def of(cls, outputs: OutputScores, names: Sequence[str]) -> "PeoplesScores":
        """Return the mean over criteria of what each worker says of an output; `names`: the systems, best first."""
        shape = len(outputs.sources), len(outputs.systems), len(outputs.workers)
        key = np.ravel_multi_index((outputs.source, outputs.system, outputs.worker), shape)
        answered, answer = np.unique(key, return_inverse=True)
        score = np.bincount(answer, outputs.score) / np.bincount(answer)
        source, system, worker = np.unravel_index(answered, shape)
        order = [outputs.systems.index(name) for name in names if name in outputs.systems]
        labels = outputs.systems, outputs.sources, order
        return cls(*labels, score, system, worker, source, every_second(worker), "score")

    def compare(self, outputs: MetricOutputs, rows: Mask | slice = slice(None)) -> AssistedComparison:
        """Return the comparison of the systems with a metric, by these rows."""
        score, system, worker, source = self.score[rows], self.system[rows], self.worker[rows], self.source[rows]
        weight = None if self.weight is None else self.weight[rows]
        return compare_with_metric(score, system, worker, source, len(self.systems), outputs, weight=weight)

    def outputs_of(self, metrics: SegmentScores, name: str) -> MetricOutputs:
        """Return a metric's scores of single outputs of the compared systems, whether they were judged or not."""
        code_of_system = {self.systems[code]: code for code in self.order}
        system = np.array([code_of_system.get(label, -1) for label in metrics.systems], np.int64)[metrics.system]
        code_of_source = {label: code for code, label in enumerate(self.sources)}
        code_of_source |= {
            label: len(code_of_source) + k for k, label in enumerate(metrics.sources) if label not in code_of_source
        }
        source = np.array([*(code_of_source[label] for label in metrics.sources), -1], np.int64)[metrics.source]
        used = (metrics.metric == metrics.metrics.index(name)) & (system >= 0) & (source >= 0)
        return MetricOutputs(metrics.scores[used], system[used], source[used])


def every_second(worker: Codes) -> Mask:
    """Return which rows are by one of every second worker that has some, (n,): a pilot within the answers."""
    _, place = np.unique(worker, return_inverse=True)
    return np.asarray(place % 2 == 0)


@dataclass(frozen=True)
class _Pairs:
    """Comparisons with a metric, and the place of each pair of systems: which comparison, row and column."""

    comparisons: Sequence[AssistedComparison]
    places: Sequence[tuple[int, int, int]]

    def of(self, name: str) -> Floats:
        """Return a number of each pair, (n_pairs,)."""
        return np.array([getattr(self.comparisons[k], name)[i, j] for k, i, j in self.places], np.float64)

    def limit(self) -> float:
        """Return the saving with many more scores; of several comparisons the mean, weighted by their variance."""
        if len(self.comparisons) == 1:
            return self.comparisons[0].limit
        limits, variance = np.array([each.limit for each in self.comparisons]), self.of("standard_error") ** 2
        known = ~np.isnan(limits) & ~np.isnan(variance)
        return float(np.average(limits[known], weights=variance[known])) if variance[known].sum() else float("nan")


@dataclass(frozen=True)
class PredictedSaving:
    """What a metric would save with so many times the answers, of which a share of the outputs would be rated."""

    times: int
    share_rated: float | None
    saving: float | None


@dataclass(frozen=True)
class AssistedPair:
    """The difference of two systems by people and a metric, how much of the metric is used, and what it saves."""

    difference: float | None
    low: float | None
    high: float | None
    weight: float | None
    saving: float | None


@dataclass(frozen=True)
class AloneByPeople:
    """The difference of two systems by people alone."""

    systems: tuple[str, str]
    difference: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class MetricSaving:
    """What a metric saves over all pairs together, what was predicted by every second worker, and what is predicted.

    `share_rated`: of its `n_outputs`; `n_missing`: answers on outputs that it has no score of. `sample_p`: that the
    rated outputs are a random sample. `limit`: the saving with scores of many more outputs.
    """

    name: str
    n_outputs: int
    n_missing: int
    share_rated: float | None
    saving: float | None
    predicted_by_half: float | None
    sample_p: float | None
    limit: float | None
    predicted: Sequence[PredictedSaving]
    pairs: Sequence[AssistedPair]


@dataclass(frozen=True)
class AssistedComparisons:
    """Every two systems by people alone, and the metrics, those that save most first.

    Savings are shares of the answers, from 0 to 1. `measure`: what differences are of, z in results of before.
    `whole_systems_only`: metrics that have scores of whole systems only. Undefined numbers are None.
    """

    n_ratings: int
    whole_systems_only: Sequence[str]
    pairs: Sequence[AloneByPeople]
    metrics: Sequence[MetricSaving]
    measure: str = "z"


@dataclass(frozen=True)
class LearntSaving:
    """How many outputs a metric of a pilot has scores of, and the saving with many more."""

    name: str
    n_outputs: int
    limit: float | None


def assist_scores(people: PeoplesScores, metrics: SegmentScores) -> AssistedComparisons:
    """Return the difference of every two systems by people alone and with each metric, and what that saves."""
    order = people.order
    places = [(0, i, j) for place, i in enumerate(order) for j in order[place + 1 :]]

    def compare(name: str, *, half: bool) -> tuple[_Pairs, int]:
        outputs = people.outputs_of(metrics, name)
        rows = people.is_in_half if half else slice(None)
        return _Pairs([people.compare(outputs, rows)], places), int(outputs.score.size)

    names = [(people.systems[i], people.systems[j]) for _, i, j in places]
    without = [name for name in metrics.metrics if not people.outputs_of(metrics, name).score.size]
    found = _describe([name for name in metrics.metrics if name not in without], names, compare)
    return AssistedComparisons(int(people.score.size), without, *found, people.measure)


def assist_votes(pairs: ComparedPairs, order: Sequence[str], metrics: SegmentScores) -> AssistedComparisons:
    """Return the same of win rates: of every two systems the share of comparisons that the first one wins.

    Ties count half. A metric predicts that the output of a source with the higher score wins. Each pair of systems is
    an estimate of its own: of each comparison both sides are rated, 1 for what won and 0 for what lost, and every
    source that has both scores is an output of each.
    """
    codes = [pairs.systems.index(name) for name in order if name in pairs.systems]
    known = []
    for place, i in enumerate(codes):
        for j in codes[place + 1 :]:
            is_of = ((pairs.first == i) & (pairs.second == j)) | ((pairs.first == j) & (pairs.second == i))
            rows = is_of & (pairs.source >= 0)
            known += [(i, j, rows)] if rows.any() else []
    sources = [*pairs.sources, *(label for label in metrics.sources if label not in set(pairs.sources))]
    scores_of = {name: metrics.matrix(name, pairs.systems, sources) for name in metrics.metrics}
    won, is_in_half = np.array([_WON[Outcome(each)] for each in range(3)])[pairs.outcome], every_second(pairs.worker)

    def compare(name: str, *, half: bool) -> tuple[_Pairs, int]:
        scores, found, n = scores_of[name], [], 0
        for i, j, rows in known:
            rows = rows & is_in_half if half else rows
            by_first = np.where(pairs.first == i, won, 1 - won)[rows]
            predicted = (np.sign(scores[:, i] - scores[:, j]) + 1) / 2
            at = np.flatnonzero(~np.isnan(predicted))
            outputs = MetricOutputs(
                np.concatenate([predicted[at], 1 - predicted[at]]), np.repeat([0, 1], at.size), np.tile(at, 2)
            )
            both, sides = np.concatenate([by_first, 1 - by_first]), np.repeat([0, 1], by_first.size)
            worker, source = (np.tile(each[rows], 2) for each in (pairs.worker, pairs.source))
            found.append(compare_with_metric(both, sides, worker, source, 2, outputs))
            n += at.size
        return _Pairs(found, [(k, 0, 1) for k in range(len(found))]), n

    names = [(pairs.systems[i], pairs.systems[j]) for i, j, _ in known]
    judged = [
        name
        for name, scores in scores_of.items()
        if any(not np.isnan(scores[:, i] - scores[:, j]).all() for i, j, _ in known)
    ]
    without = [name for name in metrics.metrics if name not in judged]
    n_votes = int(sum(np.count_nonzero(rows) for *_, rows in known))
    found = _describe(judged, names, compare, is_rate=True)
    return AssistedComparisons(n_votes, without, *found, WIN_RATE)


def learn_savings(people: PeoplesScores, metrics: SegmentScores | None) -> list[LearntSaving]:
    """Return what each metric of a pilot would save; empty without metrics."""
    found: list[LearntSaving] = []
    if metrics is None:
        return found
    for name in metrics.metrics:
        outputs = people.outputs_of(metrics, name)
        if outputs.score.size:
            found.append(LearntSaving(name, int(outputs.score.size), or_none(people.compare(outputs).limit)))
    return found


def _describe(
    metrics: Sequence[str],
    names: Sequence[tuple[str, str]],
    compare: Callable[..., tuple[_Pairs, int]],
    *,
    is_rate: bool = False,
) -> tuple[list[AloneByPeople], list[MetricSaving]]:
    """Return pairs by people, and metrics with savings and pairs; differences of shares become rates."""

    def numbers(compared: _Pairs, name: str) -> list[float | None]:
        return [or_none((1 + value) / 2 if is_rate else value) for value in compared.of(name)]

    people: list[AloneByPeople] = []
    found: list[MetricSaving] = []
    for name in metrics:
        compared, n_outputs = compare(name, half=False)
        half, _ = compare(name, half=True)
        alone = (numbers(compared, key) for key in ("difference", "low", "high"))
        people = [AloneByPeople(*row) for row in zip(names, *alone, strict=True)]
        assisted = (numbers(compared, key) for key in ("assisted", "assisted_low", "assisted_high"))
        used = ([or_none(value) for value in compared.of(key)] for key in ("weight", "saving"))
        pairs = [AssistedPair(*row) for row in zip(*assisted, *used, strict=True)]
        found.append(_saving(name, n_outputs, compared, half, pairs, sides=2 if is_rate else 1))
    found.sort(key=lambda metric: -(metric.saving or 0.0))
    return people, found


def _saving(
    name: str, n_outputs: int, compared: _Pairs, half: _Pairs, pairs: Sequence[AssistedPair], *, sides: int
) -> MetricSaving:
    """Return what a metric saves; `sides`: how often each answer is in a comparison."""
    is_pair = ~np.isnan(compared.of("weight"))
    alone, assisted = ((compared.of(key)[is_pair] ** 2).sum() for key in ("standard_error", "assisted_error"))
    shares = [each.share_rated for each in compared.comparisons if not np.isnan(each.share_rated)]
    share = float(np.mean(shares)) if shares else float("nan")
    p = [each.sample_p for each in compared.comparisons if not np.isnan(each.sample_p)]
    limit = compared.limit()
    return MetricSaving(
        name=name,
        n_outputs=n_outputs,
        n_missing=sum(each.n_missing for each in compared.comparisons) // sides,
        share_rated=or_none(share),
        saving=or_none(1 - assisted / alone) if alone else None,
        predicted_by_half=or_none(predict_saving(half.limit(), share)),
        sample_p=min(1.0, min(p) * len(p)) if p else None,
        limit=or_none(limit),
        predicted=[
            PredictedSaving(times, or_none(min(1.0, times * share)), or_none(predict_saving(limit, times * share)))
            for times in GROWTH
        ],
        pairs=pairs,
    )
