"""How far a run agrees with the one that it replicates."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from analysis.sections import Column, Output, Section, Table
from analysis.stats.correlation import correlate, share_same_conclusions
from analysis.stats.ratings import Floats, or_nan, or_none

CONCLUSION_ALPHAS = (0.1, 0.05)


def compare_runs(original: dict[str, Any], replication: dict[str, Any]) -> dict[str, Any]:
    """Return how far a replication agrees with the original run, over the systems that both rate; of two summaries.

    `systems` lists them as the original ranks them; correlations that are undefined are None.
    """
    first = {row["system"]: row for row in original["systems"]}
    second = {row["system"]: row for row in replication["systems"]}
    common = [name for name in first if name in second]
    shared = shared_criteria(original, replication)

    def correlation(criterion: str | None = None) -> dict[str, float | None]:
        mine, theirs = ([score_of(rows[name], criterion) for name in common] for rows in (first, second))
        found = correlate(or_nan(mine), or_nan(theirs))
        return {name: or_none(value) for name, value in asdict(found).items()}

    p_original, p_replication = (p_between(common, each["significance"]) for each in (original, replication))
    return {
        "systems": common,
        "overall": correlation(),
        "criteria": {name: correlation(name) for name in shared},
        "same_conclusions": {
            f"{alpha:g}": or_none(share_same_conclusions(p_original, p_replication, range(len(common)), alpha))
            for alpha in CONCLUSION_ALPHAS
        },
    }


def shared_criteria(*summaries: Mapping[str, Any]) -> list[str]:
    """Return the criteria that all systems of all summaries have, in the order of the first."""
    of_systems = [row["criteria"] for summary in summaries for row in summary["systems"]]
    return [name for name in (of_systems[0] if of_systems else ()) if all(name in each for each in of_systems)]


def score_of(row: Mapping[str, Any], criterion: str | None, kind: str = "z") -> float | None:
    """Return the z, or raw mean, of a system of a summary on a criterion; overall for None."""
    score: float | None = row[kind] if criterion is None else row["criteria"][criterion][kind]
    return score


def p_between(systems: Sequence[str], significance: Mapping[str, Any]) -> Floats:
    """Return the p-values of these systems, in their order, NaN where a pair was not tested."""
    places = [significance["order"].index(name) for name in systems]
    return or_nan(significance["p"][i][j] for i in places for j in places).reshape(len(systems), len(systems))


def replication_section(report: Mapping[str, Any]) -> list[Section]:
    """Return the correlations of two runs' system scores, if the report has what `compare_runs` returns."""
    found = report.get("replication")
    if not found:
        return []
    shares = ", ".join(
        f"{share:.0%} at p < {alpha}" for alpha, share in found["same_conclusions"].items() if share is not None
    )
    caption = f"Agreement of two runs over {len(found['systems'])} systems; same conclusions: {shares or 'none'}."
    columns = [Column("criterion"), Column("r"), Column("rho"), Column("tau")]
    rows = [["overall", *found["overall"].values()]]
    rows += [[name, *values.values()] for name, values in found["criteria"].items()]
    output = Output.FILES | Output.TERMINAL
    table = Table("replication", "Agreement of two runs", caption, columns, rows, output=output)
    return [Section("replication", "Replication", tables=[table])]


def agreement_table(found: Mapping[str, Any]) -> Table:
    """Return the same correlations for the page of a campaign that replicates another."""
    criteria = found["criteria"] if len(found["criteria"]) > 1 else {}
    return Table(
        "replication",
        "Correlations of the two runs",
        f"How far this run and the one that it replicates agree on the z of {len(found['systems'])} systems that both "
        "rate, by the newest results of each.",
        [Column("Criterion"), Column("Pearson's r"), Column("Spearman's ρ"), Column("Kendall's τ")],
        [[name, *values.values()] for name, values in {"Overall": found["overall"], **criteria}.items()],
        output=Output.PAGE,
    )
