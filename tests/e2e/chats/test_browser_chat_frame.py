"""Chatting in a frame of another site that gives the page no origin and no cookies, as crowd platforms do."""

import pytest
from playwright.sync_api import FrameLocator, Page, Route, expect

from tests.e2e.chats.chatting import Complaints, begin, box, end, heading, rate, said, say, stored

pytestmark = pytest.mark.django_db(transaction=True)


def test_browser_a_chat_in_a_sandboxed_frame(page: Page, frame: FrameLocator) -> None:
    begin(frame)
    assert frame.locator("body").evaluate("() => self.origin") == "null"
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.resource_type))
    say(frame, "Hello")
    say(frame, "Bye")
    assert set(requests) == {"fetch"}, "the page was loaded again"
    frame.locator("body").evaluate("() => location.reload()")
    expect(frame.locator(".log[data-chat-log]")).to_be_visible()
    expect(said(frame, "worker")).to_have_count(2)
    end(frame)
    rate(frame)
    expect(heading(frame)).to_have_text("Chat 2 of 6")
    assert stored() == ["Hello", "Bye"]
    assert page.context.cookies() == []


def test_browser_a_frame_that_lets_no_script_talk_sends_forms(
    page: Page, frame: FrameLocator, complaints: Complaints
) -> None:
    complaints.expected = ("CORS", "net::ERR_FAILED")
    page.route("**/rate/**", _bar_scripts)
    begin(frame)
    for number, text in enumerate(("Hello", "Bye"), start=1):
        box(frame).fill(text)
        frame.get_by_role("button", name="Send").click()
        expect(said(frame, "chatbot")).to_have_count(number)
    end(frame)
    rate(frame)
    expect(heading(frame)).to_have_text("Chat 2 of 6")
    assert stored() == ["Hello", "Bye"]


def _bar_scripts(route: Route) -> None:
    """Refuse what scripts ask for as a browser does that may not show them the answer."""
    if "application/json" not in route.request.headers.get("accept", ""):
        route.continue_()
        return
    response = route.fetch()
    headers = {name: value for name, value in response.headers.items() if name != "access-control-allow-origin"}
    route.fulfill(response=response, headers=headers)
