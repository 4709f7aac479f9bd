"""Chatting in a frame of another site that gives the page no origin and no cookies, as crowd platforms do."""

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import FrameLocator, Page, Route, expect

from annotation.models import Conversation, TopicChange
from tests.annotation.chat import bots
from tests.e2e.chats.chatting import (
    LOST,
    Complaints,
    begin,
    box,
    end,
    heading,
    notice,
    rate,
    said,
    say,
    script_is_there,
    stored,
)

pytestmark = pytest.mark.django_db(transaction=True)


def test_browser_a_chat_in_a_sandboxed_frame(page: Page, frame: FrameLocator) -> None:
    begin(frame)
    assert frame.locator("body").evaluate("() => self.origin") == "null"
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.resource_type))
    say(frame, "Hello")
    say(frame, "Bye")
    assert set(requests) == {"fetch"}, "the page was loaded again"
    frame.locator("body").evaluate("body => { body.id = 'before'; location.reload(); }")
    expect(frame.locator("body#before")).to_have_count(0)
    script_is_there(frame)
    expect(said(frame, "worker")).to_have_count(2)
    end(frame)
    rate(frame)
    expect(heading(frame)).to_have_text("Chat 2 of 6")
    assert stored() == ["Hello", "Bye"]
    assert page.context.cookies() == []


# --- No script may talk


@pytest.fixture
def forms(request: pytest.FixtureRequest, page: Page, complaints: Complaints) -> list[str]:
    """Have the browser let no script talk to the site; return where forms are sent, which it does send.

    It hides the answer, so that the site hears all twice, unless a test says that it "sends nothing".
    """
    complaints.expected = LOST
    sent: list[str] = []

    def bar(route: Route) -> None:
        asked = route.request
        if "application/json" not in asked.headers.get("accept", ""):
            if asked.method == "POST":
                sent.append(urlsplit(asked.url).path.split("/")[3])
            route.continue_()
            return
        if getattr(request, "param", "hides its answer") == "hides its answer":
            route.fetch()
        route.abort("accessdenied")

    page.context.route("**/rate/**", bar)
    return sent


@pytest.mark.parametrize("forms", ["hides its answer", "sends nothing"], indirect=True)
def test_browser_a_frame_that_lets_no_script_talk_sends_forms(frame: FrameLocator, forms: list[str]) -> None:
    begin(frame)
    for number, text in enumerate(("Hello", "Bye"), start=1):
        script_is_there(frame)
        box(frame).fill(text)
        frame.get_by_role("button", name="Send").click()
        expect(said(frame, "chatbot")).to_have_count(number)
    script_is_there(frame)
    end(frame)
    assert forms == ["topic", "say", "say", "end"]
    rate(frame)
    expect(heading(frame)).to_have_text("Chat 2 of 6")
    assert stored() == ["Hello", "Bye"]


def test_browser_a_frame_that_lets_no_script_talk_asks_again_for_a_reply(frame: FrameLocator, forms: list[str]) -> None:
    bots.SCRIPT.append(RuntimeError("out of order"))
    begin(frame)
    box(frame).fill("Hello")
    frame.get_by_role("button", name="Send").click()
    expect(notice(frame)).to_have_text("The chatbot has not answered yet.")
    script_is_there(frame)
    expect(frame.locator("[data-chat-typing]")).to_be_hidden()  # the script has asked in vain
    expect(notice(frame)).to_have_text("The chatbot has not answered yet.")
    expect(frame.get_by_role("button", name="Continue without this chatbot")).to_be_visible()
    box(frame).fill("Still typing: 100% & #1")
    Conversation.objects.update(retry_at=None)  # the pause is over
    frame.get_by_role("button", name="Try again").click()
    expect(said(frame, "chatbot")).to_have_count(1)
    expect(notice(frame)).to_have_text("")
    expect(box(frame)).to_have_value("Still typing: 100% & #1")
    assert forms == ["topic", "say", "reply"]
    assert stored() == ["Hello"]


def test_browser_a_change_of_topic_is_noted_where_no_script_may_talk(chat: Page, forms: list[str]) -> None:
    chat.on("dialog", lambda dialog: dialog.dismiss())  # whether to leave the page: it would stay
    box(chat).click()
    chat.keyboard.type("Still typing")
    chat.get_by_role("button", name="Topic").click()
    chat.get_by_label("By the chatbot").check()
    chat.get_by_label("The new topic").fill("boats")
    chat.get_by_label("Dislike").check()
    chat.get_by_role("button", name="Save").click()
    expect(chat.locator("[data-chat-topic-now]")).to_have_text("boats")
    script_is_there(chat)
    expect(box(chat)).to_have_value("Still typing")
    assert forms == ["change"]
    assert TopicChange.objects.get().topic == "boats"
