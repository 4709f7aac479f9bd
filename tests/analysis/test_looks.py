"""Looks at a running campaign: what is decided so far, the stopping rule that closes it, and where both are shown."""

import csv
import io
from datetime import timedelta

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analysis.models import Look
from analysis.web.services.looks import LOOK, enqueue_looks, take_look
from annotation.models import Assignment
from annotation.services.assignments import finish_assignment
from campaigns.design.stopping import describe_pairs, pairs_to_decide
from campaigns.models import Campaign, Delivery
from campaigns.services.copies import duplicate_campaign
from campaigns.services.lifecycle import close_campaign
from campaigns.services.webhooks import add_webhook
from evalsite.accounts.models import User
from evalsite.jobs.handlers import JobContext, get_handler
from evalsite.jobs.models import Job
from tests.analysis.campaigns import analysed, rated_campaign, set_places
from tests.annotation.cast import make_worker, rate, rate_hit
from tests.campaigns.cast import SYSTEMS, make_campaign
from tests.databases import on_both

pytestmark = on_both
State = Assignment.State
N_PAIRS = 15


def watched_campaign(owner: User, *, n_rated: int = 11, rule: str = "all", **more) -> Campaign:
    """Return a running campaign of 12 HITs by as many workers, the first of them finished; its systems differ a lot."""
    return rated_campaign(
        owner, n_hits=12, n_rated=n_rated, n_workers=12, n_careless=0, worker_test="none", stopping_rule=rule, **more
    )


def test_a_campaign_closes_as_soon_as_every_pair_is_decided_and_says_why(owner: User, owner_client: Client) -> None:
    campaign = watched_campaign(owner)
    add_webhook(campaign=campaign, url="https://example.org/hook", events=["campaign.closed"])
    at_work = rate_hit(
        campaign.hits.get(number=12), make_worker(campaign, "late"), np.random.default_rng(3), state=State.ACTIVE
    )

    look = take_look(campaign=campaign)

    campaign.refresh_from_db()
    assert (look.n_assignments, look.n_workers, look.n_pairs, look.n_decided) == (11, 11, N_PAIRS, N_PAIRS)
    assert (look.has_closed, campaign.status) == (True, Campaign.Status.CLOSED)
    assert Delivery.objects.get().event == "campaign.closed"
    assert Job.objects.filter(kind="analysis.campaign").count() == 1
    assert finish_assignment(assignment_id=at_work.pk).completion_code  # who was at a HIT may finish it, and is paid
    overview = owner_client.get(reverse("campaigns:campaign", args=[campaign.public_id])).text
    assert "The campaign closed itself then, because every pair of systems was decided." in overview
    final = analysed(campaign)
    assert final.settings["workers_planned"] == 12, "when it ended depends on the ratings, so one look would be wrong"


def test_too_few_ratings_decide_nothing_and_the_campaign_goes_on(owner: User, owner_client: Client) -> None:
    campaign = watched_campaign(owner, n_rated=3)
    look = take_look(campaign=campaign)
    campaign.refresh_from_db()
    assert (look.n_decided, look.has_closed, campaign.status) == (0, False, Campaign.Status.RUNNING)
    results = owner_client.get(reverse("analysis:campaign_results", args=[campaign.public_id])).text
    assert "0 of 15 pairs of systems are decided after 3 assignments, valid whenever you look." in results
    assert "closes by itself as soon as every pair of systems is decided" in results
    sheet = owner_client.get(reverse("analysis:looks", args=[campaign.public_id])).text
    (row,) = csv.DictReader(io.StringIO(sheet))
    assert (row["finished assignments"], row["pairs decided"], row["closed the campaign"]) == ("3", "0", "no")


@pytest.mark.parametrize(("chosen", "n_wanted"), [([SYSTEMS[0]], 5), (["gone"], 0)])
def test_a_rule_may_wait_for_some_pairs_only(owner: User, chosen: list[str], n_wanted: int) -> None:
    campaign = watched_campaign(owner, rule="against", stopping_systems=chosen)
    look = take_look(campaign=campaign)
    assert (look.n_wanted, look.n_wanted_decided, look.has_closed) == (n_wanted, n_wanted, n_wanted > 0)
    assert {tuple(pair["systems"]) for pair in look.pairs if pair["is_wanted"]} == set(
        pairs_to_decide("against", chosen, sorted(SYSTEMS[:6]))
    )


def test_nothing_is_looked_at_without_a_rule_without_ratings_or_when_it_does_not_run(owner: User) -> None:
    assert take_look(campaign=watched_campaign(owner, rule="off")) is None
    assert take_look(campaign=watched_campaign(owner, n_rated=0)) is None
    closed = watched_campaign(owner)
    close_campaign(campaign=closed)
    assert take_look(campaign=closed) is None
    assert not Look.objects.exists()


def test_looks_come_by_themselves_but_not_too_often(owner: User) -> None:
    campaign = watched_campaign(owner, n_rated=3)
    watched_campaign(owner, rule="off")
    watched_campaign(owner, n_rated=0)
    now = timezone.now()
    for _ in range(2):  # two sweeps at once
        enqueue_looks(now)
    job = Job.objects.get(kind=LOOK)
    assert job.args == {"campaign": campaign.pk}
    get_handler(LOOK)(JobContext(), **job.args)
    Job.objects.filter(pk=job.pk).update(status="succeeded", finished_at=timezone.now())
    assert campaign.looks.count() == 1
    enqueue_looks(now + timedelta(minutes=5))
    assert Job.objects.filter(kind=LOOK).count() == 1, "nothing was finished since"
    set_places(campaign.hits.filter(number__gt=4), 0)
    rate(campaign, 12, np.random.default_rng(5))
    enqueue_looks(now + timedelta(minutes=1))
    assert Job.objects.filter(kind=LOOK).count() == 1, "the last look was a moment ago"
    enqueue_looks(now + timedelta(minutes=5))
    assert Job.objects.filter(kind=LOOK).count() == 2


def test_a_look_that_fails_is_not_tried_at_every_sweep(owner: User) -> None:
    watched_campaign(owner, n_rated=3)
    enqueue_looks()
    Job.objects.filter(kind=LOOK).update(status="failed", finished_at=timezone.now(), error_code="internal")
    enqueue_looks(timezone.now() + timedelta(minutes=5))
    assert Job.objects.filter(kind=LOOK).count() == 1


def test_looks_at_many_campaigns_take_as_many_queries_as_at_one(owner: User, django_assert_num_queries) -> None:
    for _ in range(3):
        campaign = make_campaign(owner)
        Campaign.objects.filter(pk=campaign.pk).update(status="running", stopping_rule="all")
    with django_assert_num_queries(1):
        enqueue_looks()


def test_a_copy_has_the_same_rule_and_no_looks(owner: User) -> None:
    campaign = watched_campaign(owner, n_rated=3, rule="among", stopping_systems=list(SYSTEMS[:3]))
    take_look(campaign=campaign)
    copy = duplicate_campaign(campaign=campaign, owner=owner, as_replication=True)
    assert (copy.stopping_rule, copy.stopping_systems) == ("among", list(SYSTEMS[:3]))
    assert not copy.looks.exists()


def test_the_rule_may_be_changed_while_the_campaign_runs(owner: User, owner_client: Client) -> None:
    campaign = watched_campaign(owner, n_rated=3, rule="off")
    url = reverse("campaigns:settings", args=[campaign.public_id])
    sent = {"stopping_rule": "among", "stopping_systems": ["", *SYSTEMS[:2]]}
    assert owner_client.post(url, sent, headers={"X-Autosave": "1"}).status_code == 200
    campaign.refresh_from_db()
    assert (campaign.stopping_rule, campaign.stopping_systems) == ("among", list(SYSTEMS[:2]))
    assert owner_client.post(url, {"stopping_systems": "nobody"}, headers={"X-Autosave": "1"}).status_code == 422
    overview = owner_client.get(reverse("campaigns:campaign", args=[campaign.public_id])).text
    assert f"as soon as {describe_pairs('among', SYSTEMS[:2])} is decided" in overview
