"""Uploads and results in a bucket instead of the disk: from the upload to the deletion, and while it is away."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from analysis.models import AnalysisRun, RatingsFile
from evalsite.jobs.models import Job
from evalsite.jobs.running import run_job
from evalsite.lib.bucket import _copies_folder
from evalsite.lib.media import MediaAwayError, get_media
from evalsite.undo.acts import KEPT_FOR, forget_expired
from tests.analysis.conftest import kept_files, ratings_csv
from tests.analysis.test_downloads import fetch
from tests.buckets import Bucket, sizes
from tests.databases import on_sqlite
from tests.services import free_port

pytestmark = [on_sqlite, pytest.mark.django_db(transaction=True)]  # jobs close connections


@pytest.fixture(autouse=True)
def data_folder(settings: Settings, tmp_path: Path) -> None:
    """Have the copies of opened files in a folder of the test."""
    settings.DATA_DIR = tmp_path


@pytest.fixture
def nowhere() -> str:
    """An address at which nobody answers."""
    return f"http://127.0.0.1:{free_port()}"


def send(client: Client, content: bytes) -> HttpResponse:
    return client.post(reverse("analysis:upload"), {"file": SimpleUploadedFile("my study.csv", content)})


def start(client: Client) -> AnalysisRun:
    """Upload ratings and start their analysis on the pages, as a researcher does."""
    assert send(client, ratings_csv()).status_code == 302
    file = RatingsFile.objects.get()
    page = client.get(reverse("analysis:protocol", args=[file.pk]), {"protocol": "mrc-adequacy"})
    form, criteria = page.context["form"], page.context["criteria"]
    data = {each.html_name: each.value() for each in form if each.value() is not None}
    data |= {each.html_name: each.value() for each in criteria.management_form}
    for row in criteria:
        data |= {each.html_name: each.value() for each in row if each.value() not in (None, False)}
    sent = client.post(f"{reverse('analysis:protocol', args=[file.pk])}?protocol=mrc-adequacy", data)
    assert sent.status_code == 302, sent.context["form"].errors
    return AnalysisRun.objects.get()


@pytest.fixture
def done(bucket: Bucket, owner_client: Client) -> AnalysisRun:
    run = start(owner_client)
    run_job(run.job_id)
    return AnalysisRun.objects.get()


def test_results_are_downloaded_and_a_deletion_leaves_nothing(
    bucket: Bucket, done: AnalysisRun, owner_client: Client, stranger_client: Client
) -> None:
    kept = bucket.files()
    assert kept[f"site/{done.ratings_file.file.name}"] == ratings_csv()
    assert f"site/{done.folder}/report.json" in kept
    assert kept_files() == []  # below MEDIA_ROOT
    assert all(grant["Permission"] == "FULL_CONTROL" for name in kept for grant in bucket.grants(name))  # its owner's

    page = owner_client.get(reverse("analysis:downloads", args=[done.pk]))
    shown = {file.path: file.size for group in page.context["files"].whole for file in group.files}
    assert shown["package.zip"] == len(kept[f"site/{done.folder}/package.zip"])
    made = {"figures/workers.svg", "tables.xlsx"}
    for name in ("report.json", "tables/systems.csv", "package.zip", *made):
        url = reverse("analysis:run_file", args=[done.pk, name])
        assert stranger_client.get(url).status_code == 404
        answer = owner_client.get(url)
        assert answer.getvalue() == bucket.files()[f"site/{done.folder}/{name}"]
        assert name in made or name.rpartition(".")[2] in answer["Content-Disposition"]
    package = bucket.files()[f"site/{done.folder}/package.zip"]
    assert "README.txt" in {Path(each).name for each in zipfile.ZipFile(io.BytesIO(package)).namelist()}
    for name in (f"../../{done.ratings_file.file.name}", "..", "figures/../../x", "a\\b", "tables/none.csv"):
        assert get_media().find(done.folder, name) is None
        assert owner_client.get(reverse("analysis:run_file", args=[done.pk, name])).status_code == 404

    owner_client.post(reverse("analysis:delete_file", args=[done.ratings_file_id]))
    forget_expired(timezone.now() + KEPT_FOR)
    assert not RatingsFile.objects.exists()
    assert bucket.files() == {}
    assert list(_copies_folder().iterdir()) == []


def test_a_copy_is_of_the_file_as_it_is_now(bucket: Bucket) -> None:
    media = get_media()
    media.write("workers/one.json", b"then")
    assert Path(media.path("workers/one.json")).read_bytes() == b"then"
    media.write("workers/one.json", b"now!")
    assert Path(media.path("workers/one.json")).read_bytes() == media.read("workers/one.json") == b"now!"
    media.delete("workers/one.json")
    with pytest.raises(FileNotFoundError):
        media.path("workers/one.json")
    with pytest.raises(FileNotFoundError):
        media.read("workers/one.json")


def test_files_of_one_name_are_two_files(bucket: Bucket, upload: Callable[..., RatingsFile]) -> None:
    storage = upload(ratings_csv()).file.storage
    names = {storage.save("dialogues/mine.jsonl", SimpleUploadedFile("mine.jsonl", b"[]")) for _ in range(2)}
    assert len(names) == 2
    assert {name.rpartition("/")[2] for name in names} == {"mine.jsonl"}
    assert len(storage.get_available_name(f"dialogues/{'a' * 200}.jsonl", max_length=100)) == 100


def test_while_the_bucket_is_away_pages_say_so_and_nothing_is_half_stored_or_left(
    bucket: Bucket, done: AnalysisRun, owner_client: Client, nowhere: str
) -> None:
    before = sizes()
    owner_client.raise_request_exception = False
    url = reverse("analysis:run_file", args=[done.pk, "report.json"])
    with bucket.used(nowhere):
        for answer in (send(owner_client, ratings_csv()), owner_client.get(url)):
            assert answer.status_code == 503
            assert "do not answer" in answer.text
        listed = owner_client.get(f"/api/v1/runs/{done.pk}/files/")
        assert (listed.status_code, listed.json()["code"]) == (503, "files_unavailable")
        assert owner_client.get(reverse("analysis:run", args=[done.pk])).status_code == 200  # needs no file
    assert RatingsFile.objects.count() == 1
    assert sizes() == before
    assert fetch(owner_client, url)

    with bucket.used(nowhere):
        gone = owner_client.post(reverse("analysis:delete_file", args=[done.ratings_file_id]))
        forget_expired(timezone.now() + KEPT_FOR)
    assert gone.status_code == 302
    assert not RatingsFile.objects.exists()
    assert sizes() == before
    for job in Job.objects.filter(kind="media.delete"):
        run_job(job.pk)
    assert bucket.files() == {}
    assert {job.status for job in Job.objects.all()} == {Job.Status.SUCCEEDED}


def test_an_analysis_waits_for_the_bucket(bucket: Bucket, owner_client: Client, nowhere: str) -> None:
    run = start(owner_client)
    with bucket.used(nowhere):
        run_job(run.job_id)
    run.refresh_from_db()
    assert (run.report, run.job.status) == (None, Job.Status.QUEUED)
    assert set(sizes()) == {run.ratings_file.file.name}


def test_results_that_are_uploaded_in_part_go_again(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = tmp_path / "draft"
    (draft / "tables").mkdir(parents=True)
    (draft / "report.json").write_text("{}")
    media = get_media()
    monkeypatch.setattr(type(media), "_put", fail_after(type(media)._put, 1))
    (draft / "tables" / "systems.csv").write_text("system")
    with pytest.raises(MediaAwayError):
        media.ready(draft, "runs/1")
    assert bucket.files() == {}
    monkeypatch.undo()


def fail_after(put: Callable[..., None], n: int) -> Callable[..., None]:
    """Return an upload that finds nobody after the first few."""
    done: list[str] = []

    def put_some(self: object, path: Path, name: str) -> None:
        if len(done) == n:
            raise MediaAwayError("the bucket went away")
        done.append(name)
        put(self, path, name)

    return put_some


def test_the_data_folder_holds_copies_of_a_day(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    media = get_media()
    for name in ("uploads/one", "uploads/two"):
        media.write(name, b"x")
    old = Path(media.path("uploads/one"))
    monkeypatch.setattr("evalsite.lib.bucket._KEPT_S", -1)
    new = Path(media.path("uploads/two"))
    assert not old.exists()
    assert new.exists()
    assert Path(django_settings.DATA_DIR) in new.parents
