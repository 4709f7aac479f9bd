"""A chat with two chatbots at once in a browser: replies in any order, reloads, failures, keys, and a phone."""

from typing import Any

import pytest
from django.db import transaction
from playwright.sync_api import Browser, Page, expect

from annotation.chat.services import open_conversations
from campaigns.models import Campaign, Chatbot, HitItem
from evalsite.accounts.models import User
from tests.annotation.chat import bots
from tests.annotation.chat.chat_campaigns import CHATBOTS, open_live_campaign
from tests.e2e.answering import PHONE
from tests.e2e.chats.chatting import (
    SCRIPTED,
    Complaints,
    box,
    heading,
    held_reply,
    notice,
    open_hit,
    said,
    script_is_there,
    stored,
    take_hit,
)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def campaign(owner: User) -> Campaign:
    """A running campaign of pairs of two chatbots that answer as the test says."""
    fields = {"n_ordinary": 1, "n_degraded": 0, "chat": {"min_inputs": 2}}
    with transaction.atomic():
        campaign = open_live_campaign(owner, "compare-chats", n_hits=1, chatbots=CHATBOTS[:2], **fields)
    Chatbot.objects.update(connector="python", settings={"class_path": SCRIPTED}, n_retries=0)
    return campaign


@pytest.fixture
def chat(page: Page, live_server: Any, campaign: Campaign, complaints: Complaints) -> Page:
    assignment = take_hit(campaign)
    open_conversations(assignment_id=assignment.pk, position=1, topic="the sea", opinion="ambivalent")
    opened = open_hit(page, live_server.url, campaign, complaints)
    script_is_there(opened)
    return opened


def names(chat: Page) -> list[str]:
    """Return who said what is shown, in its order."""
    turns = chat.locator(".log .turn").all()
    return [turn.get_attribute("data-name") or "you" for turn in turns]


def test_browser_replies_are_in_order_whichever_comes_first(chat: Page) -> None:
    with held_reply():
        box(chat).fill("Hello")
        box(chat).press("Enter")
        expect(said(chat, "chatbot")).to_have_count(1)
        expect(chat.locator("[data-chat-typing-said]")).to_have_text("The chatbots are writing.")
        expect(chat.get_by_role("button", name="Send")).to_have_attribute("aria-disabled", "true")
        chat.reload()
        script_is_there(chat)
        expect(said(chat, "worker")).to_have_count(1)
        expect(said(chat, "chatbot")).to_have_count(1)
    expect(said(chat, "chatbot")).to_have_count(2)
    assert names(chat) == ["you", "A", "B"]
    expect(chat.get_by_role("button", name="Send")).to_have_attribute("aria-disabled", "false")
    box(chat).fill("And now?")
    box(chat).press("Enter")
    expect(said(chat, "chatbot")).to_have_count(4)
    assert names(chat) == ["you", "A", "B"] * 2
    assert stored() == ["Hello", "And now?"] * 2
    assert sorted(stored("chatbot")) == ["At last", "Reply 1", "Reply 3", "Reply 3"]
    expect(chat.locator(".log .turn-chatbot").first).to_contain_text("Chatbot A")


def test_browser_the_one_that_failed_is_asked_again(chat: Page) -> None:
    bots.SCRIPT.append(RuntimeError("out of order"))
    box(chat).fill("Hello")
    box(chat).press("Enter")
    expect(notice(chat)).to_contain_text("There is no reply at the moment.")
    expect(said(chat, "chatbot")).to_have_count(1)
    expect(chat.get_by_role("button", name="Continue without these chatbots")).to_be_visible()
    chat.get_by_role("button", name="Try again").click()
    expect(said(chat, "chatbot")).to_have_count(2)
    expect(notice(chat)).to_have_text("")
    assert names(chat) == ["you", "A", "B"]
    assert stored() == ["Hello"] * 2


def test_browser_without_one_chatbot_the_hit_is_finished(chat: Page) -> None:
    second = HitItem.objects.filter(position=2)
    Chatbot.objects.filter(system__outputs__items__in=second).update(connector="telepathy")
    box(chat).fill("Hello")
    box(chat).press("Enter")
    expect(notice(chat)).to_contain_text("There is no reply at the moment.")
    chat.get_by_role("button", name="Continue without these chatbots").click()
    expect(chat.get_by_label("Was anything unclear")).to_be_visible()


def test_browser_on_a_phone_replies_are_one_below_the_other(
    browser: Browser, live_server: Any, campaign: Campaign, complaints: Complaints
) -> None:
    bots.SCRIPT.extend(["A reply with-a-word-that-is-rather-long-for-a-telephone in it. " * 3] * 2)
    context = browser.new_context(**PHONE)
    assignment = take_hit(campaign)
    open_conversations(assignment_id=assignment.pk, position=1, topic="the sea", opinion="ambivalent")
    phone = open_hit(context.new_page(), live_server.url, campaign, complaints)
    script_is_there(phone)
    for number in (1, 2):
        box(phone).fill(f"Message {number}")
        phone.get_by_role("button", name="Send").tap()
        expect(said(phone, "chatbot")).to_have_count(2 * number)
        first, second = (said(phone, "chatbot").nth(2 * number - k).bounding_box() for k in (2, 1))
        assert first and second
        assert first["y"] + first["height"] <= second["y"]
        assert phone.evaluate("document.documentElement.scrollWidth") == PHONE["viewport"]["width"]
    phone.get_by_role("button", name="Compare the chatbots").tap()
    expect(heading(phone)).to_have_text("Chat 1 of 1: rating")
    expect(phone.get_by_role("region", name="Your chat").locator(".turn-chatbot")).to_have_count(4)
    assert phone.evaluate("document.documentElement.scrollWidth") == PHONE["viewport"]["width"]
    context.close()
