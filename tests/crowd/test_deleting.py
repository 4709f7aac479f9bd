"""Deleting a campaign with all that every app keeps of it."""

from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from analysis.models import AnalysisRun
from annotation.models import Assignment, Response, Worker
from annotation.raters.lists import by_name
from annotation.services.invitations import invite_raters
from campaigns.models import Campaign, Deletion, Upload
from campaigns.queries import get_campaign_for
from campaigns.services.deletion import execute_deletion
from campaigns.services.webhooks import add_webhook
from crowd.models import Order, Posting, Submission, Wave
from evalsite.accounts.models import User
from evalsite.jobs.handlers import JobContext, get_handler
from evalsite.jobs.models import Job
from tests.analysis.campaigns import analysed
from tests.campaigns.cast import make_campaign
from tests.crowd.rated import decided, rated_campaign, submissions_of
from tests.databases import on_both, on_sqlite

pytestmark = on_sqlite


@pytest.fixture
def media(settings: Any, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path
    return tmp_path


@pytest.fixture
def paid(owner: User, media: Path) -> Campaign:
    """A closed campaign on a platform: paid, analysed, with an upload, an invitation and a webhook."""
    campaign = rated_campaign(owner, n_hits=2, platform="prolific")
    for submission in submissions_of(campaign):
        decided(submission, "approve")
    analysed(campaign, owner)
    upload = Upload(campaign=campaign, name="outputs.csv", size=1, uploaded_by=owner)
    upload.file.save("outputs.csv", SimpleUploadedFile("outputs.csv", b"x"))
    add_webhook(campaign=campaign, url="https://hooks.example.org/", events=["job.failed"])
    Posting.objects.update(state="ended")
    Campaign.objects.filter(pk=campaign.pk).update(status="closed")
    return Campaign.objects.get(pk=campaign.pk)


def url(campaign: Campaign, name: str = "delete") -> str:
    return reverse(f"campaigns:{name}", args=[campaign.public_id])


def run(job: Job) -> JobContext:
    ctx = JobContext()
    get_handler(job.kind)(ctx, **job.args)
    return ctx


def files(media: Path) -> list[Path]:
    return [path for path in media.rglob("*") if path.is_file()]


def rows() -> dict[str, int]:
    """Return how many rows each table of ours has, as far as it has any."""
    models = [model for model in apps.get_models() if not model.__module__.startswith("django.")]
    return {model._meta.label: n for model in models if (n := model._base_manager.count())}


@on_both
def test_everything_of_a_launched_campaign_goes_but_the_line_that_says_so(
    owner: User, owner_client: Client, stranger_client: Client, paid: Campaign, media: Path
) -> None:
    other = make_campaign(owner, "custom", "Other")
    page = owner_client.get(url(paid)).text
    said = ("2 workers", "2 assignments", "2 payment records (1.92 USD with fees)", "1 analysis run", "12 outputs")
    assert [text for text in said if text not in page] == []
    assert reverse("monitoring:export", args=[paid.public_id]) in page

    refused = owner_client.post(url(paid), {"name": "another"})
    assert refused.status_code == 422
    assert Campaign.objects.get(pk=paid.pk).status == "closed"

    assert owner_client.post(url(paid), {"name": paid.name})["Location"] == url(paid, "archive")
    job = Job.objects.get(kind="campaigns.delete")
    ctx = run(job)
    assert ctx.reported.done == ctx.reported.total > 100
    assert list(Campaign.objects.all()) == [other]
    kept = {"accounts.User", "jobs.Job", "campaigns.Deletion", "audit.AuditEntry"}
    left = {"campaigns.Campaign", "campaigns.Membership", "campaigns.Criterion"}
    assert rows().keys() == kept | left
    assert files(media) == []
    assert {each.kind for each in Job.objects.all()} == {"campaigns.delete"}
    done = Deletion.objects.get()
    assert (done.name, done.object_id, done.done_by) == (paid.name, paid.public_id, owner)
    assert done.done_at
    assert [2, "assignment", ""] in done.contents
    assert owner_client.get(url(paid, "archive"))["Location"] == reverse("campaigns:list")
    assert stranger_client.get(url(paid, "archive")).status_code == 404


@on_both
def test_a_deletion_that_was_interrupted_goes_on_and_nothing_is_accepted_meanwhile(
    owner: User, owner_client: Client, paid: Campaign, media: Path
) -> None:
    analysis = AnalysisRun.objects.get()
    owner_client.post(url(paid), {"name": paid.name})
    campaign = Campaign.objects.get()

    class KilledError(Exception):
        pass

    def die(done: int, total: int, stage: str) -> None:
        if Response.objects.count() == 0:
            raise KilledError

    with pytest.raises(KilledError):
        execute_deletion(campaign=campaign, on_progress=die)
    assert Assignment.objects.exists()
    assert not Order.objects.exists()

    assert owner_client.get(url(paid, "campaign"))["Location"] == url(paid, "archive")
    assert "is being deleted" in owner_client.get(url(paid, "archive")).text
    assert owner_client.post(url(paid, "settings"), {"name": "New"}).status_code == 409
    assert owner_client.get(reverse("analysis:run", args=[analysis.pk])).status_code == 404
    assert "Being deleted" in owner_client.get("/campaigns/").text
    assert owner_client.post(url(paid), {"name": paid.name}).status_code == 409
    api = owner_client.get(f"/api/v1/campaigns/{paid.public_id}/")
    assert (api.status_code, api.json()["code"]) == (409, "being_deleted")

    for _ in range(2):
        execute_deletion(campaign=campaign, on_progress=lambda *_: None)
    assert not Campaign.objects.exists()
    assert not Worker.objects.exists()


def test_a_worker_who_rated_elsewhere_too_stays(owner: User, paid: Campaign, media: Path) -> None:
    other = rated_campaign(owner, n_hits=2, platform="prolific")
    here, there = Assignment.objects.filter(campaign=paid).first(), Assignment.objects.filter(campaign=other).first()
    assert here and there
    Submission.objects.filter(assignment=there).update(worker=here.worker)
    Campaign.objects.filter(pk=paid.pk).update(status="deleting")
    execute_deletion(campaign=Campaign.objects.get(pk=paid.pk), on_progress=lambda *_: None)
    assert Worker.objects.filter(pk=here.worker_id).exists()
    assert Submission.objects.filter(campaign=other, worker=here.worker_id).exists()


def test_what_stands_in_the_way_is_named(owner: User, owner_client: Client, paid: Campaign) -> None:
    def said() -> str:
        response = owner_client.post(url(paid), {"name": paid.name})
        assert response.status_code == 409
        assert Campaign.objects.get().status == paid.status
        return response.text

    Order.objects.update(state="sending")
    assert "2 orders to the platform are being sent" in said()
    Order.objects.update(state="done")
    Posting.objects.update(state="open")
    assert "2 postings are still open on the platform" in said()
    Posting.objects.update(state="ended")
    Wave.objects.update(state="publishing")
    assert "A wave is being published" in said()
    Wave.objects.update(state="published")
    assignment = Assignment.objects.first()
    assert assignment
    Assignment.objects.filter(pk=assignment.pk).update(state="active", ended_at=None)
    assert "1 worker is at work" in said()
    Assignment.objects.filter(pk=assignment.pk).update(state="finished", ended_at=assignment.ended_at)
    job = Job.objects.create(kind="analysis.campaign", args={"campaign": paid.pk})
    assert "1 job of the campaign is not finished" in said()
    job.delete()
    paid.status = "running"
    paid.save()
    assert "Close it first" in said()


def test_a_draft_with_invitations_is_deleted_by_a_job_with_the_names(owner: User, owner_client: Client) -> None:
    draft = make_campaign(owner, name="Draft")
    invite_raters(campaign=draft, raters=by_name(["ann@example.org"]))
    owner_client.post(url(draft))
    run(Job.objects.get())
    assert not Campaign.objects.exists()
    assert not Worker.objects.exists()


@on_both
def test_by_script(owner_client: Client, colleague_client: Client, paid: Campaign) -> None:
    at = f"/api/v1/campaigns/{paid.public_id}/"
    archived = owner_client.put(f"{at}archive/", {"is_archived": True}, content_type="application/json")
    assert archived.json()["archived_at"]
    assert [len(owner_client.get(f"/api/v1/campaigns/{q}").json()["results"]) for q in ("", "?archived=1")] == [0, 1]
    assert owner_client.delete(at).status_code == 409
    assert owner_client.get(f"{at}deletion/").json()["refusals"] == []
    wrong = owner_client.post(f"{at}deletion/", {"name": "x"}, content_type="application/json")
    assert (wrong.status_code, wrong.json()["code"]) == (422, "wrong_name")
    begun = owner_client.post(f"{at}deletion/", {"name": paid.name}, content_type="application/json")
    assert (begun.status_code, begun.json()["job"]["status"]) == (202, "queued")
    assert owner_client.get(f"{at}deletion/").json()["job"]["id"] == begun.json()["job"]["id"]


def test_who_was_put_out_cannot_retry(owner: User, owner_client: Client, paid: Campaign) -> None:
    owner_client.post(url(paid), {"name": paid.name})
    job = Job.objects.get(kind="campaigns.delete")
    Job.objects.filter(pk=job.pk).update(status="failed", error_code="x", finished_at=job.created_at)
    campaign = get_campaign_for(owner, paid.public_id)
    campaign.memberships.update(role="viewer")
    owner_client.post(reverse("jobs:retry", args=[job.pk]))
    job.refresh_from_db()
    assert job.status == "failed"
