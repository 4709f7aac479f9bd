"""The sweeper finds what was lost, and leaves alone what was not."""

import uuid
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from evalsite.jobs import handlers
from evalsite.jobs.models import Job, WorkerHeartbeat
from evalsite.jobs.queries import is_any_worker_alive
from evalsite.jobs.services import record_heartbeat, retry_job, sweep_jobs
from evalsite.jobs.tasks import sweep
from evalsite.lib.errors import DomainError

pytestmark = [pytest.mark.django_db, pytest.mark.databases("sqlite", "postgresql")]
NOW = timezone.now()


def swept(**fields: object) -> Job:
    job = Job.objects.create(kind="example.count", **fields)
    sweep_jobs(now=NOW)
    job.refresh_from_db()
    return job


def running(lease_until: datetime, attempts: int) -> dict[str, object]:
    return {
        "status": "running", "lease_token": uuid.uuid4(), "lease_until": lease_until, "attempts": attempts
    }  # fmt: skip


def test_a_waiting_job_is_handed_on() -> None:
    assert swept(run_after=NOW).swept_at == NOW


def test_a_job_that_is_not_due_is_left() -> None:
    assert swept(run_after=NOW + timedelta(seconds=1)).swept_at is None


def test_a_job_just_handed_on_is_left_for_a_while() -> None:
    just_now, long_ago = NOW - timedelta(seconds=59), NOW - timedelta(seconds=60)
    assert swept(run_after=NOW, swept_at=just_now).swept_at == just_now
    assert swept(run_after=NOW, swept_at=long_ago).swept_at == NOW


def test_a_leased_job_is_left() -> None:
    assert swept(**running(NOW + timedelta(seconds=1), attempts=1)).status == "running"


def test_a_job_whose_worker_died_runs_again() -> None:
    job = swept(**running(NOW - timedelta(seconds=1), attempts=2))
    assert (job.status, job.attempts, job.lease_token, job.swept_at) == ("queued", 2, None, NOW)


def test_a_job_whose_every_worker_died_is_given_up() -> None:
    job = swept(**running(NOW - timedelta(seconds=1), attempts=3))
    assert (job.status, job.error_code, job.finished_at) == ("failed", "lost", NOW)


def test_sweeping_costs_the_same_for_a_long_queue_of_known_jobs(django_assert_num_queries) -> None:
    Job.objects.bulk_create(Job(kind="example.count", swept_at=NOW) for _ in range(50))
    with django_assert_num_queries(3):
        sweep_jobs(now=NOW)


def test_a_worker_lives_until_half_a_minute_after_its_last_sign() -> None:
    assert not is_any_worker_alive()
    record_heartbeat("w1")
    record_heartbeat("w1")
    seen = WorkerHeartbeat.objects.get().last_seen_at
    assert is_any_worker_alive(now=seen + timedelta(seconds=30))
    assert not is_any_worker_alive(now=seen + timedelta(seconds=31))


def test_workers_long_gone_are_forgotten() -> None:
    record_heartbeat("w1")
    sweep_jobs(now=timezone.now() + timedelta(days=2))
    assert not WorkerHeartbeat.objects.exists()


def test_a_failed_job_gets_all_its_attempts_again() -> None:
    job = Job.objects.create(
        kind="example.count",
        status="failed",
        finished_at=NOW,
        error_code="lost",
        error_message="…",
        attempts=3,
    )
    retry_job(job)
    assert (job.status, job.attempts, job.error_code, job.finished_at) == ("queued", 0, "", None)


@pytest.mark.parametrize(
    "fields",
    [{}, running(NOW, 1), {"status": "succeeded", "finished_at": NOW}],
    ids=["queued", "running", "ended"],
)
def test_only_a_failed_job_can_be_retried(fields: dict[str, object]) -> None:
    job = Job.objects.create(kind="example.count", **fields)
    with pytest.raises(DomainError) as refusal:
        retry_job(job)
    assert refusal.value.code == "job_not_failed"


def test_a_chore_that_fails_does_not_keep_the_next_from_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    done = []

    def broken() -> None:
        raise RuntimeError("a fault of the periodic task's own")

    monkeypatch.setattr(handlers, "_periodic_tasks", [broken, lambda: done.append("next")])
    sweep()
    assert done == ["next"]
