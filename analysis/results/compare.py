"""How far two results agree on the systems that both rate (METHOD §6), as sections for pages and files. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from analysis.methods.study.pools import resamples_of
from analysis.methods.study.replication import CONCLUSION_ALPHAS, p_between, score_of, shared_criteria
from analysis.results.agreement_figures import draw_criteria, draw_scatter
from analysis.results.compare_conclusions import conclusions_sections
from analysis.results.sections import Cell, Column, Figure, Output, Range, Section, Table
from analysis.results.words import number
from analysis.stats.correlation import (
    FEWEST,
    Correlation,
    correlate,
    correlate_resamples,
    correlation_bounds,
    share_same_conclusions,
)
from analysis.stats.ratings import or_nan, or_none
from analysis.stats.reliability import cv_star
from evalsite.lib.errors import DomainError
from evalsite.lib.words import counted

Report = Mapping[str, Any]
OVERALL = "overall"
_KINDS = {"z": "z", "raw": "raw means"}
_COEFFICIENTS = {"pearson": "r", "spearman": "rho", "kendall": "tau"}
_SYMBOLS = {"pearson": "Pearson's r", "spearman": "Spearman's ρ", "kendall": "Kendall's τ"}
_UNKNOWN = Correlation(np.nan, np.nan, np.nan)


@dataclass(frozen=True)
class SharedSystem:
    """A system that both results score: score and rank in both, among these systems. Scores of studies are z.

    `difference` is the second score less the first, with its 95 % interval if those of both are known.
    """

    name: str
    first_score: float
    second_score: float
    first_rank: int
    second_rank: int
    difference: float
    low: float | None
    high: float | None

    @property
    def ranks(self) -> tuple[int, int]:
        """Its rank in both results."""
        return self.first_rank, self.second_rank


@dataclass(frozen=True)
class Agreement:
    """Two results: systems as the first ranks them, criteria of both, shares of equal conclusions, systems of one."""

    systems: list[SharedSystem]
    criteria: list[str]
    same_conclusions: dict[str, float]
    only_first: list[str]
    only_second: list[str]

    @property
    def names(self) -> list[str]:
        """The systems that both results score, in the order of the first."""
        return [system.name for system in self.systems]

    @property
    def n_moved(self) -> int:
        """How many systems have another rank."""
        return sum(system.first_rank != system.second_rank for system in self.systems)


def compare_results(first: Report, second: Report) -> Agreement:
    """Return how far two reports agree; raise DomainError `few_systems` if they share fewer than three."""
    z_first, z_second = ({row["system"]: row["z"] for row in each["summary"]["systems"]} for each in (first, second))
    shared = refuse_few(z_first, z_second)
    rank_first, rank_second = (_ranks(shared, z) for z in (z_first, z_second))
    p_first, p_second = (p_between(shared, each["summary"]["significance"]) for each in (first, second))
    same = {
        f"{alpha:g}": share_same_conclusions(p_first, p_second, range(len(shared)), alpha)
        for alpha in CONCLUSION_ALPHAS
    }
    systems = [
        SharedSystem(
            *(name, z_first[name], z_second[name], rank_first[name], rank_second[name]),
            *difference_of(
                (z_first[name], z_second[name]),
                [each.get("intervals", {}).get(name, (None, None)) for each in (first, second)],
            ),
        )
        for name in shared
    ]
    criteria = shared_criteria(first, second)
    return Agreement(
        systems,
        criteria if len(criteria) > 1 else [],
        {alpha: share for alpha, share in same.items() if not np.isnan(share)},
        [name for name in z_first if name not in shared],
        [name for name in z_second if name not in shared],
    )


def refuse_few(first: Mapping[str, float | None], second: Mapping[str, float | None]) -> list[str]:
    """Return the systems with a score in both, as the first ranks them; raise DomainError `few_systems` if few."""
    shared = [name for name, score in first.items() if score is not None and second.get(name) is not None]
    if len(shared) < FEWEST:
        raise DomainError("few_systems", _refusal(shared, first, second))
    return shared


def _refusal(shared: list[str], first: Mapping[str, Any], second: Mapping[str, Any]) -> str:
    has = f"only {counted(len(shared), 'system')}" if shared else "no system"
    return (
        f"These two results share {has} with a score; at least {FEWEST} are needed. Systems are matched by "
        f"their names. The first result has {_some(first)}; the second has {_some(second)}."
    )


def _some(names: Mapping[str, Any]) -> str:
    listed = [f"“{name}”" for name in list(names)[:5]]
    return (", ".join(listed) + (" …" if len(names) > len(listed) else "")) or "no system"


def _ranks(names: list[str], z: Mapping[str, float]) -> dict[str, int]:
    """Return ranks among these systems, best first; equal scores share the better rank."""
    return {name: 1 + sum(z[other] > z[name] for other in names) for name in names}


def difference_of(
    scores: Sequence[float], bounds: Sequence[Sequence[float | None]]
) -> tuple[float, float | None, float | None]:
    """Return the second score less the first, with its 95 % interval, from those of both as if these were normal."""
    difference = scores[1] - scores[0]
    halves = [(high - low) / 2 for low, high in bounds if low is not None and high is not None]
    if len(halves) < len(bounds):
        return difference, None, None
    half = float(np.sqrt(sum(each**2 for each in halves)))
    return difference, difference - half, difference + half


# --- Sections


def comparison_sections(
    first: Report, second: Report, found: Agreement, *, is_independent: bool = True
) -> list[Section]:
    """Return what two results have in common: scatter and correlations, systems, conclusions, α, CV*, workers.

    Results that hold the same ratings are not independent: then nothing says what other workers would change.
    """
    return [
        _agreement_section(first, second, found, is_independent=is_independent),
        _systems_section(found),
        *conclusions_sections(first, second, found.names, found.criteria, found.same_conclusions),
        *_alpha_section(first, second, found),
        reproducibility_section([first, second], found.names, found.criteria),
        *_workers_section(first, second, found),
    ]


def _scores(report: Report, names: Sequence[str], criterion: str | None, kind: str) -> list[float | None]:
    rows = {row["system"]: row for row in report["summary"]["systems"]}
    return [score_of(rows[name], criterion, kind) for name in names]


def _agreement_section(first: Report, second: Report, found: Agreement, *, is_independent: bool) -> Section:
    written: list[list[Cell]] = []
    shown: list[list[Cell]] = []
    panels = {}
    by_workers = {
        criterion: _bounds_by_workers(first, second, found.names, criterion) if is_independent else None
        for criterion in (None, *found.criteria)
    }
    has_workers = any(by_workers.values())
    for kind, words in _KINDS.items():
        for criterion in (None, *found.criteria):
            scores = [_scores(each, found.names, criterion, kind) for each in (first, second)]
            correlation = correlate(or_nan(scores[0]), or_nan(scores[1]))
            bounds = correlation_bounds(correlation, len(found.names))
            of_workers = by_workers[criterion] if kind == "z" else None
            cells = [
                (
                    or_none(getattr(correlation, key)),
                    Range(*map(or_none, getattr(bounds, key))),
                    Range(*(or_none(getattr(end, key)) for end in of_workers or (_UNKNOWN, _UNKNOWN))),
                )
                for key in _COEFFICIENTS
            ]
            head = [criterion or OVERALL, words]
            of_page = [cell for each in cells for cell in each[: 3 if has_workers else 2]]
            written.append([*head, len(found.names), *_apart(of_page)])
            shown.append([*head, *of_page])
            if kind == "z":
                panels[criterion or OVERALL] = (scores[0], scores[1], cells[0][0])
    ends = ["", " low", " high", *([" low by workers", " high by workers"] if has_workers else [])]
    columns = [Column("criterion"), Column("scores"), Column("systems")]
    columns += [Column(f"{name}{end}") for name in _COEFFICIENTS.values() for end in ends]
    on_page = [Column("Criterion"), Column("Scores")]
    for name in _SYMBOLS.values():
        on_page += [Column(name), Column("95 %, systems", 2, hint="by Fisher's z: other systems, the same workers")]
        on_page += [Column("95 %, workers", 2, hint="by resampled workers, the same systems")] if has_workers else []
    caption = (
        f"Correlations of the scores of {len(found.names)} systems in two results, with 95 % intervals by Fisher's z "
        "over systems: where r of other systems would lie."
    )
    if has_workers:
        caption += " Intervals by workers, for z: bootstrap of the workers of both results, of these systems."
    tables = [
        Table("comparison", "Agreement of two results", caption, columns, written, output=Output.FILES),
        Table("comparison", "Agreement of two results", caption, on_page, shown, output=Output.PAGE),
    ]
    overall = panels[OVERALL]
    figures = [
        Figure(
            "comparison-scatter",
            "Systems in two results",
            partial(draw_scatter, found.names, overall[0], overall[1]),
            "Scatter plot of the mean z of each system in both results; the table has the numbers.",
            "Mean z: first result to the right, second upwards. On the line both are the same.",
        )
    ]
    if found.criteria:
        figures.append(
            Figure(
                "comparison-criteria",
                "Systems in two results, by criterion",
                partial(draw_criteria, panels),
                "Scatter plots of the mean z of each system in both results, one a criterion.",
                "Mean z by criterion, and Pearson's r.",
            )
        )
    return Section("agreement", "Agreement", agreement_words(found, overall[2], "mean z"), tables, figures)


def _apart(cells: Sequence[Cell]) -> list[Cell]:
    """Return cells with both ends of a range in cells of their own."""
    return [each for cell in cells for each in (cell if isinstance(cell, Range) else [cell])]


def _bounds_by_workers(
    first: Report, second: Report, names: Sequence[str], criterion: str | None
) -> tuple[Correlation, Correlation] | None:
    """Return the ends of intervals by resampled workers; None if one of the reports does not have them."""
    draws = [resamples_of(each, names, criterion) for each in (first, second)]
    return None if draws[0] is None or draws[1] is None else correlate_resamples(draws[0], draws[1])


def agreement_words(found: Agreement, r: float | None, of: str) -> str:
    """Return Pearson's r of two results, of what scores are called, and how many systems moved, in a sentence."""
    correlation = "Pearson’s r is not defined" if r is None else f"Pearson’s r of {of} is {number(r)}"
    moved = "no system has another rank" if not found.n_moved else f"{counted(found.n_moved, 'system')} moved in rank"
    return f"{correlation} over {len(found.systems)} systems; {moved}."


def systems_table(found: Agreement, score: str, caption: str) -> Table:
    """Return the systems of two results with what their scores are called, differences and ranks."""
    columns = [Column("system"), Column(f"{score} first"), Column(f"{score} second"), Column("difference")]
    columns += [Column("low"), Column("high"), Column("rank first"), Column("rank second")]
    rows: list[list[Cell]] = [
        [each.name, each.first_score, each.second_score, each.difference, each.low, each.high, *each.ranks]
        for each in found.systems
    ]
    return Table("comparison-systems", "Systems of two results", caption, columns, rows, output=_EVERYWHERE)


def _systems_section(found: Agreement) -> Section:
    n = len(found.systems)
    apart = [each.name for each in found.systems if each.low is not None and (each.low > 0 or (each.high or 0) < 0)]
    said = ""
    if all(each.low is not None for each in found.systems):
        said = "No system has another z, as far as the intervals tell."
        if apart:
            said = f"{counted(len(apart), 'system')} of {n} differ in z by their intervals: {', '.join(apart)}."
    caption = (
        f"Mean z and rank of the {n} systems that both results score; the difference is second less first, "
        "with a 95 % interval from the bootstrap intervals of both."
    )
    return Section("systems", "System by system", said, [systems_table(found, "z", caption)])


_EVERYWHERE = Output.FILES | Output.PAGE


def _alpha_section(first: Report, second: Report, found: Agreement) -> list[Section]:
    """Return r of the two results at each α of the worker test, if both results have it."""
    parts = [each.get("sensitivity", {}) for each in (first, second)]
    if not all(part.get("alpha") for part in parts):
        return []
    z = [dict(zip(part["order"], part["alpha"]["z"], strict=True)) for part in parts]
    rows: list[list[Cell]] = []
    for k, alpha in enumerate(parts[0]["alpha"]["alphas"]):
        scores = [or_nan(of[name][k] for name in found.names) for of in z]
        values = [or_none(value) for value in asdict(correlate(scores[0], scores[1])).values()]
        rows.append([f"{alpha:.2f}", *(part["alpha"]["n_workers"][k] for part in parts), *values])
    known = [row[3] for row in rows if isinstance(row[3], float)]
    said = ""
    if known:
        said = f"Pearson's r lies between {min(known):.3f} and {max(known):.3f} whichever α workers are kept by."
    columns = [Column("α"), Column("workers, first"), Column("workers, second"), *map(Column, _COEFFICIENTS.values())]
    caption = "Correlations of mean z where workers of both results count whose p lies below α."
    table = Table("comparison-alpha", "Agreement at each α", caption, columns, rows, output=_EVERYWHERE)
    return [Section("alpha", "Another α of the worker test", said, [table])]


def reproducibility_section(reports: Sequence[Report], names: Sequence[str], criteria: Sequence[str]) -> Section:
    """Return CV* of each system's raw means over the results, overall and by criterion."""
    rows: list[list[Cell]] = []
    for name in names:
        scores = [[_scores(each, [name], criterion, "raw")[0] for each in reports] for criterion in (None, *criteria)]
        rows.append([name, *(None if None in values else or_none(cv_star(or_nan(values))) for values in scores)])
    overall = [float(row[1]) for row in rows if isinstance(row[1], float)]
    said = ""
    if overall:
        said = (
            f"CV* of the raw means over {len(reports)} results is {np.median(overall):.1f} % for the median system "
            f"({min(overall):.1f} % to {max(overall):.1f} %); 0 would be the same scores each time."
        )
    columns = [Column("system"), Column(f"CV* {OVERALL}", 2), *(Column(name, 2) for name in criteria)]
    caption = "Coefficient of variation of raw means (0 to 100), in per cent, corrected for few measurements (CV*)."
    table = Table("reproducibility", "CV* of each system", caption, columns, rows, output=_EVERYWHERE)
    return Section("reproducibility", "How well scores are reproduced", said, [table])


def _workers_section(first: Report, second: Report, found: Agreement) -> list[Section]:
    """Return r of the two results beside r of random halves of each one's own workers (A/A), if that is known."""
    halves = [each.get("reliability", {}).get("halves", {}) for each in (first, second)]
    known = [
        (title, each) for title, each in zip(("first", "second"), halves, strict=True) if each.get("r") is not None
    ]
    if not known:
        return []
    z = [or_nan(_scores(each, found.names, None, "z")) for each in (first, second)]
    r = or_none(correlate(z[0], z[1]).pearson)
    rows: list[list[Cell]] = [["first and second result", r, None, None, None, None]]
    rows += [
        [f"halves of the {title}", each["r"], *each["range"], each["whole"], each["n_workers"]] for title, each in known
    ]
    title, each = known[0]
    said = ""
    if r is not None and each["whole"] is not None:
        place = "no less than" if r >= each["range"][0] else "less than"
        said = (
            f"The two results correlate by {r:.3f}: {place} random halves of the workers of the {title} result do "
            f"({each['range'][0]:.3f} to {each['range'][1]:.3f}). All of its workers against as many others of the "
            f"same kind would be expected to correlate by {each['whole']:.3f}."
        )
    columns = [Column("between"), Column("r"), Column("low"), Column("high"), Column("expected of all workers")]
    columns += [Column("workers")]
    caption = (
        "Pearson's r of system scores between two pools of workers, beside that of random halves of one pool: median, "
        "95 % of 500 divisions, and by Spearman–Brown for all workers."
    )
    table = Table("comparison-workers", "Two pools of workers", caption, columns, rows, output=_EVERYWHERE)
    return [Section("pools", "Do other workers rank otherwise?", said, [table])]
