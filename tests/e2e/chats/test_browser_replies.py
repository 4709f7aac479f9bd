"""Rating each reply of a chat in a browser: on a phone by touch, beside it on a wide screen, and by keyboard alone."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from annotation.access.tokens import token_of
from annotation.models import Response
from campaigns.models import Campaign, Chatbot
from evalsite.accounts.models import User
from tests.annotation.chat.chat_campaigns import open_live_campaign
from tests.e2e.answering import PHONE
from tests.e2e.chats.chatting import SCRIPTED, Complaints, begin, end, heading, say, take_hit

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def campaign(owner: User) -> Campaign:
    campaign = open_live_campaign(owner, "ssa-chat", chat={"min_inputs": 2})
    Chatbot.objects.update(connector="python", settings={"class_path": SCRIPTED}, n_retries=0)
    return campaign


def chat_until_rating(page: Page, address: str, campaign: Campaign) -> None:
    page.goto(f"{address}/rate/{token_of(take_hit(campaign))}/")
    begin(page)
    for text in ("Do you like tennis?", "And swimming?"):
        say(page, text)
    end(page)


def reply(page: Page, number: int) -> Locator:
    return page.get_by_role("group", name=f"Reply {number}")


def stored() -> list[tuple[str, int, Any]]:
    rows = Response.objects.order_by("turn", "criterion__order").select_related("criterion")
    return [(each.criterion.name, each.turn, each.value) for each in rows]


def test_browser_each_reply_is_judged_by_touch_on_a_phone(
    browser: Browser, live_server: Any, campaign: Campaign, complaints: Complaints
) -> None:
    page = complaints.watch(browser.new_context(**PHONE).new_page())
    chat_until_rating(page, live_server.url, campaign)
    expect(page.locator(".reply .turn-text")).to_have_count(4)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    expect(reply(page, 1).get_by_text("Is the reply specific")).to_be_hidden()
    reply(page, 1).get_by_text("yes").first.tap()
    expect(reply(page, 1).get_by_text("Is the reply specific")).to_be_visible()
    expect(reply(page, 2).get_by_text("Is the reply specific")).to_be_hidden()
    expect(page.locator("[data-rating-left]")).to_have_text("2 answers left.")
    page.reload()
    expect(reply(page, 1).get_by_role("radio", name="yes").first).to_be_checked()
    expect(reply(page, 1).get_by_text("Is the reply specific")).to_be_visible()
    page.get_by_role("link", name="Go to the first").tap()
    expect(reply(page, 1).get_by_text("Choose a point")).to_be_visible()
    reply(page, 1).locator(".statement").nth(1).get_by_text("no").tap()
    reply(page, 2).get_by_text("no").first.tap()
    page.locator("[data-rating-next]").tap()
    expect(heading(page)).to_have_text("Chat 2 of 6")
    assert stored() == [("sensible", 2, 1), ("specific", 2, 0), ("sensible", 4, 0)]
    page.context.close()


def test_browser_each_reply_is_judged_by_keyboard(
    page: Page, live_server: Any, campaign: Campaign, complaints: Complaints
) -> None:
    complaints.watch(page)
    page.set_viewport_size({"width": 1440, "height": 900})
    chat_until_rating(page, live_server.url, campaign)
    expect(page.locator("[data-rating-left]")).to_have_text("2 answers left.")
    said, asked = page.locator(".reply .turn-chatbot").first.bounding_box(), reply(page, 1).bounding_box()
    assert said
    assert asked
    assert said["x"] + said["width"] <= asked["x"], "beside it"
    assert abs(said["y"] - asked["y"]) < 40
    reply(page, 1).get_by_role("radio").first.focus()
    page.keyboard.press("ArrowRight")  # yes
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")  # no
    page.keyboard.press("Enter")
    expect(heading(page)).to_have_text("Chat 2 of 6")
    assert stored() == [("sensible", 2, 1), ("specific", 2, 1), ("sensible", 4, 0)]
