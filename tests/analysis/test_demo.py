"""`manage.py demo`: its campaigns, and a second start that changes nothing."""

import csv
import json
import os
import shutil
from dataclasses import replace
from io import StringIO

import pytest
from django.core.management import call_command
from django.urls import reverse

from analysis.management.commands import demo
from analysis.web import examples
from analysis.web.queries.campaigns import find_job, find_latest_result
from annotation.models import Assignment, Conversation, Response, Turn
from campaigns import examples as listed
from campaigns.models import Campaign
from campaigns.services import examples as drafts
from evalsite.accounts.models import User
from evalsite.jobs.models import Job
from evalsite.jobs.running import run_job
from evalsite.lib.addresses import AllowList
from tests.services import free_port

State, Status = Assignment.State, Campaign.Status
N_CHATS = 5


def start_demo() -> str:
    out = StringIO()
    call_command("demo", "--no-serve", stdout=out, stderr=StringIO())
    return out.getvalue()


def quality_of(example):
    return json.loads((drafts.FOLDER / example.folder / "quality.json").read_text())


def run_jobs(campaign):
    while job := find_job(campaign):
        run_job(job.pk)
        job.refresh_from_db()
        assert job.status == Job.Status.SUCCEEDED, job.error_message


def snapshot():
    return {
        model.__name__: list(model.objects.order_by("pk").values_list("pk", flat=True))
        for model in (Campaign, Assignment, Response, Turn, Job)
    }


@pytest.fixture(autouse=True)
def own_static_files(settings, tmp_path):
    """Collect them apart: each browser of a later test would look at all of them."""
    settings.STATIC_ROOT = tmp_path / "static"
    settings.STATIC_ROOT.mkdir()


@pytest.fixture
def short(monkeypatch, tmp_path):
    """Let fewer workers come: a third of the answers is imported, and of the other campaigns fewer HITs are done."""
    folder = tmp_path / "examples"
    shutil.copytree(drafts.FOLDER, folder)
    answers = folder / listed.FINISHED.folder / "outputs.csv"
    lines = answers.read_text("utf-8").splitlines(keepends=True)
    answers.write_text("".join(lines[: len(lines) // 3 + 1]), "utf-8")
    monkeypatch.setattr(drafts, "FOLDER", folder)
    for name, n in (("RUNNING", {"n_hits": 1, "n_left": 1}), ("LIVE", {"n_hits": 2, "n_left": 1, "n_built": 5})):
        monkeypatch.setattr(listed, name, replace(getattr(listed, name), **n))
    monkeypatch.setattr(examples, "EXAMPLES", (listed.DRAFT, listed.LIVE, listed.RUNNING, listed.FINISHED))


@pytest.mark.django_db(transaction=True)
def test_the_demo_shows_a_finished_a_running_a_live_and_a_draft_campaign(client, short):
    printed = start_demo()
    user = User.objects.get(email=demo.EMAIL)
    assert reverse("campaigns:list") in printed
    password = printed.split("password")[1].split()[0]
    assert client.login(username=demo.EMAIL, password=password)

    shown = (listed.FINISHED, listed.RUNNING, listed.LIVE, listed.DRAFT)
    finished, running, live, draft = campaigns = [user.campaigns.get(name=example.name) for example in shown]
    assert [each.status for each in campaigns] == [Status.CLOSED, Status.RUNNING, Status.RUNNING, Status.DRAFT]
    assert list(user.campaigns.order_by("-created_at")) == campaigns

    for campaign, example in ((running, listed.RUNNING), (live, listed.LIVE)):
        states = list(campaign.assignments.values_list("state", flat=True))
        assert states.count(State.FINISHED) == example.n_hits
        assert states.count(State.ACTIVE) == example.n_left
    assert draft.systems.count() == 7 and not draft.hits.exists()

    run = find_latest_result(user, finished.pk)
    assert run is not None
    quality = quality_of(listed.FINISHED)
    ranking = [system["system"] for system in run.report["summary"]["systems"]]
    assert ranking == sorted(quality, key=lambda name: -quality[name])
    workers = run.report["summary"]["workers"]
    assert workers["failed"] == round(examples.CARELESS * workers["total"])
    assert client.get(reverse("analysis:campaign_results", args=[finished.public_id]), follow=True).status_code == 200

    before = snapshot()
    start_demo()
    assert snapshot() == before

    chats = Conversation.objects.filter(assignment__campaign=live)
    assert chats.filter(state=Conversation.State.OPEN).count() == listed.LIVE.n_left
    assert chats.filter(state=Conversation.State.ENDED).count() >= listed.LIVE.n_hits * N_CHATS
    assert not chats.filter(state=Conversation.State.DEAD).exists()
    assert find_latest_result(user, live.pk) is None
    run_jobs(live)  # as the server does once it has started
    run = find_latest_result(user, live.pk)
    assert run is not None
    assert {system["system"] for system in run.report["summary"]["systems"]} == set(quality_of(listed.LIVE))
    assert client.get(reverse("analysis:campaign_results", args=[live.public_id]), follow=True).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_a_start_that_was_broken_off_is_carried_on(owner, short, monkeypatch):
    example, launch = listed.RUNNING, examples._launch
    monkeypatch.setattr(examples, "_launch", lambda *args: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        examples.load_example(owner, example, lambda what: None)
    monkeypatch.setattr(examples, "_launch", launch)
    campaign = examples.load_example(owner, example, lambda what: None)
    assert owner.campaigns.get() == campaign and campaign.status == Status.RUNNING


@pytest.mark.parametrize("example", listed.EXAMPLES, ids=lambda example: example.protocol)
def test_the_simulated_truth_names_every_system_of_the_example(example):
    folder = drafts.FOLDER / example.folder
    if example.is_live:
        systems = {chatbot["name"] for chatbot in json.loads((folder / "chatbots.json").read_text())}
    else:
        with (folder / "outputs.csv").open(encoding="utf-8", newline="") as file:
            systems = {row["system"] for row in csv.DictReader(file)}
    assert set(quality_of(example)) == systems


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("given", "hosts"),
    [("", "api.openai.com,localhost,127.0.0.1,[::1]"), ("chat.example.org", "chat.example.org")],
)
def test_the_demo_allows_chatbots_on_this_machine_unless_hosts_are_set(monkeypatch, given, hosts):
    started = []
    monkeypatch.setenv("CHATBOT_HOSTS", given)
    monkeypatch.setattr(demo, "call_command", lambda *args, **options: None)
    monkeypatch.setattr(demo, "load_examples", lambda user, log, protocols: None)
    monkeypatch.setattr(demo, "become", lambda command: started.append(os.environ["CHATBOT_HOSTS"]))
    call_command("demo", "--port", str(free_port()), stdout=StringIO())
    assert started == [hosts]
    assert AllowList(hosts.split(",")).reach_of("::1", 8000) == ("none" if given else "any")
    assert User.objects.get(email=demo.EMAIL).is_staff
