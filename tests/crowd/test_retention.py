"""Personal data are erased when the time for which they are kept has ended."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analysis.models import AnalysisRun
from annotation.models import Assignment, Invitation, Worker
from annotation.services.retention import RETENTION, enqueue_due_erasures, erase_all_workers
from annotation.tasks import erase_workers
from campaigns.models import Campaign, Deletion
from crowd.models import Posting, Submission
from evalsite.accounts.models import User
from evalsite.jobs.handlers import JobContext, get_handler
from evalsite.jobs.models import Job
from evalsite.lib.errors import DomainError
from tests.analysis.campaigns import analysed
from tests.analysis.conftest import finish
from tests.crowd.rated import decided, rated_campaign, submissions_of
from tests.crowd.test_erasing import files_with, scores, tables_with
from tests.databases import on_both, on_sqlite

pytestmark = on_sqlite
NAMES = ("7f1c-first-worker", "7f1c-second-worker")


@pytest.fixture
def closed(owner: User, settings: Any, tmp_path: Path) -> Campaign:
    """A campaign of two paid workers that closed thirty days ago, and keeps personal data for thirty days."""
    settings.MEDIA_ROOT = tmp_path
    campaign = rated_campaign(owner, n_hits=4, n_careless=0, platform="prolific")
    for worker, name in zip(Worker.objects.order_by("pk"), NAMES, strict=True):
        Worker.objects.filter(pk=worker.pk).update(key=name)
        Assignment.objects.filter(worker=worker).update(platform_data={"PROLIFIC_PID": name}, feedback="Nice.")
    for submission in submissions_of(campaign):
        decided(submission, "approve")
    Posting.objects.update(state="ended")
    analysed(campaign, owner)
    at = timezone.now() - timedelta(days=30)
    Campaign.objects.filter(pk=campaign.pk).update(status="closed", closed_at=at, retention_days=30)
    campaign.refresh_from_db()
    return campaign


def wanted() -> list[Job]:
    return list(Job.objects.filter(kind=RETENTION))


@on_both
def test_names_go_on_the_day_and_answers_stay(
    closed: Campaign, tmp_path: Path, django_capture_on_commit_callbacks: Any
) -> None:
    before, summary = scores(closed), AnalysisRun.objects.get().report["summary"]
    assert closed.erases_at
    enqueue_due_erasures(closed.erases_at - timedelta(minutes=1))
    assert wanted() == []
    enqueue_due_erasures(closed.erases_at)
    enqueue_due_erasures(closed.erases_at)
    (job,) = wanted()
    assert job.args == {"campaign": closed.pk}
    with django_capture_on_commit_callbacks(execute=True):
        erase_workers(JobContext(), **job.args)
    assert [tables_with(name) + files_with(name, tmp_path) for name in NAMES] == [[], []]
    assert scores(closed) == before
    assert set(Assignment.objects.values_list("feedback", flat=True)) == {"Nice."}
    assert {each.name.split("-")[0] for each in Worker.objects.all()} == {"erased"}
    assert Deletion.objects.filter(kind="worker", done_by=None).count() == len(NAMES)
    closed.refresh_from_db()
    assert closed.erased_at
    enqueue_due_erasures(closed.erases_at + timedelta(days=9))
    assert wanted() == [job]
    get_handler("analysis.campaign")(JobContext(), **Job.objects.get(kind="analysis.campaign").args)
    after = finish(AnalysisRun.objects.select_related("ratings_file").get()).report["summary"]
    assert after["workers"] == summary["workers"]
    assert [row["system"] for row in after["systems"]] == [row["system"] for row in summary["systems"]]


def test_whoever_is_still_to_be_paid_is_erased_later(closed: Campaign) -> None:
    Submission.objects.filter(worker__key=NAMES[0]).update(state="submitted")
    with pytest.raises(DomainError, match=r"of 1 worker could not be erased\. Work of the worker is not decided"):
        erase_all_workers(campaign=closed)
    assert {each.key for each in Worker.objects.filter(erased_at=None)} == {NAMES[0]}
    closed.refresh_from_db()
    assert closed.erased_at is None
    enqueue_due_erasures()
    enqueue_due_erasures(timezone.now() + timedelta(hours=23))
    assert len(wanted()) == 1
    enqueue_due_erasures(timezone.now() + timedelta(hours=25))
    assert len(wanted()) == 2


def test_raters_who_never_came_go_too(closed: Campaign) -> None:
    zoe = Worker.objects.create(platform="link", key=f"{closed.public_id}:Zoe of the lab")
    Invitation.objects.create(campaign=closed, worker=zoe, email="zoe@lab.example")
    erase_all_workers(campaign=closed)
    assert not Invitation.objects.exists()
    assert tables_with("Zoe of the lab") + tables_with("zoe@lab.example") == []


def test_after_the_launch_data_can_only_be_kept_shorter(closed: Campaign, owner_client: Client) -> None:
    address = reverse("campaigns:settings", args=[closed.public_id])
    page = owner_client.get(address).text
    assert f"They are erased on {closed.erases_at:%Y-%m-%d}" in page
    for days, status in (("60", 422), ("", 422), ("20", 302)):
        assert owner_client.post(address, {"retention_days": days}).status_code == status
    closed.refresh_from_db()
    assert closed.retention_days == 20
