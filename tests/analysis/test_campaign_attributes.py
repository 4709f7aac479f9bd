"""Attributes of raters in a campaign's results: snapshots, pools, systems by groups of raters."""

import json

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from analysis.web.services.campaigns import analyse_campaign, request_analysis
from annotation.raters.lists import RaterEntry
from annotation.services.erasing import erase_worker
from annotation.services.invitations import invite_raters
from campaigns.models import Campaign
from evalsite.accounts.models import User
from evalsite.jobs.models import Job
from evalsite.lib.errors import DomainError
from tests.analysis.campaigns import analysed, invite, names_in, snapshot
from tests.analysis.conftest import finish
from tests.analysis.test_downloads import as_downloaded, replicated
from tests.annotation.cast import build, launch, make_worker, rate
from tests.campaigns.cast import make_campaign
from tests.conftest import make_owner

pytestmark = pytest.mark.django_db

N_WORKERS = 8


@pytest.fixture(scope="module")
def made(module_db: None) -> Campaign:
    """A campaign that eight workers have answered."""
    campaign = make_campaign(make_owner(), "qg", name="Questions")
    campaign.workers_per_hit = N_WORKERS
    campaign.save()
    build(campaign, 4)
    launch(campaign)
    rate(campaign, N_WORKERS, np.random.default_rng(5))
    return campaign


@pytest.fixture
def campaign(made: Campaign, db: None) -> Campaign:
    return Campaign.objects.get(pk=made.pk)


def test_a_snapshot_has_them_at_the_end_and_is_byte_for_byte_the_same_without(campaign: Campaign, owner: User) -> None:
    before = analysed(campaign)
    Job.objects.update(status=Job.Status.SUCCEEDED)
    with pytest.raises(DomainError, match="Nothing was rated"):
        request_analysis(campaign=campaign, user=owner)
    names = names_in(campaign)
    invite_raters(campaign=campaign, raters=[RaterEntry(name) for name in names])
    assert analyse_campaign(campaign=campaign).pk == before.pk, "invitations without attributes change nothing"
    with pytest.raises(DomainError, match="Nothing was rated"):
        request_analysis(campaign=campaign, user=owner)
    invite(campaign, names)
    request_analysis(campaign=campaign, user=owner)
    after = analyse_campaign(campaign=campaign)
    cells = dict(
        zip(names, [f",{'lab' if k % 2 else 'crowd'},{k}" for k in range(N_WORKERS - 1)] + [",,"], strict=True)
    )
    header, *rows = snapshot(before)
    expected = [header + ",pool,years", *(row + cells[row.partition(",")[0]] for row in rows)]
    assert snapshot(after) == expected


def test_the_pool_of_raters_is_compared_and_their_groups_are_offered(
    campaign: Campaign, owner_client: Client, tmp_path
) -> None:
    invite(campaign, names_in(campaign))
    run = analysed(campaign)
    reliability = owner_client.get(reverse("analysis:campaign_reliability", args=[campaign.public_id])).text
    assert "crowd" in reliability and "lab" in reliability
    page = owner_client.get(reverse("analysis:campaign_results", args=[campaign.public_id])).text
    assert [name for name in ("pool", "years", "worker", "position") if f'name="groups" value="{name}"' in page] == [
        *("pool", "years"),
    ]
    sent = {"worker_test": run.settings["worker_test"]["preset"], "alpha": 0.05, "unit": run.settings["unit"]}
    address = reverse("analysis:run", args=[run.pk])
    assert owner_client.post(address, sent | {"groups": ["colour"]}).status_code == 422
    answer = owner_client.post(address, sent | {"comparison": "clustered", "groups": ["pool"]})
    assert answer.status_code == 302
    changed = finish(run.children.get())
    assert changed.settings["groups"] == ["pool"]
    [entry] = changed.report["groups"]
    assert (entry["by"], entry["groups"]) == ("pool", ["crowd", "lab"])
    groups = reverse("analysis:campaign_groups", args=[campaign.public_id])
    assert "depend on pool" in owner_client.get(groups, {"run": changed.pk}).text
    summary, again = replicated(as_downloaded(owner_client, changed), tmp_path)
    assert again == summary and json.loads(summary)["groups"] == changed.report["groups"]


def test_systems_are_compared_by_groups_of_sources(campaign: Campaign, owner_client: Client) -> None:
    invite(campaign, names_in(campaign))
    for k, source in enumerate(campaign.sources.order_by("pk")):
        source.attribute_values = {"domain": "news" if k % 2 else "chat", "years": "1990"}
        source.save()
    run = analysed(campaign)
    header, first, *_ = snapshot(run)
    assert header.endswith(",pool,rater years,domain,years"), "sources and raters have years"
    assert first.endswith(",chat,1990")
    sent = {"worker_test": "none", "alpha": 0.05, "unit": run.settings["unit"], "groups": ["domain", "rater years"]}
    assert owner_client.post(reverse("analysis:run", args=[run.pk]), sent).status_code == 302
    changed = finish(run.children.get())
    domains, years = changed.report["groups"]
    assert (domains["groups"], years["is_cut"]) == (["chat", "news"], True)
    assert all(score["score"] is not None for system in domains["systems"] for score in system["scores"])


def test_what_is_erased_of_a_rater_is_in_no_later_snapshot(campaign: Campaign, owner: User) -> None:
    names = names_in(campaign)
    invite(campaign, names)
    invite_raters(campaign=campaign, raters=[RaterEntry(names[0], attributes={"pool": "alone"})])
    assert any(row.endswith(",alone,0") for row in snapshot(analysed(campaign)))
    erase_worker(campaign=campaign, worker=make_worker(campaign, names[0]), wants=("results",), user=owner)
    assert "alone" not in "".join(snapshot(analyse_campaign(campaign=campaign)))
