"""How far the workers of a study agree on the outputs that several of them rated, in names."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from analysis.data.responses import Responses
from analysis.methods.study.study import Study
from analysis.results.sections import Cell, Column, Output, Table
from analysis.stats.agreement import categorise, fleiss_kappa, intraclass_correlation
from analysis.stats.krippendorff import Level, krippendorff_alpha
from analysis.stats.ratings import Codes, Floats, or_none
from analysis.stats.scores import MOST_LEVELS, reverse_negative
from campaigns.design.composition import Kind
from campaigns.design.worker_test import NO_TEST

if TYPE_CHECKING:
    from analysis.methods import ResponseMethod
    from analysis.methods.settings import AnalysisSettings
    from analysis.methods.workers import JudgedWorkers

_SECTIONS = ("worker-agreement", "span-agreement")
N_BINS = 5
"""Categories into which scores are put for Fleiss' κ, if nothing else is said."""


@dataclass(frozen=True)
class Agreement:
    """What `manage.py agreement` prints: one JSON document, what is surprising about it, and tables."""

    document: dict[str, Any]
    notes: list[str]
    tables: list[Table]


class _Shared(NamedTuple):
    """Scores on one criterion, on ordinary items, by workers who count; arrays, (n,).

    `value` and `given`: after reversal, on the scale of the analysis and on the one that they were given on.
    `category`: that of Fleiss' κ. `output`, `worker`: codes.
    """

    value: Floats
    given: Floats
    category: Codes
    output: Codes
    worker: Codes

    def take(self, rows: Codes) -> "_Shared":
        """Return some of the scores."""
        of_each = self.value[rows], self.given[rows], self.category[rows], self.output[rows], self.worker[rows]
        return _Shared(*of_each)


def measure_agreement(study: Study, *, everybody: bool = False, n_bins: int = N_BINS) -> Agreement:
    """Return how far workers agree, for each criterion.

    An item is one output: a system's output for one source; without a known source nothing is shared. Ratings of
    ordinary items count, after reversal: a repeat would be the same worker once more. Of a worker who rated an output
    more than once the first rating counts, in the order of assignments and positions. `everybody` takes workers who
    failed or were not tested, too; workers excluded by hand never count. `n_bins` is for Fleiss' κ, on 0–100.
    """
    ratings = study.ratings
    design = study.settings.design(study.loaded.workers)
    counts = study.analysis.is_kept.copy()
    if everybody:
        counts[:] = True
        counts[list(design.excluded)] = False
    rows = np.flatnonzero((ratings.kind == Kind.ORDINARY) & (ratings.source >= 0) & counts[ratings.worker])
    output = ratings.source[rows].astype(np.int64) * ratings.n_systems + ratings.system[rows]
    scores = reverse_negative(ratings.scores, design.is_negative)[rows]
    shared = {}
    for k, (name, scale) in enumerate(zip(study.loaded.criteria, study.settings.scales, strict=True)):
        rated = np.flatnonzero(~np.isnan(scores[:, k]))
        value, given = scores[rated, k], study.loaded.ratings.scores[rows[rated], k]
        given = sum(scale) - given if design.is_negative[k] else given
        shared[name] = _Shared(value, given, categorise(value, n_bins), output[rated], ratings.worker[rows[rated]])
    test = {"preset": study.settings.preset, "alpha": study.settings.alpha}
    return _measured(shared, study.settings.protocol, test, everybody=everybody, n_bins=n_bins)


def measure_scores(
    data: Responses, judged: "JudgedWorkers", protocol: str, *, everybody: bool = False, n_bins: int = N_BINS
) -> Agreement:
    """Return the same of scores as they were given; each of a few levels is a category of Fleiss' κ."""
    counts = judged.is_counted.copy()
    if everybody:
        counts[:] = [name not in judged.excluded for name in judged.names]
    used = (data.kind == Kind.ORDINARY) & counts[data.worker]
    output = data.segment * len(data.systems) + data.system
    levels, category = np.unique(data.score, return_inverse=True)
    if levels.size > MOST_LEVELS:
        category = categorise(data.score, n_bins)
    shared = {
        name: _Shared(data.score, data.score, category, output, data.worker).take(
            np.flatnonzero(used & (data.criterion == code))
        )
        for code, name in enumerate(data.criteria)
    }
    test = {"preset": judged.preset, "alpha": judged.alpha}
    n_bins = n_bins if levels.size > MOST_LEVELS else int(levels.size)
    return _measured(shared, protocol, test, everybody=everybody, n_bins=n_bins)


def agreement_of(
    method: "ResponseMethod[Any]", data: Any, settings: "AnalysisSettings", *, everybody: bool
) -> Agreement:
    """Return what the analysis of responses that are no scores says of agreement: votes, rankings, marks, choices …"""
    report = method.analyse(data, replace(settings, preset=NO_TEST) if everybody else settings)
    sections = [section for section in method.sections(report) if section.slug in _SECTIONS]
    tables = [table for section in sections for table in section.tables]
    document = {
        "protocol": settings.protocol,
        "worker_test": report["summary"].get("worker_test", {"preset": settings.preset, "alpha": settings.alpha}),
        "workers": "all" if everybody else "passed",
        "agreement": report.get("agreement", {}),
    }
    notes = [] if tables else ["Nothing was judged by two workers who count, so their agreement cannot be computed."]
    return Agreement(document, notes, tables)


def _measured(
    shared: Mapping[str, _Shared], protocol: str, test: Mapping[str, Any], *, everybody: bool, n_bins: int
) -> Agreement:
    criteria, notes = {}, []
    for name, scores in shared.items():
        criteria[name], note = _of_criterion(scores)
        if note:
            notes.append(f"{name}: {note}")
    if not any(found["n_items"] for found in criteria.values()):
        notes = ["No output was rated by two workers who count, so their agreement cannot be computed."]
    document = {
        "protocol": protocol,
        "worker_test": test,
        "workers": "all" if everybody else "passed",
        "n_bins": n_bins,
        "criteria": criteria,
    }
    return Agreement(document, notes, [agreement_table(document)])


def _of_criterion(scores: _Shared) -> tuple[dict[str, Any], str]:
    """Return the coefficients of one criterion, and a sentence on what they leave out.

    α of ratios is of scores as they were given: another scale would change it (METHOD §6).
    """
    n_workers = int(scores.worker.max(initial=-1)) + 1
    _, output = np.unique(scores.output, return_inverse=True)
    _, first = np.unique(output.astype(np.int64) * n_workers + scores.worker, return_index=True)
    size = np.bincount(output[first], minlength=1)
    used = first[size[output[first]] > 1]
    _, item = np.unique(output[used], return_inverse=True)
    value, given, category, _, by = scores.take(used)
    icc = intraclass_correlation(value, item, by)
    n_items = np.unique(item).size
    of_level = {level: krippendorff_alpha(given if level is Level.RATIO else value, item, level) for level in Level}
    found = {
        "krippendorff_alpha": {level.value: or_none(alpha) for level, alpha in of_level.items()},
        "icc": {"single": or_none(icc.single), "average": or_none(icc.average)},
        "fleiss_kappa": or_none(fleiss_kappa(category, item).kappa),
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
