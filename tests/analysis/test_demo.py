"""`manage.py demo`: three campaigns, and a second start that changes nothing."""

import csv
import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.urls import reverse

from analysis import examples
from analysis.campaign_queries import find_latest_result
from analysis.management.commands.demo import EMAIL
from annotation.models import Assignment, Rating
from campaigns.models import Campaign
from evalsite.accounts.models import User
from evalsite.jobs.models import Job

State, Status = Assignment.State, Campaign.Status


def start_demo() -> str:
    out = StringIO()
    call_command("demo", "--no-serve", stdout=out, stderr=StringIO())
    return out.getvalue()


def snapshot():
    return {
        model.__name__: list(model.objects.order_by("pk").values_list("pk", flat=True))
        for model in (Campaign, Assignment, Rating, Job)
    }


@pytest.mark.django_db(transaction=True)
def test_the_demo_shows_a_finished_a_running_and_a_draft_campaign(client):
    printed = start_demo()
    user = User.objects.get(email=EMAIL)
    assert reverse("campaigns:list") in printed
    password = printed.split("password")[1].split()[0]
    assert client.login(username=EMAIL, password=password)

    finished, running, draft = (
        user.campaigns.get(name=example.name) for example in (examples.FINISHED, examples.RUNNING, examples.DRAFT)
    )
    assert (finished.status, running.status, draft.status) == (Status.CLOSED, Status.RUNNING, Status.DRAFT)
    assert list(user.campaigns.order_by("-created_at")) == [finished, running, draft]

    states = list(running.assignments.values_list("state", flat=True))
    assert states.count(State.FINISHED) == examples.RUNNING.n_hits
    assert states.count(State.ACTIVE) == examples.RUNNING.n_left
    assert draft.systems.count() == 7 and not draft.hits.exists()

    run = find_latest_result(user, finished.pk)
    assert run is not None
    quality = json.loads((examples.FOLDER / "mrc" / "quality.json").read_text())
    ranking = [system["system"] for system in run.report["summary"]["systems"]]
    assert ranking == sorted(quality, key=lambda name: -quality[name])
    workers = run.report["summary"]["workers"]
    assert workers["failed"] == round(examples.CARELESS * workers["total"])
    assert client.get(reverse("analysis:campaign_results", args=[finished.public_id]), follow=True).status_code == 200

    before = snapshot()
    start_demo()
    assert snapshot() == before


@pytest.mark.django_db(transaction=True)
def test_a_start_that_was_broken_off_is_carried_on(owner, monkeypatch):
    example = examples.RUNNING
    monkeypatch.setattr(examples, "_launch", lambda *args: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        examples.load_example(owner, example, lambda what: None)
    monkeypatch.undo()
    campaign = examples.load_example(owner, example, lambda what: None)
    assert owner.campaigns.get() == campaign and campaign.status == Status.RUNNING


@pytest.mark.parametrize("example", examples.EXAMPLES, ids=lambda example: example.protocol)
def test_the_simulated_truth_names_every_system_of_the_example(example):
    folder = examples.FOLDER / example.folder
    with (folder / "outputs.csv").open(encoding="utf-8", newline="") as file:
        systems = {row["system"] for row in csv.DictReader(file)}
    assert set(json.loads((folder / "quality.json").read_text())) == systems
