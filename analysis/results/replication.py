"""How far a run agrees with the one that it replicates."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from analysis.results.scored import ScoredSystems, shared_criteria
from analysis.results.sections import Cell, Column, Output, Section, Table
from analysis.results.stored import Report, criteria_of, in_order
from analysis.stats.correlation import correlate, share_same_conclusions
from analysis.stats.ratings import or_nan, or_none

CONCLUSION_ALPHAS = (0.1, 0.05)
CORRELATIONS = ("pearson", "spearman", "kendall")


def compare_runs(original: Report, replication: Report) -> dict[str, Any]:
    """Return how far a replication agrees with the original run, over the systems that both rate; of two reports.

    `systems` lists them as the original ranks them; correlations that are undefined are None. `same_conclusions`: the
    share of pairs of which both conclude the same, at each α, by what each concludes by.
    """
    first, second = ScoredSystems(original), ScoredSystems(replication)
    common = [name for name in first.rows if name in second.rows]
    criteria = shared_criteria(first, second)

    def correlation(criterion: str | None = None) -> dict[str, float | None]:
        scores = [or_nan(result.scores_of(common, criterion)) for result in (first, second)]
        return {name: or_none(value) for name, value in asdict(correlate(*scores)).items()}

    return {
        "systems": common,
        "criterion_order": criteria,
        "overall": correlation(),
        "criteria": {name: correlation(name) for name in criteria},
        "same_conclusions": {alpha: or_none(share) for alpha, share in same_conclusions(first, second, common).items()},
    }


def same_conclusions(first: ScoredSystems, second: ScoredSystems, names: Sequence[str]) -> dict[str, float]:
    """Return the share of pairs of these systems of which two results conclude the same, by α; NaN without pairs."""
    p = [result.conclusions(names) for result in (first, second)]
    return {f"{a:g}": share_same_conclusions(p[0], p[1], range(len(names)), a) for a in CONCLUSION_ALPHAS}


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
    return [Section("replication", "Replication", tables=[table], page="")]


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
