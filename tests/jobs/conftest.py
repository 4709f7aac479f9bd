from collections.abc import Iterator
from pathlib import Path

import pytest

from evalsite.jobs import running, workers
from evalsite.jobs.workers import InProcessWorker
from tests.jobs.example import tasks as tasks  # registers the example handlers
from tests.jobs.processes import Site


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """The file in which the example jobs note that they run."""
    path = tmp_path / "notes"
    path.touch()
    return path


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten back-off and sweeps; name it before `worker`, whose sweeper else comes too late for a test."""
    monkeypatch.setattr(running, "BACKOFF_S", 0.2)
    monkeypatch.setattr(workers, "SWEEP_S", 0.1)


@pytest.fixture
def worker(transactional_db: None) -> Iterator[InProcessWorker]:
    """A real in-process worker, with its sweeper and heartbeat, on the test database."""
    worker = InProcessWorker()
    worker.start()
    yield worker
    worker.stop()


@pytest.fixture
def site(tmp_path: Path, installation: Path) -> Iterator[Site]:
    """A fresh installation on SQLite whose processes a test can start and kill."""
    with Site(tmp_path) as site:
        yield site.install(installation)
