"""Whole installations, killed and restarted: a web process that runs its jobs itself, or workers on Redis."""

from pathlib import Path
from typing import Any

import pytest

from evalsite.jobs.models import Job
from tests.jobs.processes import Site
from tests.services import free_port, new_database, running_redis, wait_until

WORKER = ["-m", "celery", "-A", "evalsite", "worker", "--concurrency", "1", "--loglevel", "WARNING"]
SCHEDULER = ["-m", "celery", "-A", "evalsite", "beat", "--loglevel", "WARNING"]


def web(server: str) -> list[str]:
    """Return the arguments that start the web process."""
    address = f"127.0.0.1:{free_port()}"
    if server == "runserver":
        return ["manage.py", "runserver", "--noreload", address]
    return ["-m", "gunicorn", "evalsite.wsgi", "--bind", address, "--workers", "1", "--threads", "4"]


@pytest.mark.parametrize("server", ["gunicorn", "runserver"])
def test_a_web_process_killed_in_the_middle_of_a_job_loses_nothing(
    site: Site, server: str, django_db_blocker: Any
) -> None:
    with django_db_blocker.unblock(), site.database():
        Job.objects.create(kind="example.sleep", args={"notes": str(site.notes), "seconds": 2})
    first = site.start(*web(server))
    wait_until(lambda: site.noted() == ["start"], 60, "the job of another process starts")
    site.kill(first)
    assert site.has_ended("running", attempts=1)

    site.start(*web(server))
    wait_until(lambda: site.has_ended("succeeded", attempts=2), 60, "the job is run again")
    assert site.noted() == ["start", "start", "end"]


def test_a_web_process_that_is_asked_to_end_does_so_and_gives_its_job_back(site: Site) -> None:
    site.enqueue("example.sleep", seconds=60)
    assert site.has_ended("queued", attempts=0)
    assert not site.has_live_worker(), "a management command starts no worker"

    process = site.start(*web("gunicorn"))
    wait_until(lambda: site.noted() == ["start"], 60, "the job starts")
    process.terminate()
    assert process.wait(10) == 0
    assert site.has_ended("queued", attempts=0)
    assert "Traceback" not in site.log()


def test_a_worker_on_redis_and_postgresql_runs_the_job(
    tmp_path: Path, redis_url: str, postgres_url: str, postgres_database: str
) -> None:
    database = new_database(postgres_url, tmp_path.name, template="template")  # as `postgres_database` is
    with Site(tmp_path, REDIS_URL=redis_url, DATABASE_URL=database) as site:
        site.start(*WORKER)
        wait_until(site.has_live_worker, 60, "the worker says that it lives")
        site.enqueue("example.count")
        wait_until(lambda: site.has_ended("succeeded", attempts=1), 60, "the job has run")
        assert site.noted() == ["start", "end"]


def test_a_job_asked_for_while_redis_is_down_runs_later_and_the_next_one_at_once(
    tmp_path: Path, installation: Path
) -> None:
    port = free_port()
    with Site(tmp_path, REDIS_URL=f"redis://127.0.0.1:{port}/0") as site:
        site.install(installation)
        site.enqueue("example.count")
        assert site.has_ended("queued", attempts=0)

        with running_redis(port):
            site.start(*WORKER)
            scheduler = site.start(*SCHEDULER)
            wait_until(lambda: site.has_ended("succeeded", attempts=1), 60, "the sweeper hands the job on")
            assert not (Path.cwd() / "celerybeat-schedule").exists()
            wait_until(site.has_live_worker, 60, "the worker says that it lives")

            site.kill(scheduler)
            site.enqueue("example.count")
            ended = [("succeeded", 1)] * 2
            wait_until(lambda: site.rows("SELECT status, attempts FROM jobs_job") == ended, 60, "the next has run")
            assert site.noted() == ["start", "end"] * 2
