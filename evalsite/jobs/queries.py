"""Reading jobs: first whether this user may, then what a page shows."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Count, Max, Min, QuerySet
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone

from evalsite.accounts.models import User
from evalsite.jobs.models import Job, WorkerHeartbeat
from evalsite.jobs.timing import SILENCE_S

FAULT_CODES = ("internal", "unavailable", "disk_full", "lost")
"""Error codes of jobs that failed for a fault of the site or of what it needs, not for what they were given."""
_STAGE_WHEN_NONE = {
    Job.Status.QUEUED: "Waiting for a worker",
    Job.Status.RUNNING: "Running",
    Job.Status.SUCCEEDED: "Done",
    Job.Status.FAILED: "Failed",
}


def get_job_for(user: User, job_id: UUID) -> Job:
    """Return the user's own job; raise Http404 for everybody else's."""
    return get_object_or_404(Job, pk=job_id, owner=user)


def is_any_worker_alive(now: datetime | None = None) -> bool:
    """Return whether a worker was seen in the last half minute."""
    since = (now or timezone.now()) - timedelta(seconds=SILENCE_S)
    return WorkerHeartbeat.objects.filter(last_seen_at__gte=since).exists()


def job_state(job: Job) -> dict[str, Any]:
    """Return what a page shows of a job, as plain values; one query, none once it has finished.

    `percent` is None while the total is not known; `error` is None or has a stable `code` and a `message`.
    """
    failed = job.status == Job.Status.FAILED
    return {
        "status": job.status,
        "stage": job.stage if job.stage and not job.is_finished else _STAGE_WHEN_NONE[Job.Status(job.status)],
        "done": job.done,
        "total": job.total,
        "percent": _percent(job),
        "error": {"code": job.error_code, "message": job.error_message} if failed else None,
        "worker_alive": job.is_finished or is_any_worker_alive(),
        "finished": job.is_finished,
        "url": reverse("jobs:state", args=[job.pk]),
        "retry_url": reverse("jobs:retry", args=[job.pk]),
    }


def _percent(job: Job) -> int | None:
    if job.status == Job.Status.SUCCEEDED:
        return 100
    return 100 * job.done // job.total if job.total else None


# --- What administrators see of all jobs


@dataclass(frozen=True)
class Workers:
    """The workers that were seen lately, and what is known of the time since which none is.

    `waiting_since` is when the first of the jobs that are due could have begun; `n_due` is how many these are.
    """

    alive: list[WorkerHeartbeat]
    silent: list[WorkerHeartbeat]
    last_started_at: datetime | None
    n_due: int
    waiting_since: datetime | None

    @property
    def last_seen_at(self) -> datetime | None:
        """When a worker was last seen, or a job last began; None if that is not known any more."""
        times = [each.last_seen_at for each in (*self.alive, *self.silent)]
        return max([*times, *([self.last_started_at] if self.last_started_at else [])], default=None)


def get_workers(now: datetime) -> Workers:
    """Return which workers live, and since when jobs wait."""
    beats = list(WorkerHeartbeat.objects.order_by("-last_seen_at"))
    since = now - timedelta(seconds=SILENCE_S)
    due = Job.objects.filter(status=Job.Status.QUEUED, run_after__lte=now).aggregate(
        n=Count("pk"), first=Min("run_after")
    )
    return Workers(
        [beat for beat in beats if beat.last_seen_at >= since],
        [beat for beat in beats if beat.last_seen_at < since],
        Job.objects.aggregate(last=Max("started_at"))["last"],
        due["n"],
        due["first"],
    )


def count_jobs() -> dict[str, int]:
    """Return the number of jobs in each status."""
    counted = Job.objects.order_by().values_list("status").annotate(n=Count("pk"))
    return dict.fromkeys(Job.Status.values, 0) | dict(counted)


def count_faults(since: datetime) -> int:
    """Return how many jobs have failed since then for a fault of the site (`FAULT_CODES`), and were not retried."""
    return Job.objects.filter(status=Job.Status.FAILED, error_code__in=FAULT_CODES, finished_at__gte=since).count()


def list_jobs(*, status: str = "", kind: str = "", search: str = "") -> QuerySet[Job]:
    """Return jobs with their owners, newest first; `search` is a job's number or part of its owner's address."""
    found = Job.objects.select_related("owner").order_by("-created_at", "pk")
    if status:
        found = found.filter(status=status)
    if kind:
        found = found.filter(kind=kind)
    if search:
        try:
            found = found.filter(pk=UUID(search.strip()))
        except ValueError:
            found = found.filter(owner__email__icontains=search.strip())
    return found
