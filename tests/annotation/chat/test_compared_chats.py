"""Two chatbots at once: HITs of pairs, chats with both, and the vote."""

import re
from collections import Counter
from pathlib import Path

import pytest
from django.db.models import F
from django.test import Client
from django.urls import reverse

from analysis.data.votes import load_votes
from annotation.chat.exports import iter_transcripts
from annotation.chat.queries import find_conversations, get_chat_page
from annotation.chat.replies import ReplyState, fetch_reply_of
from annotation.chat.services import (
    change_topic,
    end_conversations,
    keep_input,
    leave_conversations,
    open_conversations,
)
from annotation.export.comparisons import VOTE_COLUMNS, vote_blocks
from annotation.models import Assignment, Conversation, Event, Response, Turn
from annotation.pages.questions import AnswerKey
from annotation.services.ratings import save_page
from annotation.simulation.running import make_crowd, open_site, run_crowd
from annotation.simulation.visitor import Visitor
from annotation.views.pages import url_of
from campaigns.checklist import checklist
from campaigns.design.composition import Kind
from campaigns.design.raters import Raters, RaterTime
from campaigns.models import Campaign, Chatbot, HitItem
from campaigns.proposals import get_proposal
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError
from evalsite.lib.tables.blocks import in_rows
from tests.annotation.chat.chat_campaigns import CHATBOTS, make_live_campaign, open_live_campaign
from tests.annotation.chat.talks import take_hit
from tests.annotation.test_comparison_rows import written


@pytest.fixture
def campaign(owner: User) -> Campaign:
    return open_pairs(owner)


def open_pairs(owner: User, n_hits: int = 4, n_ordinary: int = 3, n_degraded: int = 2, **fields: object) -> Campaign:
    fields = {"chat": {"min_inputs": 2}, "n_degraded": n_degraded} | fields
    return open_live_campaign(
        owner, "compare-chats", n_hits=n_hits, chatbots=CHATBOTS[:3], **fields | {"n_ordinary": n_ordinary}
    )


def pages_of(campaign: Campaign) -> dict[tuple[int, int], list[HitItem]]:
    """Return the items of each page, by HIT and page."""
    pages: dict[tuple[int, int], list[HitItem]] = {}
    items = HitItem.objects.filter(hit__campaign=campaign).select_related("output__system", "hit")
    for item in items.order_by("hit", "position"):
        pages.setdefault((item.hit.number, item.page), []).append(item)
    return pages


def test_a_hit_holds_pairs_of_chatbots_and_pairs_with_the_degraded_one(campaign: Campaign) -> None:
    pages = pages_of(campaign)
    assert len(pages) == 4 * 5
    assert {len(page) for page in pages.values()} == {2}
    kinds = Counter(tuple(sorted(item.kind for item in page)) for page in pages.values())
    assert kinds == {(Kind.ORDINARY, Kind.ORDINARY): 12, (Kind.DEGRADED, Kind.REPEAT): 8}
    for page in pages.values():
        assert len({item.output.system.name for item in page}) == 2
        assert {item.output.system.is_degraded for item in page if item.kind != Kind.DEGRADED} == {False}
    pairs = Counter(
        frozenset(item.output.system.name for item in page)
        for page in pages.values()
        if page[0].kind == page[1].kind == Kind.ORDINARY
    )
    assert set(pairs.values()) == {4}, "each pair is once in each HIT"
    beside = Counter(item.output.system.name for page in pages.values() for item in page if item.kind == Kind.REPEAT)
    assert max(beside.values()) - min(beside.values()) <= 1
    places = Counter(k for page in pages.values() for k, item in enumerate(page) if item.kind == Kind.DEGRADED)
    assert places == {0: 4, 1: 4} or abs(places[0] - places[1]) <= 3


def test_more_pairs_than_there_are_are_refused(owner: User) -> None:
    with refused("too_few_systems") as caught:
        open_pairs(owner, n_ordinary=4)
    assert "4 pairs of chatbots, and 3 chatbots make 3" in caught.value.message


def test_the_check_list_counts_pairs_and_refuses_questions_about_replies(campaign: Campaign) -> None:
    steps = {step.key: step for step in checklist(campaign)}
    assert steps["chatbots"].text == "3 chatbots, which make 3 pairs."
    assert steps["criteria"].state == "ok"
    Campaign.objects.filter(pk=campaign.pk).update(n_ordinary=4)
    campaign.criteria.create(order=1, name="sensible", statement="It makes sense.", scope="turn")
    steps = {step.key: step for step in checklist(Campaign.objects.get(pk=campaign.pk))}
    assert (steps["chatbots"].state, steps["criteria"].state) == ("todo", "todo")


def test_a_crowd_is_proposed_as_many_pairs_as_the_sign_test_needs(owner: User) -> None:
    campaign = make_live_campaign(owner, "compare-chats", chatbots=CHATBOTS[:3])
    proposal = get_proposal(campaign, raters=Raters.CROWD, time=RaterTime(30, 60, 180))
    assert (proposal.mix.n_ordinary, proposal.mix.n_degraded, proposal.worker_test) == (3, 5, "sign")
    proposal = get_proposal(campaign, raters=Raters.LAB, time=RaterTime(4, 60, 180))
    assert (proposal.mix.n_ordinary, proposal.mix.n_degraded) == (3, 0)


# --- The chats of a page


@pytest.fixture
def ann(campaign: Campaign) -> Assignment:
    return take_hit(campaign, "ann")


def refused(code: str) -> object:
    return pytest.raises(DomainError, check=lambda error: error.code == code)


def begin(assignment: Assignment, position: int = 1) -> list[Conversation]:
    return open_conversations(assignment_id=assignment.pk, position=position, topic="the sea", opinion="like")


def say(assignment: Assignment, number: int, position: int = 1) -> list[Conversation]:
    return keep_input(assignment_id=assignment.pk, position=position, number=number, text=f"Message {number}.")


def talk(assignment: Assignment, position: int = 1, n_inputs: int = 2) -> None:
    begin(assignment, position)
    for k in range(n_inputs):
        for each in say(assignment, 2 * k + 1, position):
            assert fetch_reply_of(each, sleep=lambda _: None) == ReplyState("replied")


def test_both_chats_begin_with_one_topic_and_get_each_message(ann: Assignment) -> None:
    first = begin(ann)
    assert [each.item.position for each in first] == [1, 2]
    assert [each.pk for each in begin(ann)] == [each.pk for each in first]
    assert {(each.topic, each.opinion) for each in first} == {("the sea", "like")}
    say(ann, 1)
    say(ann, 1)  # sent twice
    said = Turn.objects.order_by("conversation").values_list("conversation", "number", "speaker", "text")
    assert list(said) == [(each.pk, 1, "worker", "Message 1.") for each in first]


def test_nobody_goes_on_before_both_have_answered(ann: Assignment) -> None:
    begin(ann)
    first, second = say(ann, 1)
    fetch_reply_of(second, sleep=lambda _: None)
    page = get_chat_page(ann, find_conversations(ann))
    assert (page.number, list(page.awaited), page.n_inputs) == (2, ["A"], 1)
    assert [(turn.by, turn.name) for turn in page.turns] == [("worker", ""), ("chatbot", "B")]
    with refused("awaits_reply"):
        say(ann, 3)
    fetch_reply_of(first, sleep=lambda _: None)
    page = get_chat_page(ann, find_conversations(ann))
    assert (page.number, page.awaits_reply) == (3, False)
    assert [turn.name for turn in page.turns] == ["", "A", "B"]
    say(ann, 3)


def test_the_vote_is_taken_once_both_chats_have_ended(campaign: Campaign, ann: Assignment) -> None:
    talk(ann, n_inputs=1)
    answers = {key: ["1"] for key in keys_of(campaign)}
    with refused("chat_open"):
        save_page(assignment_id=ann.pk, position=1, answers=answers)
    with refused("few_inputs"):
        end_conversations(assignment_id=ann.pk, position=1)
    for each in say(ann, 3):
        fetch_reply_of(each, sleep=lambda _: None)
    end_conversations(assignment_id=ann.pk, position=1)
    Conversation.objects.filter(item__position=2).update(state="open", ended_at=None)
    with refused("chat_open"):
        save_page(assignment_id=ann.pk, position=1, answers=answers)
    Conversation.objects.filter(item__position=2).update(state="ended", ended_at=F("started_at"))
    assert save_page(assignment_id=ann.pk, position=1, answers=answers).position == 3
    assert Response.objects.get().value == "1"


def keys_of(campaign: Campaign) -> list[AnswerKey]:
    return [AnswerKey(criterion.pk) for criterion in campaign.criteria.all()]


def test_without_one_chatbot_the_page_is_left(ann: Assignment) -> None:
    items = HitItem.objects.filter(hit=ann.hit_id, position=2)
    broken = Chatbot.objects.filter(system__outputs__items__in=items)
    broken.update(connector="telepathy", n_retries=0)
    begin(ann)
    first, second = say(ann, 1)
    assert fetch_reply_of(first, sleep=lambda _: None).status == "replied"
    with refused("may_answer"):
        leave_conversations(assignment_id=ann.pk, position=1)
    assert fetch_reply_of(second, sleep=lambda _: None).status == "failed"
    assert [each.state for each in leave_conversations(assignment_id=ann.pk, position=1)] == ["dead", "dead"]
    with refused("not_next"):
        leave_conversations(assignment_id=ann.pk, position=1)
    ann.refresh_from_db()
    assert ann.position == 3
    assert Event.objects.filter(kind=Event.Kind.SKIPPED).count() == 2


def test_changes_of_topic_are_not_noted(ann: Assignment) -> None:
    begin(ann)
    with refused("bad_change"):
        change_topic(assignment_id=ann.pk, position=1, by="chatbot", topic="cats", attitude="like")


# --- Pages and addresses


def test_a_script_gets_each_reply_by_its_place_and_a_form_both(client: Client, ann: Assignment) -> None:
    url = url_of("hit", ann)
    begin(ann)
    scripted = {"headers": {"Accept": "application/json"}}
    sent = {"position": 1, "number": 1, "text": "Hello"}
    answer = client.post(f"{url}say/", sent, **scripted).json()
    assert (answer["status"], answer["number"], answer["turns"]) == ("waiting", 2, [])
    for place in (2, 1):
        answer = client.post(f"{url}reply/", {"position": 1, "number": 2, "place": place}, **scripted).json()
        assert (answer["status"], answer["number"], answer["n_inputs"]) == ("replied", 3, 1)
        found = Turn.objects.get(number=2, conversation__item__position=place)
        assert answer["turns"] == [{"number": 2, "by": "chatbot", "text": found.text}]
    assert client.post(f"{url}reply/", {"position": 1, "number": 2, "place": 3}, **scripted).status_code == 409
    assert client.post(f"{url}say/", {"position": 1, "number": 3, "text": "So?"}).status_code == 303
    assert Turn.objects.filter(number=4).count() == 2
    page = client.get(url).content.decode()
    assert re.findall(r'<li class="turn turn-(?:worker|chatbot)"(?: data-name="(.)")?>', page)[:6] == ["", *"AB"] * 2
    assert "Compare the chatbots" in page
    assert "data-chat-topic>" not in page


def test_the_page_of_the_vote_shows_both_chats(client: Client, ann: Assignment) -> None:
    talk(ann)
    end_conversations(assignment_id=ann.pk, position=1)
    page = client.get(url_of("hit", ann)).content.decode()
    replies = Turn.objects.filter(speaker="chatbot")
    assert len(re.findall(r'<li class="turn turn-chatbot" data-name=".">', page)) == replies.count() == 4
    assert "Which chatbot is better to talk to?" in page
    assert "Chat 1 of 5" in page


# --- A crowd


@pytest.fixture
def crowded(owner: User) -> Campaign:
    return open_pairs(owner, n_degraded=5, n_ordinary=3, n_hits=3)


def run(campaign: Campaign, n_workers: int, **options: object) -> tuple[object, list[Visitor]]:
    visitors: list[Visitor] = []
    with open_site(None) as client:
        made = make_crowd(campaign, seed=5, n_workers=n_workers, **options)
        return run_crowd(campaign, made, client, max_hits=1, on_done=visitors.append), visitors


def test_a_crowd_chats_with_both_votes_and_the_degraded_chatbot_loses(crowded: Campaign, tmp_path: Path) -> None:
    outcome, visitors = run(crowded, 3)
    assert (outcome.errors, outcome.n_hits, Response.objects.count()) == ([], 3, 3 * 8)
    said = [turn for visitor in visitors for turn in visitor.turns]
    stored = Turn.objects.values_list("conversation__assignment", "conversation__item__position", "number", "text")
    assert {(each.assignment_id, each.position, each.number, each.text) for each in said} == set(stored)
    votes = [dict(zip(VOTE_COLUMNS, row, strict=True)) for row in in_rows(vote_blocks(crowded))]
    assert Counter(vote["kind"] for vote in votes) == {"ordinary": 9, "degraded": 15}
    for vote in votes:
        if vote["kind"] == "degraded":
            assert vote[f"system_{vote['degraded']}"] == "degraded"
            assert vote["winner"] != "degraded"
    data = load_votes(written(tmp_path, "votes", in_rows(vote_blocks(crowded))))
    assert "degraded" in data.systems
    shown = data.without_degraded_systems()
    assert shown.systems == list(CHATBOTS[:3])
    assert (shown.left.size, max(shown.left.max(), shown.right.max())) == (9, 2)
    talks = list(iter_transcripts(crowded))
    assert Counter((talk["assignment"], talk["page"]) for talk in talks) == dict.fromkeys(
        {(vote["assignment"], vote["page"]) for vote in votes}, 2
    )


def test_the_preview_shows_an_example_of_two_chatbots(owner_client: Client, campaign: Campaign) -> None:
    # The page of a chat has a template of a turn of each, too.
    for name, n_turns in {"preview_topic": 0, "preview_chat": 3 + 1, "preview_item": 3}.items():
        page = owner_client.get(reverse(f"monitoring:{name}", args=[campaign.public_id, 1, 2]))
        assert "Chat 2 of 5" in page.text
        assert page.text.count('<li class="turn turn-chatbot" data-name="B">') == n_turns


def test_a_crowd_leaves_a_page_whose_chatbot_never_answers(crowded: Campaign) -> None:
    Chatbot.objects.filter(system__name=CHATBOTS[2]).update(connector="telepathy")
    outcome, _ = run(crowded, 1)
    assert (outcome.errors, outcome.n_hits) == ([], 1)
    dead = set(HitItem.objects.filter(conversations__state="dead").values_list("page", flat=True))
    met = HitItem.objects.filter(hit__assignments__state="finished", output__system__name=CHATBOTS[2])
    assert dead == set(met.values_list("page", flat=True)) != set()
    assert Response.objects.count() == 8 - len(dead)
