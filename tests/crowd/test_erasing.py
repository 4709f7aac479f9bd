"""Erasing one worker's personal data: nothing that the installation stores holds the id afterwards."""

import zipfile
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client
from django.urls import reverse

from analysis.models import AnalysisRun, RatingsFile
from analysis.web.services.campaigns import request_analysis
from analysis.web.services.runs import exclude_worker
from annotation.export.rows import event_blocks, iter_assignments, rating_blocks
from annotation.models import Assignment, Event, Response, Turn, Worker
from annotation.raters.lists import by_name
from annotation.services.erasing import erase_worker
from annotation.services.invitations import invite_raters
from annotation.worker_names import real_name, worker_digits
from api.models import KeyedRequest
from campaigns.contracts.account import PolledPosting, PolledSubmission, PostingState, SubmissionState
from campaigns.models import Campaign, Deletion
from crowd.models import Order, Posting, Submission
from crowd.services.payments.decisions import notify
from crowd.services.syncing.polling import poll_posting
from evalsite.accounts.models import User
from evalsite.jobs.handlers import JobContext, get_handler
from evalsite.jobs.models import Job
from evalsite.lib.errors import DomainError
from evalsite.lib.tables.blocks import in_rows
from tests.analysis.campaigns import analysed
from tests.analysis.conftest import finish
from tests.annotation.chat.chat_campaigns import open_live_campaign
from tests.annotation.chat.talks import SERIOUS, hold_chat, take_hit
from tests.campaigns.cast import make_campaign
from tests.crowd.rated import decided, rated_campaign, submissions_of
from tests.databases import on_both, on_sqlite

pytestmark = on_sqlite
ID = "5f3a-ann-worker-77"


@pytest.fixture
def media(settings: Any, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path
    return tmp_path


@pytest.fixture
def paid(owner: User, media: Path) -> Campaign:
    """A campaign on a platform in which one worker of two, by `ID`, is paid; analysed, also without that worker."""
    campaign = rated_campaign(owner, n_hits=4, n_careless=0, platform="prolific")
    worker = Worker.objects.order_by("pk")[0]
    Worker.objects.filter(pk=worker.pk).update(key=ID)
    for submission in submissions_of(campaign):
        decided(submission, "approve")
        if submission.worker_id == worker.pk:
            decided(submission, "notify", message=f"Dear {ID}", last_error=f"{ID} is not known")
            Submission.objects.filter(pk=submission.pk).update(payload={"participant_id": ID}, code="C0DE")
    mine = Assignment.objects.filter(worker=worker)
    mine.update(feedback=f"I am {ID}", platform_data={"posting": "POSTING1", "PROLIFIC_PID": ID}, completion_code=ID)
    for assignment in mine:
        Event.objects.create(assignment=assignment, kind=Event.Kind.ARRIVED, data={"platform_id": f"of {ID}"})
    Event.objects.filter(kind=Event.Kind.RATED).update(data={"shown_ms": 4000})
    KeyedRequest.objects.create(user=owner, key="1", digest="x", content={"worker": ID})
    KeyedRequest.objects.create(user=owner, key="2", digest="x", content={"worker": "another"})
    run = analysed(campaign, owner)
    finish(exclude_worker(run=run, user=owner, worker=ID, reason="asked for it"))
    Posting.objects.update(state="ended")
    return campaign


def url(campaign: Campaign, worker: Worker) -> str:
    return reverse("monitoring:erase", args=[campaign.public_id, worker.pk])


def tables_with(text: str) -> list[str]:
    """Return the tables of the installation of which some row holds a text, in whatever column."""
    found = []
    with connection.cursor() as cursor:
        for model in apps.get_models():
            columns = ", ".join(f'"{field.column}"' for field in model._meta.concrete_fields)
            cursor.execute(f'SELECT {columns} FROM "{model._meta.db_table}"')
            if any(text in str(cell) for row in cursor.fetchall() for cell in row):
                found.append(model._meta.label)
    return found


def files_with(text: str, media: Path) -> list[Path]:
    """Return the files that hold a text, also inside of packages."""
    found = []
    for path in (each for each in media.rglob("*") if each.is_file()):
        contents = [path.read_bytes()]
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as package:
                contents = [package.read(name) for name in package.namelist()]
        if any(text.encode() in content for content in contents):
            found.append(path)
    return found


def scores(campaign: Campaign) -> list[Any]:
    found = Response.objects.filter(assignment__campaign=campaign)
    return list(found.order_by("pk").values_list("pk", "assignment", "item", "criterion", "score"))


def test_a_worker_can_read_all_that_is_stored_on_them_and_no_more(owner_client: Client, paid: Campaign) -> None:
    worker = Worker.objects.get(key=ID)
    other = Assignment.objects.exclude(worker=worker)[0]
    Assignment.objects.filter(pk=other.pk).update(feedback="of somebody else")
    response = owner_client.get(reverse("monitoring:worker_data", args=[paid.public_id, worker.pk]))
    assert response["Content-Disposition"] == f'attachment; filename="worker-{worker.pk}.json"'
    found = response.json()
    mine = Assignment.objects.filter(worker=worker)
    assert found["worker"]["name"] == ID
    assert [hit["feedback"] for hit in found["hits"]] == [f"I am {ID}"] * mine.count()
    assert {hit["platform_data"]["PROLIFIC_PID"] for hit in found["hits"]} == {ID}
    assert sum(len(hit["answers"]) for hit in found["hits"]) == Response.objects.filter(assignment__in=mine).count()
    assert sum(len(hit["events"]) for hit in found["hits"]) == Event.objects.filter(assignment__in=mine).count()
    assert {each["payload"]["participant_id"] for each in found["submissions"]} == {ID}
    assert f"Dear {ID}" in {each["message"] for each in found["orders"]}
    assert len(found["results"]) == AnalysisRun.objects.count()
    assert "of somebody else" not in response.text
    words = {"degraded", "repeat", "ordinary", "reference", *paid.systems.values_list("name", flat=True)}
    assert not [word for word in words if f'"{word}"' in response.text.lower()]


def test_a_worker_can_read_their_chats_without_what_tells_of_the_chatbot(owner: User, owner_client: Client) -> None:
    campaign = open_live_campaign(owner)
    assignment = take_hit(campaign, "ann")
    hold_chat(assignment)
    chatbot = Event.objects.create(
        assignment=assignment, kind=Event.Kind.UNANSWERED, data={"code": "timeout", "message": "model-x is slow"}
    )
    response = owner_client.get(reverse("monitoring:worker_data", args=[campaign.public_id, assignment.worker_id]))
    (hit,) = response.json()["hits"]
    said = [turn["text"] for turn in hit["chats"][0]["turns"]]
    assert said == list(Turn.objects.filter(conversation__assignment=assignment).values_list("text", flat=True))
    assert chatbot.get_kind_display() in {each["event"] for each in hit["events"]}
    assert "model-x" not in response.text
    assert {name for turn in hit["chats"][0]["turns"] if turn["speaker"] == "chatbot" for name in turn} == {
        *("speaker", "text", "at")
    }


@on_both
def test_no_table_and_no_file_holds_the_id_afterwards_and_all_scores_stay(
    owner: User, owner_client: Client, paid: Campaign, media: Path, django_capture_on_commit_callbacks: Any
) -> None:
    worker, before, n_paid = Worker.objects.get(key=ID), scores(paid), Order.objects.filter(kind="approve").count()
    summary = AnalysisRun.objects.get(parent=None).report["summary"]
    assert len(tables_with(ID)) > 6
    assert files_with(ID, media)
    assert files_with(worker_digits(ID), media)
    page = owner_client.get(url(paid, worker)).text
    for run in AnalysisRun.objects.all():
        assert reverse("analysis:run", args=[run.pk]) in page
    assert "payment records" in page

    wants = {"feedback": "on", "telemetry": "on", "results": "on"}
    with django_capture_on_commit_callbacks(execute=True):
        assert owner_client.post(url(paid, worker), wants).status_code == 302

    assert tables_with(ID) == []
    assert files_with(ID, media) == []
    assert files_with(worker_digits(ID), media) == []
    assert scores(paid) == before
    assert Order.objects.filter(kind="approve", state="done").count() == n_paid
    erased = Worker.objects.get(erased_at__isnull=False)
    assert erased.name == f"erased-{erased.pk}"
    assert Worker.objects.count() == 2
    assert {each.worker for each in Submission.objects.filter(code="").select_related("worker")} >= {erased}
    assert {row[0] for row in in_rows(rating_blocks(paid, names=real_name))} >= {erased.name}
    exported = [*in_rows(rating_blocks(paid, names=real_name))]
    exported += iter_assignments(paid, names=real_name, with_codes=True)
    assert ID not in str([*exported, *in_rows(event_blocks(paid, names=real_name, with_ids=True))])
    assert KeyedRequest.objects.get().key == "2"
    assert ID not in str(Deletion.objects.values_list())
    assert owner_client.get(url(paid, worker)).status_code == 404
    assert "personal data erased" in owner_client.get(reverse("monitoring:assignments", args=[paid.public_id])).text

    job = Job.objects.get(kind="analysis.campaign")
    get_handler(job.kind)(JobContext(), **job.args)
    after = finish(AnalysisRun.objects.select_related("ratings_file").get()).report["summary"]
    assert after["workers"] == summary["workers"]
    assert [row["system"] for row in after["systems"]] == [row["system"] for row in summary["systems"]]
    assert files_with(erased.name, media)


def test_results_are_kept_where_somebody_wants_that_and_only_they_hold_the_id(
    owner: User, paid: Campaign, media: Path
) -> None:
    erase_worker(campaign=paid, worker=Worker.objects.get(key=ID), wants={"feedback"}, user=owner)
    assert sorted(tables_with(ID)) == ["analysis.AnalysisRun"]
    assert [path.parent.name for path in files_with(ID, media)] == ["ratings"]
    assert RatingsFile.objects.exists()
    assert Event.objects.filter(data={"shown_ms": 4000}).exists()
    assert request_analysis(campaign=paid, user=owner)  # which the same ratings under the same names would refuse


@on_both
def test_a_later_poll_does_not_bring_the_id_back(owner: User, paid: Campaign) -> None:
    erase_worker(campaign=paid, worker=Worker.objects.get(key=ID), wants={"results", "feedback"}, user=owner)
    known = Submission.objects.filter(worker__erased_at__isnull=False).select_related("posting__campaign").first()
    assert known
    polled = PolledSubmission(
        platform_id=known.platform_id,
        worker_key=ID,
        state=SubmissionState.REJECTED,
        code=ID,
        accepted_at=known.accepted_at,
        submitted_at=known.submitted_at,
        decided_by_itself_at=None,
        payload={"participant_id": ID},
    )

    class Account:
        def poll(self, posting_id: str) -> PolledPosting:
            return PolledPosting(state=PostingState.ENDED, submissions=(polled,), n_pending=None)

    poll_posting(known.posting, Account())  # type: ignore[arg-type]
    known.refresh_from_db()
    assert known.state == "rejected"
    assert tables_with(ID) == []


def test_what_stands_in_the_way_and_what_is_refused_afterwards(
    owner: User, owner_client: Client, paid: Campaign
) -> None:
    worker = Worker.objects.get(key=ID)
    mine = Submission.objects.filter(worker=worker)
    mine.update(state="submitted")
    refused = owner_client.post(url(paid, worker), {})
    assert refused.status_code == 409
    assert "Approve or reject it first" in refused.text
    mine.update(state="approved")
    Order.objects.update(state="queued")
    assert "An order about the worker is being sent" in owner_client.get(url(paid, worker)).text
    Order.objects.update(state="done")
    mine_here = Assignment.objects.filter(pk=Assignment.objects.filter(worker=worker).first().pk)
    ended_at = mine_here.get().ended_at
    mine_here.update(state="active", ended_at=None)
    assert "The worker is at work" in owner_client.get(url(paid, worker)).text
    mine_here.update(state="finished", ended_at=ended_at)
    erased = erase_worker(campaign=paid, worker=worker, wants=(), user=owner)
    assert erased
    with pytest.raises(DomainError) as again:
        erase_worker(campaign=paid, worker=erased, wants=(), user=owner)
    assert again.value.code == "erased"


def test_no_order_is_given_about_somebody_who_was_erased(owner: User, paid: Campaign) -> None:
    erase_worker(campaign=paid, worker=Worker.objects.get(key=ID), wants=(), user=owner)
    gone = Submission.objects.filter(worker__erased_at__isnull=False)
    with pytest.raises(DomainError) as refusal:
        notify(campaign=paid, submissions=list(gone), subject="Hello", text="Thank you", token=uuid4(), user=owner)
    assert refusal.value.code == "erased"


def test_chats_are_erased_if_that_is_chosen_and_their_ratings_stay(owner: User) -> None:
    campaign = open_live_campaign(owner)
    done = take_hit(campaign, "done", state=Assignment.State.FINISHED)
    for _ in range(done.n_items):
        hold_chat(done, inputs=SERIOUS[:3], score=60)
    n_ratings = Response.objects.count()
    erase_worker(campaign=campaign, worker=done.worker, wants={"chats"}, user=owner)
    assert set(Turn.objects.values_list("text", flat=True)) == {"[erased]"}
    assert Response.objects.count() == n_ratings > 0
    assert tables_with(SERIOUS[0]) == []


def test_somebody_who_was_invited_and_never_came_leaves_nothing(owner: User, owner_client: Client) -> None:
    draft = make_campaign(owner)
    invite_raters(campaign=draft, raters=by_name(["ann@example.org", "ben"]))
    ann = Worker.objects.get(key__endswith="ann@example.org")
    page = reverse("monitoring:rater", args=[draft.public_id, ann.invitations.get().pk])
    assert url(draft, ann) in owner_client.get(page).text
    assert owner_client.post(url(draft, ann), {"results": "on"}).status_code == 302
    assert [each.name for each in Worker.objects.all()] == ["ben"]
    assert tables_with("ann@example.org") == []


@on_both
def test_by_script(owner_client: Client, paid: Campaign) -> None:
    assignment = Assignment.objects.filter(worker__key=ID).first()
    assert assignment
    at = f"/api/v1/campaigns/{paid.public_id}/assignments/{assignment.pk}/erasure/"
    plan = owner_client.get(at).json()
    assert plan["refusals"] == []
    assert len(plan["held"]) == 2
    done = owner_client.post(at, {"feedback": True, "results": True}, content_type="application/json")
    assert (done.status_code, done.json()["feedback"]) == (200, "")
    assert tables_with(ID) == []
    again = owner_client.post(at, {}, content_type="application/json")
    assert (again.status_code, again.json()["code"]) == (409, "erased")
