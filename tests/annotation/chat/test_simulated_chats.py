"""Simulated workers who chat: what they mean to say, and that all of it is kept, on lines good and bad."""

from collections import Counter
from functools import cache
from io import StringIO

import pytest
from django.core.management import call_command
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from annotation.models import Assignment, Conversation, Response, TopicChange, Turn
from annotation.simulation.crowd import Crowd, Item, Judged, Manner
from annotation.simulation.inputs import FOLLOW_UPS, OPINIONS, TOPICS, ChatPlan, plan_chat
from annotation.simulation.running import make_crowd, open_site, run_crowd
from annotation.simulation.visitor import AcknowledgedTurn, Visitor
from campaigns.design.composition import Kind
from campaigns.models import Campaign, Chatbot
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError
from evalsite.lib.http import open_client
from tests.annotation.chat.chat_campaigns import CHATBOTS, PERSONA, open_live_campaign
from tests.annotation.test_simulation_visitor import BadLine

FEW = CHATBOTS[:2]
SIZE = len(FEW) + 1
MIN_INPUTS = 2


@cache
def crowd_of(n_workers: int = 40, careless: float = 0.25, seed: int = 7) -> Crowd:
    return Crowd(
        seed=seed,
        quality={name: 0.5 * k for k, name in enumerate(CHATBOTS)},
        criteria=(Judged("fun"), Judged("robotic", is_negative=True)),
        n_workers=n_workers,
        careless=careless,
    )


def chat_with(system: str, kind: Kind = Kind.ORDINARY, hit: int = 1, position: int = 1) -> Item:
    return Item(hit, position, f"chat {hit}.{position}", system, kind)


@cache
def plans(crowd: Crowd, n_hits: int = 20, n_inputs: int = 10) -> list[tuple[Manner, ChatPlan]]:
    return [
        (worker.manner, plan_chat(worker, chat_with("Amber", hit=hit), n_inputs))
        for worker in map(crowd.worker, range(crowd.n_workers))
        for hit in range(1, n_hits + 1)
    ]


# --- What they mean to say


@given(st.integers(0, 39), st.integers(1, 1000), st.integers(1, 6), st.integers(1, 40), st.integers(0, 2**31))
def test_a_plan_is_as_long_as_asked_and_the_same_again(index, hit, position, n_inputs, seed):
    worker, item = crowd_of(seed=seed).worker(index), chat_with("Amber", hit=hit, position=position)
    plan = plan_chat(worker, item, n_inputs)
    assert len(plan.inputs) == len(plan.telemetry) >= n_inputs
    assert all(text.strip() == text != "" for text in plan.inputs)
    assert plan == plan_chat(crowd_of.__wrapped__(seed=seed).worker(index), item, n_inputs)


def test_there_is_much_to_say_and_nothing_twice():
    texts = [text for inputs in TOPICS.values() for text in inputs] + list(FOLLOW_UPS)
    assert len(texts) == len(set(texts)) >= 60
    careful = [plan for manner, plan in plans(crowd_of()) if manner is Manner.CAREFUL]
    assert all(len(set(plan.inputs)) == len(plan.inputs) for plan in careful)
    assert len({plan.topic for plan in careful}) == len(TOPICS)


def test_careless_workers_write_a_word_or_the_same_again():
    careless = [(manner, plan) for manner, plan in plans(crowd_of()) if manner is not Manner.CAREFUL]
    assert {manner for manner, _ in careless} == {Manner.RANDOM, Manner.HIGH}
    for manner, plan in careless:
        assert plan.change is None
        if manner is Manner.HIGH:
            assert len(set(plan.inputs)) == 1
        else:
            assert max(len(text.split()) for text in plan.inputs) == 1


def test_opinions_have_the_shares_of_the_study():
    drawn = Counter(plan.opinion for _, plan in plans(crowd_of(100), n_hits=40))
    assert {name: n / 4000 for name, n in drawn.items()} == pytest.approx(OPINIONS, abs=0.02)


def test_after_a_change_of_topic_the_chat_is_about_the_new_one():
    changing = [plan for _, plan in plans(crowd_of()) if plan.change]
    assert {plan.change.by for plan in changing} == {"chatbot", "last", "next"}
    for plan in changing:
        opener = TOPICS[plan.change.topic][0]
        assert plan.inputs.index(opener) == plan.change.n_inputs - (plan.change.by == "last")
        assert plan.topic != plan.change.topic


def test_the_degraded_chatbot_has_no_quality_and_is_seen_below_all_others():
    crowd = crowd_of()
    degraded = [crowd.see(chat_with("degraded", Kind.DEGRADED, hit)).mean() for hit in range(1, 200)]
    worst = [crowd.see(chat_with(CHATBOTS[0], hit=hit)).mean() for hit in range(1, 200)]
    assert sum(degraded) / 199 < sum(worst) / 199 - 1
    assert len(set(worst)) == 199, "every chat is one of its own"


# --- On the real pages


@pytest.fixture
def campaign(owner: User) -> Campaign:
    return live(owner)


def live(owner: User, protocol: str = "dialogue-free", **fields) -> Campaign:
    campaign = open_live_campaign(owner, protocol, chatbots=FEW, **fields)
    campaign.chat |= {"min_inputs": MIN_INPUTS}
    campaign.save(update_fields=["chat"])
    return campaign


def run(campaign: Campaign, n_workers: int = 2, **crowd):
    visitors: list[Visitor] = []
    with open_site(None) as client:
        made = make_crowd(campaign, seed=5, n_workers=n_workers, **crowd)
        outcome = run_crowd(campaign, made, client, max_hits=1, on_done=visitors.append)
    return outcome, visitors


def turns_are_there_once(acknowledged: list[AcknowledgedTurn]) -> None:
    """Every turn that a worker was shown is stored once, as it was; no other input is stored."""
    rows = Turn.objects.values_list("conversation__assignment", "conversation__item__position", "number", "text")
    stored = Counter(rows)
    assert set(stored.values()) == {1}
    assert {(each.assignment_id, each.position, each.number, each.text) for each in acknowledged} <= stored.keys()


@pytest.mark.django_db
def test_a_crowd_chats_rates_and_finishes(campaign: Campaign) -> None:
    outcome, visitors = run(campaign)
    assert (outcome.errors, outcome.n_hits, outcome.n_ratings) == ([], 2, 2 * SIZE * campaign.criteria.count())
    said = [turn for visitor in visitors for turn in visitor.turns]
    turns_are_there_once(said)
    assert len(said) == Turn.objects.count()
    assert outcome.n_inputs == sum(turn.is_input for turn in said)
    chats = Conversation.objects.all()
    assert {chat.state for chat in chats} == {Conversation.State.ENDED}
    assert chats.count() == 2 * SIZE
    assert min(chat.n_inputs for chat in chats) >= MIN_INPUTS
    assert {chat.topic for chat in chats} <= set(TOPICS)
    typed = Turn.objects.filter(speaker=Turn.Speaker.WORKER).values_list("data", flat=True)
    assert all(data["typed_ms"] > 0 for data in typed)


@pytest.mark.django_db
def test_topic_changes_are_noted(owner: User) -> None:
    campaign = live(owner, n_hits=2)
    campaign.chat |= {"min_inputs": 6}
    campaign.save()
    _, visitors = run(campaign)
    items = [(visitor.worker, look_up_item(chat)) for visitor in visitors for chat in chats_of(visitor)]
    planned = [plan.change for worker, item in items if (plan := plan_chat(worker, item, 6)).change]
    noted = TopicChange.objects.values_list("after_turn", "by", "topic", "attitude")
    assert planned
    assert sorted(noted) == sorted((2 * each.n_inputs, each.by, each.topic, each.attitude) for each in planned)


def chats_of(visitor: Visitor) -> list[Conversation]:
    assignments = {turn.assignment_id for turn in visitor.turns}
    return list(Conversation.objects.filter(assignment__in=assignments).select_related("item", "assignment__hit"))


def look_up_item(chat: Conversation) -> Item:
    return chat_with("", Kind(chat.item.kind), chat.assignment.hit.number, chat.item.position)


@pytest.mark.django_db
def test_an_icebreaker_is_not_typed(owner: User) -> None:
    outcome, _ = run(live(owner, "dialogue-icebreaker", n_hits=1), n_workers=1)
    assert (outcome.errors, outcome.n_hits) == ([], 1)
    assert set(Conversation.objects.values_list("topic", flat=True)) <= set(PERSONA)


@pytest.mark.django_db
def test_a_chatbot_that_never_answers_is_left_and_the_hit_finished(campaign: Campaign) -> None:
    Chatbot.objects.filter(system__name=FEW[-1]).update(connector="telepathy")
    outcome, visitors = run(campaign, n_workers=1)
    assert (outcome.errors, outcome.n_hits, outcome.n_unanswered) == ([], 1, 1)
    dead = Conversation.objects.get(state=Conversation.State.DEAD)
    assert dead.item.output.system.name == FEW[-1]
    assert 2 <= dead.n_failures <= 3  # given up at first, and each time the worker tried again
    assert Response.objects.values("item").distinct().count() == SIZE - 1
    turns_are_there_once(visitors[0].turns)


@pytest.mark.django_db
def test_who_leaves_midway_leaves_a_chat_open(campaign: Campaign) -> None:
    outcome, _ = run(campaign, leaving=1.0)
    assert (outcome.errors, outcome.n_left, outcome.n_hits) == ([], 2, 0)
    open_chats = Conversation.objects.filter(state=Conversation.State.OPEN)
    assert open_chats.count() == 2
    assert all(0 < chat.n_inputs < MIN_INPUTS and not chat.awaits_reply for chat in open_chats)


@pytest.mark.django_db
def test_the_degraded_chatbot_takes_no_quality(campaign: Campaign) -> None:
    assert set(make_crowd(campaign, seed=0, n_workers=1).quality) == set(FEW)
    with pytest.raises(DomainError, check=lambda error: error.code == "bad_quality"):
        make_crowd(campaign, seed=0, n_workers=1, quality=dict.fromkeys((*FEW, "degraded"), 0.0))


@pytest.mark.django_db
def test_the_command_tells_how_much_was_said(campaign: Campaign) -> None:
    out = StringIO()
    options = ("--workers=1", "--hits-per-worker=1", "--threads=1")
    call_command("simulate", str(campaign.public_id), *options, stdout=out, stderr=StringIO())
    n_inputs = Turn.objects.filter(speaker=Turn.Speaker.WORKER).count()
    assert f"1 HITs finished, {SIZE * campaign.criteria.count()} ratings, {n_inputs} chat inputs" in out.getvalue()


# --- On a bad line


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("faults", ["", ".>" * 40, "<." * 40, "5.>.<." * 20, "..>>><<<<5555" * 8])
def test_whatever_is_lost_on_the_way_every_turn_is_stored_once(owner: User, faults: str) -> None:
    campaign = live(owner, n_hits=1)
    visitor = Visitor(
        open_client("http://localhost", transport=BadLine(faults)),
        make_crowd(campaign, seed=3, n_workers=1).worker(0),
        reverse("rate:welcome", args=[campaign.public_id]),
        sleep=lambda seconds: None,
    )
    visitor.work()
    assignment = Assignment.objects.get()
    assert (assignment.state, visitor.codes) == (Assignment.State.FINISHED, [assignment.completion_code])
    turns_are_there_once(visitor.turns)
    inputs = [plan_chat(visitor.worker, look_up_item(chat), MIN_INPUTS).inputs for chat in chats_of(visitor)]
    stored = Turn.objects.filter(speaker=Turn.Speaker.WORKER).order_by("conversation", "number")
    assert [turn.text for turn in stored] == [text for each in inputs for text in each]
    assert Response.objects.count() == SIZE * campaign.criteria.count()
    if not faults:
        assert len(visitor.turns) == Turn.objects.count()
