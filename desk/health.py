"""Whether this process can do its work: what a probe asks for every few seconds, so it is cheap and says no secrets."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from django.core.cache import caches
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from evalsite.jobs.queries import is_any_worker_alive

logger = logging.getLogger(__name__)
OK = "ok"
# However many ask, the database is asked once in this time.
_KEPT_S = 2.0
_KEY = "health"


@dataclass(frozen=True)
class Readiness:
    """What each check found, `ok` or the fault in a few words.

    Without the database and its tables no page works; without the cache limits are not counted, and without a worker
    jobs wait.
    """

    checks: dict[str, str]

    @property
    def is_ready(self) -> bool:
        """Whether pages can be served."""
        return self.checks["database"] == OK and self.checks["migrations"] == OK

    @property
    def is_complete(self) -> bool:
        """Whether everything works."""
        return all(state == OK for state in self.checks.values())

    @property
    def status(self) -> str:
        """`ready`, `degraded` (pages are served, something else does not work) or `not ready`."""
        return "ready" if self.is_complete else "degraded" if self.is_ready else "not ready"


class ReadinessProbe:
    """Checks, and keeps what was found for a moment; of many who ask at once, one checks and the others wait."""

    def __init__(self, kept_s: float = _KEPT_S, clock: Callable[[], float] = time.monotonic) -> None:
        self._kept_s, self._clock, self._lock = kept_s, clock, threading.Lock()
        self._found: Readiness | None = None
        self._until = 0.0
        # What was migrated stays so as long as this process lives, and to read it takes a tenth of a second.
        self._is_migrated = False

    def read(self) -> Readiness:
        """Return what is the case, at most `kept_s` seconds old. Three queries if it is checked."""
        with self._lock:
            if self._found is None or self._clock() >= self._until:
                self._found = Readiness(self._check())
                self._until = self._clock() + self._kept_s
            return self._found

    def _check(self) -> dict[str, str]:
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1")
            self._is_migrated = self._is_migrated or _is_migrated()
            migrations = OK if self._is_migrated else "missing"
            workers = "not known" if migrations != OK else OK if is_any_worker_alive() else "none alive"
        except DatabaseError as error:  # it is away, or turns us away
            logger.warning("The database does not answer: %s", error)
            connection.close()
            unknown = "not known"
            return {"database": "does not answer", "migrations": unknown, "cache": _cache_state(), "workers": unknown}
        return {"database": OK, "migrations": migrations, "cache": _cache_state(), "workers": workers}


def _is_migrated() -> bool:
    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())


def _cache_state() -> str:
    cache = caches["rate_limits"]
    try:
        cache.set(_KEY, OK, 10)
        return OK if cache.get(_KEY) == OK else "keeps nothing"
    except Exception as error:  # of the client, of the socket, of TLS
        logger.warning("The cache does not answer: %s", type(error).__name__)
        return "does not answer"


readiness = ReadinessProbe()
"""That of this process."""
