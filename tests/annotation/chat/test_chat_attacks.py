"""What nobody's browser would send, and HITs that are lost in the middle of a chat."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import product
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings as SettingsWrapper

from annotation.chat.services import open_conversations
from annotation.models import Assignment, Conversation, Turn
from annotation.services.assignments import expire_leases, return_assignment, start_assignment
from campaigns.models import Campaign, Chatbot
from tests.annotation.chat import bots
from tests.annotation.chat.chat_campaigns import open_live_campaign
from tests.annotation.chat.test_chat_pages import FORMS, JSON, SCRIPTED, Worker
from tests.conftest import make_owner

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def script(settings: SettingsWrapper) -> Iterator[None]:
    settings.CHATBOT_CLASSES = [SCRIPTED]
    bots.SCRIPT.clear()
    bots.ASKED.clear()
    yield
    bots.SCRIPT.clear()


@pytest.fixture(scope="module")
def opened(module_db: None) -> Campaign:
    """A campaign of one HIT."""
    return open_live_campaign(make_owner(), n_hits=1)


@pytest.fixture
def worker(client: Client, campaign: Campaign) -> Worker:
    """A worker who has begun a chat, in the last HIT of a campaign."""
    Chatbot.objects.update(connector="python", settings={"class_path": SCRIPTED})
    worker = Worker(client, campaign)
    worker.begin()
    return worker


# --- HITs that are lost


def give_to_somebody_else(assignment: Assignment) -> None:
    expire_leases(now=timezone.now() + timedelta(days=1))
    bobs = start_assignment(campaign=assignment.campaign, worker_key="bob")
    open_conversations(assignment_id=bobs.pk, position=1, topic="Tea", opinion="like")


def give_back(assignment: Assignment) -> None:
    return_assignment(assignment_id=assignment.pk)


def test_what_is_said_after_somebody_else_has_the_hit_is_kept_and_leads_nowhere(worker: Worker) -> None:
    give_to_somebody_else(worker.assignment)
    result = worker.say(1, "I was away", as_script=True)
    assert (result.status_code, result.json()["code"]) == (409, "not_active")
    assert Turn.objects.get().text == "I was away"
    assert bots.ASKED == []
    page = worker.say(1, "I was away")
    assert page.status_code == 409
    assert "offered to others" in page.text


@pytest.mark.parametrize("lose", [give_to_somebody_else, give_back])
@pytest.mark.parametrize("again", [{}, {"again": 1}])
def test_no_reply_is_asked_for_in_a_hit_that_is_lost(worker: Worker, lose: Any, again: dict[str, int]) -> None:
    bots.SCRIPT.append(RuntimeError("no"))
    worker.say(1)
    Conversation.objects.update(retry_at=None)
    lose(worker.assignment)
    assert worker.send("reply", number=2, as_script=True, **again).status_code == 409
    assert len(bots.ASKED) == 1


def test_a_page_whose_hit_was_given_back_is_told_that_it_is_out_of_date(worker: Worker) -> None:
    give_back(worker.assignment)
    for name in ("say", "change", "end", "leave"):
        result = worker.send(name, as_script=True, number=1, text="Hi", by="last", topic="tea", attitude="like")
        assert (result.status_code, result.json()["status"]) == (409, "refused"), name
    assert worker.say(1).status_code == 410
    assert not Turn.objects.exists()


# --- Forms that no page has


NUMBERS = (0, -1, "", "x", 10**9 - 1, 10**9, 2**63, 10**40, "٣", "1e3", " 1", "1\0")
BODIES = (
    ("application/json", b"{}"),
    ("text/plain", b"\xff\0"),
    ("multipart/form-data", b"x"),
    ("multipart/form-data; boundary=x", b"--x\r\nbroken"),
    ("application/x-www-form-urlencoded", b"position=1&number=1&text=%ff%00%ed%a0%80&%ff%00="),
    ("application/x-www-form-urlencoded", b"&".join(b"f%d=1" % k for k in range(2000))),
    ("application/x-www-form-urlencoded", b"position=1&number=1&text=" + b"x" * 1_000_000),
    ("application/x-www-form-urlencoded", b"position=1&number=1&text=" + b"x" * 10_000_000),
)


@contextmanager
def undone() -> Iterator[None]:
    """Undo what the block stores, so that the next finds the chat as this did."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.mark.parametrize("name", FORMS)
def test_any_number_is_answered(worker: Worker, name: str) -> None:
    for number in NUMBERS:
        with undone():
            for where in ({"position": number, "number": 1}, {"position": 1, "number": number}, {"number": number}):
                for kind in ({}, JSON):
                    sent = where | {"text": "Hi", "topic": "tea", "typed_ms": number, "again": number}
                    status = worker.client.post(worker.url(name), sent, **kind).status_code
                    assert status < 500, (number, where)


@pytest.mark.parametrize("name", FORMS)
def test_any_body_is_answered(worker: Worker, name: str) -> None:
    for kind, body in BODIES:
        with undone():
            for accept in ({}, JSON):
                status = worker.client.generic("POST", worker.url(name), body, kind, **accept).status_code
                assert status < 500, (kind, body[:100])


def test_any_encoding_is_answered(worker: Worker) -> None:
    charsets = ("utf-7", "raw_unicode_escape", "base64", "idna", "utf-16", "latin-1", "nothing")
    for charset, text in product(charsets, (b"+2AA-", rb"\ud800", b"hi")):
        fields = {b"position": b"1", b"number": b"1", b"text": text}
        parts = [b'--x\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n' % field for field in fields.items()]
        body = b"".join(parts) + b"--x--\r\n"
        form = b"&".join(b"%s=%s" % field for field in fields.items())
        with undone():
            for kind, sent in (("multipart/form-data; boundary=x", body), ("application/x-www-form-urlencoded", form)):
                answer = worker.client.generic("POST", worker.url("say"), sent, f"{kind}; charset={charset}", **JSON)
                assert answer.status_code < 500, (kind, charset, text)
