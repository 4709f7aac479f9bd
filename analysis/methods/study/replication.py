"""How far a run agrees with the one that it replicates."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from analysis.results.sections import Cell, Column, Output, Section, Table
from analysis.results.stored import criteria_of, in_order
from analysis.stats.correlation import correlate, share_same_conclusions
from analysis.stats.ratings import Floats, or_nan, or_none

CONCLUSION_ALPHAS = (0.1, 0.05)
CORRELATIONS = ("pearson", "spearman", "kendall")
Report = Mapping[str, Any]
ScoreOf = Callable[[Mapping[str, Any], str | None], float | None]
"""The score of a system, a row of a summary, on a criterion; overall for None."""


def compare_runs(original: Report, replication: Report) -> dict[str, Any]:
    """Return how far a replication agrees with the original run, over the systems that both rate; of two reports.

    `systems` lists them as the original ranks them; correlations that are undefined are None.
    """
    reports = original, replication
    common = _common(original["summary"], replication["summary"])
    p = [p_between(common, report["summary"]["significance"]) for report in reports]
    return _agreement(reports, common, score_of, p)


def compare_scores(original: Report, replication: Report) -> dict[str, Any]:
    """Return the same of two reports of any other response method: of its scores, and of its tests of pairs."""
    reports = original, replication
    common = _common(original["summary"], replication["summary"])
    return _agreement(reports, common, plain_score_of, [p_of_pairs(common, report) for report in reports])


def _common(original: Report, replication: Report) -> list[str]:
    """Return the systems of both summaries, as the first ranks them."""
    second = {row["system"] for row in replication["systems"]}
    return [row["system"] for row in original["systems"] if row["system"] in second]


def _agreement(
    reports: tuple[Report, Report], common: Sequence[str], score: ScoreOf, p: Sequence[Floats]
) -> dict[str, Any]:
    first, second = ({row["system"]: row for row in report["summary"]["systems"]} for report in reports)
    shared = shared_criteria(*reports)

    def correlation(criterion: str | None = None) -> dict[str, float | None]:
        mine, theirs = ([score(rows[name], criterion) for name in common] for rows in (first, second))
        found = correlate(or_nan(mine), or_nan(theirs))
        return {name: or_none(value) for name, value in asdict(found).items()}

    return {
        "systems": list(common),
        "criterion_order": shared,
        "overall": correlation(),
        "criteria": {name: correlation(name) for name in shared},
        "same_conclusions": {
            f"{alpha:g}": or_none(share_same_conclusions(p[0], p[1], range(len(common)), alpha))
            for alpha in CONCLUSION_ALPHAS
        },
    }


def shared_criteria(*reports: Report) -> list[str]:
    """Return the criteria that all systems of all reports have, in the order of the first."""
    of_systems = [row["criteria"] for report in reports for row in report["summary"]["systems"]]
    names = [name for name, _ in in_order(of_systems[0], criteria_of(reports[0]))] if of_systems else []
    return [name for name in names if all(name in of_system for of_system in of_systems)]


def score_of(row: Mapping[str, Any], criterion: str | None, kind: str = "z") -> float | None:
    """Return the z, or raw mean, of a system of a summary on a criterion; overall for None."""
    score: float | None = row[kind] if criterion is None else row["criteria"][criterion][kind]
    return score


def plain_score_of(row: Mapping[str, Any], criterion: str | None) -> float | None:
    """Return the score of a system of a summary that any method but direct assessment made."""
    score: float | None = row["score"] if criterion is None else row["criteria"][criterion]
    return score


def p_of_pairs(systems: Sequence[str], report: Report) -> Floats:
    """Return one-sided p that each of these systems is better than each other, (n, n), NaN where that was not tested.

    The pairs of a report, if its method tests any, have the better system first and a two-sided p, twice the one-sided.
    """
    place = {name: k for k, name in enumerate(systems)}
    p: Floats = np.full((len(systems), len(systems)), np.nan)
    for row in report.get("pairs", ()):
        i, j = (place.get(name) for name in row["systems"])
        if i is not None and j is not None and row["p"] is not None:
            p[i, j], p[j, i] = row["p"] / 2, 1 - row["p"] / 2
    return p


def p_between(systems: Sequence[str], significance: Mapping[str, Any]) -> Floats:
    """Return the p-values of these systems, in their order, NaN where a pair was not tested."""
    places = [significance["order"].index(name) for name in systems]
    return or_nan(significance["p"][i][j] for i in places for j in places).reshape(len(systems), len(systems))


def replication_section(report: Mapping[str, Any]) -> list[Section]:
    """Return the correlations of two runs' system scores, if the report has what `compare_runs` returns."""
    found = report.get("replication")
    if not found:
        return []
    same = found["same_conclusions"]
    alphas = [f"{alpha:g}" for alpha in CONCLUSION_ALPHAS]
    shares = ", ".join(f"{same[alpha]:.0%} at p < {alpha}" for alpha in alphas if same.get(alpha) is not None)
    caption = f"Agreement of two runs over {len(found['systems'])} systems; same conclusions: {shares or 'none'}."
    columns = [Column("criterion"), Column("r"), Column("rho"), Column("tau")]
    rows = _rows(found, found.get("criterion_order", criteria_of(report)), "overall")
    output = Output.FILES | Output.TERMINAL
    table = Table("replication", "Agreement of two runs", caption, columns, rows, output=output)
    return [Section("replication", "Replication", tables=[table])]


def _rows(found: Mapping[str, Any], criteria: Sequence[str], overall: str) -> list[list[Cell]]:
    of_criteria = in_order(found["criteria"], criteria)
    return [[name, *(of[key] for key in CORRELATIONS)] for name, of in ((overall, found["overall"]), *of_criteria)]


def agreement_table(found: Mapping[str, Any]) -> Table:
    """Return the same correlations for the page of a campaign that replicates another."""
    rows = _rows(found, found["criterion_order"], "Overall")
    return Table(
        "replication",
        "Correlations of the two runs",
        f"How far this run and the one that it replicates agree on the scores of {len(found['systems'])} systems that "
        "both rate, by the newest results of each.",
        [Column("Criterion"), Column("Pearson's r"), Column("Spearman's ρ"), Column("Kendall's τ")],
        rows if len(found["criteria"]) > 1 else rows[:1],
        output=Output.PAGE,
    )
