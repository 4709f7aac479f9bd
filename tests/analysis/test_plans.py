"""Planning in the browser: what the form begins with, how a plan is made, who sees it, what is kept."""

import json
from dataclasses import replace
from decimal import Decimal
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analysis.models import PowerAnalysis
from analysis.planning.methods import PLANNED
from analysis.planning.plans import PlanSettings, make_plan
from analysis.planning.sections import planned_words
from analysis.stats.designs import PlannedDesign
from analysis.web.forms.planning import DEFAULTS
from analysis.web.queries.planning import plan_defaults
from analysis.web.services.planning import start_plan
from campaigns.models import Campaign
from campaigns.protocols import list_protocols
from campaigns.services.deletion import execute_deletion, refusals_of, request_deletion
from evalsite.jobs.handlers import JobContext, get_handler
from evalsite.jobs.models import Job
from evalsite.lib.errors import DomainError
from tests.analysis.campaigns import analysed, rated_campaign
from tests.campaigns.cast import SYSTEMS, add_member, add_outputs, make_campaign
from tests.undo.button import press_undo

SMALL = PlanSettings(PlannedDesign(3, 8, 20, 15), 20, n_simulations=1)
SENT = DEFAULTS | {
    "n_workers": 8,
    "n_systems": 3,
    "n_ordinary": 15,
    "difference": 20,
    "n_simulations": "100",
    "variances": "",
}


def make(plan: PowerAnalysis) -> PowerAnalysis:
    """Run the job of a plan, as its worker would."""
    get_handler("analysis.plan")(JobContext(), **plan.job.args)
    Job.objects.filter(pk=plan.job_id).update(status=Job.Status.SUCCEEDED, finished_at=timezone.now())
    return PowerAnalysis.objects.get(pk=plan.pk)


@pytest.fixture(scope="session")
def small_plan() -> dict:
    return make_plan(SMALL)


def url(campaign: Campaign | None) -> str:
    return reverse("analysis:campaign_plan", args=[campaign.public_id]) if campaign else reverse("analysis:plans")


@pytest.mark.parametrize("has_campaign", [True, False])
def test_what_is_sent_is_simulated_by_a_job_once(owner, owner_client: Client, has_campaign: bool) -> None:
    campaign = make_campaign(owner) if has_campaign else None
    answers = [owner_client.post(url(campaign), SENT) for _ in range(2)]
    plan = PowerAnalysis.objects.get()
    assert {answer.url for answer in answers} == {f"{url(campaign)}?plan={plan.pk}"}
    assert (plan.settings["design"]["n_workers"], plan.settings["difference"], plan.settings["target"]) == (8, 20, 0.8)
    assert plan.job.kind == "analysis.plan"
    assert "Simulating campaigns" in owner_client.get(answers[0].url).text
    assert owner_client.get(reverse("analysis:plan_job", args=[plan.pk])).json()["status"] == "queued"


def test_a_plan_is_shown_in_sentences_a_curve_and_tables_with_their_files(
    owner, owner_client: Client, small_plan
) -> None:
    plan = start_plan(user=owner, settings=SMALL)
    PowerAnalysis.objects.filter(pk=plan.pk).update(plan=small_plan)
    page = owner_client.get(url(None)).text
    assert "With 8 workers × 1 HIT of 15 ordinary items" in page
    for name, start in {
        "power.svg": b"<?xml",
        "power-dark.svg": b"<?xml",
        "power.pdf": b"%PDF",
        "power.csv": b"workers,assignments",
        "changes.tex": b"\\begin{table}",
        "model.xlsx": b"PK",
    }.items():
        answer = owner_client.get(reverse("analysis:plan_file", args=[plan.pk, name]))
        assert answer.content.startswith(start), name
    document = json.loads(owner_client.get(reverse("analysis:plan_file", args=[plan.pk, "plan.json"])).content)
    assert document["planned"] == small_plan["planned"]
    assert owner_client.get(reverse("analysis:plan_file", args=[plan.pk, "no.svg"])).status_code == 404


def test_a_campaign_is_planned_with_its_ratings_as_the_pilot(owner, owner_client: Client) -> None:
    campaign = rated_campaign(owner, n_hits=6, n_workers=6, n_careless=1, reward=Decimal("1.50"), platform="prolific")
    run = analysed(campaign, owner)
    page = owner_client.get(url(campaign)).text
    assert f'<option value="{run.pk}" selected>This campaign: ' in page
    settings = PlanSettings(PlannedDesign(3, 6, 20, 10), 20, n_simulations=1)
    made = make(start_plan(user=owner, settings=settings, campaign=campaign, pilot=run))
    assert made.plan["model"]["source"] == "pilot"
    assert made.plan["pilot"]["name"] == run.ratings_file.title
    assert made.plan["pilot"]["workers_counted"] < made.plan["pilot"]["workers"]
    assert "who count" in owner_client.get(url(campaign)).text


def test_the_form_begins_with_the_design_and_what_work_costs(owner) -> None:
    campaign = rated_campaign(
        owner, n_hits=4, n_workers=3, reward=Decimal("1.50"), platform="prolific", workers_per_hit=1
    )
    found = plan_defaults(campaign)
    assert found["n_workers"] == 4
    assert found["n_sources"] == campaign.sources.count()
    assert (str(found["reward"]), found["currency"]) == ("1.50", campaign.currency)
    assert found["fee"] > 0
    assert found["hits_per_day"] > 0


def test_a_draft_without_outputs_can_be_planned(owner, owner_client: Client) -> None:
    assert owner_client.get(url(make_campaign(owner))).status_code == 200
    assert owner_client.get(url(make_campaign(owner, "dialogue-free"))).status_code == 200


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"n_ordinary": 400}, "there are 300 outputs"),
        ({"n_degraded": 2}, "Nobody can pass the worker test"),
        ({"difference": 0}, "greater than or equal"),
        ({"workers_per_hit": 9}, "9 different workers"),
        ({"variances": "nobody’s"}, "Select a valid choice"),
    ],
)
def test_what_cannot_be_planned_is_said_and_nothing_is_lost(owner_client: Client, change, text) -> None:
    answer = owner_client.post(url(None), SENT | {"reward": "2.25"} | change)
    assert answer.status_code == 422
    assert text in answer.text
    assert 'value="2.25"' in answer.text
    assert not PowerAnalysis.objects.exists()


def test_a_pilot_that_is_too_small_fails_with_what_to_do(owner) -> None:
    campaign = rated_campaign(owner, n_hits=1, n_workers=1, n_careless=0)
    plan = start_plan(user=owner, settings=SMALL, campaign=campaign, pilot=analysed(campaign, owner))
    with pytest.raises(DomainError, match="Collect more"):
        make(plan)


def test_a_plan_of_ones_own_is_nobody_elses_and_plans_of_a_campaign_are_its_members(
    owner, stranger, stranger_client: Client
) -> None:
    own = start_plan(user=owner, settings=SMALL)
    campaign = make_campaign(owner)
    shared = start_plan(user=owner, settings=SMALL, campaign=campaign)
    assert stranger_client.get(f"{url(None)}?plan={own.pk}").status_code == 404
    add_member(campaign, stranger, "viewer")
    page = stranger_client.get(url(campaign)).text
    assert "Simulating campaigns" in page
    assert 'name="n_workers"' not in page
    assert stranger_client.get(f"{url(None)}?plan={shared.pk}").status_code == 404
    assert stranger_client.get(f"{url(campaign)}?plan={own.pk}").status_code == 404


def test_a_plan_is_deleted_when_it_is_made(owner, owner_client: Client, small_plan) -> None:
    plan = start_plan(user=owner, settings=SMALL)
    delete = reverse("analysis:delete_plan", args=[plan.pk])
    assert "still being made" in owner_client.post(delete, follow=True).text
    Job.objects.update(status=Job.Status.SUCCEEDED, finished_at=timezone.now())
    assert owner_client.post(delete, follow=True).status_code == 200
    assert not PowerAnalysis.objects.exists()
    assert not Job.objects.exists()
    press_undo(owner_client, url(None))
    assert PowerAnalysis.objects.get() == plan


def test_plans_of_a_run_that_is_deleted_stay(owner, owner_client: Client) -> None:
    campaign = rated_campaign(owner)
    run = analysed(campaign, owner)
    plan = start_plan(user=owner, settings=SMALL, campaign=campaign, pilot=run)
    run.delete()
    plan.refresh_from_db()
    assert plan.pilot is None
    assert owner_client.get(url(campaign)).status_code == 200


def test_plans_go_with_their_campaign_and_others_lose_their_pilot(owner) -> None:
    campaign = rated_campaign(owner)
    run = analysed(campaign, owner)
    plan = start_plan(user=owner, settings=SMALL, campaign=campaign, pilot=run)
    other = start_plan(user=owner, settings=SMALL, pilot=run)
    Campaign.objects.filter(pk=campaign.pk).update(status=Campaign.Status.CLOSED)
    campaign.refresh_from_db()
    assert any("being computed" in text for text in refusals_of(campaign))
    Job.objects.update(status=Job.Status.SUCCEEDED, finished_at=timezone.now())
    request_deletion(campaign=campaign, user=owner, name=campaign.name)
    campaign.refresh_from_db()
    execute_deletion(campaign=campaign, on_progress=lambda done, total, stage: None)
    assert not Campaign.objects.exists()
    assert list(PowerAnalysis.objects.values_list("pk", "pilot")) == [(other.pk, None)]
    assert not Job.objects.filter(pk=plan.job_id).exists()


def test_a_campaign_of_comparisons_is_planned_as_such(owner, owner_client: Client) -> None:
    campaign = make_campaign(owner, "preference")
    page = owner_client.get(url(campaign)).text
    assert '<option value="preference" selected>' in page
    found = plan_defaults(campaign)
    assert (found["difference"], found["layout"], found["worker_test"]) == (60, "pooled", "sign")


def test_a_campaign_of_magnitudes_is_planned_by_the_outputs_that_its_pages_show(owner, owner_client: Client) -> None:
    """RankME shows four outputs on each of twelve pages; magnitude estimation one on each of forty."""
    for protocol, n_ordinary in (("rank-me", 48), ("magnitude", 40)):
        campaign = make_campaign(owner, protocol)
        page = owner_client.get(url(campaign)).text
        assert '<option value="magnitude" selected>' in page
        found = plan_defaults(campaign)
        assert (found["difference"], found["n_ordinary"], found["n_degraded"]) == (1.2, n_ordinary, 8)
        assert PlanSettings.from_json(_planned(owner_client, campaign).settings).planned_method.slug == "magnitude"


def _planned(client: Client, campaign: Campaign) -> PowerAnalysis:
    sent = DEFAULTS | {"variances": ""} | plan_defaults(campaign) | {"n_simulations": "100"}
    answer = client.post(url(campaign), {name: value for name, value in sent.items() if value is not None})
    assert answer.status_code == 302, answer.text
    return PowerAnalysis.objects.get(campaign=campaign)


def test_a_pilot_of_scores_is_refused_for_magnitudes_before_anything_is_simulated(owner, owner_client: Client) -> None:
    pilot = str(analysed(rated_campaign(owner), owner).pk)
    answer = owner_client.post(url(None), SENT | {"method": "magnitude", "difference": 1.2, "variances": pilot})
    assert answer.status_code == 422
    assert "Plan magnitudes without one" in answer.text
    assert not PowerAnalysis.objects.exists()


def test_campaigns_of_documents_are_planned_by_their_segments(owner, owner_client: Client) -> None:
    """Ten of a document as long as there is none; then as many as documents have in the mean."""
    campaign = make_campaign(owner, "mqm")
    found = plan_defaults(campaign)
    assert (found["n_ordinary"], found["n_degraded"], found["n_repeat"], found["n_criteria"]) == (70, 20, 10, 1)
    assert (found["method"], found["difference"]) == ("spans", 0.5)
    add_outputs(campaign, n_sources=20, systems=SYSTEMS[:4])
    for number, source in enumerate(campaign.sources.all()):
        source.document = f"document {number // 4}"
        source.save()
    assert plan_defaults(campaign)["n_ordinary"] == 7 * 4
    assert _planned(owner_client, campaign).settings["design"]["n_degraded"] == 2 * 4
    assert plan_defaults(make_campaign(owner, "da-document"))["n_criteria"] == 1


@pytest.mark.parametrize("protocol", [each.slug for each in list_protocols()])
def test_a_campaign_of_every_protocol_is_planned_as_its_form_proposes(
    owner, owner_client: Client, protocol: str
) -> None:
    """As a draft without outputs, and with some."""
    campaign = make_campaign(owner, protocol)
    for has_outputs in (False, True):
        if has_outputs and campaign.is_live:
            continue
        if has_outputs:
            add_outputs(campaign, n_sources=12, systems=SYSTEMS[:6])
        assert f'<option value="{campaign.method}" selected>' in owner_client.get(url(campaign)).text
        proposed = PlanSettings.from_json(_planned(owner_client, campaign).settings)
        plan = make_plan(replace(proposed, n_simulations=1))
        assert plan["curve"][-1]["workers_counted"] > 0
        assert plan["curve"][-1]["half_width"] > 0
        PowerAnalysis.objects.update(plan=plan)
        page = owner_client.get(url(campaign)).text
        assert planned_words(proposed.to_json()) in unescape(page)
        assert "How responses are taken to vary" in page
        PowerAnalysis.objects.all().delete()


def test_a_campaign_whose_responses_cannot_be_planned_says_so_and_plans_no_sliders(
    owner, owner_client: Client, monkeypatch
) -> None:
    others = {slug: planned for slug, planned in PLANNED.items() if slug != "spans"}
    monkeypatch.setattr("analysis.web.queries.planning.PLANNED", others)
    campaign = make_campaign(owner, "mqm")
    page = owner_client.get(url(campaign)).text
    assert "There is no plan for the response method of this campaign" in page
    assert "plan-form" not in page
    refused = owner_client.post(url(campaign), {"difference": 5})
    assert refused.status_code == 422
    assert not PowerAnalysis.objects.exists()
