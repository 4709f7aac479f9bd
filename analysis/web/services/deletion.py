"""Deleting ratings files and analyses: rows at once, files when the transaction is through."""

from django.db import transaction
from django.utils import timezone

from analysis.models import AnalysisRun, PowerAnalysis, RatingsFile
from analysis.web.records import delete_jobs, folders_of
from campaigns.models import Deletion
from evalsite.accounts.models import User
from evalsite.jobs.models import Job
from evalsite.lib.errors import DomainError
from evalsite.undo.acts import put_aside, restore_rows
from evalsite.undo.models import Act

_UNFINISHED = (Job.Status.QUEUED, Job.Status.RUNNING)


@transaction.atomic
def delete_ratings_file(*, ratings_file: RatingsFile, user: User, act: Act | None = None) -> None:
    """Delete a ratings file, or a campaign's snapshot, with its analyses; raise DomainError `not_finished`."""
    locked = RatingsFile.objects.select_for_update().get(pk=ratings_file.pk)
    runs, scores = list(locked.runs.defer("report", "problems").order_by()), list(locked.metric_scores.all())
    put_aside(act, [locked, *scores], files=[locked.file.name or "", *(each.file.name or "" for each in scores)])
    _delete_runs(runs, act)
    locked.metric_scores.all().delete()
    note = [[1, "ratings file", locked.name], [len(runs), "analysis run", ""]]
    note += [[len(scores), "file of metric scores", ""]] if scores else []
    _note(Deletion.Kind.RATINGS_FILE, locked, locked.title, user, note)
    locked.delete()


@transaction.atomic
def delete_run(*, run: AnalysisRun, user: User, act: Act | None = None) -> None:
    """Delete one analysis; those changed from it stay. Raises DomainError `not_finished`."""
    RatingsFile.objects.select_for_update().get(pk=run.ratings_file_id)  # `start_run` may be about to return it
    _delete_runs([AnalysisRun.objects.defer("report", "problems").get(pk=run.pk)], act)
    _note(Deletion.Kind.RUN, run, str(run), user, [[1, "analysis run", ""]])


@transaction.atomic
def restore_results(*, act: Act) -> None:
    """Take `delete_run` or `delete_ratings_file` back; raise DomainError `changed_since`."""
    restore_rows(act)
    Deletion.objects.filter(object_id__in=[row["pk"] for row in act.rows]).delete()
    for child, parent in act.values.get("parents", {}).items():
        AnalysisRun.objects.filter(pk=child, parent=None).update(parent=parent)
    for plan, pilot in act.values.get("pilots", {}).items():
        PowerAnalysis.objects.filter(pk=plan, pilot=None).update(pilot=pilot)


def _delete_runs(runs: list[AnalysisRun], act: Act | None) -> None:
    jobs, ids = [run.job_id for run in runs if run.job_id], [run.pk for run in runs]
    if Job.objects.filter(pk__in=jobs, status__in=_UNFINISHED).exists():
        raise DomainError("not_finished", "An analysis is still being made. Wait for the end, then delete it.")
    put_aside(act, [*Job.objects.filter(pk__in=jobs), *runs], folders=folders_of(runs))
    if act:  # what refers to a run that is gone says so no more
        children = AnalysisRun.objects.filter(parent__in=ids).exclude(pk__in=ids).values_list("pk", "parent")
        plans = PowerAnalysis.objects.filter(pilot__in=ids).values_list("pk", "pilot")
        for name, found in (("parents", children), ("pilots", plans)):
            act.values[name] = {str(one): str(other) for one, other in found}
    AnalysisRun.objects.filter(pk__in=ids).delete()
    delete_jobs(jobs)


def _note(kind: str, deleted: RatingsFile | AnalysisRun, name: str, user: User, contents: list[list[object]]) -> None:
    Deletion.objects.create(
        kind=kind, name=name[:255], object_id=deleted.pk, done_by=user, contents=contents, done_at=timezone.now()
    )
