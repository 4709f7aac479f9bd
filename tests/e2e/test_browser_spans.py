"""Marking errors in a browser: by mouse, by keyboard alone, with a finger at 360 px; a reload, a second tab."""

import json
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from annotation.access.tokens import token_of
from annotation.models import Response
from annotation.services.assignments import start_assignment
from campaigns.models import Campaign, Criterion, HitItem, Source
from evalsite.accounts.models import User
from tests.annotation.open_campaigns import open_campaign
from tests.e2e.answering import PHONE
from tests.e2e.watching import watch

pytestmark = pytest.mark.django_db(transaction=True)
# The second character is one to Python and two to JavaScript, the é is two characters that are seen as one.
TEXTS = ("A 🚂 train runs to Cafe\u0301 Bahn, on time.", "All of it is wrong.")
SOURCE = "Ein Zug fährt pünktlich zum Café Bahn."
MQM = {"source_field": "source", "has_comments": "yes", "most": 3}
ESA = {"severities": "minor\nmajor", "categories": "", "must_say_none": "no"}


def campaign_of(owner: User, settings: dict[str, Any], *, with_slider: bool) -> Campaign:
    """Return a running campaign whose HIT is a document of two segments, and one of one segment."""
    campaign = open_campaign(owner, n_hits=1, size=3, protocol="da-translation", page_kind="document")
    HitItem.objects.filter(hit__campaign=campaign, position__lte=2).update(page=1)
    HitItem.objects.filter(hit__campaign=campaign, position=3).update(page=2)
    for position, text in enumerate(TEXTS, start=1):
        HitItem.objects.filter(hit__campaign=campaign, position=position).update(text=text)
    Source.objects.filter(campaign=campaign).update(fields={"source": SOURCE})
    campaign.criteria.all().delete()
    Criterion.objects.create(
        campaign=campaign, order=0, name="errors", statement="Mark every error.", response="spans", settings=settings
    )
    if with_slider:
        Criterion.objects.create(campaign=campaign, order=1, name="score", statement="How good is it?")
    return campaign


def path_of(campaign: Campaign) -> str:
    assignment = start_assignment(campaign=campaign, worker_key=f"{campaign.public_id}:ann", consented=True)
    return f"/rate/{token_of(assignment)}/"


def open_page(page: Page, address: str, complaints: list[str]) -> Page:
    watch(page, complaints).goto(address)
    expect(page.locator("[data-spans-text]").first).to_be_visible()
    return page


def target(page: Page, segment: int = 1) -> Locator:
    return page.locator(".output").nth(segment - 1).locator('[data-spans-text="target"]')


def word(page: Page, text: str, segment: int = 1) -> Locator:
    return target(page, segment).locator("[data-start]", has_text=text).first


def in_segment(page: Page, segment: int) -> Locator:
    return page.locator(".output").nth(segment - 1)


def kept() -> list[tuple[int, Any]]:
    rows = Response.objects.filter(criterion__name="errors").order_by("item__position")
    return list(rows.values_list("item__position", "value"))


def words_of(value: list[dict[str, Any]], text: str = TEXTS[0]) -> list[tuple[str, str]]:
    return [(text[each["start"] : each["end"]], each["severity"]) for each in value]


def pick(page: Page, severity: str) -> None:
    page.locator(".spans-panel:not([hidden])").get_by_role("button", name=severity, exact=True).click()


def choose_category(page: Page, name: str) -> None:
    page.locator(".spans-panel:not([hidden])").get_by_role("combobox", name="Category").select_option(label=name)


def drag(page: Page, start: Locator, end: Locator) -> None:
    """Select with the mouse from the beginning of one word to the end of another."""
    first, last = start.bounding_box(), end.bounding_box()
    assert first
    assert last
    page.mouse.move(first["x"] + 1, first["y"] + first["height"] / 2)
    page.mouse.down()
    page.mouse.move(last["x"] + last["width"] - 1, last["y"] + last["height"] / 2, steps=5)
    page.mouse.up()


def next_of(page: Page) -> Locator:
    return page.get_by_role("button", name="Next")


def test_mouse_and_what_is_missing_is_said_and_led_to(
    page: Page, live_server, owner: User, complaints: list[str]
) -> None:
    item = open_page(page, live_server.url + path_of(campaign_of(owner, MQM, with_slider=False)), complaints)
    drag(item, word(item, "train"), word(item, "runs"))
    pick(item, "major")
    expect(item.get_by_text("Choose a category first.")).to_be_visible()
    choose_category(item, "Mistranslation")
    pick(item, "major")
    word(item, "Cafe").click()
    choose_category(item, "Spelling")
    item.get_by_label("Comment").fill("An accent.")
    item.get_by_label("Comment").press("Enter")  # does not send the page
    pick(item, "minor")
    expect(in_segment(item, 1).get_by_role("status")).to_contain_text("2 errors marked")
    next_of(item).click(force=True)
    expect(in_segment(item, 2).get_by_text("Mark the errors of this text to go on")).to_be_visible()
    in_segment(item, 2).get_by_label("There are no errors").check()
    next_of(item).click()
    expect(item.get_by_role("heading", level=1)).to_have_text("Item 2 of 2")
    (_, first), (_, second) = kept()
    assert words_of(first) == [("train runs", "major"), ("Cafe\u0301", "minor")]
    assert [(each["category"], each["comment"]) for each in first] == [
        ("Accuracy/Mistranslation", ""), ("Fluency/Spelling", "An accent.")
    ]  # fmt: skip
    assert second == []


def test_changing_removing_undoing_and_what_cannot_be_marked(
    page: Page, live_server, owner: User, complaints: list[str]
) -> None:
    item = open_page(
        page, live_server.url + path_of(campaign_of(owner, MQM | {"most": 2}, with_slider=False)), complaints
    )
    for text in ("train", "Bahn"):
        word(item, text).click()
        choose_category(item, "Awkward")
        pick(item, "minor")
    word(item, "time").click()
    expect(item.get_by_text("At most 2 errors can be marked.")).to_be_visible()
    item.keyboard.press("Escape")
    in_segment(item, 1).get_by_role("button", name="Remove: Bahn").click()
    drag(item, word(item, "A"), word(item, "runs"))
    expect(item.get_by_text("This overlaps with a marked error.")).to_be_visible()
    pick(item, "Cancel")
    word(item, "train").click()
    pick(item, "major")
    in_segment(item, 1).get_by_role("button", name="Undo").click()
    expect(in_segment(item, 1).get_by_role("list")).to_contain_text("minor")
    in_segment(item, 1).get_by_role("button", name="Undo").click()
    expect(in_segment(item, 1).get_by_role("listitem")).to_have_count(2)
    in_segment(item, 2).get_by_role("button", name="Something is missing").click()
    choose_category(item, "Omission")
    pick(item, "major")
    source = in_segment(item, 2).locator('[data-spans-text="source"]')
    source.locator("[data-start]", has_text="Zug").click()
    choose_category(item, "Source error")
    pick(item, "neutral")
    next_of(item).click()
    expect(item.get_by_role("heading", level=1)).to_have_text("Item 2 of 2")
    (_, first), (_, second) = kept()
    assert words_of(first) == [("train", "minor"), ("Bahn", "minor")]
    assert [(each["side"], each["start"], each["end"]) for each in second] == [
        ("source", 4, 7),
        ("missing", None, None),
    ]


def test_keyboard_alone(page: Page, live_server, owner: User, complaints: list[str]) -> None:
    item = open_page(page, live_server.url + path_of(campaign_of(owner, ESA, with_slider=True)), complaints)
    keys = item.keyboard
    target(item).focus()
    keys.press("ArrowRight")
    expect(in_segment(item, 1).get_by_role("status")).to_have_text("🚂")
    keys.press("Shift+ArrowRight")
    expect(in_segment(item, 1).get_by_role("status")).to_contain_text("Selected: 🚂 train.")
    keys.press("Enter")
    keys.press("Tab")
    keys.press("Enter")  # the second severity
    expect(target(item)).to_be_focused()
    keys.press("End")
    keys.press("Enter")
    keys.press("Enter")
    keys.press("Delete")
    keys.press("Control+z")
    in_segment(item, 1).get_by_role("slider").focus()
    keys.press("End")
    in_segment(item, 2).get_by_role("slider").focus()
    keys.press("Home")
    keys.press("Enter")
    expect(item.get_by_role("heading", level=1)).to_have_text("Item 2 of 2")
    assert [words_of(value) for _, value in kept()] == [[("🚂 train", "major"), (".", "minor")], []]


def test_touch_at_360_px_with_a_reload_and_a_second_tab(
    browser: Browser, live_server, owner: User, complaints: list[str]
) -> None:
    context = browser.new_context(**PHONE)
    address = live_server.url + path_of(campaign_of(owner, ESA, with_slider=True))
    item = open_page(context.new_page(), address, complaints)
    word(item, "to").tap()
    word(item, "Bahn").tap()
    panel = item.locator(".spans-panel:not([hidden])")
    panel.get_by_role("button", name="major").tap()
    expect(panel).to_have_count(0)
    assert item.evaluate("document.documentElement.scrollWidth") <= 360
    for same in (item, context.new_page()):
        same.goto(address)
        expect(in_segment(same, 1).get_by_role("listitem")).to_contain_text("to Cafe\u0301 Bahn")
        expect(target(same).locator(".is-grave").first).to_be_visible()
    in_segment(same, 1).locator("[data-slider]").tap()
    same.get_by_role("button", name="Save for now").tap()
    expect(same.get_by_text("Saved.")).to_be_visible()
    expect(in_segment(same, 1).get_by_role("listitem")).to_contain_text("to Cafe\u0301 Bahn")
    word(same, "to").tap()
    same.locator(".spans-panel:not([hidden])").get_by_role("button", name="Remove").tap()
    in_segment(same, 2).locator("[data-slider]").tap()
    next_of(same).tap()
    expect(same.get_by_role("heading", level=1)).to_have_text("Item 2 of 2")
    assert kept() == [(1, []), (2, [])]
    first = Response.objects.get(item__position=1, criterion__name="errors")
    assert [words_of(each["value"]) for each in first.earlier] == [[("to Cafe\u0301 Bahn", "major")]]
    context.close()


def test_what_is_marked_already_is_corrected_or_confirmed(
    page: Page, live_server, owner: User, complaints: list[str]
) -> None:
    settings = {"categories": "", "severities": "minor\nmajor", "given_field": "given"}
    campaign = campaign_of(owner, settings, with_slider=False)
    given = [{"text": text, "spans": [{"start": 0, "end": 1, "severity": "minor"}]} for text in TEXTS]
    Source.objects.filter(campaign=campaign).update(fields={"source": SOURCE, "given": json.dumps(given)})
    item = open_page(page, live_server.url + path_of(campaign), complaints)
    expect(item.get_by_text("2 answers left.")).to_be_visible()
    in_segment(item, 1).get_by_label("These are all errors").check()
    in_segment(item, 2).get_by_role("button", name="Remove").click()
    in_segment(item, 2).get_by_label("There are no errors").check()
    next_of(item).click()
    expect(item.get_by_role("heading", level=1)).to_have_text("Item 2 of 2")
    assert [words_of(value) for _, value in kept()] == [[("A", "minor")], []]


def test_only_pages_with_texts_to_mark_fetch_the_script(page: Page, live_server, owner: User) -> None:
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    page.goto(live_server.url + path_of(open_campaign(owner, protocol="likert")))
    expect(page.get_by_role("radio").first).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert any("answers" in url for url in fetched)
    assert not any("spans" in url for url in fetched)
