"""What is done every few seconds, wherever jobs run, and the job that deletes files."""

from evalsite.jobs import services
from evalsite.jobs.files import DELETE, delete_files
from evalsite.jobs.handlers import JobContext, job_handler, run_periodic_tasks


def sweep() -> None:
    """Find the jobs that were lost, and do the periodic tasks."""
    services.sweep_jobs()
    run_periodic_tasks()


@job_handler(DELETE, "Delete files")
def delete(ctx: JobContext, names: list[str], folders: list[str]) -> None:
    """Delete files of what was deleted while the bucket was away."""
    delete_files(names, folders)
