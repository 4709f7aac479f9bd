"""What workers do in a chat, in a browser: in a tab of their own, or in a frame of another site's page."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from playwright.sync_api import FrameLocator, Locator, Page, expect

from annotation.access.tokens import token_of
from annotation.chat.replies import fetch_reply_of
from annotation.chat.services import end_conversations, keep_input, open_conversations
from annotation.models import Assignment, Turn
from annotation.pages.questions import AnswerKey
from annotation.services.assignments import start_assignment
from annotation.services.ratings import save_page
from campaigns.contracts.chat import ChatRules
from campaigns.models import Campaign, Chatbot
from evalsite.accounts.models import User
from tests.annotation.chat import bots
from tests.annotation.chat.chat_campaigns import open_live_campaign

SCRIPTED = "tests.annotation.chat.bots.Scripted"
RESULT_MS = 60_000
# What a browser says by itself of requests that are refused, or that do not get through.
REFUSED, LOST = ("status of 422", "status of 409"), ("net::ERR_",)
Pane = Page | FrameLocator


def live_campaign(owner: User, **rules: int) -> Campaign:
    campaign = open_live_campaign(owner, chat=ChatRules(**rules).to_json())  # type: ignore[arg-type]
    Chatbot.objects.update(connector="python", settings={"class_path": SCRIPTED}, n_retries=0)
    return campaign


class Complaints(list[str]):
    """What the consoles of pages complain of, but for what is expected."""

    expected: tuple[str, ...] = ()

    def watch(self, page: Page) -> Page:
        page.on("console", lambda message: self.note(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.note(str(error)))
        return page

    def note(self, text: str) -> None:
        if not any(part in text for part in self.expected):
            self.append(text)


def take_hit(campaign: Campaign) -> Assignment:
    """Give Ann a HIT, or the one again that she has."""
    return start_assignment(campaign=campaign, worker_key=f"{campaign.public_id}:ann", consented=True)


def open_hit(page: Page, address: str, campaign: Campaign, complaints: Complaints) -> Page:
    """Open the next page of Ann's HIT."""
    assignment = take_hit(campaign)
    complaints.watch(page)
    page.goto(f"{address}/rate/{token_of(assignment)}/")
    return page


def have_chat(assignment: Assignment, position: int, *texts: str) -> None:
    """Have a chat that does not end yet, by the services that the pages call."""
    here = {"assignment_id": assignment.pk, "position": position}
    open_conversations(**here, topic="the sea", opinion="ambivalent")
    for number, text in enumerate(texts):
        fetch_reply_of(keep_input(**here, number=2 * number + 1, text=text)[0])


def chat_and_rate(assignment: Assignment, position: int) -> None:
    """Have a chat and rate it, by the services that the pages call."""
    here = {"assignment_id": assignment.pk, "position": position}
    have_chat(assignment, position, "Hello", "Bye")
    end_conversations(**here)
    save_page(**here, answers={AnswerKey(criterion.pk): ["50"] for criterion in assignment.campaign.criteria.all()})


def choose_topic(pane: Pane, topic: str = "the sea") -> None:
    pane.get_by_label("What would you like to talk about?").fill(topic)
    pane.get_by_label("Ambivalent").check()
    pane.get_by_role("button", name="Start the chat").click()
    expect(pane.get_by_role("log")).to_be_visible()


def begin(pane: Pane, topic: str = "the sea") -> None:
    """Choose the topic, and wait for the chat and its script."""
    choose_topic(pane, topic)
    script_is_there(pane)


def script_is_there(pane: Pane) -> None:
    """Wait for the chat's script: without it, Enter sends nothing, and a button loads the page again.

    The script lets the box take more than a message may hold, to say so then.
    """
    expect(pane.locator("#text:not([maxlength])")).to_be_attached()


def box(pane: Pane) -> Locator:
    return pane.get_by_label("Your message")


def said(pane: Pane, by: str) -> Locator:
    return pane.locator(f".log .turn-{by}")


def say(pane: Pane, text: str) -> None:
    """Send a message and wait for its reply."""
    n_replies = said(pane, "chatbot").count()
    box(pane).fill(text)
    pane.get_by_role("button", name="Send").click()
    expect(said(pane, "chatbot")).to_have_count(n_replies + 1)


def end(pane: Pane) -> None:
    pane.locator("[formaction]").click()
    expect(pane.get_by_role("heading", level=1)).to_contain_text("rating")


def rate(pane: Pane) -> None:
    """Set every slider with the keyboard, go on, and see the page after."""
    expect(pane.locator("[data-rating-next]")).to_be_visible()  # below the sliders: all are there
    before = heading(pane).inner_text()
    sliders = pane.locator("[data-slider] input")
    for number in range(sliders.count()):
        sliders.nth(number).press("End")
    pane.locator("[data-rating-next]").click()
    expect(heading(pane)).not_to_have_text(before)


def heading(pane: Pane) -> Locator:
    return pane.get_by_role("heading", level=1)


def notice(pane: Pane) -> Locator:
    return pane.locator("[data-chat-notice] [data-chat-words]")


def stored(by: str = "worker") -> list[str]:
    turns = Turn.objects.filter(speaker=by).order_by("conversation", "number")
    return list(turns.values_list("text", flat=True))


@contextmanager
def held_reply(text: str = "At last") -> Iterator[None]:
    """Have the chatbot's next reply wait until the end of the block, once it is asked for."""
    release = threading.Event()
    bots.SCRIPT.append(lambda: text if release.wait(60) else "")
    try:
        yield
    finally:
        release.set()


@contextmanager
def foreign_page(url: str) -> Iterator[str]:
    """Serve a page of another site that shows `url` in a sandboxed frame without an origin or cookies."""
    html = f'<!doctype html><iframe sandbox="allow-scripts allow-forms" src="{url}" width="800" height="700"></iframe>'

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
