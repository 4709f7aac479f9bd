"""What each procedure that compares systems concludes of every two of them."""

from collections.abc import Mapping
from typing import Any

from analysis.results.sections import Cell, Column, Output, Table
from analysis.results.stored import Report, in_order
from analysis.results.words import PROCEDURES
from analysis.stats.procedures import ALPHA, Procedure, Procedures
from analysis.stats.ratings import or_none
from evalsite.lib.words import counted

PAIRS_SHOWN = 66  # those of twelve systems; the file has all
BETTER, UNDEFINED = "better", "cannot be compared"


def describe_others(procedures: Procedures, i: int, j: int) -> dict[str, dict[str, float | None]]:
    """Return difference and p of two systems, by their codes, by each procedure beside the one that was chosen."""
    return {
        name.value: {"difference": or_none(found.difference[i, j]), "p_holm": or_none(found.holm[i, j])}
        for name, found in procedures.found.items()
    }


def procedure_of(found: Report) -> Procedure:
    """Return by which procedure systems were compared; results of before had one."""
    return Procedure(found.get("procedure", Procedure.CLUSTERED))


def winner(pair: Mapping[str, Any]) -> str | None:
    """Return which system of a pair is better by the recommended comparison; None if that is open."""
    p = pair["p_holm"]
    if p is None or p >= ALPHA:
        return None
    system: str = pair["systems"][0 if pair["difference"] > 0 else 1]
    return system


def winner_in_studies(pair: Mapping[str, Any]) -> str | None:
    """Return which system of a pair is better by the test of the studies; None if that is open."""
    for system, p in zip(pair["systems"], pair["p_studies"], strict=True):
        if p is not None and p < ALPHA:
            return str(system)
    return None


def conclusions(pair: Mapping[str, Any], found: Report) -> dict[str, str]:
    """Return what each procedure concludes of a pair, the chosen one and that of the studies first."""
    said = {
        procedure_of(found).value: _said(pair["p_holm"], winner(pair)),
        **({"studies": _said(1.0, winner_in_studies(pair))} if "p_studies" in pair else {}),
    }
    for name, other in in_order(pair.get("others", {}), PROCEDURES):
        said[name] = _said(other["p_holm"], winner({**pair, **other}))
    return said


def _said(p: float | None, better: str | None) -> str:
    if p is None:
        return UNDEFINED
    return f"{better} is {BETTER}" if better else "no difference"


def procedure_tables(found: Report) -> list[Table]:
    """Return what each procedure concludes: of all pairs in files, on pages of those on which they disagree."""
    rows = [(pair, conclusions(pair, found)) for pair in found["pairs"]]
    if not any(pair.get("others") for pair, _ in rows):
        return []
    names = list(rows[0][1])
    titles = {name: name_of for name, (name_of, _) in PROCEDURES.items()} | {"studies": "rank-sum test of the studies"}
    columns = [Column("system"), Column("compared with"), *(Column(titles[name]) for name in names)]
    cells: list[list[Cell]] = [[*pair["systems"], *(said[name] for name in names)] for pair, said in rows]
    apart = [row for row in cells if len(set(row[2:])) > 1]
    n = f"{len(apart):,} of {counted(len(cells), 'pair')}"
    who = "All but the studies' test" if "studies" in names else "They"
    caption = (
        f"The procedures disagree on {n}. {who} take account of shared workers and sources, from "
        f"different assumptions, and p with Holm's correction over all pairs, at p < {found['alpha']:g}."
    )
    shown = caption if len(apart) <= PAIRS_SHOWN else f"{caption} The first {PAIRS_SHOWN} are shown."
    tables = [Table("procedures", "What each procedure concludes", caption, columns, cells, output=Output.FILES)]
    if apart:
        where = Output.PAGE | Output.TERMINAL
        title = "Where procedures disagree"
        tables.append(Table("procedures", title, shown, columns, apart[:PAIRS_SHOWN], output=where))
    return tables
