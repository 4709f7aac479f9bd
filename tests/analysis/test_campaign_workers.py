"""The worker table of a campaign, live: the same numbers as the final report's, seen while HITs still end."""

import re
from datetime import timedelta
from html import unescape

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analysis.web.navigation import result_url
from analysis.web.queries.campaigns import settings_of
from analysis.web.queries.workers_now import LiveWorker, Suspicion, kept_file, list_live_workers
from analysis.web.records import AnalysisRecords
from analysis.web.services.campaigns import analyse_campaign
from annotation.models import Assignment, Response
from campaigns.design.composition import Kind
from campaigns.models import Campaign, HitItem
from evalsite.accounts.models import User
from evalsite.jobs.handlers import JobContext, get_handler
from evalsite.lib.media import get_media
from tests.analysis.campaigns import analysed, rate_rest, rated_campaign
from tests.annotation.cast import launch, make_worker, rate_hit
from tests.campaigns.cast import add_member, make_campaign

State = Assignment.State


def page_of(campaign: Campaign, query: str = "") -> str:
    return reverse("analysis:campaign_live_workers", args=[campaign.public_id]) + query


def live(campaign: Campaign) -> dict[str, LiveWorker]:
    return {w.name: w for w in list_live_workers(campaign, settings_of(campaign), timezone.now())}


def give_all(campaign: Campaign, worker: str, **values) -> None:
    """Rewrite what a worker left, as no page can."""
    Response.objects.filter(assignment__campaign=campaign, assignment__worker__key__endswith=worker).update(**values)


def test_reference_items_are_as_far_from_ordinary_ones_as_in_the_report(owner: User, owner_client: Client) -> None:
    campaign = rated_campaign(owner)
    assert "Distance" not in owner_client.get(page_of(campaign)).text
    HitItem.objects.filter(hit__campaign=campaign, kind=Kind.REPEAT).update(kind=Kind.REFERENCE)
    get_media().delete(kept_file(campaign.public_id))  # ratings do not change in the product

    run, found = analysed(campaign), live(campaign)

    for row in run.report["worker_table"]:
        conduct = found[row["worker"]].conduct
        assert (conduct.reference_mean, conduct.reference_distance) == pytest.approx(
            (row["reference_mean"], row["reference_distance"])
        )
        assert row["reference_mean"] is not None
    overall = run.report["summary"]["references"]
    for name in ("run", "workers"):
        page = owner_client.get(result_url(run, name)).text
        assert "Reference items, mean" in page and f"{overall['mean']:.1f}" in page
    for address in (page_of(campaign), result_url(run, "workers")):
        page = owner_client.get(address).text
        assert "Distance" in page and f"{run.report['worker_table'][0]['reference_mean']:.1f}" in page


@pytest.mark.parametrize("test", ["paired-wilcoxon", "unpaired-ranksum", "paired-t"])
def test_p_and_verdict_are_those_of_the_final_report(owner: User, test: str) -> None:
    campaign = rated_campaign(owner, n_hits=7, worker_test=test, negative="relevancy")
    campaign.criteria.filter(name="answerability").update(is_in_worker_test=False)

    report = analysed(campaign).report

    found = live(campaign)
    assert {row["worker"] for row in report["worker_table"]} == set(found)
    for row in report["worker_table"]:
        worker = found[row["worker"]]
        assert worker.conduct.p == pytest.approx(row["p"], rel=1e-9)
        assert (worker.conduct.verdict, worker.conduct.n_compared) == (row["verdict"], row["n_compared"])
        assert len(worker.finished) == row["n_assignments"]
    assert {row["verdict"] for row in report["worker_table"]} == {"passed", "failed"}


def test_only_finished_hits_count(owner: User) -> None:
    campaign = rated_campaign(owner, n_rated=3)
    before = live(campaign)
    rest = campaign.hits.get(number=4)
    rate_hit(rest, make_worker(campaign, "worker-000"), np.random.default_rng(1), n_rated=4, state=State.ACTIVE)
    rate_hit(rest, make_worker(campaign, "newcomer"), np.random.default_rng(1), n_rated=4, state=State.RETURNED)

    after = live(campaign)

    assert after["worker-000"].conduct == before["worker-000"].conduct
    assert after["worker-000"].n_active == 1
    assert (after["newcomer"].n_left, after["newcomer"].conduct.verdict) == (1, "untested")
    assert after["newcomer"].conduct.p is None


def test_a_lease_that_has_ended_is_nobody_rating_now(owner: User) -> None:
    campaign = rated_campaign(owner, n_rated=3)
    hit = campaign.hits.get(number=4)
    long_ago = timezone.now() - timedelta(days=2)
    rate_hit(hit, make_worker(campaign, "asleep"), np.random.default_rng(1), n_rated=1, state=State.ACTIVE,
             started_at=long_ago)  # fmt: skip
    assert (live(campaign)["asleep"].n_active, live(campaign)["asleep"].n_left) == (0, 1)


def test_the_table_changes_when_a_hit_ends_and_reads_only_what_is_new(owner: User, django_assert_num_queries) -> None:
    campaign = rated_campaign(owner, n_rated=3)
    settings, now = settings_of(campaign), timezone.now()
    with django_assert_num_queries(7):
        list_live_workers(campaign, settings, now)
    with django_assert_num_queries(2):
        before = list_live_workers(campaign, settings, now)
    rate_rest(campaign)
    with django_assert_num_queries(7):
        after = list_live_workers(campaign, settings, now)
    changed = [a.name for a, b in zip(after, before, strict=True) if a.conduct != b.conduct]
    assert changed == ["worker-000"]
    name, media = kept_file(campaign.public_id), get_media()
    for text in (b"", b"{", b'{"settings": 1}', media.read(name).replace(b"n_items", b"n")):
        media.write(name, text)  # by another version, say
        assert list_live_workers(campaign, settings, now) == after


def test_the_table_is_ready_when_the_results_are_and_deleted_with_the_campaign(
    owner: User, django_assert_num_queries
) -> None:
    campaign = rated_campaign(owner, n_rated=2)
    run = analyse_campaign(campaign=campaign)
    get_handler("analysis.run")(JobContext(), run=str(run.pk))
    settings = settings_of(campaign)
    with django_assert_num_queries(2):
        found = list_live_workers(campaign, settings, timezone.now())
    text = get_media().read(kept_file(campaign.public_id)).decode()
    assert not [worker.name for worker in found if worker.name in text]
    AnalysisRecords().delete_files(campaign.pk)
    with pytest.raises(FileNotFoundError):
        get_media().read(kept_file(campaign.public_id))


def test_another_alpha_gives_other_verdicts_at_once(owner: User) -> None:
    campaign = rated_campaign(owner)
    before = live(campaign)
    campaign.alpha = 1e-12
    assert "passed" in {worker.conduct.verdict for worker in before.values()}
    assert {worker.conduct.verdict for worker in live(campaign).values()} == {"failed"}


# --- The page


def cells_of(text: str, worker: str) -> list[str]:
    """Return the numbers of a worker's row: p, compared, difference, HITs, left, items, repeats, longest, SD, …"""
    row = text[text.index(f'title="{worker}"') :].split("</tr>")[0]
    return [unescape(cell) for cell in re.findall(r'<td [^>]*class="num"[^>]*>([^<]*)</td>', row)]


def test_suspicious_workers_come_first_with_the_reason(owner: User, owner_client: Client) -> None:
    campaign = rated_campaign(owner)
    give_all(campaign, "worker-001", score=100)

    page = owner_client.get(page_of(campaign))

    first = page.context["page_obj"][0]
    assert (first.name, first.conduct.suspicions) == ("worker-001", [Suspicion.REPEATS, Suspicion.LITTLE_SPREAD])
    assert "repeats scores</span>" in page.text and "little spread</span>" in page.text
    p, _, _, _, _, _, repeats, longest, sd, *_ = cells_of(page.text, first.name)
    assert (p, repeats, longest, sd) == ("> .9999", "100 %", "40", "0.0")


def test_who_clicks_through_is_very_fast(owner: User, owner_client: Client) -> None:
    campaign = rated_campaign(owner)
    start = timezone.now()
    give_all(campaign, "worker-001", rated_at=start)
    Assignment.objects.filter(worker__key__endswith="worker-001").update(started_at=start)
    page = owner_client.get(page_of(campaign))
    row = next(row for row in page.context["page_obj"] if row.name == "worker-001")
    assert (row.conduct.suspicions, cells_of(page.text, row.name)[-2:]) == ([Suspicion.FAST], ["0.0", "100 %"])


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", {"worker-000", "worker-001", "worker-002", "now"}),
        ("?show=suspicious", {"worker-001"}),
        ("?show=active", {"now"}),
        ("?show=untested", {"now"}),
        ("?search=-002", {"worker-002"}),
        ("?show=active&search=x", set()),
    ],
)
def test_the_table_shows_who_is_looked_for(owner: User, owner_client: Client, query: str, names: set[str]) -> None:
    campaign = rated_campaign(owner, n_rated=3)
    give_all(campaign, "worker-001", score=100)
    hit = campaign.hits.get(number=4)
    rate_hit(hit, make_worker(campaign, "now"), np.random.default_rng(1), n_rated=1, state=State.ACTIVE)
    page = owner_client.get(page_of(campaign, query))
    assert {row.name for row in page.context["page_obj"]} == names


def test_an_unknown_filter_is_not_found(owner: User, owner_client: Client) -> None:
    assert owner_client.get(page_of(rated_campaign(owner), "?show=rich")).status_code == 404


def test_before_anybody_rates_the_page_says_what_to_do(owner: User, owner_client: Client) -> None:
    campaign = make_campaign(owner)
    assert 'class="empty"' in owner_client.get(page_of(campaign)).text
    launch(campaign)
    assert 'class="empty"' in owner_client.get(page_of(campaign)).text


def test_criteria_that_cannot_be_tested_are_reported(owner: User, owner_client: Client) -> None:
    campaign = rated_campaign(owner)
    campaign.criteria.update(is_in_worker_test=False)
    page = owner_client.get(page_of(campaign))
    assert page.status_code == 200
    assert 'role="alert"' in page.text


def test_a_viewer_sees_hashes_and_an_editor_names(
    owner: User, colleague: User, colleague_client: Client, owner_client: Client
) -> None:
    campaign = rated_campaign(owner)
    add_member(campaign, colleague)
    assert "worker-000" not in colleague_client.get(page_of(campaign)).text
    assert "worker-000" in owner_client.get(page_of(campaign)).text


@pytest.mark.parametrize("n_hits", [3, 9])
def test_the_page_asks_the_database_the_same_few_times(
    owner: User, owner_client: Client, django_assert_num_queries, n_hits: int
) -> None:
    campaign = rated_campaign(owner, n_hits=n_hits, n_workers=n_hits)
    with django_assert_num_queries(12):
        owner_client.get(page_of(campaign))
    with django_assert_num_queries(7):
        owner_client.get(page_of(campaign))


@pytest.mark.parametrize("name", ["campaign_results", "campaign_live_workers"])
def test_other_methods_are_refused(owner: User, owner_client: Client, name: str) -> None:
    url = reverse(f"analysis:{name}", args=[make_campaign(owner).public_id])
    assert owner_client.delete(url).status_code == 405


def test_workers_of_a_campaign_without_scores_are_listed_all_the_same(owner: User, owner_client: Client) -> None:
    campaign = rated_campaign(owner, n_hits=3, n_workers=3)
    campaign.criteria.update(response="text", settings={})
    page = owner_client.get(page_of(campaign)).text
    assert "The campaign’s method reads none of the answers" in page
    assert 'data-label="HITs"' in page and "worker-000" in page
    assert "Verdict" not in page.partition("<table")[2]
