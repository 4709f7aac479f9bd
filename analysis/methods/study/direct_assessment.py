"""Direct assessment: ranking, significance and workers, from scores of single outputs (METHOD §3–§5)."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.methods.study import Method
from analysis.methods.study.study import Study
from analysis.results.agreement_figures import draw_heat, draw_heat_scale, heat_cell, name_room
from analysis.results.curves import short_label
from analysis.results.result import Comparison, Result
from analysis.results.sections import COLUMN_IN, Cell, Column, Figure, Output, Picture, Section, Table, Theme
from analysis.results.stored import Report
from analysis.results.values import RankedSystem, Ranking, get_ranking
from analysis.results.words import N_COUNTS
from analysis.stats.conduct import References
from analysis.stats.procedures import ALPHA
from analysis.stats.quality import Verdict
from analysis.stats.ratings import or_none
from analysis.stats.significance import Intervals, PairwiseTests, adjust, bootstrap_means, cluster
from campaigns.contracts.result_pages import FIRST_PAGE, PAIRS
from campaigns.design.worker_test import NO_TEST
from evalsite.lib.typed_json import to_json

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

N_BOOTSTRAP = 1000
_MOST_RESAMPLED = 100_000  # items, while somebody waits
_NORMAL_975 = 1.959964
HISTOGRAM_BINS = 10
# What the comparison over all criteria is called, where no criterion has the name itself.
_OVERALL = ("overall", "all criteria", "mean of all criteria")


class DirectAssessment(Method):
    """Workers are tested, scores standardised per worker, systems ranked and compared in pairs."""

    slug = "direct_assessment"

    def summarise(self, study: Study) -> dict[str, Any]:
        """Return counts, systems, p-values, and clusters by what is `concluded_by`.

        `scale` only if it is known which scale the scores are on. Undefined numbers are None; so is `references` where
        no reference item was rated. Where no worker test is applied, nobody passed, failed or is untested.
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
            "significance": {"order": names, "p": to_json(analysis.tests.p_value[np.ix_(order, order)])},
            "clusters": [
                [study.loaded.systems[code] for code in group] for group in cluster(order, study.concluded, ALPHA)
            ],
            "concluded_by": study.procedure.value,
            **({"scale": list(settings.scale)} if settings.scale else {}),
        }

    def detail(self, study: Study) -> dict[str, Any]:
        """Return `intervals` (95 % bootstrap, per system); `comparisons` (overall first, then each of several criteria:
        p, Holm, BH, superiority); `boxes` (five numbers of z per system); `worker_table`.
        """
        analysis, order = study.analysis, study.order
        taken = {name.casefold() for name in study.settings.criterion_names if len(study.settings.criteria) > 1}
        overall = next(name for name in _OVERALL if name not in taken)
        tests = [(overall, analysis.tests)]
        if len(study.settings.criteria) > 1:
            tests += zip(study.settings.criterion_names, analysis.criterion_tests, strict=True)
        return {
            "intervals": bootstrap_intervals(study),
            "comparisons": [_comparison(study, name, pairwise, order) for name, pairwise in tests],
            "boxes": [_box(study, code) for code in order],
            "worker_table": _worker_table(study),
        }

    def first_detail(self, study: Study) -> dict[str, Any]:
        """Return `worker_table`, and `intervals` that are not known yet."""
        intervals = {study.loaded.systems[code]: [None, None] for code in study.order}
        return {"intervals": intervals, "worker_table": _worker_table(study)}

    def sections(self, result: Result) -> list[Section]:
        """Return ranking, raw means, distribution of z, significance and workers."""
        return [
            Section("ranking", "Ranking", tables=[systems_table(result), compact_table(result)], page=FIRST_PAGE),
            Section("raw", "Raw means", tables=_raw_tables(result), page=FIRST_PAGE),
            _significance(result),
            *_workers(result),
            _boxes(result.own["boxes"]),
        ]


# --- What is computed


def _references(found: References) -> dict[str, Any] | None:
    """Return how the workers who count rate reference items, and how far above ordinary ones."""
    if not found.n_ratings.any():
        return None
    return {"mean": or_none(found.overall_mean), "distance": or_none(found.overall_distance)}


def _system(study: Study, code: int) -> dict[str, Any]:
    scores = study.analysis.systems
    counts = {"ratings": int(scores.n_ratings[code]), "outputs": int(scores.n_outputs[code])}
    return {
        "system": study.loaded.systems[code],
        "n": counts[study.settings.n_counts],
        "n_outputs": counts["outputs"],
        "n_ratings": counts["ratings"],
        "z": or_none(scores.z[code]),
        "raw": or_none(scores.raw[code]),
        "criteria": {
            name: {"z": or_none(scores.criterion_z[code, k]), "raw": or_none(scores.criterion_raw[code, k])}
            for k, name in enumerate(study.settings.criterion_names)
        },
    }


def _comparison(study: Study, name: str, tests: PairwiseTests, order: list[int]) -> dict[str, Any]:
    own = tests.p_value[np.ix_(order, order)]
    return {
        "name": name,
        "order": [study.loaded.systems[code] for code in order],
        "p": to_json(own),
        "holm": to_json(adjust(own, "holm")),
        "bh": to_json(adjust(own, "fdr_bh")),
        "superiority": to_json(tests.superiority[np.ix_(order, order)]),
    }


def bootstrap_intervals(study: Study) -> dict[str, list[float | None]]:
    """Return the 95 % interval of each system's mean z, by resampling items."""
    observations = study.analysis.observations
    intervals = bootstrap_means(
        observations.overall_z,
        observations.system,
        study.ratings.n_systems,
        n_samples=N_BOOTSTRAP,
        rng=np.random.default_rng(20160501),
    )
    return _intervals(study, intervals)


def quick_intervals(study: Study) -> dict[str, list[float | None]]:
    """Return the same where it takes a moment; of more than 100,000 items mean ± 1.96 s/√n, which differs from it by
    less than the resampling does.
    """
    observations = study.analysis.observations
    if observations.system.size <= _MOST_RESAMPLED:
        return bootstrap_intervals(study)
    is_rated = ~np.isnan(observations.overall_z)
    z, system = observations.overall_z[is_rated], observations.system[is_rated]
    n = np.bincount(system, minlength=study.ratings.n_systems)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(system, z, n.size) / n
        variance = np.bincount(system, (z - mean[system]) ** 2, n.size) / (n - 1)
        half = _NORMAL_975 * np.sqrt(variance / n)
    return _intervals(study, Intervals(mean - half, mean + half))


def _intervals(study: Study, intervals: Intervals) -> dict[str, list[float | None]]:
    return {
        study.loaded.systems[code]: [or_none(intervals.low[code]), or_none(intervals.high[code])]
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
            "p": or_none(analysis.workers.p_value[code]),
            "verdict": Verdict(int(analysis.workers.verdict[code])).name.lower(),
            "excluded": study.settings.excluded.get(name),
            "n_ratings": int(histogram[code].sum()),
            "n_assignments": int(n_assignments[code]),
            "n_compared": int(analysis.workers.n_compared[code]),
            "mean": or_none(analysis.standardisation.mean[code]),
            "sd": or_none(analysis.standardisation.sd[code]),
            "reference_mean": or_none(analysis.references.mean[code]),
            "reference_distance": or_none(analysis.references.distance[code]),
            "histogram": histogram[code].tolist(),
        }
        for code, name in enumerate(loaded.workers)
    ]


# --- What is shown


_COUNTED = [Column("system"), Column("n"), Column("outputs"), Column("ratings")]


def _counted(row: RankedSystem) -> list[Cell]:
    return [row.system, row.n, row.n_outputs, row.n_ratings]


def _rules(ranking: Ranking) -> frozenset[int]:
    return frozenset(k for k, row in enumerate(ranking.rows) if row.ends_cluster)


def systems_table(result: Result) -> Table:
    """Return the ranked table of z: counts, overall with its 95 % interval and raw mean, each of several criteria."""
    ranking, test = get_ranking(result), result.applied_test
    rows = [
        [*_counted(row), row.z, row.low, row.high, row.raw, *(score.z for score in row.criteria)]
        for row in ranking.rows
    ]
    kept = f"Workers kept by {test.preset} at α = {test.alpha:g}"
    if test.preset == NO_TEST:
        kept = "No worker test was applied: every worker counts"
    caption = (
        f"Systems by mean z. {kept}; a rule stands under a system that beats every system below it "
        f"({ranking.level}); low and high bound a 95 % bootstrap interval. n counts {N_COUNTS[ranking.n_counts]}."
    )
    columns = [*_COUNTED, Column("z"), Column("low"), Column("high"), Column("raw", 2), *map(Column, ranking.criteria)]
    title = "Ranking: z, interval, raw, criteria"
    return Table("systems", title, caption, columns, rows, _rules(ranking), Output.PRINTED)


def compact_table(result: Result) -> Table:
    """Return the ranking as narrow as a column of a paper: system, z, n, cluster."""
    ranking = get_ranking(result)
    rows: list[list[Cell]] = []
    cluster_now = 1
    for row in ranking.rows:
        rows.append([row.system, row.z, row.n, cluster_now if row.rank else None])
        cluster_now += row.ends_cluster
    columns = [Column("system"), Column("z"), Column("n"), Column("cluster")]
    caption = (
        f"Systems by mean z. A system that ends a cluster beats every system below it ({ranking.level}). n counts "
        f"{N_COUNTS[ranking.n_counts]}."
    )
    return Table(
        "systems-compact", "Ranking, compact: z, n, cluster", caption, columns, rows, _rules(ranking), Output.FILES
    )


def _raw_tables(result: Result) -> list[Table]:
    """Return the ranking with raw means, negative criteria reversed: for files; for the page, of several criteria."""
    ranking = get_ranking(result)
    of_criteria = [Column(name, 2) for name in ranking.criteria]
    raw = [[row.raw, *(score.raw for score in row.criteria)] for row in ranking.rows]
    written = Table(
        "systems-raw",
        "Raw means",
        "Raw means, 0–100, of the same systems; negative criteria are reversed.",
        [*_COUNTED, Column("raw", 2), *of_criteria],
        [[*_counted(row), *scores] for row, scores in zip(ranking.rows, raw, strict=True)],
        _rules(ranking),
        Output.PRINTED if of_criteria else Output.FILES,
    )
    shown = Table(
        "systems-raw",
        "Raw means",
        "Mean scores, 0 to 100, of the same ratings, in the order of z; negative criteria are reversed, so that higher "
        "is better everywhere.",
        [
            *(Column("Rank"), Column("System"), Column("n", hint=N_COUNTS[ranking.n_counts])),
            *(Column("Overall", 2), *of_criteria),
        ],
        [[row.rank, row.system, row.n, *scores] for row, scores in zip(ranking.rows, raw, strict=True)],
        _rules(ranking),
        Output.PAGE,
        row_name=1,
    )
    return [written, shown] if of_criteria else [written]


def _significance(result: Result) -> Section:
    comparisons = {tests.name: tests for tests in result.comparisons}
    tables = [
        Table(
            f"significance-{name}",
            f"p between systems: {name}",
            f"One-sided rank-sum p, row beats column: {name}.",
            [Column("system"), *(Column(system, 4, is_p=True) for system in comparison.order)],
            [[system, *row] for system, row in zip(comparison.order, comparison.p, strict=True)],
            output=Output.FILES,
        )
        for name, comparison in comparisons.items()
    ]
    figures = [
        Figure(
            f"significance-{name}",
            f"Heatmap: {name}",
            Picture.of(draw_significance, comparison),
            f"Heatmap of p between systems: {name}.",
        )
        for name, comparison in comparisons.items()
    ]
    pairs = _pairs_table(comparisons.values())
    return Section("significance", "Significance", "", [*tables, pairs], figures, page=PAIRS)


def _pairs_table(comparisons: Iterable[Comparison]) -> Table:
    """Return every tested pair with p, its corrections and the effect size, one a row."""
    rows: list[list[Cell]] = [
        [each.name, first, second, *(values[i][j] for values in (each.p, each.holm, each.bh, each.superiority))]
        for each in comparisons
        for i, first in enumerate(each.order)
        for j, second in enumerate(each.order)
        if i != j
    ]
    columns = [Column("criterion"), Column("row"), Column("column")]
    columns += [*(Column(name, 4, is_p=True) for name in ("p", "p Holm", "p BH")), Column("P(row > column)")]
    caption = "One-sided rank-sum tests that row beats column, with Holm's and Benjamini–Hochberg's corrections."
    return Table("pairs", "All pairs: p, corrections, effect size", caption, columns, rows, output=Output.FILES)


def _workers(result: Result) -> list[Section]:
    figure = Figure(
        "workers",
        "p of every worker",
        Picture.of(draw_workers, [row.p for row in result.workers], result.applied_test.alpha),
        "Every tested worker's p in rising order, with the line that divides passed from failed.",
        "Workers below the line passed. Workers who failed are left out of the results. "
        "Their pay is decided separately.",
    )
    return [
        Section("workers", "Workers", tables=[workers_table(result)], page="workers"),
        *([Section("p-values", "p of every worker", figures=[figure], page="workers")] if result.has_test else []),
    ]


def workers_table(result: Result) -> Table:
    """Return the workers: p, verdict and what it rests on."""
    references = result.summary.references
    columns = [
        Column("worker", is_worker=True),
        Column("verdict"),
        Column("p", 4, is_p=True),
        Column("assignments"),
        Column("ratings"),
    ]
    columns += [Column("compared"), Column("mean", 1), Column("sd", 1)]
    columns += [Column("reference mean", 1), Column("reference distance", 1)] if references else []
    keys = ["worker", "verdict", "p", "n_assignments", "n_ratings", "n_compared", "mean", "sd"]
    keys += ["reference_mean", "reference_distance"] if references else []
    rows = [[*(getattr(row, key) for key in keys), row.excluded or ""] for row in result.workers]
    caption = "Workers and the worker test."
    if not result.has_test:
        caption = "Workers. No worker test was applied: every worker counts."
    if references and references.mean is not None:
        caption += f" Reference items of workers who count: mean {references.mean:.1f}"
        caption += "." if references.distance is None else f", {references.distance:+.1f} to ordinary items."
    return Table("workers", "Workers by hash", caption, [*columns, Column("excluded")], rows, output=Output.FILES)


def _boxes(boxes: Sequence[Report]) -> Section:
    figure = Figure(
        "boxes",
        "Box plots of z per system",
        Picture.of(draw_boxes, boxes),
        "Box plots of the z scores of each system's items, in rank order.",
        "z of single items. Box: middle half, with the median; whiskers: 5 % and 95 %.",
    )
    has_scores = any(box["n"] for box in boxes)
    return Section("boxes", "Distribution of z", figures=[figure], page=FIRST_PAGE if has_scores else "")


# --- Figures


def draw_boxes(boxes: Sequence[Report], theme: Theme) -> "Drawing":
    """Draw the distribution of item-level z per system: quartiles, and whiskers at 5 and 95 %."""
    boxes = [box for box in boxes if box["n"]]
    figure, axes = theme.canvas(width=COLUMN_IN, height=1.0 + 0.27 * max(len(boxes), 1))
    statistics = [
        {
            "whislo": p[0],
            "q1": p[1],
            "med": p[2],
            "q3": p[3],
            "whishi": p[4],
            "label": short_label(box["system"]),
            "fliers": [],
        }
        for box in reversed(boxes)
        for p in [box["percentiles"]]
    ]
    if statistics:
        line = {"color": theme.ink, "linewidth": 1}
        axes.bxp(
            statistics,
            orientation="horizontal",
            showfliers=False,
            patch_artist=True,
            widths=0.56,
            boxprops={"facecolor": theme.accent, "edgecolor": theme.ink, "alpha": 0.55},
            medianprops={"color": theme.ink, "linewidth": 2},
            whiskerprops=line,
            capprops=line,
        )
    axes.axvline(0, color=theme.faint, linewidth=1, zorder=0)
    axes.set_xlabel("z of items: quartiles, 5 and 95 %")
    return figure


def draw_workers(p: Sequence[float | None], alpha: float, theme: Theme) -> "Drawing":
    """Draw every tested worker's p-value in rising order, with the line that divides passed from failed."""
    tested = sorted(value for value in p if value is not None)
    figure, axes = theme.canvas(width=COLUMN_IN, height=2.7)
    n_passed = sum(value < alpha for value in tested)
    axes.scatter(range(1, n_passed + 1), tested[:n_passed], s=9, color=theme.accent, label=f"{n_passed} passed")
    axes.scatter(
        range(n_passed + 1, len(tested) + 1),
        tested[n_passed:],
        s=12,
        marker="x",
        linewidths=1,
        color=theme.warn,
        label=f"{len(tested) - n_passed} failed",
    )
    axes.axhline(alpha, color=theme.ink, linewidth=1, linestyle="--", label=f"α = {alpha:g}")
    axes.set(xlabel="workers, most careful first", ylabel="p of the worker test", ylim=(-0.02, 1.02))
    if tested:
        axes.legend(frameon=False, labelcolor=theme.ink, loc="upper left")
    return figure


def draw_significance(comparison: Comparison, theme: Theme) -> "Drawing":
    """Draw the heatmap of p-values of a comparison."""
    n, room = max(len(comparison.order), 4), name_room(comparison.order)
    side = heat_cell(n) * n + room + 0.4
    figure, axes = theme.canvas(width=side + 0.8, height=side)
    draw_heat(axes, comparison.order, comparison.p, theme)
    if comparison.order:
        draw_heat_scale(figure, [axes], theme)
    axes.set_title(short_label(comparison.name), color=theme.ink)
    return figure
