"""The proportional odds model of ordered levels: what a report has of it, and its section."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import exp
from typing import Any

from analysis.results.sections import Cell, Column, Section, Table
from analysis.results.stored import Report
from analysis.results.words import CORRECTED
from analysis.stats.cumulative_link import fit_cumulative_link
from analysis.stats.procedures import ALPHA
from analysis.stats.ratings import Codes, or_none

MODEL = "cumulative-link"


def odds_of_criterion(
    level: Codes, system: Codes, systems: Sequence[str], clusters: Mapping[str, Codes], order: Sequence[int]
) -> dict[str, Any] | None:
    """Return log odds of the systems and of every two, in the order given; None where no finite odds fit best."""
    found = fit_cumulative_link(level, system, len(systems), clusters)
    if found is None:
        return None
    pairs = found.pairs
    return {
        "systems": [{"system": systems[code], "log_odds": or_none(found.log_odds[code])} for code in order],
        "pairs": [
            {
                "systems": [systems[a], systems[b]],
                "log_odds": or_none(pairs.difference[a, b]),
                "interval": [or_none(pairs.low[a, b]), or_none(pairs.high[a, b])],
                "p": or_none(pairs.p_value[a, b]),
                "p_holm": or_none(pairs.holm[a, b]),
            }
            for a, b in combinations(order, 2)
        ],
    }


def odds_section(name: str, odds: Report, by: str) -> Section:
    """Return the odds of a criterion; `by` is by what errors are clustered, in words."""
    rows = [row for row in odds["pairs"] if row["log_odds"] is not None]
    cells: list[list[Cell]] = [
        [*row["systems"], *map(_odds, (row["log_odds"], *row["interval"])), row["p"], row["p_holm"]] for row in rows
    ]
    columns = [Column("system"), Column("other"), Column("odds ratio", 2), Column("low", 2), Column("high", 2)]
    columns += [Column("p", 4, is_p=True), Column("p (Holm)", 4, is_p=True)]
    n_differing = sum(row["p_holm"] is not None and row["p_holm"] < ALPHA for row in rows)
    caption = (
        "Proportional odds (cumulative link model): how many times as great the odds of a higher level are, the same "
        f"at every level. 95 % intervals of each pair alone; errors are clustered by {by}; p is two-sided."
    )
    systems: list[list[Cell]] = [[row["system"], row["log_odds"]] for row in odds["systems"]]
    about = "Natural log of the odds of a higher level, centred at 0."
    return Section(
        f"odds-{name}",
        f"Odds of levels: {name}",
        f"{n_differing} of {len(rows)} pairs of systems differ in odds ({CORRECTED}).",
        [
            Table(f"odds-{name}", f"Odds of levels: {name}", caption, columns, cells),
            Table(f"log-odds-{name}", f"Log odds: {name}", about, [Column("system"), Column("log odds", 3)], systems),
        ],
    )


def _odds(log_odds: float | None) -> float | None:
    return None if log_odds is None else exp(log_odds)
