"""A HIT, a chat and a HIT in a frame, from the first page to the last, in Firefox and in WebKit (Safari's engine)."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings as site_settings
from django.core.signals import request_started
from playwright.sync_api import Browser, expect
from pytest_django.fixtures import Settings as SettingsWrapper

from annotation.access.tokens import token_of
from annotation.models import Assignment, Response
from evalsite.accounts.models import User
from tests.annotation.chat.chat_campaigns import open_live_campaign
from tests.annotation.open_campaigns import open_campaign
from tests.e2e.chats.chatting import SCRIPTED, foreign_page, live_campaign, stored
from tests.e2e.engines.tabs import FirefoxTab, Tab

pytestmark = pytest.mark.django_db(transaction=True)
N_ITEMS = 3
SLIDER = "[data-slider] input"


def begin(tab: Tab) -> None:
    tab.wait_for_text("h1", "Instructions")
    assert not tab.run("document.querySelector('.old-browser').offsetHeight"), "not too old"
    tab.click("button")


def rate_item(tab: Tab, position: int) -> None:
    tab.wait_for_text("h1", f"Item {position} of {N_ITEMS}")
    tab.wait_for("[data-rating-next]")  # below the sliders: all are there
    tab.press(SLIDER, ("Home", "End")[position % 2])
    tab.click("[data-rating-next]")


def reload(tab: Tab, title: str) -> None:
    """Load the answer to a form again, and see that no form is sent again: nothing is asked, nothing comes twice."""
    tab.wait_for_text("h1", title)
    tab.run("document.body.id = 'before', setTimeout(() => location.reload())")
    tab.wait_for("#before", 0)
    tab.wait_for_text("h1", title)
    tab.wait_for(".notice:not([hidden])", 0)


def finish(tab: Tab) -> None:
    tab.fill("textarea", "All clear.")
    tab.click("button")
    tab.wait_for_text("h1", "Thank you")


def scores() -> list[int]:
    return list(Response.objects.order_by("item__position").values_list("score", flat=True))


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


@pytest.fixture
def requests() -> Iterator[list[tuple[str, str]]]:
    """The method and path of each request that reaches the server."""
    seen: list[tuple[str, str]] = []

    def note(environ: dict[str, str], **_: object) -> None:
        seen.append((environ["REQUEST_METHOD"], environ["PATH_INFO"]))

    request_started.connect(note)
    yield seen
    request_started.disconnect(note)


def test_browser_a_hit_from_link_to_code(
    tab: Tab, where: str, framed_address: str, owner: User, requests: list[tuple[str, str]]
) -> None:
    campaign = open_campaign(owner, n_hits=1)
    with shown(tab, f"{framed_address}/rate/c/{campaign.public_id}/", where):
        begin(tab)
        tab.wait_for("[data-rating-next]")  # a page that is being left answers nothing
        assert (tab.run("self.origin") == "null") == (where == "frame")
        for position in range(1, N_ITEMS + 1):
            rate_item(tab, position)
            if position == 2:
                reload(tab, f"Item {position + 1} of {N_ITEMS}")
        finish(tab)
        assignment = Assignment.objects.get()
        tab.wait_for_text("#code", assignment.completion_code)
    assert assignment.feedback == "All clear."
    assert scores() == [100, 0, 100]
    at_hit = Counter(method for method, path in requests if path == f"/rate/{token_of(assignment)}/")
    # The first item, the reload and the code; each rating is answered with a page, except the one browser that cannot.
    is_redirected = isinstance(tab, FirefoxTab) and where == "frame"
    assert at_hit == {"POST": N_ITEMS, "GET": 3 + (N_ITEMS if is_redirected else 0)}


# By what it moves, sideways and down, a finger leaves the slider unset or, later, sets it.
SWIPES = {
    "up": ([(2, -60), (3, -120)], ""),
    "up at once": ([(60, -120)], ""),
    "up, then sideways": ([(0, -30), (90, -30)], ""),
    "a tap": ([], "in the middle"),
    "sideways, then down": ([(420, 9), (420, 160)], "strongly agree"),
}


def test_browser_a_finger_that_moves_up_or_down_sets_no_slider_and_enter_goes_on_once_it_is_set(
    tab: Tab, framed_address: str, owner: User
) -> None:
    campaign = open_campaign(owner, n_hits=1)
    tab.open(f"{framed_address}/rate/c/{campaign.public_id}/")
    begin(tab)
    tab.wait_for("[data-rating-next]")
    tab.run("addEventListener('submit', () => { document.body.className = 'sent'; })")
    tab.press(SLIDER, "Enter")
    assert tab.run("document.body.className") == ""
    for name, (moves, words) in SWIPES.items():
        tab.touch(SLIDER, *moves)
        said = tab.run(f"document.querySelector('{SLIDER}').getAttribute('aria-valuetext')")
        assert said == (words or "not set yet"), name
    tab.press(SLIDER, "Enter")
    tab.wait_for_text("h1", f"Item 2 of {N_ITEMS}")


def test_browser_a_chat_and_its_rating_in_a_frame(
    tab: Tab, framed_address: str, owner: User, settings: SettingsWrapper
) -> None:
    settings.CHATBOT_CLASSES = [SCRIPTED]
    campaign = live_campaign(owner, min_inputs=2)
    with shown(tab, f"{framed_address}/rate/c/{campaign.public_id}/", "frame"):
        begin(tab)
        tab.fill("#topic", "the sea")
        tab.click("[name=opinion][value=like]")
        tab.click(".button-main")
        tab.wait_for("#text:not([maxlength])")  # the chat's script is there
        for number, text in enumerate(("Hello", "Bye"), start=1):
            tab.fill("#text", text)
            tab.press("#text", "Enter")
            tab.wait_for(".log .turn-chatbot", number)
        tab.click("[formaction]")
        tab.wait_for("[data-rating-next]")
        for criterion in campaign.criteria.all():
            tab.press(f"[data-name=answer_{criterion.pk}]", "End")
        tab.click("[data-rating-next]")
        tab.wait_for_text("h1", "Chat 2 of 6")
    assert stored() == ["Hello", "Bye"]
    assert scores() == [100] * campaign.criteria.count()


def test_browser_the_pages_of_a_campaign_are_all_in_reach(tab: Tab, framed_address: str, owner: User) -> None:
    campaign = open_campaign(owner)
    tab.open(f"{framed_address}/campaigns/{campaign.public_id}/settings/")
    tab.fill("[name=username]", "owner@example.org")
    tab.fill("[name=password]", "owner-password")
    tab.click("main button")
    tab.wait_for(".side")
    last = "[...document.querySelectorAll('.side-link')].at(-1)"
    for width in (1440, 360):
        tab.resize(width)
        assert tab.run(f"{last}.checkVisibility()") == (width == 1440)
        if width == 360:
            tab.click(".side-button")
            assert tab.run(f"{last}.checkVisibility()")
        assert tab.run("document.documentElement.scrollWidth <= innerWidth")


# What the oldest browsers that show everything have, and the one before has not.
FOR_SLIDERS = "delete Array.prototype.at"
FOR_CHATS = (
    "delete HTMLFormElement.prototype.requestSubmit",
    "CSS.supports = (...words) => !words.join().includes('dvh')",
    "CSS.supports = (...words) => !words.join().includes(':has')",
)


def test_browser_one_that_is_too_old_says_so(browser: Browser, framed_address: str, owner: User) -> None:
    context = browser.new_context()
    rating, chat = open_campaign(owner), open_live_campaign(owner)
    for lack, is_too_old_to_rate in ((FOR_SLIDERS, True), *((lack, False) for lack in FOR_CHATS)):
        page = context.new_page()
        page.add_init_script(lack)
        for campaign, is_too_old in ((rating, is_too_old_to_rate), (chat, True)):
            page.goto(f"{framed_address}/rate/c/{campaign.public_id}/")
            expect(page.get_by_text("This browser is too old")).to_be_visible(visible=is_too_old)
        page.close()
    context.close()


def test_the_script_that_finds_old_browsers_is_one_that_they_read() -> None:
    text = (Path(site_settings.BASE_DIR) / "static/js/rate_head.js").read_text()
    code = "\n".join(line.partition("//")[0] for line in text.splitlines())
    assert not re.search(r"=>|`|\?\.|\?\?|\b(const|let|class|async|import|export)\b", code)
