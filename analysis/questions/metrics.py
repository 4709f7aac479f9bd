"""Metrics against people: which metrics rank systems, and judge outputs, as the human ratings do (METHOD §7)."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, replace

import numpy as np

from analysis.metrics import drawings
from analysis.metrics.meta_evaluation import (
    OVERALL,
    MetricAgreement,
    MetricsAgainstPeople,
    People,
    SystemCorrelations,
    evaluate_metrics,
)
from analysis.questions import Asked, Question
from analysis.questions.halves import coefficient
from analysis.results.answers import Numbers
from analysis.results.result import shared_criteria
from analysis.results.sections import Cell, Column, Figure, Output, Picture, Range, Section, Table
from analysis.stats.ratings import or_nan

PAGE = "metrics"
ALPHA = 0.05
_SYMBOLS = ("r", "ρ", "τ")
_ENDS = [Column(f"{symbol}{end}") for symbol in _SYMBOLS for end in ("", " low", " high")]


class Metrics(Question[MetricsAgainstPeople]):
    """How far each metric agrees with people, whatever they answered."""

    slug = "metrics"
    title = "Do metrics rank the systems as people do?"
    page = PAGE
    answer = MetricsAgainstPeople

    def is_asked(self, asked: Asked) -> bool:
        """Whether there are scores of metrics."""
        return asked.metrics is not None

    def compute(self, asked: Asked) -> MetricsAgainstPeople:
        """Return what `evaluate_metrics` does."""
        assert asked.metrics is not None, "not asked"
        scored, outputs = asked.result, asked.outputs()
        sign, measure = scored.sign, scored.words.one
        criteria = [None, *(names if len(names := shared_criteria(scored)) > 1 else ())]
        people = People(
            asked.order,
            outputs.sources if outputs else [],
            {*scored.systems, *(outputs.systems if outputs else ())},
            [name or OVERALL for name in criteria],
            [sign * or_nan(scored.scores_of(asked.order, name)) for name in criteria],
            outputs.means(asked.order) if outputs else np.empty((0, len(asked.order))),
            measure if sign > 0 else f"{measure}, its sign changed",
        )
        return evaluate_metrics(people, asked.metrics, is_by_system=asked.comparisons() is not None)

    def sections(self, answer: MetricsAgainstPeople) -> list[Section]:
        """Return correlations over systems, ranks, criteria, Williams' tests, segments and disagreements."""
        if not answer.metrics:
            return []
        sections = [_correlations(answer), _ranks(answer), *_criteria(answer), *_williams(answer)]
        return sections if answer.is_by_system else [*sections, _segments(answer), *_disagreements(answer)]


# --- Systems


def _correlations(found: MetricsAgainstPeople) -> Section:
    metrics = found.metrics
    accuracy = [
        Column("accuracy", hint="pairwise accuracy"),
        Column("soft accuracy", hint="soft pairwise accuracy"),
        Column("systems"),
    ]
    caption = (
        f"Correlations of metrics with the {found.measure} of {len(found.systems)} systems, with 95 % "
        "intervals of 1,000 bootstrap samples of systems. Pairwise accuracy: share of pairs of systems in the order of "
        f"people; soft: how near p of these pairs is to that of people ({found.n_permutations:,} permutations)."
    )

    def rest(metric: MetricAgreement) -> list[Cell]:
        return [metric.pairwise_accuracy, metric.soft_pairwise_accuracy, metric.n_systems]

    shown = [[metric.name, *_interval_cells(metric.system[0]), *rest(metric)] for metric in metrics]
    in_files = [[metric.name, *_ends(metric.system[0]), *rest(metric)] for metric in metrics]
    pairs = [column for symbol in _SYMBOLS for column in (Column(symbol), Column("interval", 2))]
    title = "Correlations with people"
    tables = [
        Table("metrics", title, caption, [Column("metric"), *pairs, *accuracy], shown, output=Output.PAGE),
        Table(
            "metrics", title, caption, [Column("metric"), *_ENDS, *accuracy], in_files, output=Output.FILES
        ),
        Table(
            "metrics", title, caption, [Column("metric"), *map(Column, _SYMBOLS), *accuracy],
            [[row[0], *row[1:7:2], *row[7:]] for row in shown], output=Output.TERMINAL,
        ),
    ]  # fmt: skip
    figure = Figure(
        "metric-systems",
        "Metrics and human scores of systems",
        Picture.of(drawings.draw_systems, _drawn(found)),
        f"For each metric a scatter plot of its scores and the {found.measure} of the systems, which have "
        "their human rank.",
        "Each number is a system, by its rank with people; where numbers would overlap, the better one is shown."
        + _first_only(metrics),
    )
    heading = "Do metrics rank the systems as people do?"
    return Section("metrics", heading, _best_and_worst(found), tables, [figure], PAGE)


def _drawn(found: MetricsAgainstPeople, *, has_points: bool = False) -> MetricsAgainstPeople:
    """Return what a figure keeps of metrics: no outputs apart, and points of outputs only if it draws them."""
    metrics = [
        replace(metric, disagreements=(), scatter=metric.scatter if has_points else None) for metric in found.metrics
    ]
    return replace(found, metrics=metrics)


def _interval_cells(over_systems: SystemCorrelations) -> list[Cell]:
    return [
        cell
        for value, low, high in (over_systems.pearson, over_systems.spearman, over_systems.kendall)
        for cell in (value, Range(low, high))
    ]


def _ends(over_systems: SystemCorrelations) -> list[Cell]:
    return [*over_systems.pearson, *over_systems.spearman, *over_systems.kendall]


def _best_and_worst(found: MetricsAgainstPeople) -> str:
    n = len(found.systems)
    defined = [metric for metric in found.metrics if metric.system[0].pearson[0] is not None]
    if not defined:
        return f"No correlation is defined: it takes two systems or more with different scores, and there are {n}."
    best, worst = defined[0], defined[-1]
    value, low, high = best.system[0].pearson
    interval = f", 95 % interval {coefficient(low)} to {coefficient(high)}" if low is not None else ""
    said = f"{best.name} agrees best with people over {best.n_systems} systems (r = {coefficient(value)}{interval})"
    if worst is not best:
        said += f", {worst.name} least (r = {coefficient(worst.system[0].pearson[0])})"
    share = 100 * (best.pairwise_accuracy or 0.0)
    return f"{said}. {best.name} orders {share:.0f} % of the pairs of systems as people do."


def _first_only(metrics: Sequence[MetricAgreement]) -> str:
    most = drawings.MOST_PANELS
    return f" The {most} metrics that correlate best." if len(metrics) > most else ""


def _ranks(found: MetricsAgainstPeople) -> Section:
    metrics, systems = found.metrics, found.systems
    ranks = {metric.name: ranks_of(metric.scores) for metric in metrics}
    people = ranks_of(found.human[0])
    rows = [[name, people[k], *(ranks[metric][k] for metric in ranks)] for k, name in enumerate(systems)]
    table = Table(
        "metric-ranks",
        "Ranks by people and metrics",
        "Rank of each system by people and by each metric, 1 is best; equal scores share the better rank. A dash: the "
        "metric has no score of the system.",
        [Column("system"), Column("people"), *map(Column, ranks)],
        rows,
        output=Output.SHOWN,
    )
    figure = Figure(
        "metric-ranks",
        "Ranks by people and metrics",
        Picture.of(drawings.draw_ranks, _drawn(found)),
        "A line for each system from its rank by people to its rank by each metric.",
        "Strong lines: the systems that a metric moves most." + _first_only(metrics),
    )
    return Section("metric-ranks", "Where metrics change ranks", _largest_move(found, ranks), [table], [figure], PAGE)


def ranks_of(scores: Numbers) -> list[int | None]:
    """Return ranks, 1 is best; equal scores share the better rank, None has none."""
    values = or_nan(scores)
    known = np.flatnonzero(~np.isnan(values))
    ranks: list[int | None] = [None] * values.size
    below = -values[known]
    for place, n_better in zip(known.tolist(), np.searchsorted(np.sort(below), below).tolist(), strict=True):
        ranks[place] = n_better + 1
    return ranks


def _largest_move(found: MetricsAgainstPeople, ranks: Mapping[str, Sequence[int | None]]) -> str:
    """Return which system a metric moves most, and how many have the rank of people, in words.

    Ranks are compared among the systems that a metric covers.
    """
    moves, n_same = [], 0
    for metric in found.metrics:
        human = [z if score is not None else None for z, score in zip(found.human[0], metric.scores, strict=True)]
        pairs = zip(found.systems, ranks_of(human), ranks[metric.name], strict=True)
        moved = [(abs(b - a), metric.name, system, a, b) for system, a, b in pairs if a is not None and b is not None]
        n_same += all(move[0] == 0 for move in moved)
        moves += moved
    n = len(found.metrics)
    if not moves or max(move[0] for move in moves) == 0:
        return "Every metric ranks the systems as people do."
    distance, name, system, human_rank, metric_rank = max(moves, key=lambda move: move[0])
    same = f" {n_same or 'None'} of {n} metrics {'ranks' if n_same == 1 else 'rank'} all systems as people do."
    same = same if n > 1 else ""
    places = "place" if distance == 1 else "places"
    return (
        f"{name} moves {system} by {distance} {places}, from rank {human_rank} to rank {metric_rank}: the most.{same}"
    )


def _criteria(found: MetricsAgainstPeople) -> list[Section]:
    criteria, metrics = found.criteria, found.metrics
    if len(criteria) < 2:
        return []
    table = Table(
        "metric-criteria",
        "r with each criterion",
        f"Pearson's r of each metric with the {found.measure} of the systems, overall and on each criterion.",
        [Column("metric"), *map(Column, criteria)],
        [[metric.name, *(on_criterion.pearson[0] for on_criterion in metric.system)] for metric in metrics],
        output=Output.SHOWN,
    )
    rows = [
        [metric.name, criterion, *_ends(on_criterion)]
        for metric in metrics
        for criterion, on_criterion in zip(criteria, metric.system, strict=True)
    ]
    columns = [Column("metric"), Column("criterion"), *_ENDS]
    caption = "Correlations of each metric with each criterion, with 95 % bootstrap intervals."
    details = Table(
        "metric-criteria-intervals", "Correlations with each criterion", caption, columns, rows, output=Output.FILES
    )
    values = or_nan(on_criterion.pearson[0] for metric in metrics for on_criterion in metric.system[1:])
    values = values.reshape(len(metrics), -1)
    finding = ""
    if not np.isnan(values).all():
        row, column = np.unravel_index(np.nanargmax(values), values.shape)
        finding = (
            f"{metrics[int(row)].name} and {criteria[int(column) + 1]} are closest "
            f"(r = {coefficient(float(values[row, column]))})."
        )
    return [Section("metric-criteria", "Which criterion does a metric follow?", finding, [table, details], page=PAGE)]


# --- Metrics compared with each other


def _williams(found: MetricsAgainstPeople) -> list[Section]:
    names = [metric.name for metric in found.metrics]
    if len(names) < 2:
        return []
    caption = (
        "Williams' test, one-sided: p that the row's metric correlates no better with people than the column's. A "
        "dash: undefined, or the two metrics do not cover the same systems."
    )
    table = Table(
        "williams",
        "Williams' test",
        caption,
        [Column("metric"), *(Column(name, 4, is_p=True) for name in names)],
        [[name, *row] for name, row in zip(names, found.williams, strict=True)],
    )
    figure = Figure(
        "williams",
        "Williams' test",
        Picture.of(drawings.draw_williams, _drawn(found)),
        "Heatmap of p of Williams' test, coloured where the row's metric correlates better than the column's.",
    )
    return [
        Section("williams", "Is one metric better than another?", _significant(found, names), [table], [figure], PAGE)
    ]


def _significant(found: MetricsAgainstPeople, names: Sequence[str]) -> str:
    n_pairs = len(names) * (len(names) - 1) // 2
    p = [
        (value, a, b) for a, row in zip(names, found.williams, strict=True) for value, b in zip(row, names, strict=True)
    ]
    better = sorted(each for each in p if each[0] is not None and each[0] < ALPHA)
    n_tested = sum(each[0] is not None for each in p) // 2
    said = f"{len(better)} of {n_tested} pairs of metrics differ in their correlation with people (p < {ALPHA:g})"
    if better:
        said += f"; {better[0][1]} is better than {better[0][2]} most surely"
    said += "."
    covered = {metric.name: tuple(score is not None for score in metric.scores) for metric in found.metrics}
    if len(set(covered.values())) > 1:
        said += (
            " Metrics that do not cover the same systems are not tested against each other: "
            + ", ".join(f"{name} has {sum(of)} of {len(of)} systems" for name, of in covered.items())
            + "."
        )
    elif n_tested < n_pairs:
        said += " The test needs four systems or more, and metrics that do not agree fully."
    return said


# --- Single outputs


def _segments(found: MetricsAgainstPeople) -> Section:
    metrics = [metric for metric in found.metrics if metric.n_segments]
    heading = "Do metrics judge single outputs as people do?"
    if not metrics:
        said = "The scores are of whole systems, or of sources that were not rated: no single output can be compared."
        return Section("metric-segments", heading, said, page=PAGE)
    columns = [
        Column("metric"),
        Column("r"),
        Column("τ"),
        Column("accuracy"),
        Column("tie threshold", 4),
        Column("outputs"),
    ]
    table = Table(
        "metric-segments",
        "Agreement on single outputs",
        "r and τ over all outputs together. Accuracy: share of pairs of outputs of one source that are ordered, or "
        "tied, as by people; metric scores that differ by no more than the threshold, which makes it greatest, are a "
        "tie (Deutsch et al. 2023).",
        columns,
        [[metric.name, *astuple(metric.segment), metric.n_segments] for metric in metrics],
    )
    figure = Figure(
        "metric-segments",
        "Metrics and human scores of single outputs",
        Picture.of(drawings.draw_segments, _drawn(found, has_points=True)),
        "For each metric a scatter plot of outputs, metric to the right and people upwards, with a LOWESS line.",
        "The line is LOWESS; of more than 1,000 outputs, 1,000 drawn at random." + _first_only(metrics),
    )
    defined = [(metric.segment.kendall, metric) for metric in metrics if metric.segment.kendall is not None]
    finding = f"{found.n_segments:,} outputs have a human score. "
    if defined:
        tau, best = max(defined, key=lambda entry: entry[0])
        finding += f"{best.name} follows them best (τ = {coefficient(tau)}"
        accuracy = best.segment.acc_eq
        finding += f", accuracy {coefficient(accuracy)})." if accuracy is not None else ")."
    return Section("metric-segments", heading, finding, [table], [figure], PAGE)


def _disagreements(found: MetricsAgainstPeople) -> list[Section]:
    rows: list[list[Cell]] = [
        [metric.name, *astuple(output)] for metric in found.metrics for output in metric.disagreements
    ]
    columns = [
        Column("metric"),
        Column("system"),
        Column("source"),
        Column(found.measure_of_outputs),
        Column("score"),
        Column("place by people"),
    ]
    caption = (
        "Outputs on which a metric and people disagree most: the difference of their places among all outputs, from 0 "
        "(worst) to 1 (best)."
    )
    table = Table(
        "metric-disagreements", "Biggest disagreements", caption, [*columns, Column("place by metric")], rows,
        output=Output.FILES,
    )  # fmt: skip
    return [Section("metric-disagreements", "Biggest disagreements", tables=[table], page="")] if rows else []
