"""Keeping what a worker says: once, in order, for ever; and going from a chat to its rating."""

from datetime import timedelta

import pytest
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from annotation.chat.queries import find_conversations, get_opening, topic_now
from annotation.chat.services import (
    change_topic,
    end_conversations,
    keep_input,
    leave_conversations,
    open_conversations,
)
from annotation.models import Assignment, Conversation, Event, TopicChange, Turn
from annotation.pages.questions import AnswerKey
from annotation.queries import criteria_of, pages_of
from annotation.services.assignments import expire_leases, finish_assignment, return_assignment, start_assignment
from annotation.services.ratings import save_page
from campaigns.design.composition import Kind
from campaigns.models import Campaign, Chatbot
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError
from tests.annotation.chat.chat_campaigns import PERSONA, open_live_campaign
from tests.databases import on_both, on_sqlite

pytestmark = [pytest.mark.django_db, on_sqlite]
State = Conversation.State


@pytest.fixture
def assignment(campaign: Campaign) -> Assignment:
    return start_assignment(campaign=campaign, worker_key="ann")


@pytest.fixture
def chat(assignment: Assignment) -> Conversation:
    return begin(assignment)


def refused(code: str):
    return pytest.raises(DomainError, check=lambda error: error.code == code)


def begin(assignment: Assignment, position: int = 1, **sent: str) -> Conversation:
    sent = {"topic": "the sea", "opinion": "like"} | sent
    return open_conversations(assignment_id=assignment.pk, position=position, **sent)[0]


def say(assignment: Assignment, number: int, text: str = "Hello there", position: int = 1) -> Conversation:
    return keep_input(assignment_id=assignment.pk, position=position, number=number, text=text)[0]


def answer(chat: Conversation, text: str = "Hello yourself") -> None:
    chat.refresh_from_db()
    Turn.objects.create(conversation=chat, number=chat.n_turns + 1, speaker=Turn.Speaker.CHATBOT, text=text)
    Conversation.objects.filter(pk=chat.pk).update(n_turns=chat.n_turns + 1)


def talk(assignment: Assignment, chat: Conversation, n_inputs: int = 10) -> None:
    for k in range(n_inputs):
        say(assignment, 2 * k + 1, f"Message {k}")
        answer(chat)


def end(assignment: Assignment, position: int = 1) -> Conversation:
    return end_conversations(assignment_id=assignment.pk, position=position)[0]


# --- Beginning


def test_a_free_chat_is_on_the_workers_topic(assignment: Assignment) -> None:
    chat = begin(assignment, topic="  Sea & #sky \n😀 <b>", opinion="dislike")
    assert (chat.topic, chat.opinion, chat.state) == ("Sea & #sky 😀 <b>", "dislike", State.OPEN)


@pytest.mark.parametrize(("sent", "code"), [({"topic": " \n"}, "no_topic"), ({"opinion": ""}, "no_opinion")])
def test_a_topic_and_an_opinion_are_wanted(assignment: Assignment, sent: dict[str, str], code: str) -> None:
    with refused(code):
        begin(assignment, **sent)
    assert find_conversations(assignment) == []


@on_both
def test_a_chat_begins_once(assignment: Assignment) -> None:
    assert begin(assignment, topic="tea") == begin(assignment, topic="coffee")
    assert Conversation.objects.get().topic == "tea"


def test_an_icebreaker_is_a_statement_of_a_persona_and_stays_the_same(owner: User) -> None:
    assignment = start_assignment(campaign=open_live_campaign(owner, "dialogue-icebreaker"), worker_key="ann")
    openings = {
        position: get_opening(assignment, pages_of(assignment)[position].items[0]) for position in pages_of(assignment)
    }
    assert {opening.statement for opening in openings.values()} <= set(PERSONA)
    assert openings == {
        position: get_opening(assignment, pages_of(assignment)[position].items[0]) for position in openings
    }
    assert begin(assignment, topic="my own").topic == openings[1].statement


def test_each_statement_is_drawn_for_some_chat(owner: User) -> None:
    campaign = open_live_campaign(owner, n_hits=1)
    Chatbot.objects.update(persona=PERSONA, n_statements=1)
    assignment = start_assignment(campaign=campaign, worker_key="worker")
    item = pages_of(assignment)[1].items[0]
    drawn = set()
    for seed in range(100):  # one in 10¹⁷ misses a statement
        assignment.campaign.seed = seed
        drawn.add(get_opening(assignment, item).persona)
    assert drawn == {(statement,) for statement in PERSONA}


def test_a_hit_holds_each_family_once_and_the_degraded_chatbot(owner: User) -> None:
    campaign = open_live_campaign(owner, n_hits=20)
    for hit in campaign.hits.all():
        items = list(hit.items.select_related("output__system"))
        names = [item.output.system.name for item in items]
        assert len(set(names)) == 6
        assert [item.output.system.is_degraded for item in items] == [item.kind == Kind.DEGRADED for item in items]
    first = set(campaign.hits.values_list("items__position", flat=True).filter(items__kind=Kind.DEGRADED))
    assert len(first) > 2, "the degraded chatbot is always at the same place"


# --- Talking


@on_both
def test_what_a_worker_says_is_kept_as_it_is(assignment: Assignment, chat: Conversation) -> None:
    text = "Tea & #biscuits 😀\n<script>alert(1)</script> مرحبا"
    say(assignment, 1, f"  {text.replace(chr(10), chr(13) + chr(10))} \0")
    assert chat.turns.get().text == text
    assert Conversation.objects.get().awaits_reply


@on_both
def test_the_same_message_sent_twice_is_one(assignment: Assignment, chat: Conversation) -> None:
    for _ in range(2):
        assert say(assignment, 1, "Tea?").n_inputs == 1
    assert chat.turns.count() == 1


def test_another_window_changes_nothing(assignment: Assignment, chat: Conversation) -> None:
    say(assignment, 1, "Tea?")
    with refused("not_next_turn"):
        say(assignment, 1, "Coffee?")
    with refused("awaits_reply"):
        say(assignment, 2, "Coffee?")
    answer(chat)
    with refused("not_next_turn"):
        say(assignment, 2, "Hello yourself")  # the chatbot's own turn
    with refused("not_next_turn"):
        say(assignment, 5)
    assert list(chat.turns.values_list("text", flat=True)) == ["Tea?", "Hello yourself"]


@pytest.mark.parametrize(("text", "code"), [("", "empty_text"), (" \n\t\0", "empty_text"), ("x" * 5001, "long_text")])
def test_messages_have_words_and_an_end(assignment: Assignment, chat: Conversation, text: str, code: str) -> None:
    with refused(code):
        say(assignment, 1, text)
    assert chat.turns.count() == 0


@on_both
def test_5000_characters_are_kept(assignment: Assignment, chat: Conversation) -> None:
    say(assignment, 1, "é" * 5000)
    assert len(chat.turns.get().text) == 5000


def test_a_chat_is_full_at_its_largest_number_of_inputs(assignment: Assignment, chat: Conversation) -> None:
    Campaign.objects.update(chat=assignment.campaign.chat | {"max_inputs": 2, "min_inputs": 1})
    talk(assignment, chat, 2)
    with refused("enough_inputs"):
        say(assignment, 5)


def test_nothing_is_said_before_the_topic(assignment: Assignment) -> None:
    with refused("no_chat"):
        say(assignment, 1)


@pytest.mark.parametrize("position", [0, 2, 7])
def test_no_chat_can_be_skipped(assignment: Assignment, position: int) -> None:
    with refused("not_next"):
        begin(assignment, position)


class AnyText(TestCase):
    """Whatever a worker types comes back as it was typed, but for space around it."""

    @classmethod
    def setUpTestData(cls) -> None:
        owner = User.objects.create_user("typist@example.org")
        cls.assignment = start_assignment(campaign=open_live_campaign(owner, n_hits=1), worker_key="ann")

    @settings(max_examples=50)
    @given(text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200))
    def test_any_text_is_kept(self, text: str) -> None:
        assignment = self.assignment
        chat = begin(assignment)
        kept = text.replace("\0", "").replace("\r\n", "\n").strip()
        if not kept:
            with refused("empty_text"):
                say(assignment, 1, text)
            return
        say(assignment, 1, text)
        say(assignment, 1, text)
        assert [turn.text for turn in chat.turns.all()] == [kept]


# --- Topics


@on_both
def test_a_change_of_topic_is_noted_where_it_happened(assignment: Assignment, chat: Conversation) -> None:
    talk(assignment, chat, 2)
    note = {"by": "chatbot", "topic": "boats", "attitude": "ambivalent"}
    for _ in range(2):
        change_topic(assignment_id=assignment.pk, position=1, **note)
    assert TopicChange.objects.values("after_turn", *note).get() == note | {"after_turn": 4}
    assert topic_now(chat) == "boats"


@pytest.mark.parametrize(
    ("wrong", "code"),
    [({"by": "nobody"}, "bad_change"), ({"topic": ""}, "no_topic"), ({"attitude": "?"}, "no_opinion")],
)
def test_a_change_of_topic_is_whole(
    assignment: Assignment, chat: Conversation, wrong: dict[str, str], code: str
) -> None:
    note = {"by": "last", "topic": "boats", "attitude": "like"} | wrong
    with refused(code):
        change_topic(assignment_id=assignment.pk, position=1, **note)


# --- Ending


@pytest.mark.parametrize("n_inputs", [0, 9])
def test_a_short_chat_cannot_be_ended(assignment: Assignment, chat: Conversation, n_inputs: int) -> None:
    talk(assignment, chat, n_inputs)
    with refused("few_inputs"):
        end(assignment)


@on_both
def test_a_chat_is_rated_once_it_has_ended(assignment: Assignment, chat: Conversation) -> None:
    scores = {AnswerKey(criterion.pk): ["60"] for criterion in criteria_of(assignment.campaign)}
    talk(assignment, chat)
    with refused("chat_open"):
        save_page(assignment_id=assignment.pk, position=1, answers=scores)
    assert end(assignment).state == end(assignment).state == State.ENDED
    with refused("chat_ended"):
        say(assignment, 21)
    assert save_page(assignment_id=assignment.pk, position=1, answers=scores).position == 2
    with refused("not_next"):
        begin(assignment, 1)


def test_a_message_without_a_reply_does_not_keep_a_long_chat_from_its_end(
    assignment: Assignment, chat: Conversation
) -> None:
    talk(assignment, chat, 9)
    say(assignment, 19)
    assert end(assignment).state == State.ENDED


def test_a_chatbot_that_may_answer_cannot_be_left(assignment: Assignment, chat: Conversation) -> None:
    say(assignment, 1)
    with refused("may_answer"):
        leave_conversations(assignment_id=assignment.pk, position=1)


def test_a_hit_with_a_dead_chatbot_can_be_finished(assignment: Assignment) -> None:
    scores = {AnswerKey(criterion.pk): ["60"] for criterion in criteria_of(assignment.campaign)}
    for position in range(1, 7):
        chat = begin(assignment, position)
        if position == 3:
            say(assignment, 1, position=3)
            Conversation.objects.filter(pk=chat.pk).update(n_tries=3)  # as often as may be
            assert leave_conversations(assignment_id=assignment.pk, position=3)[0].state == State.DEAD
            with refused("not_next"):
                leave_conversations(assignment_id=assignment.pk, position=3)
            assignment.refresh_from_db()
            continue
        for k in range(10):
            say(assignment, 2 * k + 1, position=position)
            answer(chat)
        end(assignment, position)
        save_page(assignment_id=assignment.pk, position=position, answers=scores)
        assignment.refresh_from_db()
    finished = finish_assignment(assignment_id=assignment.pk)
    assert finished.completion_code
    assert sorted(set(finished.responses.values_list("item__position", flat=True))) == [1, 2, 4, 5, 6]
    assert finished.events.filter(kind=Event.Kind.SKIPPED).count() == 1


# --- Leases


def test_each_message_renews_the_lease(assignment: Assignment, chat: Conversation) -> None:
    Assignment.objects.update(leased_until=timezone.now())
    say(assignment, 1)
    assignment.refresh_from_db()
    assert assignment.leased_until > timezone.now() + timedelta(minutes=50)


@on_both
def test_a_message_after_the_lease_is_kept_and_takes_the_place_again(
    assignment: Assignment, chat: Conversation
) -> None:
    expire_leases(now=timezone.now() + timedelta(days=1))
    say(assignment, 1, "I was away")
    assignment.refresh_from_db()
    assert assignment.state == Assignment.State.ACTIVE
    assert chat.turns.get().text == "I was away"


def test_a_returned_hit_takes_no_more(assignment: Assignment, chat: Conversation) -> None:
    return_assignment(assignment_id=assignment.pk)
    with refused("returned"):
        say(assignment, 1)
