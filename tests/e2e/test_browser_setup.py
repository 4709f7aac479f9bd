"""A researcher sets a campaign up in a browser: what is typed is saved, even if the page is left or the line breaks."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from campaigns.models import Campaign
from campaigns.services.campaigns import create_campaign
from evalsite.accounts.models import User
from tests.e2e.conftest import saving
from tests.services import wait_until


@pytest.fixture
def campaign(in_site: None) -> str:
    """The address of a new draft of question generation."""
    campaign = create_campaign(owner=User.objects.get(), protocol="qg", name="By hand")
    return f"/campaigns/{campaign.public_id}/"


def status(page: Page):
    return page.locator(".saving-status").first


def test_browser_a_field_is_saved_as_it_is_typed(tab: Page, campaign: str) -> None:
    tab.goto(f"{campaign}settings/")
    expect(tab.get_by_role("button", name="Save")).to_be_hidden()
    tab.get_by_label("Name").fill("Typed")
    expect(status(tab)).to_have_text("Saved")
    expect(tab.get_by_role("navigation", name="Campaign")).to_contain_text("Typed")
    accessible = tab.get_by_label("Accessible mode", exact=True)
    with saving(tab, accessible):
        accessible.check()
    tab.reload()
    expect(tab.get_by_label("Name")).to_have_value("Typed")
    expect(accessible).to_be_checked()
    tab.goto(f"{campaign}payment/")
    tab.get_by_label("Reward per HIT").fill("3")
    tab.get_by_label("Expected minutes per HIT").fill("20")
    expect(tab.locator("#cost")).to_contain_text("9.00 USD")


def test_browser_an_older_page_that_comes_last_does_not_replace_a_newer_one(tab: Page, campaign: str) -> None:
    tab.goto(f"{campaign}payment/")
    tab.get_by_label("Expected minutes per HIT").fill("20")
    tab.get_by_label("Reward per HIT").fill("2")
    expect(tab.locator("#cost")).to_contain_text("6.00 USD")
    late: list[Route] = []

    def hold_first(route: Route) -> None:
        if route.request.method == "GET" and not late:
            late.append(route)
        else:
            route.continue_()

    tab.route("**/payment/", hold_first)
    tab.get_by_label("Reward per HIT").fill("3")
    wait_until(lambda: tab.evaluate("true") and bool(late), 20, "the page is asked for")
    older = late[0].fetch()
    assert "9.00" in older.text()
    tab.get_by_label("Expected minutes per HIT").fill("10")
    expect(tab.locator("#cost")).to_contain_text("18.00 USD")
    with tab.expect_event("requestfinished", lambda request: request.method == "GET"):
        late[0].fulfill(response=older)
    tab.wait_for_timeout(200)  # until it is read
    expect(tab.locator("#cost")).to_contain_text("18.00 USD")
    tab.unroute("**/payment/")


def test_browser_what_is_changed_before_the_script_is_there_is_saved(tab: Page, campaign: str) -> None:
    with script_comes_late(tab, f"{campaign}settings/", "is_accessible"):
        tab.get_by_label("Name").fill("Early")
        tab.get_by_label("Accessible mode", exact=True).check()
    with script_comes_late(tab, f"{campaign}platform/", "access"):
        tab.get_by_label("Who may take part").select_option("personal")
    stored = Campaign.objects.get(name="Early")
    assert stored.is_accessible
    assert stored.platform_settings["access"] == "personal"


@contextmanager
def script_comes_late(tab: Page, address: str, name: str) -> Iterator[None]:
    """Open a page whose script comes after the block, and wait until it has sent a field with this name."""
    held: list[Route] = []
    tab.route("**/autosave*.js", lambda route: held.append(route))
    try:
        tab.goto(address, wait_until="commit")
        yield
        wait_until(lambda: held or tab.evaluate("0"), 20, "the script is asked for")
        with tab.expect_response(lambda response: f"{name}=" in (response.request.post_data or "")):
            held.pop().continue_()
    finally:
        tab.unroute("**/autosave*.js")


def test_browser_what_is_pressed_is_not_replaced_before_it_is_released(tab: Page, campaign: str) -> None:
    tab.goto(f"{campaign}settings/")
    tab.locator(".side-title").hover()
    tab.mouse.down()
    with tab.expect_response(lambda response: response.request.method == "GET" and response.url.endswith("/settings/")):
        tab.get_by_label("Name").evaluate(
            "field => { field.value = 'Renamed'; field.dispatchEvent(new Event('change', { bubbles: true })); }"
        )
    tab.evaluate("new Promise((done) => setTimeout(done, 200))")  # in which the name beside the page was replaced
    expect(tab.locator(".side-title")).to_have_text("By hand")
    tab.mouse.up()
    tab.wait_for_url(f"**{campaign}")
    expect(tab.locator(".side-title")).to_have_text("Renamed")


def test_browser_what_cannot_be_saved_says_so_at_its_field(signed_in: Page, campaign: str) -> None:
    tab = signed_in  # whose console names the refusal
    tab.goto(f"{campaign}settings/")
    alpha = tab.get_by_label("α")
    with tab.expect_response(lambda response: response.status == 422):
        alpha.fill("2")
    expect(status(tab)).to_contain_text("Not saved:")
    expect(tab.locator(".field", has=alpha).locator(".field-errors")).to_be_visible()
    expect(alpha).to_have_attribute("aria-invalid", "true")
    with tab.expect_response(lambda response: response.request.method == "POST" and response.ok):
        tab.get_by_label("Name").fill("Saved all the same")
    expect(status(tab)).to_contain_text("Not saved:")
    alpha.fill("0.1")
    expect(status(tab)).to_have_text("Saved")
    expect(tab.locator(".field-errors")).to_have_count(0)


def test_browser_leaving_at_once_loses_nothing(tab: Page, campaign: str) -> None:
    tab.goto(f"{campaign}instructions/")
    tab.get_by_label("Instructions", exact=False).first.fill("Rate **every** text.")
    tab.get_by_role("link", name="Questions", exact=True).click()
    expect(tab.locator(".criterion-list")).to_be_visible()

    def is_saved() -> bool:
        tab.goto(f"{campaign}instructions/")
        return tab.locator("#as-shown strong").all_inner_texts() == ["every"]

    wait_until(is_saved, 20, "what was sent in leaving is saved")  # nobody waits for it: the next page may be first


def test_browser_a_broken_line_is_mended(signed_in: Page, campaign: str) -> None:
    signed_in.goto(f"{campaign}settings/")
    signed_in.context.set_offline(True)
    signed_in.get_by_label("Name").fill("Written offline")
    expect(status(signed_in)).to_contain_text("No connection")
    signed_in.context.set_offline(False)
    expect(status(signed_in)).to_have_text("Saved")
    signed_in.reload()
    expect(signed_in.get_by_label("Name")).to_have_value("Written offline")


def test_browser_leaving_with_what_cannot_be_sent_is_asked_about(signed_in: Page, campaign: str) -> None:
    signed_in.goto(f"{campaign}settings/")
    signed_in.get_by_label("Name").fill("")
    expect(status(signed_in)).to_contain_text("Not saved:")
    asked: list[str] = []

    def on_dialog(dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    signed_in.once("dialog", on_dialog)
    signed_in.goto(f"{campaign}criteria/")
    assert asked == ["beforeunload"]


def test_browser_criteria_are_moved_by_keys_and_by_dragging(tab: Page, campaign: str) -> None:
    tab.goto(f"{campaign}criteria/")
    titles = tab.locator(".criterion-title")
    before = titles.all_inner_texts()
    down = tab.get_by_role("button", name=f"Move {before[0]} down")
    with tab.expect_response("**/criteria/order/"):
        down.press("Enter")
    expect(titles.nth(1)).to_have_text(before[0])
    expect(down).to_be_focused()
    tab.set_viewport_size({"width": 1440, "height": 1800})  # both are seen: while Playwright drags, nothing may scroll
    titles.nth(0).scroll_into_view_if_needed()
    with tab.expect_response("**/criteria/order/"):
        tab.locator(".reorder-handle").nth(1).drag_to(titles.nth(0))
    expect(titles.nth(0)).to_have_text(before[0])
    tab.reload()
    expect(titles).to_have_text(before)
    expect(tab.locator("button[name=step]:disabled")).to_have_count(2)


def test_browser_a_deleted_criterion_comes_back(tab: Page, campaign: str) -> None:
    tab.goto(f"{campaign}criteria/")
    titles = tab.locator(".criterion-title")
    before = titles.all_inner_texts()
    tab.get_by_role("button", name=f"Delete {before[1]}").click()
    expect(titles).to_have_count(3)
    tab.get_by_role("button", name="Undo").click()
    expect(titles).to_have_text(before)


def test_browser_pages_work_without_script(signed_in: Page, address: str, campaign: str) -> None:
    assert signed_in.context.browser
    context = signed_in.context.browser.new_context(
        base_url=address, java_script_enabled=False, storage_state=signed_in.context.storage_state()
    )
    page = context.new_page()
    page.goto(f"{campaign}settings/")
    page.get_by_label("Name").fill("Without script")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("navigation", name="Campaign")).to_contain_text("Without script")
    page.goto(f"{campaign}criteria/")
    last = page.locator(".criterion-title").last.inner_text()
    page.get_by_role("button", name=f"Move {last} up").click()
    expect(page.locator(".criterion-title").nth(2)).to_have_text(last)
    context.close()


def test_browser_a_launched_campaign_is_deleted_by_its_name(tab: Page, campaign: str) -> None:
    here = Campaign.objects.filter(public_id=campaign.split("/")[2])
    here.update(name="Old study", launched_at=timezone.now(), status="closed")
    tab.goto(f"{campaign}settings/archive/")
    tab.get_by_role("link", name="Delete…").click()
    tab.get_by_label("type its name").fill("Old study")
    tab.get_by_role("button", name="Delete this campaign").click()
    expect(tab.get_by_text("“Old study” was deleted")).to_be_visible()
    expect(tab).to_have_url(re.compile(r"/campaigns/$"))
    assert not here.exists()
