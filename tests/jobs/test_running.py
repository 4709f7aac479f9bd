"""How a job ends, whatever its handler does; and that a late finisher changes nothing."""

import logging
import threading
import time
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.db import IntegrityError, connections, transaction
from django.utils import timezone

from evalsite.jobs import running
from evalsite.jobs.handlers import JobContext, LeaseLostError, enqueue, get_handler, job_handler
from evalsite.jobs.models import STAGE_LENGTH, Job
from evalsite.jobs.running import claim_job, give_back_jobs, run_job
from evalsite.jobs.services import sweep_jobs
from tests.jobs.example.tasks import count
from tests.services import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases("sqlite", "postgresql")]


def run(kind: str, notes: Path, **args: object) -> Job:
    job = enqueue(kind, args={"notes": str(notes), **args})
    run_job(job.pk)
    job.refresh_from_db()
    return job


def start(job: Job) -> threading.Thread:
    """Run a job in a thread, as a worker would."""

    def work() -> None:
        run_job(job.pk)
        connections.close_all()

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_a_job_that_works_ends_in_success_with_all_done(notes: Path) -> None:
    job = run("example.count", notes, n=5)

    assert (job.status, job.done, job.total, job.attempts) == ("succeeded", 5, 5, 1)
    assert job.started_at
    assert job.finished_at
    assert notes.read_text().split() == ["start", "end"]


def test_a_finished_job_does_not_run_again(notes: Path) -> None:
    run_job(run("example.count", notes).pk)

    assert notes.read_text().split() == ["start", "end"]


def test_progress_is_seen_while_the_job_runs(notes: Path) -> None:
    job = enqueue("example.count", args={"notes": str(notes), "n": 4, "pause_s": 0.3})
    thread = start(job)
    wait_until(lambda: Job.objects.filter(done=1, total=4, stage="Counting").exists(), 5, "the first count shows")
    thread.join()


def test_progress_in_an_inner_loop_costs_next_to_nothing() -> None:
    ctx = JobContext()
    begin = time.perf_counter()
    for i in range(100_000):
        ctx.progress(i, 100_000, "Resampling")
    assert time.perf_counter() - begin < 2


def test_progress_keeps_the_stage_and_stays_within_the_total() -> None:
    ctx = JobContext()
    ctx.progress(1, 2, "s" * 1000)
    ctx.progress(3, 2)
    assert ctx.reported == (2, 2, "s" * STAGE_LENGTH)


def test_a_refusal_is_shown_and_not_retried(notes: Path) -> None:
    job = run("example.refuse", notes)

    assert (job.status, job.attempts) == ("failed", 1)
    assert (job.error_code, job.error_message) == ("too_few_ratings", "Line 3: fewer than two ratings.")
    assert (job.done, job.total, job.stage) == (1, 4, "Reading")


def test_its_kind_may_react_to_a_failure_in_the_transaction_that_says_so(notes: Path) -> None:
    run("example.refuse", notes)
    assert notes.read_text().split() == ["start", "failed:too_few_ratings:failed"]
    lost = Job.objects.create(
        kind="example.refuse",
        args={"notes": str(notes)},
        status="running",
        lease_token=uuid4(),
        lease_until=timezone.now() - timedelta(seconds=1),
        attempts=3,
    )
    sweep_jobs()
    lost.refresh_from_db()
    assert (lost.status, lost.error_code) == ("failed", "lost")
    assert notes.read_text().split()[-1] == "failed:lost:failed"


def test_what_fails_to_follow_from_a_failure_does_not_undo_it(notes: Path, caplog: pytest.LogCaptureFixture) -> None:
    job = run("example.bug", notes)
    assert (job.status, job.error_code, job.stage) == ("failed", "internal", "")
    assert "nothing follows from the failure" in caplog.text


def test_a_passing_fault_is_tried_again_after_ever_longer_pauses(notes: Path) -> None:
    job = enqueue("example.flaky", args={"notes": str(notes), "faults": 2})
    for pause_s in (10, 20):
        before = timezone.now()
        run_job(job.pk)
        job.refresh_from_db()
        assert job.status == "queued"
        assert abs(job.run_after - before - timedelta(seconds=pause_s)) < timedelta(seconds=2)

        run_job(job.pk)  # too early: nothing happens
        Job.objects.update(run_after=timezone.now())

    run_job(job.pk)
    job.refresh_from_db()
    assert (job.status, job.attempts) == ("succeeded", 3)
    assert notes.read_text().split() == ["start"] * 3


def test_a_fault_that_does_not_pass_fails_in_the_last_attempt(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "BACKOFF_S", 0)
    job = enqueue("example.flaky", args={"notes": str(notes), "faults": 99})
    for _ in range(5):
        run_job(job.pk)

    job.refresh_from_db()
    assert (job.status, job.error_code, job.attempts) == ("failed", "unavailable", 3)
    assert "no route" not in job.error_message


def test_a_full_disk_is_tried_again_then_named(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "BACKOFF_S", 0)
    job = enqueue("example.no_room", args={"notes": str(notes)})
    for _ in range(4):
        run_job(job.pk)
    job.refresh_from_db()
    assert (job.status, job.error_code, job.attempts) == ("failed", "disk_full", 3)
    assert "disk" in job.error_message


def test_a_bug_is_logged_and_hidden_from_the_user(notes: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        job = run("example.bug", notes)

    assert (job.status, job.error_code, job.attempts) == ("failed", "internal", 1)
    assert str(job.pk) in job.error_message
    assert "1234" not in job.error_message
    assert "Traceback" in caplog.text
    assert "the password is 1234" in caplog.text


def test_a_long_call_keeps_its_lease(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "LEASE_S", 0.8)
    monkeypatch.setattr(running, "PROGRESS_S", 0.05)
    job = enqueue("example.sleep", args={"notes": str(notes), "seconds": 1.2})
    thread = start(job)
    while thread.is_alive():
        sweep_jobs()
        time.sleep(0.05)

    job.refresh_from_db()
    assert (job.status, job.attempts) == ("succeeded", 1)
    assert notes.read_text().split() == ["start", "end"]


def test_without_renewal_the_sweeper_would_have_taken_it(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "LEASE_S", 0.2)
    monkeypatch.setattr(running, "PROGRESS_S", 60)  # the keeper sleeps too long
    job = enqueue("example.sleep", args={"notes": str(notes), "seconds": 0.6})
    thread = start(job)
    while thread.is_alive():
        sweep_jobs()
        time.sleep(0.05)

    job.refresh_from_db()
    assert job.status == "queued"
    assert notes.read_text().split() == ["start"]  # `saving` refused the result


def test_a_late_finisher_is_refused(notes: Path, caplog: pytest.LogCaptureFixture) -> None:
    job = enqueue("example.count", args={"notes": str(notes), "n": 2, "pause_s": 0.2})
    thread = start(job)
    wait_until(lambda: "start" in notes.read_text(), 5, "the job runs")
    Job.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    sweep_jobs()
    other = claim_job(job.pk)
    thread.join()

    job.refresh_from_db()
    assert other
    assert (job.status, job.lease_token, job.attempts) == ("running", other.lease_token, 2)
    assert "result is refused" in caplog.text


def test_progress_stops_a_handler_that_lost_its_lease() -> None:
    ctx = JobContext()
    ctx.lease_lost = True
    with pytest.raises(LeaseLostError):
        ctx.progress(1, 2)


def test_saving_writes_nothing_without_the_lease() -> None:
    def lost() -> None:
        raise LeaseLostError

    with pytest.raises(LeaseLostError), JobContext(hold_lease=lost).saving():
        Job.objects.create(kind="example.count")
    assert not Job.objects.exists()


def test_a_process_that_ends_gives_its_jobs_back(notes: Path) -> None:
    job = enqueue("example.count", args={"notes": str(notes), "n": 1, "pause_s": 0.5})
    thread = start(job)
    wait_until(lambda: "start" in notes.read_text(), 5, "the job runs")
    give_back_jobs()
    thread.join()

    job.refresh_from_db()
    assert (job.status, job.attempts, job.lease_token) == ("queued", 0, None)


def test_a_job_whose_kind_is_gone_fails(notes: Path) -> None:
    job = enqueue("example.count")
    Job.objects.update(kind="example.gone")
    run_job(job.pk)

    job.refresh_from_db()
    assert (job.status, job.error_code) == ("failed", "internal")


def test_an_unknown_kind_is_refused_at_once() -> None:
    with pytest.raises(LookupError, match=r"example\.count"):
        enqueue("example.unknown")
    assert not Job.objects.exists()


def test_two_handlers_of_one_kind_are_refused() -> None:
    with pytest.raises(ValueError, match=r"example\.count"):
        job_handler("example.count")(count)
    assert get_handler("example.count") is count


@pytest.mark.parametrize(
    "broken",
    [
        {"status": "paused"},
        {"status": "running"},
        {"status": "succeeded"},
        {"status": "failed", "finished_at": timezone.now()},
        {"lease_until": timezone.now()},
        {"error_code": "internal"},
        {"attempts": 4},
    ],
    ids=lambda broken: " ".join(broken),
)
def test_the_database_refuses_a_job_that_cannot_be(broken: dict[str, object]) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Job.objects.create(kind="example.count", **broken)
