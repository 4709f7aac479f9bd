"""How far workers agree with each other and with themselves, as a section of methods whose workers judge again."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from analysis.response_methods import Report
from analysis.sections import Cell, Column, Section, Table, in_percent
from analysis.stats.agreement import Level
from analysis.stats.ratings import Codes, Floats, or_none
from analysis.stats.repeated_judgements import agreement_of_workers

_WHO = {"between": "with each other", "within": "with themselves"}


def describe_agreement(
    value: Floats, item: Codes, worker: Codes, *, is_vote: bool = False, level: Level = Level.ORDINAL
) -> dict[str, Any] | None:
    """Return `agreement_of_workers` as JSON, by `between` and `within`; None if nothing was judged twice."""
    found = dict(zip(_WHO, agreement_of_workers(value, item, worker, is_vote=is_vote, level=level), strict=True))
    if not any(each.n_items for each in found.values()):
        return None
    return {
        who: {name: or_none(number) if isinstance(number, float) else number for name, number in asdict(each).items()}
        for who, each in found.items()
    }


def describe_by_criterion(
    value: Floats,
    output: Codes,
    worker: Codes,
    criterion: Codes,
    names: Sequence[str],
    *,
    level: Level = Level.ORDINAL,
) -> dict[str, dict[str, Any] | None]:
    """Return `describe_agreement` about the same outputs on each criterion, by its name.

    `output`: int, (n,), a code of system and source; it may have gaps. `criterion`: int, (n,), codes of `names`.
    """
    found = {}
    for code, name in enumerate(names):
        rows = criterion == code
        _, item = np.unique(output[rows], return_inverse=True)
        found[name] = describe_agreement(value[rows], item, worker[rows], level=level)
    return found


def agreement_section(found: dict[str, Report | None], *, noun: str, caption: str, is_vote: bool = False) -> Section:
    """Return what `describe_agreement` found, by criterion; "" is the name of the only one.

    `noun` is what is judged. A result without agreement, as all of before have, has an empty section.
    """
    known = {name: each for name, each in found.items() if each}
    columns = [Column("workers agree"), Column(f"{noun}s judged twice"), Column("judgements"), Column("same, %", 1)]
    columns += [Column("opposite, %", 1)] if is_vote else []
    columns += [Column("Fleiss’ κ", 2), Column("Krippendorff’s α", 2)]
    rows: list[list[Cell]] = []
    for name, each in known.items():
        for who, words in _WHO.items():
            one = each[who]
            if one["n_items"]:
                cells: list[Cell] = [words, one["n_items"], one["n_judgements"], in_percent(one["same"])]
                cells += [in_percent(one["opposite"])] if is_vote else []
                rows.append([*([name] if len(known) > 1 else []), *cells, one["kappa"], one["alpha"]])
    if len(known) > 1:
        columns.insert(0, Column("criterion"))
    table = Table("worker-agreement", "Agreement of workers", caption, columns, rows)
    finding = _finding(next(iter(known.values())), noun) if len(known) == 1 else ""
    return Section("worker-agreement", "Agreement of workers", finding, [table] if rows else [])


def _finding(found: Report, noun: str) -> str:
    between, within = found["between"], found["within"]
    said = []
    if between["n_items"]:
        kappa = "" if between["kappa"] is None else f" (Fleiss’ κ {between['kappa']:.2f})"
        said.append(f"Two workers say the same of {100 * between['same']:.0f} % of {noun}s{kappa}.")
    if within["n_items"]:
        said.append(f"A worker who judges a {noun} again says the same in {100 * within['same']:.0f} % of cases.")
    return " ".join(said)
