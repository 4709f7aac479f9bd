"""Deleting ratings files and analyses: rows at once, files when the transaction is through."""

from django.db import transaction
from django.utils import timezone

from analysis.models import AnalysisRun, RatingsFile
from analysis.web.records import delete_jobs, folders_of
from analysis.web.services.metrics import remove_file
from campaigns.models import Deletion
from evalsite.accounts.models import User
from evalsite.jobs.files import delete_on_commit
from evalsite.jobs.models import Job
from evalsite.lib.errors import DomainError

_UNFINISHED = (Job.Status.QUEUED, Job.Status.RUNNING)


@transaction.atomic
def delete_ratings_file(*, ratings_file: RatingsFile, user: User) -> None:
    """Delete a ratings file, or a campaign's snapshot, with its analyses; raise DomainError `not_finished`."""
    locked = RatingsFile.objects.select_for_update().get(pk=ratings_file.pk)
    runs = list(locked.runs.defer("report", "problems").order_by())
    _delete_runs(runs)
    scores = list(locked.metric_scores.all())
    for each in scores:
        remove_file(each)
        each.delete()
    note = [[1, "ratings file", locked.name], [len(runs), "analysis run", ""]]
    note += [[len(scores), "file of metric scores", ""]] if scores else []
    _note(Deletion.Kind.RATINGS_FILE, locked, locked.title, user, note)
    name = locked.file.name or ""
    locked.delete()
    delete_on_commit(name)


@transaction.atomic
def delete_run(*, run: AnalysisRun, user: User) -> None:
    """Delete one analysis; those changed from it stay. Raises DomainError `not_finished`."""
    RatingsFile.objects.select_for_update().get(pk=run.ratings_file_id)  # `start_run` may be about to return it
    _delete_runs([AnalysisRun.objects.defer("report", "problems").get(pk=run.pk)])
    _note(Deletion.Kind.RUN, run, str(run), user, [[1, "analysis run", ""]])


def _delete_runs(runs: list[AnalysisRun]) -> None:
    jobs = [run.job_id for run in runs if run.job_id]
    if Job.objects.filter(pk__in=jobs, status__in=_UNFINISHED).exists():
        raise DomainError("not_finished", "An analysis is still being made. Wait for the end, then delete it.")
    folders = folders_of(runs)
    AnalysisRun.objects.filter(pk__in=[run.pk for run in runs]).delete()
    delete_jobs(jobs)
    delete_on_commit(folders=folders)


def _note(kind: str, deleted: RatingsFile | AnalysisRun, name: str, user: User, contents: list[list[object]]) -> None:
    Deletion.objects.create(
        kind=kind, name=name[:255], object_id=deleted.pk, done_by=user, contents=contents, done_at=timezone.now()
    )
