"""What a worker has done and the server does not have yet: kept over lost connections, reloads and other tabs."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from annotation.access.tokens import token_of
from annotation.models import Assignment, Event, Response
from annotation.services.assignments import expire_leases, start_assignment
from campaigns.models import Campaign, Criterion
from evalsite.accounts.models import User
from tests.annotation.open_campaigns import open_campaign
from tests.e2e.answering import press_at
from tests.e2e.test_browser_rating import scores, sliders

pytestmark = pytest.mark.django_db(transaction=True)
NO_STORAGE = "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no') } })"


@pytest.fixture
def campaign(owner: User) -> Campaign:
    """A running campaign with two statements and HITs of three items."""
    campaign = open_campaign(owner)
    Criterion.objects.create(campaign=campaign, order=2, name="fluency", statement="Answer B reads well.")
    return campaign


@pytest.fixture
def address(campaign: Campaign, live_server: Any) -> str:
    assignment = start_assignment(campaign=campaign, worker_key=f"{campaign.public_id}:ann")
    return f"{live_server.url}/rate/{token_of(assignment)}/"


def opened(page: Page, address: str, title: str) -> Page:
    page.goto(address)
    expect(page.get_by_role("heading", level=1)).to_have_text(title)
    page.wait_for_load_state()
    return page


def move(page: Page, *shares: float) -> None:
    for slider, share in zip(sliders(page), shares, strict=False):
        press_at(page, slider, share)


def values(page: Page) -> list[str | None]:
    """The positions of the sliders; None where one was not moved."""
    inputs = page.locator("[data-slider] input")
    return inputs.evaluate_all("sliders => sliders.map((slider) => (slider.name ? slider.value : null))")


def lose_answers(page: Page, address: str) -> None:
    """Let no form that is sent from now on reach the server: the browser shows that there is no connection."""
    page.route(address, lambda route: route.abort() if route.request.method == "POST" else route.continue_())


def no_connection(page: Page, act: Callable[[], object]) -> None:
    """Do what ends on the browser's own page that says so."""
    act()
    expect(page).to_have_url(re.compile("^chrome-error:"))


def kept(context: BrowserContext) -> int:
    """How much the browser keeps."""
    return len(context.storage_state()["origins"])


def test_browser_a_hit_over_lost_connections_reloads_and_a_second_tab(page: Page, address: str) -> None:
    opened(page, address, "Item 1 of 3")
    move(page, 0.1, 0.2)
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Item 2 of 3")
    page.wait_for_load_state()

    move(page, 0.3)
    page.context.set_offline(True)
    move(page, 0.3, 0.4)
    expect(page.locator("[data-rating-offline]")).to_be_visible()
    page.context.set_offline(False)
    page.reload()
    assert values(page) == ["30", "40"]
    other = opened(page.context.new_page(), address, "Item 2 of 3")
    assert values(other) == ["30", "40"]
    for tab in (page, other):
        tab.get_by_role("button", name="Next").click()
        expect(tab.get_by_role("heading", level=1)).to_have_text("Item 3 of 3")
    other.close()

    page.wait_for_load_state()
    assert values(page) == [None, None], "nothing of another item"
    move(page, 0.5, 0.6)
    lose_answers(page, address)
    no_connection(page, lambda: page.get_by_role("button", name="Save and finish").click())
    page.unroute(address)
    page.goto(address, wait_until="commit")  # which sends it again
    expect(page.get_by_role("heading", level=1)).to_have_text("Almost done")
    assert scores() == [10, 20, 30, 40, 50, 60]
    events = Event.objects.filter(kind=Event.Kind.RATED).order_by("item__position")
    assert [event.data["n_moves"] for event in events] == [2, 3, 2]
    assert all(0 < event.data["first_touch_ms"] <= event.data["shown_ms"] for event in events)

    page.wait_for_load_state()  # a page that is left before its script is there keeps nothing
    page.get_by_label("Was anything unclear").fill("The line was bad.")
    page.reload()
    expect(page.get_by_label("Was anything unclear")).to_have_value("The line was bad.")
    page.get_by_role("button", name="Finish").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you")
    assert Assignment.objects.get().feedback == "The line was bad."
    assert kept(page.context) == 0


def test_browser_what_does_not_arrive_is_sent_again_once(page: Page, address: str) -> None:
    posts: list[str] = []
    page.on("request", lambda request: posts.append(request.url) if request.method == "POST" else None)
    opened(page, address, "Item 1 of 3")
    move(page, 0.1, 0.2)
    lose_answers(page, address)
    no_connection(page, lambda: page.get_by_role("button", name="Next").click())
    no_connection(page, lambda: page.goto(address, wait_until="commit"))
    assert len(posts) == 2
    opened(page, address, "Item 1 of 3")
    expect(page.get_by_role("status").filter(has_text="has not arrived yet")).to_be_visible()
    assert values(page) == ["10", "20"]
    assert len(posts) == 2
    page.unroute(address)
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Item 2 of 3")
    assert scores() == [10, 20]


def test_browser_sliders_stand_as_they_were_after_the_lease_has_ended(page: Page, address: str) -> None:
    opened(page, address, "Item 1 of 3")
    move(page, 0.7)
    Assignment.objects.update(leased_until="2020-01-01T00:00Z")
    expire_leases()
    page.reload()
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Item 1 of 3")
    page.wait_for_load_state()
    assert values(page) == ["70", None]
    assert not Response.objects.exists()


def test_browser_without_storage_the_history_of_the_tab_keeps_the_sliders(page: Page, address: str) -> None:
    page.add_init_script(NO_STORAGE)
    opened(page, address, "Item 1 of 3")
    move(page, 0.7)
    page.reload()
    page.wait_for_load_state()
    assert values(page) == ["70", None]


@pytest.mark.parametrize("has_storage", [True, False], ids=["with storage", "without storage"])
def test_browser_sliders_stay_when_texts_are_shown_as_text(
    page: Page, campaign: Campaign, address: str, has_storage: bool
) -> None:
    Campaign.objects.update(offers_text=True)
    if not has_storage:
        page.add_init_script(NO_STORAGE)
    opened(page, address, "Item 1 of 3")
    move(page, 0.7)
    page.get_by_role("button", name="Show texts as text").click()
    expect(page.locator(".real-text").first).to_be_visible()
    for _ in range(2):
        page.wait_for_load_state()
        assert values(page) == ["70", None]
        page.reload()
    move(page, 0.7, 0.8)
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Item 2 of 3")
    page.wait_for_load_state()
    assert values(page) == [None, None]
    assert scores() == [70, 80]
