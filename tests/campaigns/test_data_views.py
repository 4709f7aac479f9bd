"""Uploading sources and outputs, saying what columns mean, importing, and looking at what is there."""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import openpyxl
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from campaigns.models import Campaign, HitItem, Output, Source, Upload
from campaigns.queries import contents_of
from campaigns.services.imports import execute_import
from campaigns.services.lifecycle import delete_campaign
from evalsite.jobs.handlers import JobContext, get_handler
from evalsite.jobs.models import Job
from evalsite.lib.errors import DomainError
from tests.campaigns.cast import add_member, add_outputs, make_campaign

LONG = """source_id,passage,answer,system,output
p1,The sky is blue.,blue,human,What colour is the sky?
p1,The sky is blue.,blue,alder,Which colour has the sky?
p2,Grass is green.,green,human,What colour is grass?
p2,Grass is green.,green,alder,Is grass green?
"""
WIDE = """source_id,passage,answer,human,alder
p1,The sky is blue.,blue,What colour is the sky?,Which colour has the sky?
p2,Grass is green.,green,What colour is grass?,Is grass green?
"""
TEXTS = {
    ("p1", "human"): "What colour is the sky?",
    ("p1", "alder"): "Which colour has the sky?",
    ("p2", "human"): "What colour is grass?",
    ("p2", "alder"): "Is grass green?",
}


@pytest.fixture(autouse=True)
def media(settings, tmp_path: Path) -> Path:
    """Keep the files of each test apart."""
    settings.MEDIA_ROOT = tmp_path / "media"
    return settings.MEDIA_ROOT


@pytest.fixture
def qg(owner) -> Campaign:
    return make_campaign(owner, "qg")


def url(name: str, campaign: Campaign, *args) -> str:
    return reverse(f"campaigns:{name}", args=[campaign.public_id, *args])


def send(client: Client, campaign: Campaign, content: str | bytes, name: str = "outputs.csv"):
    raw = content.encode() if isinstance(content, str) else content
    return client.post(url("upload", campaign), {"file": SimpleUploadedFile(name, raw)})


def upload(client: Client, campaign: Campaign, content: str | bytes, name: str = "outputs.csv") -> Upload:
    """Upload a file that is taken."""
    response = send(client, campaign, content, name)
    assert response.status_code == 302, response.text
    return campaign.uploads.latest("uploaded_at")


def mapping(found: Upload, **changes: str) -> dict[str, str]:
    """Return the form of an upload as the page shows it, with other roles for some columns."""
    columns = found.layout["columns"]
    roles = {**found.layout["roles"], **changes}
    return {f"role-{place}": roles.get(column, "") for place, column in enumerate(columns)}


def post_import(client: Client, found: Upload, mode: str = "replace", **changes: str):
    data = {**mapping(found, **changes), "mode": mode, "import": "1"}
    return client.post(url("columns", found.campaign, found.pk), data)


def bring_in(client: Client, campaign: Campaign, content: str | bytes, mode: str = "replace", **changes: str) -> Upload:
    """Upload a file and import it to the end of its job."""
    found = upload(client, campaign, content)
    assert post_import(client, found, mode, **changes).status_code == 302
    return finish(found)


def finish(found: Upload) -> Upload:
    found.refresh_from_db()
    do_job(found.job)
    return Upload.objects.select_related("job", "campaign").get(pk=found.pk)


def do_job(job: Job) -> None:
    """Run a job's handler and record how it ended, within the test's transaction."""
    end = {"status": Job.Status.SUCCEEDED, "finished_at": timezone.now()}
    try:
        get_handler(job.kind)(JobContext(), **job.args)
    except DomainError as error:
        end |= {"status": Job.Status.FAILED, "error_code": error.code, "error_message": error.message}
    Job.objects.filter(pk=job.pk).update(**end)


def texts_of(campaign: Campaign) -> dict[tuple[str, str], str]:
    outputs = Output.objects.filter(source__campaign=campaign)
    return {
        (source, system): text for source, system, text in outputs.values_list("source__name", "system__name", "text")
    }


def problems_of(found: Upload) -> list[tuple]:
    return [(row, column) for row, column, _ in found.problems["rows"]]


# --- From a file to the campaign


def as_excel(table: str) -> bytes:
    book = openpyxl.Workbook()
    for row in table.strip().split("\n"):
        book.active.append(row.split(","))
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def as_json_lines(table: str) -> str:
    header, *rows = [row.split(",") for row in table.strip().split("\n")]
    return "\n".join(json.dumps(dict(zip(header, row, strict=True))) for row in rows)


def as_nested_json_lines(table: str) -> str:
    lines = []
    for line in as_json_lines(table).split("\n"):
        record = json.loads(line)
        outputs = {name: record.pop(name) for name in ("human", "alder")}
        lines.append(json.dumps({**record, "outputs": outputs}))
    return "\n".join(lines)


@pytest.mark.parametrize(
    "content",
    [
        LONG,
        WIDE,
        LONG.replace(",", "\t"),
        WIDE.replace(",", ";"),
        as_json_lines(LONG),
        as_json_lines(WIDE),
        as_nested_json_lines(WIDE),
        as_excel(LONG),
        as_excel(WIDE),
    ],
    ids=["csv long", "csv wide", "tsv", "semicolons", "jsonl long", "jsonl wide", "jsonl nested", "xlsx", "xlsx wide"],
)
def test_every_format_and_shape_is_imported_as_guessed(owner_client: Client, qg: Campaign, content) -> None:
    done = bring_in(owner_client, qg, content)

    assert done.job.status == Job.Status.SUCCEEDED
    assert texts_of(qg) == TEXTS
    assert Source.objects.get(name="p2").fields == {"passage": "Grass is green.", "answer": "green"}
    assert qg.systems.get(is_human=True).name == "human"
    assert (done.summary["n_sources"], done.summary["n_systems"], done.summary["n_outputs"]) == (2, 2, 4)
    page = owner_client.get(url("columns", qg, done.pk)).text
    assert "Imported" in page


def test_the_real_questions_are_imported_without_a_change(
    owner_client: Client, qg: Campaign, shared_data: Path
) -> None:
    content = (shared_data / "qg-outputs" / "qg.jsonl").read_bytes()

    done = bring_in(owner_client, qg, content)

    assert done.summary["n_sources"] == 200
    assert qg.systems.count() == 15
    assert len(texts_of(qg)) == 3000
    assert qg.systems.get(is_human=True).name == "human"
    assert done.summary["notices"] == []
    assert texts_of(qg)["57271f125951b619008f8635", "FlanT5-xxl_lora"] == "What is the name of the play by Sophocles?"


def test_the_guess_is_shown_with_the_first_rows(owner_client: Client, qg: Campaign) -> None:
    found = upload(owner_client, qg, LONG)

    response = owner_client.get(url("columns", qg, found.pk))

    rows = response.context["rows"]
    assert [(row["column"], row["role"].value(), row["cells"][0]) for row in rows] == [
        ("source_id", "source", "p1"),
        ("passage", "field:passage", "The sky is blue."),
        ("answer", "field:answer", "blue"),
        ("system", "system", "human"),
        ("output", "output", "What colour is the sky?"),
    ]
    assert found.job is None


def test_what_columns_mean_can_be_corrected(owner_client: Client, qg: Campaign) -> None:
    table = "a,b,c,d\np1,The sky is blue.,alder,What?\n"
    found = upload(owner_client, qg, table)

    form = mapping(found, a="source", b="field:passage", c="system", d="output")
    kept = owner_client.post(url("columns", qg, found.pk), form)

    assert kept.status_code == 302
    found.refresh_from_db()
    assert found.layout["roles"] == {"a": "source", "b": "field:passage", "c": "system", "d": "output"}
    assert found.job is None
    post_import(owner_client, found)
    finish(found)
    assert texts_of(qg) == {("p1", "alder"): "What?"}


def test_progress_is_shown_while_the_job_waits_and_the_columns_stay_as_they_are(owner_client, qg) -> None:
    found = upload(owner_client, qg, LONG)
    post_import(owner_client, found)

    page = owner_client.get(url("columns", qg, found.pk))
    again = post_import(owner_client, found)

    assert page.context["job_state"]["status"] == "queued"
    assert "data-job-progress" in page.text
    assert again.status_code == 422
    assert Job.objects.filter(kind="campaigns.import").count() == 1


def test_another_file_waits_until_the_first_is_imported(owner_client: Client, qg: Campaign) -> None:
    post_import(owner_client, upload(owner_client, qg, LONG))
    assert post_import(owner_client, upload(owner_client, qg, WIDE)).status_code == 422


def test_a_job_that_runs_twice_imports_once(owner_client: Client, qg: Campaign) -> None:
    done = bring_in(owner_client, qg, LONG)
    before = set(Output.objects.values_list("pk", flat=True))

    do_job(done.job)

    assert set(Output.objects.values_list("pk", flat=True)) == before


def test_what_is_worth_knowing_is_told(owner_client: Client, qg: Campaign) -> None:
    table = LONG.replace("The sky is blue.,blue", "The sky is blue.,red").replace(
        "p2,Grass is green.,green,alder,Is grass green?\n", ""
    )

    done = bring_in(owner_client, qg, table)

    assert [notice["code"] for notice in done.summary["notices"]] == ["unmarked", "incomplete"]
    page = owner_client.get(url("columns", qg, done.pk)).text
    assert "“alder” for 1 source" in page


def test_outputs_like_the_reference_are_counted(owner_client: Client, owner) -> None:
    campaign = make_campaign(owner, "mrc-adequacy")
    table = "id,question,reference,model,answer\nq1,Who?,Ann,a,Ann\nq1,Who?,Ann,b,Ben\n"

    done = bring_in(owner_client, campaign, table)

    assert [notice["code"] for notice in done.summary["notices"]] == ["same_as_reference"]
    assert texts_of(campaign) == {("q1", "a"): "Ann", ("q1", "b"): "Ben"}


# --- Replacing and adding


def test_a_new_file_replaces_what_is_there_and_the_human_mark_stays(owner_client: Client, qg: Campaign) -> None:
    add_outputs(qg, n_sources=2, systems=["old", "alder"])
    qg.systems.filter(name="alder").update(is_human=True)
    Campaign.objects.filter(pk=qg.pk).update(status=Campaign.Status.READY)

    bring_in(owner_client, qg, LONG)

    assert texts_of(qg) == TEXTS
    assert qg.systems.get(is_human=True).name == "alder"
    qg.refresh_from_db()
    assert qg.status == Campaign.Status.DRAFT


def test_a_file_can_be_added(owner_client: Client, qg: Campaign) -> None:
    bring_in(owner_client, qg, LONG)
    birch = "source_id,system,output\np1,birch,Sky?\np2,birch,Grass?\n"

    bring_in(owner_client, qg, birch, mode="add")

    assert texts_of(qg) == TEXTS | {("p1", "birch"): "Sky?", ("p2", "birch"): "Grass?"}
    assert qg.sources.count() == 2


def test_what_is_added_must_agree_with_what_is_there(owner_client: Client, qg: Campaign) -> None:
    bring_in(owner_client, qg, LONG)
    table = (
        "source_id,passage,system,output\np1,Another passage.,birch,Sky?\np2,Grass is green.,alder,Grass?\n"
        "p3,,birch,New?\n"
    )

    done = bring_in(owner_client, qg, table, mode="add")

    assert problems_of(done) == [(2, "passage"), (3, "system"), (4, "passage")]
    assert texts_of(qg) == TEXTS


def test_a_new_source_without_its_fields_is_refused(owner_client: Client, qg: Campaign) -> None:
    bring_in(owner_client, qg, LONG)
    done = bring_in(owner_client, qg, "source_id,system,output\np1,birch,Sky?\np9,birch,New?\n", mode="add")
    assert problems_of(done) == [(3, "source_id")]


def test_a_new_field_is_added_to_an_open_screen_once(owner_client: Client, owner) -> None:
    campaign = make_campaign(owner, "custom")
    table = "source,hint,id,system,output\nText,A hint,1,alder,Out\n"

    done = bring_in(owner_client, campaign, table, hint="new")
    assert post_import(owner_client, done).status_code == 302
    finish(done)

    campaign.refresh_from_db()
    assert [(field["name"], field["label"]) for field in campaign.screen["fields"]] == [
        ("source", "Source"),
        ("hint", "Hint"),
    ]
    assert campaign.sources.get().fields == {"source": "Text", "hint": "A hint"}


def test_a_closed_screen_takes_no_new_field(owner_client: Client, qg: Campaign) -> None:
    found = upload(owner_client, qg, LONG.replace("answer", "hint"))
    assert post_import(owner_client, found, hint="new").status_code == 422


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


def test_a_file_that_is_lost_is_told(owner_client: Client, qg: Campaign) -> None:
    found = upload(owner_client, qg, LONG)
    Path(found.file.path).unlink()
    response = owner_client.get(url("columns", qg, found.pk))
    assert response.status_code == 200
    assert response.context["is_lost"]


# --- Appraise


@pytest.fixture
def batches(shared_data: Path) -> bytes:
    return (shared_data / "appraise-direct" / "batches.json").read_bytes()


@pytest.fixture
def translation(owner) -> Campaign:
    return make_campaign(owner, "da-translation")


def import_batches(client: Client, campaign: Campaign, content: bytes) -> Upload:
    found = upload(client, campaign, content, "batches.json")
    assert client.get(url("columns", campaign, found.pk)).status_code == 200
    assert client.post(url("columns", campaign, found.pk), {"import": "1"}).status_code == 302
    return finish(found)


def test_batches_of_appraise_are_imported_as_given(owner_client: Client, translation: Campaign, batches: bytes) -> None:
    done = import_batches(owner_client, translation, batches)

    translation.refresh_from_db()
    mix = [translation.n_ordinary, translation.n_degraded, translation.n_repeat, translation.n_reference]
    assert mix == [80, 10, 5, 5]
    assert translation.has_given_hits
    assert translation.status == Campaign.Status.READY
    assert translation.workers_per_hit == 1
    assert (translation.sources.count(), translation.systems.count()) == (55, 3)
    given = json.loads(batches)[0]["items"]
    items = list(HitItem.objects.filter(hit__campaign=translation).select_related("output__source", "output__system"))
    assert [item.position for item in items] == list(range(1, 101))
    assert [item.text for item in items] == [item["targetText"] for item in given]
    kinds = ["TGT", "BAD", "CHK", "REF"]
    assert [kinds[item.kind] for item in items] == [item["itemType"] for item in given]
    assert [item.output.source.fields["source"] for item in items] == [item["sourceText"] for item in given]
    for item, raw in zip(items, given, strict=True):
        if raw["itemType"] != "REF":
            assert item.output.system.name == raw["targetID"].split("+")[0]
        if raw["itemType"] in ("BAD", "CHK"):
            twin = items[item.twin_position - 1]
            assert twin.output_id == item.output_id
            assert (twin.text == item.text) == (raw["itemType"] == "CHK")
    assert translation.hits.get().n_places_left == 1
    assert translation.sources.filter(fields__reference__isnull=False).count() == 5
    assert "shared_outputs" in [notice["code"] for notice in done.summary["notices"]]
    assert owner_client.get(url("data", translation)).status_code == 200


def test_batches_need_a_screen_that_shows_a_source_text(owner_client: Client, qg: Campaign, batches: bytes) -> None:
    response = send(owner_client, qg, batches, "batches.json")
    assert response.status_code == 422
    assert "Direct Assessment, translation" in response.text
    assert not Upload.objects.exists()


def test_a_table_replaces_given_hits_and_is_not_added_to_them(owner_client, translation, batches) -> None:
    import_batches(owner_client, translation, batches)
    table = "id,source,system,output\n1,Text,alder,Out\n"

    refused = post_import(owner_client, upload(owner_client, translation, table), mode="add")
    assert refused.status_code == 302  # the page does not offer it, so it is not asked for
    finish(translation.uploads.latest("uploaded_at"))

    translation.refresh_from_db()
    assert not translation.has_given_hits
    assert translation.status == Campaign.Status.DRAFT
    assert not translation.hits.exists()
    assert texts_of(translation) == {("1", "alder"): "Out"}


# --- What is there


def test_an_empty_campaign_says_what_to_do_next(owner_client: Client, qg: Campaign) -> None:
    page = owner_client.get(url("data", qg)).text
    assert f'href="{url("upload", qg)}"' in page
    assert url("example", qg, "wide") in page


@pytest.mark.parametrize("shape", ["long", "wide"])
@pytest.mark.parametrize("protocol", ["qg", "mrc-adequacy", "mrc-fluency", "da-translation", "da-summary", "custom"])
def test_the_examples_can_be_imported_as_they_are(owner_client, owner, protocol: str, shape: str) -> None:
    campaign = make_campaign(owner, protocol)
    example = owner_client.get(url("example", campaign, shape))
    assert "attachment" in example["Content-Disposition"]
    done = bring_in(owner_client, campaign, example.content)
    assert (done.summary["n_sources"], done.summary["n_systems"], done.summary["n_outputs"]) == (2, 3, 6)
    assert done.summary["notices"] == []


def test_there_is_no_other_example(owner_client: Client, qg: Campaign) -> None:
    assert owner_client.get(url("example", qg, "tall")).status_code == 404


def test_sources_are_shown_with_fields_outputs_and_highlights(owner_client: Client, qg: Campaign) -> None:
    bring_in(owner_client, qg, LONG)
    page = owner_client.get(url("data", qg)).text
    assert "<mark>blue</mark>" in page
    assert "Which colour has the sky?" in page


def test_a_page_of_data_needs_as_many_queries_at_any_size(owner_client, qg, django_assert_max_num_queries) -> None:
    add_outputs(qg, n_sources=3, systems=["a"])
    with django_assert_max_num_queries(13) as few:
        owner_client.get(url("data", qg))
    add_outputs(qg, n_sources=40, systems=[f"s{n}" for n in range(10)])
    with django_assert_max_num_queries(13) as many:
        page = owner_client.get(url("data", qg) + "?page=2")
    assert len(few) == len(many)
    assert page.context["page_obj"].number == 2


def test_live_protocols_have_nothing_to_upload(owner_client: Client, owner) -> None:
    campaign = make_campaign(owner, "dialogue-free")
    assert "meet the systems themselves" in owner_client.get(url("data", campaign)).text
    assert send(owner_client, campaign, LONG).status_code == 422


# --- Who may, and when


def test_a_stranger_finds_nothing(stranger_client: Client, owner_client: Client, qg: Campaign) -> None:
    found = upload(owner_client, qg, LONG)
    for path in (url("data", qg), url("upload", qg), url("columns", qg, found.pk), url("example", qg, "long")):
        assert stranger_client.get(path).status_code == 404
    assert send(stranger_client, qg, LONG).status_code == 404


def test_a_viewer_sees_and_uploads_nothing(colleague_client, colleague, owner_client: Client, qg: Campaign) -> None:
    add_member(qg, colleague)
    found = upload(owner_client, qg, LONG)
    page = colleague_client.get(url("data", qg))
    assert page.status_code == 200
    assert url("upload", qg) not in page.text
    assert colleague_client.get(url("upload", qg)).status_code == 403
    assert colleague_client.post(url("columns", qg, found.pk), {"import": "1"}).status_code == 403
    assert '<form method="post">' not in colleague_client.get(url("columns", qg, found.pk)).text
    assert send(colleague_client, qg, LONG).status_code == 403


def test_an_editor_uploads(colleague_client: Client, colleague, qg: Campaign) -> None:
    add_member(qg, colleague, "editor")
    assert bring_in(colleague_client, qg, LONG).uploaded_by == colleague
    assert texts_of(qg) == TEXTS


def test_another_campaigns_upload_is_not_found(owner_client: Client, owner, qg: Campaign) -> None:
    found = upload(owner_client, qg, LONG)
    assert owner_client.get(url("columns", make_campaign(owner), found.pk)).status_code == 404


def test_after_the_launch_all_is_frozen(owner_client: Client, qg: Campaign) -> None:
    bring_in(owner_client, qg, LONG)
    waiting = upload(owner_client, qg, WIDE)
    Campaign.objects.filter(pk=qg.pk).update(launched_at=timezone.now(), status=Campaign.Status.RUNNING)

    assert url("upload", qg) not in owner_client.get(url("data", qg)).text
    assert send(owner_client, qg, LONG).status_code == 422
    assert post_import(owner_client, waiting).status_code == 422
    assert owner_client.get(url("columns", qg, waiting.pk)).status_code == 200


def test_a_launch_while_the_job_waits_keeps_the_data(owner_client: Client, qg: Campaign) -> None:
    bring_in(owner_client, qg, LONG)
    found = upload(owner_client, qg, "source_id,passage,system,output\np8,Text,fir,Out\n")
    post_import(owner_client, found)
    Campaign.objects.filter(pk=qg.pk).update(launched_at=timezone.now(), status=Campaign.Status.RUNNING)

    done = finish(found)

    assert done.job.error_code == "frozen"
    assert texts_of(qg) == TEXTS


@pytest.mark.parametrize("name", ["data", "example"])
def test_what_is_only_read_takes_no_post(owner_client: Client, qg: Campaign, name: str) -> None:
    args = ["long"] if name == "example" else []
    assert owner_client.post(url(name, qg, *args)).status_code == 405


def test_a_change_while_a_file_is_read_is_noticed(owner_client: Client, qg: Campaign) -> None:
    bring_in(owner_client, qg, LONG)
    found = upload(owner_client, qg, "source_id,system,output\np1,birch,Sky?\n")
    post_import(owner_client, found, mode="add")

    @contextmanager
    def saving_after_somebody_else() -> Iterator[None]:
        add_outputs(qg, n_sources=1, systems=["birch"])
        with transaction.atomic():
            yield

    with pytest.raises(DomainError) as caught:
        execute_import(
            upload=Upload.objects.get(pk=found.pk),
            mode="add",
            on_progress=lambda *_: None,
            saving=saving_after_somebody_else,
        )
    assert caught.value.code == "changing"
    assert ("p1", "birch") not in texts_of(qg)


def test_every_member_may_follow_an_import(
    colleague_client: Client, stranger_client: Client, colleague, owner_client: Client, qg: Campaign
) -> None:
    add_member(qg, colleague)
    found = upload(owner_client, qg, LONG)
    post_import(owner_client, found)

    page = colleague_client.get(url("columns", qg, found.pk))
    followed = page.context["job_state"]["url"]

    assert f'data-url="{followed}"' in page.text
    assert colleague_client.get(followed).json()["status"] == "queued"
    assert stranger_client.get(followed).status_code == 404
    finish(found)
    assert colleague_client.get(followed).json()["finished"]


def test_a_failed_import_offers_nobody_the_retry_of_another_s_job(
    colleague_client: Client, colleague, owner_client: Client, qg: Campaign
) -> None:
    add_member(qg, colleague, "editor")
    found = upload(owner_client, qg, LONG)
    post_import(owner_client, found)
    Job.objects.update(status="failed", finished_at=timezone.now(), error_code="lost", error_message="The worker died.")

    page = colleague_client.get(url("columns", qg, found.pk))

    assert "The worker died." in page.text
    assert "/retry/" not in page.text
    assert post_import(colleague_client, found).status_code == 302
    assert finish(found).imported_at


def test_a_campaign_that_is_deleted_while_a_file_is_read_is_no_failure(owner_client: Client, qg: Campaign) -> None:
    found = upload(owner_client, qg, LONG)
    post_import(owner_client, found)
    found.refresh_from_db()

    class Deleting(JobContext):
        def progress(self, done: int, total: int, stage: str = "") -> None:
            if Campaign.objects.exists():
                delete_campaign(campaign=qg)

    get_handler("campaigns.import")(Deleting(), **found.job.args)
    assert not Campaign.objects.exists()


def test_systems_whose_names_look_alike_are_told(owner_client: Client, qg: Campaign) -> None:
    names = ["GPT", "gpt", "caf\u00e9", "cafe\u0301", "B\u00a01", "B1", "C"]
    rows = "".join(f"1,The p is q,q,{name},text of {n}\n" for n, name in enumerate(names))
    done = bring_in(owner_client, qg, "source_id,passage,answer,system,output\n" + rows)

    assert qg.systems.count() == 7
    [notice] = done.summary["notices"]
    assert notice["code"] == "look_alike"
    assert "“GPT” and “gpt”" in notice["message"] and "“C”" not in notice["message"]


def test_no_more_systems_than_an_analysis_compares(owner_client: Client, qg: Campaign) -> None:
    header = "source_id,passage,answer,system,output\n"

    def file(first: int, last: int) -> str:
        return header + "".join(f"1,The p is q,q,system-{n},text {n}\n" for n in range(first, last))

    done = bring_in(owner_client, qg, file(0, 501))
    assert done.problems and not qg.systems.exists()
    bring_in(owner_client, qg, file(0, 500))
    done = bring_in(owner_client, qg, file(500, 502), "add")
    assert (done.job.error_code, qg.systems.count()) == ("too_many_systems", 500)


def test_tasks_for_different_numbers_of_workers_get_one_number(owner_client: Client, owner) -> None:
    campaign = make_campaign(owner, "da-translation")
    tasks = [
        {
            "task": {"requiredAnnotations": n},
            "items": [
                {
                    "itemID": n,
                    "itemType": "TGT",
                    "sourceID": "news",
                    "sourceText": "Source",
                    "targetID": "alder",
                    "targetText": "Himmel",
                }
            ],
        }
        for n in (1, 3)
    ]
    send(owner_client, campaign, json.dumps(tasks), "batches.json")
    found = campaign.uploads.get()
    owner_client.post(url("columns", campaign, found.pk), {"import": "1"})
    done = finish(found)

    campaign.refresh_from_db()
    assert campaign.workers_per_hit == 3
    assert set(campaign.hits.values_list("n_places_left", flat=True)) == {3}
    assert contents_of(campaign).n_places_taken == 0
    assert "workers_differ" in [notice["code"] for notice in done.summary["notices"]]
