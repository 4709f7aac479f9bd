"""Designs that are proposed for raters and their time, on the page of HITs."""

import html
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, Worker
from campaigns.models import Campaign
from campaigns.proposals import Pace, pace_of
from campaigns.services.copies import duplicate_campaign
from evalsite.accounts.models import User
from tests.campaigns.cast import add_outputs, make_campaign
from tests.campaigns.hits.built import build
from tests.campaigns.test_design_views import autosave, url
from tests.undo.button import offers, press_undo

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(owner: User) -> Campaign:
    """A draft of a QG campaign with 150 outputs of 15 systems."""
    campaign = make_campaign(owner, "qg")
    add_outputs(campaign, n_sources=10)
    return campaign


def lab(n_raters: int = 12, minutes: float = 30, **more: Any) -> dict[str, Any]:
    return {"raters": "lab", "n_raters": n_raters, "minutes": minutes, "seconds_per_item": 20, **more}


def test_a_proposed_design_says_what_it_gives_and_changes_nothing(owner_client: Client, campaign: Campaign) -> None:
    page = owner_client.get(url(campaign), lab())

    # 150 outputs, 11 of a HIT, 20 HITs with each output once; 12 raters have time for 7 HITs of 12 items each.
    assert "12 raters × 30 minutes: 21 HITs of 12 items, each output rated by 4" in page.text
    assert "between two systems would be found 4 times in 5." in page.text
    before = Campaign.objects.get(pk=campaign.pk)
    assert (before.n_ordinary, before.n_degraded, before.n_hits) == (11, 6, None)


def test_a_proposed_design_is_used_built_and_undone(owner_client: Client, campaign: Campaign) -> None:
    assert owner_client.post(url(campaign, "design_proposal"), lab()).status_code == 302

    campaign.refresh_from_db()
    assert (campaign.n_ordinary, campaign.n_degraded, campaign.n_repeat, campaign.worker_test) == (11, 0, 1, "none")
    assert (campaign.n_hits, campaign.workers_per_hit, campaign.hits_per_worker) == (21, 4, 7)
    assert campaign.minutes_per_hit == 4
    assert campaign.platform_settings["access"] == "personal"
    build(campaign)
    assert campaign.hits.count() == 21

    assert "The proposed design is set." in owner_client.get(url(campaign)).text
    press_undo(owner_client, url(campaign))
    campaign.refresh_from_db()
    assert (campaign.n_ordinary, campaign.n_degraded, campaign.n_repeat, campaign.n_hits) == (11, 6, 3, None)
    assert (campaign.worker_test, campaign.minutes_per_hit) == ("paired-wilcoxon", None)
    assert campaign.platform_settings["access"] == "open"
    assert campaign.status == Campaign.Status.DRAFT
    assert offers(owner_client, url(campaign)) == []


def test_hits_for_these_raters_are_built_at_once_and_lead_to_the_launch(
    owner_client: Client, campaign: Campaign
) -> None:
    answer = owner_client.post(url(campaign, "design_proposal"), {**lab(), "seconds_per_item": "", "build": "1"})

    assert answer["Location"] == f"{url(campaign)}?then=launch"
    campaign.refresh_from_db()
    assert campaign.build_job is not None
    overview = reverse("campaigns:campaign", args=[campaign.public_id])
    assert f'data-done-url="{overview}"' in owner_client.get(answer["Location"]).text
    build(campaign)
    assert owner_client.get(answer["Location"])["Location"] == overview
    owner_client.post(url(campaign, "instructions"), {"instructions": "Rate."})

    answer = owner_client.post(url(campaign, "launch"), {"is_confirmed": "1"})
    assert answer["Location"] == reverse("monitoring:raters_add", args=[campaign.public_id])  # nobody has a link yet


def test_a_later_change_is_not_undone_with_the_proposal(owner_client: Client, campaign: Campaign) -> None:
    owner_client.post(url(campaign, "design_proposal"), lab())
    autosave(owner_client, campaign, n_ordinary=5)
    press_undo(owner_client, url(campaign))

    campaign.refresh_from_db()
    assert (campaign.n_ordinary, campaign.n_degraded) == (5, 0)


def test_a_crowd_gets_a_worker_test_that_a_worker_can_pass(owner_client: Client, campaign: Campaign) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(worker_test="none")
    owner_client.post(url(campaign, "design_proposal"), lab(60, 8, raters="crowd"))

    campaign.refresh_from_db()
    assert campaign.worker_test == "paired-wilcoxon"
    assert campaign.n_degraded * campaign.criteria.count() >= 5
    page = owner_client.get(url(campaign))
    assert "unpassable" not in page.context or not page.context["unpassable"]


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (lab(minutes=0.2), "One item takes 20 seconds, and each rater has 0.2 minutes"),
        (lab(1, raters="experts"), "to be rated by 2 raters or more, and there is 1"),
        (lab(minutes=0.4, raters="crowd"), "too few for the degraded items"),
    ],
)
def test_a_design_that_cannot_be_is_refused_in_words(
    owner_client: Client, campaign: Campaign, sent: dict[str, Any], words: str
) -> None:
    assert words in html.unescape(owner_client.get(url(campaign), sent).text)
    assert words in html.unescape(owner_client.post(url(campaign, "design_proposal"), sent).text)
    assert Campaign.objects.get(pk=campaign.pk).n_hits is None


def test_raters_of_chats_are_asked_for_minutes_per_chat(owner_client: Client, owner: User) -> None:
    campaign = make_campaign(owner, "dialogue-free")
    source = campaign.sources.get()
    for name in ("a", "b", "c", "d", "e", "f"):
        source.outputs.create(system=campaign.systems.create(name=name), text="")
    sent = {"raters": "crowd", "n_raters": 20, "minutes": 30, "minutes_per_chat": 5}

    page = owner_client.get(url(campaign), sent)
    assert "20 raters × 30 minutes: 20 HITs of 6 chats; about 16 ratings per chatbot on each criterion." in page.text
    owner_client.post(url(campaign, "design_proposal"), sent)
    campaign.refresh_from_db()
    assert (campaign.n_ordinary, campaign.n_degraded, campaign.n_hits, campaign.workers_per_hit) == (5, 1, 20, 1)


def test_an_item_takes_as_long_as_in_the_campaign_that_this_one_repeats(owner: User, campaign: Campaign) -> None:
    build(campaign)
    worker = Worker.objects.create(platform="link", key="w")
    begun = timezone.now()
    Assignment.objects.create(
        campaign=campaign,
        hit=campaign.hits.first(),
        worker=worker,
        state="finished",
        n_items=20,
        started_at=begun,
        ended_at=begun + timedelta(seconds=20 * 33),
        leased_until=begun,
    )
    copy = duplicate_campaign(campaign=campaign, owner=owner, as_replication=True)

    assert pace_of(copy) == Pace(33, 1)
    assert pace_of(campaign).n_measured == 0
