"""How gunicorn serves the site: `gunicorn --config python:evalsite.gunicorn_conf`. Its own options go before these.

WEB_CONCURRENCY is the number of processes: one, because the jobs run in it; more where REDIS_URL is set.
"""

import os
import shutil
import sys
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

from gunicorn.arbiter import Arbiter
from gunicorn.config import Config
from gunicorn.glogging import Logger

from evalsite.lib.env import env_choice, env_int
from evalsite.lib.folders import IS_INSTALLED
from evalsite.lib.logs import JsonFormatter
from evalsite.lib.masking import MaskingFormatter

_HAS_JSON = env_choice("LOG_FORMAT", ("TEXT", "JSON")) == "JSON"


class MaskingLogger(Logger):
    """Gunicorn's logs of requests and errors, without the tokens in addresses and referrers."""

    def setup(self, cfg: Config) -> None:
        """Put the mask around the formatters that gunicorn has chosen, or write JSON."""
        super().setup(cfg)
        for handler in self.error_log.handlers + self.access_log.handlers:
            if _HAS_JSON:
                handler.setFormatter(JsonFormatter())
            elif not isinstance(handler.formatter, MaskingFormatter):
                handler.setFormatter(MaskingFormatter(inner=handler.formatter))

    def access(self, resp: Any, req: Any, environ: dict[str, Any], request_time: timedelta) -> None:
        """Write the line of a request; as JSON, with each of its parts by name."""
        if not _HAS_JSON:
            super().access(resp, req, environ, request_time)
            return
        atoms = self.atoms(resp, req, environ, request_time)
        fields = {
            "request_id": atoms["{x-request-id}o"],
            "method": atoms["m"],
            "path": atoms["U"],
            "status": int(atoms["s"]),
            "bytes": atoms["B"],
            "seconds": round(request_time.total_seconds(), 6),
            "address": atoms["h"],
            "agent": atoms["a"],
        }
        self.access_log.info("%s %s", atoms["m"], atoms["U"], extra={"fields": fields})


wsgi_app = "evalsite.wsgi:application"
bind = "0.0.0.0:8000"
# A chat that waits for its chatbot's reply holds a thread: more of them than CHATS_AT_ONCE (its default is that of
# settings.py), or nobody else is answered. They share the database connections of DATABASE_POOL.
threads = env_int("CHATS_AT_ONCE", 48) + 16
accesslog = "-"
access_log_format = '%(h)s %(l)s %(u)s %(t)s "%(r)s" %(s)s %(b)s "%(f)s" "%(a)s" request_id=%({x-request-id}o)s'
logger_class = MaskingLogger
# Newer versions would put a socket for gunicornc into the home folder, which is the data's in the image.
control_socket_disable = True
# In a container /tmp may be a disk, which gunicorn's heartbeat would wait for.
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None
# What processes measure is asked of one of them: each writes into a file here, whose sums are shown.
if os.environ.get("METRICS_TOKEN"):
    os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", tempfile.mkdtemp(prefix="evalsite-metrics-", dir=worker_tmp_dir))


def on_starting(server: Arbiter) -> None:
    """Search no modules in the current folder, which gunicorn puts first: it may hold an `analysis` of somebody's."""
    if IS_INSTALLED:
        sys.path[:] = [folder for folder in sys.path if folder != server.cfg.chdir]


def on_exit(server: Arbiter) -> None:
    """Remove what was measured."""
    if folder := os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        shutil.rmtree(folder, ignore_errors=True)
