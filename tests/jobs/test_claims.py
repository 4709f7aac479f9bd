"""Of many workers that want one job, exactly one gets it."""

import threading
import time
import uuid
from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest
from django.db import close_old_connections, connections
from django.utils import timezone

from evalsite.jobs.models import Job
from evalsite.jobs.running import claim_job
from evalsite.jobs.services import sweep_jobs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases("sqlite", "postgresql")]
N_WORKERS = 6


def claim_by_looking_first(job_id: UUID) -> Job | None:
    """The mistake that `claim_job` must not make."""
    job = Job.objects.get(pk=job_id)
    if job.status != Job.Status.QUEUED:
        return None
    time.sleep(0.2)
    job.status, job.lease_token, job.lease_until = Job.Status.RUNNING, uuid.uuid4(), timezone.now()
    job.save()
    return job


def winners(claim: Callable[[UUID], Job | None]) -> list[Job]:
    """Return what the workers got that all claimed one job at the same moment."""
    job = Job.objects.create(kind="example.count")
    start = threading.Barrier(N_WORKERS)
    claimed: list[Job | None] = []

    def work() -> None:
        close_old_connections()
        start.wait()
        claimed.append(claim(job.pk))
        connections.close_all()

    threads = [threading.Thread(target=work) for _ in range(N_WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(claimed) == N_WORKERS
    return [job for job in claimed if job]


def test_one_worker_gets_the_job() -> None:
    for _ in range(10):
        assert len(winners(claim_job)) == 1


def test_the_race_is_a_real_one() -> None:
    assert len(winners(claim_by_looking_first)) > 1


def test_many_sweepers_take_a_lost_job_back_once() -> None:
    past = timezone.now() - timedelta(minutes=5)
    job = Job.objects.create(
        kind="example.count", status="running", lease_token=uuid.uuid4(), lease_until=past, attempts=1
    )
    threads = [threading.Thread(target=_sweep) for _ in range(N_WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    job.refresh_from_db()
    assert (job.status, job.attempts) == ("queued", 1)
    assert job.swept_at


def _sweep() -> None:
    sweep_jobs()
    connections.close_all()
