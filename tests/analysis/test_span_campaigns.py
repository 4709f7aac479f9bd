"""Campaigns of documents in which errors are marked, or segments scored, from their HITs to their results and files."""

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from django.db import transaction
from django.db.models import QuerySet
from django.test import Client
from django.urls import reverse

from analysis.data.spans.loading import load_spans
from analysis.data.spans.marked import load_marked
from analysis.data.spans.weights import DEFAULTS
from analysis.methods.settings import from_json
from analysis.methods.spans import Spans
from analysis.models import AnalysisRun
from analysis.results.stored import result_of
from analysis.web.services.runs import start_run
from annotation.export.marked_errors import SPAN_COLUMNS, span_blocks
from annotation.export.tables import TABLES
from annotation.models import Response, Worker
from annotation.simulation.running import make_crowd, open_site, run_crowd
from annotation.simulation.visitor import Visitor
from annotation.worker_names import real_name
from campaigns.checklist import checklist
from campaigns.design.worker_test import NO_TEST
from campaigns.models import Campaign, HitItem, Source
from campaigns.services.hits import execute_build
from evalsite.accounts.models import User
from evalsite.lib.tables.blocks import in_rows
from evalsite.lib.tables.writing import write_csv
from tests.analysis.campaigns import (
    analysed,
    assert_attributes_are_at_the_end,
    assert_download_has_what_was_analysed,
    assert_listed_as_in,
)
from tests.analysis.conftest import finish
from tests.annotation.cast import launch
from tests.campaigns.cast import add_outputs, make_campaign
from tests.conftest import make_owner

pytestmark = pytest.mark.django_db

N_DOCUMENTS, N_SEGMENTS, N_SYSTEMS, N_WORKERS = 6, 4, 4, 6
CARELESS: dict[int, set[int]] = {}
"""The assignments of the careless workers of each campaign."""
SYSTEMS = tuple(f"system-{letter}" for letter in "abcd")


def documents_of(owner: User, protocol: str) -> Campaign:
    """Return a draft with documents of four segments."""
    campaign = make_campaign(owner, protocol)
    add_outputs(campaign, N_DOCUMENTS * N_SEGMENTS, SYSTEMS)
    for n, source in enumerate(campaign.sources.order_by("name")):
        Source.objects.filter(pk=source.pk).update(document=f"doc-{n // N_SEGMENTS}", place=n % N_SEGMENTS + 1)
    return campaign


def rated(owner: User, protocol: str) -> Campaign:
    """Return a campaign of documents that a simulated crowd has rated.

    Systems are better in the order of their names; a third of the workers is careless.
    """
    campaign = documents_of(owner, protocol)
    campaign.n_ordinary, campaign.n_degraded, campaign.n_repeat = 4, 3, 1
    campaign.workers_per_hit, campaign.hits_per_worker, campaign.seed = 2, 2, 1
    campaign.save()
    execute_build(campaign=campaign, on_progress=lambda done, total, stage: None, saving=transaction.atomic)
    launch(campaign)
    with open_site(None) as client:
        quality = {name: 0.9 - 0.6 * k for k, name in enumerate(SYSTEMS)}
        crowd = make_crowd(campaign, seed=11, n_workers=N_WORKERS, careless=1 / 3, quality=quality)
        visitors: list[Visitor] = []
        outcome = run_crowd(campaign, crowd, client, on_done=visitors.append)
    assert outcome.errors == []
    careless = [each for each in visitors if each.worker.index in crowd.careless]
    CARELESS[campaign.pk] = {done.assignment_id for each in careless for done in each.acknowledged}
    campaign.refresh_from_db()
    return campaign


def responses_of(campaign: Campaign) -> QuerySet[Response]:
    return Response.objects.filter(assignment__campaign=campaign)


def verdicts(run: AnalysisRun) -> dict[str, str]:
    return {row["worker"]: row["verdict"] for row in run.report["worker_table"]}


def careless_of(campaign: Campaign) -> set[str]:
    """Return the names of the careless workers."""
    workers = Worker.objects.filter(assignments__in=CARELESS[campaign.pk])
    return {real_name(worker) for worker in workers}


@pytest.fixture(scope="module")
def made(module_db: None) -> dict[str, Campaign]:
    """A rated campaign of each protocol: each test undoes what it adds."""
    owner = make_owner()
    return {protocol: rated(owner, protocol) for protocol in ("mqm", "esa", "sqm", "da-document")}


@pytest.fixture
def mqm(made: dict[str, Campaign], db: None) -> Campaign:
    return Campaign.objects.get(pk=made["mqm"].pk)


@pytest.mark.parametrize(
    ("protocol", "sections"),
    [
        ("mqm", ["pairs", "errors"]),
        ("esa", ["pairs", "marked-errors"]),
        ("sqm", ["pairs", "levels-quality"]),
        ("da-document", []),
    ],
)
def test_the_true_order_and_the_careless_workers_are_found(
    made: dict[str, Campaign], owner_client: Client, protocol: str, sections: list[str]
) -> None:
    campaign = Campaign.objects.get(pk=made[protocol].pk)
    run = analysed(campaign)
    summary = run.report["summary"]
    assert [row["system"] for row in summary["systems"]] == list(SYSTEMS)
    failed = {worker for worker, verdict in verdicts(run).items() if verdict == "failed"}
    assert failed == careless_of(campaign)
    if protocol != "da-document":
        assert_listed_as_in(run, campaign)
    page = owner_client.get(reverse("analysis:campaign_results", args=[campaign.public_id]))
    assert page.status_code == 200
    for section in sections:
        address = reverse("analysis:campaign_section", args=[campaign.public_id, section])
        assert owner_client.get(address, follow=True).status_code == 200


# --- Files


def test_the_file_of_marked_errors_is_read_as_mqm_files_are(
    mqm: Campaign, owner_client: Client, tmp_path: Path
) -> None:
    sent = owner_client.get(reverse("monitoring:export_file", args=[mqm.public_id, "mqm.tsv"]))
    text = b"".join(sent.streaming_content).decode()
    path = tmp_path / "mqm.tsv"
    path.write_text(text)
    data = load_spans(path, DEFAULTS)
    responses = list(responses_of(mqm).select_related("item").order_by("assignment", "item__position"))
    assert data.n_annotations == len(responses) > 0
    assert data.annotation.size == sum(len(response.value) for response in responses)
    assert [data.target_texts[k] for k in data.target] == [response.item.text for response in responses]
    assert sorted(set(data.kind.tolist())) == [0, 1, 2]
    of_first = [
        (int(start), int(end)) for k, start, end in zip(data.annotation, data.start, data.end, strict=True) if k == 0
    ]
    assert of_first == [(each["start"], each["end"]) for each in responses[0].value]


def test_what_is_marked_is_where_it_was_whatever_the_text(mqm: Campaign, tmp_path: Path) -> None:
    """Also in texts that look like marks, or like formulas of spreadsheets, and of what is missing."""
    response = responses_of(mqm).select_related("item").order_by("assignment", "item__position").first()
    text = '=1\t+ <v>a</v> \U0001f682 e\u0301 end\nof "it"'
    HitItem.objects.filter(pk=response.item_id).update(text=text)
    error = {"side": "target", "start": 15, "end": 19, "severity": "major", "category": "Other", "comment": "why"}
    missing = error | {"side": "missing", "start": None, "end": None}
    in_source = error | {"side": "source", "start": 0, "end": 4}
    Response.objects.filter(pk=response.pk).update(value=[error, in_source, missing])
    path = tmp_path / "spans.csv"
    with path.open("w", newline="") as stream:
        write_csv(stream, SPAN_COLUMNS, in_rows(span_blocks(mqm, names=real_name)))
    data = load_spans(path, DEFAULTS)
    assert data.side[:3].tolist() == [0, 1, -1]
    target = data.target_texts[data.target[0]]
    marked = target[int(data.start[0]) : int(data.end[0])]
    assert marked == text[15:19] and "<v >a</v >" in target
    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    assert rows[0]["comment"] == "why" and rows[2]["category"] == "Other"


def test_scores_of_a_campaign_have_the_errors_beside_them(
    made: dict[str, Campaign], owner_client: Client, tmp_path: Path
) -> None:
    campaign = Campaign.objects.get(pk=made["esa"].pk)
    table = TABLES["rated_spans"]
    path = tmp_path / "esa.csv"
    with path.open("w", newline="") as stream:
        write_csv(stream, table.columns, in_rows(table.blocks(campaign, names=real_name)))
    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    assert len(rows) == responses_of(campaign).filter(criterion__name="score").count()
    by_place = {
        (row["assignment"], row["position"]): [error["severity"] for error in json.loads(row["errors"])] for row in rows
    }
    found = responses_of(campaign).filter(criterion__name="errors").values_list("assignment", "item__position", "value")
    assert by_place == {(str(a), str(p)): [error["severity"] for error in value] for a, p, value in found}
    marked = load_marked(path)
    assert marked is not None
    assert marked.severities == ["major", "minor"]
    assert len(marked.rater) == sum(row["kind"] != "degraded" for row in rows)
    assert {row["document"] for row in rows} == set(campaign.sources.values_list("document", flat=True))
    assert_download_has_what_was_analysed(owner_client, analysed(campaign), "rated_spans.csv")


def test_attributes_of_raters_are_at_the_end_of_the_file_of_scores(
    made: dict[str, Campaign], owner_client: Client
) -> None:
    campaign = Campaign.objects.get(pk=made["esa"].pk)
    run = assert_attributes_are_at_the_end(owner_client, campaign, "rated_spans.csv")
    assert_download_has_what_was_analysed(owner_client, run, "rated_spans.csv")


def test_attributes_of_raters_are_at_the_end_of_the_file_of_errors_and_pools_are_compared(
    mqm: Campaign, owner: User, owner_client: Client
) -> None:
    file = assert_attributes_are_at_the_end(owner_client, mqm, "mqm.tsv").ratings_file
    # Names are random, and so is who has which pool: with a worker test all who count may have the same.
    settings = replace(from_json(file.runs.get().settings), groups=("pool",), preset=NO_TEST)
    run = finish(start_run(ratings_file=file, user=owner, settings=settings))
    [pools] = run.report["questions"]["pools"]["groupings"]
    assert pools["by"] == "pool" and {each["name"] for each in pools["pools"]} == {"crowd", "lab"}
    reliability = reverse("analysis:campaign_reliability", args=[mqm.public_id])
    assert "Pools of workers by pool" in owner_client.get(reliability, {"run": run.pk}).text


def test_a_campaign_of_which_nobody_passed_says_so(mqm: Campaign) -> None:
    campaign = mqm
    responses_of(campaign).update(value=[])
    report = analysed(campaign).report
    assert {row["score"] for row in report["summary"]["systems"]} == {None}
    assert "No worker passed" in report["notes"][0]
    assert Spans().sections(result_of(report))


def test_only_campaigns_with_marked_errors_offer_their_file(owner: User, owner_client: Client, mqm: Campaign) -> None:
    other = make_campaign(owner, "sqm")
    assert "Other responses" not in owner_client.get(reverse("monitoring:export", args=[other.public_id])).text
    for campaign, is_there in ((mqm, True), (other, False)):
        page = owner_client.get(reverse("monitoring:export", args=[campaign.public_id])).text
        assert bool(re.search(r"mqm\.tsv", page)) == is_there
        status = owner_client.get(reverse("monitoring:export_file", args=[campaign.public_id, "mqm.tsv"])).status_code
        assert status == (200 if is_there else 404)


@pytest.mark.parametrize("protocol", ["mqm", "esa", "sqm", "da-document"])
def test_a_worker_can_pass_with_one_hit_of_documents(owner: User, protocol: str) -> None:
    campaign = documents_of(owner, protocol)
    campaign.n_degraded, campaign.seed = 2, 1  # documents of four segments: eight pairs
    campaign.save()
    execute_build(campaign=campaign, on_progress=lambda done, total, stage: None, saving=transaction.atomic)
    steps = {step.key: step.state for step in checklist(Campaign.objects.get(pk=campaign.pk))}
    assert (steps["criteria"], steps["hits"]) == ("ok", "ok")
