"""Correcting a text in a browser: by keyboard alone, and with a finger at 360 px, a reload and a second tab between."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from annotation.access.tokens import token_of
from annotation.models import Response
from annotation.services.assignments import start_assignment
from campaigns.models import Criterion, HitItem
from campaigns.responses.edit import replay
from evalsite.accounts.models import User
from tests.annotation.open_campaigns import open_campaign
from tests.e2e.answering import PHONE
from tests.e2e.watching import watch

pytestmark = pytest.mark.django_db(transaction=True)
OUTPUT = "\nThe cat 🐈 sat\non the mat."


@pytest.fixture
def path(owner: User) -> str:
    """The path of a HIT of three texts, each to be corrected."""
    campaign = open_campaign(owner, n_hits=1, size=3)
    HitItem.objects.filter(hit__campaign=campaign).update(text=OUTPUT)
    campaign.criteria.all().delete()
    Criterion.objects.create(campaign=campaign, name="edited", statement="Correct the text.", response="edit")
    assignment = start_assignment(campaign=campaign, worker_key=f"{campaign.public_id}:ann", consented=True)
    return f"/rate/{token_of(assignment)}/"


def box_of(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Correct the text.")


def kept() -> dict[str, Any]:
    value = Response.objects.latest("pk").value
    assert replay(OUTPUT, value["history"]) == value["text"]
    return value


def test_keyboard_alone(page: Page, live_server, path: str, complaints: list[str]) -> None:
    watch(page, complaints).goto(live_server.url + path)
    heading, keys = page.get_by_role("heading", level=1), page.keyboard
    next_item = page.get_by_role("button", name="Next")
    expect(box_of(page)).to_have_value(OUTPUT)
    expect(page.get_by_text("1 answer left.")).to_be_visible()
    next_item.focus()
    keys.press("Enter")
    expect(page.get_by_text("Correct the text, or tick “Nothing to change”, to go on.")).to_be_visible()
    expect(box_of(page)).to_be_focused()
    keys.press("Control+End")
    keys.press("Backspace")
    keys.type("!")
    keys.press("Control+Home")
    keys.press("ArrowDown")
    keys.type("Look: ")
    expect(page.get_by_text("1 answer left.")).to_be_hidden()
    expect(page.get_by_role("checkbox")).to_be_disabled()
    expect(page.get_by_role("button", name="Undo all changes")).to_be_visible()
    keys.press("Tab")
    keys.press("Tab")
    keys.press("Enter")
    expect(heading).to_have_text("Item 2 of 3")
    value = kept()
    assert value["text"] == "\nLook: The cat 🐈 sat\non the mat!"
    assert (value["is_unchanged"], value["keystrokes"]) == (False, 12)  # Tab is one, too
    assert value["seconds"] > 0

    expect(box_of(page)).to_have_value(OUTPUT)
    box_of(page).focus()
    keys.type("x")
    page.get_by_role("button", name="Undo all changes").press("Enter")
    expect(box_of(page)).to_have_value(OUTPUT)
    expect(page.get_by_text("1 answer left.")).to_be_visible()
    page.get_by_role("checkbox", name="Nothing to change").press("Space")
    next_item.press("Enter")
    expect(heading).to_have_text("Item 3 of 3")
    value = kept()
    assert (value["text"], value["is_unchanged"], len(value["history"])) == (OUTPUT, True, 2)


def test_touch_at_360_px_with_a_reload_and_a_second_tab(
    browser: Browser, live_server, path: str, complaints: list[str]
) -> None:
    context = browser.new_context(**PHONE)
    page = watch(context.new_page(), complaints)
    page.goto(live_server.url + path)
    expect(page.get_by_text("1 answer left.")).to_be_visible()
    box_of(page).tap()
    box_of(page).fill("The cat 🐈 sat on the mat.")
    for same, typed in ((page, ""), (context.new_page(), "s")):
        same.goto(live_server.url + path)
        expect(box_of(same)).to_have_value(f"The cat 🐈 sat on the mat.{typed}")
        expect(same.get_by_text("answer left")).to_be_hidden()
        box_of(same).press("End")
        box_of(same).press_sequentially("s")
    assert same.evaluate("document.documentElement.scrollWidth") <= 360
    same.get_by_role("button", name="Next").tap()
    expect(same.get_by_role("heading", level=1)).to_have_text("Item 2 of 3")
    value = kept()
    assert value["text"] == "The cat 🐈 sat on the mat.ss"
    assert len(value["history"]) == 3
    context.close()


def test_many_changes_stay_one_record_that_leads_to_the_text(page: Page, live_server, path: str) -> None:
    page.goto(live_server.url + path)
    expect(page.get_by_text("1 answer left.")).to_be_visible()
    page.evaluate(
        """async () => {
          const box = document.querySelector("textarea");
          for (let k = 0; k < 2100; k += 1) {
            box.value = k % 2 ? box.value.slice(1) : "x" + box.value.replace("mat", "rug " + k);
            box.dispatchEvent(new Event("input", { bubbles: true }));
          }
        }"""
    )
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Item 2 of 3")
    assert 500 < len(kept()["history"]) <= 2000
