"""The two messages that workers get."""

from uuid import UUID

from celery import shared_task

from evalsite.jobs import services
from evalsite.jobs.handlers import run_periodic_tasks
from evalsite.jobs.running import run_job


def run(job_id: str) -> None:
    """Run one job, if it is still to be run."""
    run_job(UUID(job_id))


def sweep() -> None:
    """Find the jobs that were lost, and do the periodic tasks."""
    services.sweep_jobs()
    run_periodic_tasks()


shared_task(run, name="jobs.run")
shared_task(sweep, name="jobs.sweep")
