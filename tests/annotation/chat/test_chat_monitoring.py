"""Watching chats: who may, what is counted, what is found, what is warned of."""

import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.chat import monitoring as chat_monitoring
from annotation.chat.monitoring import ChatbotState, get_chatbot_states, list_chats
from annotation.models import Assignment, Conversation
from annotation.monitoring.progress import count_by_system, get_totals, minutes_per_chat
from annotation.worker_names import hashed_name
from campaigns.models import Campaign, Chatbot
from campaigns.templatetags.words import seconds
from evalsite.accounts.models import User
from tests.annotation.cast import make_worker
from tests.annotation.chat.chat_campaigns import CHATBOTS, make_live_campaign, open_live_campaign
from tests.annotation.chat.talks import (
    GREETINGS,
    SERIOUS,
    change_topic,
    fail,
    hold_chat,
    take_hit,
)
from tests.annotation.chat.watching import PAGES, chat_page, page_of, stats_in
from tests.campaigns.cast import add_member, make_campaign
from tests.databases import on_both, on_sqlite

pytestmark = on_sqlite

State = Conversation.State


def states_of(campaign: Campaign) -> dict[str, ChatbotState]:
    return {str(state.chatbot): state for state in get_chatbot_states(campaign, timezone.now())}


# --- Who may


@pytest.mark.parametrize("name", PAGES)
def test_members_see_every_page_and_strangers_none(
    busy: Campaign, colleague: User, owner_client: Client, colleague_client, stranger_client, name: str
) -> None:
    add_member(busy, colleague, "viewer")
    assert owner_client.get(page_of(busy, name)).status_code == 200
    assert colleague_client.get(page_of(busy, name)).status_code == 200
    assert stranger_client.get(page_of(busy, name)).status_code == 404
    assert owner_client.post(page_of(busy, name)).status_code == 405


def test_a_chat_is_for_members_of_its_campaign(
    owner: User, busy: Campaign, colleague: User, owner_client: Client, colleague_client, stranger_client
) -> None:
    add_member(busy, colleague, "viewer")
    chat = Conversation.objects.first()
    assert chat
    for client, status in ((owner_client, 200), (colleague_client, 200), (stranger_client, 404)):
        assert client.get(chat_page(chat)).status_code == status
    other = make_live_campaign(owner)
    assert owner_client.get(reverse("monitoring:chat", args=[other.public_id, chat.pk])).status_code == 404
    assert owner_client.post(chat_page(chat)).status_code == 405


@on_both
@pytest.mark.parametrize("name", PAGES)
def test_only_live_campaigns_have_chats(owner: User, owner_client: Client, campaign: Campaign, name: str) -> None:
    other = make_campaign(owner)
    assert owner_client.get(page_of(other, name)).status_code == 404
    tabs = [
        [link.title for link in owner_client.get(page_of(each, "progress")).context["side_bar"].links]
        for each in (campaign, other)
    ]
    assert ["Chats" in titles for titles in tabs] == [True, False]


@pytest.mark.parametrize("name", PAGES)
def test_pages_of_drafts_and_of_campaigns_that_nobody_came_to(
    owner: User, owner_client: Client, campaign: Campaign, name: str
) -> None:
    for each in (make_campaign(owner, "dialogue-free"), make_live_campaign(owner), campaign):
        assert owner_client.get(page_of(each, name)).status_code == 200


@on_both
def test_viewers_see_hashes_of_workers_and_find_them(
    busy: Campaign, colleague: User, owner_client: Client, colleague_client: Client
) -> None:
    add_member(busy, colleague, "viewer")
    ann, chat = make_worker(busy, "ann-the-rater"), Conversation.objects.first()
    assert chat
    for address in (*(page_of(busy, name) for name in PAGES), chat_page(chat)):
        assert "-the-rater" in owner_client.get(address).text
        assert "-the-rater" not in colleague_client.get(address).text
    found = colleague_client.get(page_of(busy, "transcripts", f"?worker={hashed_name(ann)}")).context["rows"]
    assert {row.chat.assignment.worker for row in found} == {ann}
    assert colleague_client.get(page_of(busy, "transcripts", "?worker=ann-the")).context["rows"] == []


# --- Now


@on_both
def test_chats_are_counted_by_what_became_of_them(busy: Campaign) -> None:
    counts = {
        name: (each.n_chats, each.n_running, each.n_awaiting, each.n_ended, each.n_dead, each.n_left)
        for name, each in states_of(busy).items()
    }
    assert counts == {
        "Amber": (3, 0, 0, 2, 0, 1),
        "Birch": (2, 0, 0, 1, 1, 0),
        "Coral": (2, 1, 1, 1, 0, 0),
        **dict.fromkeys((*CHATBOTS[3:], "degraded"), (0, 0, 0, 0, 0, 0)),
    }


@on_both
def test_a_chat_runs_while_its_worker_is_there_or_a_reply_is_asked_for(campaign: Campaign) -> None:
    def n_running() -> int:
        return states_of(campaign)["Amber"].n_running

    cem = take_hit(campaign, "cem", seen_ago=timedelta(minutes=30))
    chat = hold_chat(cem, chatbot="Amber", inputs=SERIOUS[:3], state=State.OPEN, is_answered=False)
    assert n_running() == 0
    Conversation.objects.update(asked_until=timezone.now() + timedelta(seconds=30))
    assert n_running() == 1
    assert list(list_chats(campaign, now=timezone.now(), state="running")) == [chat]
    Assignment.objects.update(state="expired", ended_at=timezone.now())
    assert n_running() == 0


@on_both
def test_latencies_are_of_the_chatbots_own_last_try(campaign: Campaign) -> None:
    for name, answered_ms in (("ann", 1000), ("bob", 3000)):
        hold_chat(take_hit(campaign, name), chatbot="Amber", answered_ms=answered_ms)
    state = states_of(campaign)["Amber"]
    assert sorted(set(state.latencies_ms)) == [1000, 3000]
    assert (state.latencies_ms.size, state.n_replies) == (20, 20)


def test_the_page_shows_median_and_percentile(owner_client: Client, campaign: Campaign) -> None:
    ann = take_hit(campaign, "ann")
    hold_chat(ann, chatbot="Amber", answered_ms=500, inputs=SERIOUS[:9])
    hold_chat(ann, chatbot="Coral", answered_ms=4000, inputs=SERIOUS[:1])
    page = owner_client.get(page_of(campaign, "chats"))
    rows = {
        str(state.chatbot): (seconds(state.median_s), seconds(state.p95_s)) for state in page.context["chats"].states
    }
    assert (rows["Amber"], rows["Coral"], rows["Dune"]) == (("0.5", "0.5"), ("4.0", "4.0"), ("–", "–"))
    assert stats_in(page.text)["Seconds to a reply, median"].split()[0] == "0.5"


def test_the_degraded_chatbot_makes_no_median_shorter(owner_client: Client, campaign: Campaign) -> None:
    ann = take_hit(campaign, "ann")
    hold_chat(ann, chatbot="Amber", answered_ms=4000, inputs=SERIOUS[:2])
    hold_chat(ann, chatbot="degraded", answered_ms=1, inputs=SERIOUS[:9])
    stats = stats_in(owner_client.get(page_of(campaign, "chats")).text)
    assert stats["Seconds to a reply, median"] == "4.0 95 % within 4.0"


def test_fast_replies_do_not_take_no_time(owner_client: Client, campaign: Campaign) -> None:
    hold_chat(take_hit(campaign, "ann"), chatbot="Amber", answered_ms=42)
    page = owner_client.get(page_of(campaign, "chats"))
    assert 'class="num">0.042</td>' in page.text


def test_latencies_of_the_newest_chats_only(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_monitoring, "CHATS_TIMED", 1)
    for name, answered_ms in (("ann", 1000), ("bob", 3000)):
        hold_chat(take_hit(campaign, name), chatbot="Amber", answered_ms=answered_ms)
    assert set(states_of(campaign)["Amber"].latencies_ms) == {3000}


@on_both
def test_failures_are_counted_and_the_last_is_told(busy: Campaign, ann: Assignment) -> None:
    chat = Conversation.objects.get(topic="birds")
    fail(chat, 1, turn=3, code="server_error", message="HTTP 503.")
    states = states_of(busy)
    assert (states["Birch"].n_failed, states["Birch"].n_given_up) == (4, 1)
    assert states["Birch"].last_failure
    assert (states["Birch"].last_failure.code, states["Birch"].last_failure.message) == ("server_error", "HTTP 503.")
    assert (states["Amber"].n_failed, states["Amber"].last_failure) == (0, None)


def test_another_campaigns_chats_are_not_counted(owner: User, busy: Campaign) -> None:
    assert {each.n_chats for each in states_of(open_live_campaign(owner)).values()} == {0}


@on_both
def test_the_running_chats_are_listed_last_seen_first(owner_client: Client, busy: Campaign) -> None:
    dan = take_hit(busy, "dan", seen_ago=timedelta(minutes=2))
    hold_chat(dan, inputs=SERIOUS[:1], state=State.OPEN, topic="late")
    page = owner_client.get(page_of(busy, "chats"))
    assert [row.chat.topic for row in page.context["chats"].running] == ["tea", "late"]
    assert 'id="chats" data-refresh' in page.text


def test_a_closed_campaign_is_not_asked_for_again(owner_client: Client, campaign: Campaign) -> None:
    Campaign.objects.update(status=Campaign.Status.CLOSED)
    assert "data-refresh>" not in owner_client.get(page_of(campaign, "chats")).text


# --- Warnings


def warned_of(client: Client, campaign: Campaign) -> list[tuple[str, str]]:
    page = client.get(page_of(campaign, "chats"))
    warnings = re.findall(r'message-warning">.*?<bdi>(.*?)</bdi>.*?<a href="(.*?)"', page.text, re.DOTALL)
    assert [name for name, _ in warnings] == [str(state.chatbot) for state in page.context["chats"].warned]
    return warnings


@on_both
def test_a_chatbot_that_fails_often_is_warned_of(owner_client: Client, campaign: Campaign, ann: Assignment) -> None:
    chat = hold_chat(ann, chatbot="Birch")
    fail(chat, 2)
    assert warned_of(owner_client, campaign) == []
    fail(chat, 1)
    birch = Chatbot.objects.get(system__name="Birch")
    url = reverse("campaigns:chatbot", args=[campaign.public_id, birch.pk])
    assert warned_of(owner_client, campaign) == [("Birch", url)]
    assert owner_client.get(url).status_code == 200


def test_a_chatbot_that_answers_again_is_warned_of_no_more(owner_client: Client, campaign: Campaign, ann) -> None:
    fail(hold_chat(ann, chatbot="Birch", inputs=SERIOUS[:1]), 10)
    assert len(warned_of(owner_client, campaign)) == 1
    now = timezone.now()
    for name in ("bob", "cem", "dan", "eve", "fay"):
        hold_chat(take_hit(campaign, name), chatbot="Birch", started_at=now + timedelta(minutes=1))
    assert warned_of(owner_client, campaign) == []
    assert states_of(campaign)["Birch"].n_failed == 10


@on_both
def test_a_chatbot_at_its_cap_is_warned_of(owner_client: Client, campaign: Campaign) -> None:
    Chatbot.objects.filter(system__name="Dune").update(spending_cap=Decimal(5), spent=Decimal("4.99"))
    assert warned_of(owner_client, campaign) == []
    Chatbot.objects.filter(system__name="Dune").update(spent=Decimal(5))
    assert [name for name, _ in warned_of(owner_client, campaign)] == ["Dune"]
    assert owner_client.get(page_of(campaign, "chats")).context["chats"].has_costs


# --- Cost


@on_both
def test_the_queries_of_every_page_do_not_grow(owner: User, owner_client: Client) -> None:
    few, many = open_live_campaign(owner, n_hits=1), open_live_campaign(owner, n_hits=11)
    for campaign, n_workers in ((few, 1), (many, 11)):
        for k in range(n_workers):
            assignment = take_hit(campaign, f"worker-{k}")
            for position in range(1, 3):
                chat = hold_chat(assignment, position, inputs=GREETINGS)
                change_topic(chat, 2, "ships")
                fail(chat, 3)
            hold_chat(assignment, 6, inputs=SERIOUS[:3], state=State.OPEN)
    with CaptureQueriesContext(connection) as of_chat:
        owner_client.get(chat_page(chat))
    assert len(of_chat) <= 10
    words = "?search=hello&worker=worker&flag=greetings"
    most = {"chats": 10, "transcripts": 10, "chat_flags": 8, "progress": 16, "assignments": 9, "export": 10}
    for name, query in [*((name, "") for name in most), ("transcripts", words)]:
        counts = []
        for campaign in (few, many):
            with CaptureQueriesContext(connection) as queries:
                assert owner_client.get(page_of(campaign, name, query)).status_code == 200
            counts.append(len(queries))
        assert counts[0] == counts[1] <= most[name] + 3 * bool(query), (name, query)


# --- Progress


@on_both
def test_dead_chats_are_not_rated(owner_client: Client, campaign: Campaign, ann: Assignment) -> None:
    names = [item.output.system.name for item in ann.hit.items.select_related("output__system")]
    for position, name in enumerate(names[:4], start=1):
        hold_chat(ann, position, chatbot=name, state=State.DEAD if position == 2 else State.ENDED)
    counts = {count.name: count.n_rated for count in count_by_system(campaign)}
    assert counts == {name: int(name in names[:4] and name != names[1]) for name in CHATBOTS}
    totals = get_totals(campaign, timezone.now())
    assert (totals.n_items_rated, totals.n_items_finished) == (3, 0)
    Assignment.objects.update(state="finished", ended_at=timezone.now())
    assert get_totals(campaign, timezone.now()).n_items_finished == 3
    Assignment.objects.update(state="returned")
    assert get_totals(campaign, timezone.now()).n_items_rated == 0
    assert sum(count.n_rated for count in count_by_system(campaign)) == 0


@on_both
def test_a_chat_that_dies_while_ratings_are_counted_is_none(campaign: Campaign, ann: Assignment) -> None:
    hold_chat(ann, chatbot="Birch", state=State.DEAD)
    Assignment.objects.update(n_rated=0)  # as it was when what was rated was counted
    assert {count.name: count.n_rated for count in count_by_system(campaign)} == dict.fromkeys(CHATBOTS, 0)


@on_both
def test_progress_speaks_of_chats(owner_client: Client, busy: Campaign) -> None:
    page = owner_client.get(page_of(busy, "progress"))
    labels = stats_in(page.text)
    assert {"Chats rated", "Minutes per chat, median"} <= set(labels)
    assert not any("tem" in label for label in labels)
    assert minutes_per_chat(busy) == pytest.approx([10 * 10.2 / 60] * 4)
