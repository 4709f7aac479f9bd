"""Three people's first hour, by real clicks: from a file to links, to a LaTeX table, to the first marked error."""

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
    """Clicks and fields so far. Choosing files is a click and a field."""

    n_clicks: int = 0
    n_fields: int = 0

    def click(self, target: Locator, timeout: float | None = None) -> None:
        """Click, once it is there."""
        target.click(timeout=timeout)
        self.n_clicks += 1

    def fill(self, field: Locator, text: str) -> None:
        """Type into a field."""
        field.fill(text)
        self.n_fields += 1

    def choose(self, field: Locator, label: str) -> None:
        """Choose an option of a list."""
        field.select_option(label=label)
        self.n_clicks += 1

    def choose_file(self, page: Page, field: Locator, *paths: Path) -> None:
        """Choose files in the dialog that a field opens."""
        with page.expect_file_chooser() as chooser:
            self.click(field)
        chooser.value.set_files(paths)
        self.n_fields += 1


def write_summaries(path: Path, n_documents: int) -> None:
    """Write summaries of three systems, one a row, as people have them: the source is called `document`."""
    with path.open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["doc_id", "document", "system", "summary"])
        for k in range(n_documents):
            document = (
                f"The council of town {k} met on Monday. It wants a new bridge, and asks the region to pay for it."
            )
            rows.writerows(
                [k, document, name, f"Town {k} {verb} a bridge."]
                for name, verb in (("alder", "wants"), ("birch", "is"), ("cedar", "has built"))
            )


def test_browser_from_a_file_of_summaries_to_six_personal_links(tab: Page, tmp_path: Path) -> None:
    summaries, hand = tmp_path / "summaries.csv", Hand()
    write_summaries(summaries, 20)

    tab.goto("/")
    hand.click(tab.get_by_role("link", name="Create campaign").first)
    hand.choose_file(tab, tab.get_by_label("File of sources and outputs"), summaries)
    expect(tab.get_by_role("radio", name="Summaries")).to_be_checked()
    hand.click(tab.get_by_role("button", name="Choose Likert scales"))
    expect(tab.get_by_label("document", exact=True)).to_have_value("field:source")
    hand.fill(tab.get_by_label("What workers read"), "summaries of short news")
    hand.click(tab.get_by_role("button", name="Import", exact=True))
    expect(tab.get_by_text("Imported").first).to_be_visible(timeout=JOB_MS)
    hand.fill(tab.get_by_label("Number of raters"), "6")
    hand.click(tab.get_by_role("button", name="Build HITs for them"))
    hand.click(tab.get_by_role("button", name="Launch"), timeout=JOB_MS)
    hand.click(tab.locator("dialog").get_by_role("button", name="Launch"))
    hand.fill(tab.get_by_label("Raters", exact=True), "\n".join(("Ada", "Bo", "Cy", "Di", "Eve", "Fay")))
    hand.click(tab.get_by_role("button", name="Add raters"))

    links = tab.get_by_role("button", name="Copy the link of")
    expect(links).to_have_count(6)
    can_do = tab.locator("[data-label='Can still do']").all_inner_texts()
    assert all(int(n) >= 1 for n in can_do)
    tab.goto(links.first.get_attribute("data-copy") or "")
    expect(tab.get_by_text("summaries of short news")).to_be_visible()
    assert hand.n_clicks <= 10
    assert hand.n_fields <= 4


def test_browser_from_ratings_of_another_tool_to_latex(tab: Page, cases: Path) -> None:
    ratings, hand = cases / "mqm_viewer_2023.tsv", Hand()

    tab.goto("/")
    hand.click(tab.get_by_role("link", name="Analyses"))
    hand.click(tab.get_by_role("link", name="Upload ratings").first)
    hand.choose_file(tab, tab.get_by_label("Ratings file", exact=True), ratings)
    hand.click(tab.get_by_role("button", name="Upload"))
    hand.click(tab.get_by_role("button", name="Analyse"))
    hand.click(tab.get_by_text("LaTeX tables"), timeout=RESULT_MS)

    table = tab.get_by_role("region", name="LaTeX of").first
    expect(table).to_contain_text("\\begin{tabular}")
    expect(table).to_contain_text("\\end{tabular}")
    assert hand.n_clicks <= 6


def test_browser_from_text_files_of_wmt_to_the_first_marked_error(tab: Page, cases: Path) -> None:
    hand, files = Hand(), [cases / "line_by_line" / f"{name}.txt" for name in ("source", "reference", "alpha", "beta")]

    tab.goto("/")
    hand.click(tab.get_by_role("link", name="Create campaign").first)
    hand.choose_file(tab, tab.get_by_label("File of sources and outputs"), *files)
    hand.click(tab.get_by_role("button", name="Choose MQM"))
    hand.fill(tab.get_by_label("Source language"), "German")
    hand.fill(tab.get_by_label("Target language"), "English")
    hand.click(tab.get_by_role("button", name="Import", exact=True))
    expect(tab.get_by_text("Imported").first).to_be_visible(timeout=JOB_MS)
    hand.click(tab.get_by_role("button", name="Build HITs for them"))
    hand.click(tab.get_by_role("button", name="Launch"), timeout=JOB_MS)
    hand.click(tab.locator("dialog").get_by_role("button", name="Launch"))
    hand.fill(tab.get_by_label("Raters", exact=True), "Ada")
    hand.click(tab.get_by_role("button", name="Add raters"))
    tab.goto(tab.get_by_role("button", name="Copy the link of Ada").get_attribute("data-copy") or "")  # Ada opens it
    hand.click(tab.get_by_role("button", name="I understand"))
    hand.click(tab.locator('[data-spans-text="target"]').first.locator("[data-start]").nth(1))
    panel = tab.locator(".spans-panel:not([hidden])")
    hand.choose(panel.get_by_role("combobox"), "Mistranslation")
    hand.click(panel.get_by_role("button", name="major", exact=True))

    marked = tab.locator(".spans-list li, [data-spans-list] li").first
    expect(marked).to_contain_text("Mistranslation")
    assert hand.n_clicks <= 12


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
    hand.fill(page.get_by_role("textbox", name="Name"), "The shortest way")
    hand.click(page.get_by_role("button", name="Choose MRC adequacy"))

    page.wait_for_url("**/data/upload/")
    example = context.request.get(page.url.replace("upload/", "example-wide.csv")).text()
    outputs = tmp_path / "outputs.csv"
    outputs.write_text(wide_table(example, 30))
    hand.choose_file(page, page.locator("input[type=file]"), outputs)
    hand.click(page.get_by_role("button", name="Upload"))
    hand.click(page.get_by_role("button", name="Import", exact=True))
    expect(page.get_by_text("Imported").first).to_be_visible(timeout=JOB_MS)
    hand.click(page.get_by_role("link", name="Design the HITs yourself"))
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


def test_browser_cards_follow_what_is_chosen_and_typed(tab: Page) -> None:
    tab.goto("/campaigns/new/")
    first = tab.locator(".protocol-card h3").first
    tab.get_by_role("radio", name="Anything").first.focus()
    for _ in range(4):  # with the keyboard alone
        tab.keyboard.press("ArrowRight")
    expect(tab.get_by_role("radio", name="Summaries")).to_be_checked()
    expect(first).to_have_text("Direct Assessment, summary")
    expect(tab.get_by_role("status").filter(has_text="protocols fit")).to_have_count(1)
    expect(tab.locator(".is-other").filter(has=tab.get_by_role("heading", name="MQM"))).to_contain_text(
        "It is for translations and documents."
    )
    tab.get_by_role("radio", name="Choose points").check(force=True)
    expect(first).to_have_text("Likert scales")
    tab.reload()  # the address says what was chosen
    expect(tab.get_by_role("radio", name="Choose points")).to_be_checked()
    tab.goto("/campaigns/new/")
    tab.get_by_role("searchbox").press_sequentially("ssa")
    expect(tab.locator(".protocol-card")).to_have_count(2)


def test_browser_a_card_is_chosen_without_script(browser: Browser, address: str, tab: Page) -> None:
    context = browser.new_context(
        base_url=address, java_script_enabled=False, storage_state=tab.context.storage_state()
    )
    page = context.new_page()
    page.goto("/campaigns/new/")
    page.get_by_role("radio", name="Replies").check(force=True)
    page.get_by_role("button", name="Show what fits").click()
    page.get_by_role("button", name="Choose Sensible and specific replies (SSA)", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Upload outputs")
    context.close()


def test_browser_a_campaign_is_taken_from_another_site(tab: Page, tmp_path: Path) -> None:
    hand = Hand()
    tab.goto("/campaigns/new/")
    tab.get_by_label("Campaign to copy").select_option(label="Example: answers to questions")
    tab.get_by_role("button", name="Copy", exact=True).click()
    tab.get_by_role("link", name="Settings", exact=True).click()
    with tab.expect_download() as download:
        tab.get_by_role("link", name="Download the design alone").click()
    download.value.save_as(tmp_path / "design.json")

    tab.goto("/campaigns/new/")
    hand.click(tab.get_by_text("From another site"))
    hand.choose_file(tab, tab.get_by_label("Design file"), tmp_path / "design.json")
    hand.click(tab.get_by_role("button", name="Create from it"))
    expect(tab.get_by_role("heading", level=1)).to_have_text("Answers to questions (copy)")
    assert (hand.n_clicks, hand.n_fields) == (3, 1)
