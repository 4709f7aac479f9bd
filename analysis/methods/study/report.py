"""The results of an analysis as one JSON document, in names."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from analysis.data.ratings.scales import FULL, words
from analysis.data.responses import rows_of
from analysis.methods.by_groups import GroupedScores, compare_by_groups
from analysis.methods.clusters import with_several
from analysis.methods.study import list_methods
from analysis.methods.study.study import Study
from analysis.results.stored import with_shared_parts
from analysis.stats.pipeline import counted_ratings
from analysis.stats.procedures import Procedure
from analysis.stats.quality import Verdict
from analysis.stats.scores import counted_items
from campaigns.design.worker_test import NO_TEST
from evalsite.lib.words import counted

FEW_WORKERS = 8
"""With fewer, differences of systems are hardly shown that would hold for other workers."""


def summarise(study: Study) -> dict[str, Any]:
    """Return the summary that `manage.py analyse --format json` prints: what each method says of the study."""
    return {key: value for method in list_methods() for key, value in method.summarise(study).items()}


def first_report(study: Study) -> dict[str, Any]:
    """Return the report without what takes long: `detail` of the methods is what they know at once."""
    found = {
        "summary": summarise(study),
        **{key: value for method in list_methods() for key, value in method.first_detail(study).items()},
        **compare_by_groups(study.settings, partial(_in_groups, study)),
        "warnings": warnings_of(study),
        "notes": explain(study),
        "settings": study.settings.to_json(),
        "fingerprint": study.loaded.fingerprint,
    }
    return with_shared_parts(found)


def _in_groups(study: Study) -> GroupedScores:
    """Return the z of single ratings that count; one of an unknown source depends on no other one by its source."""
    counted_z = counted_ratings(study.ratings, study.settings.design(study.loaded.workers), study.analysis)
    items = counted_items(study.ratings, study.analysis.is_kept)
    has_z = ~np.isnan(counted_z.z)
    alone = counted_z.source.max(initial=-1) + 1 + np.arange(counted_z.source.size)
    source = np.where(counted_z.source < 0, alone, counted_z.source)[has_z]
    is_known = bool((counted_z.source >= 0).any())
    return GroupedScores(
        counted_z.z[has_z],
        counted_z.system[has_z],
        study.loaded.systems,
        study.order,
        with_several({"worker": counted_z.worker[has_z]} | ({"source": source} if is_known else {})),
        rows_of(study.loaded.attributes, items[has_z]),
    )


def report(study: Study, first: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return everything that a results page or a download shows; `first` saves computing that again.

    `summary`; what the methods keep besides; `warnings`; `notes`; `settings`; `fingerprint` of the ratings.
    """
    first = first or first_report(study)
    detail = {key: value for method in list_methods() for key, value in method.detail(study).items()}
    others = {key: value for key, value in first.items() if key not in detail}
    return with_shared_parts({"summary": first["summary"], **detail, **others})


def warnings_of(study: Study) -> list[dict[str, Any]]:
    """Return what was surprising about the ratings file."""
    return [
        {"code": w.code, "count": w.count, "message": w.message, "examples": list(w.examples)}
        for w in study.loaded.warnings
    ]


def explain(study: Study) -> list[str]:
    """Return a sentence for whatever in these results is undefined or surprising, and why."""
    analysis, ratings = study.analysis, study.ratings
    verdicts = analysis.workers.verdict
    notes = []
    if study.settings.scale and study.settings.scale != FULL:
        notes.append(f"Scores were given on a scale from {words(study.settings.scale)}; they are mapped to 0–100 here.")
    own = {criterion.name: words(criterion.scale) for criterion in study.settings.criteria if criterion.scale}
    if own:
        said = ", ".join(f"{name} from {scale}" for name, scale in own.items())
        notes.append(f"Scores were given on scales of their own, and are mapped to 0–100 here: {said}.")
    if study.loaded.replies and study.loaded.replies.is_averaged:
        notes.append("Single replies were rated: the score of a chat on a criterion is the mean of its replies.")
    if study.settings.preset == NO_TEST:
        notes.append("No worker test was applied: every worker counts, apart from those excluded by hand.")
    if study.settings.workers_planned:
        notes.append(
            "Valid whenever you look: the finding and the recommended comparison hold however often you look while "
            "ratings come, and if you stop because of what you see. All other intervals and p-values hold for one look "
            "at the end only."
        )
    if not analysis.is_kept.any() and (verdicts == Verdict.TRUSTED).any():
        notes.append("All workers were excluded, so no system has a score.")
    elif (verdicts == Verdict.UNTESTED).all():
        notes.append(
            "No worker could be tested, because no degraded item can be compared with an ordinary one; untested "
            "workers do not count, so no system has a score. If you trust the workers, analyse the ratings again with "
            "no worker test (on the command line: --worker-test none)."
        )
    elif not analysis.is_kept.any():
        notes.append("No worker passed the worker test or all were excluded, so no system has a score.")
    elif (untested := int(np.count_nonzero(verdicts == Verdict.UNTESTED))) > 0:
        notes.append(f"Workers without a quality-control item to compare, whose ratings do not count: {untested}.")
    if (constant := int(np.count_nonzero(analysis.standardisation.sd == 0))) > 0:
        notes.append(f"Workers who gave the same score throughout, and so have z scores of 0: {constant}.")
    n_kept = int(np.count_nonzero(analysis.is_kept))
    if 0 < n_kept < FEW_WORKERS and len(study.order) > 1 and study.procedure is not Procedure.STUDIES:
        notes.append(
            f"Only {counted(n_kept, 'worker')} {'counts' if n_kept == 1 else 'count'}: what is said of systems allows "
            f"for how others would rate, and with fewer than {FEW_WORKERS} workers large differences alone are shown. "
            "More workers help; more ratings by the same ones hardly do."
        )
    if len(study.order) < 2:
        notes.append("There is only one system, so there is nothing to compare it with.")
    empty = [study.loaded.systems[code] for code in study.order if analysis.systems.n_ratings[code] == 0]
    if empty and analysis.is_kept.any():
        notes.append(f"Without a rating from a kept worker, and so without a score: {', '.join(empty)}.")
    if unknown := set(study.settings.excluded) - set(study.loaded.workers):
        notes.append(f"Excluded workers who are not in the ratings: {len(unknown)}.")
    overall_z = analysis.observations.overall_z
    if overall_z.size and np.isnan(overall_z).all():
        notes.append(
            "No item was rated on every criterion, so systems cannot be compared overall. If the ratings of one item "
            "have different positions, leave the column of positions out."
        )
    if study.dialogues:
        notes += study.dialogues.notices
    if study.settings.unit == "output" and (ratings.source < 0).any():
        notes.append("Where the source is not known, each item counts as an output of its own.")
    return notes
