"""Deleting ratings files, snapshots and single analyses."""

from collections.abc import Callable
from pathlib import Path

from django.test import Client
from django.urls import reverse

from analysis.models import AnalysisRun, RatingsFile
from analysis.web.services.runs import change_run
from campaigns.models import Deletion
from evalsite.accounts.models import User
from evalsite.jobs.models import Job
from tests.analysis.conftest import finish, kept_files
from tests.databases import on_both, on_sqlite

pytestmark = on_sqlite


@on_both
def test_one_analysis_goes_and_those_changed_from_it_stay(
    owner: User, owner_client: Client, done: AnalysisRun, media: Path, django_capture_on_commit_callbacks: Callable
) -> None:
    changed = change_run(run=done, user=owner, alpha=0.01)
    url = reverse("analysis:delete_run", args=[done.pk])
    assert "1 run changed from this one" in owner_client.get(url).text
    assert AnalysisRun.objects.count() == 2
    with django_capture_on_commit_callbacks(execute=True):
        assert owner_client.post(url)["Location"] == reverse("analysis:ratings_file", args=[done.ratings_file_id])
    assert list(AnalysisRun.objects.values_list("pk", "parent")) == [(changed.pk, None)]
    assert not (media / done.folder).exists()
    assert list(Job.objects.values_list("pk", flat=True)) == [changed.job_id]
    assert Deletion.objects.get().kind == "run"
    assert owner_client.post(url).status_code == 404
    refused = owner_client.post(reverse("analysis:delete_run", args=[changed.pk]))
    assert refused.status_code == 409
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
    assert "1 analysis run" in owner_client.get(url).text
    assert kept_files()
    with django_capture_on_commit_callbacks(execute=True):
        assert owner_client.post(url)["Location"] == reverse("analysis:ratings")
    assert not RatingsFile.objects.exists()
    assert not AnalysisRun.objects.exists()
    assert kept_files() == []
    assert Deletion.objects.get().contents[1] == [1, "analysis run", ""]
