"""Taking scores of metrics in, and computing them."""

import io
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
from django.core.files import File
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils import timezone

from analysis.metrics.computing import COLUMNS, compute_scores, rows_of
from analysis.metrics.kinds import MetricKind, Scores, Texts, list_kinds
from analysis.metrics.loading import SegmentScores
from analysis.models import AnalysisRun, MetricScores
from analysis.web.queries.metrics import describe_data, list_references, load_scores, read_texts, scores_of
from campaigns.models import Campaign
from evalsite.accounts.models import User
from evalsite.jobs.handlers import enqueue
from evalsite.jobs.models import Job
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import WINDOWS_1252, lines_if_windows
from evalsite.lib.tables.errors import listing
from evalsite.lib.tables.writing import write_csv
from evalsite.undo.acts import put_aside
from evalsite.undo.models import Act

COMPUTE = "analysis.metrics"
"""The kind of job that computes metrics of a campaign's outputs."""
COMPUTED = "Computed here"
_UNFINISHED = (Job.Status.QUEUED, Job.Status.RUNNING)


def upload_scores(*, run: AnalysisRun, user: User, upload: UploadedFile) -> MetricScores:
    """Keep an uploaded file of scores for the ratings of a run; its encoding stays open if it is not UTF-8.

    Raises TableError if it cannot be read, DomainError `no_common_systems` or `metric_twice`; nothing is kept then.
    """
    name = Path(upload.name or "scores").name[-255:]
    file = run.ratings_file
    own = {"campaign": file.campaign} if file.campaign_id else {"ratings_file": file}
    scores = MetricScores(created_by=user, name=name, **own)
    with tempfile.NamedTemporaryFile(prefix="scores-") as copy:
        shutil.copyfileobj(upload, copy)
        copy.flush()
        scores.encoding = "" if lines_if_windows(copy.name, name) else "utf-8"
        copy.seek(0)
        scores.file.save(name, File(copy), save=False)
    try:
        if scores.encoding:
            _read(scores, run)
        scores.save(force_insert=True)
    except BaseException:
        scores.file.delete(save=False)
        raise
    return scores


def read_scores_as(*, scores: MetricScores, run: AnalysisRun, encoding: str) -> None:
    """Say which encoding a file of scores has, and read it; raise DomainError `bad_encoding`, or as `upload_scores`."""
    if scores.encoding or encoding != WINDOWS_1252:
        raise DomainError("bad_encoding", "Choose the encoding that is offered, or save the file as UTF-8.")
    scores.encoding = encoding
    _read(scores, run)
    scores.save(update_fields=["encoding", "metrics", "finished_at"])


def _read(scores: MetricScores, run: AnalysisRun) -> None:
    """Check the scores of a file against the ratings of a run, and note what they are of."""
    found = load_scores(scores)
    rated = list(run.result.systems)
    if not set(rated) & set(found.systems):
        raise DomainError(
            "no_common_systems",
            f"{scores.name} has scores of none of the rated systems. It has {listing(found.systems, 10)}; rated are "
            f"{listing(rated, 10)}. Give the same system the same name in both.",
        )
    _refuse_known(found.metrics, run, scores)
    scores.metrics, scores.finished_at = _counted(found), timezone.now()


def _refuse_known(metrics: Sequence[str], run: AnalysisRun, besides: MetricScores) -> None:
    for other in scores_of(run.ratings_file).exclude(pk=besides.pk):
        if known := sorted({each["name"] for each in other.metrics} & set(metrics)):
            raise DomainError(
                "metric_twice",
                f"There are scores of {listing(known, 10)} already, from “{other.name}”. Remove them first, or give "
                "the metric another name.",
            )


def _counted(found: SegmentScores) -> list[dict[str, Any]]:
    """Return the name of each metric, and how many outputs and systems it has scores of."""
    n_outputs = np.bincount(found.metric[found.source >= 0], minlength=len(found.metrics))
    return [
        {"name": name, "n_outputs": int(n_outputs[code]), "n_systems": len(found.systems_of(name))}
        for code, name in enumerate(found.metrics)
    ]


def _computed(found: Sequence[tuple[Texts, Scores]]) -> list[dict[str, Any]]:
    """Return the same of metrics computed here; of models which it was, and of how many outputs windows were read.

    `n_left_out` is how many outputs it could not score. Raises DomainError `no_scores` if no metric scored any.
    """
    rows: list[dict[str, Any]] = []
    for texts, scores in found:
        is_scored = ~np.isnan(scores.segments)
        row = {
            "name": scores.metric,
            "n_outputs": int(np.count_nonzero(is_scored)),
            "n_systems": len(np.unique(texts.system[is_scored])),
        }
        if scores.model:
            n_left_out = int(np.count_nonzero(~is_scored))
            row |= {"model": scores.model, "n_windowed": scores.n_windowed, "n_left_out": n_left_out}
        rows.append(row)
    if not any(row["n_outputs"] for row in rows):
        raise DomainError(
            "no_scores",
            f"No output could be scored by {listing(row['name'] for row in rows)}: texts that it needs are empty, or "
            "longer than the model reads. Choose other fields, or another model.",
        )
    return sorted(rows, key=lambda row: row["name"])


@transaction.atomic
def request_metrics(
    *, run: AnalysisRun, user: User, kinds: Sequence[str], reference: str, options: Mapping[str, Mapping[str, Any]]
) -> MetricScores:
    """Queue the computation of metrics for a campaign's outputs; of two clicks on one button, the second has no effect.

    `kinds` are slugs; `reference` is a value of `list_references`, which may be empty if no kind needs one; `options`
    are those of each kind, by its slug. Raises DomainError `no_outputs`, `no_references`, `unknown_kind`,
    `cannot_compute`, `bad_option`, `bad_model` or `metric_twice`.
    """
    data = describe_data(run.ratings_file.campaign) if run.ratings_file.campaign else None
    if run.ratings_file.campaign is None or data is None:
        raise DomainError("no_outputs", "The outputs are not known here. Upload scores that were computed before.")
    campaign = Campaign.objects.select_for_update().get(pk=run.ratings_file.campaign.pk)
    chosen = _kinds_of(kinds)
    if reason := next((f"{kind.title}: {lacks}" for kind in chosen if (lacks := kind.lacks(data))), ""):
        raise DomainError("cannot_compute", reason)
    needed = any(kind.needs_reference for kind in chosen)
    if (needed or reference) and reference not in {choice.value for choice in list_references(campaign)}:
        raise DomainError("no_references", "Choose which part of the data is the reference.")
    wanted: dict[str, Any] = {
        "kinds": [kind.slug for kind in chosen],
        "reference": reference,
        "options": {kind.slug: kind.check(data, options.get(kind.slug, {})) for kind in chosen},
    }
    computed = scores_of(run.ratings_file).exclude(options={})
    if waiting := computed.filter(job__status__in=_UNFINISHED).first():
        return waiting
    scores = MetricScores(campaign=campaign, created_by=user, name=COMPUTED, options=wanted)
    names = [name for kind in chosen for name in kind.metrics]
    for other in scores_of(run.ratings_file).filter(options={}):
        if known := sorted({each["name"] for each in other.metrics} & set(names)):
            raise DomainError(
                "metric_twice",
                f"Scores of {listing(known, 10)} were uploaded already, in “{other.name}”. Remove them first.",
            )
    scores.save(force_insert=True)
    scores.job = enqueue(COMPUTE, owner=user, args={"scores": str(scores.pk), "run": str(run.pk)})
    scores.save(update_fields=["job"])
    return scores


def _kinds_of(slugs: Sequence[str]) -> list[MetricKind]:
    known = {kind.slug: kind for kind in list_kinds()}
    if not slugs or (unknown := [slug for slug in slugs if slug not in known]):
        said = f"There is no metric {listing(unknown)}." if slugs else "Choose at least one metric."
        raise DomainError("unknown_kind", f"{said} Known are {listing(known)}.")
    return [kind for slug, kind in known.items() if slug in slugs]


def compute_metrics(
    *,
    scores: MetricScores,
    on_progress: Callable[[int, int, str], None],
    saving: Callable[[], AbstractContextManager[None]],
) -> None:
    """Compute what was asked for, keep the scores, and remove those that were computed before.

    `saving` opens the transaction that stores them. Scores that are there are left as they are. Raises DomainError
    `no_references`, `no_scores`, `missing_library` or `bad_model`.
    """
    if scores.finished_at or scores.campaign is None:
        return
    on_progress(0, 0, "Reading the outputs")
    texts = read_texts(scores.campaign, scores.options["reference"])
    kinds = _kinds_of(scores.options["kinds"])
    found = compute_scores(kinds, texts, scores.options["options"], on_progress)
    counted = _computed(found)
    write_scores(scores, rows_of(found))
    try:
        scores.metrics, scores.finished_at = counted, timezone.now()
        with saving():
            scores.save(update_fields=["file", "metrics", "finished_at"])
            before = MetricScores.objects.filter(campaign=scores.campaign).exclude(options={}).exclude(pk=scores.pk)
            for other in before.exclude(job__status__in=_UNFINISHED):
                remove_scores(scores=other)
    except BaseException:
        scores.file.delete(save=False)
        raise


def write_scores(scores: MetricScores, rows: Iterable[Sequence[Any]]) -> None:
    """Write the file of scores, with rows of `COLUMNS`; their row in the database is not saved."""
    with tempfile.NamedTemporaryFile(prefix="scores-") as copy:
        text = io.TextIOWrapper(copy, encoding="utf-8", newline="")
        write_csv(text, COLUMNS, rows)
        text.detach()  # flushes, and leaves the file open
        copy.seek(0)
        scores.file.save("scores.csv", File(copy), save=False)


@transaction.atomic
def remove_scores(*, scores: MetricScores, act: Act | None = None) -> None:
    """Remove scores of metrics with their file and job; analyses that compared them stay.

    Raises DomainError `not_finished` while they are being computed.
    """
    if scores.job and not scores.job.is_finished:
        raise DomainError("not_finished", "These metrics are being computed. Wait for the end, then remove them.")
    job = scores.job
    put_aside(act, [*([job] if job else []), scores], files=[scores.file.name or ""])
    scores.delete()
    if job:
        job.delete()
