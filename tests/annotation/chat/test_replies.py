"""Asking chatbots: one request at a time, tries and pauses, caps, and whatever goes wrong on the way."""

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from annotation.chat import replies
from annotation.chat.replies import ReplyState, draw_delay_s, fetch_reply_of
from annotation.chat.services import keep_input, leave_conversations, open_conversations
from annotation.models import Assignment, Conversation, Event, Turn
from annotation.services.assignments import start_assignment
from campaigns.models import Campaign, Chatbot, System
from evalsite.lib.errors import DomainError
from tests.annotation.chat import bots
from tests.databases import on_both, on_sqlite

SCRIPTED = "tests.annotation.chat.bots.Scripted"


@pytest.fixture(autouse=True)
def script(settings: Settings) -> Iterator[None]:
    settings.CHATBOT_CLASSES = [SCRIPTED]
    bots.SCRIPT.clear()
    bots.ASKED.clear()
    yield
    bots.SCRIPT.clear()


@pytest.fixture
def chat(campaign: Campaign) -> Conversation:
    return begin(campaign)


def begin(campaign: Campaign, *, is_degraded: bool = False, **limits: Any) -> Conversation:
    """Return a chat with a scripted chatbot, or the degraded one, to whom the worker has said hello."""
    Chatbot.objects.filter(system__is_degraded=False).update(
        connector="python", settings={"class_path": SCRIPTED}, **limits
    )
    assignment = start_assignment(campaign=campaign, worker_key="ann")
    positions = {item.output.system.is_degraded: item.position for item in assignment.hit.items.all()}
    Assignment.objects.filter(pk=assignment.pk).update(n_rated=positions[is_degraded] - 1)
    where = {"assignment_id": assignment.pk, "position": positions[is_degraded]}
    open_conversations(**where, topic="the sea", opinion="like")
    return keep_input(**where, number=1, text="Hello")[0]


def fetch(chat: Conversation, **more: Any) -> ReplyState:
    return fetch_reply_of(Conversation.objects.select_related("assignment__campaign").get(pk=chat.pk), **more)


def said(chat: Conversation) -> list[str]:
    return list(chat.turns.values_list("text", flat=True))


def later(seconds: float) -> None:
    """Let time pass for all that waits."""
    for chat in Conversation.objects.all():
        for name in ("retry_at", "asked_until"):
            if at := getattr(chat, name):
                setattr(chat, name, at - timedelta(seconds=seconds))
        chat.save()


pytestmark = [pytest.mark.django_db, on_sqlite]


def test_a_reply_comes_and_is_asked_for_once(chat: Conversation) -> None:
    bots.SCRIPT.append("  Ahoy! \0")
    assert fetch(chat) == fetch(chat) == ReplyState("replied")
    assert said(chat) == ["Hello", "Ahoy!"]
    assert [turn.text for turn in bots.ASKED[0]] == ["Hello"]
    reply = chat.turns.get(number=2)
    assert reply.speaker == Turn.Speaker.CHATBOT
    assert reply.data["n_tries"] == 1
    assert reply.data.keys() >= {"took_ms", "answered_ms"}


@on_both
def test_a_failed_try_is_followed_by_others_later_and_later(chat: Conversation) -> None:
    bots.SCRIPT.extend([RuntimeError("out of order"), RuntimeError("still"), "Here I am"])
    first = fetch(chat)
    assert (first.status, fetch(chat).status) == ("waiting", "waiting")
    assert len(bots.ASKED) == 1, "it was asked again before the pause was over"
    later(60)
    second = fetch(chat)
    assert second.wait_s > first.wait_s > 0
    later(60)
    assert fetch(chat) == ReplyState("replied")
    assert said(chat) == ["Hello", "Here I am"]
    assert chat.turns.get(number=2).data["n_tries"] == 3
    failures = Event.objects.filter(kind=Event.Kind.UNANSWERED)
    assert [event.data["code"] for event in failures] == ["failed", "failed"]


def test_after_its_tries_a_reply_is_given_up_until_the_worker_asks_again(chat: Conversation) -> None:
    bots.SCRIPT.extend([RuntimeError("no")] * 3)
    for expected in ("waiting", "waiting", "failed", "failed"):
        assert fetch(chat).status == expected
        later(60)
    assert len(bots.ASKED) == 3
    chat.refresh_from_db()
    assert (chat.n_failures, said(chat)) == (1, ["Hello"])
    assert fetch(chat, is_retry=True) == ReplyState("replied")
    assert said(chat) == ["Hello", "Reply 1"]


def test_a_chatbot_that_was_given_up_can_be_left(chat: Conversation) -> None:
    Chatbot.objects.update(n_retries=0)
    bots.SCRIPT.append(RuntimeError("no"))
    assert fetch(chat).status == "failed"
    where = {"assignment_id": chat.assignment_id, "position": chat.item.position}
    assert leave_conversations(**where)[0].state == Conversation.State.DEAD
    assert fetch(chat, is_retry=True) == ReplyState("replied"), "a chat that is over awaits nothing"
    assert len(bots.ASKED) == 1


@on_both
def test_a_chatbot_that_has_answered_since_cannot_be_left(chat: Conversation) -> None:
    where = {"assignment_id": chat.assignment_id, "position": chat.item.position}
    Chatbot.objects.update(n_retries=0)
    bots.SCRIPT.append(RuntimeError("no"))
    assert fetch(chat).status == "failed"
    later(60)
    assert fetch(chat, is_retry=True) == ReplyState("replied")
    assert chat.turns.get(number=2).data["n_tries"] == 2
    keep_input(**where, number=3, text="And then?")
    with pytest.raises(DomainError, check=lambda error: error.code == "may_answer"):
        leave_conversations(**where)
    assert fetch(chat) == ReplyState("replied")


def test_whoever_asks_again_and_again_waits_for_the_pause_to_be_over(chat: Conversation) -> None:
    Chatbot.objects.update(n_retries=0)
    bots.SCRIPT.append(RuntimeError("no"))
    assert fetch(chat).status == "failed"
    Conversation.objects.update(retry_at=timezone.now() + timedelta(minutes=1))
    assert {fetch(chat, is_retry=True).status for _ in range(20)} == {"waiting"}
    assert len(bots.ASKED) == 1
    later(60)
    assert fetch(chat) == ReplyState("replied"), "that the worker wished to try again is forgotten"


def test_a_chatbot_that_stays_dead_is_asked_less_and_less_often(chat: Conversation) -> None:
    Chatbot.objects.update(n_retries=0)
    bots.SCRIPT.extend([RuntimeError("no")] * 8)
    pauses = []
    for _ in range(8):
        assert fetch(chat, is_retry=True).status == "failed"
        chat.refresh_from_db()
        failed = Event.objects.filter(kind=Event.Kind.UNANSWERED).latest("pk")
        pauses.append((chat.retry_at - failed.at).total_seconds())
        later(60)
    assert pauses == [1, 2, 4, 8, 16, 30, 30, 30]


@pytest.mark.parametrize("reply", ["", " \n", "\0"])
def test_an_empty_reply_is_none(chat: Conversation, reply: str) -> None:
    bots.SCRIPT.append(reply)
    assert fetch(chat).status == "waiting"
    assert Event.objects.get(kind=Event.Kind.UNANSWERED).data["code"] == "empty_reply"


def test_a_long_reply_is_cut(campaign: Campaign) -> None:
    chat = begin(campaign, max_chars=100)
    bots.SCRIPT.append("a" * 1_000_000)
    assert fetch(chat) == ReplyState("replied")
    assert len(said(chat)[1]) == 100
    assert chat.turns.get(number=2).data["is_cut"] is True


@on_both
@pytest.mark.parametrize(
    ("reply", "kept"),
    [
        (" abcd \n", "abcd"),
        ("abc  de", "abc"),
        ("a\ud83d\ude00b\udc00", "a😀b\N{REPLACEMENT CHARACTER}"),
        ("a\0b", "ab"),
    ],
)
def test_a_reply_is_kept_as_it_can_be_stored(campaign: Campaign, reply: str, kept: str) -> None:
    chat = begin(campaign, max_chars=4)
    bots.SCRIPT.append(reply)
    assert fetch(chat) == ReplyState("replied")
    assert said(chat)[1] == kept
    assert chat.turns.get(number=2).data.get("is_cut", False) is (reply == "abc  de")


def test_a_connector_that_cannot_be_is_a_lasting_failure(chat: Conversation) -> None:
    Chatbot.objects.update(connector="telepathy")
    assert fetch(chat) == ReplyState("failed")
    assert Event.objects.get(kind=Event.Kind.UNANSWERED).data["code"] == "unknown_connector"


# --- Caps


@on_both
def test_a_chatbot_stops_at_its_spending_cap(campaign: Campaign) -> None:
    chat = begin(campaign, price_per_reply=Decimal("0.5"), spending_cap=Decimal("0.5"))
    where = {"assignment_id": chat.assignment_id, "position": chat.item.position}
    assert fetch(chat) == ReplyState("replied")
    chatbot = Chatbot.objects.get(system=chat.item.output.system_id)
    assert (chatbot.spent, chatbot.is_spent) == (Decimal("0.5"), True)
    keep_input(**where, number=3, text="And then?")
    assert fetch(chat) == ReplyState("failed")
    assert len(bots.ASKED) == 1


def test_replies_without_a_word_are_paid_for_up_to_the_cap(campaign: Campaign) -> None:
    chat = begin(campaign, price_per_reply=Decimal("0.5"), spending_cap=Decimal("1"), n_retries=9)
    bots.SCRIPT.extend(["", " "])
    for code in ("empty_reply", "empty_reply", "spending_cap"):
        fetch(chat)
        assert Event.objects.filter(kind=Event.Kind.UNANSWERED).latest("pk").data["code"] == code
        later(60)
    assert Chatbot.objects.get(system=chat.item.output.system_id).spent == Decimal("1")


def test_a_chatbot_that_cannot_be_asked_costs_nothing(campaign: Campaign) -> None:
    chat = begin(campaign, price_per_reply=Decimal("0.5"))
    bots.SCRIPT.append(RuntimeError("no"))
    assert fetch(chat).status == "waiting"
    assert Chatbot.objects.get(system=chat.item.output.system_id).spent == 0


def test_tokens_have_prices() -> None:
    chatbot = Chatbot(price_in=Decimal("0.15"), price_out=Decimal("0.60"), price_per_reply=Decimal("0.001"))
    assert chatbot.price_of(2_000_000, 500_000) == Decimal("0.601")


@on_both
def test_a_chatbot_is_asked_only_so_often_at_once(campaign: Campaign) -> None:
    chat = begin(campaign, max_parallel=1)
    other = start_assignment(campaign=chat.assignment.campaign, worker_key="bea")
    item = other.hit.items.get(output__system=chat.item.output.system_id)
    busy = Conversation.objects.create(
        assignment=other, item=item, topic="tea", opinion="like", asked_until=timezone.now() + timedelta(minutes=1)
    )
    assert fetch(chat).status == "waiting"
    assert bots.ASKED == []
    busy.asked_until = None
    busy.save()
    assert fetch(chat) == ReplyState("replied")


# --- Several at once


@on_both
def test_whoever_finds_a_reply_asked_for_waits_for_it(chat: Conversation) -> None:
    Conversation.objects.update(asked_until=timezone.now() + timedelta(minutes=1))
    looks: list[float] = []

    def look(seconds: float) -> None:
        looks.append(seconds)
        if len(looks) == 3:  # the other has got it
            Turn.objects.create(conversation=chat, number=2, speaker=Turn.Speaker.CHATBOT, text="There")
            Conversation.objects.update(n_turns=2, asked_until=None)

    assert fetch(chat, sleep=look) == ReplyState("replied")
    assert (len(looks), bots.ASKED) == (3, [])


@on_both
def test_a_reply_whose_asker_died_is_asked_for_again(chat: Conversation) -> None:
    Conversation.objects.update(asked_until=timezone.now() - timedelta(seconds=1))
    assert fetch(chat) == ReplyState("replied")


@on_both
def test_a_hundred_windows_of_a_chat_hold_one_request(chat: Conversation) -> None:
    Conversation.objects.update(asked_until=timezone.now() + timedelta(minutes=1))
    others: list[ReplyState] = []

    def open_windows(_: float) -> None:
        if not others:
            others.extend(fetch(chat, sleep=lambda _: pytest.fail("a second request waits")) for _ in range(99))
            Conversation.objects.update(asked_until=None)

    assert fetch(chat, sleep=open_windows).status == "waiting"
    assert {other.status for other in others} == {"waiting"}
    assert all(other.wait_s >= 1 for other in others)
    assert fetch(chat) == ReplyState("replied")


def test_a_try_that_failed_meanwhile_counts(chat: Conversation) -> None:
    bots.SCRIPT.append(RuntimeError("no"))
    assert fetch(chat).status == "waiting"
    assert fetch_reply_of(chat).status == "waiting"
    assert len(bots.ASKED) == 1, "the pause was passed over by a request that had looked before"


# --- Pace


@on_both
def test_the_degraded_chatbot_takes_as_long_as_another_did(campaign: Campaign) -> None:
    chat = begin(campaign, is_degraded=True)
    campaign = chat.assignment.campaign
    assert draw_delay_s(campaign, chat.pk, 1) == 0
    Chatbot.objects.filter(system__is_degraded=False).update(tested={"took_ms": 800})
    assert draw_delay_s(campaign, chat.pk, 1) == 0.8
    other = Conversation.objects.create(
        assignment=chat.assignment,
        item=chat.assignment.hit.items.exclude(pk=chat.item_id).first(),
        topic="tea",
        opinion="like",
        n_turns=2,
    )
    Turn.objects.create(
        conversation=other, number=2, speaker=Turn.Speaker.CHATBOT, text="Hm", data={"answered_ms": 2500}
    )
    slept: list[float] = []
    assert fetch(chat, sleep=slept.append) == ReplyState("replied")
    assert len(slept) == 1
    assert 1.5 < slept[0] <= 2.5
    assert System.objects.get(outputs__items=chat.item_id).is_degraded


def test_the_pace_is_that_of_the_newest_chats_with_a_reply(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replies, "_LATEST", 2)
    chat = begin(campaign, is_degraded=True)
    others = [
        Conversation.objects.create(
            assignment=chat.assignment, item=item, topic="tea", opinion="like", n_turns=0 if k == 4 else 2
        )
        for k, item in enumerate(chat.assignment.hit.items.exclude(pk=chat.item_id))
    ]
    for other, answered_ms in reversed(list(zip(others[:4], (9000, 9000, 500, 500), strict=True))):
        Turn.objects.create(
            conversation=other, number=2, speaker="chatbot", text="Hm", data={"answered_ms": answered_ms}
        )
    assert {draw_delay_s(chat.assignment.campaign, chat.pk, number) for number in range(20)} == {0.5}
