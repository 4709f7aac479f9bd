"""Taking chats out: transcripts, a row for each chat, and the files that every campaign has."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from analysis.data.dialogues.loading import load_dialogues
from analysis.data.ratings.loading import load_ratings
from analysis.web.queries.finished_work import read_dialogues
from annotation.chat import exports as transcripts
from annotation.chat.exports import DIALOGUE_COLUMNS, iter_dialogues, iter_transcripts
from annotation.chat.replies import fetch_reply_of
from annotation.chat.services import keep_input, leave_conversations, open_conversations
from annotation.export.rows import ALL_STATES, EVENT_COLUMNS, event_blocks
from annotation.models import Assignment, Conversation, Turn
from annotation.worker_names import hashed_name
from campaigns.models import Campaign, Chatbot
from evalsite.accounts.models import User
from evalsite.lib.encryption import encrypt_secrets
from evalsite.lib.tables.blocks import in_rows
from tests.annotation.cast import make_worker
from tests.annotation.chat.chat_campaigns import open_live_campaign
from tests.annotation.chat.talks import GREETINGS, SERIOUS, change_topic, hold_chat, take_hit
from tests.campaigns.cast import add_member, make_campaign
from tests.conftest import make_owner
from tests.databases import on_both, on_sqlite

pytestmark = on_sqlite

State = Conversation.State
FILES = ["transcripts.jsonl", "dialogues.csv"]
ALL = "?states=all"


@pytest.fixture(scope="module")
def stored(module_db: None) -> Campaign:
    """The owner's campaign: Ann has finished a HIT, one of her chatbots dead; Bob is in his second chat."""
    owner = make_owner()
    campaign = open_live_campaign(owner)
    ann = take_hit(campaign, "ann-the-rater", state=Assignment.State.FINISHED)
    for position in range(1, 7):
        if position == 2:
            hold_chat(ann, position, inputs=SERIOUS[:2], is_answered=False, state=State.DEAD, topic="=SUM(1)")
        else:
            chat = hold_chat(ann, position, persona=["I bake."] if position == 1 else [], pasted={1: 50}, score=60)
    change_topic(chat, 4, "ships & <whales>")
    bob = take_hit(campaign, "bob-the-rater")
    hold_chat(bob, 1, inputs=GREETINGS, score=10)
    hold_chat(bob, 2, inputs=SERIOUS[:1], state=State.OPEN)
    return campaign


@pytest.fixture
def campaign(db: None, stored: Campaign) -> Campaign:
    return Campaign.objects.get(pk=stored.pk)


def file_of(campaign: Campaign, name: str, query: str = "") -> str:
    return reverse("monitoring:export_file", args=[campaign.public_id, name]) + query


def sent(client: Client, campaign: Campaign, name: str, query: str = "") -> bytes:
    response = client.get(file_of(campaign, name, query))
    assert response.status_code == 200
    assert response.streaming
    return response.getvalue()


def chats_in(content: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in content.decode().splitlines()]


def rows_in(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


# --- Transcripts


@on_both
def test_a_transcript_holds_the_whole_chat(owner_client: Client, campaign: Campaign) -> None:
    chats = chats_in(sent(owner_client, campaign, "transcripts.jsonl", ALL))
    assert [(chat["hit"], chat["position"]) for chat in chats] == [(1, k) for k in range(1, 7)] + [(2, 1), (2, 2)]
    first = chats[0]
    stored = Conversation.objects.get(assignment=first["assignment"], item__position=1)
    assert [turn["text"] for turn in first["turns"]] == list(stored.turns.values_list("text", flat=True))
    assert [turn["by"] for turn in first["turns"][:3]] == ["worker", "chatbot", "worker"]
    assert [turn["number"] for turn in first["turns"]] == list(range(1, 21))
    assert first["system"] == stored.item.output.system.name
    assert (first["topic"], first["opinion"], first["persona"]) == ("the sea", "like", ["I bake."])
    assert (first["state"], first["n_inputs"], first["flags"]) == ("ended", 10, ["copied"])
    assert first["ratings"] == dict.fromkeys(campaign.criteria.values_list("name", flat=True), 60)
    assert {chat["kind"] for chat in chats[:6]} == {"ordinary", "degraded"}


def test_turns_have_their_times(campaign: Campaign) -> None:
    said, reply = next(iter_transcripts(campaign))["turns"][2:4]
    assert said.keys() == {"number", "by", "text", "at", "typed_ms", "focus_lost", "pastes", "pasted_chars"}
    assert reply.keys() == {"number", "by", "text", "at", "took_ms", "answered_ms", "tries"}
    assert (said["pastes"], said["pasted_chars"], reply["answered_ms"], reply["tries"]) == (1, 50, 1200, 1)
    assert said["at"] < reply["at"]
    assert reply["at"].endswith("Z")


@on_both
def test_tokens_and_cuts_are_reported_where_there_are_any(campaign: Campaign) -> None:
    turn = Turn.objects.filter(number=2).first()
    assert turn
    turn.data |= {"n_tokens_in": 200, "n_tokens_out": 20, "is_cut": True}
    turn.save()
    reply = next(iter_transcripts(campaign))["turns"][1]
    assert (reply["tokens_in"], reply["tokens_out"], reply["is_cut"]) == (200, 20, True)


def test_changes_of_topic_and_states_are_reported(campaign: Campaign) -> None:
    chats = list(iter_transcripts(campaign, states=ALL_STATES))
    [change] = chats[5]["topic_changes"]
    assert (change["after_turn"], change["by"], change["topic"]) == (4, "chatbot", "ships & <whales>")
    assert (chats[1]["state"], chats[1]["ratings"], len(chats[1]["turns"])) == ("dead", {}, 3)
    assert (chats[7]["state"], chats[7]["ended"], chats[7]["assignment_state"]) == ("open", None, "active")


@on_both
def test_chunks_lose_nothing_at_their_ends(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    def whole() -> list[list[Any]]:
        return [list(rows(campaign, states=ALL_STATES)) for rows in (iter_transcripts, iter_dialogues)]

    together = whole()
    monkeypatch.setattr(transcripts, "_ASSIGNMENTS_AT_ONCE", 1)
    assert whole() == together


def test_chats_come_by_few_queries_however_many_there_are(owner: User, campaign: Campaign) -> None:
    large = open_live_campaign(owner, n_hits=8)
    for k in range(8):
        assignment = take_hit(large, f"worker-{k}")
        for position in range(1, 7):
            change_topic(hold_chat(assignment, position, inputs=SERIOUS[:2], score=5), 2, "ships")
    for rows in (iter_transcripts, iter_dialogues):
        counts = []
        for each in (campaign, large):
            with CaptureQueriesContext(connection) as queries:
                assert sum(1 for _ in rows(each, states=ALL_STATES))
            counts.append(len(queries))
        assert counts[0] == counts[1]


# --- A row a chat


def test_dialogues_have_the_columns_of_the_study(owner_client: Client, campaign: Campaign, shared_data: Path) -> None:
    with (shared_data / "dialogue-run1" / "dialogues.csv").open(encoding="utf-8") as stream:
        published = next(csv.reader(stream))
    rows = rows_in(sent(owner_client, campaign, "dialogues.csv", ALL))
    assert list(rows[0])[: len(published)] == published
    assert tuple(rows[0]) == DIALOGUE_COLUMNS


def test_a_row_counts_what_the_worker_said(owner_client: Client, campaign: Campaign) -> None:
    rows = rows_in(sent(owner_client, campaign, "dialogues.csv", ALL))
    assert len(rows) == 8
    last = rows[5]
    assert (last["worker_inputs"], last["worker_words"], last["worker_chars"]) == (
        "10",
        str(len(" ".join(SERIOUS).split())),
        str(len("".join(SERIOUS))),
    )
    assert last["words_by_input"] == " ".join(str(len(text.split())) for text in SERIOUS)
    assert last["chars_by_input"] == " ".join(str(len(text)) for text in SERIOUS)
    assert (last["state"], last["n_topic_changes"], float(last["minutes"])) == ("ended", "1", pytest.approx(1.7))
    assert (rows[7]["state"], rows[7]["minutes"], rows[7]["assignment_state"]) == ("open", "", "active")


@on_both
def test_the_analysis_reads_the_rows_as_it_reads_the_campaigns(
    owner_client: Client, campaign: Campaign, tmp_path: Path
) -> None:
    path = tmp_path / "dialogues.csv"
    path.write_bytes(sent(owner_client, campaign, "dialogues.csv", "?ids=real"))
    finished = [str(pk) for pk in campaign.assignments.filter(state="finished").values_list("pk", flat=True)]
    loaded, read = load_dialogues(path), read_dialogues(campaign, finished)
    assert (loaded.chats, loaded.notices) == (read.chats, read.notices)
    assert "1 chat" in read.notices[0]  # the dead one


def test_chats_are_of_finished_hits_unless_all_are_asked_for(owner_client: Client, campaign: Campaign) -> None:
    assert {row["assignment_state"] for row in rows_in(sent(owner_client, campaign, "dialogues.csv"))} == {"finished"}
    assert len(chats_in(sent(owner_client, campaign, "transcripts.jsonl"))) == 6


def test_topics_are_no_formulas(owner_client: Client, campaign: Campaign) -> None:
    assert rows_in(sent(owner_client, campaign, "dialogues.csv", ALL))[1]["topic"] == "'=SUM(1)"
    assert chats_in(sent(owner_client, campaign, "transcripts.jsonl", ALL))[1]["topic"] == "=SUM(1)"


# --- Who may


@pytest.mark.parametrize("name", FILES)
def test_members_take_chats_out_and_strangers_do_not(
    campaign: Campaign, colleague: User, owner_client: Client, colleague_client, stranger_client, name: str
) -> None:
    add_member(campaign, colleague, "viewer")
    content = sent(colleague_client, campaign, name, ALL)
    assert hashed_name(make_worker(campaign, "ann-the-rater")).encode() in content
    assert b"-the-rater" not in content
    assert stranger_client.get(file_of(campaign, name)).status_code == 404
    assert colleague_client.post(file_of(campaign, name)).status_code == 405
    for role in ("viewer", "editor"):
        campaign.memberships.filter(user=colleague).update(role=role)
        assert colleague_client.get(file_of(campaign, name, "?ids=real")).status_code == 403
    assert stranger_client.get(file_of(campaign, name, "?ids=real")).status_code == 404
    assert b"ann-the-rater" in sent(owner_client, campaign, name, "?ids=real")


@pytest.mark.parametrize("name", FILES)
def test_only_live_campaigns_have_them(owner: User, owner_client: Client, campaign: Campaign, name: str) -> None:
    other = make_campaign(owner)
    assert owner_client.get(file_of(other, name)).status_code == 404
    shown = [owner_client.get(reverse("monitoring:export", args=[each.public_id])).text for each in (campaign, other)]
    assert [name in text for text in shown] == [True, False]


@pytest.mark.parametrize("name", FILES)
def test_a_campaign_without_chats_gives_empty_files(owner: User, owner_client: Client, name: str) -> None:
    empty = sent(owner_client, open_live_campaign(owner), name).decode().splitlines()
    assert empty == ([",".join(DIALOGUE_COLUMNS)] if name.endswith("csv") else [])


# --- The files that every campaign has


def test_ratings_of_chats_are_read_by_the_analysis(owner_client: Client, campaign: Campaign, tmp_path: Path) -> None:
    content = sent(owner_client, campaign, "ratings.csv")
    rows = rows_in(content)
    n_criteria = campaign.criteria.count()
    assert {row["source"] for row in rows} == {"chat"}
    assert len(rows) == 5 * n_criteria, "a dead chat has no ratings"
    page = owner_client.get(reverse("monitoring:export", args=[campaign.public_id])).text
    assert f'Of finished HITs <span class="download-note">({len(rows)} ratings)' in page
    path = tmp_path / "ratings.csv"
    path.write_bytes(content)
    loaded = load_ratings(path, criteria=list(campaign.criteria.values_list("name", flat=True)))
    # The degraded chatbot is nobody's twin.
    assert {warning.code for warning in loaded.warnings} == set()
    assert loaded.ratings.scores.size == len(rows)


def test_items_and_assignments_are_as_ever(owner_client: Client, campaign: Campaign) -> None:
    items = rows_in(sent(owner_client, campaign, "items.csv"))
    assert {(row["source"], row["text"]) for row in items} == {("chat", "")}
    assert [row["items_rated"] for row in rows_in(sent(owner_client, campaign, "assignments.csv"))] == ["6", "1"]


@pytest.fixture
def unanswered(owner: User) -> Campaign:
    """A worker who left a chatbot that had failed, and that has a secret."""
    campaign = open_live_campaign(owner)
    Chatbot.objects.update(connector="telepathy", secrets=encrypt_secrets({"api_key": "sk-very-secret"}))
    assignment = take_hit(campaign, "ann")
    open_conversations(assignment_id=assignment.pk, position=1, topic="tea", opinion="like")
    (chat,) = keep_input(assignment_id=assignment.pk, position=1, number=1, text="Hello")
    assert fetch_reply_of(chat).status == "failed"
    leave_conversations(assignment_id=assignment.pk, position=1)
    return campaign


@on_both
def test_events_tell_of_replies_that_did_not_come(unanswered: Campaign) -> None:
    events = (dict(zip(EVENT_COLUMNS, row, strict=True)) for row in in_rows(event_blocks(unanswered)))
    failed, left = (event for event in events if event["event"] in ("unanswered", "skipped"))
    assert (failed["event"], failed["position"], failed["data"].keys()) == (
        "unanswered",
        1,
        {"code", "message", "took_ms", "turn"},
    )
    assert (left["event"], left["position"], left["data"]) == ("skipped", 1, {})


@pytest.mark.parametrize("name", [*FILES, "events.jsonl", "assignments.csv", "items.csv"])
def test_no_file_holds_a_secret(owner_client: Client, unanswered: Campaign, name: str) -> None:
    content = sent(owner_client, unanswered, name)
    assert b"sk-very-secret" not in content
    assert Chatbot.objects.values_list("secrets", flat=True)[0].encode() not in content
