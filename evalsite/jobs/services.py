"""Handing jobs to workers, retrying them, and finding what was lost."""

import logging
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from evalsite.jobs.failures import is_retry_allowed, record_failure
from evalsite.jobs.models import QUEUED_AGAIN, Job, WorkerHeartbeat
from evalsite.jobs.timing import LEASE_S
from evalsite.lib.errors import DomainError

logger = logging.getLogger(__name__)

# How many waiting jobs one sweep hands on; the rest of a longer queue has its turn at the next.
SWEEP_LIMIT = 200


@transaction.atomic
def retry_job(job: Job, *, by_administrator: bool = False) -> Job:
    """Queue a failed job again, with all its attempts.

    Raises DomainError `not_allowed` if its owner may not change any more what it is about, `job_not_failed` for a job
    that has not failed. An administrator may also retry one that nobody owns.
    """
    if not is_retry_allowed(job) and not (by_administrator and job.owner_id is None):
        raise DomainError(
            "not_allowed",
            "This job cannot be retried: its owner is no longer an editor of the campaign, or the campaign is gone.",
        )
    retried = Job.objects.filter(pk=job.pk, status=Job.Status.FAILED).update(
        **QUEUED_AGAIN,
        attempts=0,
        run_after=timezone.now(),
        finished_at=None,
        error_code="",
        error_message="",
        error_details="",
        done=0,
        total=0,
    )
    job.refresh_from_db()
    if not retried:
        raise DomainError("job_not_failed", f"Only a failed job can be retried; this one is {job.status}.")
    transaction.on_commit(partial(hand_over, job.pk))
    return job


def hand_over(job_id: UUID) -> bool:
    """Send a job's id to the workers, twice if need be; return whether the broker took the message."""
    from kombu.exceptions import OperationalError as BrokerError

    from evalsite.jobs.queue import app

    try:
        app.send_task("jobs.run", args=[str(job_id)], retry=False)
    except (BrokerError, OSError) as error:
        logger.warning("job %s waits for the sweeper, as the broker does not answer: %s", job_id, error)
        return False
    return True


def sweep_jobs(now: datetime | None = None) -> None:
    """Take back the jobs whose worker died, and hand on every due job that nobody has picked up.

    Safe to run anywhere and twice at once: every change is one UPDATE that names the state it expects.
    """
    now = now or timezone.now()
    for job in Job.objects.filter(status=Job.Status.RUNNING, lease_until__lt=now):
        _take_back(job, now)

    again = now - timedelta(seconds=LEASE_S)
    waiting = Job.objects.filter(
        Q(swept_at=None) | Q(swept_at__lte=again), status=Job.Status.QUEUED, run_after__lte=now
    )
    for job_id in waiting.order_by("run_after").values_list("pk", flat=True)[:SWEEP_LIMIT]:
        if waiting.filter(pk=job_id).update(swept_at=now) and not hand_over(job_id):
            Job.objects.filter(pk=job_id).update(swept_at=None)
            break
    WorkerHeartbeat.objects.filter(last_seen_at__lt=now - timedelta(days=1)).delete()


def _take_back(job: Job, now: datetime) -> None:
    """End the expired lease of a job, unless its worker has just renewed it or another sweeper was first."""
    expired = Job.objects.filter(pk=job.pk, lease_token=job.lease_token, lease_until__lt=now)
    if job.attempts < job.max_attempts:
        logger.warning("%s lost its worker in attempt %d and is run again", job, job.attempts)
        expired.update(**QUEUED_AGAIN, run_after=now)
    elif record_failure(
        job,
        expired,
        now,
        error_code="lost",
        error_message=f"The worker died in each of {job.attempts} attempts. Does the server have enough memory?",
    ):
        logger.error("%s lost its worker in attempt %d and is given up", job, job.attempts)


def record_heartbeat(name: str) -> None:
    """Note that the worker `name` lives."""
    WorkerHeartbeat.objects.update_or_create(name=name, defaults={"last_seen_at": timezone.now()})
