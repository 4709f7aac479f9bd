"""A HIT, a chat and a HIT in a frame, from the first page to the last, in Firefox and in WebKit (Safari's engine)."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from pytest_django.fixtures import Settings as SettingsWrapper

from annotation.models import Assignment, Rating
from evalsite.accounts.models import User
from tests.annotation.open_campaigns import open_campaign
from tests.e2e.chats.chatting import SCRIPTED, foreign_page, live_campaign, stored
from tests.e2e.engines.tabs import Tab

pytestmark = pytest.mark.django_db(transaction=True)
N_ITEMS = 3


def begin(tab: Tab) -> None:
    tab.wait_for_text("h1", "Instructions")
    tab.click("button")


def rate_item(tab: Tab, position: int) -> None:
    tab.wait_for_text("h1", f"Item {position} of {N_ITEMS}")
    tab.wait_for("[data-rating-next]")  # below the sliders: all are there
    tab.press("[data-slider] input", ("Home", "End")[position % 2])
    tab.click("[data-rating-next]")


def finish(tab: Tab) -> None:
    tab.fill("textarea", "All clear.")
    tab.click("button")
    tab.wait_for_text("h1", "Thank you")


def scores() -> list[int]:
    return list(Rating.objects.order_by("item__position").values_list("score", flat=True))


@contextmanager
def shown(tab: Tab, url: str, where: str) -> Iterator[None]:
    """Open a page, in the tab or in a sandboxed frame of another site's page."""
    if where == "tab":
        tab.open(url)
        yield
    else:
        with foreign_page(url) as foreign:
            tab.open(foreign)
            tab.enter_frame()
            yield


@pytest.fixture(params=["tab", "frame"])
def where(request: pytest.FixtureRequest) -> str:
    return request.param


def test_browser_a_hit_from_link_to_code(tab: Tab, where: str, framed_address: str, owner: User) -> None:
    campaign = open_campaign(owner, n_hits=1)
    with shown(tab, f"{framed_address}/rate/c/{campaign.public_id}/", where):
        begin(tab)
        assert (tab.run("self.origin") == "null") == (where == "frame")
        for position in range(1, N_ITEMS + 1):
            rate_item(tab, position)
        finish(tab)
        assignment = Assignment.objects.get()
        tab.wait_for_text("#code", assignment.completion_code)
    assert assignment.feedback == "All clear."
    assert scores() == [100, 0, 100]


def test_browser_a_chat_and_its_rating(
    tab: Tab, where: str, framed_address: str, owner: User, settings: SettingsWrapper
) -> None:
    settings.CHATBOT_CLASSES = [SCRIPTED]
    campaign = live_campaign(owner, min_inputs=2)
    with shown(tab, f"{framed_address}/rate/c/{campaign.public_id}/", where):
        begin(tab)
        tab.fill("#topic", "the sea")
        tab.click("[name=opinion][value=like]")
        tab.click("button")
        tab.wait_for("#text:not([maxlength])")  # the chat's script is there
        for number, text in enumerate(("Hello", "Bye"), start=1):
            tab.fill("#text", text)
            tab.press("#text", "Enter")
            tab.wait_for(".log .turn-chatbot", number)
        tab.click("[formaction]")
        tab.wait_for("[data-rating-next]")
        for criterion in campaign.criteria.all():
            tab.press(f"[data-name=score_{criterion.pk}]", "End")
        tab.click("[data-rating-next]")
        tab.wait_for_text("h1", "Chat 2 of 6")
    assert stored() == ["Hello", "Bye"]
    assert scores() == [100] * campaign.criteria.count()
