"""Taking a ratings file in, and saying which column is which."""

from io import BytesIO
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from openpyxl import Workbook

from analysis.methods.settings import custom_settings
from analysis.models import RatingsFile
from analysis.templatetags.results import changes_since, setting
from tests.analysis.conftest import kept_files, ratings_csv
from tests.databases import on_both

UPLOAD = "/analysis/new/"


def send(client: Client, content: bytes, name: str = "ratings.csv", **fields: str):
    return client.post(UPLOAD, {"file": SimpleUploadedFile(name, content), **fields})


def test_an_empty_list_says_what_to_do_next(owner_client: Client) -> None:
    response = owner_client.get("/analysis/")
    assert f'href="{UPLOAD}"' in response.text
    assert "No ratings yet" in response.text


@on_both
def test_an_upload_is_kept_and_leads_to_its_columns(owner_client: Client) -> None:
    response = send(owner_client, ratings_csv(), "my study.csv")

    file = RatingsFile.objects.get()
    assert response.status_code == 302
    assert response["Location"] == reverse("analysis:columns", args=[file.pk])
    assert (file.title, file.name, file.size) == ("my study", "my study.csv", len(ratings_csv()))
    assert Path(file.file.path).read_bytes() == ratings_csv()
    assert file.mapping["score"] == "score"


@on_both
def test_a_file_is_listed_with_its_runs(owner_client: Client, done) -> None:
    listed = owner_client.get("/analysis/")
    assert "Trees" in listed.text
    assert listed.context["page_obj"][0].n_runs == 1


@on_both
def test_others_files_are_not_listed(colleague_client: Client, trees) -> None:
    assert "Trees" not in colleague_client.get("/analysis/").text


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"", "empty.csv"),
        (bytes(range(256)) * 20, "noise.csv"),
        (b"PK\x03\x04not a workbook", "broken.xlsx"),
        (b"PAR1 not parquet PAR1", "broken.parquet"),
        (b"{]\n{]\n", "broken.jsonl"),
        (b"worker,worker\n1,2\n", "twice.csv"),
    ],
    ids=["empty", "noise", "excel", "parquet", "json", "two columns of one name"],
)
def test_a_refused_upload_leaves_nothing_behind(owner_client: Client, content: bytes, name: str) -> None:
    response = send(owner_client, content, name)

    assert response.status_code == 422
    assert 'role="alert"' in response.text
    assert not RatingsFile.objects.exists()
    assert kept_files() == []


def test_an_upload_over_the_limit_is_refused(owner_client: Client, settings) -> None:
    settings.MAX_UPLOAD_MB = 0.001

    response = send(owner_client, ratings_csv())

    assert response.status_code == 422
    assert response.context["form"].has_error("file", "too_large")
    assert not RatingsFile.objects.exists()
    assert kept_files() == []


def test_nothing_sent_is_asked_for(owner_client: Client) -> None:
    response = owner_client.post(UPLOAD, {"title": "No file"})
    assert response.status_code == 422
    assert response.context["form"].has_error("file", "required")


def test_a_file_name_is_text_not_a_path_or_markup(owner_client: Client) -> None:
    send(owner_client, ratings_csv(), "../../<b>x</b>.csv")

    file = RatingsFile.objects.get()
    assert [path.name for path in kept_files()] == [str(file.pk)]
    page = owner_client.get(reverse("analysis:ratings_file", args=[file.pk])).text
    assert "<b>" not in page


# --- Columns


def columns_of(file: RatingsFile) -> str:
    return reverse("analysis:columns", args=[file.pk])


def test_columns_are_guessed_and_shown_with_the_first_rows(owner_client: Client, upload) -> None:
    file = upload(b"Annotator,Model,Rating,Remark\nann,alder,50,hm\n")

    response = owner_client.get(columns_of(file))

    assert response.context["header"] == [
        ("Annotator", "worker"),
        ("Model", "system"),
        ("Rating", "score"),
        ("Remark", None),
    ]
    assert response.context["sample"].rows == [["ann", "alder", "50", "hm"]]


@on_both
def test_chosen_columns_are_kept(owner_client: Client, upload) -> None:
    file = upload(b"a,b,c\nann,alder,50\n")

    response = owner_client.post(columns_of(file), {"worker": "a", "system": "b", "score": "c"})

    assert response["Location"] == reverse("analysis:protocol", args=[file.pk])
    file.refresh_from_db()
    assert file.mapping == {"worker": "a", "system": "b", "score": "c"}


@pytest.mark.parametrize(
    "chosen",
    [
        {"worker": "a", "system": "b"},
        {"worker": "a", "system": "b", "score": "d"},
        {"worker": "a", "system": "b", "score": "b"},
        {},
    ],
    ids=["required left out", "no such column", "chosen twice", "nothing"],
)
def test_columns_that_cannot_be_are_refused(owner_client: Client, upload, chosen: dict[str, str]) -> None:
    file = upload(b"a,b,c\nann,alder,50\n")

    response = owner_client.post(columns_of(file), chosen)

    assert response.status_code == 422
    assert response.context["form"].errors
    file.refresh_from_db()
    assert file.mapping == {}


# --- A file of Excel on Windows

WINDOWS = ratings_csv(systems=("Zoë", "ørn", "alder")).decode().encode("windows-1252")


def test_a_file_of_windows_is_asked_about_once_and_read_so(owner_client: Client, owner, upload, start) -> None:
    response = send(owner_client, WINDOWS)
    file = RatingsFile.objects.get()
    assert response["Location"] == columns_of(file)

    asked = owner_client.get(columns_of(file))
    assert "Zoë" in asked.text
    assert owner_client.get(reverse("analysis:protocol", args=[file.pk]))["Location"] == columns_of(file)
    answer = owner_client.post(columns_of(file), {"encoding": "windows-1252"})

    assert answer["Location"] == columns_of(file)
    page = owner_client.get(columns_of(file))
    assert page.context["sample"].rows[0][4] == "Zoë"
    file.refresh_from_db()
    assert Path(file.file.path).read_bytes() == WINDOWS
    run, same = start(file), start(upload(ratings_csv(systems=("Zoë", "ørn", "alder"))))
    assert run.fingerprint == same.fingerprint


@pytest.mark.parametrize("encoding", ["", "utf-8", "shift-jis"])
def test_only_the_encoding_that_is_offered_is_taken(owner_client: Client, upload, encoding: str) -> None:
    file = upload(WINDOWS)
    response = owner_client.post(columns_of(file), {"encoding": encoding})
    assert response.status_code == 422
    assert 'role="alert"' in response.text
    file.refresh_from_db()
    assert file.encoding == ""


@on_both
def test_column_names_of_windows_are_no_reason_to_refuse_an_upload(owner_client: Client) -> None:
    assert send(owner_client, "worker,système,score\nann,alder,50\n".encode("windows-1252")).status_code == 302
    assert RatingsFile.objects.get().columns == ["worker", "système", "score"]


def test_a_file_of_mixed_encodings_is_not_asked_about(owner_client: Client) -> None:
    send(owner_client, "worker,system,score\nZoë,alder,5\n".encode() + b"Zo\xeb,alder,5\n")
    file = RatingsFile.objects.get()
    assert file.encoding == "utf-8"
    assert owner_client.get(columns_of(file)).context["form"] is not None


def test_strangers_are_not_asked(stranger_client: Client, upload) -> None:
    file = upload(WINDOWS)
    assert stranger_client.get(columns_of(file)).status_code == 404
    assert stranger_client.post(columns_of(file), {"encoding": "windows-1252"}).status_code == 404


# --- A column of scores for each criterion


def wide_csv(*criteria: str) -> bytes:
    """Return the ratings of `ratings_csv` with a row for each item."""
    header, *rows = ratings_csv(criteria=criteria).decode().splitlines()
    items: dict[str, list[str]] = {}
    for row in rows:
        item, _, score = row.rsplit(",", 2)
        items.setdefault(item, []).append(score)
    lines = [",".join([header.rsplit(",", 2)[0], *criteria])]
    return "\n".join([*lines, *(",".join([item, *scores]) for item, scores in items.items())]).encode()


@pytest.mark.parametrize("criteria", [("fun", "topic"), ("clear", "wordy")], ids=["of a protocol", "of nobody's"])
def test_a_wide_file_is_guessed_confirmed_and_analysed(owner_client, upload, start, criteria) -> None:
    file, long = upload(wide_csv(*criteria)), upload(ratings_csv(criteria=criteria))
    assert file.mapping["scores"] == list(criteria)
    page = owner_client.get(columns_of(file))
    assert page.context["form"]["scores"].value() == list(criteria)
    assert page.context["header"][-1] == (criteria[1], "score")

    assert owner_client.post(columns_of(file), file.mapping).status_code == 302

    protocol = owner_client.get(reverse("analysis:protocol", args=[file.pk]))
    assert protocol.context["found"] == list(criteria)
    settings = custom_settings(criteria)
    run = start(file, settings)
    assert run.fingerprint == start(long, settings).fingerprint
    (change,) = changes_since(run, start(long, settings))
    assert change.name == "columns" and "scores = " in setting(change.after, change)


@pytest.mark.parametrize(
    "changes",
    [{"score": "fun"}, {"criterion": "kind"}, {"scores": []}, {"scores": ["fun", "worker"]}, {"scores": ["nothing"]}],
    ids=["score too", "criterion too", "neither", "chosen twice", "no such column"],
)
def test_a_wide_file_cannot_be_taken_for_two_things(owner_client: Client, upload, changes: dict) -> None:
    file = upload(wide_csv("fun", "topic"))
    before = file.mapping
    response = owner_client.post(columns_of(file), file.mapping | changes)
    assert response.status_code == 422
    assert response.context["form"].errors
    file.refresh_from_db()
    assert file.mapping == before


def test_a_wide_file_on_five_steps_is_asked_about(owner_client: Client, upload) -> None:
    file = upload(b"worker,system,clear,wordy\nann,alder,1,5\nann,birch,,4\n")
    assert "All scores lie between 1 and 5" in owner_client.get(columns_of(file)).text


def test_marked_errors_and_documents_beside_scores_are_no_scores(owner_client: Client) -> None:
    """Columns of a campaign's own file may be called like criteria of a protocol."""
    send(owner_client, b"worker,source,system,score,document,errors\nann,q1,alder,50,d1,[]\n", "rated_spans.csv")
    mapping = RatingsFile.objects.get().mapping
    assert mapping["score"] == "score" and "scores" not in mapping


# --- What somebody says of how a file is read

RATED = [(who, item, system, n) for n, who in enumerate(("ann", "bob"), start=2) for item in "12" for system in "xy"]


def sentence(client: Client, content: bytes, name: str = "ratings.csv", **said: str) -> str:
    sent = send(client, content, name, **said)
    assert sent.status_code == 302, sent.text
    file = RatingsFile.objects.latest("uploaded_at")
    return file.reading["sentence"] + " ".join(each["message"] for each in (file.made_from or {}).get("warnings", []))


def test_the_sheet_of_a_workbook_is_chosen(owner_client: Client) -> None:
    book = Workbook()
    book.active.append(["read me"])
    sheet = book.create_sheet("Ratings")
    for row in (("worker", "item", "system", "score"), *RATED):
        sheet.append(row)
    stream = BytesIO()
    book.save(stream)
    said = sentence(owner_client, stream.getvalue(), "ratings.xlsx", sheet="ratings")
    assert said.startswith("2 raters judged 4 outputs of 2 systems with levels 2 to 3.")
    wrong = send(owner_client, stream.getvalue(), "ratings.xlsx", sheet="other")
    assert "no sheet “other”" in wrong.text


def test_marks_and_words_are_said(owner_client: Client) -> None:
    rows = [f"{who}|{item}|{system}|{n},5|de" for who, item, system, n in RATED[:-1]] + ["bob|2|y|skipped|fr"]
    content = "\n".join(["worker|item|system|score|language", *rows]).encode()
    said = sentence(owner_client, content, delimiter="|", decimal=",", missing="skipped, later")
    assert "with levels 2.5 to 3.5; one answer is missing" in said


def test_a_file_of_windows_in_another_shape_is_read_and_said(owner_client: Client) -> None:
    content = "item;system;Größe Jürgen;Größe Søren\n1;x;4,5;3,5\n2;x;2,0;1,5\n".encode("cp1252")
    said = sentence(owner_client, content, shape="raters")
    assert said.startswith("2 raters judged 2 outputs of 1 system with levels")
    assert "was read as Windows-1252" in said


def test_a_column_of_types_is_not_taken_for_kinds(owner_client: Client) -> None:
    rows = [f"{who},{item},{system},news,{n}" for who, item, system, n in RATED]
    send(owner_client, "\n".join(["worker,item,system,type,score", *rows]).encode())
    assert "kind" not in RatingsFile.objects.latest("uploaded_at").mapping
