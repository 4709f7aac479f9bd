"""A response kind and an analysis method of one file each: a campaign with them, from its criteria to its tables."""

import csv
import io

import pytest
from django.conf import settings
from django.db import transaction
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotation.access.tokens import token_of
from annotation.models import Response
from annotation.services.assignments import start_assignment
from annotation.simulation.running import make_crowd, open_site, run_crowd
from campaigns.methods import methods
from campaigns.models import Campaign
from campaigns.responses import _kinds as kinds
from campaigns.services.hits import execute_build
from campaigns.services.lifecycle import launch_campaign
from evalsite.accounts.models import User
from tests.analysis.campaigns import analysed
from tests.campaigns.cast import add_outputs, make_campaign
from tests.conftest import signed_in
from tests.toys.approval import Approval
from tests.toys.thumbs import Thumbs

pytestmark = pytest.mark.django_db(transaction=True)
QUALITY = {"alpha": 1.2, "beta": 0.0, "gamma": -1.2}


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The two plug-ins, as a line each in the settings would register them."""
    monkeypatch.setitem(kinds.all(), Thumbs.slug, Thumbs)
    monkeypatch.setitem(methods.all(), Approval.slug, Approval)


@pytest.fixture
def campaign(owner: User, registered: None) -> Campaign:
    campaign = make_campaign(owner, "custom", name="Thumbs")
    add_outputs(campaign, n_sources=12, systems=list(QUALITY))
    fields = {"n_ordinary": 9, "n_degraded": 0, "n_repeat": 0, "worker_test": "none", "workers_per_hit": 3}
    for name, value in (fields | {"instructions": "Thumbs, please."}).items():
        setattr(campaign, name, value)
    campaign.save()
    return campaign


def choose(tab: Page, address: str, label: str, option: str, button: str) -> None:
    tab.goto(address)
    tab.get_by_label(label, exact=True).first.select_option(option)
    tab.get_by_role("button", name=button, exact=True).first.click()


def test_browser_a_campaign_with_a_kind_and_a_method_of_one_file_each(
    page: Page, live_server, owner: User, campaign: Campaign
) -> None:
    cookie = signed_in(owner).cookies[settings.SESSION_COOKIE_NAME].value
    page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": live_server.url}])
    tab, site = page, f"{live_server.url}/campaigns/{campaign.public_id}"
    choose(tab, f"{site}/criteria/", "Answered by", "thumbs", "Change")
    expect(tab.get_by_label("Answered by").first).to_have_value("thumbs")
    tab.goto(f"{site}/settings/")
    tab.get_by_label("Response method").select_option("approval")
    expect(tab.get_by_text("Saved").first).to_be_visible()
    execute_build(campaign=campaign, on_progress=lambda *_: None, saving=transaction.atomic)
    campaign.refresh_from_db()
    launch_campaign(campaign=campaign)
    campaign.refresh_from_db()

    assignment = start_assignment(campaign=campaign, worker_key=f"{campaign.public_id}:ann", consented=True)
    tab.goto(f"{live_server.url}/rate/{token_of(assignment)}/")
    tab.get_by_role("radio", name="up").check()
    tab.get_by_role("button", name="Next").click()
    expect(tab.get_by_role("heading", level=1)).to_have_text("Item 2 of 9")
    assert list(Response.objects.values_list("value", "score")) == [("up", 1)]

    with open_site(None) as client:
        run_crowd(campaign, make_crowd(campaign, seed=2, n_workers=8, quality=QUALITY), client)
    run = analysed(campaign)
    tab.goto(live_server.url + reverse("analysis:campaign_results", args=[campaign.public_id]))
    systems = tab.get_by_role("table").first.locator("tbody tr")
    assert [row.split("\t")[1].strip() for row in systems.all_inner_texts()] == ["alpha", "beta", "gamma"]
    tab.goto(live_server.url + reverse("analysis:downloads", args=[run.pk]))
    rows = list(csv.DictReader(io.StringIO(download(tab, "systems.csv"))))
    assert [row["system"] for row in rows] == ["alpha", "beta", "gamma"]
    assert float(rows[0]["share"]) > 0.7 > 0.3 > float(rows[2]["share"])
    assert r"\begin{tabular}" in download(tab, "systems.tex")


def download(tab: Page, name: str) -> str:
    address = tab.locator(f'a[href*="{name}"]').first.evaluate("link => link.href")
    return tab.request.get(address).text()
