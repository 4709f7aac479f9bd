"""How far a run agrees with the one that it replicates."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from analysis.results.result import Result, shared_criteria
from analysis.results.sections import Cell, Column, Output, Section, Table
from analysis.results.stored import in_order
from analysis.stats.correlation import correlate, share_same_conclusions
from analysis.stats.ratings import or_nan, or_none

CONCLUSION_ALPHAS = (0.1, 0.05)


@dataclass(frozen=True)
class Correlations:
    """Correlations of the scores of two runs; None where undefined."""

    pearson: float | None
    spearman: float | None
    kendall: float | None


@dataclass(frozen=True)
class RunAgreement:
    """How far a replication agrees with the original run, over the systems that both rate, as the original ranks them.

    `same_conclusions`: the share of pairs of which both conclude the same, at each α, by what each concludes by.
    """

    systems: list[str]
    overall: Correlations
    criteria: dict[str, Correlations]
    same_conclusions: dict[str, float | None]
    criterion_order: list[str] = field(default_factory=list)


def compare_runs(original: Result, replication: Result) -> RunAgreement:
    """Return how far a replication agrees with the original run."""
    common = [name for name in original.systems if name in replication.systems]
    criteria = shared_criteria(original, replication)

    def correlation(criterion: str | None = None) -> Correlations:
        scores = [or_nan(result.scores_of(common, criterion)) for result in (original, replication)]
        return Correlations(*(or_none(value) for value in asdict(correlate(*scores)).values()))

    return RunAgreement(
        systems=common,
        criterion_order=criteria,
        overall=correlation(),
        criteria={name: correlation(name) for name in criteria},
        same_conclusions={a: or_none(share) for a, share in same_conclusions(original, replication, common).items()},
    )


def same_conclusions(first: Result, second: Result, names: Sequence[str]) -> dict[str, float]:
    """Return the share of pairs of these systems of which two results conclude the same, by α; NaN without pairs."""
    p = [result.conclusions(names) for result in (first, second)]
    return {f"{a:g}": share_same_conclusions(p[0], p[1], range(len(names)), a) for a in CONCLUSION_ALPHAS}


def replication_section(found: RunAgreement | None) -> list[Section]:
    """Return the correlations of two runs' system scores; nothing without any."""
    if found is None:
        return []
    same = found.same_conclusions
    known = [(alpha, share) for a in CONCLUSION_ALPHAS if (share := same.get(alpha := f"{a:g}")) is not None]
    shares = ", ".join(f"{share:.0%} at p < {alpha}" for alpha, share in known)
    caption = f"Agreement of two runs over {len(found.systems)} systems; same conclusions: {shares or 'none'}."
    columns = [Column("criterion"), Column("r"), Column("rho"), Column("tau")]
    output = Output.PRINTED
    table = Table("replication", "Agreement of two runs", caption, columns, _rows(found, "overall"), output=output)
    return [Section("replication", "Replication", tables=[table], page="")]


def _rows(found: RunAgreement, overall: str) -> list[list[Cell]]:
    rows = [(overall, found.overall), *in_order(found.criteria, found.criterion_order)]
    return [[name, *asdict(of).values()] for name, of in rows]


def agreement_table(found: RunAgreement) -> Table:
    """Return the same correlations for the page of a campaign that replicates another."""
    rows = _rows(found, "Overall")
    return Table(
        "replication",
        "Correlations of the two runs",
        f"How far this run and the one that it replicates agree on the scores of {len(found.systems)} systems that "
        "both rate, by the newest results of each.",
        [Column("Criterion"), Column("Pearson's r"), Column("Spearman's ρ"), Column("Kendall's τ")],
        rows if len(found.criteria) > 1 else rows[:1],
        output=Output.PAGE,
    )
