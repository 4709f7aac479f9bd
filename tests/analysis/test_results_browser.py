"""The results page of a campaign in a browser: it shows the results by itself as soon as they are there."""

import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from analysis.web.queries.campaigns import find_job
from analysis.web.services.campaigns import request_analysis
from evalsite.accounts.models import User
from evalsite.jobs.running import run_job
from tests.analysis.campaigns import rated_campaign

pytestmark = pytest.mark.django_db(transaction=True)


def test_browser_results_come_by_themselves_when_the_analysis_ends(
    page: Page, live_server: LiveServer, owner: User, owner_client: Client
) -> None:
    campaign = rated_campaign(owner)
    request_analysis(campaign=campaign, user=owner)
    cookie = owner_client.cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": cookie, "url": live_server.url}])
    url = live_server.url + reverse("analysis:campaign_results", args=[campaign.public_id])
    with page.expect_response("**/jobs/**"):  # the page has seen that the analysis has not ended
        page.goto(url)
    expect(page.get_by_role("heading", name="An analysis is under way")).to_be_visible()

    while job := find_job(campaign):
        run_job(job.pk)

    expect(page.get_by_role("heading", name="Ranking")).to_be_visible()
    expect(page.get_by_text("LaTeX tables")).to_be_visible()
    expect(page.get_by_text("final", exact=True)).to_be_visible()
    expect(page.get_by_role("heading", name="An analysis is under way")).to_have_count(0)
    assert page.url == url
