"""How far two results of one response method agree that is not direct assessment, as sections. Pure.

Their scores are on the scale of the method, and their reports test every two systems.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from analysis.methods.study.replication import CONCLUSION_ALPHAS, p_of_pairs, plain_score_of, shared_criteria
from analysis.results.agreement_figures import draw_criteria, draw_scatter
from analysis.results.compare import (
    OVERALL,
    Agreement,
    SharedSystem,
    agreement_words,
    difference_of,
    refuse_few,
    systems_table,
)
from analysis.results.compare_conclusions import conclusions_section
from analysis.results.sections import Cell, Column, Figure, Output, Section, Table
from analysis.stats.correlation import correlate, correlation_bounds, share_same_conclusions
from analysis.stats.ratings import or_nan, or_none

Report = Mapping[str, Any]
_COEFFICIENTS = {"pearson": "r", "spearman": "rho", "kendall": "tau"}
_SHOWN = Output.FILES | Output.PAGE
_LABELS = ("score, first result", "score, second result")


def compare_by_scores(first: Report, second: Report) -> Agreement:
    """Return how far two reports of a method agree; raise DomainError `few_systems` if they share fewer than three."""
    rows = [{row["system"]: row for row in each["summary"]["systems"]} for each in (first, second)]
    scores = [{name: plain_score_of(row, None) for name, row in of.items()} for of in rows]
    shared = refuse_few(*scores)
    sign = 1 if first["summary"]["higher_is_better"] else -1
    ranks = [_ranks({name: sign * (of[name] or 0.0) for name in shared}) for of in scores]
    p = [p_of_pairs(shared, each) for each in (first, second)]
    same = {a: share_same_conclusions(p[0], p[1], range(len(shared)), a) for a in CONCLUSION_ALPHAS}
    systems = []
    for name in shared:
        both = [of[name] or 0.0 for of in scores]
        difference, low, high = difference_of(both, [of[name]["interval"] or (None, None) for of in rows])
        systems.append(SharedSystem(name, both[0], both[1], ranks[0][name], ranks[1][name], difference, low, high))
    criteria = shared_criteria(first, second)
    return Agreement(
        systems,
        criteria if len(criteria) > 1 else [],
        {f"{a:g}": share for a, share in same.items() if or_none(share) is not None},
        *([name for name in of if name not in shared] for of in scores),
    )


def _ranks(scores: Mapping[str, float]) -> dict[str, int]:
    """Return ranks, the highest score first; equal scores share the better rank."""
    return {name: 1 + sum(other > score for other in scores.values()) for name, score in scores.items()}


def score_sections(first: Report, second: Report, found: Agreement) -> list[Section]:
    """Return correlations with scatter plots, the systems, and what both results conclude of each pair."""
    p = [p_of_pairs(found.names, each) for each in (first, second)]
    caption = (
        "Pairs of systems by what each result concludes, at one-sided p before correction: half of the p of its table "
        "of pairs. Same conclusion: whether the system that the first result ranks above the other beats it."
    )
    return [
        _agreement_section(first, second, found),
        _systems_section(found),
        conclusions_section(found.names, p, found.same_conclusions, caption),
    ]


def _agreement_section(first: Report, second: Report, found: Agreement) -> Section:
    rows: list[list[Cell]] = []
    panels = {}
    for criterion in (None, *found.criteria):
        a, b = (_scores(each, found.names, criterion) for each in (first, second))
        correlation = correlate(or_nan(a), or_nan(b))
        bounds = correlation_bounds(correlation, len(found.names))
        cells = [
            or_none(value) for key in _COEFFICIENTS for value in (getattr(correlation, key), *getattr(bounds, key))
        ]
        rows.append([criterion or OVERALL, len(found.names), *cells])
        panels[criterion or OVERALL] = a, b, or_none(correlation.pearson)
    columns = [Column("criterion"), Column("systems")]
    columns += [Column(f"{name}{end}") for name in _COEFFICIENTS.values() for end in ("", " low", " high")]
    caption = (
        f"Correlations of the scores of {len(found.names)} systems in two results, with 95 % intervals by Fisher's z "
        "over systems: where r of other systems would lie."
    )
    table = Table("comparison", "Agreement of two results", caption, columns, rows, output=_SHOWN)
    overall = panels[OVERALL]
    figures = [
        Figure(
            "comparison-scatter",
            "Systems in two results",
            partial(draw_scatter, found.names, overall[0], overall[1], labels=_LABELS),
            "Scatter plot of the score of each system in both results; the table has the numbers.",
            "Scores: first result to the right, second upwards. On the line both are the same.",
        )
    ]
    if found.criteria:
        figures.append(
            Figure(
                "comparison-criteria",
                "Systems in two results, by criterion",
                partial(draw_criteria, panels, labels=_LABELS),
                "Scatter plots of the score of each system in both results, one a criterion.",
                "Scores by criterion, and Pearson's r.",
            )
        )
    return Section("agreement", "Agreement", agreement_words(found, overall[2], "the scores"), [table], figures)


def _scores(report: Report, names: Sequence[str], criterion: str | None) -> list[float | None]:
    rows = {row["system"]: row for row in report["summary"]["systems"]}
    return [plain_score_of(rows[name], criterion) for name in names]


def _systems_section(found: Agreement) -> Section:
    caption = (
        f"Score and rank of the {len(found.systems)} systems that both results score; the difference is second less "
        "first, with a 95 % interval from the intervals of both, as if results were independent."
    )
    return Section("systems", "System by system", "", [systems_table(found, "score", caption)])
