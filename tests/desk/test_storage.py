"""What administrators see of the disk."""

from collections import namedtuple
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import Settings

from analysis.models import MetricScores
from analysis.web.queries.workers_now import kept_file
from analysis.web.services.ratings_files import upload_ratings
from campaigns.services.imports import upload_outputs
from desk import storage
from evalsite.accounts.models import User
from evalsite.lib.media import get_media
from tests.campaigns.cast import make_campaign
from tests.campaigns.data.files import LONG

Usage = namedtuple("Usage", ["total", "used", "free"])


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    settings.DATA_DIR, settings.MEDIA_ROOT, settings.STATIC_ROOT = tmp_path, tmp_path / "media", tmp_path / "static"
    settings.STATIC_ROOT.mkdir()
    return tmp_path


def shown(client: Client) -> storage.Storage:
    page = client.get(reverse("desk:storage"))
    assert page.status_code == 200
    return page.context["storage"]


@pytest.mark.databases("sqlite", "postgresql")
def test_files_are_counted_by_kind_and_campaign(admin_client: Client, owner: User, folder: Path) -> None:
    campaign = make_campaign(owner)
    upload_outputs(campaign=campaign, user=owner, upload=SimpleUploadedFile("outputs.csv", LONG.encode()))
    ratings = upload_ratings(owner=owner, upload=SimpleUploadedFile("r.csv", b"x" * 5000), title="Mine")
    (folder / "media" / "runs" / "not-a-run").mkdir(parents=True)
    (folder / "media" / "runs" / "not-a-run" / "table.csv").write_bytes(b"y" * 30)
    (folder / "backup.tar").write_bytes(b"z" * 700)
    found = shown(admin_client)
    kinds = {kind.title.partition(":")[0]: (kind.n_files, kind.n_bytes) for kind in found.kinds}
    assert kinds["Uploaded outputs"] == (1, len(LONG.encode()))
    assert kinds["Ratings files"] == (1, 5000)
    assert kinds["Results of analyses"] == (1, 30)
    assert kinds["Other files of the data folder"] == (1, 700)
    [largest] = found.campaigns
    assert (largest.name, largest.n_bytes, largest.owners) == (campaign.name, len(LONG.encode()), owner.email)
    assert (found.files[0].path, found.files[0].about) == (ratings.file.name, f"Ratings “Mine”, of {owner.email}")


def test_files_that_are_in_use_are_not_called_unused(admin_client: Client, owner: User) -> None:
    campaign = make_campaign(owner)
    get_media().write(kept_file(campaign.public_id), b"{" * 40)
    scores = MetricScores(campaign=campaign, created_by=owner, name="bleu.csv")
    scores.file.save("bleu.csv", ContentFile(b"1" * 30))
    get_media().write("workers/00000000-0000-0000-0000-000000000000.json", b"{" * 20)
    found = shown(admin_client)
    said = [f"List of workers of {campaign.name}", f"Scores of metrics, bleu.csv, of {owner.email}", ""]
    assert [each.about for each in found.files] == said
    assert [(each.name, each.n_bytes) for each in found.campaigns] == [(campaign.name, 70)]


def test_more_files_take_no_more_queries(admin_client: Client, owner: User) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            shown(admin_client)
        return len(captured)

    def add() -> None:
        upload = SimpleUploadedFile("outputs.csv", LONG.encode())
        upload_outputs(campaign=make_campaign(owner), user=owner, upload=upload)

    add()
    few = queries()
    add()
    add()
    assert queries() == few


def test_a_disk_that_is_almost_full_is_said(admin_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "almost full" not in admin_client.get(reverse("desk:storage")).text or storage.get_disk().is_low
    monkeypatch.setattr(storage.shutil, "disk_usage", lambda path: Usage(10 * 2**30, 0, 2**29))
    assert "almost full" in admin_client.get(reverse("desk:storage")).text
    assert not next(
        check for check in admin_client.get(reverse("desk:system")).context["checks"] if check.key == "disk"
    ).is_ok
