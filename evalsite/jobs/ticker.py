"""A thread that does one small thing again and again."""

import logging
import threading
from collections.abc import Callable

from django.db import close_old_connections, connections

logger = logging.getLogger(__name__)


class Ticker(threading.Thread):
    """Calls `work` at once and then every `every_s` seconds, until stopped or the process ends.

    What `work` raises is logged and does not end the ticking: a database that is away comes back.
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
