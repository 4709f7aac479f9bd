"""How far workers agree with each other and with themselves, as a section of methods whose workers judge again."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from analysis.data.responses import Responses
from analysis.methods import Report
from analysis.methods.workers import JudgedWorkers
from analysis.results.sections import Cell, Column, Section, Table, in_percent
from analysis.results.stored import in_order
from analysis.stats.krippendorff import Level
from analysis.stats.ratings import Codes, Floats, Mask, or_none
from analysis.stats.repeated_judgements import (
    Agreement,
    NumberAgreement,
    agreement_of_numbers,
    agreement_of_workers,
)
from campaigns.design.composition import Kind

_WHO = {"between": "with each other", "within": "with themselves"}
_IN_PERCENT = ("same", "opposite")


class Shown(NamedTuple):
    """What a section says of agreement: the column of each number, by its name in the report, and the finding.

    `between` and `within` are sentences with these names in braces, shares in per cent, for results on one criterion.
    """

    columns: Mapping[str, Column]
    between: str = ""
    within: str = ""


def describe_agreement(found: Sequence[Agreement | NumberAgreement]) -> dict[str, Any] | None:
    """Return what was found between and within workers as JSON; None if nothing was judged twice."""
    if not any(each.n_items for each in found):
        return None
    return {
        who: {name: or_none(number) if isinstance(number, float) else number for name, number in asdict(each).items()}
        for who, each in zip(_WHO, found, strict=True)
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
        found[name] = describe_agreement(agreement_of_workers(value[rows], item, worker[rows], level=level))
    return found


def describe_numbers(numbers: Mapping[str, Floats], output: Codes, worker: Codes) -> dict[str, dict[str, Any] | None]:
    """Return `describe_agreement` about numbers of the same outputs, by their names.

    `numbers`: float64, (n,) each. `output`: int, (n,), a code of system and source; it may have gaps.
    """
    _, item = np.unique(output, return_inverse=True)
    return {name: describe_agreement(agreement_of_numbers(value, item, worker)) for name, value in numbers.items()}


def compared_rows(data: Responses, judged: JudgedWorkers) -> tuple[Mask, Codes]:
    """Return which rows agreement is of, (n,), and a code of the output and criterion of each of these.

    Those of workers who count, of ordinary items and repeats; none where sources are not known.
    """
    is_compared = judged.counts(data.workers)[data.worker] & (data.kind != Kind.DEGRADED) & (len(data.sources) > 1)
    output = data.source.astype(np.int64) * len(data.systems) + data.system
    return is_compared, (output * len(data.criteria) + data.criterion)[is_compared]


def agreement_section(
    found: Mapping[str, Report | None],
    names: Sequence[str] = (),
    *,
    noun: str,
    caption: str,
    is_vote: bool = False,
    shown: Shown | None = None,
) -> Section:
    """Return what `describe_agreement` found, by criterion, in the order of `names`; "" is the name of the only one.

    `noun` is what is judged. Without `shown`, columns are those of categories; α of sets has one where judgements are
    sets. A result without agreement, as all of before have, has an empty section.
    """
    known = [(name, agreement) for name, agreement in in_order(found, names) if agreement]
    has_sets = any(agreement[who].get("alpha_of_sets") is not None for _, agreement in known for who in _WHO)
    of_numbers = shown.columns if shown else _columns(is_vote=is_vote, has_sets=has_sets)
    columns = [Column("workers agree"), Column(f"{noun}s judged twice"), Column("judgements")]
    columns += [of_numbers[key] for key in of_numbers]
    rows: list[list[Cell]] = []
    for name, agreement in known:
        for who in _WHO:
            one, words = agreement[who], _WHO[who]
            if one["n_items"]:
                cells: list[Cell] = [words, one["n_items"], one["n_judgements"]]
                cells += [in_percent(one[key]) if key in _IN_PERCENT else one[key] for key in of_numbers]
                rows.append([*([name] if len(known) > 1 else []), *cells])
    if len(known) > 1:
        columns.insert(0, Column("criterion"))
    table = Table("worker-agreement", "Agreement of workers", caption, columns, rows)
    finding = ""
    if len(known) == 1:
        only = known[0][1]
        finding = _finding_in_words(only, shown) if shown else _finding(only, noun)
    return Section("worker-agreement", "Agreement of workers", finding, [table] if rows else [], page="reliability")


def _columns(*, is_vote: bool, has_sets: bool) -> dict[str, Column]:
    """Return the columns of categories."""
    return {
        "same": Column("same, %", 1),
        **({"opposite": Column("opposite, %", 1)} if is_vote else {}),
        "kappa": Column("Fleiss’ κ", 2),
        "alpha": Column("Krippendorff’s α", 2),
        **({"alpha_of_sets": Column("α (MASI)", 2)} if has_sets else {}),
    }


def _finding_in_words(found: Report, shown: Shown) -> str:
    said = []
    for who, sentence in (("between", shown.between), ("within", shown.within)):
        if sentence and found[who]["n_items"]:
            one = found[who]
            said.append(sentence.format(**one | {key: in_percent(one[key]) for key in _IN_PERCENT if key in one}))
    return " ".join(said)


def _finding(found: Report, noun: str) -> str:
    between, within = found["between"], found["within"]
    said = []
    if between["n_items"]:
        kappa = "" if between["kappa"] is None else f" (Fleiss’ κ {between['kappa']:.2f})"
        said.append(f"Two workers say the same of {100 * between['same']:.0f} % of {noun}s{kappa}.")
    if within["n_items"]:
        said.append(f"A worker who judges a {noun} again says the same in {100 * within['same']:.0f} % of cases.")
    return " ".join(said)
