"""Jobs that note in the file `notes` when they run, and end as their name says."""

import errno
import time
from pathlib import Path

from evalsite.jobs.failures import on_failure
from evalsite.jobs.handlers import JobContext, job_handler
from evalsite.jobs.models import Job
from evalsite.lib.errors import DomainError


@job_handler("example.count")
def count(ctx: JobContext, notes: str, n: int = 3, pause_s: float = 0.0) -> None:
    """Count to `n`, so slowly that a test can look on."""
    _note(notes, "start")
    for i in range(n):
        time.sleep(pause_s)
        ctx.progress(i + 1, n, "Counting")
    _note(notes, "end")


@job_handler("example.sleep")
def sleep(ctx: JobContext, notes: str, seconds: float) -> None:
    """Do not come back for a while, as one long NumPy call."""
    _note(notes, "start")
    time.sleep(seconds)
    with ctx.saving():
        _note(notes, "end")


@job_handler("example.refuse")
def refuse(ctx: JobContext, notes: str) -> None:
    """Meet data that cannot be analysed."""
    ctx.progress(1, 4, "Reading")
    _note(notes, "start")
    raise DomainError("too_few_ratings", "Line 3: fewer than two ratings.")


@job_handler("example.flaky")
def flaky(ctx: JobContext, notes: str, faults: int) -> None:
    """Meet a passing fault the first so many times."""
    _note(notes, "start")
    if Path(notes).read_text().count("start") <= faults:
        raise ConnectionError("no route to host")


@job_handler("example.no_room")
def find_no_room(ctx: JobContext, notes: str) -> None:
    """Meet a full disk."""
    _note(notes, "start")
    raise OSError(errno.ENOSPC, "No space left on device")


@job_handler("example.bug")
def bug(ctx: JobContext, notes: str) -> None:
    """Contain a bug."""
    _note(notes, "start")
    raise ValueError("the password is 1234")


@on_failure("example.refuse")
def note_failure(job: Job) -> None:
    """Note that a job has failed, and why."""
    _note(job.args["notes"], f"failed:{job.error_code}:{job.status}")


@on_failure("example.bug")
def fail_too(job: Job) -> None:
    """Contain a bug, after having written something."""
    Job.objects.filter(pk=job.pk).update(stage="written by the bug")
    raise ValueError("a bug in what follows")


def _note(notes: str, text: str) -> None:
    with Path(notes).open("a") as file:
        file.write(f"{text}\n")
