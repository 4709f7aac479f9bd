"""How far two results agree on the systems that both rate (METHOD §6): values for a page, tables for files. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.methods.replication import compare_runs
from analysis.sections import Cell, Column, Output, Table
from evalsite.lib.errors import DomainError
from evalsite.lib.words import counted

Report = Mapping[str, Any]
FEWEST_SYSTEMS = 3
"""Correlations of fewer systems say nothing."""
_MARGIN = 8.0  # per cent of the drawing


@dataclass(frozen=True)
class Correlations:
    """Pearson's r, Spearman's ρ and Kendall's τ-b of one criterion or overall; None where undefined."""

    name: str
    pearson: float | None
    spearman: float | None
    kendall: float | None


@dataclass(frozen=True)
class SharedSystem:
    """A system that both results score: z and rank in both, among these systems; where it is drawn, in per cent."""

    name: str
    first_z: float
    second_z: float
    first_rank: int
    second_rank: int
    x: float
    y: float

    @property
    def n_places(self) -> int:
        """By how many places it is higher in the second result."""
        return self.first_rank - self.second_rank

    @property
    def sense(self) -> str:
        """Return better, worse or same."""
        return "same" if not self.n_places else "better" if self.n_places > 0 else "worse"


@dataclass(frozen=True)
class Agreement:
    """Two results: systems as the first ranks them, correlations (overall first), shares of equal conclusions."""

    systems: list[SharedSystem]
    correlations: list[Correlations]
    same_conclusions: dict[str, float]
    only_first: list[str]
    only_second: list[str]

    @property
    def n_moved(self) -> int:
        """How many systems have another rank."""
        return sum(system.n_places != 0 for system in self.systems)


def compare_results(first: Report, second: Report) -> Agreement:
    """Return how far two reports agree; raise DomainError `few_systems` if they share fewer than three."""
    z_first, z_second = ({row["system"]: row["z"] for row in each["summary"]["systems"]} for each in (first, second))
    shared = [name for name, z in z_first.items() if z is not None and z_second.get(name) is not None]
    if len(shared) < FEWEST_SYSTEMS:
        raise DomainError("few_systems", _refusal(shared, z_first, z_second))
    found = compare_runs(first["summary"], second["summary"])
    rank_first, rank_second = (_ranks(shared, z) for z in (z_first, z_second))
    x, y = (_places([z[name] for name in shared]) for z in (z_first, z_second))
    systems = [
        SharedSystem(name, z_first[name], z_second[name], rank_first[name], rank_second[name], x[k], 100 - y[k])
        for k, name in enumerate(shared)
    ]
    by_criterion = found["criteria"] if len(found["criteria"]) > 1 else {}
    return Agreement(
        systems,
        [Correlations(name, **values) for name, values in {"overall": found["overall"], **by_criterion}.items()],
        {alpha: share for alpha, share in found["same_conclusions"].items() if share is not None},
        [name for name in z_first if name not in shared],
        [name for name in z_second if name not in shared],
    )


def _refusal(shared: list[str], first: Mapping[str, Any], second: Mapping[str, Any]) -> str:
    has = f"only {counted(len(shared), 'system')}" if shared else "no system"
    return (
        f"These two results share {has} with a score; at least {FEWEST_SYSTEMS} are needed. Systems are matched by "
        f"their names. The first result has {_some(first)}; the second has {_some(second)}."
    )


def _some(names: Mapping[str, Any]) -> str:
    listed = [f"“{name}”" for name in list(names)[:5]]
    return (", ".join(listed) + (" …" if len(names) > len(listed) else "")) or "no system"


def _ranks(names: list[str], z: Mapping[str, float]) -> dict[str, int]:
    """Return ranks among these systems, best first; equal scores share the better rank."""
    return {name: 1 + sum(z[other] > z[name] for other in names) for name in names}


def _places(values: list[float]) -> list[float]:
    low, width = min(values), (max(values) - min(values)) or 1.0
    return [round(_MARGIN + (100 - 2 * _MARGIN) * (value - low) / width, 2) for value in values]


# --- Files


def systems_table(found: Agreement) -> Table:
    """Return z and rank of each shared system in both results."""
    columns = [Column("system"), Column("z first"), Column("z second"), Column("rank first"), Column("rank second")]
    rows: list[list[Cell]] = [
        [each.name, each.first_z, each.second_z, each.first_rank, each.second_rank] for each in found.systems
    ]
    caption = f"Mean z and rank of the {len(rows)} systems that both results score."
    return Table("comparison-systems", "Systems of two results", caption, columns, rows, output=Output.FILES)


def correlations_table(found: Agreement) -> Table:
    """Return the correlations of the two results."""
    columns = [Column("criterion"), Column("systems"), Column("r"), Column("rho"), Column("tau")]
    n = len(found.systems)
    rows: list[list[Cell]] = [[each.name, n, each.pearson, each.spearman, each.kendall] for each in found.correlations]
    shares = ", ".join(f"{share:.0%} at p < {alpha}" for alpha, share in found.same_conclusions.items())
    caption = f"Agreement of two results over {n} systems; same conclusions: {shares or 'none'}."
    return Table("comparison", "Agreement of two results", caption, columns, rows, output=Output.FILES)
