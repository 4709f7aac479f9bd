"""How often and how long jobs, workers and sweepers wait, and the thread that repeats something.

The times are in seconds. The environment overrides them; tests shorten them.
"""

import logging
import threading
from collections.abc import Callable

from django.db import close_old_connections, connections

from evalsite.lib.env import env_bool, env_int

logger = logging.getLogger(__name__)

# A worker that has not renewed its lease for this long has lost its job.
LEASE_S = env_int("JOBS_LEASE_S", 60)
# How often the sweeper searches for jobs that nobody runs.
SWEEP_S = env_int("JOBS_SWEEP_S", 10)
# The first pause before a job that met a passing fault is tried again; each further pause is twice as long.
BACKOFF_S = env_int("JOBS_BACKOFF_S", 10)
# How often a worker says that it lives, and the silence after which it is considered dead.
HEARTBEAT_S = env_int("JOBS_HEARTBEAT_S", 10)
SILENCE_S = env_int("JOBS_SILENCE_S", 30)
# Whether workers import what jobs need before the first one, and when a worker in the web process does: the first pages
# come before.
IMPORT_EARLY = env_bool("JOBS_IMPORT_EARLY", True)
IMPORT_AFTER_S = 2.0
# How often a running job's progress is written, if it changed.
PROGRESS_S = 0.25


class Ticker(threading.Thread):
    """Calls `work` at once and then every `every_s` seconds, until stopped or the process ends.

    What `work` raises is logged and does not end the thread: a database that is away comes back.
    """

    def __init__(self, name: str, every_s: float, work: Callable[[], None]) -> None:
        super().__init__(name=name, daemon=True)
        self._every_s = every_s
        self._work = work
        self._stopped = threading.Event()

    def run(self) -> None:
        """Tick; close this thread's database connections at the end."""
        try:
            while not self._stopped.is_set():
                self._tick()
                self._stopped.wait(self._every_s)
        finally:
            connections.close_all()

    def _tick(self) -> None:
        try:
            self._work()
        except Exception as error:
            logger.warning("%s: %s; next try in %s s", self.name, error, self._every_s)
        finally:
            close_old_connections()

    def stop(self) -> None:
        """Stop, and return when the last tick is over."""
        self._stopped.set()
        self.join()
