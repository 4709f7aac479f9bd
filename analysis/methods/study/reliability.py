"""Reliability: does a worker say the same twice, do two workers agree, would other workers rank alike (METHOD §6)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.methods.study import Method
from analysis.methods.study.agreement import agreement_cells, measure_agreement
from analysis.methods.study.study import Study
from analysis.questions.halves import SEED, coefficient, describe_halves, halves_section
from analysis.results.sections import COLUMN_IN, Column, Figure, Output, Section, Table, Theme
from analysis.results.stored import criteria_of, in_order
from analysis.stats.agreement import categorise, cohen_kappa, pairs_within, tolerance_chance, tolerance_kappa
from analysis.stats.krippendorff import Level
from analysis.stats.quality import Verdict
from analysis.stats.ratings import Floats, Mask, Ratings, or_none
from analysis.stats.reliability import (
    correlate_assignments,
    correlate_groups,
    repeats_with_twins,
    split_half,
)
from analysis.stats.scores import outputs_of, reverse_negative
from campaigns.design.composition import Kind

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

CATEGORIES = (2, 4, 5, 10)
TOLERANCES = (5, 10, 15, 20, 25, 30)
_PLACE, _SAID = 1, 10  # the tolerance that the finding names
N_SPLITS = 500
_GROUPS = ("passed", "failed")
_BINS = 20
# All pairs of more assignments than these would take longer than everything else together.
_MOST_ASSIGNMENTS = 2000
_COEFFICIENTS = ("pearson", "spearman", "kendall")
_SHOWN = Output.FILES | Output.PAGE
_PAGE = "reliability"
Report = Mapping[str, Any]


class Reliability(Method):
    """How far workers agree with themselves and with each other, and how far the ranking depends on who rated."""

    slug = "reliability"

    def detail(self, study: Study) -> dict[str, Any]:
        """Return `reliability`: `intra` and `inter` of workers who passed and who failed, `shared` outputs, `halves`,
        `tolerance`. What is undefined is None.
        """
        ratings, analysis = study.ratings, study.analysis
        scores = reverse_negative(ratings.scores, study.settings.design(study.loaded.workers).is_negative)
        groups = {"passed": analysis.is_kept, "failed": analysis.workers.verdict == Verdict.FAILED}
        return {
            self.slug: {
                "intra": {name: _intra(study, scores, group) for name, group in groups.items()},
                "inter": _inter(ratings, scores, groups),
                "shared": measure_agreement(study).document["criteria"],
                "tolerance": _tolerance(study, scores),
                "halves": _halves(study, scores),
            }
        }

    def sections(self, report: Report) -> list[Section]:
        """Return how far workers agree with themselves, with each other, and what other workers would say."""
        found = report.get(self.slug)
        if not found:
            return []
        sections = [
            _intra_section(found["intra"]),
            _inter_section(found["inter"]),
            _shared_section(found["shared"], criteria_of(report)),
        ]
        sections += [_tolerance_section(found["tolerance"])] if "tolerance" in found else []
        return [*sections, halves_section(found["halves"])]


# --- What is computed


def _intra(study: Study, scores: Floats, group: Mask) -> dict[str, Any]:
    """Return κ of repeats with their twins, workers pooled, and how the correlations of single workers are spread."""
    pairs = repeats_with_twins(study.ratings, scores, study.analysis.twin)
    own = group[pairs.worker]
    first, second, worker = pairs.first[own], pairs.second[own], pairs.worker[own]
    correlations = correlate_groups(first, second, worker, study.ratings.n_workers)
    return {
        "n_pairs": int(first.size),
        "n_workers": int(np.unique(worker).size),
        "kappa": {
            str(n): or_none(cohen_kappa(categorise(first, n), categorise(second, n), n).kappa) for n in CATEGORIES
        },
        "correlations": {name: _spread(getattr(correlations, name)[correlations.n > 0]) for name in _COEFFICIENTS},
    }


def _inter(ratings: Ratings, scores: Floats, groups: Mapping[str, Mask]) -> dict[str, Any]:
    """Return how r of every two assignments of the same items is spread, for two workers of the same group."""
    n_assignments = int(ratings.assignment.max(initial=-1)) + 1
    worker_of = np.zeros(n_assignments, np.int64)
    worker_of[ratings.assignment] = ratings.worker
    found: dict[str, Any] = {}
    for name, group in groups.items():
        own = np.flatnonzero(group[worker_of]) if n_assignments else np.empty(0, np.int64)
        if own.size > _MOST_ASSIGNMENTS:
            own = np.random.default_rng(20160502).choice(own, _MOST_ASSIGNMENTS, replace=False)
        rows = np.isin(ratings.assignment, own)
        pairs = correlate_assignments(_of_rows(ratings, rows), scores[rows])
        found[name] = _spread(pairs.pearson) | {"n_assignments": int(own.size)}
    return found


def _of_rows(ratings: Ratings, rows: Mask) -> Ratings:
    columns = ("scores", "worker", "system", "assignment", "source", "kind")
    return replace(ratings, **{name: getattr(ratings, name)[rows] for name in columns})


def _spread(values: Floats) -> dict[str, Any]:
    """Return number, quartiles and histogram from −1 to 1 of correlations; those that are undefined are left out."""
    defined = values[~np.isnan(values)]
    counts, _ = np.histogram(defined, bins=_BINS, range=(-1, 1))
    quartiles = np.percentile(defined, [25, 50, 75]) if defined.size else np.full(3, np.nan)
    return {
        "n": int(defined.size),
        "n_undefined": int(values.size - defined.size),
        "quartiles": [or_none(value) for value in quartiles],
        "histogram": counts.tolist(),
    }


def _tolerance(study: Study, scores: Floats) -> dict[str, Any]:
    """Return tolerance κ of repeats with their twins, and of every two ratings of one output, by workers who count."""
    ratings, kept = study.ratings, study.analysis.is_kept
    twice = repeats_with_twins(ratings, scores, study.analysis.twin)
    own = kept[twice.worker]
    rows = np.flatnonzero((ratings.kind == Kind.ORDINARY) & (ratings.source >= 0) & kept[ratings.worker])
    output, _, _ = outputs_of(ratings, rows)
    n_outputs = int(output.max(initial=-1)) + 1
    values = [column[rows] for column in scores.T]
    rated = [~np.isnan(column) for column in values]
    items = [output[known] + k * n_outputs for k, known in enumerate(rated)]
    two = pairs_within(
        np.concatenate([column[known] for column, known in zip(values, rated, strict=True)]), np.concatenate(items)
    )
    found = {}
    for name, (first, second) in {"repeats": (twice.first[own], twice.second[own]), "outputs": two}.items():
        kappas = [tolerance_kappa(first, second, t) for t in TOLERANCES]
        found[name] = {
            "n_pairs": int(first.size),
            "observed": [or_none(each.observed) for each in kappas],
            "kappa": [or_none(each.kappa) for each in kappas],
        }
    return found


def _halves(study: Study, scores: Floats) -> dict[str, Any]:
    ratings, analysis = study.ratings, study.analysis
    rows = np.flatnonzero((ratings.kind == Kind.ORDINARY) & analysis.is_kept[ratings.worker])
    worker, system = ratings.worker[rows], ratings.system[rows]
    z = analysis.standardisation.z(scores[rows].mean(axis=1), worker)
    r = split_half(
        z,
        system,
        worker,
        n_systems=ratings.n_systems,
        n_workers=ratings.n_workers,
        n_splits=N_SPLITS,
        rng=np.random.default_rng(SEED),
    )
    return describe_halves(r, np.unique(worker[~np.isnan(z)]).size)


# --- What is shown


def _of(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _intra_section(found: Report) -> Section:
    passed = found["passed"]
    middle, kappa = passed["correlations"]["pearson"]["quartiles"][1], passed["kappa"]["2"]
    if not passed["n_pairs"]:
        finding = "No worker who counts rated an item and its repeat, so nothing can be said of it."
    else:
        finding = (
            f"Workers who count rated {_of(passed['n_pairs'], 'repeat')} a second time. The correlation of a worker's "
            f"two scores is {coefficient(middle)} in the median; κ of two halves of the scale is {coefficient(kappa)}."
        )
    groups = [name for name in _GROUPS if found[name]["n_pairs"]]
    kappas = [
        [_title(name), *(found[name]["kappa"][str(n)] for n in CATEGORIES), found[name]["n_pairs"]] for name in groups
    ]
    columns = [Column("workers"), *(Column(f"κ of {n}") for n in CATEGORIES), Column("pairs")]
    kappa_table = Table(
        "intra-rater-kappa",
        "κ of repeats",
        "Cohen's κ of an item and its repeat, scores in 2 to 10 categories, workers pooled.",
        columns,
        kappas,
        output=_SHOWN,
    )
    rows = [
        [f"{_title(name)}, {symbol}", *_row(found[name]["correlations"][key])]
        for name in groups
        for key, symbol in zip(_COEFFICIENTS, ("r", "ρ", "τ"), strict=True)
    ]
    spread = Table(
        "intra-rater-correlations",
        "Correlations of repeats, by worker",
        "How the correlation of an item with its repeat is spread over workers. Correlations are not averaged.",
        [Column("workers"), *_SPREAD],
        rows,
        output=_SHOWN,
    )
    tables = [kappa_table, spread] if groups else []
    spreads = {name: found[name]["correlations"]["pearson"] for name in _GROUPS}
    figure = _figure(
        "intra-rater", "r of each worker's repeats", "r of an item and its repeat, one worker each", spreads
    )
    return Section("intra-rater", "Does a worker say the same twice?", finding, tables, figure, _PAGE)


_SPREAD = [Column("lower quartile"), Column("median"), Column("upper quartile"), Column("n"), Column("undefined")]


def _row(spread: Report) -> list[float | int | None]:
    return [*spread["quartiles"], spread["n"], spread["n_undefined"]]


def _title(group: str) -> str:
    return "who count" if group == "passed" else "who failed"


def _inter_section(found: Report) -> Section:
    passed, failed = (found[name] for name in _GROUPS)
    if not passed["n"]:
        finding = "No two workers who count rated the same items, so their scores cannot be compared item by item."
    else:
        finding = (
            f"Two workers who count and rated the same items correlate by {coefficient(passed['quartiles'][1])} in "
            f"the median, over {_of(passed['n'], 'pair')}"
        )
        finding += f"; two who failed by {coefficient(failed['quartiles'][1])}." if failed["n"] else "."
    table = Table(
        "inter-rater",
        "Pairs of assignments",
        "r between every two assignments of the same items; of many assignments, 2,000 drawn at random.",
        [Column("workers"), *_SPREAD],
        [[_title(name), *_row(found[name])] for name in _GROUPS if found[name]["n"]],
        output=_SHOWN,
    )
    tables = [table] if table.rows else []
    figure = _figure("inter-rater", "r of pairs of workers", "r of two assignments of the same items", found)
    return Section("inter-rater", "Do two workers agree?", finding, tables, figure, _PAGE)


def _shared_section(found: Report, criteria: Sequence[str]) -> Section:
    of_criteria = in_order(found, criteria)
    n_items = max((criterion["n_items"] for _, criterion in of_criteria), default=0)
    finding = (
        f"{_of(n_items, 'output')} were rated by two workers or more who count."
        if n_items
        else "No output was rated by two workers who count. More workers per HIT allow these coefficients."
    )
    headings = [*(f"α {level.value}" for level in Level), "ICC(2,1)", "ICC(2,k)", "κ (Fleiss)", "outputs", "workers"]
    rows = [[name, *agreement_cells(criterion)] for name, criterion in of_criteria]
    caption = (
        "Krippendorff's α, intraclass correlations and Fleiss' κ (scores in 5 categories). A dash: undefined, because "
        "nothing is shared or all scores are the same."
    )
    columns = [Column("criterion"), *map(Column, headings)]
    table = Table("agreement", "Agreement on shared outputs", caption, columns, rows, output=_SHOWN)
    return Section("shared", "Agreement on the same outputs", finding, [table] if n_items else [], page=_PAGE)


def _tolerance_section(found: Report) -> Section:
    repeats, outputs = found["repeats"], found["outputs"]
    said = []
    if repeats["n_pairs"]:
        said.append(
            f"Workers who count rate a repeat within {_SAID} points of the first time in "
            f"{_at(repeats['observed'])} of cases; beyond chance that is κ = {coefficient(repeats['kappa'][_PLACE])}."
        )
    if outputs["n_pairs"]:
        said.append(
            f"Two workers rate the same output within {_SAID} points of each other in {_at(outputs['observed'])} of "
            f"cases: κ = {coefficient(outputs['kappa'][_PLACE])}."
        )
    said = said or ["No output was rated twice by workers who count, so nothing can be said of it."]
    chance = [tolerance_chance(t) for t in TOLERANCES]
    rows = [
        [f"{t} points", by_chance, *(each[key][k] for each in (repeats, outputs) for key in ("observed", "kappa"))]
        for k, (t, by_chance) in enumerate(zip(TOLERANCES, chance, strict=True))
    ]
    columns = [Column("at most"), Column("by chance"), Column("repeats, share"), Column("repeats, κ")]
    columns += [Column("two workers, share"), Column("two workers, κ")]
    caption = (
        f"Share of pairs of scores that differ by at most so many points, and κ: {repeats['n_pairs']:,} repeats with "
        f"their twins, {outputs['n_pairs']:,} pairs of ratings of one output. By chance: two points of the scale 0–100."
    )
    tables = [Table("tolerance", "Scores within a few points", caption, columns, rows, output=_SHOWN)]
    has_any = repeats["n_pairs"] or outputs["n_pairs"]
    return Section("tolerance", "How near are two scores?", " ".join(said), tables if has_any else [], page=_PAGE)


def _at(shares: Sequence[float | None]) -> str:
    share = shares[_PLACE]
    return "no" if share is None else f"{100 * share:.0f} %"


# --- Figures


def _figure(name: str, title: str, label: str, spreads: Report) -> list[Figure]:
    if not spreads["passed"]["n"]:
        return []
    alt = f"Histogram of {label}, for workers who count and workers who failed."
    return [Figure(name, title, partial(draw_spreads, spreads, label), alt)]


def draw_spreads(spreads: Report, label: str, theme: Theme) -> "Drawing":
    """Draw the share of correlations in each tenth from −1 to 1, workers who count and who failed."""
    figure, axes = theme.canvas(width=COLUMN_IN, height=2.6)
    edges = np.linspace(-1, 1, _BINS + 1)
    for name in _GROUPS:
        counts = np.array(spreads[name]["histogram"], float)
        if counts.sum():
            bars = axes.bar(edges[:-1], counts / counts.sum(), width=2 / _BINS, align="edge", edgecolor=theme.ink)
            bars.set_label(f"{_title(name)} (n = {spreads[name]['n']:,})")
            for bar in bars:
                bar.set(facecolor=theme.accent, alpha=0.75) if name == "passed" else bar.set(fill=False, hatch="///")
    axes.set(xlabel=label, ylabel="share", xlim=(-1, 1))
    figure.legend(frameon=False, labelcolor=theme.ink, loc="outside upper center", ncols=2, fontsize=9)
    return figure
