"""An installation of several programs that die: PostgreSQL, Redis, two web servers, two job workers and a scheduler."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx

from tests.jobs.processes import ROOT, TIMING
from tests.services import Program, free_port, make_postgres, make_redis, postgres_answers, redis_answers, wait_until

_LONGEST_START_S = 90
_SMALL_DISK_MB = 256
_WEB = ["-m", "gunicorn", "--config", "python:evalsite.gunicorn_conf", "--workers", "1"]
_CELERY = ["-m", "celery", "-A", "evalsite"]


class Service:
    """A program that is killed and started again; `answers` says whether it does its work."""

    def __init__(
        self,
        name: str,
        command: Sequence[str | Path],
        log: Path,
        answers: Callable[[], bool] = lambda: True,
        *,
        environment: Mapping[str, str] | None = None,
        user: str | None = None,
    ) -> None:
        self.name, self.answers = name, answers
        self._command, self._log, self._environment, self._user = command, log, environment, user
        self._process: subprocess.Popen[bytes] | None = None

    def launch(self) -> None:
        """Start the program; do not wait for it."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                cwd="/" if self._user else ROOT,
                env=self._environment,
                user=self._user,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def start(self) -> None:
        """Start the program, and again if it ends at once, as a supervisor does; return when it answers."""
        self.launch()
        wait_until(self._is_up, _LONGEST_START_S, f"{self.name} answers")

    def _is_up(self) -> bool:
        if not self.is_running:
            self.launch()
        return self.answers()

    @property
    def is_running(self) -> bool:
        """Whether the program has been started and has not ended."""
        return self._process is not None and self._process.poll() is None

    def kill(self) -> None:
        """End the program, and what it has started, as a power cut would."""
        if self._process:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


class Disk:
    """A folder for PostgreSQL and for uploads; where it `is_small` it is a disk of its own, which can be filled."""

    def __init__(self, folder: Path, *, is_small: bool) -> None:
        self.is_small = is_small
        self._ballast = folder / "ballast"
        self.postgres, self.media = folder / "postgres", folder / "media"
        for each in (self.postgres, self.media):
            each.mkdir()

    @contextmanager
    def full(self) -> Iterator[None]:
        """Fill the disk, and keep it full until the end of the block: what others free is taken, too."""
        is_over = threading.Event()

        def fill() -> None:
            with self._ballast.open("ab", buffering=0) as file:
                while not is_over.wait(0.02):
                    with suppress(OSError):
                        while file.write(bytes(1 << 20)) == 1 << 20:
                            pass

        filler = threading.Thread(target=fill)
        filler.start()
        try:
            wait_until(lambda: os.statvfs(self.postgres).f_bavail == 0, 30, "the disk is full")
            yield
        finally:
            is_over.set()
            filler.join()
            self._ballast.unlink()


@contextmanager
def disk() -> Iterator[Disk]:
    """Mount a small disk of this machine's memory; where that is not allowed, use a folder that cannot be filled."""
    folder = Path(tempfile.mkdtemp(prefix="evalsite-faults-"))
    mount = ["mount", "-t", "tmpfs", "-o", f"size={_SMALL_DISK_MB}m", "tmpfs", str(folder)]
    is_small = os.geteuid() == 0 and subprocess.run(mount, check=False, capture_output=True).returncode == 0
    try:
        folder.chmod(0o755)  # PostgreSQL is another user
        yield Disk(folder, is_small=is_small)
    finally:
        if is_small:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)
        shutil.rmtree(folder, ignore_errors=True)


class Installation:
    """All programs of an installation in `folder`, on this machine alone. They end with the block."""

    def __init__(self, folder: Path, static: Path, disk: Disk) -> None:
        self.disk = disk
        self._folder, self._log = folder, folder / "log"
        (folder / "static").symlink_to(static)
        (folder / "media").symlink_to(disk.media)
        # Small files of its journal, of which the disk has room for many.
        postgres, self._redis = (
            make_postgres(disk.postgres, initdb_options=["--wal-segsize=1"]),
            make_redis(free_port()),
        )
        self.server_url = postgres.url
        self.postgres = self._stored("postgres", postgres, lambda: postgres_answers(postgres.url))
        self.redis = self._stored("redis", self._redis, lambda: redis_answers(self._redis.url))
        self.web: list[Service] = []
        self.urls: list[str] = []
        self.others: list[Service] = []

    def _stored(self, name: str, program: Program, answers: Callable[[], bool]) -> Service:
        return Service(name, program.command, self._log, answers, user=program.user)

    @property
    def services(self) -> list[Service]:
        """All that may die."""
        return [self.postgres, self.redis, *self.web, *self.others]

    def start(self, database_url: str) -> None:
        """Start two web servers, two workers and a scheduler on a database."""
        inherited = {name: value for name, value in os.environ.items() if not name.endswith("_URL")}
        # On a busy machine a worker may not come to renew a lease of two seconds, and three losses end a job.
        environment = inherited | TIMING | {"JOBS_LEASE_S": "8"}
        environment |= {"DJANGO_SETTINGS_MODULE": "evalsite.settings", "EVALSITE_DATA": str(self._folder)}
        environment |= {"DATABASE_URL": database_url, "REDIS_URL": self._redis.url, "LOG_LEVEL": "INFO"}

        def service(name: str, *arguments: str, answers: Callable[[], bool] = lambda: True) -> Service:
            return Service(name, [sys.executable, *arguments], self._log, answers, environment=environment)

        for number in (1, 2):
            url = f"http://127.0.0.1:{free_port()}"
            answers = lambda url=url: _is_healthy(url)  # noqa: E731
            bind = ["--bind", url.removeprefix("http://"), "--access-logfile", os.devnull]
            self.urls.append(url)
            self.web.append(service(f"web {number}", *_WEB, *bind, answers=answers))
            worker = [*_CELERY, "worker", "--concurrency", "1", "--loglevel", "WARNING"]
            self.others.append(service(f"worker {number}", *worker, "--hostname", f"worker{number}@%h"))
        self.others.append(service("scheduler", *_CELERY, "beat", "--loglevel", "WARNING"))
        for each in [*self.web, *self.others]:
            each.launch()
        for each in self.web:
            each.start() if not each.is_running else wait_until(each.answers, _LONGEST_START_S, f"{each.name} answers")

    def revive(self) -> None:
        """Start again what has ended by itself, as a supervisor does."""
        for each in self.services:
            if not each.is_running:
                each.start()

    def log(self) -> str:
        """Return what the programs have printed."""
        return self._log.read_text(errors="replace")

    def __enter__(self) -> "Installation":
        self.postgres.start()
        self.redis.start()
        return self

    def __exit__(self, *error: object) -> None:
        for each in reversed(self.services):
            each.kill()
        time.sleep(0.2)  # PostgreSQL's own processes notice that it has ended


def _is_healthy(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health/", timeout=5, trust_env=False).status_code == 200
    except httpx.TransportError:
        return False
