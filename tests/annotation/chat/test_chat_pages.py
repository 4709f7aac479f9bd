"""The pages of a chat and what their script is sent, through HTTP. Forms alone lead through it."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django.fixtures import Settings as SettingsWrapper

from annotation.access.tokens import token_of
from annotation.models import Assignment, Conversation, TopicChange, Turn
from annotation.queries import criteria_of
from annotation.services.assignments import start_assignment
from campaigns.models import Campaign, Chatbot, System
from evalsite.accounts.models import User
from tests.annotation.chat import bots
from tests.annotation.chat.chat_campaigns import CHATBOTS, PERSONA, make_live_campaign, open_live_campaign

pytestmark = pytest.mark.django_db
JSON = {"HTTP_ACCEPT": "application/json"}
SCRIPTED = "tests.annotation.chat.bots.Scripted"
FORMS = ("topic", "say", "reply", "change", "end", "leave")


@pytest.fixture(autouse=True)
def script(settings: SettingsWrapper) -> Iterator[None]:
    settings.CHATBOT_CLASSES = [SCRIPTED]
    bots.SCRIPT.clear()
    yield
    bots.SCRIPT.clear()


class Worker:
    """A worker whose browser sends forms, or whose page's script does."""

    def __init__(self, client: Client, campaign: Campaign) -> None:
        self.client = client
        self.assignment = start_assignment(campaign=campaign, worker_key="ann")

    def url(self, name: str = "hit") -> str:
        return reverse(f"rate:{name}", args=[token_of(self.assignment)])

    def look(self) -> HttpResponse:
        return self.client.get(self.url())

    def send(self, name: str, *, position: int = 1, as_script: bool = False, **fields: Any) -> HttpResponse:
        return self.client.post(self.url(name), {"position": position, **fields}, **(JSON if as_script else {}))

    def begin(self, position: int = 1, topic: str = "the sea") -> HttpResponse:
        return self.send("topic", position=position, topic=topic, opinion="like")

    def say(self, number: int, text: str = "Hello", **more: Any) -> HttpResponse:
        return self.send("say", number=number, text=text, **more)

    def talk(self, n_inputs: int = 10, position: int = 1) -> None:
        for k in range(n_inputs):
            self.say(2 * k + 1, f"Message {k}", position=position)

    def rate(self, position: int = 1) -> HttpResponse:
        scores = {f"answer_{criterion.pk}": 60 for criterion in criteria_of(self.assignment.campaign)}
        return self.send("hit", position=position, **scores)


@pytest.fixture
def campaign(campaign: Campaign) -> Campaign:
    """A running campaign whose chatbots all answer as the test says."""
    Chatbot.objects.update(connector="python", settings={"class_path": SCRIPTED})
    return campaign


@pytest.fixture
def worker(client: Client, campaign: Campaign) -> Worker:
    return Worker(client, campaign)


def break_chatbots() -> None:
    Chatbot.objects.update(connector="telepathy")


# --- Without script


def test_forms_alone_lead_through_a_chat(worker: Worker) -> None:
    page = worker.look()
    assert "What would you like to talk about?" in page.text
    answer = worker.begin()
    assert (answer.status_code, answer["Location"]) == (303, worker.url())
    assert "0 messages, at least 10" in worker.look().text
    for k in range(10):
        assert worker.say(2 * k + 1, f"Message {k}").status_code == 303
    page = worker.look()
    assert "10 messages, at least 10" in page.text
    assert page.text.count('class="turn turn-worker"') == 10 + 1  # and the one that the script copies
    assert worker.send("end").status_code == 303
    page = worker.look()
    assert "Chat 1 of 6: rating" in page.text
    assert page.text.count("data-name=") == 7
    assert page.text.count('class="turn turn-') == 20
    page = worker.rate()
    assert "Chat 2 of 6" in page.text
    assert "What would you like to talk about?" in page.text


def test_a_given_topic_is_shown_and_not_asked_for(client: Client, owner: User) -> None:
    worker = Worker(client, open_live_campaign(owner, "dialogue-icebreaker"))
    page = worker.look()
    assert any(f'class="icebreaker" dir="auto">{statement}<' in page.text for statement in PERSONA)
    assert 'name="topic"' not in page.text
    assert worker.send("topic", opinion="like").status_code == 303
    assert Conversation.objects.get().topic in PERSONA


@pytest.mark.parametrize("sent", [{"topic": "", "opinion": "like"}, {"topic": "tea & <b>", "opinion": ""}])
def test_what_was_filled_in_stays_when_it_is_refused(worker: Worker, sent: dict[str, str]) -> None:
    page = worker.send("topic", **sent)
    assert page.status_code == 422
    assert 'role="alert"' in page.text
    assert ("tea &amp; &lt;b&gt;" in page.text) == bool(sent["topic"])
    assert ("checked" in page.text) == bool(sent["opinion"])


def test_a_message_that_is_refused_is_in_the_box_again(worker: Worker) -> None:
    worker.begin()
    page = worker.say(1, "x" * 5001)
    assert page.status_code == 422
    assert "5,001 characters long" in page.text
    assert "x" * 5001 in page.text
    assert not Turn.objects.exists()


def test_a_short_chat_is_not_left_and_what_is_typed_stays(worker: Worker) -> None:
    worker.begin()
    worker.talk(9)
    page = worker.send("end", text="I am typing")
    assert page.status_code == 422
    assert "Write one more message" in page.text
    assert ">I am typing</textarea>" in page.text


def test_what_is_typed_but_not_sent_is_asked_about_once(worker: Worker) -> None:
    worker.begin()
    worker.talk(10)
    page = worker.send("end", text="one thing more")
    assert page.status_code == 422
    assert "not sent" in page.text
    assert 'name="warned" value="yes"' in page.text
    assert worker.send("end", text="one thing more", warned="yes").status_code == 303
    assert Conversation.objects.get().state == Conversation.State.ENDED


def test_a_change_of_topic_is_noted(worker: Worker) -> None:
    worker.begin()
    assert worker.send("change", by="last", topic="boats", attitude="dislike").status_code == 303
    assert re.search(r"data-chat-topic-now>boats<", worker.look().text)
    page = worker.send("change", by="last", topic="planes & co", attitude="")
    assert page.status_code == 422
    assert 'value="planes &amp; co"' in page.text
    assert TopicChange.objects.count() == 1


@pytest.mark.parametrize("name", FORMS)
def test_the_address_of_a_form_leads_to_its_page(worker: Worker, name: str) -> None:
    for answer in (worker.client.get(worker.url(name)), worker.client.head(worker.url(name))):
        assert (answer.status_code, answer["Location"]) == (303, worker.url())
    assert worker.client.delete(worker.url(name)).status_code == 405


def test_the_words_are_those_of_chats(worker: Worker) -> None:
    welcome = worker.client.get(reverse("rate:welcome", args=[worker.assignment.campaign.public_id]))
    assert "<dt>Chats</dt><dd>6</dd>" in welcome.text
    Assignment.objects.update(n_rated=6)
    page = worker.look()
    assert "All 6 chats are done" in page.text
    worker.send("feedback", feedback="Fine")
    assert "All 6 chats are done" in worker.look().text


# --- What the script is sent


def test_the_script_is_sent_the_reply(worker: Worker) -> None:
    worker.begin()
    bots.SCRIPT.append("Ahoy <b>&</b>")
    answer = worker.say(1, "Hello", as_script=True)
    assert answer.status_code == 200
    assert answer["Access-Control-Allow-Origin"] == "*"
    result = answer.json()
    assert result["turns"] == [{"number": 2, "by": "chatbot", "text": "Ahoy <b>&</b>"}]
    assert (
        result.items()
        >= {"status": "replied", "number": 3, "n_inputs": 1, "progress": "1 message, at least 10"}.items()
    )
    assert worker.say(1, "Hello", as_script=True).json() == result, "sent twice, it was taken twice"


@pytest.mark.parametrize(
    ("name", "sent", "status", "code"),
    [
        ("say", {"number": 1, "text": " "}, 422, "empty_text"),
        ("say", {"number": 2, "text": "Hi"}, 409, "not_next_turn"),
        ("say", {"number": 1, "text": "Hi", "position": 2}, 409, "not_next"),
        ("reply", {"number": 1, "position": 2}, 409, "not_next"),
        ("change", {"by": "last", "topic": "", "attitude": "like"}, 422, "no_topic"),
        ("end", {}, 422, "few_inputs"),
        ("leave", {}, 422, "may_answer"),
    ],
)
def test_the_script_is_sent_what_was_refused(
    worker: Worker, name: str, sent: dict[str, Any], status: int, code: str
) -> None:
    worker.begin()
    answer = worker.send(name, as_script=True, **sent)
    assert (answer.status_code, answer.json()["status"], answer.json()["code"]) == (status, "refused", code)
    assert answer.json()["message"]
    assert answer["Access-Control-Allow-Origin"] == "*"


def test_the_script_of_a_frame_without_an_origin_can_read_that_its_page_is_over(worker: Worker) -> None:
    Assignment.objects.update(platform_id="ACCEPTED")
    worker.assignment.refresh_from_db()
    worker.begin()
    Assignment.objects.update(platform_id="ACCEPTED-ANEW")
    answer = worker.say(1, "Hello", as_script=True)
    assert answer.status_code == 409
    assert answer["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Allow-Origin" not in worker.say(1, "Hello")


def test_a_script_that_changes_the_topic_is_sent_it(worker: Worker) -> None:
    worker.begin()
    result = worker.send("change", as_script=True, by="next", topic=" boats  ", attitude="like").json()
    assert (result["status"], result["topic"]) == ("replied", "boats")


def test_a_chatbot_that_is_dead_can_be_left(worker: Worker) -> None:
    break_chatbots()
    worker.begin()
    result = worker.say(1, as_script=True).json()
    assert (result["status"], result["can_leave"], result["turns"]) == ("failed", True, [])
    page = worker.look()
    assert "Continue without this chatbot" in page.text
    assert 'data-chat-action="leave" data-online data-once>' in page.text
    assert worker.send("leave").status_code == 303
    assert "Chat 2 of 6" in worker.look().text


# --- What must not be sent


def test_no_answer_tells_which_chatbot_it_is(worker: Worker) -> None:
    Chatbot.objects.filter(system__is_degraded=True).update(connector="degraded", settings={})
    Chatbot.objects.filter(system__is_degraded=False).update(persona=["I hide in a lighthouse."])
    pages, answers, headers = [], [], []
    for position in range(1, 7):
        worker.begin(position)
        pages.append(worker.look().text)
        result = worker.say(1, "Hello", position=position, as_script=True)
        answers.append({key: value for key, value in result.json().items() if key not in ("turns",)})
        headers.append(
            {name: value for name, value in result.items() if name not in ("Content-Length", "X-Request-ID")}
        )
        Conversation.objects.update(n_inputs=10)
        worker.send("end", position=position)
        pages.append(worker.look().text)
        worker.rate(position)
    assert answers == [answers[0]] * 6
    assert headers == [headers[0]] * 6
    secrets = [*System.objects.values_list("name", flat=True), "degraded", "lighthouse", "retrieval", "python"]
    for text in pages:
        for secret in secrets:
            assert not re.search(rf"\b{re.escape(secret)}\b", text, re.IGNORECASE), secret  # "ember" is in "remember"
    assert set(CHATBOTS) < set(secrets)
    first = [_shape(page) for page in pages[::2]]
    assert len(set(first)) == 1, "the pages of chats that just began differ"


def _shape(page: str) -> str:
    """Return a page without what differs between the chats of a HIT, with any chatbots."""
    page = re.sub(r'(name="position" value|data-chat-position|value)="\d+"', "", page)
    return re.sub(r"(Chat|chat) \d", "", page)


def test_why_a_chatbot_failed_is_shown_to_nobody(worker: Worker) -> None:
    break_chatbots()
    worker.begin()
    result = worker.say(1, as_script=True)
    for text in (result.text, worker.look().text):
        assert "telepathy" not in text
        assert "connector" not in text


# --- Any text is safe

TEXTS = {
    "markup": "<script>alert(1)</script> & </textarea> &amp;",
    "signs": "a#b?c=d&e=f+g%20 100% \"quoted\" 'single' `tick` \\n",
    "emoji": "👩‍👩‍👧‍👦🏳️‍🌈 é 漢字",
    "right to left": "مرحبا، كيف حالك؟ \u202eabc\u202c",
    "long": "word " * 999 + "last!",
    "one word": "x" * 5000,
    "lines": "first\nsecond\n\n  fourth",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_any_text_is_shown_as_it_was_typed(worker: Worker, text: str) -> None:
    bots.SCRIPT.append(text[:1000])
    worker.begin(topic=text[:400])
    result = worker.say(1, text, as_script=True).json()
    assert result["turns"][0]["text"] == text[:1000].strip()
    assert Turn.objects.get(number=1).text == text.strip()
    page = worker.look()
    shown = [line.replace("&#x27;", "'") for line in re.findall(r"data-chat-text>([^<]*)<", page.text)]
    escaped = text.strip().replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    assert shown[0] == escaped
    assert "<script>alert" not in page.text


# --- Headers and costs


def test_pages_of_chats_may_talk_to_the_site_alone_and_others_to_nobody(worker: Worker) -> None:
    for page in (worker.look(), worker.begin() and worker.look()):
        assert "connect-src 'self' http://testserver" in page["Content-Security-Policy"]
        assert page["Cache-Control"] == "no-store"
        assert not page.cookies
    worker.talk()
    worker.send("end")
    assert "connect-src 'none'" in worker.look()["Content-Security-Policy"]


@pytest.mark.parametrize("n_inputs", [1, 9])
def test_queries_of_a_chat(worker: Worker, n_inputs: int) -> None:
    worker.begin()
    worker.talk(n_inputs)
    worker.look()  # the criteria, which are asked for once a process
    with CaptureQueriesContext(connection) as queries:
        worker.look()
    assert len(queries) == 4  # assignment, chat, turns, the topic now


# --- The preview


def preview_url(campaign: Campaign, name: str, *where: int) -> str:
    return reverse(f"monitoring:{name}", args=[campaign.public_id, *where])


def test_a_preview_shows_every_page_and_saves_nothing(owner: User, owner_client: Client, campaign: Campaign) -> None:
    welcome = owner_client.get(preview_url(campaign, "preview"))
    topic, chat, rating = (
        preview_url(campaign, name, 1, 1) for name in ("preview_topic", "preview_chat", "preview_item")
    )
    assert f'action="{topic}"' in welcome.text
    with CaptureQueriesContext(connection) as queries:
        pages = {url: owner_client.get(url) for url in (topic, chat, rating)}
    assert not [query for query in queries if query["sql"].startswith(("INSERT", "UPDATE", "DELETE"))]
    for url, page in pages.items():
        assert page.status_code == 200, url
        assert "nothing is saved" in page.text
        assert "Chat 1 of 6" in page.text
        assert 'method="post"' not in re.sub(r"<form[^>]* hidden>", "", page.text), "a preview sends something"
    assert f'action="{chat}"' in pages[topic].text
    assert f'href="{rating}"' in pages[chat].text
    assert "data-chat-url" not in pages[chat].text
    assert "3 messages, at least 10" in pages[chat].text
    assert pages[rating].text.count('class="turn turn-') == 6
    assert preview_url(campaign, "preview_topic", 1, 2) in pages[rating].text
    end = owner_client.get(preview_url(campaign, "preview_end"))
    assert "All 6 chats are done" in end.text


def test_a_preview_of_given_topics_shows_one(owner: User, owner_client: Client) -> None:
    campaign = make_live_campaign(owner, "dialogue-icebreaker")
    page = owner_client.get(preview_url(campaign, "preview_topic", 0, 1))
    assert PERSONA[0] in page.text
    assert PERSONA[0] in owner_client.get(preview_url(campaign, "preview_chat", 0, 1)).text


def test_only_a_live_campaign_has_a_chat_to_see(owner: User, owner_client: Client, campaign: Campaign) -> None:
    assert owner_client.get(preview_url(campaign, "preview_chat", 1, 7)).status_code == 404
    Campaign.objects.update(chat={})
    assert owner_client.get(preview_url(campaign, "preview_chat", 1, 1)).status_code == 404
