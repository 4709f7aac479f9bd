"""Labelled points, numbers, options and texts in a browser: by mouse, by keyboard alone, with a finger at 360 px."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from annotation.access.tokens import token_of
from annotation.models import Assignment, Response
from annotation.services.assignments import start_assignment
from campaigns.models import Campaign, Criterion
from evalsite.accounts.models import User
from tests.annotation.open_campaigns import campaign_asking
from tests.e2e.answering import PHONE
from tests.e2e.watching import watch

pytestmark = pytest.mark.django_db(transaction=True)
CRITERIA: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    ("It is clear.", "scale", {"labels": "bad\nfair\ngood"}, {"may_abstain": True, "abstain_reasons": "no context"}),
    ("How many errors?", "number", {"greatest": "9", "unit": "errors"}, {}),
    ("Which tone?", "choice", {"options": "kind\nrude", "is_several": "yes"}, {}),
    ("Anything else?", "text", {}, {"is_required": False}),
    ("It is useful.", "slider", {}, {}),
]


@pytest.fixture
def campaign(owner: User) -> Campaign:
    """A running campaign with a statement of each response kind and a HIT of three items."""
    return campaign_asking(owner, CRITERIA)


@pytest.fixture
def path(campaign: Campaign) -> str:
    """The path of the HIT of a worker."""
    assignment = start_assignment(campaign=campaign, worker_key=f"{campaign.public_id}:ann", consented=True)
    return f"/rate/{token_of(assignment)}/"


def open_item(page: Page, address: str, complaints: list[str]) -> Page:
    watch(page, complaints).goto(address)
    expect(page.get_by_role("heading", level=1)).to_have_text("Item 1 of 3")
    return page


def kept() -> list[tuple[int, str, Any, str]]:
    rows = Response.objects.order_by("item__position", "criterion__order")
    return list(rows.values_list("item__position", "criterion__response", "value", "abstained"))


def next_of(page: Page):
    return page.get_by_role("button", name="Next")


def test_mouse_and_what_is_missing_is_said_and_led_to(
    page: Page, live_server, path: str, complaints: list[str]
) -> None:
    item = open_item(page, live_server.url + path, complaints)
    expect(item.get_by_text("4 answers left.")).to_be_visible()
    item.get_by_role("radio", name="fair").click()
    next_of(item).click(force=True)  # it looks disabled
    expect(item.get_by_text("Write a number to go on.")).to_be_visible()
    expect(item.get_by_role("textbox", name="How many errors?")).to_be_focused()
    item.get_by_role("textbox", name="How many errors?").fill("3")
    item.get_by_role("checkbox", name="rude").click()
    item.locator("[data-slider]").click()
    expect(item.get_by_text("answers left")).to_be_hidden()
    next_of(item).click()
    expect(item.get_by_role("heading", level=1)).to_have_text("Item 2 of 3")
    assert kept() == [(1, "scale", 2, ""), (1, "number", 3, ""), (1, "choice", ["rude"], ""), (1, "slider", 50, "")]


def test_keyboard_alone(page: Page, live_server, path: str, complaints: list[str]) -> None:
    item = open_item(page, live_server.url + path, complaints)
    item.get_by_role("radio", name="bad").focus()
    keys = item.keyboard
    keys.press("ArrowDown")
    for _ in range(2):
        keys.press("Tab")
    keys.type("7")
    keys.press("Tab")
    keys.press("Space")
    for _ in range(2):
        keys.press("Tab")
    keys.type("Fine.")
    keys.press("Tab")
    keys.press("End")
    keys.press("Tab")
    keys.press("Enter")
    expect(item.get_by_role("heading", level=1)).to_have_text("Item 2 of 3")
    assert [row[2] for row in kept()] == [2, 7, ["kind"], "Fine.", 100]


def test_touch_at_360_px_with_a_reload_and_a_second_tab(
    browser: Browser, live_server, path: str, complaints: list[str]
) -> None:
    context = browser.new_context(**PHONE)
    item = open_item(context.new_page(), live_server.url + path, complaints)
    item.get_by_role("combobox").select_option("no context")
    item.get_by_role("textbox", name="How many errors?").fill("0")
    item.get_by_text("kind").tap()
    item.get_by_text("rude").tap()
    item.get_by_role("textbox", name="Anything else?").fill("Short.")
    assert item.evaluate("document.documentElement.scrollWidth") <= 360
    for same in (item, context.new_page()):
        same.goto(live_server.url + path)
        expect(same.get_by_role("combobox")).to_have_value("no context")
        expect(same.get_by_role("textbox", name="How many errors?")).to_have_value("0")
        expect(same.get_by_role("checkbox", name="rude")).to_be_checked()
        expect(same.get_by_text("1 answer left.")).to_be_visible()
    same.locator("[data-slider]").tap()
    next_of(same).tap()
    expect(same.get_by_role("heading", level=1)).to_have_text("Item 2 of 3")
    item.locator("[data-slider]").tap()
    next_of(item).tap()  # in the first tab, too: there it is rated already
    expect(item.get_by_role("heading", level=1)).to_have_text("Item 2 of 3")
    assert kept() == [
        (1, "scale", None, "no context"),
        (1, "number", 0, ""),
        (1, "choice", ["kind", "rude"], ""),
        (1, "text", "Short.", ""),
        (1, "slider", 50, ""),
    ]
    assert Assignment.objects.get().n_rated == 1
    context.close()


def test_a_refused_answer_is_named_and_nothing_typed_is_lost(
    page: Page, live_server, path: str, complaints: list[str]
) -> None:
    item = open_item(page, live_server.url + path, complaints)
    item.get_by_role("radio", name="good").click()
    item.get_by_role("textbox", name="How many errors?").fill("many")
    item.get_by_role("checkbox", name="kind").click()
    item.locator("[data-slider]").click()
    next_of(item).click()
    expect(item.get_by_text("A whole number from 0 to 9 is needed, not “many”.")).to_be_visible()
    expect(item.get_by_role("radio", name="good")).to_be_checked()
    expect(item.get_by_role("textbox", name="How many errors?")).to_have_value("many")
    errors = item.get_by_role("textbox", name="How many errors?")
    expect(errors).to_be_focused()
    expect(errors).to_have_attribute("aria-invalid", "true")
    expect(item.get_by_role("alert").get_by_role("link", name="Go to it")).to_have_attribute("href", "#statement-2")
    errors.fill("2")
    expect(errors).not_to_have_attribute("aria-invalid", "true")
    next_of(item).click()
    expect(item.get_by_role("heading", level=1)).to_have_text("Item 2 of 3")
    complaints[:] = [text for text in complaints if "422" not in text]


def test_what_was_sent_and_did_not_arrive_is_sent_again_after_reloads(
    page: Page, live_server, path: str, complaints: list[str]
) -> None:
    item = open_item(page, live_server.url + path, complaints)
    item.get_by_role("radio", name="good").click()
    item.get_by_role("textbox", name="How many errors?").fill("2")
    item.get_by_role("checkbox", name="kind").click()
    item.locator("[data-slider]").click()
    for _ in range(2):
        item.reload()
        expect(item.get_by_text("answers left")).to_be_hidden()
        expect(next_of(item)).to_be_enabled()
    item.route("**/rate/**", lambda route: route.abort() if route.request.method == "POST" else route.fallback())
    next_of(item).click()
    item.unroute("**/rate/**")
    item.goto(live_server.url + path)
    expect(item.get_by_role("heading", level=1)).to_have_text("Item 2 of 3")
    assert [row[2] for row in kept()] == [3, 2, ["kind"], 50]
    complaints.clear()


def test_without_the_script_of_other_answers_nothing_is_lost(
    page: Page, live_server, path: str, complaints: list[str]
) -> None:
    item = open_item(page, live_server.url + path, complaints)
    item.get_by_role("radio", name="good").click()
    item.get_by_role("textbox", name="How many errors?").fill("2")
    item.route("**/answers*.js", lambda route: route.abort())
    item.reload()
    item.locator("[data-slider]").click()
    item.unroute("**/answers*.js")
    item.reload()
    expect(item.get_by_role("radio", name="good")).to_be_checked()
    expect(item.get_by_role("textbox", name="How many errors?")).to_have_value("2")
    expect(item.get_by_text("1 answer left.")).to_be_visible()
    complaints.clear()


def test_an_answer_takes_back_that_it_cannot_be_judged(
    page: Page, live_server, path: str, complaints: list[str]
) -> None:
    item = open_item(page, live_server.url + path, complaints)
    item.get_by_role("combobox").select_option("no context")
    item.get_by_role("radio", name="good").click()
    expect(item.get_by_role("combobox")).to_have_value("")


def test_answers_that_are_optional_can_be_taken_back(page: Page, live_server, path: str, complaints: list[str]) -> None:
    Criterion.objects.filter(response__in=("slider", "scale")).update(is_required=False)
    item = open_item(page, live_server.url + path, complaints)
    clears = item.get_by_role("button", name="Clear answer")
    expect(clears).to_have_count(0)
    item.get_by_role("radio", name="good").click()
    item.locator("[data-slider]").click()
    expect(clears).to_have_count(2)
    clears.last.focus()
    item.keyboard.press("Enter")
    expect(item.get_by_role("slider")).to_be_focused()
    expect(item.get_by_role("slider")).to_have_attribute("aria-valuetext", "not set yet")
    item.reload()
    expect(clears).to_have_count(1)
    clears.click()
    expect(item.get_by_role("radio", name="good")).not_to_be_checked()
    item.get_by_role("textbox", name="How many errors?").fill("2")
    item.get_by_role("checkbox", name="kind").click()
    next_of(item).click()
    expect(item.get_by_role("heading", level=1)).to_have_text("Item 2 of 3")
    assert [row[1] for row in kept()] == ["number", "choice"]
