"""Error spans: MQM, the mean penalty of a segment (Freitag et al. 2021)."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from analysis.data.coding import combined, first_rows
from analysis.data.judgements import AnswerKind, Judgements, Scale
from analysis.data.output_scores import OutputScores, name_sources
from analysis.data.responses import AnsweredBy
from analysis.data.spans.copies import as_ratings, run_test
from analysis.data.spans.loading import NAMES, load_spans
from analysis.data.spans.rows import Side, SpanData, take
from analysis.data.spans.weights import DEFAULTS, read_weights, weigh
from analysis.data.spans.writing import to_mqm_tsv
from analysis.methods import OF_TESTED, Progress, ResponseMethod, ResponsesFile, unwatched
from analysis.methods.by_groups import GroupedScores, groups_sections
from analysis.methods.clusters import choose_groups, few_raters, in_words
from analysis.methods.settings import AnalysisSettings, bad_settings
from analysis.methods.system_scores import (
    Analysed,
    SystemScores,
    draw_stacked,
    pairs_section,
    systems_section,
    weights_in,
)
from analysis.methods.workers import JudgedWorkers, judge_workers, workers_in_words, workers_section
from analysis.results.result import Result
from analysis.results.sections import Cell, Column, Figure, Picture, Section, Table
from analysis.stats.codes import dense_ranks, n_distinct
from analysis.stats.quality import Verdict
from analysis.stats.ratings import Codes, Floats, Mask
from analysis.stats.segment_means import SegmentMeans, segment_means
from analysis.stats.spans import SpanAgreement, span_agreement
from campaigns.design.composition import Kind
from evalsite.lib.words import counted

CRITERION = "errors"
CLUSTERS = ("rater", "document", "segment")
_OF_OUTPUTS = (Kind.ORDINARY, Kind.REPEAT)


class Spans(ResponseMethod[SpanData]):
    """What marked errors weigh, averaged over the raters of a segment, then over segments; fewer are better."""

    slug = "spans"
    title = "Error spans (MQM)"
    summary = "Errors weighted by severity and category, averaged by segment."
    unit = "mean penalty"
    table = "spans"
    file_columns = ("system", "seg_id", "rater", "category", "severity")

    names = NAMES
    takes = OF_TESTED
    options = ("weights", "clusters")
    campaign_options = options

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Options are `weights`, and `clusters`: one or two of rater, document and segment."""
        super().check_options(options)
        read_weights(options.get("weights", {}))
        clusters = options.get("clusters")
        if clusters is not None and not (
            isinstance(clusters, list) and len(clusters) in (1, 2) and set(clusters) <= set(CLUSTERS)
        ):
            raise bad_settings(f"“clusters” must be a list of one or two of: {', '.join(CLUSTERS)}.")

    def read(self, file: ResponsesFile, settings: AnalysisSettings) -> SpanData:
        """Return the annotations of an MQM file."""
        weights = read_weights(settings.options.get("weights", {}))
        return load_spans(file.path, weights, file.choices_for(settings))

    def analyse(
        self, data: SpanData, settings: AnalysisSettings, on_progress: Progress = unwatched, *, brief: bool = False
    ) -> Result:
        """Return verdicts on raters, scores, and what they consist of.

        Repeats are further annotations of their outputs.
        """
        weights = read_weights(settings.options.get("weights", {}))
        weight = weigh(weights, data.severities, data.categories)
        everything, judged = data, self.judge(data, settings)
        is_of_output = np.isin(data.kind, _OF_OUTPUTS)
        is_counted = judged.is_counted[data.rater]
        data = take(data, is_of_output & is_counted)
        penalty = _penalties(data, weight)
        groups = _clusters(data, settings)
        of_draws = weights_in(data.attributes, settings)
        found = segment_means(penalty, data.system, data.segment, len(data.systems), groups, of_draws)
        criteria = {CRITERION: found.mean}
        scores = SystemScores.of(data.systems, found, found.n_segments, criteria, higher_is_better=False)
        summary = {
            "n_segments": n_distinct(data.segment),
            "n_raters": n_distinct(data.rater),
            "n_annotations": data.n_annotations,
            "n_errors": int(data.annotation.size),
            "weights": weights,
            "n_left_out": int(np.count_nonzero(is_of_output & ~is_counted)),
        }
        in_groups = partial(
            GroupedScores,
            *(penalty, data.system, data.systems, scores.order, groups, data.attributes),
            output=data.segment,
        )
        return Analysed(
            *(settings, scores, everything, judged),
            summary=summary,
            own={} if brief else {"errors": _errors(data, weight, scores.order)},
            notes=_notes(data, found) if is_counted.any() else [],
            groups=in_groups,
        ).result()

    def variants(self, settings: AnalysisSettings) -> dict[str, AnalysisSettings]:
        """Return weights by which every error counts the same that counts at all."""
        weights = read_weights(settings.options.get("weights", {}))
        same = {key: float(weight > 0) for key, weight in weights.items()}
        return {"every error weighs the same": replace(settings, options=dict(settings.options) | {"weights": same})}

    def sources_of(self, data: SpanData) -> tuple[list[str], Codes]:
        """Return the names of segments."""
        return [name for _, name in data.segments], data.segment[data.kind == Kind.ORDINARY]

    def of_sources(self, data: SpanData, is_taken: Mask) -> SpanData:
        """Return the annotations of some segments."""
        return take(data, is_taken[data.segment])

    def judge(self, data: SpanData, settings: AnalysisSettings) -> JudgedWorkers:
        """Return the verdicts on raters: whether they find more, or graver, errors in degraded items."""
        weight = weigh(read_weights(settings.options.get("weights", {})), data.severities, data.categories)
        found = run_test(data, _penalties(data, weight), preset=settings.preset, alpha=settings.alpha)
        return judge_workers(data.raters, found.p_value, found.n_compared, settings)

    def answered_by(self, data: SpanData) -> AnsweredBy:
        """Return who gave each answer."""
        return AnsweredBy(data.raters, data.rater, data.attributes)

    def outputs(self, data: SpanData, settings: AnalysisSettings) -> OutputScores | None:
        """Return what the errors of each annotation weigh, with its sign changed."""
        is_counted = self.judge(data, settings).is_counted
        data = take(data, np.isin(data.kind, _OF_OUTPUTS) & is_counted[data.rater])
        penalty = _penalties(
            data, weigh(read_weights(settings.options.get("weights", {})), data.severities, data.categories)
        )
        criterion = np.zeros(data.n_annotations, np.int64)
        labels = data.systems, name_sources(data.segments), data.raters
        return OutputScores(*labels, data.system, data.segment, data.rater, criterion, -penalty)

    def judgements(self, data: SpanData, settings: AnalysisSettings) -> Judgements:
        """Return what the errors of each annotation weigh, and how far raters mark the same."""
        weight = weigh(read_weights(settings.options.get("weights", {})), data.severities, data.categories)
        judged = self.judge(data, settings)
        ratings = as_ratings(data, _penalties(data, weight))
        has_failed = judged.verdict == Verdict.FAILED
        marks = _agreement(take(data, judged.is_counted[data.rater] & (data.kind == Kind.ORDINARY)))
        return Judgements(ratings, ["penalty"], [Scale(AnswerKind.MARKS, marks=marks)], judged.is_counted, has_failed)

    def sections(self, result: Result) -> list[Section]:
        """Return the ranking, the pairs, and counts of errors."""
        caption = (
            "Mean penalty of a segment: what its errors weigh, averaged over its raters, then over segments; fewer is "
            f"better. Errors of intervals and tests are clustered by {in_words(result.summary.n_clusters)}."
        )
        return [
            systems_section(result, score="penalty", n="segments", caption=caption, finding=_finding(result)),
            pairs_section(result, caption="Differences of mean penalties, the better system first."),
            *groups_sections(result, score="penalty"),
            _errors_section(result),
            *workers_section(result),
        ]

    def headline(self, result: Result) -> str:
        """Return how much was annotated."""
        said = {name: result.own_summary[f"n_{name}s"] for name in ("rater", "error", "annotation", "segment")}
        raters, errors, annotations, segments = (counted(n, name) for name, n in said.items())
        marked = f"{raters} marked {errors} in {annotations} of {segments}."
        return f"{workers_in_words(result)} {marked}".strip()

    def files(self, data: SpanData) -> Mapping[str, str]:
        """Return the annotations as an MQM file; nothing where a tool's file has no texts to mark."""
        if not any(data.target_texts):
            return {}
        return {"mqm.tsv": to_mqm_tsv(take(data, np.isin(data.kind, _OF_OUTPUTS)))}


def _penalties(data: SpanData, weight: Floats) -> Floats:
    """Return what the errors of each annotation weigh, (n_annotations,)."""
    return np.bincount(data.annotation, _of_errors(data, weight), data.n_annotations).astype(np.float64)


def _of_errors(data: SpanData, weight: Floats) -> Floats:
    """Return what each error weighs, (n_errors,)."""
    n_categories = weight.shape[1]
    weights: Floats = weight.ravel()[data.severity * n_categories + data.category]
    return weights


def _clusters(data: SpanData, settings: AnalysisSettings) -> dict[str, Codes]:
    """Return the groupings by which annotations may depend on each other: those asked for, or the default."""
    document = data.document_of[data.segment]
    groups = {"rater": data.rater, "document": document, "segment": data.segment}
    if asked := settings.options.get("clusters"):
        return {name: groups[name] for name in asked}
    return choose_groups(data.rater, document, data.segment, len(data.documents), settings.workers_planned)


def _errors(data: SpanData, weight: Floats, order: list[int]) -> dict[str, Any]:
    """Return counts by category and severity, and of each system by severity and what its categories weigh.

    `systems`: `counts` {severity: errors an annotation} and `penalty` {category before “/”: mean penalty of a segment}.
    """
    n_systems, n_severities = len(data.systems), len(data.severities)
    parts = [name.split("/")[0] for name in data.categories]
    top = sorted(set(parts))
    part_of = np.array([top.index(part) for part in parts], np.int64)
    of_system = data.system[data.annotation]
    n_annotations = np.bincount(data.system, minlength=n_systems)
    counts = _table(data.category, data.severity, (len(data.categories), n_severities))
    by_severity = _table(of_system, data.severity, (n_systems, n_severities))
    added = _of_errors(data, weight) * _share_of_annotation(data)[data.annotation]
    by_part = _table(of_system, part_of[data.category], (n_systems, len(top)), added)
    used = np.flatnonzero(counts.any(axis=0)).tolist()
    used_parts = np.unique(part_of[counts.any(axis=1)]).tolist()
    return {
        "counts": [
            {"category": data.categories[i], "severity": data.severities[k], "n": int(counts[i, k])}
            for i in range(len(data.categories))
            for k in used
            if counts[i, k]
        ],
        "systems": [
            {
                "system": data.systems[code],
                "counts": {data.severities[k]: float(by_severity[code, k] / n_annotations[code]) for k in used},
                "penalty": {top[k]: float(by_part[code, k]) for k in used_parts},
            }
            for code in order
        ],
    }


def _table(row: Codes, column: Codes, shape: tuple[int, int], weights: Floats | None = None) -> Any:
    """Return how many there are of each row and column, or the sum of their weights."""
    return np.bincount(row * shape[1] + column, weights, shape[0] * shape[1]).reshape(shape)


def _share_of_annotation(data: SpanData) -> Floats:
    """Return what a point of each annotation adds to the score of its system."""
    of, n = dense_ranks(data.output, len(data.segments) * len(data.systems))
    n_outputs = np.bincount(data.system[first_rows(of, n)], minlength=len(data.systems))
    shares: Floats = 1 / (np.bincount(of)[of] * n_outputs[data.system])
    return shares


def _agreement(data: SpanData) -> SpanAgreement:
    """Return how far raters of the same output mark the same characters of its target."""
    n_outputs = len(data.segments) * len(data.systems)
    text, n_texts = dense_ranks(data.output, n_outputs)
    if (data.target != data.target[first_rows(text, n_texts)][text]).any():  # an output is mostly one text
        text, n_texts = dense_ranks(*combined([(data.output, n_outputs), (data.target, len(data.target_length))]))
    longest = np.zeros(n_texts, np.int64)
    longest[text] = data.target_length[data.target]
    on_target = data.side == Side.TARGET
    # Where files have no texts, or other ones than in the first row of an annotation
    beyond = np.flatnonzero(on_target & (data.end > longest[text][data.annotation]))
    np.maximum.at(longest, text[data.annotation[beyond]], data.end[beyond])
    length = longest[text]
    return span_agreement(
        text,
        data.rater,
        length,
        *(values[on_target] for values in (data.annotation, data.start, data.end, data.severity)),
    )


def _notes(data: SpanData, found: SegmentMeans) -> list[str]:
    notes = []
    if "rater" not in found.n_clusters:
        notes.append(few_raters(n_distinct(data.rater)))
    if min(found.n_clusters.values()) < 2:
        notes.append(
            f"Errors are clustered by {in_words(found.n_clusters)}: no interval or test is possible. Choose others "
            "with the option “clusters”."
        )
    n_segments = n_distinct(data.segment)
    if lacking := [name for name, n in zip(data.systems, found.n_segments, strict=True) if n < n_segments]:
        notes.append(f"Not annotated on all {n_segments:,} segments: {', '.join(lacking)}.")
    return notes


def _finding(result: Result) -> str:
    rows = list(result.scored.items())
    if not rows or len(rows) < len(result.systems):
        return ""
    (best, least), (last, largest) = rows[0], rows[-1]
    if len(rows) < 2:
        return f"{best} has a mean penalty of {least:.2f} a segment."
    return f"{best} has the least penalty, {least:.2f} a segment; {last} the largest, {largest:.2f}."


def _errors_section(result: Result) -> Section:
    """Return counts by category and severity, and what each system's categories weigh."""
    found, weights = result.own["errors"], result.own_summary["weights"]
    severities = list(dict.fromkeys(row["severity"] for row in found["counts"]))
    categories = list(dict.fromkeys(row["category"] for row in found["counts"]))
    n = {(row["category"], row["severity"]): row["n"] for row in found["counts"]}
    rows: list[list[Cell]] = [
        [name, *(n.get((name, severity), 0) for severity in severities), sum(n.get((name, s), 0) for s in severities)]
        for name in categories
    ]
    changed = {key: value for key, value in weights.items() if DEFAULTS.get(key) != value}
    others = f" Changed weights: {', '.join(f'{key} {value:g}' for key, value in changed.items())}." if changed else ""
    tables = [
        Table(
            "error-counts",
            "Errors by category and severity",
            f"Number of errors of all systems and raters.{others}",
            [Column("category"), *map(Column, severities), Column("all")],
            rows,
        )
    ]
    names = [row["system"] for row in found["systems"]]
    parts = sorted(found["systems"][0]["penalty"])
    tables.append(
        Table(
            "error-penalties",
            "Penalty by category",
            "What the errors of each category add to the mean penalty of a segment.",
            [Column("system"), *(Column(part, 2) for part in parts)],
            [[row["system"], *(row["penalty"][part] for part in parts)] for row in found["systems"]],
        )
    )
    by_part = [(part, [row["penalty"][part] for row in found["systems"]]) for part in parts]
    by_severity = [(name, [row["counts"][name] for row in found["systems"]]) for name in severities]
    figures = [
        Figure(
            "error-penalties",
            "Penalty by category",
            Picture.of(draw_stacked, names, by_part, "mean penalty of a segment"),
            "Stacked bars: what the errors of each category weigh; the table has the numbers.",
        ),
        Figure(
            "error-severities",
            "Errors by severity",
            Picture.of(draw_stacked, names, by_severity, "errors of an annotation"),
            "Stacked bars: errors of each severity in the mean of a system’s annotations.",
        ),
    ]
    return Section("errors", "Errors", tables=tables if rows else [], figures=figures if rows else [])
