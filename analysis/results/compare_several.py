"""Several results over time: each system's z by date, correlations of every two results, CV*. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.methods.study.replication import plain_score_of, score_of, shared_criteria
from analysis.results.compare import Report, reproducibility_section
from analysis.results.curves import MOST_CURVES, draw_curves
from analysis.results.sections import Cell, Column, Figure, Output, Section, Table, Theme
from analysis.stats.correlation import FEWEST, correlate
from analysis.stats.ratings import or_nan, or_none

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

_SHOWN = Output.FILES | Output.PAGE
_FEWEST_RESULTS = 3
_UNKNOWN = (None, None)


@dataclass(frozen=True)
class DatedResult:
    """A result: its report, what it is called, and when its ratings were taken."""

    title: str
    at: datetime
    report: Report


@dataclass(frozen=True)
class _Scores:
    """What is shown over time: `what` it is called (`all_of_it`: in all), and of each result scores and intervals."""

    what: str
    title: str
    all_of_it: str
    intervals_are: str
    values: list[dict[str, float | None]]
    intervals: list[dict[str, Sequence[float | None]]]

    @property
    def names(self) -> list[str]:
        """The systems of all results, each once."""
        return list(dict.fromkeys(name for of in self.values for name in of))


def several_by_scores(results: Sequence[DatedResult]) -> list[Section]:
    """Return the same of results of another method, without CV*: its scores need not begin at 0."""
    if len(results) < _FEWEST_RESULTS:
        return []
    ordered = sorted(results, key=lambda each: each.at)
    rows = [{row["system"]: row for row in each.report["summary"]["systems"]} for each in ordered]
    scores = _Scores(
        "score",
        "Scores",
        "the scores",
        "Scores with 95 % intervals",
        [{name: plain_score_of(row, None) for name, row in of.items()} for of in rows],
        [{name: row["interval"] or _UNKNOWN for name, row in of.items()} for of in rows],
    )
    return [_over_time(ordered, scores), _pairwise(ordered, scores)]


def several_sections(results: Sequence[DatedResult]) -> list[Section]:
    """Return how the systems fare over several results, by the date of their ratings; none of fewer than three."""
    if len(results) < _FEWEST_RESULTS:
        return []
    ordered = sorted(results, key=lambda each: each.at)
    summaries = [each.report["summary"] for each in ordered]
    z = _Scores(
        "z",
        "z",
        "mean z",
        "Mean z with 95 % bootstrap intervals",
        [{row["system"]: score_of(row, None) for row in summary["systems"]} for summary in summaries],
        [each.report.get("intervals", {}) for each in ordered],
    )
    everywhere = [name for name in z.names if all(each.get(name) is not None for each in z.values)]
    criteria = shared_criteria(*(result.report for result in results))
    sections = [_over_time(ordered, z), _pairwise(ordered, z)]
    if everywhere:
        reports = [each.report for each in ordered]
        again = reproducibility_section(reports, everywhere, criteria if len(criteria) > 1 else [])
        tables = [_renamed(table) for table in again.tables]
        sections.append(Section("reproducibility-several", f"{again.title}, all results", again.finding, tables))
    return sections


def _renamed(table: Table) -> Table:
    return Table("reproducibility-several", *(table.title, table.caption, table.columns, table.rows), output=_SHOWN)


def _over_time(results: Sequence[DatedResult], scores: _Scores) -> Section:
    """Return each system's score with its interval in each result, oldest first."""
    names, what = scores.names, scores.what
    intervals = {name: [tuple(of.get(name, _UNKNOWN)) for of in scores.intervals] for name in names}
    curves = {name: [each.get(name) for each in scores.values] for name in names}
    rows: list[list[Cell]] = [
        [name, *(cell for value, ends in zip(curves[name], intervals[name], strict=True) for cell in (value, *ends))]
        for name in names
    ]
    columns = [Column("system")]
    columns += [Column(f"{k}{end}") for k in range(1, len(results) + 1) for end in (f": {what}", ": low", ": high")]
    title = f"{scores.title} over time"
    written = Table("over-time", title, _numbered(results), columns, rows, output=Output.FILES)
    shown = Table(
        "over-time",
        title,
        _numbered(results),
        [Column("system"), *(Column(f"{what}, {k}") for k in range(1, len(results) + 1))],
        [[name, *curves[name]] for name in names],
        output=Output.PAGE,
    )
    figure = Figure(
        "over-time",
        title,
        partial(_draw, what, [_tick(k, each) for k, each in enumerate(results, start=1)], curves, intervals),
        f"Curves of each system's {what} over the results, by date, with 95 % intervals.",
        f"{scores.intervals_are}, results by the date of their ratings."
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
        said = f"Over {len(results)} results the {what} of {most} changes most, by {spans[most]:.3f}."
    return Section("over-time", "Over time", said, [written, shown], [figure])


def _tick(k: int, result: DatedResult) -> str:
    return f"{k}: {result.at:%Y-%m-%d}"


def _numbered(results: Sequence[DatedResult]) -> str:
    listed = "; ".join(f"{_tick(k, each)} {each.title}" for k, each in enumerate(results, start=1))
    return f"Results by the date of their ratings: {listed}."


def _draw(
    what: str, ticks: Sequence[str], curves: dict[str, Any], intervals: dict[str, Any], theme: Theme
) -> "Drawing":
    x = [float(k) for k in range(len(ticks))]
    return draw_curves(theme, x, curves, xlabel="", ylabel=what, intervals=intervals, ticks=ticks)


def _pairwise(results: Sequence[DatedResult], scores: _Scores) -> Section:
    """Return Pearson's r of every two results above the diagonal, the number of systems that both score below it."""
    n, z = len(results), scores.values
    matrix: list[list[Cell]] = [[None] * n for _ in range(n)]
    known: list[tuple[float, int, int]] = []
    for i in range(n):
        for j in range(i + 1, n):
            shared = [name for name, value in z[i].items() if value is not None and z[j].get(name) is not None]
            r = or_none(correlate(or_nan(z[i][name] for name in shared), or_nan(z[j][name] for name in shared)).pearson)
            matrix[i][j], matrix[j][i] = r, len(shared)
            known += [(r, i, j)] if r is not None else []
    said = f"No two results share {FEWEST} systems with different scores, so r is not defined."
    if known:
        least, i, j = min(known)
        middle = float(np.median([r for r, _, _ in known]))
        said = f"r of two results is {middle:.3f} in the median and at least {least:.3f} (results {i + 1} and {j + 1})."
    rows = [[_tick(k + 1, each), *matrix[k]] for k, each in enumerate(results)]
    columns = [Column("result"), *(Column(str(k)) for k in range(1, n + 1))]
    of_all = f"Pearson's r of {scores.all_of_it} of every two results"
    caption = f"{of_all} above the diagonal, the number of systems of both below it."
    return Section(
        "pairwise",
        "Every two results",
        said,
        [Table("pairwise", "r of every two results", caption, columns, rows, output=_SHOWN)],
    )
