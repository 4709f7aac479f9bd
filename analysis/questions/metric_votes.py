"""Metrics on comparisons: does the output that wins have the higher score (METHOD §7)?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.data.compared import ComparedPairs
from analysis.methods.clusters import with_several
from analysis.metrics.loading import SegmentScores
from analysis.questions import Asked, Question
from analysis.questions.metrics import PAGE
from analysis.results.sections import Cell, Column, Section, Table, in_percent
from analysis.stats.agreement import fleiss_kappa
from analysis.stats.davidson import Outcome
from analysis.stats.ratings import or_none
from analysis.stats.repeated_judgements import first_and_own
from analysis.stats.segment_means import clustered_means
from evalsite.lib.words import counted

_TITLE = "Do metrics prefer the outputs that workers prefer?"
_CAPTION = (
    "Share of decided comparisons of two outputs of one source in which the metric has the higher score for the output "
    "that won; equal scores count half, and 50 % is chance. Intervals of 95 % are clustered by worker and source. Two "
    "workers: of two of them who decided between the same outputs, how often they decided alike."
)


@dataclass(frozen=True)
class MetricShare:
    """In how many of `n` decided comparisons a metric has the higher score for what won; equal scores count half."""

    name: str
    share: float
    low: float | None
    high: float | None
    n: int
    n_equal: int


@dataclass(frozen=True)
class TwoWorkers:
    """How often two workers who decided between the same outputs, of so many items, decided alike."""

    share: float
    n_items: int


@dataclass(frozen=True)
class VotesOfMetrics:
    """The share of each metric with scores of outputs that were compared, the highest first, and that of workers.

    `workers`: None where no two decided the same.
    """

    n_decided: int
    metrics: Sequence[MetricShare]
    workers: TwoWorkers | None


class MetricVotes(Question[VotesOfMetrics]):
    """How often each metric is on the side of the workers who compared two outputs."""

    slug = "metric_votes"
    title = _TITLE
    page = PAGE
    answer = VotesOfMetrics

    def is_asked(self, asked: Asked) -> bool:
        """Whether outputs were compared with each other, and there are scores of metrics."""
        return asked.metrics is not None and asked.comparisons() is not None

    def compute(self, asked: Asked) -> VotesOfMetrics:
        """Return the share of each metric, and how often two workers agree."""
        pairs, metrics = asked.comparisons(), asked.metrics
        assert pairs is not None and metrics is not None, "not asked"
        pairs = pairs.take((pairs.outcome != Outcome.TIE) & (pairs.source >= 0))
        value, item = pairs.judgements()
        first, _ = first_and_own(item, pairs.worker)
        n_items = int(np.count_nonzero(np.bincount(item[first]) > 1))
        share = fleiss_kappa((value[first] > 0).astype(np.int64), item[first]).observed
        workers = TwoWorkers(share, n_items) if n_items else None
        return VotesOfMetrics(int(pairs.outcome.size), _shares(pairs, metrics), workers)

    def sections(self, answer: VotesOfMetrics) -> list[Section]:
        """Return the share of each metric, beside that of two workers."""
        metrics, workers = answer.metrics, answer.workers
        if not metrics:
            said = "No two outputs that a worker decided between have scores of a metric: scores or comparisons are of "
            return [Section(self.slug, _TITLE, f"{said}whole systems, or of other sources.", page=PAGE)]
        columns = [Column("metric"), Column("agrees, %", 1), Column("low", 1), Column("high", 1)]
        columns += [Column("comparisons"), Column("equal scores")]
        rows: list[list[Cell]] = [
            [metric.name, *map(in_percent, (metric.share, metric.low, metric.high)), metric.n, metric.n_equal]
            for metric in metrics
        ]
        rules = frozenset({len(rows) - 1} if workers else ())
        if workers:
            rows.append(["two workers", in_percent(workers.share), None, None, workers.n_items, None])
        table = Table("metric-votes", "Metrics and comparisons", _CAPTION, columns, rows, rules)
        return [Section(self.slug, _TITLE, _finding(answer), [table], page=PAGE)]


def _shares(pairs: ComparedPairs, metrics: SegmentScores) -> list[MetricShare]:
    """Return of each metric the share of decided comparisons, with a source, in which it agrees, the highest first."""
    is_first = pairs.outcome == Outcome.LEFT
    winner, loser = (np.where(is_named, pairs.first, pairs.second) for is_named in (is_first, ~is_first))
    shares = []
    for name in metrics.metrics:
        scores = metrics.matrix(name, pairs.systems, pairs.sources)
        difference = scores[pairs.source, winner] - scores[pairs.source, loser]
        rows = np.flatnonzero(~np.isnan(difference))
        if rows.size:
            value = (np.sign(difference[rows]) + 1) / 2
            clusters = with_several({"worker": pairs.worker[rows], "source": pairs.source[rows]})
            means = clustered_means(value, np.zeros(rows.size, np.int64), 1, None, clusters)
            numbers = float(means.mean[0]), or_none(means.low[0]), or_none(means.high[0])
            shares.append(MetricShare(name, *numbers, int(rows.size), int(np.count_nonzero(value == 0.5))))
    return sorted(shares, key=lambda metric: -metric.share)


def _finding(answer: VotesOfMetrics) -> str:
    best, *others = answer.metrics
    interval = ""
    if best.low is not None and best.high is not None:
        interval = f" (95 % interval {100 * best.low:.0f} to {100 * best.high:.0f} %)"
    said = (
        f"{best.name} has the higher score for the output that won in {100 * best.share:.0f} % of "
        f"{counted(best.n, 'decided comparison')}{interval}"
    )
    said += f", {others[-1].name} in {100 * others[-1].share:.0f} %, the least." if others else "."
    if workers := answer.workers:
        said += f" Two workers agree on {100 * workers.share:.0f} %."
    return f"{said} By chance it is 50 %."
