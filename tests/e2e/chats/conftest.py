"""A live campaign whose chatbots do as a test tells them, its first chat in a tab, and in a frame of another site."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import FrameLocator, Page
from pytest_django.fixtures import Settings as SettingsWrapper

from annotation.access.tokens import token_of
from annotation.chat.services import open_conversations
from campaigns.models import Campaign
from evalsite.accounts.models import User
from tests.annotation.chat import bots
from tests.e2e.chats.chatting import (
    SCRIPTED,
    Complaints,
    foreign_page,
    live_campaign,
    open_hit,
    script_is_there,
    take_hit,
)


@pytest.fixture(autouse=True)
def script(settings: SettingsWrapper) -> Iterator[None]:
    settings.CHATBOT_CLASSES = [SCRIPTED]
    bots.SCRIPT.clear()
    yield
    bots.SCRIPT.clear()


@pytest.fixture
def campaign(owner: User) -> Campaign:
    """A running campaign whose chats may end after two messages; its chatbots answer as the test says."""
    return live_campaign(owner, min_inputs=2)


@pytest.fixture
def complaints() -> Iterator[Complaints]:
    """What the browser's console complains of fails the test."""
    found = Complaints()
    yield found
    assert found == []


@pytest.fixture
def chat(page: Page, live_server: Any, campaign: Campaign, complaints: Complaints) -> Page:
    """The first chat of a HIT, on the sea. It has begun in no page: other tests choose a topic there."""
    assignment = take_hit(campaign)
    open_conversations(assignment_id=assignment.pk, position=1, topic="the sea", opinion="ambivalent")
    opened = open_hit(page, live_server.url, campaign, complaints)
    script_is_there(opened)
    return opened


@pytest.fixture
def frame(page: Page, framed_address: str, campaign: Campaign, complaints: Complaints) -> Iterator[FrameLocator]:
    """The first page of Ann's HIT, in a sandboxed frame of another site's page."""
    assignment = take_hit(campaign)
    complaints.watch(page)
    with foreign_page(f"{framed_address}/rate/{token_of(assignment)}/") as url:
        page.goto(url)
        yield page.frame_locator("iframe")
