"""The progress page in a browser: it brings itself up to date, politely."""

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from campaigns.models import Campaign
from evalsite.accounts.models import User
from tests.annotation.cast import build, launch, make_worker, rate_hit
from tests.campaigns.cast import make_campaign

pytestmark = pytest.mark.django_db(transaction=True)
_REFRESH_NOW = "dispatchEvent(new Event('online'))"


@pytest.fixture
def campaign(owner: User) -> Campaign:
    campaign = launch(make_campaign(owner))
    build(campaign)
    return campaign


@pytest.fixture
def signed_in(page: Page, live_server: LiveServer, owner_client: Client) -> Page:
    cookie = owner_client.cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": cookie, "url": live_server.url}])
    return page


def test_browser_progress_follows_the_campaign_unless_it_is_in_use(
    signed_in: Page, live_server: LiveServer, campaign: Campaign, rng: np.random.Generator
) -> None:
    page, (first, second, *_) = signed_in, campaign.hits.all()
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto(live_server.url + reverse("monitoring:progress", args=[campaign.public_id]))
    expect(page.get_by_text("0 finished", exact=True)).to_be_visible()

    rate_hit(first, make_worker(campaign, "ada"), rng)
    page.evaluate(_REFRESH_NOW)
    expect(page.get_by_text("1 finished", exact=True)).to_be_visible()

    rate_hit(second, make_worker(campaign, "ada"), rng)
    page.get_by_role("link", name="1", exact=True).focus()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate(_REFRESH_NOW)
    expect(page.get_by_text("1 finished", exact=True)).to_be_visible()
    assert asked == []

    page.evaluate("document.activeElement.blur()")
    page.evaluate(_REFRESH_NOW)
    expect(page.get_by_text("2 finished", exact=True)).to_be_visible()
    assert errors == []


def test_browser_links_are_copied(
    signed_in: Page, live_server: LiveServer, campaign: Campaign, rng: np.random.Generator
) -> None:
    signed_in.goto(live_server.url + reverse("monitoring:raters_add", args=[campaign.public_id]))
    signed_in.get_by_label("Raters").fill("Ada\nGrace")
    signed_in.get_by_role("button", name="Add raters").click()
    expect(signed_in.get_by_role("button", name="Copy the link of Ada")).to_be_visible()
    signed_in.wait_for_load_state()  # with the script that copies

    signed_in.get_by_role("button", name="Copy the link of Grace").click()

    expect(signed_in.get_by_text("Copied").first).to_be_visible()


def test_browser_pages_fit_their_window(
    signed_in: Page, live_server: LiveServer, campaign: Campaign, rng: np.random.Generator
) -> None:
    worker = make_worker(campaign, "a-rater-with-a-very-long-name-without-any-space-in-it@example.org")
    first, second, *_ = campaign.hits.all()
    rate_hit(first, worker, rng)
    rate_hit(second, worker, rng, state="active", n_rated=3)
    campaign.invitations.create(worker=worker)
    campaign.assignments.filter(hit=first).update(feedback="w" * 300)

    for name in ("progress", "assignments", "feedback", "export", "raters", "raters_add", "rater_codes"):
        signed_in.goto(live_server.url + reverse(f"monitoring:{name}", args=[campaign.public_id]))
        for width in (360, 1440):
            signed_in.set_viewport_size({"width": width, "height": 900})
            assert signed_in.evaluate("document.documentElement.scrollWidth") <= width, (name, width)
