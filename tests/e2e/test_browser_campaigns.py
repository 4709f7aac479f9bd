"""Whole campaigns in a browser: from the upload of outputs, over HITs rated by hand, to the ranked systems.

A simulated crowd, whose truth is known, rates what is left; the results must have the systems in their true order and
the careless workers out.
"""

import csv
import json
import re
from io import StringIO
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.core.management import call_command
from playwright.sync_api import Browser, Locator, Page, expect

from analysis.campaign_queries import find_job
from annotation.queries import get_assignment
from campaigns.models import Campaign
from tests.annotation.open_campaigns import rate_items
from tests.e2e.conftest import address_of_campaign, saving
from tests.jobs.processes import ROOT
from tests.services import wait_until

JOB_MS, ANALYSIS_S = 60_000, 120
PHONE = {"width": 360, "height": 740}


# --- What a researcher does


def new_campaign(tab: Page, protocol: str, name: str) -> str:
    """Make a draft; return its address."""
    tab.goto("/campaigns/")
    tab.get_by_role("link", name="Create campaign").first.click()
    tab.get_by_label(protocol, exact=False).check()
    tab.get_by_label("Name").fill(name)
    tab.get_by_role("button", name="Create campaign").click()
    return address_of_campaign(tab)


def import_outputs(tab: Page, campaign: str, path: Path) -> None:
    """Upload a file and import it as its columns are guessed."""
    tab.goto(f"{campaign}data/upload/")
    tab.locator("input[type=file]").set_input_files(path)
    tab.get_by_role("button", name="Upload").click()
    expect(tab.locator(".columns-table")).to_be_visible()
    tab.get_by_role("button", name="Import", exact=True).click()
    expect(tab.get_by_text("Imported").first).to_be_visible(timeout=JOB_MS)


def build_hits(tab: Page, campaign: str, n_hits: int) -> None:
    """Build so many HITs, the same ones at each run of the test."""
    tab.goto(f"{campaign}hits/")
    save_field(tab, tab.get_by_label("Seed"), "7")
    save_field(tab, tab.get_by_label("Number of HITs"), str(n_hits))
    tab.get_by_role("button", name="Build HITs").click()
    expect(tab.get_by_text(f"{n_hits} HITs are built.")).to_be_visible(timeout=JOB_MS)


def save_field(tab: Page, field: Locator, value: str) -> None:
    """Type into a field that is saved by itself, and wait until it is."""
    with saving(tab, field):
        field.fill(value)


def set_option(tab: Page, campaign: str, label: str, value: str) -> None:
    """Choose an option of the crowd platform, which is saved by itself."""
    tab.goto(f"{campaign}platform/")
    form = tab.locator("form").filter(has=tab.get_by_label(label))
    form.get_by_label(label).select_option(value)
    expect(form.locator(".saving-status")).to_have_text("Saved")


def launch(tab: Page, campaign: str) -> None:
    tab.goto(campaign)
    tab.get_by_role("button", name="Launch").click()
    tab.locator("dialog").get_by_role("button", name="Launch").click()
    expect(tab.locator(".stages [aria-current=step]")).to_have_text("Running")


def personal_links(tab: Page, campaign: str, names: list[str]) -> list[str]:
    tab.goto(f"{campaign}raters/add/")
    tab.locator("textarea[name=names]").fill("\n".join(names))
    tab.get_by_role("button", name="Add raters").click()
    expect(tab.get_by_role("row", name=names[-1])).to_be_visible()
    copy = [tab.get_by_role("button", name=f"Copy the link of {name}") for name in names]
    return [button.get_attribute("data-copy") or "" for button in copy]


# --- What a worker does


def begin(page: Page, link: str) -> None:
    page.goto(link)
    page.get_by_role("button", name="I understand").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Item 1 of")


def rate_with_mouse(page: Page, first: int, last: int, n_items: int) -> None:
    """Rate the items from `first` to `last`, each slider at a place of its own, and see the page after the last."""
    for position in range(first, last + 1):
        see_item(page, position, n_items)
        for k, slider in enumerate(page.locator("[data-slider] input").all()):
            click_at(page, slider, 0.2 + 0.6 * ((position * 7 + k * 3) % 10) / 10)
        page.locator("[data-rating-next]").click()
        leave_item(page, position, n_items)


def see_item(page: Page, position: int, n_items: int) -> None:
    """Wait for the page of an item, its sliders and their script."""
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Item {position} of {n_items}")
    page.wait_for_load_state()


def leave_item(page: Page, position: int, n_items: int) -> None:
    """Wait for the page after an item: until it is there, a reload would come before the ratings are sent."""
    expect(page.get_by_role("heading", level=1)).not_to_have_text(f"Item {position} of {n_items}")


def click_at(page: Page, slider: Locator, share: float) -> None:
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    assert box
    page.mouse.click(box["x"] + share * box["width"], box["y"] + box["height"] / 2)


def rate_by_keyboard(page: Page, first: int, last: int, n_items: int) -> None:
    """Rate items with Tab, arrows and Enter alone, and see the page after the last."""
    for position in range(first, last + 1):
        see_item(page, position, n_items)
        page.keyboard.press("Tab")  # past the instructions
        for k in range(page.locator("[data-slider]").count()):
            page.keyboard.press("Tab")
            page.keyboard.press(("ArrowRight", "PageUp", "End", "Home")[(position + k) % 4])
        expect(page.locator("[data-rating-next]")).to_be_enabled()
        page.keyboard.press("Enter")
        leave_item(page, position, n_items)


def rate_without_pages(page: Page, n_items: int) -> None:
    """Rate the worker's next items by the service that the page calls, and load the page that comes after them."""
    rate_items(get_assignment(urlsplit(page.url).path.split("/")[2]), n_items)
    page.reload()


def finish(page: Page) -> str:
    """Send the feedback; return the completion code."""
    page.get_by_label("Was anything unclear").fill("All clear, thank you.")
    page.get_by_role("button", name="Finish").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you")
    code = page.locator("#code").inner_text()
    assert re.fullmatch(r"[A-Z2-9]{10}", code)
    page.reload()
    expect(page.locator("#code")).to_have_text(code)
    return code


# --- The rest of the crowd, and what comes of it


def simulate(folder: Path, address: str, campaign: str, systems: list[str], *options: str) -> list[str]:
    """Let a crowd finish a campaign whose systems are of falling quality; return the careless workers' names."""
    quality = folder / "quality.json"
    quality.write_text(json.dumps({name: 3.0 - 6.0 * k / (len(systems) - 1) for k, name in enumerate(systems)}))
    public_id = campaign.rstrip("/").rpartition("/")[2]
    crowd = ("simulate", public_id, "--url", address, "--quality", str(quality), "--threads", "1", "--verbose")
    printed = StringIO()
    call_command(*crowd, *options, stdout=printed)
    assert "0 errors" in printed.getvalue()
    return re.findall(r"(simulated-\d+) \(", printed.getvalue())


def ranked_systems(tab: Page, campaign: str) -> list[str]:
    """Wait for the results, which come by themselves; return the systems, best first."""
    public_id = campaign.rstrip("/").rpartition("/")[2]
    # The page asks for news every 15 s only.
    wait_until(lambda: not find_job(Campaign.objects.get(public_id=public_id)), ANALYSIS_S, "the analysis has ended")
    tab.goto(f"/analysis/campaigns/{public_id}/")
    expect(tab.get_by_role("heading", name="Ranking")).to_be_visible()
    expect(tab.get_by_text("Final")).to_be_visible()
    tab.wait_for_load_state()  # the table is whole
    return tab.locator(".ranked-table tbody th.cell-name").all_inner_texts()


def verdicts(tab: Page) -> dict[str, str]:
    """Return each worker's verdict, from the results page."""
    tab.get_by_role("navigation", name="Campaign").get_by_role("link", name="Workers").last.click()
    tab.wait_for_url("**/results/workers/")
    rows = tab.locator("tbody tr:has(th.cell-name)")
    names = rows.locator("th.cell-name").all_inner_texts()
    return dict(zip(names, rows.locator("td:nth-child(2)").all_inner_texts(), strict=True))


@pytest.fixture
def worker(browser: Browser, address: str):
    """A worker's own browser, which knows nothing of the researcher's."""
    context = browser.new_context(base_url=address, viewport={"width": 1280, "height": 900})
    yield context.new_page()
    assert context.cookies() == []
    context.close()


def test_browser_question_generation_from_upload_to_results(
    tab: Page, worker: Page, in_site: None, address: str, shared_data: Path, tmp_path: Path
) -> None:
    """200 passages and 15 systems; two HITs of 20 items, with reload and second tab, the rest simulated."""
    campaign = new_campaign(tab, "Question generation", "Questions on passages")
    outputs = shared_data / "qg-outputs/qg.jsonl"
    import_outputs(tab, campaign, outputs)
    tab.goto(f"{campaign}data/")
    expect(tab.locator("main")).to_contain_text("3,000")
    set_option(tab, campaign, "Who may take part", "personal")
    build_hits(tab, campaign, 30)
    launch(tab, campaign)
    ann, ben = personal_links(tab, campaign, ["ann", "ben"])

    begin(worker, ann)
    rate_with_mouse(worker, 1, 3, 20)
    worker.reload()
    second = worker.context.new_page()
    second.goto(ann)
    second.get_by_role("button", name="Continue with item 4 of 20").click()
    rate_with_mouse(second, 4, 5, 20)
    expect(second.get_by_role("heading", level=1)).to_have_text("Item 6 of 20")
    second.close()
    worker.reload()
    rate_with_mouse(worker, 6, 7, 20)
    rate_without_pages(worker, 11)
    rate_with_mouse(worker, 19, 20, 20)
    finish(worker)

    begin(worker, ben)
    rate_by_keyboard(worker, 1, 3, 20)
    rate_without_pages(worker, 15)
    rate_by_keyboard(worker, 19, 20, 20)
    finish(worker)

    systems = sorted(json.loads(outputs.read_text().partition("\n")[0])["outputs"])
    assert len(systems) == 15
    crowd = ("--workers", "14", "--careless", "0.2", "--seed", "4", "--hits-per-worker", "2")
    careless = simulate(tmp_path, address, campaign, systems, *crowd)
    assert ranked_systems(tab, campaign) == systems
    found = verdicts(tab)
    assert len(careless) == 3
    assert {found[name] for name in careless} == {"failed"}
    assert sum(verdict == "passed" for verdict in found.values()) >= 10


def test_browser_mrc_adequacy_from_upload_to_results(
    tab: Page, worker: Page, in_site: None, address: str, tmp_path: Path
) -> None:
    """140 questions, six programs and a human; two HITs of 100 items over an open link, begun and ended by hand.

    What is between is rated as the page does it; the crowd rates the rest.
    """
    campaign = new_campaign(tab, "MRC adequacy", "Answers to questions")
    outputs = ROOT / "examples/mrc/outputs.csv"
    import_outputs(tab, campaign, outputs)
    tab.goto(f"{campaign}hits/")
    expect(tab.get_by_label("Number of HITs")).to_have_value("")
    expect(tab.locator("#estimate .total", has_text="HITs").first.locator("strong")).to_have_text("14")
    build_hits(tab, campaign, 6)
    launch(tab, campaign)
    link = tab.locator("#worker-link").inner_text()

    begin(worker, link)
    rate_with_mouse(worker, 1, 3, 100)
    rate_without_pages(worker, 94)
    rate_with_mouse(worker, 98, 100, 100)
    first = finish(worker)
    worker.get_by_role("button", name="Do another task").click()
    rate_by_keyboard(worker, 1, 3, 100)
    rate_without_pages(worker, 94)
    rate_by_keyboard(worker, 98, 100, 100)
    assert finish(worker) != first

    with outputs.open(newline="") as file:
        systems = sorted({row["system"] for row in csv.DictReader(file)})
    assert len(systems) == 7
    crowd = ("--workers", "4", "--careless", "0.25", "--seed", "4", "--hits-per-worker", "1")
    simulate(tmp_path, address, campaign, systems, *crowd)
    assert ranked_systems(tab, campaign) == systems
    found = list(verdicts(tab).values())
    assert len(found) == 5
    assert found.count("failed") >= 2
