"""The results page of a campaign: empty, interim, final, under way, failed; and beside the run that it replicates."""

import zipfile
from dataclasses import asdict

import numpy as np
import pytest
from django.core.files.storage import default_storage
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analysis.models import AnalysisRun
from analysis.results.replication import compare_runs
from analysis.web.navigation import result_url
from analysis.web.services.campaigns import analyse_campaign
from annotation.models import Assignment
from annotation.simulation.running import make_crowd, open_site, run_crowd
from campaigns.models import Campaign
from evalsite.accounts.models import User
from evalsite.jobs.handlers import JobContext, get_handler
from evalsite.jobs.models import Job
from evalsite.lib.errors import DomainError
from tests.analysis.campaigns import analysed, rate_rest, rated_campaign
from tests.annotation.cast import build, launch, make_worker, rate_hit
from tests.campaigns.cast import add_member, add_outputs, make_campaign


def page_of(campaign: Campaign) -> str:
    return reverse("analysis:campaign_results", args=[campaign.public_id])


def test_before_the_first_rating_the_page_says_what_to_do(owner: User, owner_client: Client) -> None:
    campaign = make_campaign(owner)
    draft = owner_client.get(page_of(campaign))
    launch(campaign)
    launched = owner_client.get(page_of(campaign))

    assert 'class="empty"' in draft.text and reverse("campaigns:campaign", args=[campaign.public_id]) in draft.text
    assert 'class="empty"' in launched.text
    assert "Analyse now" not in draft.text + launched.text


def test_with_a_finished_hit_results_can_be_asked_for(owner: User, owner_client: Client) -> None:
    campaign = rated_campaign(owner, n_rated=1)
    assert "Analyse now" in owner_client.get(page_of(campaign)).text

    response = owner_client.post(page_of(campaign))

    job = Job.objects.get()
    assert response["Location"] == page_of(campaign)
    assert (job.kind, job.owner, job.args) == ("analysis.campaign", owner, {"campaign": campaign.pk, "user": owner.pk})
    waiting = owner_client.get(page_of(campaign))
    assert f'data-url="{reverse("analysis:campaign_job", args=[campaign.public_id, job.pk])}"' in waiting.text


def test_interim_results_say_how_much_they_hold_on_every_page(owner: User, owner_client: Client) -> None:
    campaign = rated_campaign(owner, n_rated=3)
    run = analysed(campaign)

    page = owner_client.get(page_of(campaign))

    assert 'badge-untested">interim</span> 3 of 4 assignments' in page.text
    for name in ("run", "pairs", "workers", "downloads"):
        text = owner_client.get(result_url(run, name)).text
        assert "interim" in text and "3 of 4 assignments" in text
        assert page_of(campaign) in text  # the way back
    assert "Valid whenever you look" in page.text
    assert "These tests hold for one look" in owner_client.get(result_url(run, "pairs")).text


def test_older_results_become_interim_when_more_ratings_come(owner: User, owner_client: Client) -> None:
    campaign = rated_campaign(owner, n_rated=3)
    old = analysed(campaign)
    rate_rest(campaign)
    between = owner_client.get(page_of(campaign))
    new = analysed(campaign)

    page = owner_client.get(page_of(campaign))

    assert between.context["run"] == old and "4 are finished by now" in between.text
    assert page.context["run"] == new
    assert 'badge-ready">final</span>' in page.text
    pairs = owner_client.get(result_url(new, "pairs")).text
    assert "Intervals and p hold for one look, when all ratings are there" in pairs
    assert "Valid whenever" not in pairs
    assert (old.settings["workers_planned"], "workers_planned" in new.settings) == (4, False)
    assert list(page.context["runs"]) == [new, old]
    assert "interim" in owner_client.get(result_url(old)).text


def test_a_campaign_that_was_closed_early_has_final_results(owner: User, owner_client: Client) -> None:
    campaign = rated_campaign(owner, n_rated=3)
    analysed(campaign)
    launch(campaign, Campaign.Status.CLOSED)
    assert 'badge-ready">final</span> 3 of 3 assignments' in owner_client.get(page_of(campaign)).text


def test_nothing_new_is_said_not_done(owner: User, owner_client: Client) -> None:
    campaign = rated_campaign(owner)
    analysed(campaign)
    response = owner_client.post(page_of(campaign))
    assert response.status_code == 409
    assert 'role="alert"' in response.text
    assert Job.objects.filter(kind="analysis.campaign").count() == 0


def test_a_viewer_has_no_button(owner: User, colleague: User, colleague_client: Client) -> None:
    campaign = rated_campaign(owner)
    add_member(campaign, colleague)
    assert "Analyse now" not in colleague_client.get(page_of(campaign)).text


@pytest.mark.parametrize("kind", ["analysis.campaign", "analysis.run"])
def test_a_failure_is_told_and_tried_again(owner: User, owner_client: Client, kind: str) -> None:
    campaign = rated_campaign(owner)
    owner_client.post(page_of(campaign))
    if kind == "analysis.run":
        Job.objects.update(status="succeeded", finished_at=timezone.now())
        analyse_campaign(campaign=campaign)
    Job.objects.filter(kind=kind).update(
        status="failed", finished_at=timezone.now(), error_code="internal", error_message="It went wrong."
    )

    failed = owner_client.get(page_of(campaign))
    again = owner_client.post(page_of(campaign))

    assert "It went wrong." in failed.text
    assert again["Location"] == page_of(campaign)
    assert Job.objects.filter(kind="analysis.campaign", status="queued").count() == 1


def test_a_colleague_is_told_of_a_failure_but_cannot_retry_another_s_job(
    owner: User, colleague: User, colleague_client: Client
) -> None:
    campaign = rated_campaign(owner)
    add_member(campaign, colleague, "editor")
    run = analyse_campaign(campaign=campaign)
    Job.objects.update(status="failed", finished_at=timezone.now(), error_code="x", error_message="It went wrong.")
    page = colleague_client.get(result_url(run))
    assert "It went wrong." in page.text
    assert reverse("jobs:retry", args=[run.job_id]) not in page.text


# --- Ratings that say little


def test_without_a_kept_worker_the_page_says_so(owner: User, owner_client: Client) -> None:
    campaign = rated_campaign(owner, n_workers=2, n_careless=2)
    run = analysed(campaign)
    page = owner_client.get(page_of(campaign))
    assert run.report["summary"]["workers"]["passed"] == 0
    assert page.status_code == 200
    assert page.text.count('role="note"') == len(run.report["notes"]) > 0


def test_one_system_is_enough_for_a_page(owner: User, owner_client: Client) -> None:
    campaign = make_campaign(owner)
    build(campaign, 2, n_systems=1)
    launch(campaign)
    rng = np.random.default_rng(3)
    for hit in campaign.hits.all():
        rate_hit(hit, make_worker(campaign, "ann"), rng)
    analysed(campaign)
    page = owner_client.get(page_of(campaign))
    assert page.status_code == 200
    assert len(page.context["ranking"].rows) == 1
    assert 'role="note"' in page.text


def test_criteria_that_cannot_be_tested_are_refused_with_the_reason(owner: User, owner_client: Client) -> None:
    campaign = rated_campaign(owner)
    campaign.criteria.update(is_in_worker_test=False)
    response = owner_client.post(page_of(campaign))
    assert (response.status_code, Job.objects.count()) == (409, 0)
    with pytest.raises(DomainError) as refused:
        analyse_campaign(campaign=campaign)
    assert refused.value.code == "bad_settings"


def test_settings_that_cannot_be_used_are_explained_where_one_changes_them(owner: User, owner_client: Client) -> None:
    campaign = rated_campaign(owner)
    run = analysed(campaign)
    campaign.criteria.update(is_in_worker_test=False)
    page = owner_client.get(reverse("analysis:protocol", args=[run.ratings_file.pk]))
    assert page.status_code == 200
    assert "No criterion is used by the worker test" in page.text
    assert page.context["chosen"] == "qg"


# --- Replication


@pytest.fixture
def pair(owner: User) -> tuple[Campaign, Campaign]:
    """A campaign and one that replicates it, both analysed."""
    original = rated_campaign(owner)
    copy = rated_campaign(owner, n_hits=3, replicates=original)
    analysed(original), analysed(copy)
    return original, copy


def test_a_replication_shows_how_far_it_agrees(owner_client: Client, pair) -> None:
    original, copy = pair
    page = owner_client.get(page_of(copy))

    results = [AnalysisRun.objects.get(ratings_file__campaign=each).result for each in pair]
    found = compare_runs(*results)
    assert page.context["replication"].systems == found.systems == list(results[0].systems)
    assert page_of(original) in page.text
    rows = page.text[page.text.index("How far this run") :].split("</table>")[0].split('<th scope="row"')[1:]
    assert f">{found.overall.pearson:.3f}</td>" in rows[0]
    assert len(rows) == 1 + copy.criteria.count()
    assert owner_client.get(page_of(original)).context["replication"] is None


def test_a_run_agrees_with_itself(pair) -> None:
    result = AnalysisRun.objects.get(ratings_file__campaign=pair[0]).result
    found = compare_runs(result, result)
    assert asdict(found.overall) == pytest.approx({"pearson": 1, "spearman": 1, "kendall": 1})
    assert found.same_conclusions == {"0.1": 1, "0.05": 1}


def test_whoever_may_not_see_the_original_sees_no_agreement(pair, colleague: User, colleague_client: Client) -> None:
    add_member(pair[1], colleague, "editor")
    page = colleague_client.get(page_of(pair[1]))
    assert page.context["replication"] is None
    assert page_of(pair[0]) not in page.text


# --- Queries


@pytest.mark.parametrize("n_runs", [1, 20])
def test_the_page_asks_the_database_the_same_few_times(
    owner: User, owner_client: Client, pair, django_assert_num_queries, n_runs: int
) -> None:
    done = AnalysisRun.objects.get(ratings_file__campaign=pair[1])
    for _ in range(1, n_runs):
        AnalysisRun.objects.create(
            ratings_file=done.ratings_file, created_by=owner, settings=done.settings, mapping=done.mapping, parent=done,
            report=done.report, finished_at=done.finished_at, created_at=done.created_at,
        )  # fmt: skip
    with django_assert_num_queries(16) as queries:
        assert owner_client.get(page_of(pair[1])).status_code == 200
    assert sum('"report"' in query["sql"] for query in queries.captured_queries) == 2
    assert Assignment.objects.count() > 0


@pytest.mark.parametrize("name", ["campaign_results", "campaign_live_workers"])
def test_pages_of_a_campaign_are_under_campaigns(owner: User, owner_client: Client, name: str) -> None:
    text = owner_client.get(reverse(f"analysis:{name}", args=[make_campaign(owner).public_id])).text
    nav = text[text.index("site-nav") : text.index("</nav>")]
    assert [link.split("</a>")[0][-9:] for link in nav.split("<li>") if "aria-current" in link] == ["Campaigns"]


def test_a_campaign_without_quality_control_items_ends_in_a_ranking_that_says_so(
    owner: User, owner_client: Client
) -> None:
    def send(name: str, **fields: object) -> None:
        response = owner_client.post(reverse(f"campaigns:{name}", args=[campaign.public_id]), fields)
        assert response.status_code == 302, response.text

    def do(kind: str) -> None:
        get_handler(kind)(JobContext(), **Job.objects.get(kind=kind).args)

    def design_text() -> str:
        return owner_client.get(reverse("campaigns:design", args=[campaign.public_id])).text

    owner_client.post(reverse("campaigns:new"), {"protocol": "custom", "name": "Experts"})
    campaign = Campaign.objects.get(name="Experts")
    add_outputs(campaign, n_sources=4, systems=["alder", "birch", "cedar"])
    send("instructions", instructions="Say how far you agree.")
    send("design", n_ordinary=6, n_degraded=0, n_repeat=0, n_reference=0)
    assert "no worker can pass" in design_text()
    send("design_no_test")
    assert "no worker can pass" not in design_text()
    send("build")
    do("campaigns.build_hits")
    send("launch")

    campaign.refresh_from_db()
    with open_site(None) as client:
        crowd = make_crowd(campaign, seed=3, n_workers=2, quality={"alder": 1.5, "birch": 0.0, "cedar": -1.5})
        assert run_crowd(campaign, crowd, client).n_hits == 2
    do("analysis.campaign")
    do("analysis.run")

    page = owner_client.get(page_of(campaign))
    assert [row.system for row in page.context["ranking"].rows] == ["alder", "birch", "cedar"]
    assert all(row.z is not None for row in page.context["ranking"].rows)
    assert "No worker test was applied: every worker counts" in page.text
    workers = owner_client.get(reverse("analysis:campaign_live_workers", args=[campaign.public_id]))
    assert {worker.conduct.verdict for worker in workers.context["page_obj"]} == {"trusted"}
    assert "not tested, counts" in workers.text
    with zipfile.ZipFile(default_storage.path(f"{page.context['run'].folder}/package.zip")) as package:
        assert "No worker test was applied" in package.read("README.txt").decode()
