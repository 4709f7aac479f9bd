"""Forty workers rate while the server dies five times, as in a power cut, and comes back: nothing sent is lost."""

import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from annotation.models import Assignment, Rating
from annotation.simulation.running import door, make_crowd, run_crowd
from annotation.simulation.visitor import Acknowledged, Visitor
from campaigns.models import Campaign
from evalsite.accounts.models import User
from tests.annotation.open_campaigns import open_campaign, places_left
from tests.services import free_port, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).parents[2]
N_WORKERS, N_HITS, WORKERS_PER_HIT, SIZE = 40, 20, 2, 10
N_KILLS, ITEMS_PER_LIFE = 5, 60
PATIENCE_S = 90


class Server:
    """The product under gunicorn, on the test's own database."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._environment = os.environ | {
            "DJANGO_SETTINGS_MODULE": "evalsite.settings",
            "EVALSITE_DATA": str(folder),
            "SECRET_KEY": settings.SECRET_KEY,
            "DATABASE_URL": _database_url(),
        }
        self.n_kills = 0
        self._log = folder / "log"
        self._process = self._start()

    def _start(self) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "gunicorn", "evalsite.wsgi", "--bind", f"127.0.0.1:{self.port}"]
        with self._log.open("ab") as log:
            return subprocess.Popen(
                [*command, "--threads", "8"],
                cwd=ROOT,
                env=self._environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self) -> None:
        """End the server and its children at once, whatever they are doing."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self.n_kills += 1

    def restart(self) -> None:
        """Kill the server and start another."""
        self.kill()
        self._process = self._start()


def _database_url() -> str:
    at = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{at['NAME']}"
    login = at["USER"] + (f":{at['PASSWORD']}" if at["PASSWORD"] else "")
    return f"postgresql://{login}@{at['HOST']}:{at['PORT']}/{at['NAME']}"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "evalsite.settings", "EVALSITE_DATA": str(tmp_path)}
    collect = [sys.executable, "manage.py", "collectstatic", "--noinput", "--verbosity", "0"]
    subprocess.run(collect, cwd=ROOT, env=environment, check=True)
    server = Server(tmp_path)
    yield server
    server.kill()


@pytest.fixture
def campaign(owner: User) -> Campaign:
    return open_campaign(
        owner,
        n_hits=N_HITS,
        size=SIZE,
        workers_per_hit=WORKERS_PER_HIT,
        hits_per_worker=1,
        platform_settings={"access": "personal"},
    )


def test_resilience_forty_workers_and_five_crashes(campaign: Campaign, server: Server) -> None:
    crowd = make_crowd(campaign, seed=1, n_workers=N_WORKERS)
    visitors: list[Visitor] = []
    rated = RatedItems()
    killer = threading.Thread(target=kill_now_and_then, args=(server, rated))
    killer.start()
    with door(server.url) as client:
        outcome = run_crowd(
            campaign,
            crowd,
            client,
            n_threads=N_WORKERS,
            patience_s=PATIENCE_S,
            on_rated=rated.add,
            on_done=visitors.append,
        )
    killer.join()

    assert outcome.errors == []
    assert server.n_kills == N_KILLS
    assert outcome.n_retries >= N_KILLS  # the crashes were felt
    everyone_finished(campaign, visitors)
    acknowledged_ratings_are_there_once(campaign, [each for visitor in visitors for each in visitor.acknowledged])


class RatedItems:
    """A count that threads share."""

    def __init__(self) -> None:
        self.n = 0
        self._lock = threading.Lock()

    def add(self) -> None:
        with self._lock:
            self.n += 1


def kill_now_and_then(server: Server, rated: RatedItems) -> None:
    """Kill the server each time when some more items are rated, so that all lives see work."""
    for life in range(1, N_KILLS + 1):
        wait_until(lambda n=life * ITEMS_PER_LIFE: rated.n >= n, PATIENCE_S, "workers rate")
        server.restart()


def everyone_finished(campaign: Campaign, visitors: list[Visitor]) -> None:
    """No HIT is lost, none done by more workers than asked, and every worker has the code of their own."""
    assert places_left(campaign) == [0] * N_HITS
    finished = campaign.assignments.filter(state=Assignment.State.FINISHED)
    assert Counter(finished.values_list("hit__number", flat=True)) == dict.fromkeys(range(1, N_HITS + 1), 2)
    assert campaign.assignments.count() == N_WORKERS
    codes = set(finished.values_list("completion_code", flat=True))
    assert {tuple(visitor.codes) for visitor in visitors} == {(code,) for code in codes}


def acknowledged_ratings_are_there_once(campaign: Campaign, acknowledged: list[Acknowledged]) -> None:
    kept = Counter(
        Rating.objects.filter(assignment__campaign=campaign).values_list("assignment", "item__position", "score")
    )
    assert sum(kept.values()) == N_WORKERS * SIZE
    assert set(kept.values()) == {1}
    for each in acknowledged:
        assert kept[each.assignment_id, each.position, each.scores[0]] == 1
