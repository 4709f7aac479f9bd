"""A worker in the web process, for an installation without Redis: real Celery, in threads.

Its queue is the memory of this process. A job that another process asks for, such as a management command, comes here
through the sweeper. Threads do not survive a fork: gunicorn's `--preload` is not for this mode.
"""

import atexit
import os
import socket
import threading

from celery.worker import WorkController, state

from evalsite.celery import app
from evalsite.jobs.handlers import import_for_jobs
from evalsite.jobs.running import give_back_jobs
from evalsite.jobs.services import record_heartbeat
from evalsite.jobs.tasks import sweep
from evalsite.jobs.timing import HEARTBEAT_S, IMPORT_AFTER_S, IMPORT_EARLY, SWEEP_S, Ticker


class InProcessWorker:
    """One thread that runs jobs, one that sweeps, one that reports that the first lives."""

    def __init__(self) -> None:
        self.name = f"in-process@{socket.gethostname()}:{os.getpid()}"
        self._consumer = threading.Thread(target=self._consume, name="job worker", daemon=True)
        self._tickers = [
            Ticker("job worker heartbeat", HEARTBEAT_S, self._report),
            Ticker("job sweeper", SWEEP_S, sweep),
        ]

    def start(self) -> None:
        """Start the threads; none of them keeps the process from ending."""
        state.should_stop = None
        for thread in (self._consumer, *self._tickers):
            thread.start()

    def stop(self, grace_s: float = 3) -> None:
        """Let a job that is about to end do so; give one that is not back to the queue."""
        for ticker in self._tickers:
            ticker.stop()
        state.should_stop = os.EX_OK
        for _ in range(2):  # each message wakes Celery's loop from a wait of up to two seconds
            app.send_task("jobs.sweep")
        self._consumer.join(grace_s)
        give_back_jobs()

    def _report(self) -> None:
        if self._consumer.is_alive():
            record_heartbeat(self.name)

    def _consume(self) -> None:
        # Made in its own thread, because Celery closes the database connections of the thread that makes it.
        WorkController(
            app=app,
            hostname=self.name,
            pool="solo",
            concurrency=1,
            without_heartbeat=True,
            without_mingle=True,
            without_gossip=True,
        ).start()


_worker: InProcessWorker | None = None


def start_worker() -> None:
    """Start this process's worker, once, and stop it when the process ends."""
    global _worker
    if _worker is None:
        _worker = InProcessWorker()
        _worker.start()
        atexit.register(_worker.stop)
        if IMPORT_EARLY:
            imports = threading.Timer(IMPORT_AFTER_S, import_for_jobs)  # once the first pages are served
            imports.daemon = True
            imports.start()
