"""The Celery app: it carries job ids to workers; the jobs themselves live in the database.

With Redis, `celery -A evalsite worker` and `celery -A evalsite beat` run beside the web process.
Without, `evalsite.jobs.workers` does the work of both in threads of the web process.

It is imported where jobs are sent or run, not with the site: without it a command starts in a fifth less time.
"""

import os
from typing import Any
from uuid import UUID

from celery import Celery, signals

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")

app = Celery("evalsite")
app.config_from_object("django.conf:settings", namespace="CELERY")


def _run_job(job_id: str) -> None:
    """Run one job, if it is still to be run."""
    from evalsite.jobs.running import run_job

    run_job(UUID(job_id))


def _sweep() -> None:
    from evalsite.jobs.tasks import sweep

    sweep()


app.task(_run_job, name="jobs.run")
app.task(_sweep, name="jobs.sweep")


def _complete_settings(sender: Celery, **kwargs: Any) -> None:
    from evalsite.jobs.timing import SWEEP_S

    sender.conf.beat_schedule = {
        "sweep-jobs": {
            "task": "jobs.sweep",
            "schedule": SWEEP_S,
            # Behind a busy worker one sweep may wait, not a pile of them.
            "options": {"expires": SWEEP_S},
        }
    }
    # Nothing to remember between starts, so no schedule file to write.
    sender.conf.beat_scheduler = "celery.beat:Scheduler"
    if sender.conf.broker_url.startswith("memory:"):
        sender.conf.broker_transport_options = {"polling_interval": 0.05}
    else:
        # A request that enqueues must not hang on a broker that has gone away.
        sender.conf.broker_transport_options = {"socket_connect_timeout": 2, "socket_timeout": 10}


def _start_heartbeat(sender: Any, **kwargs: Any) -> None:
    from evalsite.jobs.workers import start_heartbeat

    start_heartbeat(sender.hostname)


def _import_for_jobs(**kwargs: Any) -> None:
    from evalsite.jobs.handlers import import_for_jobs
    from evalsite.jobs.timing import IMPORT_EARLY

    if IMPORT_EARLY:
        import_for_jobs()


app.on_after_configure.connect(_complete_settings)
signals.worker_init.connect(_import_for_jobs)  # before its processes are forked, which then share the memory
signals.worker_ready.connect(_start_heartbeat)
