"""What is wrong with a file is named, and nothing is half imported."""

from pathlib import Path

import pytest
from django.test import Client

from campaigns.models import Campaign, Upload
from campaigns.queries import Role
from evalsite.jobs.models import Job
from tests.campaigns.cast import add_member, add_outputs
from tests.campaigns.data.files import (
    LONG,
    WIDE,
    bring_in,
    finish,
    post_import,
    problems_of,
    send,
    texts_of,
    upload,
    url,
)
from tests.databases import on_both, on_sqlite

pytestmark = on_sqlite

# --- What is wrong is named, and nothing is half imported


@pytest.mark.parametrize(
    ("change", "problems"),
    [
        (("Is grass green?", ""), [(5, "output")]),
        (("p2,Grass is green.,green,alder", ",Grass is green.,green,alder"), [(5, "source_id")]),
        (("green,alder", "green,"), [(5, "system")]),
        (("green,alder", "green,human"), [(5, "system")]),
        (("p2,Grass is green.,green,alder", "p2,Grass is grey.,green,alder"), [(5, "passage")]),
        (("Grass is green.", ""), [(4, "passage")]),
        (("green,alder", f"green,{'a' * 201}"), [(5, "system")]),
    ],
    ids=["empty output", "no id", "no system", "output twice", "other passage", "no passage", "long name"],
)
def test_bad_rows_are_named_and_nothing_is_imported(owner_client, qg, change, problems) -> None:
    add_outputs(qg, n_sources=1, systems=["old"])
    before = texts_of(qg)

    done = bring_in(owner_client, qg, LONG.replace(*change))

    assert done.job.status == Job.Status.FAILED
    assert problems_of(done) == problems
    assert texts_of(qg) == before
    page = owner_client.get(url("columns", qg, done.pk))
    assert 'role="alert"' in page.text
    assert page.context["n_problems"] == len(problems)


@pytest.mark.parametrize(
    ("change", "problems"),
    [
        (("Is grass green?", ""), [(3, "alder")]),
        (("p2,", "p1,"), [(3, "source_id"), (3, "passage"), (3, "answer")]),
    ],
    ids=["empty output", "source twice"],
)
def test_bad_rows_of_a_wide_file_are_named(owner_client, qg, change, problems) -> None:
    done = bring_in(owner_client, qg, WIDE.replace(*change))
    assert sorted(problems_of(done)) == sorted(problems)


def test_after_a_bad_file_the_columns_may_be_corrected(owner_client: Client, qg: Campaign) -> None:
    done = bring_in(owner_client, qg, LONG, answer="source", source_id="field:answer")
    assert done.problems is None  # answers tell these sources apart as well
    bad = bring_in(owner_client, qg, LONG.replace("green,alder", "green,"))
    post_import(owner_client, bad, system="", output="", source_id="source", answer="system-output")
    bad = finish(bad)
    assert bad.problems is not None and bad.problems["rows"][0][1] == "source_id"


@pytest.mark.parametrize(
    "changes",
    [
        {"output": ""},
        {"system": ""},
        {"system": "", "output": ""},
        {"passage": ""},
        {"passage": "source"},
        {"answer": "system-output"},
        {"answer": "field:nothing"},
    ],
    ids=["no output", "no system", "no outputs", "no passage", "two ids", "both shapes", "no such field"],
)
def test_columns_that_cannot_be_are_refused(owner_client: Client, qg: Campaign, changes: dict[str, str]) -> None:
    found = upload(owner_client, qg, LONG)

    response = post_import(owner_client, found, **changes)

    assert response.status_code == 422
    assert response.context["form"].errors
    found.refresh_from_db()
    assert found.job is None


@on_both
@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"", "empty.csv"),
        (bytes(range(256)) * 20, "noise.csv"),
        (b"PK\x03\x04not a workbook", "broken.xlsx"),
        (b'{"a": ]\n', "broken.jsonl"),
        (b"[1, 2]", "array.json"),
        (b'[{"items": []}]', "batch.json"),
        (b'[{"items": [', "cut.json"),
        (",".join(f"c{n}" for n in range(301)).encode() + b"\n1\n", "broad.csv"),
    ],
    ids=["empty", "noise", "excel", "json lines", "json", "no items", "cut short", "too many columns"],
)
def test_a_refused_upload_leaves_nothing_behind(owner_client, qg, content: bytes, name: str, media: Path) -> None:
    response = send(owner_client, qg, content, name)

    assert response.status_code == 422
    assert 'role="alert"' in response.text
    assert not Upload.objects.exists()
    assert not [path for path in media.rglob("*") if path.is_file()]


def test_an_upload_over_the_limit_is_refused(owner_client: Client, qg: Campaign, settings) -> None:
    settings.MAX_UPLOAD_MB = 0.0001
    response = send(owner_client, qg, LONG)
    assert response.status_code == 422
    assert response.context["form"].has_error("file", "too_large")
    assert not Upload.objects.exists()


def test_a_file_that_is_lost_is_reported(owner_client: Client, qg: Campaign) -> None:
    found = upload(owner_client, qg, LONG)
    Path(found.file.path).unlink()
    response = owner_client.get(url("columns", qg, found.pk))
    assert response.status_code == 200
    assert response.context["is_lost"]


def test_no_more_systems_than_an_analysis_compares(owner_client: Client, qg: Campaign) -> None:
    header = "source_id,passage,answer,system,output\n"

    def file(first: int, last: int) -> str:
        return header + "".join(f"1,The p is q,q,system-{n},text {n}\n" for n in range(first, last))

    done = bring_in(owner_client, qg, file(0, 501))
    assert done.problems and not qg.systems.exists()
    bring_in(owner_client, qg, file(0, 500))
    done = bring_in(owner_client, qg, file(500, 502), "add")
    assert (done.job.error_code, qg.systems.count()) == ("too_many_systems", 500)


def test_texts_over_the_limit_of_the_server_are_named(owner_client: Client, qg: Campaign, settings) -> None:
    settings.LONGEST_TEXT = 20
    done = bring_in(owner_client, qg, LONG)
    assert problems_of(done) == [("2, 3, 4", "output")]
    assert (
        "the output has 23 characters, and at most 20 are shown" in owner_client.get(url("columns", qg, done.pk)).text
    )


# --- A file of Excel on Windows

FRENCH = LONG.replace("Which colour has the sky?", "De quelle couleur est le ciel à présent ?")


@on_both
def test_a_file_of_windows_is_asked_about_once_and_imported_so(owner_client: Client, qg: Campaign) -> None:
    found = upload(owner_client, qg, FRENCH.encode("windows-1252"))
    columns = url("columns", qg, found.pk)
    assert "couleur est le ciel à présent ?" in owner_client.get(columns).text
    assert post_import(owner_client, found).status_code == 422
    assert not Job.objects.exists()

    assert owner_client.post(columns, {"encoding": "windows-1252"})["Location"] == columns

    found.refresh_from_db()
    assert post_import(owner_client, found).status_code == 302
    assert finish(found).imported_at
    assert texts_of(qg)["p1", "alder"] == "De quelle couleur est le ciel à présent ?"
    assert Path(found.file.path).read_bytes() == FRENCH.encode("windows-1252")


def test_a_viewer_cannot_say_how_a_file_is_read(owner_client, colleague, colleague_client, qg: Campaign) -> None:
    add_member(qg, colleague, Role.VIEWER)
    found = upload(owner_client, qg, FRENCH.encode("windows-1252"))
    columns = url("columns", qg, found.pk)
    assert 'name="encoding"' not in colleague_client.get(columns).text
    assert colleague_client.post(columns, {"encoding": "windows-1252"}).status_code == 403


def test_a_file_in_utf16_is_read_without_a_question(owner_client: Client, qg: Campaign) -> None:
    assert bring_in(owner_client, qg, FRENCH.encode("utf-16")).imported_at
    assert texts_of(qg)["p1", "alder"] == "De quelle couleur est le ciel à présent ?"


def test_a_file_of_mixed_encodings_is_named_by_row_and_column(owner_client: Client, qg: Campaign) -> None:
    mixed = FRENCH.encode() + "p3,Là,là,alder,Où ?\n".encode("windows-1252")
    assert problems_of(bring_in(owner_client, qg, mixed)) == [(6, "passage"), (6, "answer"), (6, "output")]
