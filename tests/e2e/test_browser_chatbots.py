"""A researcher sets chatbots up in a browser: adding, saving as they type, testing, copying, a file of dialogues."""

import json
import re

import pytest
from playwright.sync_api import Page, expect

from tests.jobs.processes import Site

GOOD = "\n".join(json.dumps([f"Do you like {what}?", f"Yes, I like {what} very much."]) for what in ("tea", "jam"))


@pytest.fixture(scope="module")
def chatbot(signed_in: Page, site: Site) -> str:
    """The address of a chatbot that speaks from the example dialogues, added by hand to a new campaign."""
    page = signed_in
    page.goto("/campaigns/new/")
    page.get_by_role("button", name="Choose Dialogue, ice-breaker").click()
    expect(page.get_by_role("heading", name="No chatbots yet")).to_be_visible()
    page.get_by_role("link", name="Add a chatbot").click()
    page.get_by_role("link", name=re.compile("Retrieval")).click()
    page.get_by_label("Name").fill("Amber")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("heading", name="Amber")).to_be_visible()
    return page.url


def test_what_is_typed_is_saved(tab: Page, chatbot: str) -> None:
    tab.goto(chatbot)
    tab.get_by_label("Statements", exact=False).first.fill("I have two dogs.\nI sail.")
    tab.get_by_label("Name").fill("Amber II")
    tab.get_by_label("Name").blur()
    expect(tab.locator("#chatbot-name")).to_have_text("Amber II")
    expect(tab.locator(".saving-status")).to_have_text("Saved")
    tab.reload()
    expect(tab.get_by_label("Statements", exact=False).first).to_have_value("I have two dogs.\nI sail.")


def test_a_test_shows_the_reply(tab: Page, chatbot: str) -> None:
    tab.goto(chatbot)
    tab.get_by_role("button", name="Test this chatbot").click()
    expect(tab.locator("#last-test .badge")).to_have_text("answers")
    expect(tab.locator("#last-test dd")).to_have_count(2)
    expect(tab.locator("#last-test dd").first).to_have_text("Hello! How are you today?")


def test_the_button_says_that_it_waits_and_sends_once(tab: Page, chatbot: str) -> None:
    tab.goto(chatbot)
    posts: list[str] = []
    tab.on("request", lambda request: request.method == "POST" and posts.append(request.url))
    words = tab.evaluate(
        """() => {
            const form = document.querySelector("form[data-busy]");
            const button = form.querySelector("button");
            button.click();
            button.click();
            return [button.textContent, form.getAttribute("aria-busy")];
        }"""
    )
    assert words == ["Waiting for its reply…", "true"]
    expect(tab.get_by_role("button", name="Test this chatbot")).to_be_visible()
    assert len(posts) == 1


def test_a_file_of_dialogues_is_sent(tab: Page, chatbot: str) -> None:
    tab.goto(chatbot)
    _send(tab, GOOD)
    expect(tab.locator("#dialogues")).to_contain_text("It speaks from mine")


# Without `tab`: the console tells of each answer that is a refusal.
def test_a_file_that_cannot_be_read_is_refused_line_by_line(signed_in: Page, chatbot: str) -> None:
    signed_in.goto(chatbot)
    _send(signed_in, '["Hello", "Hi"]', name="greetings")
    expect(signed_in.locator("#dialogues")).to_contain_text("It speaks from greetings")
    _send(signed_in, "[1]\nnothing")
    expect(signed_in.locator("#dialogues .field-errors").last).to_contain_text("line 2")
    signed_in.reload()
    expect(signed_in.locator("#dialogues")).to_contain_text("It speaks from greetings")


def _send(page: Page, text: str, name: str = "mine") -> None:
    page.locator("#dialogues input[type=file]").set_input_files(
        {"name": f"{name}.jsonl", "mimeType": "application/json", "buffer": text.encode()}
    )
    page.get_by_role("button", name="Upload").click()


def test_a_copy_is_removed_after_a_question(tab: Page, chatbot: str) -> None:
    tab.goto(chatbot)
    tab.get_by_role("button", name="Duplicate").click()
    expect(tab.get_by_role("heading", name="(2)")).to_be_visible()
    tab.wait_for_load_state()  # with the script that asks
    tab.get_by_role("button", name="Remove").click()
    tab.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(tab.get_by_text("is removed")).to_be_visible()
    expect(tab.get_by_role("row")).to_have_count(3)  # the heading, Amber and the degraded chatbot


@pytest.mark.parametrize("width", [360, 1440])
def test_nothing_hangs_over_the_side(tab: Page, chatbot: str, width: int) -> None:
    tab.set_viewport_size({"width": width, "height": 900})
    for page in (
        chatbot,
        chatbot.rpartition("chatbots/")[0] + "chatbots/",
        chatbot.rpartition("chatbots/")[0] + "chat/",
    ):
        tab.goto(page)
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth"), page
