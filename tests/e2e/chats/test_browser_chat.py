"""Chatting in a browser: a whole HIT, coming back to it, while the chatbot writes, ending a chat, its topic."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from annotation.models import Assignment, Conversation, Response, TopicChange, Turn
from campaigns.models import Campaign, Chatbot
from evalsite.accounts.models import User
from tests.annotation.chat import bots
from tests.e2e.chats.chatting import (
    REFUSED,
    Complaints,
    begin,
    box,
    chat_and_rate,
    end,
    have_chat,
    heading,
    held_reply,
    live_campaign,
    notice,
    open_hit,
    rate,
    said,
    say,
    script_is_there,
    stored,
    take_hit,
)
from tests.services import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


# --- A whole HIT


def test_browser_a_hit_of_six_chats_from_link_to_code(
    page: Page, live_server: Any, owner: User, complaints: Complaints
) -> None:
    """The first two chats and the last in the browser; the time left is shown after two."""
    campaign, left = live_campaign(owner, min_inputs=2), page.locator(".time-left")
    complaints.watch(page)
    page.clock.install()
    page.goto(f"{live_server.url}/rate/c/{campaign.public_id}/")
    page.get_by_role("button", name="I understand").click()
    assignment = Assignment.objects.get()
    for position, minutes in ((1, 4), (2, 6), (6, 2)):
        expect(heading(page)).to_have_text(f"Chat {position} of 6")
        begin(page, f"Topic {position}")
        if position < 3:
            expect(left).to_be_empty()
        page.clock.run_for(minutes * 60_000)
        for number, label in ((1, "1 message"), (2, "2 messages")):
            say(page, f"Message {number}")
            expect(page.get_by_text(f"{label}, at least 2")).to_be_visible()
        end(page)
        expect(page.locator(".transcript .turn")).to_have_count(4)
        expect(page.locator("[data-slider]")).to_have_count(7)
        rate(page)
        if position == 2:
            n_minutes = minutes_in(left)  # of the third to the sixth, six minutes each, and what this machine took
            assert 24 <= n_minutes < 30
            page.clock.run_for(120_000)
            page.reload()
            assert n_minutes - 6 < minutes_in(left) <= n_minutes - 2
            for between in (3, 4, 5):
                chat_and_rate(assignment, between)
            page.reload()
    page.get_by_label("Was anything unclear").fill("All clear.")
    page.get_by_role("button", name="Finish").click()
    expect(heading(page)).to_have_text("Thank you")
    assignment.refresh_from_db()
    expect(page.locator("#code")).to_have_text(assignment.completion_code)
    assert assignment.feedback == "All clear."
    assert Response.objects.count() == 42
    assert Conversation.objects.filter(state="ended", n_inputs=2, opinion="ambivalent").count() == 6
    assert stored() == [text for position in range(1, 7) for text in texts_of(position)]
    assert page.context.cookies() == []


def minutes_in(left: Locator) -> int:
    expect(left).to_have_text(re.compile(r"^about \d+ minutes left$"))
    return int(left.inner_text().split()[1])


def texts_of(position: int) -> tuple[str, str]:
    return ("Message 1", "Message 2") if position in (1, 2, 6) else ("Hello", "Bye")


def test_browser_tells_how_a_message_was_written(chat: Page) -> None:
    box(chat).press_sequentially("Hello ", delay=20)
    chat.evaluate("dispatchEvent(new Event('blur'))")
    chat.evaluate(
        """() => {
            const data = new DataTransfer();
            data.setData("text/plain", "pasted");
            document.querySelector("#text").dispatchEvent(
                new ClipboardEvent("paste", { clipboardData: data, bubbles: true }));
        }"""
    )
    box(chat).press("Enter")
    expect(said(chat, "chatbot")).to_have_count(1)
    say(chat, "Again")
    first, second = Turn.objects.filter(speaker="worker").values_list("data", flat=True)
    assert first["typed_ms"] > 0
    assert first | {"typed_ms": 0} == {"typed_ms": 0, "n_pastes": 1, "n_pasted_chars": 6, "n_focus_lost": 1}
    assert second["n_pastes"] == second["n_focus_lost"] == 0


# --- Coming back


def test_browser_a_reload_in_the_middle_of_a_chat(chat: Page) -> None:
    say(chat, "Hello")
    box(chat).fill("What I am typing")
    chat.reload()
    expect(said(chat, "worker")).to_have_text(["You:Hello"])
    expect(box(chat)).to_have_value("What I am typing")
    say(chat, "What I am typing")
    chat.reload()
    expect(box(chat)).to_have_value("")
    assert stored() == ["Hello", "What I am typing"]


def test_browser_an_unsent_message_is_there_again_in_another_tab(chat: Page) -> None:
    box(chat).fill("I was just")
    wait_until(lambda: "was just" in chat.evaluate("JSON.stringify(localStorage)"), 20, "it is kept")
    other = chat.context.new_page()
    other.goto(chat.url)
    script_is_there(other)
    expect(box(other)).to_have_value("I was just")
    other.close()


def test_browser_a_reload_in_the_middle_of_a_reply(chat: Page) -> None:
    with held_reply():
        box(chat).fill("Hello")
        box(chat).press("Enter")
        expect(chat.locator("[data-chat-typing]")).to_be_visible()
        expect(chat.get_by_text("The chatbot is writing.")).to_have_count(1)
        box(chat).fill("And then I")
        chat.reload()
        expect(chat.locator("[data-chat-typing]")).to_be_visible()
        expect(box(chat)).to_have_value("And then I")
        expect(said(chat, "worker")).to_have_count(1)
    expect(said(chat, "chatbot")).to_have_text(["Chatbot:At last"])
    expect(chat.locator("[data-chat-typing]")).to_be_hidden()
    say(chat, "And then I left")
    assert stored() == ["Hello", "And then I left"]
    assert len(stored("chatbot")) == 2


def test_browser_a_reload_in_the_middle_of_the_ratings(chat: Page) -> None:
    for text in ("Hello", "Bye"):
        say(chat, text)
    end(chat)
    chat.locator("[data-slider] input").first.press("End")
    chat.reload()
    expect(heading(chat)).to_have_text("Chat 1 of 6: rating")
    expect(chat.locator(".transcript .turn")).to_have_count(4)
    rate(chat)
    expect(heading(chat)).to_have_text("Chat 2 of 6")
    chat.go_back()
    expect(heading(chat)).to_have_text("Chat 2 of 6")
    assert Response.objects.count() == 7


def test_browser_a_second_tab_is_shown_how_things_stand(chat: Page, complaints: Complaints) -> None:
    complaints.expected = REFUSED
    other = complaints.watch(chat.context.new_page())
    other.goto(chat.url)
    script_is_there(other)
    say(chat, "From the first")
    box(other).fill("From the second")
    box(other).press("Enter")
    expect(notice(other)).to_contain_text("another window")
    expect(said(other, "worker")).to_have_text(["You:From the first"])
    expect(box(other)).to_have_value("From the second")
    say(other, "From the second")
    end(other)
    box(chat).fill("Too late")
    box(chat).press("Enter")
    expect(heading(chat)).to_have_text("Chat 1 of 6: rating")
    assert stored() == ["From the first", "From the second"]


# --- While the chatbot writes


def test_browser_the_worker_can_write_but_not_send_while_the_chatbot_writes(chat: Page) -> None:
    with held_reply():
        box(chat).fill("Hello")
        box(chat).press("Enter")
        expect(chat.locator("[data-chat-typing]")).to_be_visible()
        before = box(chat).bounding_box()
        box(chat).fill("More")
        box(chat).press("Enter")
        expect(notice(chat)).to_contain_text("still writing")
        expect(box(chat)).to_have_value("More")
    expect(said(chat, "chatbot")).to_have_count(1)
    expect(notice(chat)).to_have_text("")
    assert box(chat).bounding_box() == before, "the box has jumped"
    box(chat).press("Enter")
    expect(said(chat, "chatbot")).to_have_count(2)
    assert stored() == ["Hello", "More"]


def test_browser_the_log_shows_the_end_and_of_a_long_reply_the_beginning(
    page: Page, live_server: Any, campaign: Campaign, complaints: Complaints
) -> None:
    texts = [f"Message {number}\nof\nseveral\nlines" for number in range(8)]
    have_chat(take_hit(campaign), 1, *texts[:-1])
    chat = open_hit(page, live_server.url, campaign, complaints)
    script_is_there(chat)
    expect(said(chat, "chatbot").last).to_be_in_viewport()
    say(chat, texts[-1])
    expect(said(chat, "chatbot").last).to_be_in_viewport()
    Chatbot.objects.update(max_chars=5000)
    bots.SCRIPT.append("Beginning. " + "word " * 900)
    say(chat, "And now?")
    top = said(chat, "chatbot").last.evaluate(
        "turn => turn.getBoundingClientRect().top - turn.closest('.log').getBoundingClientRect().top"
    )
    assert 0 <= top < 40


# --- Ending


def test_browser_a_short_chat_is_not_ended(chat: Page, complaints: Complaints) -> None:
    complaints.expected = REFUSED
    button = chat.get_by_role("button", name="Rate this chatbot")
    expect(button).to_contain_text("0 of 2")
    say(chat, "Hello")
    expect(button).to_contain_text("1 of 2")
    expect(button).to_be_disabled()
    box(chat).fill("I go on")
    button.click(force=True)
    expect(notice(chat)).to_contain_text("Write one more message")
    expect(box(chat)).to_have_value("I go on")
    box(chat).press("Enter")
    expect(notice(chat)).to_have_text("")
    expect(said(chat, "chatbot")).to_have_count(2)
    expect(button).to_have_accessible_name("Rate this chatbot")
    end(chat)


def test_browser_what_is_typed_but_not_sent_is_asked_about(chat: Page, complaints: Complaints) -> None:
    complaints.expected = REFUSED
    for text in ("Hello", "Bye"):
        say(chat, text)
    box(chat).fill("One thing more")
    button, warned = chat.get_by_role("button", name="Rate this chatbot"), chat.locator("[name=warned]")
    button.click()
    expect(notice(chat)).to_contain_text("not sent")
    box(chat).press("End")
    box(chat).press_sequentially("!")
    expect(warned).to_have_value("")
    button.click()
    expect(warned).to_have_value("yes")  # the notice is still there from before
    expect(notice(chat)).to_contain_text("not sent")
    button.click()
    expect(heading(chat)).to_contain_text("rating")
    assert stored() == ["Hello", "Bye"]


def test_browser_a_full_chat_leads_on(page: Page, live_server: Any, owner: User, complaints: Complaints) -> None:
    campaign = live_campaign(owner, min_inputs=1, max_inputs=2)
    chat = open_hit(page, live_server.url, campaign, complaints)
    begin(chat)
    for text in ("Hello", "Bye"):
        say(chat, text)
    expect(chat.get_by_text("reached the largest number of messages")).to_be_visible()
    expect(box(chat)).to_be_hidden()
    chat.reload()
    expect(box(chat)).to_be_hidden()
    end(chat)


# --- The topic


def test_browser_a_change_of_topic_is_noted_in_a_dialog(chat: Page, complaints: Complaints) -> None:
    complaints.expected = REFUSED
    say(chat, "Hello")
    opener = chat.get_by_role("button", name="Topic")
    opener.focus()
    chat.keyboard.press("Enter")
    dialog = chat.get_by_role("dialog", name="The topic has changed")
    expect(dialog).to_be_visible()
    chat.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(opener).to_be_focused()
    opener.click()
    dialog.get_by_label("By me, in my last message").check()
    dialog.get_by_label("The new topic").fill(" ")
    dialog.get_by_label("Dislike").check()
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_contain_text("Write what the chat is about.")
    dialog.get_by_label("The new topic").fill("boats <b>&</b>")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    expect(opener).to_be_focused()
    expect(chat.locator("[data-chat-topic-now]")).to_have_text("boats <b>&</b>")
    noted = TopicChange.objects.values_list("by", "topic", "attitude", "after_turn").get()
    assert noted == ("last", "boats <b>&</b>", "dislike", 2)
