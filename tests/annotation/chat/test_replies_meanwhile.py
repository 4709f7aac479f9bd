"""Replies that come while something else happens: another request, the end of the chat, or of the lease."""

import threading
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.utils import timezone

from annotation.chat.replies import ReplyState
from annotation.chat.services import end_conversations
from annotation.models import Conversation
from campaigns.models import Campaign, Chatbot
from evalsite.accounts.models import User
from tests.annotation.chat import bots
from tests.annotation.chat.chat_campaigns import open_live_campaign
from tests.annotation.chat.test_replies import begin, fetch, later, said, script  # noqa: F401
from tests.databases import on_both

pytestmark = [pytest.mark.django_db(transaction=True), on_both]


def test_a_reply_that_comes_too_late_does_not_stand_beside_another(owner: User) -> None:
    chat = begin(open_live_campaign(owner))

    def be_overtaken() -> str:
        try:
            later(3600)  # the lease ends while the chatbot thinks
            bots.SCRIPT.append("First")
            fetch(chat)
        finally:
            connection.close()
        return "Second"

    bots.SCRIPT.append(be_overtaken)
    assert fetch(chat) == ReplyState("replied")
    assert said(chat) == ["Hello", "First"]


def test_many_requests_at_once_ask_once(owner: User) -> None:
    chat = begin(open_live_campaign(owner))
    release = threading.Event()
    bots.SCRIPT.append(lambda: "Here" if release.wait(30) else "")
    outcomes: list[ReplyState] = []

    def run() -> None:
        try:
            outcomes.append(fetch(chat))
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(6)]
    for thread in threads:
        thread.start()
    while not bots.ASKED and any(thread.is_alive() for thread in threads):
        threading.Event().wait(0.01)
    release.set()
    for thread in threads:
        thread.join()
    # One asks, one may wait for it, and the others are asked to come again.
    assert {outcome.status for outcome in outcomes} <= {"replied", "waiting"}
    assert fetch(chat) == ReplyState("replied")
    assert (len(bots.ASKED), said(chat)) == (1, ["Hello", "Here"])


def test_a_reply_to_a_chat_that_has_ended_is_not_added_to_it(owner: User) -> None:
    chat = begin(open_live_campaign(owner), price_per_reply=Decimal("0.5"))
    Campaign.objects.update(chat={"min_inputs": 1})

    def be_left() -> str:
        try:
            end_conversations(assignment_id=chat.assignment_id, position=chat.item.position)
        finally:
            connection.close()
        return "Too late"

    bots.SCRIPT.append(be_left)
    assert fetch(chat) == ReplyState("replied")
    assert said(chat) == ["Hello"], "the worker rates a chat that they have not seen"
    assert Chatbot.objects.get(system=chat.item.output.system_id).spent == Decimal("0.5")


def test_a_failure_that_comes_too_late_changes_nothing(owner: User) -> None:
    chat = begin(open_live_campaign(owner), n_retries=0)

    def be_overtaken() -> str:
        try:
            later(3600)  # the lease ends while the chatbot thinks
            bots.SCRIPT.append("First")
            fetch(chat)
        finally:
            connection.close()
        raise RuntimeError("no")

    bots.SCRIPT.append(be_overtaken)
    assert fetch(chat).status == "waiting"
    assert fetch(chat) == ReplyState("replied")
    chat.refresh_from_db()
    assert (said(chat), chat.n_failures, chat.n_tries) == (["Hello", "First"], 0, 0)


def test_a_failure_that_comes_too_late_does_not_end_the_lease_of_another(owner: User) -> None:
    chat = begin(open_live_campaign(owner))
    until = timezone.now() + timedelta(minutes=5)

    def be_replaced() -> str:
        try:
            Conversation.objects.update(asked_until=until)
        finally:
            connection.close()
        raise RuntimeError("no")

    bots.SCRIPT.append(be_replaced)
    assert fetch(chat).status == "waiting"
    chat.refresh_from_db()
    assert (chat.asked_until, chat.n_tries) == (until, 0)
