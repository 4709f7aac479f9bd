"""The ranked table."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.methods.direct_assessment import n_counts, rules_of, shown_criteria

_SAME = 0.0005  # below what three decimals show


@dataclass(frozen=True)
class Change:
    """What differs from another run: z now minus then (None: no score in one of them), and places won."""

    z: float | None
    n_places: int

    @property
    def z_sense(self) -> str:
        """Return better, worse or same."""
        if self.z is None or abs(self.z) < _SAME:
            return "same"
        return "better" if self.z > 0 else "worse"

    @property
    def rank_sense(self) -> str:
        """Return better or worse."""
        return "better" if self.n_places > 0 else "worse"


@dataclass(frozen=True)
class RankedSystem:
    """A row of the ranking. None is undefined; of results of earlier versions, `n_outputs` and `n_ratings` are None."""

    rank: int | None
    system: str
    n: int
    n_outputs: int | None
    n_ratings: int | None
    z: float | None
    low: float | None
    high: float | None
    raw: float | None
    criteria: list[float | None]
    ends_cluster: bool
    change: Change | None


@dataclass(frozen=True)
class Ranking:
    """The ranked table: its criteria, none if there is but one, what n counts, and the systems, best first."""

    criteria: list[str]
    n_counts: str
    rows: list[RankedSystem]


def ranking(report: Mapping[str, Any], changed: Mapping[str, Any] | None = None) -> Ranking:
    """Return the ranked table; `changed`, of `what_changed`, has the differences from another run."""
    summary = report["summary"]
    criteria, rules = shown_criteria(report), rules_of(summary)
    rows = []
    for rank, row in enumerate(summary["systems"], start=1):
        is_scored = row["z"] is not None
        change = changed["systems"][row["system"]] if changed else None
        low, high = report["intervals"][row["system"]]
        rows.append(
            RankedSystem(
                rank=rank if is_scored else None,
                system=row["system"],
                n=row["n"],
                n_outputs=row.get("n_outputs"),
                n_ratings=row.get("n_ratings"),
                z=row["z"],
                low=low,
                high=high,
                raw=row["raw"],
                criteria=[row["criteria"][name]["z"] for name in criteria],
                ends_cluster=is_scored and rank - 1 in rules and rank < len(summary["systems"]),
                change=Change(change["z"], change["rank"] or 0) if change else None,
            )
        )
    return Ranking(criteria, n_counts(summary), rows)
