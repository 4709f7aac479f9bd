"""What is made of the chats of a live campaign: read, analysed with the ratings, shown, downloaded, replicated."""

import csv
import io
import json
import re
import zipfile
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import transaction
from django.db.models import F
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analysis.data.dialogues.loading import load_dialogues
from analysis.data.dialogues.rows import Chat, LoadedDialogues
from analysis.data.ratings.loading import load_ratings
from analysis.methods.settings import from_json
from analysis.methods.study.report import report
from analysis.methods.study.study import run_study
from analysis.models import AnalysisRun
from analysis.results.reading import printed
from analysis.web.navigation import result_url
from analysis.web.queries.finished_work import read_dialogues
from analysis.web.services.campaigns import analyse_campaign
from analysis.web.services.runs import execute_run
from annotation.chat.services import (
    change_topic,
    end_conversations,
    keep_input,
    leave_conversations,
    open_conversations,
)
from annotation.models import Assignment, Conversation, Turn
from annotation.pages.questions import AnswerKey
from annotation.queries import criteria_of
from annotation.services.assignments import finish_assignment, start_assignment
from annotation.services.ratings import save_page
from campaigns.contracts.chat import ChatRules
from campaigns.models import Campaign, System
from evalsite.accounts.models import User
from evalsite.jobs.handlers import JobContext, get_handler
from tests.analysis.campaigns import rated_campaign
from tests.analysis.test_downloads import replicated_elsewhere
from tests.annotation.chat.chat_campaigns import open_live_campaign
from tests.campaigns.cast import add_member
from tests.conftest import make_owner

pytestmark = pytest.mark.django_db

INPUTS = ("I  like sailing ", "Do you?")
TOPICS = ("Food", " food", "Sailing boats", "The sea", "=Rain", "<b>Boats</b>")
MINUTES, MINUTES_OF_DEAD = 12, 4


def chat(assignment: Assignment, position: int, inputs=INPUTS, *, opinion: str = "like", is_dead: bool = False) -> None:
    """Hold the chat at a position, as the pages do, with a chatbot that says little."""
    where = {"assignment_id": assignment.pk, "position": position}
    open_conversations(**where, topic=TOPICS[position - 1], opinion=opinion)
    for k, text in enumerate(inputs):
        (conversation,) = keep_input(**where, number=2 * k + 1, text=text)
        if is_dead:
            Conversation.objects.filter(pk=conversation.pk).update(n_failures=1, n_tries=3)
            leave_conversations(**where)
            return
        Turn.objects.create(conversation=conversation, number=2 * k + 2, speaker="chatbot", text="Tell me more of it")
        Conversation.objects.filter(pk=conversation.pk).update(n_turns=2 * k + 2)
        if position == 1:
            change_topic(**where, by=("chatbot", "next")[k % 2], topic="boats", attitude="like")
    end_conversations(**where)


def work(campaign: Campaign, name: str, *, is_careful: bool = True, dead: int = 0, n_chats: int = 6) -> Assignment:
    """Have a worker hold and rate the chats of a HIT; careless workers like the degraded chatbot best."""
    assignment = start_assignment(campaign=campaign, worker_key=name)
    items = {item.position: item for item in assignment.hit.items.select_related("output__system")}
    for position in range(1, n_chats + 1):
        chat(assignment, position, opinion="like" if is_careful else "dislike", is_dead=position == dead)
        if position != dead:
            is_low = items[position].output.system.is_degraded == is_careful
            scores = {AnswerKey(c.pk): [str((10 if is_low else 70) + position)] for c in criteria_of(campaign)}
            save_page(assignment_id=assignment.pk, position=position, answers=scores)
    started_at = timezone.now() - timedelta(minutes=MINUTES)
    Assignment.objects.filter(pk=assignment.pk).update(started_at=started_at, seen_at=started_at)
    if n_chats == len(items):
        finish_assignment(assignment_id=assignment.pk)
        Assignment.objects.filter(pk=assignment.pk).update(seen_at=started_at + timedelta(minutes=MINUTES))
    died = Conversation.objects.filter(assignment=assignment, state=Conversation.State.DEAD)
    died.update(started_at=F("ended_at") - timedelta(minutes=MINUTES_OF_DEAD))
    return assignment


@pytest.fixture(scope="module", autouse=True)
def campaigns(module_db: None) -> None:
    """Two live campaigns with room for several workers, whose chats may be short; one has chats."""
    owner, rules = make_owner(), ChatRules(min_inputs=2).to_json()
    open_live_campaign(owner, chat=rules, name="New")
    chatted = open_live_campaign(owner, chat=rules, name="Chatted", seed=3)  # no degraded chatbot comes first
    work(chatted, "pia")
    work(chatted, "fay", is_careful=False)


@pytest.fixture
def campaign() -> Campaign:
    """The campaign without chats."""
    return Campaign.objects.get(name="New")


@pytest.fixture
def chatted() -> Campaign:
    """The campaign with the chats of a worker who passes and of one who fails."""
    return Campaign.objects.get(name="Chatted")


def read(campaign: Campaign) -> LoadedDialogues:
    finished = Assignment.objects.filter(campaign=campaign, state=Assignment.State.FINISHED)
    return read_dialogues(campaign, {str(each.pk) for each in finished})


def computed(campaign: Campaign) -> AnalysisRun:
    """Return the campaign's run with its report, without the files."""
    run = analyse_campaign(campaign=campaign)
    settings = from_json(run.settings)
    loaded = load_ratings(Path(run.ratings_file.file.path), criteria=settings.criterion_names)
    dialogues = read_dialogues(campaign, set(loaded.assignments)) if campaign.is_live else None
    run.report = report(run_study(loaded, settings, dialogues=dialogues))
    run.finished_at = timezone.now()
    run.save()
    return run


# --- Reading


def test_chats_are_read_with_their_sizes(chatted: Campaign) -> None:
    found = read(chatted)
    assert len(found.chats) == 12 and len(found.work) == 2
    systems = dict(System.objects.filter(campaign=chatted).values_list("name", "is_degraded"))
    first = next(chat for chat in found.chats if chat.worker == "fay")
    kind = "degraded" if systems[first.system] else "ordinary"
    assert first == Chat(
        worker="fay",
        assignment=str(Assignment.objects.get(worker__key="fay").pk),
        position=1,
        system=first.system,
        kind=kind,
        topic="Food",
        opinion="dislike",
        n_inputs=2,
        n_words=5,
        n_characters=len("I like sailing") + len("Do you?"),
        changes_by_chatbot=1,
        changes_by_worker=1,
        topic_sent="no",
        words_by_input=(3, 2),
        chars_by_input=(len("I like sailing"), len("Do you?")),
    )
    assert sum(chat.kind == "degraded" for chat in found.chats) == 2
    assert {work.seconds for work in found.work} == {MINUTES * 60}


def test_a_chat_whose_chatbot_did_not_answer_is_left_out_with_its_time_and_reported(campaign: Campaign) -> None:
    work(campaign, "pia", dead=3)
    found = read(campaign)
    assert [work.seconds for work in found.work] == [(MINUTES - MINUTES_OF_DEAD) * 60]
    assert [chat.position for chat in found.chats] == [1, 2, 4, 5, 6]
    assert found.notices == ("Chats that are left out because their chatbot did not answer: 1 chat.",)


def test_the_exported_files_give_the_numbers_of_the_page(
    campaign: Campaign, owner_client: Client, tmp_path: Path
) -> None:
    work(campaign, "pia", dead=2)
    work(campaign, "fay", is_careful=False)
    work(campaign, "una", n_chats=3)
    files = {}
    for name in ("ratings", "dialogues", "assignments"):
        response = owner_client.get(reverse("monitoring:export_file", args=[campaign.public_id, f"{name}.csv"]))
        files[name] = tmp_path / f"{name}.csv"
        files[name].write_bytes(b"".join(response))
    out = io.StringIO()
    shown = computed(campaign).report["summary"]["dialogues"]
    call_command(
        "analyse",
        str(files["ratings"]),
        protocol="dialogue-free",
        dialogues=files["dialogues"],
        assignments=files["assignments"],
        format="json",
        stdout=out,
        stderr=io.StringIO(),
    )
    assert json.loads(out.getvalue())["dialogues"] == shown
    everyone = shown["groups"]["all"]
    assert (everyone["chats"], everyone["assignments"], everyone["minutes_per_chat"]) == (
        11,
        2,
        (2 * MINUTES - MINUTES_OF_DEAD) / 11,
    )


def test_lengths_per_input_are_over_the_inputs_of_the_turns(
    campaign: Campaign, owner_client: Client, tmp_path: Path
) -> None:
    pia = work(campaign, "pia")
    chats = Conversation.objects.filter(assignment=pia, item__output__system__is_degraded=False)
    for chat, words in zip(chats, ("a a a a", "a", "a", "a b c d e f g", "a"), strict=True):
        chat.turns.filter(number=1).update(text=words)  # the other input of each has two words
    found = read(campaign)
    n_words = sorted(n for each in found.chats if each.kind == "ordinary" for n in each.words_by_input or ())
    assert n_words == [1, 1, 1, 2, 2, 2, 2, 2, 4, 7]
    run = computed(campaign)
    summary = run.report["summary"]["dialogues"]
    lengths = summary["groups"]["all"]["lengths"]["words_per_input"]
    assert summary["per_input_over"] == "inputs"
    assert (lengths["n"], lengths["median"], lengths["mean"]) == (10, 2, 2.4), "1.5 is the median of the means"
    assert "over single inputs" in owner_client.get(result_url(run, "chats")).text
    exported = owner_client.get(reverse("monitoring:export_file", args=[campaign.public_id, "dialogues.csv"]))
    path = tmp_path / "dialogues.csv"
    path.write_bytes(exported.getvalue())
    sizes = [(each.words_by_input, each.chars_by_input) for each in load_dialogues(path).chats]
    assert sizes == [(each.words_by_input, each.chars_by_input) for each in found.chats]


def test_chats_of_results_of_an_earlier_version_are_shown(chatted: Campaign, owner_client: Client) -> None:
    run = computed(chatted)
    found = run.report["summary"]["dialogues"]
    del found["per_input_over"], found["topic_sent"]
    for group in found["groups"].values():
        for lengths in group["lengths"].values():
            del lengths["mean"]
    run.save()
    page = owner_client.get(result_url(run, "chats"))
    assert "sent the topic" not in page.text and "each chat&#x27;s mean" in page.text
    results = owner_client.get(reverse("analysis:campaign_results", args=[chatted.public_id]))
    assert results.context["chats"] == page.context["chats"] is not None


def test_whether_the_topic_was_sent_is_read_shown_and_packed(campaign: Campaign, owner_client: Client) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(chat=ChatRules(min_inputs=2, sends_topic=True).to_json())
    campaign.refresh_from_db()
    work(campaign, "pia")
    assert {(chat.kind, chat.topic_sent) for chat in read(campaign).chats} == {("ordinary", "yes"), ("degraded", "no")}
    run = computed(campaign)
    assert run.report["summary"]["dialogues"]["topic_sent"] == {"yes": 5, "no": 0}
    page = owner_client.get(result_url(run, "chats"))
    assert "Chatbots were sent the topic." in page.text


def test_only_the_assignments_asked_for_are_read(chatted: Campaign) -> None:
    pia = Assignment.objects.get(worker__key="pia")
    found = read_dialogues(chatted, {str(pia.pk)})
    assert found.workers == {"pia"} and len(found.chats) == 6


def test_chats_of_unfinished_hits_and_other_campaigns_are_not_read(chatted: Campaign, owner: User) -> None:
    before = read(chatted)
    begun = work(chatted, "ann", n_chats=3)
    other = open_live_campaign(owner, chat=ChatRules(min_inputs=2).to_json())
    strange = work(other, "bob")
    assert read_dialogues(chatted, {*(chat.assignment for chat in before.chats), str(begun.pk), str(strange.pk)}) == (
        before
    )


def test_reading_takes_four_queries_however_many_chats(campaign: Campaign, django_assert_num_queries) -> None:
    for name in ("pia", "pam", "fay"):
        work(campaign, name)
        with django_assert_num_queries(4):
            read_dialogues(campaign, {str(pk) for pk in range(10_000)})


# --- The run


@pytest.fixture
def run(chatted: Campaign) -> AnalysisRun:
    """The campaign's run with all its files; another HIT was finished before its job began."""
    run = analyse_campaign(campaign=chatted)
    work(chatted, "ann")
    execute_run(run=run, on_stage=lambda stage: None, saving=transaction.atomic)
    return run


def test_the_run_holds_the_chats_and_its_package_gives_the_same_again(
    run: AnalysisRun, owner_client: Client, tmp_path: Path
) -> None:
    found = run.report["summary"]["dialogues"]
    groups = found["groups"]
    assert [groups[name]["chats"] for name in ("passed", "failed", "all")] == [6, 6, 12]
    assert groups["all"]["chats_not_degraded"] == 10
    assert groups["passed"]["opinions"]["like"] == {"n": 6, "share": 1.0}
    assert groups["failed"]["opinions"]["dislike"] == {"n": 6, "share": 1.0}
    assert groups["all"]["minutes_per_chat"] == pytest.approx(MINUTES / 6)
    assert {row["topic"]: row["all"] for row in found["topics"]}["food"] == 4

    package = owner_client.get(reverse("analysis:run_file", args=[run.pk, "package.zip"])).getvalue()
    summary, again = replicated_elsewhere(package, tmp_path)
    assert again == summary
    assert json.loads(summary) == printed(run.result)

    folder = Path(django_settings.MEDIA_ROOT) / run.folder
    for path in (tmp_path / "package/dialogues.csv", tmp_path / "package/assignments.csv", folder / "report.json"):
        text = path.read_text()
        assert "pia" not in text and "fay" not in text and INPUTS[1] not in text, path
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        rated = {row["assignment"] for row in csv.DictReader(io.TextIOWrapper(archive.open("ratings.csv")))}
        chats = {row["assignment"] for row in csv.DictReader(io.TextIOWrapper(archive.open("dialogues.csv")))}
    assert rated == chats

    page = owner_client.get(result_url(run, "chats"))
    listed = owner_client.get(result_url(run, "downloads"))
    for name in ("topic-words", "words-per-chat"):
        for suffix in (".svg", "-dark.svg"):
            url = reverse("analysis:run_file", args=[run.pk, f"figures/{name}{suffix}"])
            assert url in page.text
            assert owner_client.get(url).getvalue().startswith(b"<?xml")
        assert f"figures/{name}.pdf" in listed.text
    assert "tables/opinions.csv" in listed.text


def test_an_excluded_worker_is_among_all_only(chatted: Campaign) -> None:
    settings = computed(chatted).settings | {"excluded": {"pia": "by hand"}}
    loaded = load_ratings(
        Path(AnalysisRun.objects.get().ratings_file.file.path), criteria=from_json(settings).criterion_names
    )
    groups = report(run_study(loaded, from_json(settings), dialogues=read(chatted)))["summary"]["dialogues"]["groups"]
    assert [groups[name]["workers"] for name in ("passed", "failed", "all")] == [0, 1, 2]


# --- The pages


def test_workers_are_shown_by_how_much_they_rate_the_degraded_chatbot_lower(
    chatted: Campaign, owner_client: Client
) -> None:
    page = owner_client.get(reverse("analysis:campaign_live_workers", args=[chatted.public_id]))
    differences = {worker.name: worker.conduct.difference for worker in page.context["page_obj"]}
    assert differences["pia"] < -50 and differences["fay"] > 50
    assert "twins" not in page.text


def test_the_results_of_a_campaign_show_its_chats(chatted: Campaign, owner_client: Client) -> None:
    run = computed(chatted)
    page = owner_client.get(reverse("analysis:campaign_results", args=[chatted.public_id]))
    assert 'id="chats"' in page.text
    assert result_url(run, "chats") in page.text


def test_the_page_of_chats_shows_topics_as_they_are_counted(chatted: Campaign, owner_client: Client) -> None:
    run = computed(chatted)
    page = owner_client.get(result_url(run, "chats"))
    assert page.status_code == 200
    assert "&lt;b&gt;boats&lt;/b&gt;" in page.text and "<b>boats" not in page.text
    assert '<th scope="row" class="cell-words"><bdi>boats</bdi></th>' in page.text
    (opinions,) = next(section for section in page.context["sections"] if section.slug == "opinions").tables_shown
    assert [row[1] for row in opinions.rows] == [100, 0, 0]
    headings = re.findall(r'<h2 id="([^"]+)"', page.text)
    assert headings == ["opinions", "time", "lengths", "changes", "words", "topics", "contrasts", "corpus-title"]
    assert page.context["side_bar"].page.title == "Chats"


def test_chats_are_compared_with_an_uploaded_corpus(chatted: Campaign, owner_client: Client) -> None:
    run = computed(chatted)
    page = owner_client.get(result_url(run, "chats"))
    address = reverse("analysis:corpus", args=[run.pk])
    assert f'action="{address}"' in page.text
    refused = owner_client.post(address, {"corpus": SimpleUploadedFile("corpus.csv", b"turn\nhello\n")})
    assert (refused.status_code, "there is no such column" in refused.text) == (422, True)
    owner_client.post(address, {"corpus": SimpleUploadedFile("corpus.csv", b"dialogue,text\n1,hello there\n1,hi\n")})
    again = AnalysisRun.objects.get(parent=run)
    assert again.settings["corpus"]["lengths"]["words_per_chat"]["n"] == 2
    get_handler("analysis.run")(JobContext(), run=str(again.pk))
    shown = owner_client.get(result_url(again, "chats")).text
    assert "Beside a corpus" in shown and "in “corpus.csv” it is 1.5 and 1.5" in shown


def test_who_may_see_the_page_of_chats(
    chatted: Campaign, client: Client, colleague: User, colleague_client: Client, stranger_client: Client
) -> None:
    url = result_url(computed(chatted), "chats")
    assert (client.get(url).status_code, stranger_client.get(url).status_code) == (302, 404)
    add_member(chatted, colleague)
    assert colleague_client.get(url).status_code == 200
    assert colleague_client.post(url).status_code == 405


def test_a_campaign_of_texts_has_no_chats(owner: User, owner_client: Client) -> None:
    campaign = rated_campaign(owner)
    run = computed(campaign)
    assert "dialogues" not in run.report["summary"]
    assert owner_client.get(result_url(run, "chats")).status_code == 404
    results = owner_client.get(reverse("analysis:campaign_results", args=[campaign.public_id]))
    assert results.context["chats"] is None and 'id="chats"' not in results.text
    side_bar = owner_client.get(result_url(run)).context["side_bar"]
    assert "Chats" not in [link.title for link in side_bar.links]


def test_results_without_a_passed_worker_show_what_there_is(campaign: Campaign, owner_client: Client) -> None:
    work(campaign, "fay", is_careful=False)
    run = computed(campaign)
    for name in ("chats", "run"):
        page = owner_client.get(result_url(run, name))
        assert page.status_code == 200
        assert "figures/topic-words" not in page.text  # no topic of a worker who passed, no cloud
