"""Long tables of results show ten rows until somebody wants all; what their numbers mean is under them."""

from pathlib import Path

import pytest
from django.template.loader import render_to_string
from playwright.sync_api import Browser, Page, expect

from analysis.results.sections import Column, Section, Table

CSS = Path(__file__).parents[2] / "static" / "css"


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Page:
    return browser.new_context(viewport={"width": 1000, "height": 900}).new_page()


def show(tab: Page, n_rows: int) -> None:
    rows = [[f"system-{n}", n / 7] for n in range(n_rows)]
    table = Table("pairs", "Pairs", "Every pair.", [Column("system"), Column("p (Holm)", 4, is_p=True)], rows)
    section = render_to_string("analysis/section.html", {"section": Section("pairs", "Pairs", "One differs.", [table])})
    styles = "".join((CSS / name).read_text() for name in ("tokens.css", "base.css", "tables.css"))
    tab.set_content(f"<style>{styles}</style>{section}")


def test_browser_a_long_table_shows_ten_rows_until_all_are_wanted(tab: Page) -> None:
    show(tab, 40)
    shown = tab.locator("tbody tr:visible")
    expect(shown).to_have_count(10)
    tab.emulate_media(media="print")
    expect(shown).to_have_count(40)
    tab.emulate_media(media="screen")
    tab.get_by_label("Show all 40 rows").check()
    expect(shown).to_have_count(40)


def test_browser_a_short_table_is_whole(tab: Page) -> None:
    show(tab, 12)
    expect(tab.locator("tbody tr:visible")).to_have_count(12)
    assert not tab.get_by_role("checkbox").count()


def test_browser_what_a_number_means_opens_under_its_table(tab: Page) -> None:
    show(tab, 3)
    meaning = tab.get_by_text("Conclusions use this one.")
    expect(meaning).to_be_hidden()
    tab.get_by_text("What do these numbers mean?").click()
    expect(meaning).to_be_visible()
    expect(tab.get_by_text("Holm (1979)")).to_be_visible()
