"""Real processes of an installation of their own: web, workers, scheduler, commands."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import psycopg
from django.conf import global_settings
from django.core.management import call_command
from django.test import override_settings

from evalsite import settings as site_settings
from evalsite.accounts.models import User
from tests.databases import once, sqlite_at, sqlite_copy, using_database

ROOT = Path(__file__).parents[2]
TIMING = {"JOBS_LEASE_S": "2", "JOBS_SWEEP_S": "1", "JOBS_BACKOFF_S": "1", "JOBS_HEARTBEAT_S": "1"}
_LONGEST_SHOWN = 4000
EMAIL, PASSWORD = "olu@example.org", "a-long-password"


def make_installation(session_folder: Path) -> Path:
    """Return the data folder of an installation of one researcher, made once a session: copy it, start none in it."""

    def make(folder: Path) -> None:
        folder.mkdir()
        sqlite_copy(session_folder, folder / "db.sqlite3")
        as_in_production = override_settings(
            STORAGES=site_settings.STORAGES,
            PASSWORD_HASHERS=global_settings.PASSWORD_HASHERS,
            STATIC_ROOT=folder / "static",
        )
        with as_in_production, using_database(sqlite_at(folder / "db.sqlite3")):
            # Two seconds go into compressing the scripts of Django's admin pages, which no test opens there.
            call_command("collectstatic", interactive=False, verbosity=0, ignore_patterns=["admin"])
            User.objects.create_superuser(EMAIL, PASSWORD, name="Olu")

    return once(session_folder / "installation", make)


class Site:
    """An installation with its data in `folder`, by default on SQLite; its processes end with the block."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder = folder
        self.notes = folder / "notes"
        self.notes.touch()
        self._database_url = environment.get("DATABASE_URL", "")
        inherited = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
        self.environment = (
            inherited
            | TIMING
            | {
                "DJANGO_SETTINGS_MODULE": "tests.jobs.example.settings",
                "EVALSITE_DATA": str(folder),
                **environment,
            }
        )
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if (self.folder / "log").exists():
            print(self.log()[-_LONGEST_SHOWN:])  # noqa: T201 pytest shows it where a test fails
        for process in self._processes:
            self.kill(process)

    def install(self, installation: Path) -> Self:
        """Begin with a copy of another installation's database and with its static files."""
        shutil.copy(installation / "db.sqlite3", self.folder)
        (self.folder / "static").symlink_to(installation / "static")
        return self

    @contextmanager
    def database(self) -> Iterator[None]:
        """Let Django's connection be one to the installation's SQLite: a test acts in it without a process."""
        with using_database(sqlite_at(self.folder / "db.sqlite3")):
            yield

    def manage(self, *arguments: str) -> str:
        """Run a management command; return what it printed."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def start(self, *arguments: str) -> "subprocess.Popen[bytes]":
        """Start `python arguments…`; its output goes to the file `log`."""
        with (self.folder / "log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=ROOT,
                env=self.environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._processes.append(process)
        return process

    def kill(self, process: "subprocess.Popen[bytes]") -> None:
        """End a started process and its children as a power cut would."""
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def enqueue(self, kind: str, **args: Any) -> str:
        """Ask for a job from another process; return its id."""
        return self.manage("enqueue", kind, json.dumps({"notes": str(self.notes), **args}))

    def noted(self) -> list[str]:
        """Return what the example jobs noted so far."""
        return self.notes.read_text().split()

    def log(self) -> str:
        """Return what the started processes printed."""
        return (self.folder / "log").read_text()

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Read the installation's database."""
        if self._database_url:
            with psycopg.connect(self._database_url) as connection:
                return connection.execute(sql.encode()).fetchall()
        connection = sqlite3.connect(self.folder / "db.sqlite3", timeout=20)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    def has_ended(self, status: str, attempts: int) -> bool:
        """Tell whether the only job has this status after so many attempts."""
        return self.rows("SELECT status, attempts FROM jobs_job") == [(status, attempts)]

    def has_live_worker(self) -> bool:
        """Tell whether any worker has written a heartbeat."""
        return self.rows("SELECT count(*) FROM jobs_workerheartbeat") != [(0,)]
