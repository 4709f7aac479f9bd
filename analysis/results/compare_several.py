"""Several results over time: each system's z by date, correlations of every two results, CV*. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.results.compare import reproducibility_sections
from analysis.results.curves import MOST_CURVES, draw_curves
from analysis.results.result import Result, shared_criteria
from analysis.results.sections import Cell, Column, Figure, Output, Picture, Section, Table, Theme
from analysis.stats.correlation import FEWEST, correlate
from analysis.stats.ratings import or_nan, or_none

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

_FEWEST_RESULTS = 3
_UNKNOWN = (None, None)


@dataclass(frozen=True)
class DatedResult:
    """A result, what it is called, and when its ratings were taken."""

    title: str
    at: datetime
    result: Result


def several_sections(results: Sequence[DatedResult]) -> list[Section]:
    """Return how the systems fare over several results, by the date of their ratings; none of fewer than three."""
    if len(results) < _FEWEST_RESULTS:
        return []
    ordered = sorted(results, key=lambda result: result.at)
    scored = [dated.result for dated in ordered]
    ticks = [f"{k}: {result.at:%Y-%m-%d}" for k, result in enumerate(ordered, start=1)]
    titles = "; ".join(f"{tick} {result.title}" for tick, result in zip(ticks, ordered, strict=True))
    scores = [result.scores for result in scored]
    everywhere = [name for name in scores[0] if all(of.get(name) is not None for of in scores)]
    criteria = shared_criteria(*scored)
    again = reproducibility_sections(scored, everywhere, criteria if len(criteria) > 1 else []) if everywhere else []
    return [_over_time(scored, ticks, titles), _pairwise(scored, ticks), *map(_of_all_results, again)]


def _of_all_results(section: Section) -> Section:
    slug = "reproducibility-several"
    tables = [replace(table, name=slug, output=Output.SHOWN) for table in section.tables]
    return replace(section, slug=slug, title=f"{section.title}, all results", tables=tables)


def _over_time(results: Sequence[Result], ticks: Sequence[str], titles: str) -> Section:
    """Return each system's score with its interval in each result, oldest first; `titles`: what the results are."""
    words = results[0].words
    names = list(dict.fromkeys(name for result in results for name in result.systems))
    curves = {name: [result.score(name) if name in result.systems else None for result in results] for name in names}
    intervals = {
        name: [tuple(result.interval(name)) if name in result.systems else _UNKNOWN for result in results]
        for name in names
    }
    rows: list[list[Cell]] = [
        [name, *(cell for value, ends in zip(curves[name], intervals[name], strict=True) for cell in (value, *ends))]
        for name in names
    ]
    numbers = range(1, len(results) + 1)
    columns = [Column("system")]
    columns += [Column(f"{k}{end}") for k in numbers for end in (f": {words.column}", ": low", ": high")]
    on_page = [Column("system"), *(Column(f"{words.column}, {k}") for k in numbers)]
    title, caption = f"{words.one.capitalize()} over time", f"Results by the date of their ratings: {titles}."
    tables = [
        Table("over-time", title, caption, columns, rows, output=Output.FILES),
        Table("over-time", title, caption, on_page, [[name, *curves[name]] for name in names], output=Output.PAGE),
    ]
    figure = Figure(
        "over-time",
        title,
        Picture.of(draw_over_time, words.column, ticks, curves, intervals),
        f"Curves of each system's {words.one} over the results, by date, with 95 % intervals.",
        f"{words.one.capitalize()} with 95 % intervals, results by the date of their ratings."
        + (f" The first {MOST_CURVES} of {len(names)} systems." if len(names) > MOST_CURVES else ""),
    )
    spans = {
        name: max(known) - min(known)
        for name, values in curves.items()
        if len(known := [value for value in values if value is not None]) > 1
    }
    said = ""
    if spans:
        most = max(spans, key=lambda name: spans[name])
        said = f"Over {len(results)} results the {words.column} of {most} changes most, by {spans[most]:.3f}."
    return Section("over-time", "Over time", said, tables, [figure])


def draw_over_time(
    what: str, ticks: Sequence[str], curves: dict[str, Any], intervals: dict[str, Any], theme: Theme
) -> "Drawing":
    """Draw the curve of each system over results."""
    x = [float(k) for k in range(len(ticks))]
    return draw_curves(theme, x, curves, xlabel="", ylabel=what, intervals=intervals, ticks=ticks)


def _pairwise(results: Sequence[Result], ticks: Sequence[str]) -> Section:
    """Return Pearson's r of every two results above the diagonal, the number of systems that both score below it."""
    n, scores = len(results), [result.scores for result in results]
    matrix: list[list[Cell]] = [[None] * n for _ in range(n)]
    known: list[tuple[float, int, int]] = []
    for i, j in combinations(range(n), 2):
        shared = [name for name, score in scores[i].items() if score is not None and scores[j].get(name) is not None]
        r = or_none(correlate(*(or_nan(scores[k][name] for name in shared) for k in (i, j))).pearson)
        matrix[i][j], matrix[j][i] = r, len(shared)
        known += [(r, i, j)] if r is not None else []
    said = f"No two results share {FEWEST} systems with different scores, so r is not defined."
    if known:
        least, i, j = min(known)
        middle = float(np.median([r for r, _, _ in known]))
        said = f"r of two results is {middle:.3f} in the median and at least {least:.3f} (results {i + 1} and {j + 1})."
    rows = [[tick, *matrix[k]] for k, tick in enumerate(ticks)]
    columns = [Column("result"), *(Column(str(k)) for k in range(1, n + 1))]
    of_all = f"Pearson's r of {results[0].words.every} of every two results"
    caption = f"{of_all} above the diagonal, the number of systems of both below it."
    table = Table("pairwise", "r of every two results", caption, columns, rows, output=Output.SHOWN)
    return Section("pairwise", "Every two results", said, [table])
