"""How far the workers of a study agree on the outputs that several of them rated, in names."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.sections import Cell, Column, Output, Table
from analysis.stats.agreement import categorise, fleiss_kappa, intraclass_correlation
from analysis.stats.krippendorff import Level, krippendorff_alpha
from analysis.stats.ratings import Codes, Floats, or_none
from analysis.stats.scores import reverse_negative
from analysis.study import Study
from campaigns.design.composition import Kind

N_BINS = 5
"""Categories into which scores are put for Fleiss' κ, if nothing else is said."""


@dataclass(frozen=True)
class Agreement:
    """What `manage.py agreement` prints: one JSON document, and what is surprising about it."""

    document: dict[str, Any]
    notes: list[str]


def measure_agreement(study: Study, *, everybody: bool = False, n_bins: int = N_BINS) -> Agreement:
    """Return how far workers agree, for each criterion.

    An item is one output: a system's output for one source; without a known source nothing is shared. Ratings of
    ordinary items count, after reversal, on 0–100: a repeat would be the same worker once more. Of a worker who rated
    an output more than once the first rating counts, in the order of assignments and positions. `everybody` takes
    workers who failed or were not tested, too; workers excluded by hand never count. `n_bins` is for Fleiss' κ.
    """
    ratings = study.ratings
    design = study.settings.design(study.loaded.workers)
    counts = study.analysis.is_kept.copy()
    if everybody:
        counts[:] = True
        counts[list(design.excluded)] = False
    rows = np.flatnonzero((ratings.kind == Kind.ORDINARY) & (ratings.source >= 0) & counts[ratings.worker])
    _, output = np.unique(
        ratings.source[rows].astype(np.int64) * ratings.n_systems + ratings.system[rows], return_inverse=True
    )
    scores = reverse_negative(ratings.scores, design.is_negative)[rows]
    criteria, notes = {}, []
    for name, column in zip(study.loaded.criteria, scores.T, strict=True):
        criteria[name], note = _of_criterion(column, output, ratings.worker[rows], n_bins)
        if note:
            notes.append(f"{name}: {note}")
    if not any(found["n_items"] for found in criteria.values()):
        notes = ["No output was rated by two workers who count, so their agreement cannot be computed."]
    document = {
        "protocol": study.settings.protocol,
        "worker_test": {"preset": study.settings.preset, "alpha": study.settings.alpha},
        "workers": "all" if everybody else "passed",
        "n_bins": n_bins,
        "criteria": criteria,
    }
    return Agreement(document, notes)


def _of_criterion(scores: Floats, output: Codes, worker: Codes, n_bins: int) -> tuple[dict[str, Any], str]:
    """Return the coefficients of one criterion, and a sentence on what they leave out."""
    rated = np.flatnonzero(~np.isnan(scores))
    n_workers = int(worker.max(initial=-1)) + 1
    _, first = np.unique(output[rated].astype(np.int64) * n_workers + worker[rated], return_index=True)
    used = rated[first]
    size = np.bincount(output[used], minlength=1)
    used = used[size[output[used]] > 1]
    values, item, by = scores[used], output[used], worker[used]
    icc = intraclass_correlation(values, item, by)
    n_items = np.unique(item).size
    found = {
        "krippendorff_alpha": {level.value: or_none(krippendorff_alpha(values, item, level)) for level in Level},
        "icc": {"single": or_none(icc.single), "average": or_none(icc.average)},
        "fleiss_kappa": or_none(fleiss_kappa(categorise(values, n_bins), item).kappa),
        "n_items": int(n_items),
        "n_workers": int(np.unique(by).size),
    }
    if icc.n_items == n_items:
        return found, ""
    note = f"the intraclass correlations are of {icc.n_items:,} of {n_items:,} outputs; "
    return found, note + "of the others no two were rated by exactly the same workers."


def agreement_cells(criterion: Mapping[str, Any]) -> list[Cell]:
    """Return what was found on a criterion in the order of tables: α at each level, ICC, κ, outputs and workers."""
    alpha, icc = criterion["krippendorff_alpha"], criterion["icc"]
    others = (criterion[key] for key in ("fleiss_kappa", "n_items", "n_workers"))
    return [*(alpha[level.value] for level in Level), *(icc[key] for key in ("single", "average")), *others]


def agreement_table(document: dict[str, Any]) -> Table:
    """Return the coefficients as a table, a criterion a row."""
    rows = [[name, *agreement_cells(found)] for name, found in document["criteria"].items()]
    headings = [*(f"α {level.value}" for level in Level), "ICC(2,1)", "ICC(2,k)", "κ (Fleiss)", "outputs", "workers"]
    who = "all workers" if document["workers"] == "all" else "the workers who count"
    caption = (
        f"How far {who} agree on the outputs that two or more of them rated. "
        f"Fleiss' κ is of scores in {document['n_bins']} categories."
    )
    columns = [Column("criterion"), *map(Column, headings)]
    return Table("agreement", "Agreement", caption, columns, rows, output=Output.TERMINAL)
