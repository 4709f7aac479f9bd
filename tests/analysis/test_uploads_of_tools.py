"""Files of other tools, uploaded as they are: what they are recognised as, and results like those of the command."""

import json
from pathlib import Path
from zipfile import ZipFile

import pytest
from django.conf import settings as django_settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from analysis.data.tools import Wanted
from analysis.methods import ResponsesFile, get_method
from analysis.methods.settings import load_settings
from analysis.models import RatingsFile
from analysis.results.reading import printed
from analysis.results.stored import document_of
from analysis.web.services.ratings_files import upload_ratings
from analysis.web.services.runs import start_run
from evalsite.accounts.models import User
from tests.analysis.conftest import finish, kept_files
from tests.databases import on_both, on_sqlite

EXAMPLES = Path(__file__).parents[1] / "data" / "tools"
UPLOAD = "/analysis/new/"


def example(name: str) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, (EXAMPLES / name).read_bytes())


def kept(owner: User, name: str, items: str = "", **columns: str) -> dict[str, RatingsFile]:
    """Return the tables that an upload is kept as, by the responses in them."""
    upload_ratings(owner=owner, upload=example(name), columns=columns, items=example(items) if items else None)
    return {file.made_from["responses"]: file for file in RatingsFile.objects.order_by("uploaded_at")}


def protocol(folder: Path, **document: object) -> str:
    path = folder / "protocol.json"
    path.write_text(json.dumps({"worker_test": {"preset": "none"}, **document}))
    return str(path)


CASES = {
    "Appraise, direct assessment": ("appraise_da_scores.csv", Wanted.SCORES, {"criteria": ["adequacy"]}, {}),
    "Appraise, ESA as direct assessment": (
        *("appraise_esa_scores.csv", Wanted.SCORES, {"criteria": ["adequacy"]}, {}),
    ),
    "Appraise, ESA": ("appraise_esa_scores.csv", Wanted.SCORES, {"method": "esa"}, {}),
    "Appraise, errors": ("appraise_esa_scores.csv", Wanted.SPANS, {"method": "spans"}, {}),
    "Label Studio, one of two questions": (
        *("label_studio.json", Wanted.SCORES, {"criteria": ["quality"], "scale": [1, 5]}, {}),
    ),
    "Label Studio, the question that is named": (
        *("label_studio.json", Wanted.SCORES, {"method": "ordinal"}, {"score": "quality"}),
    ),
    "Label Studio, errors": ("label_studio.json", Wanted.SPANS, {"method": "spans"}, {}),
    "Label Studio, CSV": ("label_studio.csv", Wanted.SCORES, {"method": "ordinal"}, {"score": "quality"}),
    "Mechanical Turk": ("mturk.csv", Wanted.SCORES, {"criteria": ["adequacy"], "scale": [0, 100]}, {}),
    "Potato, errors": ("potato.jsonl", Wanted.SPANS, {"method": "spans"}, {}),
    "factgenie, errors": ("factgenie.jsonl", Wanted.SPANS, {"method": "spans"}, {}),
    "doccano, errors": ("doccano.jsonl", Wanted.SPANS, {"method": "spans"}, {}),
    "Argilla, the question that is named": (
        *("argilla.json", Wanted.SCORES, {"method": "ordinal"}, {"score": "quality"}),
    ),
    "Pearmut, ESA": ("pearmut.jsonl", Wanted.SCORES, {"method": "esa"}, {}),
}


@pytest.mark.parametrize("case", CASES)
@on_sqlite
def test_an_upload_gives_the_results_of_the_command(
    owner: User, tmp_path: Path, capsys: pytest.CaptureFixture[str], case: str
) -> None:
    name, responses, document, columns = CASES[case]
    settings = protocol(tmp_path, **document)
    items = "potato_items.jsonl" if name.startswith("potato") else ""
    file = kept(owner, name, items, **columns)[responses]
    run = finish(start_run(ratings_file=file, user=owner, settings=load_settings(settings)))
    call_command(
        *("analyse", EXAMPLES / name),
        protocol=settings,
        format="json",
        columns=[f"{key}={column}" for key, column in columns.items()],
        items=EXAMPLES / items if items else None,
    )
    expected = json.loads(capsys.readouterr().out)
    assert printed(run.result) == expected
    again = finish(start_run(ratings_file=file, user=owner, settings=load_settings(settings)))
    assert again.pk != run.pk and again.report == run.report


@on_sqlite
def test_errors_beside_scores_are_counted_as_the_command_counts_them(owner: User) -> None:
    file = kept(owner, "appraise_esa_scores.csv", "")[Wanted.SCORES]
    settings = load_settings("esa")
    run = finish(start_run(ratings_file=file, user=owner, settings=settings))
    method = get_method("esa")
    of_command = document_of(
        method.analyse(method.read(ResponsesFile(EXAMPLES / "appraise_esa_scores.csv"), settings), settings)
    )
    assert run.report["errors"] == of_command["errors"]
    assert all(sum(row["counts"].values()) > 0 for row in of_command["errors"])


@on_both
def test_an_upload_says_what_it_was_recognised_as_and_leads_on(owner_client: Client) -> None:
    sent = owner_client.post(UPLOAD, {"file": example("appraise_esa_scores.csv"), "title": "Shared task"})
    scores, errors = (RatingsFile.objects.get(title=f"Shared task ({name})") for name in ("scores", "marked errors"))
    assert sent["Location"] == reverse("analysis:protocol", args=[scores.pk]) + "?protocol=esa"
    page = owner_client.get(sent["Location"]).text
    assert "Recognised as a file of <strong>Appraise</strong>" in page
    assert "tutorial" in page, "what was left out is said"
    assert scores.mapping["score"] == "score" and "scores" not in scores.mapping
    assert scores.made_from["sha256"] == errors.made_from["sha256"] != scores.sha256
    columns = owner_client.get(reverse("analysis:columns", args=[errors.pk])).text
    assert "appraise_esa_scores.csv" in columns and "marked errors" in columns


@on_sqlite
def test_votes_lead_to_the_protocol_of_votes(owner_client: Client) -> None:
    task = {"id": 1, "data": {"system_a": "alder", "system_b": "beech", "source": "q1"}}
    choice = {"type": "choices", "from_name": "better", "value": {"choices": ["alder"]}}
    annotations = [{"completed_by": {"email": "ann@lab.example"}, "result": [choice]}]
    content = json.dumps([task | {"annotations": annotations}]).encode()
    sent = owner_client.post(UPLOAD, {"file": SimpleUploadedFile("votes.json", content)})
    file = RatingsFile.objects.get()
    assert sent["Location"] == reverse("analysis:protocol", args=[file.pk]) + "?protocol=preference"
    assert file.columns == ["worker", "source", "system_a", "system_b", "winner"]


@on_sqlite
def test_columns_and_items_are_named_on_the_page(owner_client: Client) -> None:
    refused = owner_client.post(UPLOAD, {"file": example("potato.jsonl")})
    assert refused.status_code == 422
    assert "no column “system” in this file of Potato" in refused.text
    assert not RatingsFile.objects.exists() and kept_files() == []
    sent = owner_client.post(UPLOAD, {"file": example("potato.jsonl"), "items": example("potato_items.jsonl")})
    assert sent.status_code == 302
    assert {file.made_from["responses"] for file in RatingsFile.objects.all()} == {"scores", "marked errors"}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"columns": "system"}, "does not name a column"),
        ({"columns": "system=nothing"}, "The file has no column “nothing”"),
        ({"columns": "score=beauty"}, "There are no answers to “beauty”"),
        ({"items": "potato_items.jsonl"}, "says nothing about label_studio.json"),
    ],
)
@on_sqlite
def test_what_cannot_be_meant_is_refused(owner_client: Client, fields: dict[str, str], said: str) -> None:
    files = {"items": example(fields["items"])} if "items" in fields else fields
    response = owner_client.post(UPLOAD, {"file": example("label_studio.json"), **files})
    assert response.status_code == 422
    assert said in response.text
    assert not RatingsFile.objects.exists() and kept_files() == []


@on_sqlite
def test_columns_of_an_ordinary_file_may_be_named(owner_client: Client) -> None:
    content = b"who,engine,points\nann,alder,50\n"
    named = {"columns": "system=engine\nworker=who\nscore=points"}
    assert owner_client.post(UPLOAD, {"file": SimpleUploadedFile("a.csv", content), **named}).status_code == 302
    assert RatingsFile.objects.get().mapping == {"worker": "who", "system": "engine", "score": "points"}
    response = owner_client.post(UPLOAD, {"file": SimpleUploadedFile("a.csv", content), "columns": "system=model"})
    assert response.status_code == 422
    assert "no column “model” for system" in response.text


@on_sqlite
def test_workers_of_tools_are_renamed_in_the_package(owner: User, tmp_path: Path) -> None:
    file = kept(owner, "appraise_esa_scores.csv")[Wanted.SPANS]
    settings = load_settings(protocol(tmp_path, method="spans"))
    run = finish(start_run(ratings_file=file, user=owner, settings=settings))
    with ZipFile(Path(django_settings.MEDIA_ROOT) / run.folder / "package.zip") as package:
        assert b"engdeu" not in b"".join(package.read(name) for name in package.namelist())
