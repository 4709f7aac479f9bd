"""Long answers in Markdown on a worker's page: folded at one height, opened by keyboard, not wider than the page."""

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from annotation.access.tokens import token_of
from annotation.services.assignments import start_assignment
from campaigns.models import Campaign, HitItem
from evalsite.accounts.models import User
from tests.annotation.open_campaigns import open_campaign
from tests.campaigns.formats.test_markdown import ANSWER
from tests.e2e.watching import watch

pytestmark = pytest.mark.django_db(transaction=True)
FOLDED_PX = 640


@pytest.fixture
def compared(owner: User) -> Campaign:
    """A comparison of a long answer and one that is longer."""
    campaign = open_campaign(owner, n_hits=1, size=2, protocol="preference", consent_text="")
    campaign.screen["output_format"] = "markdown"
    campaign.save()
    for item, n in zip(HitItem.objects.order_by("position"), (6, 12), strict=True):
        item.page, item.text = 1, ANSWER * n
        item.save()
    return campaign


@pytest.mark.parametrize("width", [360, 1440])
def test_browser_both_answers_are_folded_alike_and_opened_together(
    page: Page, live_server: LiveServer, compared: Campaign, complaints: list[str], width: int
) -> None:
    watch(page, complaints)
    page.set_viewport_size({"width": width, "height": 900})
    assignment = start_assignment(campaign=compared, worker_key=f"{compared.public_id}:ann", consented=True)
    page.goto(f"{live_server.url}/rate/{token_of(assignment)}/")
    folds, boxes = page.locator(".fold"), page.get_by_role("checkbox", name="Show all of it")
    assert heights(page) == [FOLDED_PX, FOLDED_PX]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    boxes.first.focus()
    page.keyboard.press("Space")
    first, second = heights(page)
    assert second > 1.5 * first > FOLDED_PX
    expect(boxes).to_have_count(1)  # the one that folds both again
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.keyboard.press("Space")
    assert heights(page) == [FOLDED_PX, FOLDED_PX]

    folds.first.locator(".scrolls").last.focus()
    page.keyboard.press("Shift+Tab")  # what is reached by keyboard is seen
    focused = page.evaluate("document.activeElement.getBoundingClientRect().bottom")
    assert focused > 0 and heights(page)[0] > FOLDED_PX


def heights(page: Page) -> list[float]:
    return [box["height"] for each in page.locator(".fold").all() if (box := each.bounding_box())]
