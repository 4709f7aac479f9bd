"""Rating in a browser: with a mouse, by keyboard alone, with a finger; reload, step back, second tab, offline."""

import io
import re

import pytest
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect

from annotation.access.tokens import token_of
from annotation.models import Assignment, Event, Response
from annotation.services.assignments import start_assignment
from campaigns.models import Campaign, Criterion
from evalsite.accounts.models import User
from tests.annotation.open_campaigns import open_campaign
from tests.e2e.answering import PHONE, press_at
from tests.e2e.watching import watch
from tests.services import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def campaign(owner: User) -> Campaign:
    """A running campaign with two statements and HITs of three items."""
    campaign = open_campaign(owner, consent="We keep your ratings.", minutes_per_hit=5)
    Criterion.objects.create(campaign=campaign, order=2, name="fluency", statement="Answer B reads well.")
    return campaign


@pytest.fixture
def item(page: Page, live_server, campaign: Campaign, complaints: list[str]) -> Page:
    """The first item of a HIT, in a wide window."""
    return _open_item(page, live_server.url, campaign, complaints)


def _open_item(page: Page, address: str, campaign: Campaign, complaints: list[str]) -> Page:
    assignment = start_assignment(campaign=campaign, worker_key=f"{campaign.public_id}:ann", consented=True)
    watch(page, complaints)
    page.goto(f"{address}/rate/{token_of(assignment)}/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Item 1 of 3")
    return page


def sliders(page: Page) -> list[Locator]:
    return page.locator("[data-slider]").all()


def rate(page: Page, share: float = 0.8) -> None:
    page.wait_for_load_state()  # with the sliders' script
    for slider in sliders(page):
        press_at(page, slider, share)
    page.locator("[data-rating-next]").click()


def scores() -> list[int]:
    return list(Response.objects.order_by("item__position", "criterion__order").values_list("score", flat=True))


def test_browser_a_hit_with_the_mouse_from_link_to_code(
    page: Page, live_server, campaign: Campaign, complaints: list[str]
) -> None:
    watch(page, complaints)
    page.goto(f"{live_server.url}/rate/c/{campaign.public_id}/")
    page.get_by_label("I have read this").check()
    page.get_by_role("button", name="I understand").click()
    for position in (1, 2, 3):
        expect(page.get_by_role("heading", level=1)).to_have_text(f"Item {position} of 3")
        rate(page, position / 10)
    page.get_by_label("Was anything unclear").fill("All clear.")
    page.get_by_role("button", name="Finish").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you")
    assignment = Assignment.objects.get()
    expect(page.locator("#code")).to_have_text(assignment.completion_code)
    assert assignment.feedback == "All clear."
    assert scores() == [10, 10, 20, 20, 30, 30]
    event = Event.objects.filter(kind=Event.Kind.RATED).first()
    assert event is not None
    assert event.data["n_moves"] == 2
    assert 0 < event.data["first_touch_ms"] <= event.data["shown_ms"]
    assert page.context.cookies() == []


def test_browser_a_slider_has_no_position_and_sends_nothing_before_it_is_moved(item: Page) -> None:
    first, second = sliders(item)
    button = item.get_by_role("button", name="Next")
    for slider in (first, second):
        assert slider.locator("input").get_attribute("name") is None
        assert not _has_thumb(slider)
        expect(button).to_be_disabled()
        press_at(item, slider, 0.5)
        assert slider.locator("input").get_attribute("name")
        assert _has_thumb(slider)
    expect(button).to_be_enabled()


def _has_thumb(slider: Locator) -> bool:
    """Return whether anything is on the track: away from it, a slider has the colour of the paper alone."""
    image = Image.open(io.BytesIO(slider.locator("input").screenshot())).convert("RGB")
    above = image.crop((0, image.height // 2 - 12, image.width, image.height // 2 - 8))
    return len(above.getcolors() or []) > 1


def test_browser_a_slider_is_dragged_and_never_tells_a_number(item: Page) -> None:
    slider = sliders(item)[0]
    box = slider.locator("input").bounding_box()
    assert box
    item.mouse.move(box["x"] + 20, box["y"] + 20)
    item.mouse.down()
    seen = set()
    for step in range(11):
        item.mouse.move(box["x"] + 14 + step / 10 * (box["width"] - 28), box["y"] + 90)
        assert slider.locator("input").input_value() == str(step * 10)
        text = slider.locator("input").get_attribute("aria-valuetext") or ""
        seen.add(text)
        assert not re.search(r"\d", text + slider.inner_text() + (slider.get_attribute("title") or ""))
    item.mouse.up()
    assert len(seen) == 5
    assert {"strongly disagree", "strongly agree", "in the middle"} <= seen


def test_browser_a_hit_by_keyboard_alone(item: Page) -> None:
    inputs = item.locator("[data-slider] input")
    for _ in range(2):  # instructions, first slider
        item.keyboard.press("Tab")
    expect(inputs.nth(0)).to_be_focused()
    for key, value in (
        ("ArrowLeft", "50"), ("ArrowLeft", "49"), ("ArrowUp", "50"), ("PageUp", "60"), ("PageDown", "50"),
        ("End", "100"), ("ArrowRight", "100"), ("Home", "0"), ("PageUp", "10"), ("ArrowRight", "11"),
    ):  # fmt: skip
        item.keyboard.press(key)
        expect(inputs.nth(0)).to_have_value(value)
    item.keyboard.press("Enter")
    expect(item.get_by_role("heading", level=1)).to_have_text("Item 1 of 3")
    expect(inputs.nth(1)).to_be_focused()
    item.keyboard.press("End")
    item.keyboard.press("Tab")
    expect(item.get_by_role("button", name="Next")).to_be_focused()
    item.keyboard.press("Enter")
    expect(item.get_by_role("heading", level=1)).to_have_text("Item 2 of 3")
    item.wait_for_load_state()  # with the sliders' script, whose first step is another than the browser's
    for _ in range(2):
        item.keyboard.press("Tab")
    item.keyboard.press("ArrowRight")
    item.keyboard.press("Tab")
    item.keyboard.press("Home")
    item.keyboard.press("Enter")
    expect(item.get_by_role("heading", level=1)).to_have_text("Item 3 of 3")
    assert scores() == [11, 100, 50, 0]


def test_browser_with_a_finger_on_a_phone(
    browser: Browser, live_server, campaign: Campaign, complaints: list[str]
) -> None:
    context = browser.new_context(**PHONE)
    page = _open_item(context.new_page(), live_server.url, campaign, complaints)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    first, second = sliders(page)
    for slider in (first, second):
        box = slider.bounding_box()
        assert box
        assert box["height"] >= 44
    _swipe(page, first, dx=2, dy=-120)
    assert first.locator("input").get_attribute("name") is None, "scrolling past a slider does not set it"
    second.scroll_into_view_if_needed()
    box = second.locator("input").bounding_box()
    assert box
    page.touchscreen.tap(box["x"] + 14 + 0.25 * (box["width"] - 28), box["y"] + 22)
    expect(second.locator("input")).to_have_value("25")
    _swipe(page, first, dx=90, dy=4)
    wait_until(lambda: int(first.locator("input").input_value()) > 60, 20, "the slider follows the finger")
    page.get_by_role("button", name="Next").tap()
    expect(page.get_by_role("heading", level=1)).to_have_text("Item 2 of 3")
    page.wait_for_load_state()  # each image has its source
    source = page.locator(".text img").last.evaluate("image => image.currentSrc")
    assert page.locator(f'source[srcset*="{source.rpartition("/")[2]} 656w"][width="328"]').count() == 1
    context.close()


def _swipe(page: Page, slider: Locator, dx: int, dy: int) -> None:
    """Drag a finger from the middle of a slider."""
    slider.scroll_into_view_if_needed()
    box = slider.locator("input").bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    devtools = page.context.new_cdp_session(page)
    devtools.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for step in range(1, 11):
        point = {"x": x + dx * step / 10, "y": y + dy * step / 10}
        devtools.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [point]})
    devtools.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    devtools.detach()


def test_browser_reload_step_back_and_second_tab(item: Page, complaints: list[str]) -> None:
    other = watch(item.context.new_page(), complaints)
    other.goto(item.url)
    rate(item)
    expect(item.get_by_role("heading", level=1)).to_have_text("Item 2 of 3")
    item.reload()
    expect(item.get_by_role("heading", level=1)).to_have_text("Item 2 of 3")
    rate(other, 0.1)
    expect(other.get_by_role("heading", level=1)).to_have_text("Item 2 of 3")
    expect(other.get_by_role("status").first).to_contain_text("already rated")
    item.go_back()
    expect(item.get_by_role("heading", level=1)).to_have_text("Item 2 of 3")
    assert scores() == [80, 80]


def test_browser_says_when_the_connection_is_lost(item: Page) -> None:
    for slider in sliders(item):
        press_at(item, slider, 0.4)
    button, notice = item.get_by_role("button", name="Next"), item.locator("[data-rating-offline]")
    item.context.set_offline(True)
    expect(notice).to_be_visible()
    expect(button).to_be_disabled()
    item.context.set_offline(False)
    expect(notice).to_be_hidden()
    button.click()
    expect(item.get_by_role("heading", level=1)).to_have_text("Item 2 of 3")
    assert scores() == [40, 40]


def test_browser_the_next_items_images_are_there_already(item: Page) -> None:
    item.wait_for_load_state("networkidle")
    loaded = set(item.evaluate("performance.getEntriesByType('resource').map(entry => entry.name)"))
    rate(item)
    expect(item.get_by_role("heading", level=1)).to_have_text("Item 2 of 3")
    item.wait_for_load_state()  # each image has its source
    shown = set(item.locator(".text img").evaluate_all("images => images.map(image => image.currentSrc)"))
    assert len(shown) == 3
    assert shown <= loaded


def test_browser_nothing_jumps_when_the_images_arrive(item: Page) -> None:
    item.wait_for_load_state("networkidle")
    rate(item)
    expect(item.get_by_role("heading", level=1)).to_have_text("Item 2 of 3")
    item.wait_for_load_state("networkidle")
    shift = item.evaluate(
        """() => new Promise((done) => new PerformanceObserver((list) => done(
            list.getEntries().reduce((sum, entry) => sum + entry.value, 0)
        )).observe({ type: "layout-shift", buffered: true }) ?? setTimeout(() => done(0), 300))"""
    )
    assert shift < 0.01
