"""How far two results agree on the systems that both rate (METHOD §6), as sections for pages and files. Pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from analysis.methods.study.pools import resamples_of
from analysis.results.agreement_figures import draw_criteria, draw_scatter
from analysis.results.compare_conclusions import conclusions_sections
from analysis.results.replication import same_conclusions
from analysis.results.result import RAW, Result, ScoreWords, shared_criteria
from analysis.results.sections import Cell, Column, Figure, Output, Picture, Range, Section, Table
from analysis.results.words import number
from analysis.stats.correlation import (
    FEWEST,
    Correlation,
    correlate,
    correlate_resamples,
    correlation_bounds,
)
from analysis.stats.ratings import Floats, or_nan, or_none
from analysis.stats.reliability import cv_star
from evalsite.lib.errors import DomainError
from evalsite.lib.words import counted

OVERALL = "overall"
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


def compare_results(first: Result, second: Result) -> Agreement:
    """Return how far two results agree; raise DomainError `few_systems` if they share fewer than three."""
    results = first, second
    scores = [result.scores for result in results]
    shared = _refuse_few(*scores)
    of_shared = [or_nan(of[name] for name in shared) for of in scores]
    ranks = [_ranks(result.sign * of) for result, of in zip(results, of_shared, strict=True)]
    systems = [
        SharedSystem(
            *(name, of_shared[0][k], of_shared[1][k], ranks[0][k], ranks[1][k]),
            *_difference((of_shared[0][k], of_shared[1][k]), [result.interval(name) for result in results]),
        )
        for k, name in enumerate(shared)
    ]
    criteria = shared_criteria(*results)
    return Agreement(
        systems,
        criteria if len(criteria) > 1 else [],
        {alpha: share for alpha, share in same_conclusions(*results, shared).items() if not np.isnan(share)},
        *([name for name in of if name not in shared] for of in scores),
    )


def _refuse_few(first: Mapping[str, float | None], second: Mapping[str, float | None]) -> list[str]:
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


def _ranks(scores: Floats) -> list[int]:
    """Return ranks among these systems, the highest score first; equal scores share the better rank."""
    return [1 + int(np.count_nonzero(scores > score)) for score in scores]


def _difference(
    scores: Sequence[float], bounds: Sequence[Sequence[float | None]]
) -> tuple[float, float | None, float | None]:
    """Return the second score less the first, with its 95 % interval, from those of both as if these were normal."""
    difference = float(scores[1] - scores[0])
    halves = [(high - low) / 2 for low, high in bounds if low is not None and high is not None]
    if len(halves) < len(bounds):
        return difference, None, None
    half = math.hypot(*halves)
    return difference, difference - half, difference + half


# --- Sections


def comparison_sections(
    first: Result, second: Result, agreement: Agreement, *, is_independent: bool = True
) -> list[Section]:
    """Return what two results have in common: scatter and correlations, systems, conclusions, α, CV*, workers.

    Results that hold the same ratings are not independent: then nothing says what other workers would change.
    """
    results = first, second
    return [
        _agreement_section(results, agreement, is_independent=is_independent),
        _systems_section(agreement, results[0].words),
        *conclusions_sections(results, agreement.names, agreement.criteria, agreement.same_conclusions),
        *_alpha_section(results, agreement),
        *reproducibility_sections(results, agreement.names, agreement.criteria),
        *_workers_section(results, agreement),
    ]


def _agreement_section(results: Sequence[Result], agreement: Agreement, *, is_independent: bool) -> Section:
    names, (ranked_by, *_), words = agreement.names, results[0].kinds, results[0].words
    written: list[list[Cell]] = []
    shown: list[list[Cell]] = []
    panels = {}
    by_workers = {
        criterion: _bounds_by_workers(results, names, criterion) if is_independent else None
        for criterion in (None, *agreement.criteria)
    }
    has_workers = any(by_workers.values())
    for kind, title in results[0].kinds.items():
        for criterion in (None, *agreement.criteria):
            scores = [result.scores_of(names, criterion, kind) for result in results]
            correlation = correlate(or_nan(scores[0]), or_nan(scores[1]))
            bounds = correlation_bounds(correlation, len(names))
            of_workers = by_workers[criterion] if kind == ranked_by else None
            cells = [
                (
                    or_none(getattr(correlation, key)),
                    Range(*map(or_none, getattr(bounds, key))),
                    Range(*(or_none(getattr(end, key)) for end in of_workers or (_UNKNOWN, _UNKNOWN))),
                )
                for key in _COEFFICIENTS
            ]
            head = [criterion or OVERALL, title]
            of_page = [cell for each in cells for cell in each[: 3 if has_workers else 2]]
            written.append([*head, len(names), *_apart(of_page)])
            shown.append([*head, *of_page])
            if kind == ranked_by:
                panels[criterion or OVERALL] = (scores[0], scores[1], cells[0][0])
    overall = panels[OVERALL]
    tables = _agreement_tables(written, shown, len(names), has_workers=has_workers)
    figures = _agreement_figures(panels, names, words)
    return Section("agreement", "Agreement", _agreement_words(agreement, overall[2], words.every), tables, figures)


def _agreement_tables(
    written: list[list[Cell]], shown: list[list[Cell]], n_systems: int, *, has_workers: bool
) -> list[Table]:
    ends = ["", " low", " high", *([" low by workers", " high by workers"] if has_workers else [])]
    columns = [Column("criterion"), Column("scores"), Column("systems")]
    columns += [Column(f"{name}{end}") for name in _COEFFICIENTS.values() for end in ends]
    on_page = [Column("Criterion"), Column("Scores")]
    for name in _SYMBOLS.values():
        on_page += [Column(name), Column("95 %, systems", 2, hint="by Fisher's z: other systems, the same workers")]
        on_page += [Column("95 %, workers", 2, hint="by resampled workers, the same systems")] if has_workers else []
    caption = (
        f"Correlations of the scores of {n_systems} systems in two results, with 95 % intervals by Fisher's z "
        "over systems: where r of other systems would lie."
    )
    if has_workers:
        caption += " Intervals by workers, for z: bootstrap of the workers of both results, of these systems."
    title = "Agreement of two results"
    return [
        Table("comparison", title, caption, columns, written, output=Output.FILES),
        Table("comparison", title, caption, on_page, shown, output=Output.PAGE),
    ]


def _agreement_figures(panels: Mapping[str, Any], names: Sequence[str], words: ScoreWords) -> list[Figure]:
    """Return scatter plots of the scores on each criterion; `panels`: scores of both results, and r."""
    labels = f"{words.column}, first result", f"{words.column}, second result"
    first, second, _ = panels[OVERALL]
    figures = [
        Figure(
            "comparison-scatter",
            "Systems in two results",
            Picture.of(draw_scatter, names, first, second, labels=labels),
            f"Scatter plot of the {words.one} of each system in both results; the table has the numbers.",
            f"{words.one.capitalize()}: first result to the right, second upwards. On the line both are the same.",
        )
    ]
    if len(panels) > 1:
        figures.append(
            Figure(
                "comparison-criteria",
                "Systems in two results, by criterion",
                Picture.of(draw_criteria, panels, labels=labels),
                f"Scatter plots of the {words.one} of each system in both results, one a criterion.",
                f"{words.one.capitalize()} by criterion, and Pearson's r.",
            )
        )
    return figures


def _apart(cells: Sequence[Cell]) -> list[Cell]:
    """Return cells with both ends of a range in cells of their own."""
    return [each for cell in cells for each in (cell if isinstance(cell, Range) else [cell])]


def _bounds_by_workers(
    results: Sequence[Result], names: Sequence[str], criterion: str | None
) -> tuple[Correlation, Correlation] | None:
    """Return the ends of intervals by resampled workers; None if one of the reports does not have them."""
    draws = [resamples_of(result.resampled, names, criterion) for result in results]
    return None if draws[0] is None or draws[1] is None else correlate_resamples(draws[0], draws[1])


def _agreement_words(found: Agreement, r: float | None, of: str) -> str:
    """Return Pearson's r of two results, of what scores are called, and how many systems moved, in a sentence."""
    correlation = "Pearson’s r is not defined" if r is None else f"Pearson’s r of {of} is {number(r)}"
    moved = "no system has another rank" if not found.n_moved else f"{counted(found.n_moved, 'system')} moved in rank"
    return f"{correlation} over {len(found.systems)} systems; {moved}."


def _systems_section(agreement: Agreement, words: ScoreWords) -> Section:
    """Return the systems of two results with their scores, differences and ranks."""
    systems, score = agreement.systems, words.column
    apart = [system.name for system in systems if system.low is not None and (system.low > 0 or (system.high or 0) < 0)]
    said = ""
    if all(system.low is not None for system in systems):
        said = f"No system has another {score}, as far as the intervals tell."
        if apart:
            said = f"{counted(len(apart), 'system')} of {len(systems)} differ in {score} by their intervals: "
            said += f"{', '.join(apart)}."
    caption = (
        f"{words.one.capitalize()} and rank of the {len(systems)} systems that both results score; the difference is "
        "second less first, with a 95 % interval from the intervals of both, as if results were independent."
    )
    columns = [Column("system"), Column(f"{score} first"), Column(f"{score} second"), Column("difference")]
    columns += [Column("low"), Column("high"), Column("rank first"), Column("rank second")]
    rows: list[list[Cell]] = [
        [
            *(system.name, system.first_score, system.second_score, system.difference, system.low, system.high),
            *system.ranks,
        ]
        for system in systems
    ]
    table = Table("comparison-systems", "Systems of two results", caption, columns, rows, output=Output.SHOWN)
    return Section("systems", "System by system", said, [table])


def _alpha_section(results: Sequence[Result], agreement: Agreement) -> list[Section]:
    """Return r of the two results at each α of the worker test, if both results have it."""
    known = [result.by_alpha for result in results]
    if None in known:
        return []
    first, second = (by_alpha for by_alpha in known if by_alpha)
    rows: list[list[Cell]] = []
    for k, alpha in enumerate(first.alphas):
        scores = [or_nan(by_alpha.scores[name][k] for name in agreement.names) for by_alpha in (first, second)]
        values = [or_none(value) for value in asdict(correlate(*scores)).values()]
        rows.append([f"{alpha:.2f}", first.n_workers[k], second.n_workers[k], *values])
    r = [row[3] for row in rows if isinstance(row[3], float)]
    said = f"Pearson's r lies between {min(r):.3f} and {max(r):.3f} whichever α workers are kept by." if r else ""
    columns = [Column("α"), Column("workers, first"), Column("workers, second"), *map(Column, _COEFFICIENTS.values())]
    caption = f"Correlations of {results[0].words.every} where workers of both results count whose p lies below α."
    table = Table("comparison-alpha", "Agreement at each α", caption, columns, rows, output=Output.SHOWN)
    return [Section("alpha", "Another α of the worker test", said, [table])]


def reproducibility_sections(results: Sequence[Result], names: Sequence[str], criteria: Sequence[str]) -> list[Section]:
    """Return CV* of each system's raw means over the results, overall and by criterion.

    None of scores that need not begin at 0, which CV* takes for granted.
    """
    if not all(RAW in result.kinds for result in results):
        return []
    rows: list[list[Cell]] = []
    for name in names:
        by_criterion = [[result.score(name, of, RAW) for result in results] for of in (None, *criteria)]
        rows.append([name, *(None if None in raw else or_none(cv_star(or_nan(raw))) for raw in by_criterion)])
    overall = [float(row[1]) for row in rows if isinstance(row[1], float)]
    said = ""
    if overall:
        said = (
            f"CV* of the raw means over {len(results)} results is {np.median(overall):.1f} % for the median system "
            f"({min(overall):.1f} % to {max(overall):.1f} %); 0 would be the same scores each time."
        )
    columns = [Column("system"), Column(f"CV* {OVERALL}", 2), *(Column(name, 2) for name in criteria)]
    caption = "Coefficient of variation of raw means (0 to 100), in per cent, corrected for few measurements (CV*)."
    table = Table("reproducibility", "CV* of each system", caption, columns, rows, output=Output.SHOWN)
    return [Section("reproducibility", "How well scores are reproduced", said, [table])]


def _workers_section(results: Sequence[Result], agreement: Agreement) -> list[Section]:
    """Return r of the two results beside r of random halves of each one's own workers (A/A), if that is known."""
    known = [
        (title, halves) for title, result in zip(("first", "second"), results, strict=True) if (halves := result.halves)
    ]
    if not known:
        return []
    r = or_none(correlate(*(or_nan(result.scores_of(agreement.names)) for result in results)).pearson)
    rows: list[list[Cell]] = [["first and second result", r, None, None, None, None]]
    for title, halves in known:
        numbers = [halves.r, *halves.range, halves.whole, halves.n_workers]
        rows.append([f"halves of the {title}", *numbers])
    title, halves = known[0]
    said = ""
    if r is not None and halves.whole is not None:
        low, high = halves.range
        alike = "no less than" if low is not None and r >= low else "less than"
        said = (
            f"The two results correlate by {r:.3f}: {alike} random halves of the "
            f"workers of the {title} result do ({low:.3f} to {high:.3f}). All of its workers against as many others of "
            f"the same kind would be expected to correlate by {halves.whole:.3f}."
        )
    columns = [Column("between"), Column("r"), Column("low"), Column("high"), Column("expected of all workers")]
    columns += [Column("workers")]
    caption = (
        "Pearson's r of system scores between two pools of workers, beside that of random halves of one pool: median, "
        "95 % of the divisions, and by Spearman–Brown for all workers."
    )
    table = Table("comparison-workers", "Two pools of workers", caption, columns, rows, output=Output.SHOWN)
    return [Section("pools", "Do other workers rank otherwise?", said, [table])]
