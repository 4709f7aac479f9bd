"""What is served in chats must not tell one chatbot from another, but by what it says."""

import re
from dataclasses import dataclass, field

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from annotation.access.tokens import token_of
from annotation.models import Turn
from annotation.services.assignments import start_assignment
from campaigns.models import Campaign, HitItem
from evalsite.accounts.models import User
from tests.annotation.chat.chat_campaigns import CHATBOTS, PERSONA, open_live_campaign

pytestmark = pytest.mark.django_db
_VOLATILE = {"Content-Length", "X-Request-ID"}


@dataclass
class Served:
    """What a worker was sent of one chat; `item` is what only the server knows."""

    item: HitItem
    pages: dict[str, str] = field(default_factory=dict)
    headers: dict[str, dict[str, str]] = field(default_factory=dict)

    def keep(self, name: str, response: HttpResponse) -> HttpResponse:
        self.pages[name], self.headers[name] = response.text, dict(response.headers)
        return response


def walk(campaign: Campaign, name: str) -> tuple[str, list[Served]]:
    """Chat through a whole HIT as a worker's browser does; return the token and what was served."""
    client = Client()
    assignment = start_assignment(campaign=campaign, worker_key=f"{campaign.public_id}:{name}")
    token = token_of(assignment)
    url = {view: reverse(f"rate:{view}", args=[token]) for view in ("hit", "topic", "say", "change", "end")}
    json = {"Accept": "application/json"}
    served = []
    for item in assignment.hit.items.select_related("output__system").order_by("position"):
        at, found = {"position": item.position}, Served(item)
        found.keep("topic", client.get(url["hit"]))
        client.post(url["topic"], at | {"topic": "the sea", "opinion": "like"})
        found.keep("begun", client.get(url["hit"]))
        for number in (1, 3):
            sent = at | {"number": number, "text": f"Message {number}"}
            found.keep(f"said {number}", client.post(url["say"], sent, headers=json))
        note = at | {"by": "last", "topic": "boats", "attitude": "like"}
        found.keep("changed", client.post(url["change"], note, headers=json))
        found.keep("talked", client.get(url["hit"]))
        found.keep("ended", client.post(url["end"], at, headers=json))
        rating = found.keep("rating", client.get(url["hit"]))
        sliders = re.findall(r'data-name="(answer_[\d_]+)"', rating.text)
        assert len(sliders) == 7 + 2 * campaign.criteria.filter(scope="turn").count()
        client.post(url["hit"], at | dict.fromkeys(sliders, "50"))
        served.append(found)
    assert not client.cookies
    return token, served


def walk_pairs(campaign: Campaign, name: str) -> tuple[str, list[Served]]:
    """Chat through a whole HIT with two chatbots at once."""
    client = Client()
    assignment = start_assignment(campaign=campaign, worker_key=f"{campaign.public_id}:{name}")
    token = token_of(assignment)
    url = {view: reverse(f"rate:{view}", args=[token]) for view in ("hit", "topic", "say", "reply", "end")}
    json = {"Accept": "application/json"}
    vote = {f"answer_{campaign.criteria.get().pk}": "1"}
    served = []
    for item in assignment.hit.items.select_related("output__system").order_by("position")[::2]:
        at, found = {"position": item.position}, Served(item)
        found.keep("topic", client.get(url["hit"]))
        client.post(url["topic"], at | {"topic": "the sea", "opinion": "like"})
        found.keep("begun", client.get(url["hit"]))
        for number in (1, 3):
            sent = at | {"number": number, "text": f"Message {number}"}
            found.keep(f"said {number}", client.post(url["say"], sent, headers=json))
            for place in (1, 2):
                asked = at | {"number": number + 1, "place": place}
                found.keep(f"reply {number} {place}", client.post(url["reply"], asked, headers=json))
        found.keep("talked", client.get(url["hit"]))
        found.keep("ended", client.post(url["end"], at, headers=json))
        found.keep("rating", client.get(url["hit"]))
        client.post(url["hit"], at | vote)
        served.append(found)
    assert assignment.responses.count() == len(served)
    return token, served


@pytest.fixture
def pairs(owner: User) -> Campaign:
    fields = {"workers_per_hit": 2, "n_hits": 1, "chat": {"min_inputs": 2}, "n_degraded": 3}
    campaign = open_live_campaign(owner, "compare-chats", chatbots=CHATBOTS[:3], **fields)
    assert {each.kind for each in HitItem.objects.filter(hit__campaign=campaign)} == {0, 1, 2}
    return campaign


@pytest.fixture
def campaign(owner: User) -> Campaign:
    return open_live_campaign(owner, workers_per_hit=2, n_hits=1, chat={"min_inputs": 2})


def normalised(found: Served, name: str, token: str, replies: list[str]) -> str:
    """Return what was served without what was said and without what differs by position."""
    text = found.pages[name].replace(token, "TOKEN")
    for reply in sorted(replies, key=len, reverse=True):
        for written in (reply, _escaped(reply), _in_json(reply)):
            text = text.replace(written, "REPLY")
    k = found.item.position
    number = found.item.page or k
    text = re.sub(rf"(Chat|chat|Item|item|topic) ({number}|{k})\b", r"\1 K", text)
    text = re.sub(r'data-kept="[0-9a-f]{16}"', 'data-kept="KEPT"', text)
    text = re.sub(rf'((?:name="position" value|data-chat-position)=)"{k}"', r'\1"K"', text)
    text = re.sub(rf'value="{number - 1}"( aria-labelledby="progress-label")', r'value="K"\1', text)
    return re.sub(r"Save and finish|Rate this chatbot|Compare the chatbots|Next", "GO ON", text)


def _escaped(text: str) -> str:
    return (
        text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace('"', "&quot;")
        .replace("'", "&#x27;")
    )


def _in_json(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def replies_in(campaign: Campaign) -> list[str]:
    found = Turn.objects.filter(speaker=Turn.Speaker.CHATBOT, conversation__assignment__campaign=campaign)
    return list(found.values_list("text", flat=True))


def differing(campaign: Campaign, walks: list[tuple[str, list[Served]]]) -> list[str]:
    """Return the names of what is not one and the same for all chats of all walks."""
    replies = replies_in(campaign)
    names = walks[0][1][0].pages
    return [
        name
        for name in names
        if len({normalised(found, name, token, replies) for token, served in walks for found in served}) > 1
    ]


def test_the_pages_of_all_chats_are_alike(campaign: Campaign) -> None:
    assert differing(campaign, [walk(campaign, "ann"), walk(campaign, "bea")]) == []


def test_the_pages_of_all_chats_with_two_chatbots_are_alike(pairs: Campaign) -> None:
    walks = [walk_pairs(pairs, "ann"), walk_pairs(pairs, "bea")]
    assert differing(pairs, walks) == []
    found = walks[0][1][3]
    found.pages["talked"] = found.pages["talked"].replace('data-name="A"', 'data-name="A" data-kind="1"', 1)
    assert differing(pairs, walks) == ["talked"]


def test_the_questions_about_replies_are_alike(campaign: Campaign) -> None:
    campaign.criteria.create(order=7, name="sensible", statement="The reply makes sense.", scope="turn")
    assert differing(campaign, [walk(campaign, "ann"), walk(campaign, "bea")]) == []


def test_a_leak_would_be_seen(campaign: Campaign) -> None:
    walks = [walk(campaign, "ann")]
    found = walks[0][1][3]
    found.pages["talked"] = found.pages["talked"].replace("<ol", '<ol data-kind="1"')
    assert differing(campaign, walks) == ["talked"]


def test_the_headers_of_all_chats_are_alike(campaign: Campaign) -> None:
    _, served = walk(campaign, "ann")
    for name in served[0].headers:
        headers = [
            tuple(
                sorted(
                    (key, tuple(sorted(value.split("; "))))
                    for key, value in found.headers[name].items()
                    if key not in _VOLATILE
                )
            )
            for found in served
        ]
        assert len(set(headers)) == 1, name
        assert not {"ETag", "Set-Cookie", "Server-Timing"} & {key for key, _ in headers[0]}


def test_no_chatbot_is_named(campaign: Campaign) -> None:
    token, served = walk(campaign, "ann")
    words = [*CHATBOTS, "degraded", "ordinary", "connector", "retrieval", "persona", "system", "kind", campaign.name]
    words += [*PERSONA, "answered_ms", "took_ms"]
    pattern = re.compile("|".join(rf"\b{re.escape(word)}\b" for word in words), re.IGNORECASE)
    replies = replies_in(campaign)
    for found in served:
        for name in found.pages:
            text = normalised(found, name, token, replies) + str(found.headers[name])
            assert not pattern.search(text), (name, pattern.search(text))
