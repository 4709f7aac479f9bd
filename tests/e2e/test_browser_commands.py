"""The command menu: by keyboard, by mouse, on a phone, and with what screen readers read of it."""

import pytest
from playwright.sync_api import Page, expect

from campaigns.services.campaigns import create_campaign
from evalsite.accounts.models import User


@pytest.fixture
def campaign(in_site: None) -> str:
    """The address of a new draft."""
    created = create_campaign(owner=User.objects.get(), protocol="qg", name="Summaries of June")
    return f"/campaigns/{created.public_id}/"


def test_browser_the_keyboard_leads_to_a_page(tab: Page, campaign: str) -> None:
    tab.goto(campaign)
    tab.keyboard.press("Control+k")
    field = tab.locator(".commands").get_by_role("combobox", name="Page, campaign, help or action")
    expect(field).to_be_focused()
    field.fill("settings this")
    expect(tab.locator(".commands").get_by_role("option")).to_have_text(["Settings This campaign"])
    tab.keyboard.press("Enter")
    tab.wait_for_url(f"**{campaign}settings/")


def test_browser_arrows_choose_and_escape_gives_the_focus_back(tab: Page, campaign: str) -> None:
    tab.goto("/campaigns/")
    button = tab.get_by_role("button", name="Go to")
    button.click()
    field = tab.locator(".commands").get_by_role("combobox")
    field.fill("glossary:")
    expect(tab.locator(".commands").get_by_role("option").first).to_contain_text("Glossary")
    tab.keyboard.press("ArrowDown")
    chosen = tab.locator(".commands [aria-selected=true]")
    expect(chosen).to_have_count(1)
    expect(field).to_have_attribute("aria-activedescendant", chosen.get_attribute("id") or "")
    field.fill("nothing has this name")
    expect(tab.locator(".commands [role=status]")).to_have_text("Nothing found")
    tab.keyboard.press("Escape")
    expect(button).to_be_focused()


def test_browser_actions_of_the_page_and_campaigns_are_found_on_a_phone(tab: Page, campaign: str) -> None:
    tab.set_viewport_size({"width": 360, "height": 700})
    try:
        tab.goto("/campaigns/")
        tab.get_by_role("button", name="Go to").click()
        expect(tab.locator(".commands").get_by_role("option").first).to_contain_text("On this page")
        tab.locator(".commands").get_by_role("combobox").fill("of june")
        tab.locator(".commands").get_by_role("option", name="Summaries of June").first.click()
        tab.wait_for_url("**/campaigns/*-*/")
        assert tab.evaluate("document.documentElement.scrollWidth") == 360
    finally:
        tab.set_viewport_size({"width": 1440, "height": 900})
