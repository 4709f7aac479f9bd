"""Preferences, best and worst, and rankings in a browser: by mouse, by keyboard alone, with a finger at 360 px."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db.models import F
from playwright.sync_api import Browser, Locator, Page, Route, expect

from annotation.access.tokens import token_of
from annotation.models import Response
from annotation.services.assignments import start_assignment
from campaigns.models import Criterion, HitItem
from evalsite.accounts.models import User
from tests.annotation.open_campaigns import open_campaign
from tests.e2e.answering import PHONE
from tests.e2e.watching import watch

pytestmark = pytest.mark.django_db(transaction=True)
QUESTION = "Which one reads better?"


@pytest.fixture
def asking(owner: User) -> Callable[..., str]:
    """Returns the path of a HIT of two pages of n outputs, compared by a response kind."""

    def make(response: str, n: int, settings: dict[str, str] | None = None) -> str:
        campaign = open_campaign(owner, n_hits=1, size=2 * n, page_kind="comparison", outputs_per_page=n)
        HitItem.objects.filter(hit__campaign=campaign).update(page=(F("position") + n - 1) / n)
        campaign.criteria.all().delete()
        Criterion.objects.create(
            campaign=campaign, order=0, name="better", statement=QUESTION, scope="page", response=response,
            settings=settings or {},
        )  # fmt: skip
        assignment = start_assignment(campaign=campaign, worker_key=f"{campaign.public_id}:ann", consented=True)
        return f"/rate/{token_of(assignment)}/"

    return make


def open_item(page: Page, address: str, complaints: list[str], number: int = 1) -> Page:
    watch(page, complaints).goto(address)
    return at(page, number)


def at(page: Page, number: int) -> Page:
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Item {number} of 2")
    return page


def kept() -> list[Any]:
    return list(Response.objects.order_by("item__position").values_list("value", flat=True))


def next_of(page: Page) -> Locator:
    return page.get_by_role("button", name="Next")


def last_of(page: Page) -> Locator:
    return page.get_by_role("button", name="Save and finish")


def feedback(page: Page) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text("Almost done")


def choose(page: Page, end: str, letter: str) -> Locator:
    return page.get_by_role("radiogroup", name=end).get_by_role("radio", name=letter)


def rank_of(page: Page, letter: str) -> Locator:
    return page.get_by_role("combobox", name=f"Rank of {letter}")


def order_of(page: Page) -> list[str | None]:
    return [row.get_attribute("data-ranked") for row in page.locator("[data-ranked]").all()]


def handle_of(page: Page, letter: str) -> Locator:
    handle = page.get_by_role("button", name=f"Move {letter}:")
    expect(handle).to_be_visible()
    return handle


# --- Preference


def test_preference_by_mouse_and_by_keyboard(page: Page, live_server, asking, complaints: list[str]) -> None:
    item = open_item(page, live_server.url + asking("preference", 2, {"has_strength": "yes"}), complaints)
    next_of(item).click(force=True)  # it looks disabled
    expect(item.get_by_text("Choose an answer to go on.")).to_be_visible()
    item.get_by_role("radio", name="B is slightly better").click()
    next_of(item).click()
    item = at(item, 2)
    item.get_by_role("radio", name="A is much better").focus()
    for key in ("Space", "ArrowRight", "ArrowRight", "Tab", "Enter"):
        item.keyboard.press(key)
    feedback(item)
    assert kept() == ["2 slightly", "tie"]


def test_what_is_missing_is_said_to_who_pressed_next_before_the_script_was_there(
    page: Page, live_server, asking, complaints: list[str]
) -> None:
    late: list[Route] = []
    page.route(re.compile(r"/answers[^/]*\.js"), lambda route: late.append(route))
    address = live_server.url + asking("preference", 2, {})
    with page.expect_request(re.compile(r"/answers[^/]*\.js")):
        item = open_item(page, address, complaints)
    expect(item.locator("[data-rating-next]:not([disabled])")).to_be_visible()
    next_of(item).click(force=True)
    for route in late:
        route.continue_()
    expect(item.get_by_text("Choose an answer to go on.")).to_be_visible()


# --- Best and worst


def test_best_and_worst_by_mouse_and_by_keyboard(page: Page, live_server, asking, complaints: list[str]) -> None:
    item = open_item(page, live_server.url + asking("best_worst", 4), complaints)
    choose(item, "Best", "C").click()
    choose(item, "Worst", "C").click()
    expect(choose(item, "Best", "C")).not_to_be_checked()  # one output cannot be both
    next_of(item).click(force=True)
    expect(item.get_by_text("Choose one output in each row to go on.")).to_be_visible()
    expect(choose(item, "Best", "A")).to_be_focused()
    choose(item, "Best", "B").click()
    next_of(item).click()
    item = at(item, 2)
    choose(item, "Best", "A").focus()
    for key in ("Space", "ArrowRight", "Tab", "Space", "Tab", "Enter"):
        item.keyboard.press(key)
    feedback(item)
    assert kept() == [{"best": 2, "worst": 3}, {"best": 2, "worst": 1}]


# --- Ranking


def drag(page: Page, letter: str, onto: str) -> None:
    handle = handle_of(page, letter)
    handle.scroll_into_view_if_needed()
    box, target = handle.bounding_box(), page.locator(f"[data-ranked={onto}]").bounding_box()
    assert box and target
    page.mouse.move(box["x"] + 10, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + 10, target["y"] + target["height"] / 2, steps=8)
    page.mouse.up()


def test_ranking_by_mouse_and_by_keyboard(page: Page, live_server, asking, complaints: list[str]) -> None:
    item = open_item(page, live_server.url + asking("ranking", 3), complaints)
    rank_of(item, "A").select_option("1")
    next_of(item).click(force=True)
    expect(item.get_by_text("Give every output a rank to go on.")).to_be_visible()
    expect(rank_of(item, "B")).to_be_focused()
    drag(item, "C", onto="A")
    assert order_of(item) == ["C", "A", "B"]
    expect(item.get_by_text("answer left")).to_be_hidden()
    rank_of(item, "A").select_option("1")  # shares it
    next_of(item).click()
    item = at(item, 2)
    handle_of(item, "B").focus()
    item.keyboard.press("ArrowUp")
    assert order_of(item) == ["B", "A", "C"]
    expect(handle_of(item, "B")).to_be_focused()
    for key in ("Tab", "3"):  # the rank of A
        item.keyboard.press(key)
    expect(rank_of(item, "A")).to_be_focused()
    expect(rank_of(item, "A")).to_have_value("1:3")
    next_field = last_of(item)
    while not next_field.evaluate("(el) => el === document.activeElement"):
        item.keyboard.press("Tab")
    item.keyboard.press("Enter")
    feedback(item)
    assert kept() == [[1, 2, 1], [2, 1, 2]]


def test_ranking_by_touch_with_a_reload_and_a_second_tab(
    browser: Browser, live_server, asking, complaints: list[str]
) -> None:
    address = live_server.url + asking("ranking", 3, {"may_tie": "no"})
    context = browser.new_context(**PHONE)
    item = open_item(context.new_page(), address, complaints)
    assert item.evaluate("document.documentElement.scrollWidth") <= 360
    swipe(item, handle_of(item, "A"), onto="C")
    assert order_of(item) == ["B", "C", "A"]
    for same in (item, context.new_page()):
        same.goto(address)
        handle_of(same, "A")
        assert order_of(same) == ["B", "C", "A"]
    rank_of(same, "A").select_option("2")  # C has it, and gets that of A
    assert order_of(same) == ["B", "A", "C"]
    next_of(same).tap()
    for letter, rank in zip("ABC", "213", strict=True):
        rank_of(at(same, 2), letter).select_option(rank)
    last_of(same).tap()
    feedback(same)
    assert kept() == [[2, 1, 3], [2, 1, 3]]
    context.close()


def swipe(page: Page, handle: Locator, onto: str) -> None:
    """Drag a handle with a finger: the page must not scroll instead."""
    handle.scroll_into_view_if_needed()
    box, target = handle.bounding_box(), page.locator(f"[data-ranked={onto}]").bounding_box()
    assert box and target
    finger = page.context.new_cdp_session(page)
    x, y = box["x"] + 20, box["y"] + 20
    end = target["y"] + target["height"] / 2
    finger.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for step in range(1, 9):
        at_y = y + (end - y) * step / 8
        finger.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x, "y": at_y}]})
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_without_the_script_of_rankings_ranks_are_chosen(
    page: Page, live_server, asking, complaints: list[str]
) -> None:
    page.route("**/*.js", lambda route: route.abort())
    page.goto(live_server.url + asking("ranking", 2, {"may_tie": "no"}))
    for letter, rank in (("A", "1"), ("B", "1")):
        rank_of(page, letter).select_option(rank)
    next_of(page).click()
    expect(page.get_by_text("Two outputs have the same rank. Give each its own.")).to_be_visible()
    for letter, rank in (("A", "2"), ("B", "1")):
        rank_of(page, letter).select_option(rank)
    next_of(page).click()
    at(page, 2)
    assert kept() == [[2, 1]]
