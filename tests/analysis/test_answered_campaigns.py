"""Campaigns of corrected texts, counted facts, chosen options and replies: a crowd answers, their methods analyse."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from analysis.models import AnalysisRun
from analysis.web.queries.campaigns import judging_settings_of
from analysis.web.queries.workers_now import LiveWorker, kept_file, list_live_workers
from annotation.export.tables import TABLES
from annotation.models import Response, Worker
from annotation.simulation.running import make_crowd, open_site, run_crowd
from annotation.worker_names import hashed_name
from campaigns.design.composition import Layout
from campaigns.design.worker_test import NO_TEST
from campaigns.models import Campaign, HitItem
from evalsite.accounts.models import User
from evalsite.lib.media import get_media
from evalsite.lib.tables.blocks import in_rows
from tests.analysis.campaigns import (
    analysed,
    assert_attributes_are_at_the_end,
    assert_download_has_what_was_analysed,
    assert_listed_as_in,
)
from tests.analysis.test_downloads import as_downloaded, replicated
from tests.annotation.cast import build, launch
from tests.campaigns.cast import make_campaign
from tests.conftest import make_owner

pytestmark = pytest.mark.django_db

N_HITS, N_SYSTEMS, N_WORKERS = 6, 4, 3
QUALITIES = (2, 0.7, -0.7, -2)


def rated(
    owner: User,
    protocol: str,
    *,
    n_hits: int = N_HITS,
    careless: float = 0,
    qualities: Sequence[float] = QUALITIES,
    **fields: str,
) -> Campaign:
    """Return a closed campaign of a protocol; `qualities` of its systems, in the order of their names.

    The first two have degraded items.
    """
    campaign = make_campaign(owner, protocol)
    build(campaign, n_hits, N_SYSTEMS)
    campaign.n_ordinary, campaign.n_degraded, campaign.n_repeat, campaign.layout = 4, 2, 1, Layout.POOLED
    campaign.hits_per_worker = n_hits // N_WORKERS
    campaign.save()
    for source in campaign.sources.all():
        source.fields |= {name: text for name, text in fields.items() if name in source.fields}
        source.save()
    launch(campaign)
    quality = dict(zip(sorted(campaign.systems.values_list("name", flat=True)), qualities, strict=True))
    with open_site(None) as client:
        crowd = make_crowd(campaign, seed=3, n_workers=N_WORKERS, quality=quality, careless=careless)
        outcome = run_crowd(campaign, crowd, client)
    assert (outcome.errors, outcome.n_hits) == ([], n_hits)
    campaign.refresh_from_db()
    return campaign


@pytest.fixture(scope="module")
def made(module_db: None) -> Campaign:
    """A campaign of texts that three workers have corrected."""
    return rated(make_owner(), "post-edit")


@pytest.fixture
def edited(made: Campaign, db: None) -> Campaign:
    return Campaign.objects.get(pk=made.pk)


def rows_of(campaign: Campaign, table: str) -> list[dict]:
    columns, blocks = TABLES[table]
    return [dict(zip(columns, row, strict=True)) for row in in_rows(blocks(campaign, names=hashed_name))]


def within_of(run: AnalysisRun) -> dict[str, int]:
    """Return how many outputs a worker judged again, by criterion."""
    found = run.report["questions"]["reliability"]["criteria"]
    return {each["name"]: each["within"]["n_items"] for each in found}


def order_of(run: AnalysisRun) -> list[str]:
    return [row["system"] for row in run.report["summary"]["systems"]]


def listed_anew(campaign: Campaign, run: AnalysisRun | None = None) -> tuple[list[LiveWorker], bool]:
    """Return the list of workers of whom nothing is kept, and whether answers were read, not scores alone."""
    get_media().write(kept_file(campaign.public_id), b"{}")
    with CaptureQueriesContext(connection) as queries:
        listed = list_live_workers(campaign, judging_settings_of(campaign), timezone.now(), run)
    return listed, any('"annotation_response"."value"' in query["sql"] for query in queries)


def test_a_worker_test_is_not_repeated_for_the_list_of_workers(owner: User) -> None:
    campaign = rated(owner, "post-edit", n_hits=15, careless=0.34)
    run = analysed(campaign)
    computed, has_read = listed_anew(campaign)
    assert has_read
    assert listed_anew(campaign, run) == (computed, False)
    of_fewer, of_before, by_another = (
        AnalysisRun.objects.select_related("ratings_file").get(pk=run.pk) for _ in range(3)
    )
    of_fewer.report["worker_table"][0]["n_assignments"] -= 1  # a HIT has ended since
    of_before.ratings_file.uploaded_at = campaign.launched_at  # as many, but others: one was rejected, one has ended
    by_another.settings["worker_test"]["preset"] = NO_TEST
    for other in (of_fewer, of_before, by_another):
        assert listed_anew(campaign, other) == (computed, True)
    Worker.objects.filter(key=Worker.objects.earliest("pk").key).update(key="erased")
    assert listed_anew(campaign, run)[1], "somebody is called otherwise by now"


def test_corrected_texts(owner: User, owner_client: Client, django_assert_num_queries, tmp_path: Path) -> None:
    campaign = rated(owner, "post-edit", n_hits=15, careless=0.34)
    rows = rows_of(campaign, "edits")
    assert len(rows) == 15 * (N_SYSTEMS + 2 + 1)
    first = Response.objects.select_related("item").get(assignment=rows[0]["assignment"], item__position=1)
    assert (rows[0]["output"], rows[0]["edited"]) == (first.item.text, first.value["text"])
    assert rows[0]["keystrokes"] == first.value["keystrokes"]
    run = analysed(campaign)
    summary = run.report["summary"]
    assert summary["workers"] == {"total": 3, "passed": 2, "failed": 1, "untested": 0}
    assert (summary["method"], summary["n_outputs"], summary["n_left_out"]) == ("edits", 10 * N_SYSTEMS, 5 * N_SYSTEMS)
    assert order_of(run) == sorted(order_of(run)), "the best system needs the fewest edits"
    assert within_of(run) == {"HTER": 10, "edited text": 10}, "a repeat in each HIT of those who passed"
    section = reverse("analysis:campaign_reliability", args=[campaign.public_id])
    assert "with themselves" in owner_client.get(section).text
    assert_download_has_what_was_analysed(owner_client, run, "edits.csv")
    package = as_downloaded(owner_client, run)
    kept, again = replicated(package, tmp_path)
    assert again == kept and (tmp_path / "tables/agreement.csv").exists()
    assert_listed_as_in(run, campaign)
    settings = judging_settings_of(campaign)
    with django_assert_num_queries(2):
        before = list_live_workers(campaign, settings, timezone.now())
    kept = json.loads(get_media().read(kept_file(campaign.public_id)))
    kept["workers"].popitem()  # as of one who has finished another HIT
    get_media().write(kept_file(campaign.public_id), json.dumps(kept).encode())
    assert list_live_workers(campaign, settings, timezone.now()) == before
    page = owner_client.get(reverse("analysis:campaign_live_workers", args=[campaign.public_id])).text
    assert page.count("badge-failed") == 1 and "Compared" in page


def test_counted_facts(owner: User, owner_client: Client) -> None:
    campaign = rated(owner, "fact-count", n_hits=15)
    for response in Response.objects.filter(criterion__name="correct"):  # the crowd counts each for itself
        present = Response.objects.get(assignment=response.assignment, item=response.item, criterion__name="present")
        present.value = max(present.value, response.value)
        present.save()
    rows = rows_of(campaign, "counts")
    assert len(rows) == 15 * (N_SYSTEMS + 2 + 1)
    run = analysed(campaign)
    summary = run.report["summary"]
    assert (summary["method"], summary["worker_test"]["preset"]) == ("fact_count", "paired-wilcoxon")
    assert summary["workers"]["passed"] == 3
    assert within_of(run) == {"present": 15, "correct": 15, "missing": 15}
    assert_listed_as_in(run, campaign)
    assert order_of(run) == sorted(order_of(run))
    assert_download_has_what_was_analysed(owner_client, run, "counts.csv")
    results = reverse("analysis:campaign_results", args=[campaign.public_id])
    section = reverse("analysis:campaign_reliability", args=[campaign.public_id])
    assert section in owner_client.get(results).text
    before = {name: part for name, part in run.report.items() if name not in ("questions", "sections")}
    AnalysisRun.objects.filter(pk=run.pk).update(report=before)  # as results were before
    assert owner_client.get(results).status_code == 200
    assert "do not say how far workers agree" in owner_client.get(section).text
    Response.objects.filter(criterion__name="missing", item__position=1).delete()
    assert len(rows_of(campaign, "counts")) == 15 * (N_SYSTEMS + 2), "a count that is missing is not made up"


def test_chosen_options(owner: User, owner_client: Client) -> None:
    campaign = rated(owner, "option-selection", options="a; b\nc\nd", correct="a; b")
    rows = rows_of(campaign, "answers")
    assert {row["correct"] for row in rows} == {'["a; b"]'}
    assert {each for row in rows for each in json.loads(row["answer"])} <= {"a; b", "c", "d", "none of these"}
    assert all(row["seconds"] > 0 for row in rows)
    run = analysed(campaign)
    assert run.report["summary"]["method"] == "choice"
    systems = run.report["summary"]["systems"]
    assert systems[0]["system"] == "human"
    assert systems[0]["score"] > systems[-1]["score"]
    assert_download_has_what_was_analysed(owner_client, run, "answers.csv")
    listed = list_live_workers(campaign, judging_settings_of(campaign), timezone.now())
    assert {each.conduct.verdict for each in listed} == {"trusted"}, "the method tests nobody"


def test_replies(owner: User) -> None:
    campaign = rated(
        *(owner, "ssa"),
        n_hits=30,
        careless=0.34,
        qualities=(0.9, 0.5, -0.6, -1.2),  # so that a degraded reply makes no sense more often
        dialogue="Person: I love tennis.",
    )
    assert Response.objects.filter(criterion__name="sensible", score=0).exists()
    shown = Response.objects.filter(criterion__name="specific").values_list("assignment", "item")
    sensible = Response.objects.filter(criterion__name="sensible", score=1).values_list("assignment", "item")
    assert set(shown) == set(sensible), "only asked of replies that make sense"
    run = analysed(campaign)
    summary = run.report["summary"]
    assert summary["method"] == "ssa"
    assert order_of(run) == ["human", "system-a", "system-b", "system-c"]
    assert summary["worker_test"]["preset"] == "sign"
    assert summary["workers"] == {"total": 3, "passed": 2, "failed": 1, "untested": 0}
    assert_listed_as_in(run, campaign)
    assert any("without being asked" in warning["message"] for warning in run.report["warnings"])


def test_attributes_of_raters_are_at_the_end_of_the_file_of_edits(edited: Campaign, owner_client: Client) -> None:
    run = assert_attributes_are_at_the_end(owner_client, edited, "edits.csv")
    assert_download_has_what_was_analysed(owner_client, run, "edits.csv")


def test_an_output_that_a_worker_edits_in_two_hits_is_a_repeat_the_second_time(edited: Campaign) -> None:
    campaign = edited
    one, two = (HitItem.objects.filter(hit__number=number, position=1).get() for number in (1, 2))
    HitItem.objects.filter(pk=two.pk).update(output=one.output)
    campaign.assignments.update(worker=campaign.assignments.first().worker)
    kinds = [row["kind"] for row in rows_of(campaign, "edits") if row["position"] == 1]
    assert kinds.count("repeat") == 1
    assert analysed(campaign).report["summary"]["n_outputs"] == N_HITS * N_SYSTEMS - 1


def test_erased_texts_are_no_rows(edited: Campaign) -> None:
    campaign = edited
    n = len(rows_of(campaign, "edits"))
    edited = [response for response in Response.objects.all() if not response.value["is_unchanged"]]
    for response in edited:
        response.value = response.criterion.response_kind.without_words(response.value)
        response.save()
    assert len(rows_of(campaign, "edits")) == n - len(edited) < n
