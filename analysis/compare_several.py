"""Several results over time: each system's z by date, correlations of every two results, CV*. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.compare import Report, reproducibility_section
from analysis.curves import MOST_CURVES, draw_curves
from analysis.methods.replication import score_of, shared_criteria
from analysis.sections import Cell, Column, Figure, Output, Section, Table, Theme
from analysis.stats.correlation import FEWEST, correlate
from analysis.stats.ratings import or_nan, or_none

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

_SHOWN = Output.FILES | Output.PAGE


@dataclass(frozen=True)
class DatedResult:
    """A result: its report, what it is called, and when its ratings were taken."""

    title: str
    at: datetime
    report: Report


def several_sections(results: Sequence[DatedResult]) -> list[Section]:
    """Return how the systems fare over several results, by the date of their ratings; none of fewer than three."""
    if len(results) < 3:
        return []
    ordered = sorted(results, key=lambda each: each.at)
    summaries = [each.report["summary"] for each in ordered]
    names = list(dict.fromkeys(row["system"] for summary in summaries for row in summary["systems"]))
    z = [{row["system"]: score_of(row, None) for row in summary["systems"]} for summary in summaries]
    everywhere = [name for name in names if all(each.get(name) is not None for each in z)]
    criteria = shared_criteria(*summaries)
    sections = [_over_time(ordered, names, z), _pairwise(ordered, z)]
    if everywhere:
        reports = [each.report for each in ordered]
        again = reproducibility_section(reports, everywhere, criteria if len(criteria) > 1 else [])
        tables = [_renamed(table) for table in again.tables]
        sections.append(Section("reproducibility-several", f"{again.title}, all results", again.finding, tables))
    return sections


def _renamed(table: Table) -> Table:
    return Table("reproducibility-several", *(table.title, table.caption, table.columns, table.rows), output=_SHOWN)


def _over_time(results: Sequence[DatedResult], names: Sequence[str], z: Sequence[dict[str, Any]]) -> Section:
    """Return each system's z with its interval in each result, oldest first."""
    intervals = {
        name: [tuple(each.report.get("intervals", {}).get(name, (None, None))) for each in results] for name in names
    }
    curves = {name: [each.get(name) for each in z] for name in names}
    rows: list[list[Cell]] = [
        [name, *(cell for value, ends in zip(curves[name], intervals[name], strict=True) for cell in (value, *ends))]
        for name in names
    ]
    columns = [Column("system")]
    columns += [Column(f"{k}{end}") for k in range(1, len(results) + 1) for end in (": z", ": low", ": high")]
    written = Table("over-time", "z over time", _numbered(results), columns, rows, output=Output.FILES)
    shown = Table(
        "over-time",
        "z over time",
        _numbered(results),
        [Column("system"), *(Column(f"z, {k}") for k in range(1, len(results) + 1))],
        [[name, *curves[name]] for name in names],
        output=Output.PAGE,
    )
    figure = Figure(
        "over-time",
        "z over time",
        partial(_draw, [_tick(k, each) for k, each in enumerate(results, start=1)], curves, intervals),
        "Curves of each system's z over the results, by date, with 95 % intervals.",
        "Mean z with 95 % bootstrap intervals, results by the date of their ratings."
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
        said = f"Over {len(results)} results the z of {most} changes most, by {spans[most]:.3f}."
    return Section("over-time", "Over time", said, [written, shown], [figure])


def _tick(k: int, result: DatedResult) -> str:
    return f"{k}: {result.at:%Y-%m-%d}"


def _numbered(results: Sequence[DatedResult]) -> str:
    listed = "; ".join(f"{_tick(k, each)} {each.title}" for k, each in enumerate(results, start=1))
    return f"Results by the date of their ratings: {listed}."


def _draw(ticks: Sequence[str], curves: dict[str, Any], intervals: dict[str, Any], theme: Theme) -> "Drawing":
    x = [float(k) for k in range(len(ticks))]
    return draw_curves(theme, x, curves, xlabel="", ylabel="z", intervals=intervals, ticks=ticks)


def _pairwise(results: Sequence[DatedResult], z: Sequence[dict[str, Any]]) -> Section:
    """Return Pearson's r of every two results above the diagonal, the number of systems that both score below it."""
    n = len(results)
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
    caption = "Pearson's r of mean z of every two results above the diagonal, the number of systems of both below it."
    return Section(
        "pairwise",
        "Every two results",
        said,
        [Table("pairwise", "r of every two results", caption, columns, rows, output=_SHOWN)],
    )
