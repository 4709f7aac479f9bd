"""The ranked table."""

from typing import Any

from analysis.methods.direct_assessment import n_counts, rules_of, shown_criteria
from analysis.templatetags.results import number, signed

_SAME = 0.0005  # below what three decimals show


def ranking(report: dict[str, Any], changed: dict[str, Any] | None) -> dict[str, Any]:
    """Return the ranked table: its criteria, none if there is but one, and rows with a rule under each cluster."""
    summary = report["summary"]
    criteria, rules = shown_criteria(report), rules_of(summary)
    rows = []
    for rank, row in enumerate(summary["systems"], start=1):
        is_scored = row["z"] is not None
        low, high = report["intervals"][row["system"]]
        rows.append(
            {
                "rank": rank if is_scored else "–",
                "system": row["system"],
                "n": row["n"],
                "counts": _counts(row),
                "z": number(row["z"]),
                "interval": f"{number(low)} to {number(high)}" if low is not None else "–",
                "low": low,
                "raw": number(row["raw"], 2),
                "criteria": [number(row["criteria"][name]["z"]) for name in criteria],
                "ends_cluster": is_scored and rank - 1 in rules and rank < len(summary["systems"]),
                "delta": _delta(changed["systems"][row["system"]]) if changed else None,
            }
        )
    return {
        "criteria": criteria,
        "n_counts": n_counts(summary),
        "rows": rows,
        "has_scores": any(row["z"] is not None for row in summary["systems"]),
    }


def _counts(row: dict[str, Any]) -> str:
    """Return both counts of a system in words; "" in results of earlier versions."""
    return f"{row['n_outputs']:,} rated outputs, {row['n_ratings']:,} ratings" if "n_outputs" in row else ""


def _delta(change: dict[str, Any]) -> dict[str, Any]:
    """Return a difference of z and of rank, with what they mean."""
    z, rank = change["z"], change["rank"] or 0
    moved = z is not None and abs(z) >= _SAME
    return {
        "z": "–" if z is None else signed(z) if moved else "same",
        "z_value": z if moved else 0,
        "z_sense": "same" if not moved else "better" if z > 0 else "worse",
        "rank": f"{abs(rank)} {'place' if abs(rank) == 1 else 'places'}" if rank else "",
        "rank_sense": "better" if rank > 0 else "worse",
    }
