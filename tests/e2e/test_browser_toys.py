"""The package of plug-ins in `examples/plugin`: a campaign with all of them, from its table to its results."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest
from django.conf import settings
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils.module_loading import import_string
from playwright.sync_api import Page, expect

from annotation.access.tokens import token_of
from annotation.models import Response
from annotation.services.assignments import start_assignment
from annotation.simulation.running import make_crowd, open_site, run_crowd
from campaigns.contracts.protocol import Screen
from campaigns.design.composition import Kind
from campaigns.formats import _formats as formats
from campaigns.methods import methods
from campaigns.models import Campaign, HitItem
from campaigns.platforms import platforms
from campaigns.responses import _kinds as kinds
from campaigns.services.hits import execute_build
from campaigns.services.lifecycle import launch_campaign
from campaigns.services.screens import change_screen
from evalsite.accounts.models import User
from tests.analysis.campaigns import analysed
from tests.campaigns.cast import make_campaign
from tests.campaigns.data.files import bring_in
from tests.conftest import signed_in

pytestmark = pytest.mark.django_db(transaction=True)
PLUGIN = str(Path(__file__).parents[2] / "examples/plugin")
QUALITY = {"alpha": 1.2, "beta": 0.0, "gamma": -1.2}


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plug-ins, as the entry points of the package would register them."""
    monkeypatch.syspath_prepend(PLUGIN)
    for registry, place in (
        (kinds, "thumbs.Thumbs"),
        (methods, "approval.Approval"),
        (formats, "poem.Poem"),
        (platforms, "classroom.Classroom"),
    ):
        found = import_string(f"evalsite_thumbs.{place}")
        monkeypatch.setitem(registry.all(), found.slug, found)


@pytest.fixture
def campaign(owner: User, registered: None) -> Campaign:
    campaign = make_campaign(owner, "custom", name="Thumbs")
    fields = {"n_ordinary": 9, "n_degraded": 2, "n_repeat": 0, "worker_test": "none", "workers_per_hit": 3}
    for name, value in (fields | {"instructions": "Thumbs, please."}).items():
        setattr(campaign, name, value)
    campaign.save()
    return campaign


def poems() -> str:
    """Return a table of poems on twelve subjects, of three lines each, by every system."""
    stream = io.StringIO()
    table = csv.writer(stream)
    table.writerow(["source_id", "source", "system", "output"])
    for n in range(12):
        for place, system in enumerate(QUALITY):
            text = f"  {system} sees the sea {n}\nand waves that break at dawn {place}\n\n\nthen nobody is there {n}  "
            table.writerow([f"s{n}", f"Write about the sea, number {n}.", system, text])
    return stream.getvalue()


def choose(tab: Page, address: str, label: str, option: str, button: str) -> None:
    tab.goto(address)
    tab.get_by_label(label, exact=True).first.select_option(option)
    tab.get_by_role("button", name=button, exact=True).first.click()


def test_browser_a_campaign_with_plug_ins_of_a_package(
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
    tab.goto(f"{site}/screen/")
    tab.get_by_label("Format of the outputs").select_option("poem")
    expect(tab.get_by_text("Saved").first).to_be_visible()
    assert bring_in(signed_in(owner), campaign, poems()).imported_at
    execute_build(campaign=campaign, on_progress=lambda *_: None, saving=transaction.atomic)
    campaign.refresh_from_db()
    launch_campaign(campaign=campaign)
    campaign.refresh_from_db()

    assignment = start_assignment(campaign=campaign, worker_key=f"{campaign.public_id}:ann", consented=True)
    tab.goto(f"{live_server.url}/rate/{token_of(assignment)}/")
    lines = tab.locator(".poem").get_by_role("listitem")
    assert lines.all_inner_texts()[2:] == ["", lines.last.inner_text()]
    expect(lines.first).to_be_visible()
    tab.get_by_role("radio", name="up").check()
    tab.get_by_role("button", name="Next").click()
    expect(tab.get_by_role("heading", level=1)).to_have_text("Item 2 of 11")
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


def test_students_of_a_classroom_come_with_their_number(client: Client, campaign: Campaign, owner: User) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(platform="classroom")
    assert bring_in(signed_in(owner), campaign, poems()).imported_at
    change_screen(campaign=campaign, screen=replace(Screen.from_json(campaign.screen), output_format="poem"))
    execute_build(campaign=campaign, on_progress=lambda *_: None, saving=transaction.atomic)
    launch_campaign(campaign=Campaign.objects.get(pk=campaign.pk))
    address = reverse("rate:welcome", args=[campaign.public_id])
    assert client.get(address, {"student": "seven"}).status_code == 404
    assert "Write your student number" in client.get(address).text
    assert client.get(address, {"student": "7"}).status_code == 200
    degraded = HitItem.objects.filter(hit__campaign=campaign, kind=Kind.DEGRADED).select_related("output")
    assert degraded and all(item.text.count("\n") == 3 and item.text != item.output.text for item in degraded)


def download(tab: Page, name: str) -> str:
    address = tab.locator(f'a[href*="{name}"]').first.evaluate("link => link.href")
    return tab.request.get(address).text()
