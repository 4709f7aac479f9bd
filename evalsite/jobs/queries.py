"""Reading jobs: first whether this user may, then what a page shows."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone

from evalsite.accounts.models import User
from evalsite.jobs.models import Job, WorkerHeartbeat
from evalsite.jobs.timing import SILENCE_S

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
