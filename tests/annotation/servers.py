"""A server that can die: the product under gunicorn, on the test's own database.

`python -m tests.annotation.servers OPTIONS…` has everything imported. For each line that it reads it forks a gunicorn,
writes its process id, and writes another line once it is dead.
"""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.db import connection

from tests.services import free_port, wait_until

ROOT = Path(__file__).parents[2]


class Server:
    """The product under gunicorn, on the test's own database; `environment` are settings of its own.

    `options` are gunicorn's, instead of `n_threads`.
    """

    def __init__(self, folder: Path, *, n_threads: int = 8, options: Sequence[str] = (), **environment: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.n_kills = 0
        self._log = folder / "log"
        own = {
            "DJANGO_SETTINGS_MODULE": "evalsite.settings",
            "EVALSITE_DATA": str(folder),
            "SECRET_KEY": settings.SECRET_KEY,
            "DATABASE_URL": database_url(),
            "DATABASE_POOL": "16",  # as evalsite.wsgi has it, which comes after the settings here
        }
        options = options or ["evalsite.wsgi", "--threads", str(n_threads)]
        with self._log.open("ab") as log:
            self._starter = subprocess.Popen(
                [sys.executable, "-m", "tests.annotation.servers", *options, "--bind", f"127.0.0.1:{self.port}"],
                cwd=ROOT,
                env=os.environ | own | environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        self._start()

    def _start(self) -> None:
        assert self._starter.stdin and self._starter.stdout
        self._starter.stdin.write(b"start\n")
        self._starter.stdin.flush()
        self._pid = int(self._starter.stdout.readline())

    def log(self) -> str:
        """Return what the server and its processes have printed."""
        return self._log.read_text()

    def kill(self) -> None:
        """End the server and its children at once, whatever they are doing."""
        assert self._starter.stdout
        os.killpg(self._pid, signal.SIGKILL)
        self._starter.stdout.readline()
        wait_until(lambda: not self._listens(), 30, "its children are dead, too")
        self.n_kills += 1

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def restart(self) -> None:
        """Kill the server and start another."""
        self.kill()
        self._start()

    def close(self) -> None:
        """Kill the server for good."""
        self.kill()
        self._starter.communicate()


@contextmanager
def running_server(
    folder: Path, static: Path, *, n_threads: int = 8, options: Sequence[str] = (), **environment: str
) -> Iterator[Server]:
    """Run a server with its data in `folder` and the static files that were collected in `static`."""
    (folder / "static").symlink_to(static)
    server = Server(folder, n_threads=n_threads, options=options, **environment)
    try:
        yield server
    finally:
        server.close()


def database_url() -> str:
    at = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{at['NAME']}"
    login = at["USER"] + (f":{at['PASSWORD']}" if at["PASSWORD"] else "")
    return f"postgresql://{login}@{at['HOST']}:{at['PORT']}/{at['NAME']}"


def start_servers() -> None:
    """Start a gunicorn for each line of the standard input."""
    import django

    django.setup()
    from django.template.loader import get_template
    from django.urls import reverse
    from gunicorn.app.wsgiapp import run

    from campaigns.connectors import list_connectors
    from campaigns.platforms import platforms
    from evalsite.jobs import workers  # noqa: F401

    list_connectors(), platforms.all(), reverse("home")
    for page in (ROOT / "templates/rate").rglob("*.html"):
        get_template(page.relative_to(ROOT / "templates").as_posix())
    for _ in sys.stdin:
        if not (pid := os.fork()):
            os.setpgid(0, 0)
            os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
            run()
        os.setpgid(pid, pid)  # here, too: the group is there before somebody kills it
        os.write(sys.stdout.fileno(), b"%d\n" % pid)
        os.waitpid(pid, 0)
        os.write(sys.stdout.fileno(), b"dead\n")


if __name__ == "__main__":
    start_servers()
