"""Forty workers rate while the server dies five times, as in a power cut, and comes back: nothing sent is lost."""

import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotation.models import Assignment, Response
from annotation.simulation.running import make_crowd, open_site, run_crowd
from annotation.simulation.visitor import Acknowledged, Visitor
from campaigns.models import Campaign
from evalsite.accounts.models import User
from tests.annotation.open_campaigns import open_campaign, places_left
from tests.annotation.servers import Server, running_server
from tests.services import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
N_WORKERS, N_HITS, WORKERS_PER_HIT, SIZE = 40, 20, 2, 5
N_KILLS, ITEMS_PER_LIFE = 5, 30
PATIENCE_S = 90


@pytest.fixture
def server(tmp_path: Path, installation: Path) -> Iterator[Server]:
    with running_server(tmp_path, installation / "static") as server:
        yield server


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
    with open_site(server.url) as client:
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
        Response.objects.filter(assignment__campaign=campaign).values_list("assignment", "item__position", "score")
    )
    assert sum(kept.values()) == N_WORKERS * SIZE
    assert set(kept.values()) == {1}
    for each in acknowledged:
        assert kept[each.assignment_id, each.position, each.scores[0]] == 1
