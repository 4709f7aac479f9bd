"""A draft of the owner's, in which the colleague is a viewer; one that can be launched, or is; a server of chatbots."""

from collections.abc import Iterator

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from campaigns.models import Campaign, Hit, Membership
from evalsite.accounts.models import User
from simulators.chat_completions import ChatServer
from tests.campaigns.cast import add_member, add_outputs, make_campaign

Status = Campaign.Status


@pytest.fixture
def campaign(owner: User, colleague: User) -> Campaign:
    campaign = make_campaign(owner, "qg", "Autumn questions")
    add_member(campaign, colleague, Membership.Role.VIEWER)
    return campaign


@pytest.fixture
def viewer_client(colleague_client: Client) -> Client:
    """The colleague is a viewer in `campaign`, and in all that is made of it here."""
    return colleague_client


@pytest.fixture
def ready(campaign: Campaign) -> Campaign:
    """Its HITs have no items: these pages do not look into them."""
    add_outputs(campaign, 3)
    Hit.objects.bulk_create(Hit(campaign=campaign, number=number) for number in range(1, 4))
    campaign.status = Status.READY
    campaign.save()
    return campaign


@pytest.fixture
def running(ready: Campaign) -> Campaign:
    ready.status, ready.launched_at = Status.RUNNING, timezone.now()
    ready.save()
    return ready


@pytest.fixture
def server(settings: Settings) -> Iterator[ChatServer]:
    """A server of this machine at which chatbots may be asked."""
    settings.CHATBOT_HOSTS = ["127.0.0.1"]
    with ChatServer(tokens=(1000, 200)) as server:
        yield server
