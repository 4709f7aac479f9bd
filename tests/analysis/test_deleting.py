"""Deleting ratings files, snapshots and single analyses."""

from collections.abc import Callable
from pathlib import Path

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analysis.models import AnalysisRun, RatingsFile
from analysis.web.services.runs import change_run
from campaigns.models import Deletion
from evalsite.accounts.models import User
from evalsite.jobs.models import Job
from evalsite.undo.acts import KEPT_FOR, forget_expired
from tests.analysis.conftest import finish, kept_files
from tests.databases import on_both, on_sqlite
from tests.undo.button import offers, press_undo

pytestmark = on_sqlite


@on_both
def test_one_analysis_goes_and_those_changed_from_it_stay(
    owner: User, owner_client: Client, done: AnalysisRun, media: Path, django_capture_on_commit_callbacks: Callable
) -> None:
    changed = change_run(run=done, user=owner, alpha=0.01)
    url = reverse("analysis:delete_run", args=[done.pk])
    assert AnalysisRun.objects.count() == 2
    with django_capture_on_commit_callbacks(execute=True):
        assert owner_client.post(url)["Location"] == reverse("analysis:ratings_file", args=[done.ratings_file_id])
        forget_expired(timezone.now() + KEPT_FOR)
    assert list(AnalysisRun.objects.values_list("pk", "parent")) == [(changed.pk, None)]
    assert not (media / done.folder).exists()
    assert list(Job.objects.values_list("pk", flat=True)) == [changed.job_id]
    assert Deletion.objects.get().kind == "run"
    assert owner_client.post(url).status_code == 404
    refused = owner_client.post(reverse("analysis:delete_run", args=[changed.pk]), follow=True)
    assert "still being made" in refused.text
    changed.refresh_from_db()
    finish(changed)
    assert owner_client.get(reverse("analysis:run", args=[changed.pk])).status_code == 200


@on_both
def test_a_ratings_file_goes_with_its_analyses_and_all_files(
    owner_client: Client, stranger_client: Client, done: AnalysisRun, django_capture_on_commit_callbacks: Callable
) -> None:
    url = reverse("analysis:delete_file", args=[done.ratings_file_id])
    assert stranger_client.post(url).status_code == 404
    assert kept_files()
    with django_capture_on_commit_callbacks(execute=True):
        assert owner_client.post(url)["Location"] == reverse("analysis:ratings")
        forget_expired(timezone.now() + KEPT_FOR)
    assert not RatingsFile.objects.exists()
    assert not AnalysisRun.objects.exists()
    assert kept_files() == []
    assert Deletion.objects.get().contents[1] == [1, "analysis run", ""]


@on_both
def test_results_come_back_as_they_were(
    owner: User, owner_client: Client, done: AnalysisRun, media: Path, django_capture_on_commit_callbacks: Callable
) -> None:
    changed = finish(change_run(run=done, user=owner, alpha=0.01))
    before, files = list(AnalysisRun.objects.order_by("pk").values()), kept_files()
    deletions = {
        reverse("analysis:delete_run", args=[done.pk]): reverse("analysis:ratings_file", args=[done.ratings_file_id]),
        reverse("analysis:delete_file", args=[done.ratings_file_id]): reverse("analysis:ratings"),
    }
    for delete, page in deletions.items():
        with django_capture_on_commit_callbacks(execute=True):
            owner_client.post(delete)
        assert AnalysisRun.objects.count() < 2
        press_undo(owner_client, page)
        assert list(AnalysisRun.objects.order_by("pk").values()) == before
        assert kept_files() == files
        assert not Deletion.objects.exists()
    assert owner_client.get(reverse("analysis:run", args=[changed.pk])).status_code == 200


def test_an_analysis_whose_ratings_are_gone_stays_deleted(owner_client: Client, done: AnalysisRun) -> None:
    page = reverse("analysis:ratings_file", args=[done.ratings_file_id])
    owner_client.post(reverse("analysis:delete_run", args=[done.pk]))
    [button] = offers(owner_client, page)
    owner_client.post(reverse("analysis:delete_file", args=[done.ratings_file_id]))
    assert "was changed since" in owner_client.post(button, follow=True).text
    assert not AnalysisRun.objects.exists()
