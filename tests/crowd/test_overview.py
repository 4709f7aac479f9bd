"""What the overview of a campaign leads to next, from its draft to its end."""

from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.services.assignments import start_assignment
from campaigns.models import Campaign, Membership
from campaigns.services.lifecycle import close_campaign, pause_campaign
from crowd.models import Submission
from evalsite.accounts.models import User
from tests.analysis.campaigns import analysed
from tests.analysis.campaigns import rated_campaign as ratings_of
from tests.annotation.open_campaigns import open_campaign
from tests.campaigns.cast import add_member
from tests.crowd.rated import rated_campaign, submissions_of

pytestmark = pytest.mark.django_db


def overview(client: Client, campaign: Campaign) -> Any:
    return client.get(reverse("campaigns:campaign", args=[campaign.public_id]))


def leads_to(client: Client, campaign: Campaign, page: str) -> bool:
    step = overview(client, campaign).context["step"]
    return step is not None and step.url == reverse(page, args=[campaign.public_id])


def test_raters_get_their_link_and_then_progress_is_watched(
    owner: User, owner_client: Client, colleague: User, colleague_client: Client
) -> None:
    campaign = open_campaign(owner)
    add_member(campaign, colleague, Membership.Role.VIEWER)
    assert leads_to(owner_client, campaign, "monitoring:raters")
    assert overview(colleague_client, campaign).context["step"] is None  # a viewer cannot send links
    start_assignment(campaign=campaign, worker_key="ann", consented=True)
    assert "Nothing needs you now." in overview(owner_client, campaign).text
    assert "1 active" in overview(colleague_client, campaign).text


def test_a_paused_one_is_resumed_by_those_who_may(
    owner: User, owner_client: Client, colleague: User, colleague_client: Client
) -> None:
    campaign = open_campaign(owner)
    add_member(campaign, colleague, Membership.Role.VIEWER)
    pause_campaign(campaign=campaign)
    resume = reverse("campaigns:resume", args=[campaign.public_id])
    assert resume in overview(owner_client, campaign).text
    assert resume not in overview(colleague_client, campaign).text


def test_what_waits_for_pay_comes_before_everything_else(owner: User, owner_client: Client) -> None:
    campaign = rated_campaign(owner)
    assert leads_to(owner_client, campaign, "crowd:payments")
    close_campaign(campaign=campaign)
    assert leads_to(owner_client, campaign, "crowd:payments")
    Submission.objects.filter(pk=submissions_of(campaign)[0].pk).update(discrepancy="wrong_code")
    assert leads_to(owner_client, campaign, "crowd:discrepancies")


def test_the_finding_is_what_to_look_at_in_the_end(owner: User, owner_client: Client) -> None:
    campaign = ratings_of(owner)
    close_campaign(campaign=campaign)
    assert leads_to(owner_client, campaign, "analysis:campaign_results")
    assert "analysed" in overview(owner_client, campaign).text
    run = analysed(campaign)
    page = overview(owner_client, campaign)
    text, findings = unescape(page.text), run.result.findings
    assert page.context["step"] is None and f"{findings[0]} {findings[1]}</p>" in text, "for a colleague"
    assert "Copy for the next campaign" in text
    assert f"{reverse('analysis:campaign_downloads', args=[campaign.public_id])}#share" in text
    assert 'class="interval-strip"' in text or 'class="figure-card"' in text


def test_hits_of_a_platform_are_published_before_anybody_can_come(owner: User, owner_client: Client) -> None:
    campaign = open_campaign(owner, platform="mturk")
    assert leads_to(owner_client, campaign, "crowd:platform")
