"""What chatbots are sent of the topic: by the chat rules nothing, or the current one; what the data say of it."""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from annotation.chat.exports import iter_transcripts
from annotation.chat.replies import fetch_reply_of
from annotation.chat.services import change_topic, keep_input, open_conversations
from annotation.models import Assignment, Conversation, Turn
from annotation.services.assignments import start_assignment
from campaigns.connectors.degraded.plugin import Degraded
from campaigns.connectors.openai_chat.plugin import SYSTEM_PROMPT
from campaigns.connectors.retrieval.plugin import Retrieval
from campaigns.contracts.chat import ChatRules, Utterance
from campaigns.contracts.connector import Connector, Reply, Request
from campaigns.models import Campaign, Chatbot
from evalsite.accounts.models import User
from simulators.chat_completions import ChatServer
from tests.annotation.chat.chat_campaigns import PERSONA, open_live_campaign

pytestmark = pytest.mark.django_db

WITNESS = "tests.annotation.chat.test_topic_rule.Witness"
FIRST, SECOND = "glass blowing", "boats"
STATEMENTS = frozenset(PERSONA[:2])
# Whom Amber, Birch, Coral, Dune and Ember are asked through; all have a place for the topic, where they need one.
PROMPT = {"system_prompt": f"{SYSTEM_PROMPT}\nYou talk about this: {{topic}}", "model": "tiny"}
TEMPLATE = {
    "template": '{"text": "{{text}}", "topic": "{{topic}}", "about": "On {{topic}}.", "persona": "{{persona}}"}'
}
HTTP, NO_HTTP = ("Amber", "Birch", "Coral"), ("Dune", "Ember", "degraded")
NOT_DEGRADED = (*HTTP, "Dune", "Ember")

either_opening = pytest.mark.parametrize("opening", ["free", "icebreaker"])


class Witness:
    """A chatbot in this process that remembers what it was given."""

    given: list[dict[str, Any]]

    def reply(self, turns: Sequence[Utterance], *, persona: Sequence[str], topic: str, seed: int) -> str:
        Witness.given.append({"topic": topic, "persona": list(persona), "turns": [turn.text for turn in turns]})
        return "I see."


class Given:
    """What each chatbot was sent, as JSON, at its first reply and at the one after the change of topic."""

    def __init__(self) -> None:
        self.by_name: dict[str, list[str]] = {}
        self.topics: dict[str, str] = {}

    def first(self, name: str) -> str:
        return self.by_name[name][0]

    def after_change(self, name: str) -> str:
        return self.by_name[name][1]


@pytest.fixture
def server(settings: Settings) -> Iterator[ChatServer]:
    settings.CHATBOT_CLASSES = [WITNESS]
    with ChatServer() as server:
        settings.CHATBOT_HOSTS = [server.host]
        yield server


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    """Return what the connectors that ask nothing else are asked, as it comes."""
    asked: list[Request] = []
    for connector in (Retrieval, Degraded):
        monkeypatch.setattr(connector, "reply", _recording(connector.reply, asked))
    return asked


def _recording(reply: Any, asked: list[Request]) -> Any:
    def record(connector: Connector, request: Request) -> Reply:
        asked.append(request)
        return reply(connector, request)

    return record


def open_campaign(owner: User, server: ChatServer, opening: str, *, sends_topic: bool) -> Campaign:
    rules = ChatRules(opening=opening, sends_topic=sends_topic)  # type: ignore[arg-type]
    campaign = open_live_campaign(owner, f"dialogue-{opening}", chat=rules.to_json())
    openai = {"connector": "openai-chat", "settings": PROMPT | {"base_url": server.base_url}}
    for name, changes in (
        ("Amber", openai),
        ("Birch", openai),
        ("Coral", {"connector": "http-json", "settings": TEMPLATE | {"url": server.chat_url}}),
        ("Dune", {"connector": "python", "settings": {"class_path": WITNESS}}),
    ):
        Chatbot.objects.filter(system__campaign=campaign, system__name=name).update(**changes)
    return campaign


def talk_to_all(campaign: Campaign, server: ChatServer, requests: list[Request]) -> Given:
    """Chat with each of the six: a message, a change of topic, another message."""
    assignment = start_assignment(campaign=campaign, worker_key="ann")
    given, Witness.given = Given(), []
    for item in assignment.hit.items.select_related("output__system").order_by("position"):
        Assignment.objects.filter(pk=assignment.pk).update(n_rated=item.position - 1)
        where = {"assignment_id": assignment.pk, "position": item.position}
        name, before = item.output.system.name, (len(server.received), len(Witness.given), len(requests))
        given.topics[name] = open_conversations(**where, topic=FIRST, opinion="like")[0].topic
        _say(where, 1, "Hello, how are you?")
        change_topic(**where, by="chatbot", topic=SECOND, attitude="like")
        _say(where, 3, "And what else?")
        asked = [each.body for each in server.received[before[0] :]]
        asked += Witness.given[before[1] :]
        asked += [{"topic": each.topic, "persona": each.persona} for each in requests[before[2] :]]
        given.by_name[name] = [json.dumps(each) for each in asked]
        assert len(given.by_name[name]) == 2, name
    return given


def _say(where: dict[str, Any], number: int, text: str) -> None:
    (chat,) = keep_input(**where, number=number, text=text)
    found = Conversation.objects.select_related("assignment__campaign").get(pk=chat.pk)
    assert fetch_reply_of(found, sleep=lambda _: None).status == "replied"


# --- What each connector is sent


@either_opening
def test_without_the_rule_no_chatbot_is_sent_a_topic(
    owner: User, server: ChatServer, requests: list[Request], opening: str
) -> None:
    given = talk_to_all(open_campaign(owner, server, opening, sends_topic=False), server, requests)
    for name in (*HTTP, *NO_HTTP):
        for sent in given.by_name[name]:
            assert FIRST not in sent
            assert SECOND not in sent
            assert "{topic}" not in sent
            assert "You talk about this" not in sent
            assert not json.loads(sent).get("topic")


def test_an_icebreaker_is_known_to_those_that_have_it_in_their_persona(
    owner: User, server: ChatServer, requests: list[Request]
) -> None:
    given = talk_to_all(open_campaign(owner, server, "icebreaker", sends_topic=False), server, requests)
    assert set(given.topics.values()) <= STATEMENTS
    assert given.topics["Amber"] in given.first("Amber")
    for name in (*HTTP[1:], *NO_HTTP):
        for sent in given.by_name[name]:
            assert not any(statement in sent for statement in STATEMENTS), f"{name} knows the statement"


@either_opening
def test_with_the_rule_every_chatbot_is_sent_the_current_topic(
    owner: User, server: ChatServer, requests: list[Request], opening: str
) -> None:
    given = talk_to_all(open_campaign(owner, server, opening, sends_topic=True), server, requests)
    for name in NOT_DEGRADED:
        topic = given.topics[name]
        assert (topic == FIRST) == (opening == "free")
        assert topic in given.first(name)
        assert SECOND not in given.first(name)
        assert SECOND in given.after_change(name)
        if not (name == "Amber" and opening == "icebreaker"):  # whose persona it belongs to
            assert topic not in given.after_change(name)
    for name in ("Amber", "Birch"):
        system, *_ = json.loads(given.after_change(name))["messages"]
        assert system["content"].endswith(f"You talk about this: {SECOND}")
    assert json.loads(given.after_change("Coral"))["about"] == f"On {SECOND}."
    assert [json.loads(sent)["topic"] for sent in given.by_name["degraded"]] == ["", ""]


# --- What the data say of it


@pytest.mark.parametrize("sends_topic", [False, True])
def test_the_data_tell_whether_the_topic_was_sent(
    owner: User, owner_client: Client, server: ChatServer, requests: list[Request], sends_topic: bool
) -> None:
    campaign = open_campaign(owner, server, "free", sends_topic=sends_topic)
    silent = {"system_prompt": SYSTEM_PROMPT, "model": "tiny", "base_url": server.base_url}
    Chatbot.objects.filter(system__name="Birch").update(settings=silent)
    talk_to_all(campaign, server, requests)
    knowing = {"Amber", "Coral", "Dune", "Ember"} if sends_topic else set()
    chats = {chat["system"]: chat for chat in iter_transcripts(campaign, states=Assignment.State.values)}
    assert {name for name, chat in chats.items() if chat["topic_sent"]} == knowing
    for name, chat in chats.items():
        sent = [turn.get("topic") for turn in chat["turns"] if turn["by"] == "chatbot"]
        assert sent == ([FIRST, SECOND] if name in knowing else [None, None])
    address = reverse("monitoring:export_file", args=[campaign.public_id, "dialogues.csv"])
    rows = list(csv.DictReader(io.StringIO(owner_client.get(f"{address}?states=all").getvalue().decode())))
    assert {row["system"]: row["topic_sent"] for row in rows} == {
        name: "yes" if name in knowing else "no" for name in chats
    }
    for name in ("Amber", "Birch"):
        chat = Conversation.objects.get(item__output__system__name=name)
        page = owner_client.get(reverse("monitoring:chat", args=[campaign.public_id, chat.pk]))
        assert f"Topic sent to the chatbot</dt><dd>{'yes' if name in knowing else 'no'}</dd>" in page.text


def test_a_retried_reply_is_asked_for_with_the_topic_of_that_moment(owner: User, server: ChatServer) -> None:
    campaign = open_campaign(owner, server, "free", sends_topic=True)
    Chatbot.objects.update(n_retries=0)
    assignment = start_assignment(campaign=campaign, worker_key="ann")
    item = assignment.hit.items.get(output__system__name="Coral")
    Assignment.objects.filter(pk=assignment.pk).update(n_rated=item.position - 1)
    where = {"assignment_id": assignment.pk, "position": item.position}
    open_conversations(**where, topic=FIRST, opinion="like")
    (chat,) = keep_input(**where, number=1, text="Hello")
    server.behave("status", times=1, status=400)
    found = Conversation.objects.select_related("assignment__campaign").get(pk=chat.pk)
    assert fetch_reply_of(found).status == "failed"
    change_topic(**where, by="last", topic=SECOND, attitude="like")
    Conversation.objects.update(retry_at=None)
    found = Conversation.objects.select_related("assignment__campaign").get(pk=chat.pk)
    assert fetch_reply_of(found, is_retry=True).status == "replied"
    assert [asked.body["topic"] for asked in server.received] == [FIRST, SECOND]
    assert Turn.objects.get(number=2).data["topic"] == SECOND


@pytest.mark.parametrize("sends_topic", [False, True])
def test_the_preview_says_whether_the_topic_is_sent(owner: User, owner_client: Client, sends_topic: bool) -> None:
    campaign = open_live_campaign(owner, chat=ChatRules(sends_topic=sends_topic).to_json())
    for name in ("preview_topic", "preview_chat"):
        bar = owner_client.get(reverse(f"monitoring:{name}", args=[campaign.public_id, 1, 1])).text.partition("<nav")[0]
        assert ("is sent to the chatbots" in bar) == sends_topic
        assert ("is not sent to the chatbots" in bar) == (not sends_topic)
