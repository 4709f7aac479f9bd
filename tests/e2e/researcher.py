"""What a researcher does on the pages of a campaign, from its creation to its results; jobs run when they are due."""

import re
from pathlib import Path
from typing import Any

from django.utils import timezone
from playwright.sync_api import Locator, Page, expect

from evalsite.jobs.models import Job
from evalsite.jobs.running import run_job
from tests.e2e.conftest import address_of_campaign, saving


def run_jobs() -> None:
    """Run the jobs that wait, and those that they lead to."""
    while job := Job.objects.filter(status=Job.Status.QUEUED, run_after__lte=timezone.now()).first():
        run_job(job.pk)
        job.refresh_from_db()
        assert job.status == Job.Status.SUCCEEDED, job.error_message


def create_campaign(tab: Page, protocol: str, name: str) -> str:
    """Make a draft of the protocol of this title; return its address."""
    tab.goto("/campaigns/new/")
    tab.get_by_role("textbox", name="Name").fill(name)
    tab.get_by_role("button", name=f"Choose {protocol}", exact=True).click()
    return address_of_campaign(tab)


def import_outputs(tab: Page, campaign: str, path: Path) -> None:
    """Upload a file and import it as its columns are guessed."""
    tab.goto(f"{campaign}data/upload/")
    tab.locator("input[type=file]").set_input_files(path)
    tab.get_by_role("button", name="Upload").click()
    expect(tab.locator(".columns-table")).to_be_visible()
    tab.get_by_role("button", name="Import", exact=True).click()
    expect(tab.locator("[data-job-progress]")).to_be_visible()
    run_jobs()
    expect(tab.get_by_text("Imported").first).to_be_visible()


def add_chatbot(tab: Page, campaign: str, name: str, class_path: str) -> None:
    """Add a chatbot that is a class on the server, with a statement of its persona."""
    tab.goto(f"{campaign}chatbots/add/python/")
    tab.get_by_label("Name").fill(name)
    tab.get_by_label("Class").select_option(class_path)
    tab.get_by_role("button", name="Add", exact=True).click()
    expect(tab.get_by_role("heading", name=name)).to_be_visible()
    save(tab, tab.get_by_label("Statements", exact=False).first, f"I have a boat called {name}.")


def fill_blanks(tab: Page, campaign: str) -> None:
    """Fill in what only the researcher knows, where the instructions have blanks."""
    tab.goto(f"{campaign}instructions/")
    field = tab.get_by_label("Instructions", exact=False).first
    text = field.input_value()
    if "[[" in text:
        save(tab, field, re.sub(r"\[\[.*?\]\]", "these texts", text, flags=re.DOTALL))


def design_hits(tab: Page, campaign: str, **values: Any) -> None:
    """Change fields of the design, by their names, one right after the other; wait until all are saved."""
    tab.goto(f"{campaign}hits/")
    form = tab.locator(".design-form form[data-autosave]")
    for name, value in values.items():
        field = form.locator(f"[name={name}]")
        if isinstance(value, bool):
            form.locator(f"[name={name}][type=checkbox]").set_checked(value)
        elif field.first.get_attribute("type") == "radio":
            form.locator(f"[name={name}][value={value}]").check()
        else:
            field.fill(str(value))
    field.first.blur()  # what is left is sent at once
    expect(form.locator(".saving-status")).to_have_text("Saved")


def save(tab: Page, field: Locator, text: str) -> None:
    """Type into a field that is saved by itself, and wait until it is."""
    with saving(tab, field):
        field.fill(text)


def build_hits(tab: Page) -> None:
    """Build the HITs of the design that is shown."""
    tab.get_by_role("button", name="Build HITs").click()
    expect(tab.locator("[data-job-progress]")).to_be_visible()
    run_jobs()
    expect(tab.get_by_text(re.compile(r"HITs are built\."))).to_be_visible()


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
    expect(tab.get_by_text("The campaign is running.")).to_be_visible()


def personal_links(tab: Page, campaign: str, names: list[str]) -> list[str]:
    """Add raters; return the link of each."""
    tab.goto(f"{campaign}raters/add/")
    tab.locator("textarea[name=names]").fill("\n".join(names))
    tab.get_by_role("button", name="Add raters").click()
    expect(tab.get_by_role("row", name=names[-1])).to_be_visible()
    copy = [tab.get_by_role("button", name=f"Copy the link of {name}") for name in names]
    return [button.get_attribute("data-copy") or "" for button in copy]


def ranked_systems(tab: Page, campaign: str) -> list[str]:
    """Open the results; return the systems in the order of the first table, which is best first."""
    tab.goto(f"/analysis/campaigns/{public_id_of(campaign)}/")
    systems = tab.get_by_role("table").first.locator("tbody th[scope=row]")
    expect(systems.first).to_be_visible()
    tab.wait_for_load_state("networkidle")  # figures are drawn as they come into view
    return systems.all_inner_texts()


def verdicts(tab: Page) -> dict[str, str]:
    """Return each worker's verdict, from the results that are open."""
    tab.get_by_role("navigation", name="Campaign").get_by_role("link", name="Workers").last.click()
    tab.wait_for_url("**/results/workers/")
    rows = tab.locator("tbody tr:has(th.cell-name)")
    names = rows.locator("th.cell-name").all_inner_texts()
    return dict(zip(names, rows.locator("td:nth-child(2)").all_inner_texts(), strict=True))


def public_id_of(campaign: str) -> str:
    return campaign.rstrip("/").rpartition("/")[2]
