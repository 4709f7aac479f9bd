"""Single keys on workers' pages: they choose, go on and mark, are listed, and never take what is typed in a field."""

from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from annotation.access.tokens import token_of
from annotation.models import NO_REASON, Response
from annotation.services.assignments import start_assignment
from campaigns.models import Campaign
from evalsite.accounts.models import User
from tests.annotation.open_campaigns import campaign_asking
from tests.e2e.answering import press
from tests.e2e.test_browser_spans import ESA, MQM, campaign_of, in_segment, target
from tests.e2e.watching import watch

pytestmark = pytest.mark.django_db(transaction=True)
CRITERIA: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    ("It is clear.", "scale", {"labels": "bad\nfair\ngood"}, {"may_abstain": True}),
    ("Which tone?", "choice", {"options": "kind\nrude", "is_several": "yes"}, {}),
    ("It is useful.", "slider", {}, {}),
    ("Anything else?", "text", {}, {"is_required": False}),
]


@pytest.fixture
def campaign(owner: User) -> Campaign:
    return campaign_asking(owner, CRITERIA)


def open_hit(page: Page, address: str, campaign: Campaign, complaints: list[str]) -> Page:
    """Open the first page of a HIT, whose keys work."""
    assignment = start_assignment(campaign=campaign, worker_key=f"{campaign.public_id}:ann", consented=True)
    watch(page, complaints).goto(f"{address}/rate/{token_of(assignment)}/")
    expect(page.locator(".keys-note")).to_contain_text("all keys")
    return page


@pytest.fixture
def item(page: Page, live_server, campaign: Campaign, complaints: list[str]) -> Page:
    return open_hit(page, live_server.url, campaign, complaints)


def kept() -> list[tuple[int, str, Any, str]]:
    rows = Response.objects.order_by("item__position", "criterion__order")
    return list(rows.values_list("item__position", "criterion__response", "value", "abstained"))


def test_an_item_is_answered_by_single_keys(item: Page) -> None:
    press(item, "2")  # of the first statement that is not answered
    expect(item.get_by_role("radio", name="fair")).to_be_checked()
    press(item, "3")  # it has the focus, so it is changed
    expect(item.get_by_role("radio", name="good")).to_be_checked()
    press(item, "j", "1", "2")
    expect(item.get_by_role("checkbox", name="rude")).to_be_checked()
    press(item, "1")
    expect(item.get_by_role("checkbox", name="kind")).not_to_be_checked()
    press(item, "J")
    expect(item.get_by_role("slider")).to_be_focused()
    press(item, "7")  # no number is a place of a slider
    expect(item.locator("[data-slider]")).not_to_have_class("slider is-set")
    press(item, "n")
    expect(item.get_by_text("move this slider")).to_be_visible()
    press(item, "End", "k", "k", "x")
    expect(item.get_by_role("checkbox", name="I cannot judge this")).to_be_checked()
    press(item, "n")
    expect(item.get_by_role("heading", level=1)).to_have_text("Item 2 of 3")
    assert kept()[:3] == [(1, "scale", None, NO_REASON), (1, "choice", ["rude"], ""), (1, "slider", 100, "")]


def test_a_digit_chooses_the_point_that_has_it(page: Page, live_server, owner: User, complaints: list[str]) -> None:
    points = "\n".join(map(str, range(11)))
    asked = [("How likely?", "scale", {"labels": points}, {}), ("Better?", "scale", {"labels": "-1\n0\n1"}, {})]
    item = open_hit(page, live_server.url, campaign_asking(owner, asked), complaints)
    press(item, "3")
    expect(item.locator(".statement").first.get_by_role("radio", name="3", exact=True)).to_be_checked()
    press(item, "j", "1")
    expect(item.locator(".statement").last.get_by_role("radio", name="1", exact=True)).to_be_checked()


def test_a_digit_marks_nothing_in_a_segment_that_was_left(
    page: Page, live_server, owner: User, complaints: list[str]
) -> None:
    item = open_hit(page, live_server.url, campaign_of(owner, ESA, with_slider=True), complaints)
    expect(target(item, 2)).to_be_visible()
    press(item, "j")
    expect(target(item)).to_be_focused()
    press(item, "Shift+ArrowRight", "j")
    expect(target(item, 2)).to_be_focused()
    press(item, "2")
    expect(item.locator(".spans-list li")).to_have_count(0)


def test_what_is_typed_in_a_field_is_taken_by_no_key(item: Page) -> None:
    note = item.get_by_role("textbox")
    press(item, "j", "j", "j", "j")
    expect(note).not_to_be_focused()  # else it would take the keys that follow
    press(item, "Tab")
    expect(note).to_be_focused()
    typed = "jkmnx? 123"
    item.keyboard.type(typed)
    expect(note).to_have_value(typed)
    expect(item.get_by_role("radio", name="bad")).not_to_be_checked()
    expect(item.get_by_role("dialog")).to_have_count(0)


def test_errors_are_marked_by_single_keys(page: Page, live_server, owner: User, complaints: list[str]) -> None:
    item = open_hit(page, live_server.url, campaign_of(owner, ESA, with_slider=True), complaints)
    expect(target(item, 2)).to_be_visible()
    press(item, "j")
    expect(target(item)).to_be_focused()
    press(item, "Shift+ArrowRight", "2")
    expect(in_segment(item, 1).locator(".spans-list li")).to_contain_text(["major"])
    press(item, "m", "1")
    expect(in_segment(item, 1).locator(".spans-list li")).to_have_count(2)
    press(item, "j")
    expect(target(item, 2)).to_be_focused()
    press(item, "Shift+ArrowRight", "1")
    expect(in_segment(item, 2).locator(".spans-list li")).to_contain_text(["minor"])
    press(item, "k")
    expect(target(item)).to_be_focused()


def test_that_there_are_no_errors_is_said_by_a_key(page: Page, live_server, owner: User, complaints: list[str]) -> None:
    item = open_hit(page, live_server.url, campaign_of(owner, MQM, with_slider=False), complaints)
    expect(item.locator(".keys-note")).to_contain_text("0 no errors")
    expect(item.locator(".keys-note")).to_contain_text("M missing")
    expect(target(item, 2)).to_be_visible()
    press(item, "0", "j", "j", "0", "n")
    expect(item.get_by_role("heading", level=1)).to_have_text("Item 2 of 2")
    assert [value for _, _, value, _ in kept()] == [[], []]


def test_keys_are_listed_and_can_be_turned_off(item: Page) -> None:
    press(item, "?")
    dialog = item.get_by_role("dialog", name="Keys")
    expect(dialog).to_contain_text("Choose a point")
    expect(dialog).not_to_contain_text("In a text to mark")  # this page has none
    press(item, "1")
    expect(item.get_by_role("radio", name="bad")).not_to_be_checked()
    dialog.get_by_role("checkbox").click()
    press(item, "Escape")
    expect(dialog).to_have_count(0)
    press(item, "1", "?")
    expect(item.get_by_role("radio", name="bad")).not_to_be_checked()
    item.reload()
    expect(item.locator(".keys-note")).to_contain_text("all keys")
    press(item, "1")
    expect(item.get_by_role("radio", name="bad")).not_to_be_checked()
    item.get_by_role("button", name="Keys").click()
    dialog.get_by_role("checkbox").click()
    dialog.get_by_role("button", name="Close").click()
    press(item, "1")
    expect(item.get_by_role("radio", name="bad")).to_be_checked()


def test_keys_are_named_on_the_first_item_alone(item: Page) -> None:
    press(item, "1", "j", "1", "j", "End", "n")
    expect(item.get_by_role("heading", level=1)).to_have_text("Item 2 of 3")
    expect(item.locator(".keys-note")).to_have_count(0)
    expect(item.get_by_role("button", name="Keys")).to_be_visible()


def test_nothing_below_an_item_moves_once_its_style_is_there(item: Page) -> None:
    held: list[Route] = []
    item.route("**/rate_reading.css", lambda route: held.append(route))
    item.reload()
    expect(item.locator("head link[href*=rate_reading]")).to_have_count(1)
    expect(item.locator(".keys-note")).to_have_count(0)
    held[0].continue_()
    expect(item.locator(".keys-note")).to_be_visible()
