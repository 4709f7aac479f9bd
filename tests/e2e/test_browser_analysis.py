"""A researcher analyses the published dialogues in a browser, and reads what the study printed."""

import json
from functools import partial
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.e2e.conftest import started_by
from tests.services import wait_until

CRITERIA = ("interesting", "fun", "consistent", "fluent", "topic", "robotic", "repetitive")


def table_in(page: Page, region: str) -> tuple[list[str], list[list[str]]]:
    """Return the heading and the rows of a table as they are read on the screen, with plain minus signs."""
    cells = (
        page.get_by_role("region", name=region)
        .locator("tr")
        .evaluate_all("rows => rows.map(row => [...row.cells].map(cell => cell.innerText.trim()))")
    )
    head, *rows = [[cell.replace("−", "-").replace(",", "") for cell in row] for row in cells]
    return head, rows


def published(shared_data: Path, name: str) -> dict[str, list[float]]:
    tables = json.loads((shared_data / "published_tables.json").read_text())["dialogue"]
    table = tables[name]
    assert [column.casefold() for column in table["columns"]] == ["n", "overall", *CRITERIA]
    return table["rows"]


def read_table(page: Page, region: str, overall: str) -> dict[str, list[str]]:
    """Return n, overall and each criterion of every system, in the order of the printed tables."""
    head, rows = table_in(page, region)
    wanted = [head.index(name) for name in ("n", overall, *CRITERIA)]
    return {row[head.index("System")]: [row[k] for k in wanted] for row in rows}


def as_printed(rows: dict[str, list[float]], decimals: int) -> dict[str, list[str]]:
    return {system: [str(row[0]), *(f"{x:.{decimals}f}" for x in row[1:])] for system, row in rows.items()}


def fits_a_phone(page: Page) -> bool:
    """Tell whether a page, as it is, scrolls up and down alone on a phone."""
    page.set_viewport_size({"width": 360, "height": 740})
    width = page.evaluate("document.documentElement.scrollWidth")
    page.set_viewport_size({"width": 1440, "height": 900})
    return width == 360


def test_browser_every_printed_digit_is_on_the_page(tab: Page, dialogues: str, shared_data: Path) -> None:
    tab.goto(dialogues)

    z = as_printed(published(shared_data, "table_5_4_free_run1_z"), 3)
    assert read_table(tab, "Systems, best first", "z") == z
    assert list(read_table(tab, "Systems, best first", "z")) == list(z)
    raw = published(shared_data, "table_A2_free_run1_raw")
    assert read_table(tab, "Raw means", "Overall") == as_printed(raw, 2)
    expect(tab.locator(".stat", has_text="Workers passed")).to_contain_text("173 of 248")
    assert fits_a_phone(tab)


def test_browser_heatmap_of_one_criterion(tab: Page, dialogues: str) -> None:
    tab.goto(dialogues)
    tab.get_by_role("link", name="Pairs").first.click()
    tab.wait_for_url("**/pairs/")  # with the script that sends what is selected
    tab.get_by_label("Criterion").select_option("fluent")
    tab.wait_for_url("**criterion=fluent**")

    head, rows = table_in(tab, "One-sided p")
    assert head[1:] == [row[0] for row in rows]
    assert len(rows) == 10
    for k, row in enumerate(rows):
        assert row[1 + k] == ""
        assert row.count("") == 1
    expect(tab.locator("table.heatmap caption").last).to_contain_text("fluent")
    expect(tab.locator(".finding-line")).to_contain_text("of 45 pairs of systems differ")
    assert fits_a_phone(tab)


def test_browser_workers_are_filtered(tab: Page, dialogues: str) -> None:
    tab.goto(dialogues + "workers/")
    tab.locator("summary", has_text="Exclude").first.click()
    assert fits_a_phone(tab)
    tab.get_by_label("Verdict").select_option("failed")
    tab.wait_for_url("**state=failed**")
    expect(tab.locator("caption").last).to_contain_text("75 workers")
    assert set(tab.locator("tbody .badge").all_inner_texts()) == {"failed"}
    tab.locator("summary", has_text="Exclude").first.click()
    assert fits_a_phone(tab)

    tab.get_by_label("Verdict").select_option("")
    tab.wait_for_url("**state=&**")
    tab.get_by_label("Worker", exact=True).fill("W001")
    tab.get_by_role("button", name="Show").click()
    expect(tab.locator("tbody th.cell-name")).to_have_text(["w001"])


def test_browser_a_worker_is_excluded_and_counts_again(tab: Page, dialogues: str) -> None:
    tab.goto(dialogues + "workers/?state=passed&order=-n_ratings")
    worker = tab.locator("tbody th.cell-name").first.inner_text()
    row = tab.locator("tbody tr:has(th.cell-name)").first
    row.locator("summary").press("Enter")
    row.get_by_role("button", name="Analyse without this worker").click()
    expect(row.locator("input[name=reason]")).to_be_focused()  # the browser asks for the reason
    row.locator("input[name=reason]").fill("rated with the sound off")

    without = started_by(tab, lambda: row.get_by_role("button", name="Analyse without this worker").click())
    panel = tab.get_by_role("region", name="What changed")
    expect(panel).to_contain_text(f"nobody → {worker}")
    expect(panel).to_contain_text("1 fewer")
    head, rows = table_in(tab, "Systems, best first")
    change = head.index("Change")
    assert any(row[change] != "same" for row in rows)

    tab.goto(without + "workers/?state=excluded")
    expect(tab.locator("tbody").last).to_contain_text("rated with the sound off")
    again = started_by(tab, lambda: tab.get_by_role("button", name=f"Count {worker} again").click())
    expect(tab.get_by_role("region", name="What changed")).to_contain_text("1 more")
    tab.goto(f"{again}?against={dialogues.rstrip('/').rpartition('/')[2]}")
    expect(tab.get_by_role("region", name="What changed")).to_contain_text("Settings the same")


def test_browser_another_alpha_shows_what_it_changes(tab: Page, dialogues: str) -> None:
    tab.goto(dialogues)
    tab.get_by_label("α").fill("0.01")
    started_by(tab, lambda: tab.get_by_role("button", name="Analyse again").click())

    panel = tab.get_by_role("region", name="What changed")
    expect(panel).to_contain_text("α: 0.05 → 0.01")
    expect(panel).to_contain_text("48 fewer")
    expect(tab.locator("tr.is-changed")).to_have_count(2)
    expect(tab.locator(".stat", has_text="Workers passed")).to_contain_text("125 of 248")

    tab.get_by_role("link", name="Back to the earlier run").click()
    expect(tab.locator(".stat", has_text="Workers passed")).to_contain_text("173 of 248")


def test_browser_figures_follow_the_theme(tab: Page, dialogues: str) -> None:
    tab.goto(dialogues)
    tab.locator("details[data-menu] > summary").click()
    for scheme, shown, hidden in (("dark", ".only-dark", ".only-light"), ("light", ".only-light", ".only-dark")):
        tab.get_by_role("button", name=scheme.capitalize()).click()
        expect(tab.locator("html")).to_have_attribute("data-theme", scheme)
        figure = tab.locator(f".figure-card {shown}")
        figure.scroll_into_view_if_needed()
        expect(figure).to_be_visible()
        expect(tab.locator(f".figure-card {hidden}")).to_be_hidden()
        drawn = partial(figure.evaluate, "element => element.complete && element.naturalWidth > 0")
        wait_until(drawn, 20, f"the {scheme} figure is drawn")


def test_browser_no_other_page_scrolls_sideways_on_a_phone(tab: Page, dialogues: str) -> None:
    tab.goto(dialogues)
    file = tab.locator(".crumb a").last.get_attribute("href")
    for page in (f"{dialogues}downloads/", f"{file}protocol/", f"{file}columns/", file):
        tab.goto(page)
        assert fits_a_phone(tab), page


def test_browser_a_file_that_is_no_table_is_refused_in_place(signed_in: Page, tmp_path: Path) -> None:
    noise = tmp_path / "noise.csv"
    noise.write_bytes(bytes(range(256)) * 20)
    signed_in.goto("/analysis/new/")
    signed_in.get_by_label("Ratings file", exact=True).set_input_files(noise)
    signed_in.get_by_role("button", name="Upload").click()
    expect(signed_in.get_by_role("alert").first).to_contain_text("1 problem in the file")
    expect(signed_in.get_by_label("Ratings file", exact=True)).to_be_visible()
