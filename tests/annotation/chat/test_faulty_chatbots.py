"""Chatbots whose server misbehaves, as workers meet them: through the pages, with a real server on this machine."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from annotation.access.tokens import token_of
from annotation.models import Assignment, Conversation, Event, Response, Turn
from annotation.queries import criteria_of
from annotation.services.assignments import start_assignment
from campaigns.models import Campaign, Chatbot
from evalsite.lib.encryption import encrypt_secrets
from simulators.chat_completions import ChatServer
from tests.annotation.chat.chat_campaigns import CHATBOTS

pytestmark = pytest.mark.django_db
KEY = "sk-workers-0123456789"
TYPED = "I had porridge & “jam” <today>"
# What a worker has no business with: why a chatbot fails could tell which it is.
INTERNALS = (
    KEY,
    "tiny-model",
    "openai",
    "127.0.0.1",
    "Traceback",
    "connector",
    "Error",
    "server",
    "rate",
    "JSON",
    *CHATBOTS,
)

# How the server fails, the code that is stored, and whether it is asked again without the worker.
FAULTS: dict[str, tuple[str, dict[str, Any], str, bool]] = {
    "too many requests": ("rate_limited", {"retry_after": 2}, "rate_limited", True),
    "too many for long": ("rate_limited", {"retry_after": 3600}, "rate_limited", False),
    "internal error": ("status", {"status": 500, "message": "Traceback of {key}"}, "server_error", True),
    "overloaded": ("status", {"status": 529}, "server_error", True),
    "wrong key": ("status", {"status": 401, "message": "wrong key {key}"}, "refused", False),
    "no such model": ("status", {"status": 404, "message": "no tiny-model here"}, "refused", False),
    "cut off": ("cut_stream", {}, "cut_off", True),
    "cut body": ("cut_body", {}, "cut_off", True),
    "silent": ("silence", {}, "timeout", True),
    "dribbling": ("dribble", {}, "timeout", True),
    "no JSON": ("not_json", {}, "bad_reply", True),
    "wrong shape": ("wrong_shape", {"shape": {"reply": "hi"}}, "bad_reply", True),
    "redirect": ("redirect", {"to": "http://169.254.169.254/"}, "host_refused", False),
}


@pytest.fixture
def server(settings: Settings) -> Iterator[ChatServer]:
    with ChatServer() as server:
        settings.CHATBOT_HOSTS = [server.host, "127.0.0.1:9"]
        yield server


@pytest.fixture
def campaign(campaign: Campaign, server: ChatServer) -> Campaign:
    """A running campaign of short chats, all of whose chatbots ask the server and have a second for it."""
    Campaign.objects.update(chat=campaign.chat | {"min_inputs": 2})
    Chatbot.objects.update(
        connector="openai-chat",
        settings={"base_url": server.base_url, "model": "tiny-model"},
        secrets=encrypt_secrets({"api_key": KEY}),
        timeout_s=1,
    )
    return campaign


class Worker:
    """A worker whose page's script sends the forms."""

    def __init__(self, client: Client, campaign: Campaign) -> None:
        self.client = client
        self.assignment = start_assignment(campaign=campaign, worker_key="ann")

    def url(self, name: str = "hit") -> str:
        return reverse(f"rate:{name}", args=[token_of(self.assignment)])

    def page(self) -> str:
        return self.client.get(self.url()).text

    def send_form(self, name: str, position: int = 1, **fields: Any) -> HttpResponse:
        return self.client.post(self.url(name), {"position": position, **fields})

    def send(self, name: str, position: int = 1, **fields: Any) -> dict[str, Any]:
        """Send as the script does; return the answer, which may show nothing of the chatbot's inside."""
        answer = self.client.post(self.url(name), {"position": position, **fields}, HTTP_ACCEPT="application/json")
        assert answer.status_code == 200
        assert not [word for word in INTERNALS if word in answer.text]
        return json.loads(answer.text)

    def begin(self, position: int = 1) -> None:
        self.send("topic", position, topic="the sea", opinion="like")

    def chat(self, position: int) -> None:
        """Hold a whole chat and rate it."""
        self.begin(position)
        for number in (1, 3):
            assert self.send("say", position, number=number, text=TYPED)["status"] == "replied"
        self.send("end", position)
        scores = {f"answer_{criterion.pk}": 60 for criterion in criteria_of(self.assignment.campaign)}
        self.send_form("hit", position, **scores)


@pytest.fixture
def worker(client: Client, campaign: Campaign) -> Worker:
    return Worker(client, campaign)


def failures() -> list[dict[str, Any]]:
    return [event.data for event in Event.objects.filter(kind=Event.Kind.UNANSWERED)]


def let_the_pause_pass() -> None:
    Conversation.objects.update(retry_at=None)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_answered_calmly_and_the_next_try_goes_well(worker: Worker, server: ChatServer, fault: str) -> None:
    how, details, code, is_passing = FAULTS[fault]
    worker.begin()
    server.behave(how, **details)
    answer = worker.send("say", number=1, text=TYPED)
    assert answer["status"] == ("waiting" if is_passing else "failed")
    assert [turn["text"] for turn in answer["turns"]] == []
    assert (answer["can_leave"], bool(answer["message"])) == (not is_passing, not is_passing)
    assert answer["wait_ms"] >= (2000 if is_passing and how == "rate_limited" else 0)
    assert [each["code"] for each in failures()] == [code]
    assert KEY not in str(failures()) + str(Conversation.objects.get().last_error)

    page = worker.page()
    assert "I had porridge &amp; “jam” &lt;today&gt;" in page
    assert not [word for word in (KEY, "tiny-model", *CHATBOTS) if word in page]

    server.behave("well")
    server.say("Porridge is lovely.")
    let_the_pause_pass()
    answer = worker.send("reply", number=2, again=1)
    assert answer["status"] == "replied"
    assert [(turn["by"], turn["text"]) for turn in answer["turns"]] == [("chatbot", "Porridge is lovely.")]
    assert list(Turn.objects.values_list("text", flat=True)) == [TYPED, "Porridge is lovely."]
    assert server.received[-1].body["messages"][-1] == {"role": "user", "content": TYPED}


def test_without_script_too_the_message_is_kept_and_can_be_tried_again(worker: Worker, server: ChatServer) -> None:
    worker.send_form("topic", topic="the sea", opinion="like")
    server.behave("status", status=401, message="wrong key {key}")
    assert worker.send_form("say", number=1, text=TYPED).status_code == 303
    page = worker.page()
    assert "porridge" in page
    assert "Try again" in page
    assert "Continue without this chatbot" in page
    assert KEY not in page
    server.behave("well")
    server.say("Porridge is lovely.")
    let_the_pause_pass()
    assert worker.send_form("reply", number=2, again=1).status_code == 303
    assert "Porridge is lovely." in worker.page()


def test_tries_go_on_by_themselves_until_the_chatbot_is_given_up(worker: Worker, server: ChatServer) -> None:
    worker.begin()
    server.behave("status", status=503)
    statuses = [worker.send("say", number=1, text=TYPED)["status"]]
    for _ in range(2):
        let_the_pause_pass()
        statuses.append(worker.send("reply", number=2)["status"])
    assert statuses == ["waiting", "waiting", "failed"]
    assert worker.send("reply", number=2)["status"] == "failed"
    assert len(server.received) == 3, "a chatbot that was given up is left in peace until the worker asks"


def test_a_fault_in_the_middle_of_a_chat_loses_nothing(worker: Worker, server: ChatServer) -> None:
    worker.begin()
    assert worker.send("say", number=1, text="One")["status"] == "replied"
    server.behave("cut_stream", times=1)
    assert worker.send("say", number=3, text="Two")["status"] == "waiting"
    let_the_pause_pass()
    assert worker.send("reply", number=4)["status"] == "replied"
    said = list(Turn.objects.values_list("number", "speaker"))
    assert said == [(1, "worker"), (2, "chatbot"), (3, "worker"), (4, "chatbot")]
    assert [each["content"] for each in server.received[-1].body["messages"][1:]][::2] == ["One", "Two"]


def test_a_long_reply_is_cut_and_that_is_recorded(worker: Worker, server: ChatServer) -> None:
    worker.begin()
    server.behave("long", n_chars=1_000_000)
    answer = worker.send("say", number=1, text=TYPED)
    assert (answer["status"], len(answer["turns"][0]["text"])) == (
        "replied",
        len("All work and no play. " * 45 + "All work a"),
    )
    assert Turn.objects.get(number=2).data["is_cut"] is True


def test_a_hit_with_a_chatbot_that_stays_dead_is_finished_without_it(worker: Worker, server: ChatServer) -> None:
    dead = worker.assignment.hit.items.get(position=3)
    Chatbot.objects.filter(system=dead.output.system_id).update(
        settings={"base_url": "http://127.0.0.1:9/v1", "model": "tiny-model"}, n_retries=0
    )
    for position in (1, 2):
        worker.chat(position)
    worker.begin(3)
    answer = worker.send("say", 3, number=1, text=TYPED)
    assert (answer["status"], answer["can_leave"]) == ("failed", True)
    let_the_pause_pass()
    assert worker.send("reply", 3, number=2, again=1)["status"] == "failed"
    assert worker.send_form("leave", 3).status_code == 303
    for position in (4, 5, 6):
        worker.chat(position)
    assert worker.send_form("feedback", 6).status_code == 303

    assignment = Assignment.objects.get()
    assert assignment.state == Assignment.State.FINISHED
    assert assignment.completion_code in worker.page()
    rated = set(Response.objects.values_list("item__position", flat=True))
    assert rated == {1, 2, 4, 5, 6}
    assert Conversation.objects.get(item=dead).state == Conversation.State.DEAD
    assert list(Turn.objects.filter(conversation__item=dead).values_list("text", flat=True)) == [TYPED]
    assert Event.objects.filter(kind=Event.Kind.SKIPPED, item=dead).count() == 1
    assert {each["code"] for each in failures()} == {"unreachable"}


def test_a_chatbot_that_may_still_answer_is_not_left(worker: Worker, server: ChatServer) -> None:
    worker.begin()
    server.behave("status", status=503)
    worker.send("say", number=1, text=TYPED)
    assert worker.send_form("leave").status_code in (409, 422)
    assert Conversation.objects.get().state == Conversation.State.OPEN


def test_a_chatbot_learns_nothing_of_the_campaign(worker: Worker, server: ChatServer) -> None:
    campaign = worker.assignment.campaign
    Chatbot.objects.update(connector="http-json", settings={"url": server.chat_url})
    Campaign.objects.update(seed=2**62)
    for position in (1, 2):
        worker.chat(position)
    sent_seeds = [(each.body["chat"], each.body["seed"]) for each in server.received]
    assert [sent_seeds[0]] * 2 + [sent_seeds[2]] * 2 == sent_seeds
    for values in zip(*sent_seeds, strict=True):
        assert len(set(values)) == 2, "chats share a name or a seed"
    assert all(0 <= seed < 2**31 for _, seed in sent_seeds), "few servers take such a seed"
    assert str(campaign.public_id) not in str([(each.headers, each.body) for each in server.received])


def test_a_host_that_the_admin_has_taken_back_is_asked_no_more(
    worker: Worker, server: ChatServer, settings: Settings
) -> None:
    worker.begin()
    settings.CHATBOT_HOSTS = ["api.openai.com", "*"]
    assert worker.send("say", number=1, text=TYPED)["status"] == "failed"
    assert [each["code"] for each in failures()] == ["host_refused"]
    assert server.received == []
