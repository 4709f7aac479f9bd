"""What once broke the analysis pages, or could."""

from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from analysis.methods.settings import custom_settings, from_protocol
from analysis.models import RatingsFile
from analysis.web.services.ratings_files import upload_ratings
from analysis.web.services.runs import execute_run
from evalsite.jobs.handlers import LeaseLostError
from evalsite.lib.tables import TableError
from tests.analysis.conftest import kept_files, ratings_csv


def test_a_worker_that_lost_its_lease_leaves_the_finished_run_s_files_alone(done, settings) -> None:
    @contextmanager
    def refused():
        raise LeaseLostError
        yield

    before = sorted(kept_files())
    stale = type(done)(pk=done.pk, ratings_file=done.ratings_file, settings=done.settings, mapping=done.mapping)
    with pytest.raises(LeaseLostError):
        execute_run(run=stale, on_stage=lambda stage: None, saving=refused)
    assert sorted(kept_files()) == before


def test_a_criterion_may_be_called_overall(upload, start, owner_client: Client) -> None:
    criteria = ("overall", "fluency")
    run = start(upload(ratings_csv(criteria=criteria)), custom_settings(criteria))
    names = [comparison["name"] for comparison in run.report["comparisons"]]
    assert names == ["all criteria", "overall", "fluency"]
    for name in names:
        assert owner_client.get(reverse("analysis:pairs", args=[run.pk]), {"criterion": name}).status_code == 200


def test_a_criterion_may_have_a_long_name_in_any_script(upload, start) -> None:
    criteria = ("流" * 95, "fluency")
    run = start(upload(ratings_csv(criteria=criteria)), custom_settings(criteria))
    assert run.report is not None
    assert all(len(path.name.encode()) < 200 for path in kept_files())


def test_a_long_file_name_becomes_a_title_that_fits(owner, upload) -> None:
    assert len(upload(ratings_csv(), title="", name="x" * 240 + ".csv").title) == 200


def test_an_upload_that_cannot_be_stored_leaves_no_file(owner, monkeypatch) -> None:
    def refuse(self, *args, **kwargs):
        raise RuntimeError("the database is gone")

    monkeypatch.setattr(RatingsFile, "save", refuse)
    with pytest.raises(RuntimeError):
        upload_ratings(owner=owner, upload=SimpleUploadedFile("r.csv", ratings_csv()))
    assert kept_files() == []


def test_pages_of_an_upload_that_is_gone_say_so(trees, owner_client: Client) -> None:
    Path(trees.file.path).unlink()
    page = owner_client.get(reverse("analysis:columns", args=[trees.pk]))
    assert page.status_code == 200
    assert "cannot be opened" in page.text
    assert owner_client.get(reverse("analysis:protocol", args=[trees.pk])).status_code == 200


def test_a_fault_far_down_the_file_is_named_by_the_run_not_by_an_error_page(upload, start, owner_client) -> None:
    lines = ratings_csv(n_sources=30).decode().splitlines()
    lines[100] = '"' + lines[100]
    file = upload("\n".join(lines).encode())
    assert owner_client.get(reverse("analysis:protocol", args=[file.pk])).status_code == 200
    with pytest.raises(TableError):
        start(file, from_protocol("mrc-adequacy"))
    assert file.runs.get().problems["rows"][0][0] == 101


@pytest.mark.parametrize("header", ["worker,system,score,\0", "worker,system,score,a\0b"])
def test_a_header_with_nul_is_refused_before_it_reaches_a_database(owner_client: Client, header: str) -> None:
    file = SimpleUploadedFile("r.csv", f"{header}\nw,s,5,x\n".encode())
    page = owner_client.post(reverse("analysis:upload"), {"file": file})
    assert page.status_code == 422
    assert not RatingsFile.objects.exists()


def test_a_note_does_not_name_a_worker_who_is_not_in_the_ratings(trees, start) -> None:
    run = start(trees, replace(from_protocol("mrc-adequacy"), excluded={"jane@example.org": "asked for it"}))
    assert "jane@example.org" not in " ".join(run.report["notes"])
    package = [path.read_bytes() for path in kept_files() if path.name == "report.json"]
    assert package and all(b"jane@example.org" not in content for content in package)
