"""How many clicks and fields it takes to launch a campaign, and to get from a file of ratings to LaTeX."""

import csv
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.conftest import RESULT_MS
from tests.jobs.processes import EMAIL, PASSWORD

JOB_MS = 60_000


@dataclass
class Hand:
    """What a person does on a page, counted. Choosing a file is a click and a field."""

    n_clicks: int = 0
    n_fields: int = 0

    def click(self, target: Locator) -> None:
        target.click()
        self.n_clicks += 1

    def fill(self, field: Locator, text: str) -> None:
        field.fill(text)
        self.n_fields += 1

    def choose_file(self, page: Page, field: Locator, path: Path) -> None:
        with page.expect_file_chooser() as chooser:
            self.click(field)
        chooser.value.set_files(path)
        self.n_fields += 1


def wide_table(example: str, n_sources: int) -> str:
    """Return a file in the shape of the example, one row a source and a column for each system."""
    header = next(csv.reader(StringIO(example)))
    stream = StringIO()
    rows = csv.writer(stream)
    rows.writerow(header)
    rows.writerows([f"{name} {k}, in words of its own" for name in header] for k in range(n_sources))
    return stream.getvalue()


def test_browser_from_sign_in_to_a_launched_campaign(browser: Browser, address: str, tmp_path: Path) -> None:
    context = browser.new_context(base_url=address, viewport={"width": 1440, "height": 900})
    page, hand = context.new_page(), Hand()

    page.goto("/")
    hand.fill(page.get_by_label("E-mail"), EMAIL)
    hand.fill(page.get_by_label("Password"), PASSWORD)
    hand.click(page.get_by_role("button", name="Sign in"))
    hand.click(page.get_by_role("link", name="Create campaign").first)
    hand.fill(page.get_by_label("Name"), "The shortest way")
    hand.click(page.get_by_label("MRC adequacy"))
    expect(page.get_by_text("Answer B answers the question as adequately")).to_be_visible()
    hand.click(page.get_by_role("button", name="Create campaign"))

    page.wait_for_url("**/data/upload/")
    example = context.request.get(page.url.replace("upload/", "example-wide.csv")).text()
    outputs = tmp_path / "outputs.csv"
    outputs.write_text(wide_table(example, 30))
    hand.choose_file(page, page.locator("input[type=file]"), outputs)
    hand.click(page.get_by_role("button", name="Upload"))
    hand.click(page.get_by_role("button", name="Import", exact=True))
    expect(page.get_by_text("Imported").first).to_be_visible(timeout=JOB_MS)
    hand.click(page.get_by_role("link", name="Continue to the HITs"))
    hand.click(page.get_by_role("button", name="Build HITs"))
    expect(page.get_by_text("2 HITs are built.")).to_be_visible(timeout=JOB_MS)  # 90 outputs, 70 of a HIT
    hand.click(page.get_by_role("link", name="Continue to the launch"))
    hand.click(page.get_by_role("button", name="Launch"))
    hand.click(page.locator("dialog").get_by_role("button", name="Launch"))
    expect(page.get_by_text("The campaign is running.")).to_be_visible()
    context.close()

    assert hand.n_clicks <= 12
    assert hand.n_fields <= 6


def test_browser_from_a_file_of_two_criteria_to_latex(tab: Page, tmp_path: Path) -> None:
    ratings = tmp_path / "ratings.csv"
    rows = [f"w{k % 9},q{k // 2},{('alder', 'birch')[k % 2]},{(k * 37) % 101},{(k * 53 + 7) % 101}" for k in range(90)]
    ratings.write_text("\n".join(["annotator,item,model,clear,wordy", *rows]))
    hand = Hand()

    tab.goto("/")
    hand.click(tab.get_by_role("link", name="Analyses"))
    hand.click(tab.get_by_role("link", name="Upload ratings").first)
    hand.choose_file(tab, tab.get_by_label("Ratings file", exact=True), ratings)
    hand.click(tab.get_by_role("button", name="Upload"))
    hand.click(tab.get_by_role("button", name="Continue"))
    expect(tab.get_by_role("note").filter(has_text="No protocol has the criteria")).to_contain_text("clear, wordy")
    hand.click(tab.get_by_role("button", name="Analyse"))
    expect(tab.get_by_role("region", name="Systems, best first")).to_be_visible(timeout=RESULT_MS)
    expect(tab.locator("[data-job-progress]")).to_have_count(0, timeout=RESULT_MS)  # files follow the ranking
    hand.click(tab.get_by_role("link", name="Paper and downloads").first)
    with tab.expect_download() as download:
        hand.click(tab.locator("a[href*='.tex']").first)
    table = Path(download.value.path()).read_text()

    assert "alder" in table and "\\begin{tabular}" in table
    assert hand.n_clicks <= 8
