"""Replies of a chat that are rated one by one: what the page asks, what is stored, and the files that have it."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django.fixtures import Settings as SettingsWrapper

from analysis.web.queries.facts import get_facts
from annotation.chat.exports import iter_transcripts
from annotation.chat.transcripts import get_transcript
from annotation.export.downloads import count_rows
from annotation.export.rows import ALL_STATES, RATING_COLUMNS, rating_blocks, reply_score_blocks, score_blocks
from annotation.export.tables import TABLES, table_of
from annotation.models import Assignment, Conversation, Response
from annotation.simulation.running import make_crowd, open_site, run_crowd
from annotation.worker_names import hashed_name
from campaigns.building.pace import seconds_to_chat
from campaigns.checklist import checklist
from campaigns.models import Campaign, Chatbot, Criterion
from campaigns.proposals import pace_of
from campaigns.queries import get_campaign_for
from evalsite.accounts.models import User
from evalsite.lib.tables.blocks import in_rows
from tests.annotation.chat import bots
from tests.annotation.chat.chat_campaigns import make_live_campaign, open_live_campaign
from tests.annotation.chat.test_chat_pages import SCRIPTED, Worker
from tests.campaigns.cast import make_campaign
from tests.conftest import make_owner

pytestmark = pytest.mark.django_db
CHATBOTS = ("Amber", "Birch")
NO_YES = {"labels": "no\nyes", "lowest": 0}


def ask_of_replies(campaign: Campaign) -> None:
    """Have one slider about the whole chat, and of each reply: is it sensible, if so specific, and how dull is it."""
    campaign.criteria.exclude(name="fun").delete()
    scale = {"campaign": campaign, "scope": "turn", "response": "scale", "settings": NO_YES}
    sensible = Criterion.objects.create(order=10, name="sensible", statement="Does the reply make sense?", **scale)
    shown = {"shown_on": sensible, "shown_values": ["1"], "may_abstain": True}
    Criterion.objects.create(order=11, name="specific", statement="Is it specific?", **scale, **shown)
    Criterion.objects.create(
        campaign=campaign, order=12, name="dull", statement="The reply is dull.", scope="turn", is_negative=True
    )


@pytest.fixture(scope="module")
def opened(module_db: None) -> Campaign:
    campaign = open_live_campaign(make_owner(), chatbots=CHATBOTS, n_hits=3, chat={"min_inputs": 2})
    ask_of_replies(campaign)
    Chatbot.objects.update(connector="python", settings={"class_path": SCRIPTED})
    return campaign


@pytest.fixture
def campaign(db: None, opened: Campaign) -> Campaign:
    return Campaign.objects.get(pk=opened.pk)


@pytest.fixture(autouse=True)
def script(settings: SettingsWrapper) -> Iterator[None]:
    settings.CHATBOT_CLASSES = [SCRIPTED]
    bots.SCRIPT.clear()
    yield
    bots.SCRIPT.clear()


@pytest.fixture
def worker(client: Client, campaign: Campaign) -> Worker:
    """A worker who has chatted: two messages, two replies, which are turns 2 and 4."""
    worker = Worker(client, campaign)
    talk(worker)
    return worker


def talk(worker: Worker, position: int = 1) -> None:
    worker.begin(position)
    worker.talk(2, position)
    worker.send("end", position=position)


def answers(campaign: Campaign, **changes: Any) -> dict[str, Any]:
    """Return what a form sends: `sensible_2` is about the reply that is turn 2; None leaves an answer out."""
    said = {"fun": 60, "sensible_2": 1, "specific_2": 0, "dull_2": 10, "sensible_4": 0, "dull_4": 90} | changes
    criteria = {each.name: each.pk for each in campaign.criteria.all()}
    named = {}
    for key, value in said.items():
        name, _, turn = key.partition("_")
        start = "abstained" if value == "cannot judge" else "answer"
        named[f"{start}_{criteria[name]}" + (f"_0_{turn}" if turn else "")] = value
    return {name: value for name, value in named.items() if value is not None}


def stored() -> list[tuple[str, int, Any]]:
    rows = Response.objects.order_by("turn", "criterion__order")
    return [(each.criterion.name, each.turn, each.value) for each in rows]


# --- The page


def test_the_page_asks_of_each_reply_beside_it(worker: Worker, campaign: Campaign) -> None:
    html = worker.look().text
    replies = html.split('<li class="reply">')[1:]
    assert ["The reply is dull" in reply for reply in replies] == [False, True, False, True]
    assert "Reply 3" in replies[3], "what the chatbot said"
    assert "Chatbot, reply 2" in replies[3], "the second one"
    dull = campaign.criteria.get(name="dull").pk
    assert f'data-name="answer_{dull}_0_4"' in replies[3]
    assert f'data-name="answer_{campaign.criteria.get(name="fun").pk}"' in html.split('class="replies"')[0]
    assert 'class="card transcript"' not in html, "the chat is shown once"


def test_the_page_of_a_long_chat_is_few_bytes_and_queries(client: Client, campaign: Campaign) -> None:
    worker = Worker(client, campaign)
    worker.begin()
    worker.talk(20)
    worker.send("end")
    with CaptureQueriesContext(connection) as queries:
        page = client.get(worker.url(), headers={"Accept-Encoding": "br"})
    assert len(queries) <= 4
    assert "answer_" not in page.content.decode(errors="ignore"), "it is compressed"
    assert len(page.content) < 5_000, "of 18,750 that a slow line may bring with an item"


def test_answers_are_kept_with_the_reply_that_they_are_about(worker: Worker, campaign: Campaign) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert worker.send("hit", **answers(campaign)).status_code == 200
    of_saving = [each["sql"] for each in queries if each["sql"].startswith(("INSERT", "UPDATE"))]
    assert len(of_saving) == 3, "claim, responses, event: as many as without replies"
    assert stored() == [
        *[("fun", 0, 60)],
        *[("sensible", 2, 1), ("specific", 2, 0), ("dull", 2, 10)],
        *[("sensible", 4, 0), ("dull", 4, 90)],
    ]
    worker.send("hit", **answers(campaign, fun=1))
    assert Response.objects.count() == 6, "sent twice, kept once"


def test_the_same_reply_is_rated_once(worker: Worker, campaign: Campaign) -> None:
    worker.send("hit", **answers(campaign))
    again = Response.objects.filter(turn=4)[0]
    again.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        again.save()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"dull_4": None}, "1 of 6"),
        ({"specific_2": None}, "1 of 6"),  # asked, as the reply is sensible
        ({"sensible_2": None, "specific_2": None, "dull_2": None}, "2 of 5"),  # specific is not asked then
        ({"dull_3": 5}, "another page"),  # what the worker said
        ({"dull_6": 5}, "another page"),
        ({"fun_2": 5}, "another page"),  # asked of the whole chat
        ({"dull_4": 101}, "100"),
    ],
)
def test_what_is_missing_or_of_no_reply_is_refused(
    worker: Worker, campaign: Campaign, changes: dict[str, Any], said: str
) -> None:
    answer = worker.send("hit", **answers(campaign, **changes))
    assert answer.status_code == 422
    assert said in answer.text
    assert not Response.objects.exists()


def test_an_answer_that_is_not_asked_is_not_kept(worker: Worker, campaign: Campaign) -> None:
    worker.send("hit", **answers(campaign, specific_4=1))
    assert Response.objects.filter(criterion__name="dull", turn=4).exists()
    assert not Response.objects.filter(criterion__name="specific", turn=4).exists(), "the reply is not sensible"


def test_one_may_not_be_able_to_judge_a_reply(worker: Worker, campaign: Campaign) -> None:
    worker.send("hit", **answers(campaign, specific_2="cannot judge"))
    assert Response.objects.exclude(abstained="").get().turn == 2


def test_a_chat_without_a_reply_is_rated_as_a_whole(client: Client, campaign: Campaign) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(chat=campaign.chat | {"min_inputs": 1})
    worker = Worker(client, campaign)
    worker.begin()
    bots.SCRIPT.extend([OSError("gone")] * 9)
    worker.say(1)
    worker.send("end")
    assert Conversation.objects.get().n_turns == 1
    fun = campaign.criteria.get(name="fun").pk
    assert worker.send("hit", **{f"answer_{fun}": 5}).status_code == 200
    assert stored() == [("fun", 0, 5)]


def test_the_preview_asks_of_each_reply(client: Client, campaign: Campaign) -> None:
    client.force_login(campaign.members.get())
    page = client.get(reverse("monitoring:preview_item", args=[campaign.public_id, 1, 1])).text
    assert len(re.findall(r'data-name="answer_\d+_0_[246]"', page)) == 3


# --- Files


@pytest.fixture
def rated(worker: Worker, campaign: Campaign) -> Assignment:
    """A finished HIT, of which the first chat is rated as `answers` says, the others with dull = 50."""
    worker.send("hit", **answers(campaign))
    for position in range(2, len(CHATBOTS) + 2):
        talk(worker, position)
        worker.send("hit", position=position, **answers(campaign, dull_2=50, dull_4=50))
    worker.send("feedback", feedback="")
    found = Assignment.objects.get()
    assert found.state == Assignment.State.FINISHED
    return found


def test_files_have_the_turn(rated: Assignment, campaign: Campaign) -> None:
    rows = [dict(zip(RATING_COLUMNS, row, strict=True)) for row in in_rows(rating_blocks(campaign))]
    first = [(row["criterion"], row["turn"], row["score"]) for row in rows if row["position"] == 1]
    assert first == [
        *[("fun", None, 60)],
        *[("sensible", 2, 1), ("specific", 2, 0), ("dull", 2, 10)],
        *[("sensible", 4, 0), ("dull", 4, 90)],
    ]
    assert len({row["seconds"] for row in rows if row["position"] == 1}) == 1, "of the page"
    assert count_rows(campaign, timezone.now()).n_ratings == len(rows) == 18


def test_analyses_read_replies_where_they_are_asked_of(rated: Assignment, campaign: Campaign) -> None:
    columns, blocks = table_of(campaign, "scores")
    found = [dict(zip(columns, row, strict=True)) for row in in_rows(blocks(campaign, names=hashed_name))]
    assert [row["turn"] for row in found][:6] == [None, 2, 2, 2, 4, 4]
    assert next(in_rows(reply_score_blocks(campaign)))[:-1] == next(in_rows(score_blocks(campaign)))
    assert {row[7] for row in in_rows(score_blocks(campaign))} == {"fun"}
    Criterion.objects.filter(campaign=campaign, scope="turn").update(scope="output")
    assert table_of(campaign, "scores") == TABLES["scores"]


def test_a_method_is_given_what_it_reads(rated: Assignment, campaign: Campaign) -> None:
    campaign.method = "ssa"
    assert {row[7] for row in in_rows(reply_score_blocks(campaign))} == {"sensible", "specific"}


def test_choices_of_replies_are_about_sources_of_their_own(rated: Assignment, campaign: Campaign) -> None:
    options = {"options": "a\nb"}
    mood = Criterion.objects.create(
        campaign=campaign, order=20, name="mood", statement="?", scope="turn", response="choice", settings=options
    )
    item = rated.hit.items.get(position=1)
    for turn in (2, 4):
        Response.objects.create(assignment=rated, item=item, criterion=mood, turn=turn, value=["a"])
    columns, blocks = TABLES["answers"]
    found = [dict(zip(columns, row, strict=True)) for row in in_rows(blocks(campaign, names=hashed_name))]
    assert [(row["source"], row["kind"]) for row in found] == [
        (f"{rated.pk}.1.{turn}", item.get_kind_display()) for turn in (2, 4)
    ]


def test_transcripts_have_the_ratings_of_a_reply_with_it(rated: Assignment, campaign: Campaign) -> None:
    chat = next(iter_transcripts(campaign, states=ALL_STATES))
    assert chat["ratings"] == {"fun": 60}
    assert [turn.get("ratings") for turn in chat["turns"]] == [
        *[None, {"sensible": 1, "specific": 0, "dull": 10}],
        *[None, {"sensible": 0, "dull": 90}],
    ]
    mine = get_campaign_for(campaign.members.get(), campaign.public_id)
    transcript = get_transcript(mine, Conversation.objects.order_by("pk")[0].pk, timezone.now())
    assert [rating.turn for rating in transcript.ratings] == [0, 2, 2, 2, 4, 4]


# --- A crowd, and the check-list


def test_a_crowd_answers_for_every_reply(campaign: Campaign) -> None:
    with open_site(None) as client:
        crowd = make_crowd(campaign, seed=5, n_workers=2, careless=0.5)
        outcome = run_crowd(campaign, crowd, client, max_hits=1)
    assert (outcome.errors, outcome.n_hits) == ([], 2)
    for chat in Conversation.objects.all():
        of_chat = Response.objects.filter(assignment=chat.assignment_id, item=chat.item_id)
        replies = list(range(2, chat.n_turns + 1, 2))
        assert sorted(of_chat.filter(criterion__name="dull").values_list("turn", flat=True)) == replies
        sensible = dict(of_chat.filter(criterion__name="sensible").values_list("turn", "value"))
        assert sorted(sensible) == replies
        specific = of_chat.filter(criterion__name="specific").values_list("turn", flat=True)
        assert sorted(specific) == [turn for turn, value in sorted(sensible.items()) if value]


def step(campaign: Campaign) -> tuple[str, str]:
    found = next(each for each in checklist(campaign) if each.key == "criteria")
    return found.state, found.text


def test_the_check_list_says_what_does_not_fit(owner: User) -> None:
    live = make_live_campaign(owner, chatbots=CHATBOTS)
    live.criteria.update(scope="turn")
    state, text = step(live)
    assert (state, "42 messages or fewer" in text) == ("todo", True), "seven questions about each of 100 replies"
    live.chat |= {"max_inputs": 42}
    live.save()
    assert step(live)[0] == "ok"
    live.criteria.filter(name="fun").update(response="preference")
    assert step(live) == ("todo", "“fun” compares outputs: have it asked of all that is shown at once.")
    texts = make_campaign(owner, "qg")
    texts.criteria.filter(pk=texts.criteria.first().pk).update(scope="turn")
    state, text = step(texts)
    assert state == "todo"
    assert "there are none" in text


def test_the_time_of_a_chat_counts_what_is_asked_of_each_reply(campaign: Campaign) -> None:
    campaign.chat |= {"min_inputs": 10}
    assert pace_of(campaign).seconds == seconds_to_chat(10, 1 + 3 * 10)
    assert {fact.name: "each reply" in fact.answered_by for fact in get_facts(campaign).criteria} == {
        "fun": False,
        "sensible": True,
        "specific": True,
        "dull": True,
    }
