"""The web process: the command that serves the site as an installation does, and how a command becomes it."""

import os
import socket
import sys

from django.conf import settings
from django.core.management.base import CommandError
from django.db import connections

from evalsite.lib.folders import IS_INSTALLED, SITE_FILES

# Of connections that are opened and never finished, each holds one of its threads.
NEEDS_PROXY = (
    "On the open internet this server needs a proxy in front that reads whole requests before it passes them on "
    "(Caddy, nginx): clients that send half a request, and wait, would stop it for everybody."
)


def server_command(host: str, port: int, *, is_quiet: bool = False) -> list[str]:
    """Return the command that serves the site; a quiet one writes no line for each request."""
    address = f"[{host}]" if ":" in host else host
    serve = ["gunicorn", "--config", "python:evalsite.gunicorn_conf", "--bind", f"{address}:{port}"]
    quiet = ["--log-level", "warning", "--access-logfile", os.devnull] if is_quiet else []
    # -P: a folder `analysis` or `api` where the command is started is not the one of the site.
    return [sys.executable, "-P", "-m", *serve, *quiet]


def refuse_taken(host: str, port: int) -> None:
    """Raise CommandError if another program listens there, or the address is none of this machine's."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise CommandError(
                f"Cannot listen on {host}:{port}: {error.strerror}. Choose another port: --port {port + 1}"
            ) from None


def become(command: list[str]) -> None:
    """Replace this process by the command, which works on the same data."""
    connections.close_all()
    os.environ["EVALSITE_DATA"] = str(settings.DATA_DIR)
    if not IS_INSTALLED:
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(SITE_FILES), os.environ.get("PYTHONPATH")]))
    sys.stdout.flush()
    os.execv(command[0], command)
