"""Uploading sources and outputs, saying what columns mean, importing, replacing and adding."""

import io
import json
from pathlib import Path

import openpyxl
import pytest
from django.test import Client

from campaigns.models import Campaign, Output, Source
from evalsite.jobs.models import Job
from tests.campaigns.cast import add_outputs, make_campaign
from tests.campaigns.data.files import (
    LONG,
    TEXTS,
    WIDE,
    bring_in,
    do_job,
    finish,
    mapping,
    post_import,
    problems_of,
    texts_of,
    upload,
    url,
)
from tests.databases import on_both, on_sqlite

pytestmark = on_sqlite

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


@on_both
def test_a_job_that_runs_twice_imports_once(owner_client: Client, qg: Campaign) -> None:
    done = bring_in(owner_client, qg, LONG)
    before = set(Output.objects.values_list("pk", flat=True))

    do_job(done.job)

    assert set(Output.objects.values_list("pk", flat=True)) == before


def test_what_is_worth_knowing_is_reported(owner_client: Client, qg: Campaign) -> None:
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


@on_both
def test_a_new_file_replaces_what_is_there_and_the_human_mark_stays(owner_client: Client, qg: Campaign) -> None:
    add_outputs(qg, n_sources=2, systems=["old", "alder"])
    qg.systems.filter(name="alder").update(is_human=True)
    Campaign.objects.filter(pk=qg.pk).update(status=Campaign.Status.READY)

    bring_in(owner_client, qg, LONG)

    assert texts_of(qg) == TEXTS
    assert qg.systems.get(is_human=True).name == "alder"
    qg.refresh_from_db()
    assert qg.status == Campaign.Status.DRAFT


@on_both
def test_a_file_can_be_added(owner_client: Client, qg: Campaign) -> None:
    bring_in(owner_client, qg, LONG)
    birch = "source_id,system,output\np1,birch,Sky?\np2,birch,Grass?\n"

    bring_in(owner_client, qg, birch, mode="add")

    assert texts_of(qg) == TEXTS | {("p1", "birch"): "Sky?", ("p2", "birch"): "Grass?"}
    assert qg.sources.count() == 2


@on_both
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


@on_both
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


def test_systems_whose_names_look_alike_are_reported(owner_client: Client, qg: Campaign) -> None:
    names = ["GPT", "gpt", "caf\u00e9", "cafe\u0301", "B\u00a01", "B1", "C"]
    rows = "".join(f"1,The p is q,q,{name},text of {n}\n" for n, name in enumerate(names))
    done = bring_in(owner_client, qg, "source_id,passage,answer,system,output\n" + rows)

    assert qg.systems.count() == 7
    [notice] = done.summary["notices"]
    assert notice["code"] == "look_alike"
    assert "“GPT” and “gpt”" in notice["message"] and "“C”" not in notice["message"]


# --- Documents


def test_sources_keep_their_document_and_their_place_in_it_and_others_follow(
    owner_client: Client, qg: Campaign
) -> None:
    head = "doc_id,source_id,passage,answer,system,output\n"
    bring_in(owner_client, qg, f"{head}d1,a,P,x,alder,o\nd2,b,P,x,alder,o\nd1,c,P,x,alder,o\n,e,P,x,alder,o\n")

    def places() -> list[tuple[str, str, int]]:
        return list(qg.sources.values_list("name", "document", "place"))

    assert places() == [("a", "d1", 1), ("b", "d2", 1), ("c", "d1", 2), ("e", "", 0)]

    bring_in(owner_client, qg, f"{head}d1,f,P,x,birch,o\nd1,a,P,x,birch,o\nd2,e,P,x,birch,o\n", mode="add")

    assert places() == [("a", "d1", 1), ("b", "d2", 1), ("c", "d1", 2), ("e", "d2", 2), ("f", "d1", 3)]


@on_both
def test_attributes_of_sources_are_kept_and_shown_and_added_to(owner_client: Client, campaign: Campaign) -> None:
    long = LONG.replace("answer,", "answer,domain,").replace("blue,", "blue,news,").replace("green,", "green,,")
    page = owner_client.get(url("columns", campaign, upload(owner_client, campaign, long).pk)).text
    assert '<option value="attribute">Attribute, not shown</option>' in page
    bring_in(owner_client, campaign, long, domain="attribute")
    assert [source.attribute_values for source in campaign.sources.all()] == [{"domain": "news"}, {}]
    assert (
        '<bdi>domain</bdi> <span class="badge badge-unused">attribute</span>'
        in owner_client.get(url("data", campaign)).text
    )
    more = "source_id,domain,words,birch\np1,news,4,What is blue?\np2,chat,3,What is green?\n"
    bring_in(owner_client, campaign, more, mode="add", domain="attribute", words="attribute", birch="system-output")
    assert [source.attribute_values for source in campaign.sources.all()] == [
        {"domain": "news", "words": "4"},
        {"domain": "chat", "words": "3"},
    ]
    assert all(set(source.fields) == {"passage", "answer"} for source in campaign.sources.all())
