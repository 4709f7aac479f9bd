"""A process that runs jobs until it is killed, and is followed by another at once, as under a supervisor.

`python -m tests.crowd.running FILE` is the supervisor. It has everything imported and forks worker after worker, whose
process ids it writes to the file. A worker finds its jobs in the database: Celery, which is tried out elsewhere, would
take most of the time of its short life.
"""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import NoReturn, Self

from django.conf import settings

from evalsite.jobs import timing
from tests.annotation.servers import ROOT, database_url
from tests.services import wait_until


class JobProcess:
    """A worker in a process of its own, on the test's database. Ends with its block."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.n_kills = 0
        self._pid_file = folder / "pid"
        own = {
            "DJANGO_SETTINGS_MODULE": "evalsite.settings",
            "EVALSITE_DATA": str(folder),
            "SECRET_KEY": settings.SECRET_KEY,
            "DATABASE_URL": database_url(),
            "CROWD_CALLS_PER_S": "50",
            "CROWD_BACKOFF_S": "0",
            "CROWD_REST_S": "0",
        }
        with (folder / "log").open("ab") as log:
            self._supervisor = subprocess.Popen(
                [sys.executable, "-m", "tests.crowd.running", str(self._pid_file)],
                cwd=ROOT,
                env=os.environ | own | environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        wait_until(self._pid_file.exists, 60, "the first worker is there")
        return self

    def __exit__(self, *error: object) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._supervisor.pid, signal.SIGKILL)
        self._supervisor.wait()

    def kill(self) -> None:
        """End the worker at once, whatever it is doing; return when there is another."""
        pid = self._pid_file.read_text()
        os.kill(int(pid), signal.SIGKILL)
        self.n_kills += 1
        wait_until(lambda: self._pid_file.read_text() != pid, 30, "another worker follows")


def supervise(path: Path) -> None:
    """Start worker after worker."""
    # A worker's death is noticed soon. A busy machine that is slower still only has one more worker take a job over.
    timing.LEASE_S, timing.BACKOFF_S = 0.6, 0  # type: ignore[assignment]

    import django

    django.setup()
    from django.db import connections
    from django.urls import reverse

    from campaigns.platforms import platforms
    from campaigns.platforms.mturk.client import Keys, Service
    from crowd.services.syncing import polling
    from evalsite.celery import app
    from evalsite.jobs import handlers, running  # noqa: F401
    from evalsite.jobs.discovery import load_handlers

    # What each worker would import and read again, botocore's models among it.
    load_handlers()
    platforms.all()
    reverse("home")
    app.send_task("jobs.sweep")
    Service("mturk", Keys("KEY", "SECRET"), is_sandbox=True)
    polling.SOON = polling.REST = timedelta(seconds=0.5)
    handlers._handlers["analysis.campaign"] = lambda ctx, **ids: None  # what a campaign's end sets off takes long
    while True:
        connections.close_all()
        if not (pid := os.fork()):
            work()
        draft = path.with_suffix(".draft")
        draft.write_text(str(pid))
        draft.replace(path)
        os.waitpid(pid, 0)


def work() -> NoReturn:
    """Sweep, do the periodic tasks and run what is due, for ever."""
    from django.utils import timezone

    from evalsite.jobs.models import Job
    from evalsite.jobs.running import run_job
    from evalsite.jobs.tasks import sweep

    while True:
        sweep()
        due = Job.objects.filter(status=Job.Status.QUEUED, run_after__lte=timezone.now())
        for job_id in due.order_by("run_after").values_list("pk", flat=True):
            run_job(job_id)
        time.sleep(0.2)


if __name__ == "__main__":
    supervise(Path(sys.argv[1]))
