"""Running one job: claim it, keep its lease, judge how it ended."""

import logging
import time
import traceback
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from django.db import InterfaceError, OperationalError, close_old_connections
from django.db.models import F, QuerySet
from django.utils import timezone

from evalsite.jobs.failures import record_failure
from evalsite.jobs.handlers import JobContext, LeaseLostError, Progress, get_handler
from evalsite.jobs.models import QUEUED_AGAIN, Job
from evalsite.jobs.timing import BACKOFF_S, LEASE_S, PROGRESS_S, Ticker
from evalsite.lib.context import Work, working_on
from evalsite.lib.errors import DomainError
from evalsite.lib.masking import mask_tokens
from evalsite.lib.outages import DISK_FULL, outage_of

logger = logging.getLogger(__name__)

# Faults that pass: worth another attempt, unlike a bug or a mistake in the data.
PASSING_FAULTS = (OperationalError, InterfaceError, ConnectionError, TimeoutError)

_MOST_DETAILS = 20_000

# Tokens of the jobs that this process is running, so that a process that ends in order can give them back.
_held_tokens: set[UUID] = set()


def run_job(job_id: UUID) -> None:
    """Run a job to its end, and record how it ended; do nothing if another worker has it or it is not due."""
    job = claim_job(job_id)
    if job is None:
        return
    with working_on(Work(job_id=str(job.pk), owner=job.owner)):
        _run(job)


def _run(job: Job) -> None:
    ctx = JobContext(hold_lease=partial(_hold_lease, job))
    with _keeping_lease(job, ctx):
        outcome = _outcome(job, ctx)
    close_old_connections()  # the handler may have left a broken one
    if "error_code" in outcome:
        is_kept = record_failure(job, _leased(job), timezone.now(), **outcome)
    else:
        is_kept = bool(_leased(job).update(**{"lease_token": None, "lease_until": None, **outcome}))
    if not is_kept:
        logger.warning("%s ended after its lease was lost; the result is refused", job)


def claim_job(job_id: UUID) -> Job | None:
    """Lease a job that is queued and due; of many callers at once, all but one get None."""
    now, token = timezone.now(), uuid.uuid4()
    # One UPDATE: of two workers, one finds the row still queued.
    claimed = Job.objects.filter(pk=job_id, status=Job.Status.QUEUED, run_after__lte=now).update(
        status=Job.Status.RUNNING,
        lease_token=token,
        lease_until=_lease_end(now),
        attempts=F("attempts") + 1,
        started_at=now,
        stage="",
        done=0,
        total=0,
    )
    return Job.objects.select_related("owner").get(pk=job_id, lease_token=token) if claimed else None


def give_back_jobs() -> None:
    """Queue again, at no attempt's cost, what this process is still running: it is about to end."""
    Job.objects.filter(lease_token__in=list(_held_tokens)).update(**QUEUED_AGAIN, attempts=F("attempts") - 1)


def _outcome(job: Job, ctx: JobContext) -> dict[str, Any]:
    """Call the handler; return the fields that say how it went."""
    try:
        get_handler(job.kind)(ctx, **job.args)
    except LeaseLostError:
        return {}
    except DomainError as error:
        return _failed(error.code, error.message, ctx)
    except Exception as error:
        outage = outage_of(error)
        is_passing = isinstance(error, PASSING_FAULTS) or outage is not None
        if is_passing and job.attempts < job.max_attempts:
            logger.warning("%s is tried again after attempt %d: %s", job, job.attempts, error)
            return _queued_again(job)
        logger.exception("%s failed in attempt %d", job, job.attempts)
        if outage is DISK_FULL:
            message = "The disk of this site is full. Once an administrator has made room, retry it."
            return _failed(outage.code, message, ctx, _traceback_of(error))
        if is_passing:
            message = f"Something that this needs did not answer in {job.attempts} attempts. Retry it later."
            return _failed("unavailable", message, ctx, _traceback_of(error))
        message = (
            f"Something went wrong on the server. If a retry fails too, tell an administrator this number: {job.pk}."
        )
        return _failed("internal", message, ctx, _traceback_of(error))
    total = ctx.reported.total
    return {
        "status": Job.Status.SUCCEEDED,
        "finished_at": timezone.now(),
        "done": total,
        "total": total,
        "stage": "",
    }


def _failed(code: str, message: str, ctx: JobContext, details: str = "") -> dict[str, Any]:
    return {"error_code": code, "error_message": message, "error_details": details, **ctx.reported._asdict()}


def _traceback_of(error: Exception) -> str:
    """Return the end of a traceback, without tokens, as the log has it; PostgreSQL takes no NUL."""
    return mask_tokens("".join(traceback.format_exception(error))).replace("\0", "")[-_MOST_DETAILS:]


def _queued_again(job: Job) -> dict[str, Any]:
    pause = timedelta(seconds=BACKOFF_S * 2 ** (job.attempts - 1))
    return {**QUEUED_AGAIN, "run_after": timezone.now() + pause, "stage": "Waiting to try again"}


def _lease_end(now: datetime) -> datetime:
    return now + timedelta(seconds=LEASE_S)


def _leased(job: Job) -> QuerySet[Job]:
    """Return the job, if it is still ours."""
    return Job.objects.filter(pk=job.pk, lease_token=job.lease_token)


def _hold_lease(job: Job) -> None:
    """Renew the lease, which locks the row until the transaction ends; raise LeaseLostError if it is gone."""
    if not _leased(job).update(lease_until=_lease_end(timezone.now())):
        raise LeaseLostError


@contextmanager
def _keeping_lease(job: Job, ctx: JobContext) -> Iterator[None]:
    """Renew the lease and write the progress from a thread: the handler may be deep in one long call."""
    assert job.lease_token
    written = Progress()
    renew_at = time.monotonic() + LEASE_S / 4

    def keep() -> None:
        nonlocal written, renew_at
        reported = ctx.reported
        if reported == written and time.monotonic() < renew_at:
            return
        kept = _leased(job).update(lease_until=_lease_end(timezone.now()), **reported._asdict())
        ctx.lease_lost = not kept
        written, renew_at = reported, time.monotonic() + LEASE_S / 4

    keeper = Ticker(f"lease of {job}", PROGRESS_S, keep)
    _held_tokens.add(job.lease_token)
    keeper.start()
    try:
        yield
    finally:
        keeper.stop()
        _held_tokens.discard(job.lease_token)
