"""Thirty workers chat while the server dies three times, as in a power cut: nothing said is lost, nothing doubled."""

import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection
from pytest_django.fixtures import Settings as SettingsWrapper

from annotation.models import Assignment, Conversation, Response, Turn
from annotation.simulation.running import make_crowd, open_site, run_crowd
from annotation.simulation.visitor import Visitor
from campaigns.models import Campaign, Chatbot
from evalsite.accounts.models import User
from tests.annotation.chat.chat_campaigns import open_live_campaign
from tests.annotation.open_campaigns import places_left
from tests.annotation.servers import Server, running_server
from tests.services import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
BOT = "tests.annotation.chat.bots.Thoughtful"
N_WORKERS, MIN_INPUTS, SIZE = 30, 2, 3
N_KILLS, TURNS_PER_LIFE = 3, 75
PATIENCE_S = 120


@pytest.fixture
def server(tmp_path: Path, installation: Path) -> Iterator[Server]:
    with running_server(tmp_path, installation / "static", n_threads=40, CHATBOT_CLASSES=BOT) as server:
        yield server


@pytest.fixture
def campaign(owner: User, settings: SettingsWrapper) -> Campaign:
    settings.CHATBOT_CLASSES = [BOT]
    campaign = open_live_campaign(
        owner,
        n_hits=N_WORKERS,
        n_ordinary=SIZE - 1,  # and the degraded chatbot
        hits_per_worker=1,
        platform_settings={"access": "personal"},
    )
    campaign.chat |= {"min_inputs": MIN_INPUTS}
    campaign.save(update_fields=["chat"])
    # A reply that was asked for by a request that died is asked for again after the time-out.
    Chatbot.objects.update(timeout_s=1)
    Chatbot.objects.filter(system__is_degraded=False).update(connector="python", settings={"class_path": BOT})
    return campaign


def test_resilience_thirty_workers_chat_through_three_crashes(campaign: Campaign, server: Server) -> None:
    visitors: list[Visitor] = []
    killer = threading.Thread(target=kill_now_and_then, args=(server, campaign))
    killer.start()
    with open_site(server.url) as client:
        crowd = make_crowd(campaign, seed=1, n_workers=N_WORKERS)
        outcome = run_crowd(
            campaign, crowd, client, n_threads=N_WORKERS, patience_s=PATIENCE_S, on_done=visitors.append
        )
    killer.join()

    assert outcome.errors == []
    assert server.n_kills == N_KILLS
    assert outcome.n_retries >= N_KILLS  # the crashes were felt
    everyone_finished(campaign, visitors)
    what_was_said_is_there_once(visitors)


def kill_now_and_then(server: Server, campaign: Campaign) -> None:
    """Kill the server each time when some more was said, so that all lives see chats."""
    turns = Turn.objects.filter(conversation__assignment__campaign=campaign)
    try:
        for life in range(1, N_KILLS + 1):
            wait_until(lambda n=life * TURNS_PER_LIFE: turns.count() >= n, PATIENCE_S, "workers chat")
            server.restart()
    finally:
        connection.close()  # of this thread


def everyone_finished(campaign: Campaign, visitors: list[Visitor]) -> None:
    """Every HIT is done once, its chats are ended and rated or given up; every worker has a code of their own."""
    assert places_left(campaign) == [0] * N_WORKERS
    finished = campaign.assignments.filter(state=Assignment.State.FINISHED)
    assert finished.count() == campaign.assignments.count() == N_WORKERS
    codes = set(finished.values_list("completion_code", flat=True))
    assert {tuple(visitor.codes) for visitor in visitors} == {(code,) for code in codes}
    chats = Counter(Conversation.objects.values_list("state", flat=True))
    assert chats.total() == N_WORKERS * SIZE
    assert chats[Conversation.State.OPEN] == 0
    n_rated = chats[Conversation.State.ENDED]
    assert Response.objects.count() == n_rated * campaign.criteria.count()
    assert n_rated >= N_WORKERS * SIZE - N_KILLS  # a crash is not a reason to give a chatbot up


def what_was_said_is_there_once(visitors: list[Visitor]) -> None:
    rows = Turn.objects.values_list("conversation__assignment", "conversation__item__position", "number", "text")
    kept = Counter(rows)
    assert set(kept.values()) == {1}
    for visitor in visitors:
        for turn in visitor.turns:
            assert kept[turn.assignment_id, turn.position, turn.number, turn.text] == 1
    for chat in Conversation.objects.prefetch_related("turns"):
        turns = list(chat.turns.all())
        assert [turn.number for turn in turns] == list(range(1, chat.n_turns + 1))
        assert [turn.speaker for turn in turns[::2]] == [Turn.Speaker.WORKER] * chat.n_inputs
