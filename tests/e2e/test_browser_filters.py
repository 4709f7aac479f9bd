"""A list keeps its filter while one looks at other pages, and forgets it where all of it is shown."""

import re

from playwright.sync_api import Page, expect

from campaigns.services.campaigns import create_campaign
from evalsite.accounts.models import User


def test_browser_a_list_keeps_its_filter_for_the_session(tab: Page, in_site: None) -> None:
    create_campaign(owner=User.objects.get(), protocol="qg", name="Kept in June")
    tab.goto("/campaigns/?search=kept+in")
    tab.get_by_role("link", name="Kept in June").first.click()
    back = tab.get_by_role("navigation", name="Main").get_by_role("link", name="Campaigns")
    expect(back).to_have_attribute("href", re.compile(r"/campaigns/\?search=kept\+in$"))
    back.click()
    expect(tab).to_have_url(re.compile(r"/campaigns/\?search=kept\+in$"))
    tab.goto("/campaigns/")
    tab.goto("/help/")
    expect(back).to_have_attribute("href", "/campaigns/")
