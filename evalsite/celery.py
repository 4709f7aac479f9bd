"""What Celery's workers run, and the app with it: it carries job ids; the jobs themselves live in the database.

With Redis, `celery -A evalsite worker` and `celery -A evalsite beat` run beside the web process.
Without, `evalsite.jobs.workers` does the work of both in threads of the web process.

It is imported where jobs are run; `evalsite.jobs.queue` is enough to send them.
"""

from functools import partial
from typing import Any
from uuid import UUID

from celery import signals

from evalsite.jobs.queue import app


def _run_job(job_id: str) -> None:
    """Run one job, if it is still to be run."""
    from evalsite.jobs.running import run_job

    run_job(UUID(job_id))


def _sweep() -> None:
    from evalsite.jobs.tasks import sweep

    sweep()


app.task(_run_job, name="jobs.run")
app.task(_sweep, name="jobs.sweep")


def _start_heartbeat(sender: Any, **kwargs: Any) -> None:
    from evalsite.jobs.services import record_heartbeat
    from evalsite.jobs.timing import HEARTBEAT_S, Ticker

    Ticker("job worker heartbeat", HEARTBEAT_S, partial(record_heartbeat, sender.hostname)).start()


def _import_for_jobs(**kwargs: Any) -> None:
    from evalsite.jobs.handlers import import_for_jobs
    from evalsite.jobs.timing import IMPORT_EARLY

    if IMPORT_EARLY:
        import_for_jobs()


signals.worker_init.connect(_import_for_jobs)  # before its processes are forked, which then share the memory
signals.worker_ready.connect(_start_heartbeat)
