"""The ranking shows before the rest of an analysis is made; results of a campaign are pages of the campaign."""

from contextlib import contextmanager

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analysis.models import AnalysisRun
from analysis.web.navigation import result_url
from analysis.web.services.campaigns import analyse_campaign
from analysis.web.services.runs import execute_run
from campaigns.contracts.result_pages import PAGE_OF
from campaigns.models import Campaign
from evalsite.accounts.models import User
from tests.analysis.campaigns import analysed, rated_campaign
from tests.campaigns.cast import add_member

PAGES = ("pairs", "workers", "compare", "downloads")


class StoppedError(Exception):
    """The job was stopped after the ranking was stored."""


@pytest.fixture
def half_done(owner: User) -> AnalysisRun:
    """A run of a campaign whose job has stored the ranking and no more."""
    run = analyse_campaign(campaign=rated_campaign(owner))

    @contextmanager
    def saving():
        with transaction.atomic():
            yield

    def stop_after_ranking(stage: str) -> None:
        if stage == "Bootstrap intervals":
            raise StoppedError

    with pytest.raises(StoppedError):
        execute_run(run=run, on_stage=stop_after_ranking, saving=saving)
    return AnalysisRun.objects.select_related("ratings_file__campaign", "job").get(pk=run.pk)


def test_the_ranking_shows_while_the_rest_is_made(half_done: AnalysisRun, owner_client: Client) -> None:
    campaign = half_done.ratings_file.campaign
    url = reverse("analysis:campaign_results", args=[campaign.public_id])
    page = owner_client.get(url)
    assert page.context["run"] == half_done and half_done.report is None
    assert len(page.context["finding"]) == 3 and page.context["finding"][0] in page.text.replace("&lt;", "<")
    assert "data-partial" in page.text and 'class="interval-line"' not in page.text
    assert "LaTeX tables" not in page.text and "/downloads/?" not in page.text
    for address in (
        reverse("analysis:campaign_job", args=[campaign.public_id, half_done.job_id]),
        reverse("analysis:run_job", args=[half_done.pk]),
    ):
        assert owner_client.get(address).json()["partial"] is True


@pytest.mark.parametrize("page", PAGES)
def test_a_page_that_needs_more_than_the_ranking_waits_for_it(
    half_done: AnalysisRun, owner_client: Client, page: str
) -> None:
    """Downloads above all: pressed beside the ranking, before there are files, the page fills in by itself."""
    for address in (result_url(half_done, page), result_url(half_done, page).split("?")[0]):
        waiting = owner_client.get(address)
        assert waiting.status_code == 200
        assert "as soon as" in waiting.text and "data-job-progress" in waiting.text
        assert "data-partial" in waiting.text, "the ranking alone is no reason to load it again"
        assert f"<h1>{PAGE_OF[page].title}</h1>" in waiting.text
    execute_run(run=half_done, on_stage=lambda stage: None, saving=transaction.atomic)
    done = owner_client.get(address)
    assert "data-job-progress" not in done.text
    assert "package.zip" in done.text or page != "downloads"


def test_pages_wait_for_the_run_that_the_findings_show(half_done: AnalysisRun, owner_client: Client) -> None:
    """Never the files of an older result, beside the ranking of a newer one."""
    newer = half_done.pk
    half_done.pk, half_done.job, half_done.report = None, None, {"summary": {}}
    half_done.save()
    AnalysisRun.objects.filter(pk=newer).update(created_at=timezone.now())
    assert AnalysisRun.objects.first().pk == newer
    waiting = owner_client.get(result_url(half_done, "downloads").split("?")[0])
    assert waiting.context["run"].pk == newer and "data-job-progress" in waiting.text


def test_the_finished_report_agrees_with_what_showed_first(half_done: AnalysisRun, owner_client: Client) -> None:
    first = half_done.first_report
    execute_run(run=half_done, on_stage=lambda stage: None, saving=transaction.atomic)
    done = AnalysisRun.objects.get(pk=half_done.pk)
    assert done.first_report is None
    for row in (*first["summary"]["systems"], *done.report["summary"]["systems"]):
        del row["interval"]  # which follows
    assert done.report["summary"] == first["summary"] and done.report["worker_table"] == first["worker_table"]
    page = owner_client.get(result_url(half_done))
    assert 'class="interval-line"' in page.text and "data-job-progress" not in page.text


def test_a_viewer_sees_no_name_in_what_shows_first(
    half_done: AnalysisRun, colleague: User, colleague_client: Client
) -> None:
    add_member(half_done.ratings_file.campaign, colleague)
    page = colleague_client.get(result_url(half_done))
    assert page.status_code == 200 and "worker-00" not in page.text
    assert "worker-00" not in str(page.context["result"])


# --- One place


@pytest.fixture
def campaign(owner: User) -> Campaign:
    return rated_campaign(owner)


def test_old_addresses_lead_to_the_campaign(campaign: Campaign, owner_client: Client) -> None:
    run = analysed(campaign)
    run.ratings_file.campaign = campaign
    for page in ("run", *PAGES):
        old = reverse(f"analysis:{page}", args=[run.pk])
        assert owner_client.get(old + "?x=1")["Location"] == f"{result_url(run, page)}&x=1"
        assert owner_client.get(result_url(run, page)).context["side_bar"].title == campaign.name


def test_pages_are_of_the_newest_run_unless_another_is_chosen(
    campaign: Campaign, owner: User, owner_client: Client
) -> None:
    old = analysed(campaign)
    Campaign.objects.filter(pk=campaign.pk).update(alpha=0.2)
    campaign.refresh_from_db()
    new = analysed(campaign)
    for run in (old, new):
        run.ratings_file.campaign = campaign
    for page in PAGES:
        newest = result_url(new, page).split("?")[0]
        assert owner_client.get(newest).context["run"] == new
        chosen = owner_client.get(result_url(old, page))
        assert chosen.context["run"] == old and f"run={old.pk}" in chosen.context["side_bar"].page.url
    foreign = rated_campaign(owner)
    theirs = analysed(foreign)
    wrong = reverse("analysis:campaign_pairs", args=[campaign.public_id]) + f"?run={theirs.pk}"
    assert owner_client.get(wrong).status_code == 404
    assert owner_client.get(wrong.split("=")[0] + "=nonsense").status_code == 404


def test_without_a_result_all_pages_say_what_to_do(campaign: Campaign, owner_client: Client) -> None:
    for name in ("pairs", "workers", "chats", "compare", "downloads"):
        answer = owner_client.get(reverse(f"analysis:campaign_{name}", args=[campaign.public_id]))
        assert answer.templates[0].name == "analysis/no_results.html"


def test_a_narrow_ranking_can_be_copied(campaign: Campaign, owner_client: Client) -> None:
    run = analysed(campaign)
    run.ratings_file.campaign = campaign
    text = owner_client.get(result_url(run)).text
    code = text[text.index('id="latex-systems-compact"') :].split("</pre>")[0]
    assert r"system &amp; z &amp; n &amp; cluster" in code
    assert 'data-copy-from="#latex-systems-compact"' in text and 'data-copy-from="#latex-systems"' in text
