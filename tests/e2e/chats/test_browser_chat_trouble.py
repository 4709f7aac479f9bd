"""Chatting in a browser when something fails: the connection, the server, a chatbot. Nothing typed is lost."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Dialog, Page, Route, expect

from annotation.chat.services import open_conversations
from annotation.models import Conversation, Event, PlaceFreed, Response
from annotation.services.assignments import expire_leases, release_assignment, start_assignment
from campaigns.contracts.platform import Place
from campaigns.models import Campaign, Chatbot
from tests.annotation.chat import bots
from tests.e2e.chats.chatting import (
    LOST,
    REFUSED,
    RESULT_MS,
    Complaints,
    begin,
    box,
    chat_and_rate,
    end,
    heading,
    notice,
    open_hit,
    said,
    say,
    script_is_there,
    stored,
    take_hit,
)
from tests.services import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


# --- The connection


def test_browser_a_message_is_kept_while_the_connection_is_lost(chat: Page, complaints: Complaints) -> None:
    complaints.expected = LOST
    say(chat, "Hello")
    chat.context.set_offline(True)
    box(chat).fill("Are you there?")
    box(chat).press("Enter")
    expect(notice(chat)).to_contain_text("no connection")
    expect(said(chat, "worker").last).to_contain_text("Not sent yet")
    box(chat).fill("Typed meanwhile")
    assert stored() == ["Hello"]
    chat.context.set_offline(False)
    expect(said(chat, "chatbot")).to_have_count(2, timeout=RESULT_MS)
    expect(notice(chat)).to_have_text("")
    expect(said(chat, "worker").last).to_have_text("You:Are you there?")
    expect(box(chat)).to_have_value("Typed meanwhile")
    assert stored() == ["Hello", "Are you there?"]


def test_browser_a_server_that_is_away_is_tried_again(chat: Page, complaints: Complaints) -> None:
    complaints.expected = (*LOST, "status of 502")
    tried: list[str] = []

    def fail(route: Route) -> None:
        tried.append(route.request.method)
        route.fulfill(status=502, body="Bad gateway") if len(tried) > 2 else route.abort()

    chat.route("**/rate/**", fail)
    box(chat).fill("Hello")
    box(chat).press("Enter")
    expect(notice(chat)).to_contain_text("no connection")

    def try_again() -> bool:
        chat.get_by_role("button", name="Try now").click()
        return tried.count("POST") > 2

    wait_until(try_again, 20, "the server is tried again")
    chat.unroute("**/rate/**")
    expect(said(chat, "chatbot")).to_have_count(1, timeout=RESULT_MS)
    assert stored() == ["Hello"]


def test_browser_a_message_whose_answer_was_lost_is_said_once(chat: Page, complaints: Complaints) -> None:
    complaints.expected = LOST
    lost: list[int] = []

    def lose_first(route: Route) -> None:
        if lost:
            route.continue_()
            return
        lost.append(route.fetch().status)
        route.abort()

    chat.route("**/say/", lose_first)
    say(chat, "Hello")
    assert lost == [200]
    assert stored() == ["Hello"]
    expect(said(chat, "worker")).to_have_count(1)


def test_browser_a_message_on_its_way_outlives_a_reload(chat: Page, complaints: Complaints) -> None:
    complaints.expected = LOST
    chat.route("**/say/", lambda route: route.abort())
    chat.route("**/rate/*/", lambda route: route.abort() if route.request.method == "HEAD" else route.continue_())
    box(chat).fill("Hello")
    box(chat).press("Enter")
    expect(said(chat, "worker")).to_contain_text("Not sent yet")
    box(chat).fill("Typed meanwhile")
    chat.unroute("**/say/")
    chat.reload()
    expect(said(chat, "chatbot")).to_have_count(1)
    expect(box(chat)).to_have_value("Typed meanwhile")
    assert stored() == ["Hello"]


def test_browser_a_message_whose_answer_was_lost_is_not_typed_again(chat: Page, complaints: Complaints) -> None:
    complaints.expected = LOST
    say(chat, "Hello")
    _lose(chat, "Are you there?", is_heard=True)
    chat.reload()
    expect(said(chat, "worker")).to_have_text(["You:Hello", "You:Are you there?"])
    script_is_there(chat)
    expect(box(chat)).to_have_value("")


def test_browser_a_message_on_its_way_is_sent_by_another_tab_and_said_once(chat: Page, complaints: Complaints) -> None:
    complaints.expected = LOST
    say(chat, "Hello")
    _lose(chat, "From the first")
    other = complaints.watch(chat.context.new_page())
    other.goto(chat.url)
    expect(said(other, "chatbot")).to_have_count(2)
    chat.unroute("**/say/")
    chat.get_by_role("button", name="Try now").click()
    expect(said(chat, "chatbot")).to_have_count(2)
    assert stored() == ["Hello", "From the first"]


def test_browser_a_message_whose_number_another_tab_took_is_typed_again(chat: Page, complaints: Complaints) -> None:
    complaints.expected = LOST
    say(chat, "Hello")
    other = complaints.watch(chat.context.new_page())
    other.goto(chat.url)
    script_is_there(other)
    _lose(chat, "From the first")
    say(other, "From the second")
    chat.reload()
    expect(said(chat, "worker")).to_have_text(["You:Hello", "You:From the second"])
    expect(box(chat)).to_have_value("From the first")
    chat.unroute("**/say/")
    say(chat, "From the first")
    assert stored() == ["Hello", "From the second", "From the first"]


def test_browser_a_chat_is_not_ended_before_its_last_message_is_sent(chat: Page, complaints: Complaints) -> None:
    complaints.expected = LOST
    for text in ("Hello", "Bye"):
        say(chat, text)
    _lose(chat, "One thing more")
    with chat.expect_request("**/say/"):
        chat.get_by_role("button", name="Rate this chatbot").click()
    expect(said(chat, "worker").last).to_contain_text("Not sent yet")
    chat.unroute("**/say/")
    expect(said(chat, "chatbot")).to_have_count(3, timeout=RESULT_MS)
    end(chat)
    assert stored() == ["Hello", "Bye", "One thing more"]


def _lose(chat: Page, text: str, *, is_heard: bool = False) -> None:
    """Send a message that does not get through, or, if `is_heard`, whose answer does not."""

    def lose(route: Route) -> None:
        if is_heard:
            route.fetch()
        route.abort()

    chat.route("**/say/", lose)
    box(chat).fill(text)
    box(chat).press("Enter")
    expect(said(chat, "worker").last).to_contain_text("Not sent yet")


def test_browser_forms_are_not_sent_without_a_connection(
    page: Page, live_server: Any, campaign: Campaign, complaints: Complaints
) -> None:
    topic = open_hit(page, live_server.url, campaign, complaints)
    topic.get_by_label("What would you like to talk about?").fill("the sea")
    topic.get_by_label("Like", exact=True).check()
    topic.context.set_offline(True)
    topic.get_by_role("button", name="Start the chat").click()
    expect(topic.get_by_text("There is no connection")).to_be_visible()
    topic.context.set_offline(False)
    expect(topic.get_by_text("There is no connection")).to_be_hidden()
    topic.get_by_role("button", name="Start the chat").click()
    expect(topic.get_by_role("log")).to_be_visible()
    assert Conversation.objects.get().topic == "the sea"


def test_browser_a_page_is_not_left_with_a_message_without_a_warning(chat: Page) -> None:
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    chat.on("dialog", stay)
    box(chat).click()
    chat.keyboard.type("Hello")
    with chat.expect_event("dialog"):
        chat.get_by_role("link", name="Return this task").click(no_wait_after=True)
    expect(box(chat)).to_have_value("Hello")
    assert asked == ["beforeunload"]
    box(chat).press("Enter")
    expect(said(chat, "chatbot")).to_have_count(1)
    chat.get_by_role("link", name="Return this task").click()
    expect(heading(chat)).to_have_text("Return this task?")
    assert asked == ["beforeunload"]


# --- HITs that are lost


def test_browser_a_worker_who_was_away_for_too_long_reads_it_at_once(
    page: Page, live_server: Any, campaign: Campaign, complaints: Complaints
) -> None:
    complaints.expected = REFUSED
    chat = open_hit(page, live_server.url, campaign, complaints)
    begin(chat)
    say(chat, "Hello")
    expire_leases(now=timezone.now() + timedelta(days=1))
    for k in range(campaign.hits.count()):
        other = start_assignment(campaign=campaign, worker_key=f"other-{k}")
        open_conversations(assignment_id=other.pk, position=1, topic="Tea", opinion="like")
    box(chat).fill("I am back")
    box(chat).press("Enter")
    expect(heading(chat)).to_have_text("This task was offered to others")
    assert stored() == ["Hello", "I am back"]
    assert len(stored("chatbot")) == 1


def test_browser_a_worker_who_accepts_again_reads_it_on_the_old_page(
    page: Page, live_server: Any, campaign: Campaign, complaints: Complaints
) -> None:
    complaints.expected = REFUSED
    ann = {"campaign": campaign, "worker_key": f"{campaign.public_id}:ann", "consented": True}
    accepted = start_assignment(**ann, place=Place("first"))
    chat = open_hit(page, live_server.url, campaign, complaints)
    begin(chat)
    say(chat, "Hello")
    release_assignment(assignment=accepted, cause=PlaceFreed.RESEARCHER)
    start_assignment(**ann, place=Place("second"))
    box(chat).fill("I am still here")
    box(chat).press("Enter")
    expect(heading(chat)).to_have_text("This page was replaced")
    assert stored() == ["Hello"]


# --- Chatbots that fail


def test_browser_a_chatbot_that_failed_is_asked_again(chat: Page) -> None:
    bots.SCRIPT.append(RuntimeError("out of order"))
    box(chat).fill("Hello")
    box(chat).press("Enter")
    expect(notice(chat)).to_contain_text("There is no reply at the moment. Your message is kept.")
    expect(chat.get_by_role("button", name="Continue without this chatbot")).to_be_visible()
    box(chat).fill("Still typing")
    box(chat).press("Enter")
    chat.get_by_role("button", name="Try again").click()
    expect(said(chat, "chatbot")).to_have_count(1)
    expect(notice(chat)).to_have_text("")
    expect(chat.get_by_role("button", name="Continue without this chatbot")).to_be_hidden()
    expect(box(chat)).to_have_value("Still typing")
    expect(box(chat)).to_be_focused()
    assert stored() == ["Hello"]


def test_browser_a_hit_with_a_dead_chatbot_is_finished(
    page: Page, live_server: Any, campaign: Campaign, complaints: Complaints
) -> None:
    """The chat with it in the browser."""
    assignment = take_hit(campaign)
    dead = assignment.hit.items.get(position=2).output.system
    Chatbot.objects.filter(system=dead).update(connector="telepathy")
    chat_and_rate(assignment, 1)
    hit = open_hit(page, live_server.url, campaign, complaints)
    expect(heading(hit)).to_have_text("Chat 2 of 6")
    begin(hit)
    box(hit).fill("Anybody there?")
    box(hit).press("Enter")
    expect(notice(hit)).to_contain_text("no reply")
    hit.get_by_role("button", name="Try again").click()
    expect(notice(hit)).to_contain_text("no reply")
    hit.reload()
    expect(notice(hit)).to_contain_text("no reply")
    hit.get_by_role("button", name="Continue without this chatbot").click()
    expect(heading(hit)).to_have_text("Chat 3 of 6")
    for position in range(3, 7):
        chat_and_rate(assignment, position)
    hit.reload()
    hit.get_by_role("button", name="Finish").click()
    expect(heading(hit)).to_have_text("Thank you")
    assert Response.objects.values("item").distinct().count() == 5
    assert Event.objects.filter(kind=Event.Kind.SKIPPED).count() == 1
    assert "Anybody there?" in stored()
