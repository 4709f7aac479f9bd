"""Chatting in a browser with any text, by keyboard alone, with a screen reader, on a phone; and its preview."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from annotation.models import Conversation
from campaigns.models import Campaign, Chatbot
from tests.annotation.chat import bots
from tests.e2e.answering import PHONE
from tests.e2e.chats.chatting import (
    REFUSED,
    Complaints,
    begin,
    box,
    choose_topic,
    heading,
    held_reply,
    notice,
    open_hit,
    rate,
    said,
    say,
    script_is_there,
    stored,
)

pytestmark = pytest.mark.django_db(transaction=True)


# --- Any text

TEXTS = {
    "markup": "<script>alert(1)</script> & <img src=x onerror=alert(2)> &amp;",
    "signs": "a#b?c=d&e=f+g%20 100%",
    "emoji": "👩‍👩‍👧‍👦🏳️‍🌈 漢字",
    "right to left": "مرحبا، كيف حالك؟",
    "long": "word " * 999 + "last!",
    "one word": "x" * 5000,
    "lines": "first\nsecond\n\n  fourth",
}


def test_browser_any_text_is_safe(chat: Page) -> None:
    """Each is checked as its script shows it, and all of them as a reload does."""
    Chatbot.objects.update(max_chars=5000)
    texts = list(TEXTS.values())
    for n_said, text in enumerate(texts, start=1):
        bots.SCRIPT.append(text)
        say(chat, text)
        _shows(chat, texts[:n_said])
    chat.reload()
    _shows(chat, texts)
    assert stored() == stored("chatbot") == texts


def _shows(chat: Page, texts: list[str]) -> None:
    """Assert that both have said these texts, which change nothing else in the page."""
    for by in ("worker", "chatbot"):
        shown = said(chat, by).locator("[data-chat-text]")
        assert shown.evaluate_all("turns => turns.map(turn => turn.textContent)") == texts
        directions = shown.evaluate_all("turns => turns.map(turn => getComputedStyle(turn).direction)")
        assert directions == ["rtl" if text == TEXTS["right to left"] else "ltr" for text in texts]
    assert chat.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert chat.locator(".log img, .log script").count() == 0


def test_browser_what_is_too_long_is_not_cut_but_counted(chat: Page, complaints: Complaints) -> None:
    complaints.expected = REFUSED
    box(chat).fill("😀" * 5001)
    expect(chat.get_by_text("1 character too many")).to_be_visible()
    box(chat).press("Enter")
    expect(notice(chat)).to_contain_text("5,001 characters long")
    assert box(chat).evaluate("box => box.value.length") == 2 * 5001
    expect(said(chat, "worker")).to_have_count(0)
    assert stored() == []
    box(chat).press("Backspace")
    expect(chat.get_by_text("0 characters left")).to_be_visible()
    box(chat).press("Enter")
    expect(said(chat, "chatbot")).to_have_count(1)
    assert stored() == ["😀" * 5000]


# --- Other ways to look and type

HEIGHTS = (640, 360)


def test_browser_a_chat_by_keyboard_alone(
    page: Page, live_server: Any, campaign: Campaign, complaints: Complaints
) -> None:
    complaints.expected = REFUSED
    keys = open_hit(page, live_server.url, campaign, complaints)
    press = keys.keyboard.press

    def tab_to(target: Locator, most: int = 12) -> None:
        for _ in range(most):
            press("Tab")
            if target.evaluate("el => el === document.activeElement || el.contains(document.activeElement)"):
                return
        raise AssertionError("it is not reached by Tab")

    tab_to(keys.get_by_label("What would you like to talk about?"))
    keys.keyboard.type("the sea")
    tab_to(keys.locator(".choices"))
    press("ArrowRight")
    press("Enter")
    script_is_there(keys)
    expect(keys.get_by_role("button", name="Topic")).to_be_visible()  # put there by a script of its own
    tab_to(keys.get_by_role("button", name="Topic"))
    tab_to(keys.get_by_role("log"))
    tab_to(box(keys))
    keys.keyboard.type("Hello")
    press("Shift+Enter")
    keys.keyboard.type("there")
    press("Enter")
    expect(said(keys, "chatbot")).to_have_count(1)
    expect(box(keys)).to_be_focused()
    tab_to(keys.get_by_role("button", name="Rate this chatbot"))
    press("Enter")
    expect(notice(keys)).to_contain_text("Write one more message")
    press("Shift+Tab")
    press("Shift+Tab")
    expect(box(keys)).to_be_focused()
    keys.keyboard.type("Bye")
    press("Tab")
    press("Enter")
    expect(said(keys, "chatbot")).to_have_count(2)
    tab_to(keys.get_by_role("button", name="Rate this chatbot"))
    press("Enter")
    expect(heading(keys)).to_have_text("Chat 1 of 6: rating")
    keys.wait_for_load_state()
    for slider in keys.locator("[data-slider] input").all():
        tab_to(slider)
        press("ArrowRight")
    tab_to(keys.locator("[data-rating-next]"))
    press("Enter")
    expect(heading(keys)).to_have_text("Chat 2 of 6")
    assert stored() == ["Hello\nthere", "Bye"]
    assert Conversation.objects.get().opinion in ("ambivalent", "like")


def test_browser_what_a_screen_reader_reads(chat: Page) -> None:
    log = chat.get_by_role("log", name="The chat")
    expect(log).to_have_attribute("aria-live", "polite")
    with held_reply():
        box(chat).fill("Hello")
        box(chat).press("Enter")
        expect(chat.locator("[data-chat-typing-said]")).to_have_text("The chatbot is writing.")
        expect(chat.locator("[data-chat-typing]")).to_have_attribute("aria-hidden", "true")
        expect(chat.get_by_role("button", name="Send")).to_have_attribute("aria-disabled", "true")
    expect(chat.locator("[data-chat-typing-said]")).to_have_text("")
    expect(chat.get_by_role("button", name="Send")).to_have_attribute("aria-disabled", "false")
    expect(log.get_by_role("listitem")).to_have_text(["You:Hello", "Chatbot:At last"])
    expect(chat.get_by_role("progressbar", name="Chat 1 of 6")).to_be_visible()
    expect(chat.get_by_role("progressbar", name="1 message, at least 2")).to_be_visible()


def test_browser_a_chat_on_a_phone(
    browser: Browser, live_server: Any, campaign: Campaign, complaints: Complaints
) -> None:
    """As it is held, and with a keyboard on half of it."""
    context = browser.new_context(**PHONE)
    phone = open_hit(context.new_page(), live_server.url, campaign, complaints)
    _is_handy(phone)
    begin(phone, "a " + "x" * 400)
    box(phone).tap()
    phone.keyboard.type("first")
    phone.keyboard.press("Enter")
    phone.keyboard.type("second")
    expect(box(phone)).to_have_value("first\nsecond")
    phone.get_by_role("button", name="Send").tap()
    expect(said(phone, "chatbot")).to_have_count(1)
    expect(box(phone)).to_be_focused()
    say(phone, "x" * 300)
    for height in HEIGHTS:
        phone.set_viewport_size({"width": 360, "height": height})
        expect(box(phone)).to_be_in_viewport()
    _is_handy(phone)
    phone.get_by_role("button", name="Topic").tap()
    expect(phone.get_by_role("dialog")).to_be_visible()
    _is_handy(phone)
    phone.get_by_role("button", name="Cancel").tap()
    phone.get_by_role("button", name="Rate this chatbot").tap()
    expect(heading(phone)).to_have_text("Chat 1 of 6: rating")
    _is_handy(phone)
    phone.get_by_text("Your chat").tap()
    expect(phone.locator(".transcript .turn").first).to_be_hidden()
    assert stored() == ["first\nsecond", "x" * 300]
    context.close()


def _is_handy(page: Page) -> None:
    """Assert that a page scrolls up and down alone, and that its buttons and fields are large enough for a finger.

    Its height is the smaller one afterwards.
    """
    for height in HEIGHTS:
        page.set_viewport_size({"width": 360, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        small = page.locator(
            "button:visible, textarea:visible, .choice:visible, .check:visible, summary:visible"
        ).evaluate_all("els => els.filter(el => el.getBoundingClientRect().height < 40).map(el => el.outerHTML)")
        assert small == []


def test_browser_nothing_moves_for_who_wants_no_motion(
    browser: Browser, live_server: Any, campaign: Campaign, complaints: Complaints
) -> None:
    context = browser.new_context(reduced_motion="reduce")
    chat = open_hit(context.new_page(), live_server.url, campaign, complaints)
    begin(chat)
    with held_reply():
        box(chat).fill("Hello")
        box(chat).press("Enter")
        expect(chat.locator("[data-chat-typing]")).to_be_visible()
        assert chat.evaluate("document.getAnimations().length") == 0
    expect(said(chat, "chatbot")).to_have_count(1)
    context.close()


# --- The preview


def test_browser_a_preview_of_a_chat(
    page: Page, live_server: Any, campaign: Campaign, owner_client: Any, complaints: Complaints
) -> None:
    cookie = owner_client.cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": cookie, "url": live_server.url}])
    complaints.watch(page)
    page.goto(f"{live_server.url}/campaigns/{campaign.public_id}/preview/")
    page.get_by_role("button", name="I understand").click()
    choose_topic(page)
    box(page).fill("Hello")
    page.get_by_role("button", name="Send").click()
    page.get_by_role("button", name="Topic").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("By the chatbot").check()
    dialog.get_by_label("The new topic").fill("boats")
    dialog.get_by_label("Like", exact=True).check()
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    page.get_by_role("link", name="Rate this chatbot").click()
    expect(heading(page)).to_have_text("Chat 1 of 6: rating")
    rate(page)
    expect(heading(page)).to_have_text("Chat 2 of 6")
    page.get_by_role("link", name="End").click()
    page.get_by_role("button", name="Finish").click()
    expect(heading(page)).to_have_text("Thank you")
    assert not Conversation.objects.exists()
