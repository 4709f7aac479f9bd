"""Live campaigns for tests: their chatbots, one of them behind a server of this machine, and HITs of six chats."""

from contextlib import nullcontext
from typing import Any

from django.urls import reverse
from django.utils import timezone

from campaigns.models import Campaign, Chatbot
from campaigns.services.chatbots import add_chatbot
from campaigns.services.hits import execute_build
from evalsite.accounts.models import User
from simulators.chat_completions import ChatServer
from tests.campaigns.cast import make_campaign

NAMES = ("Amber", "Birch", "Coral", "Dune", "Ember")
PERSONA = ["I live by the sea.", "I have two dogs."]
KEY = "sk-very-secret-0123456789"


def make_live(owner: User, protocol: str = "dialogue-free", *, names: tuple[str, ...] = NAMES) -> Campaign:
    """Return a draft with the degraded chatbot and others that speak from the example dialogues."""
    campaign = make_campaign(owner, protocol, "Autumn chats")
    for name in names:
        add_chatbot(campaign=campaign, name=name, connector="retrieval")
    campaign.refresh_from_db()
    return campaign


def build(campaign: Campaign, n_hits: int = 4) -> None:
    """Build HITs; the campaign is ready then."""
    Campaign.objects.filter(pk=campaign.pk).update(n_hits=n_hits)
    execute_build(campaign=campaign, on_progress=lambda *_: None, saving=nullcontext)
    campaign.refresh_from_db()


def launch(campaign: Campaign) -> Campaign:
    """Make a campaign one that workers have seen."""
    campaign.status, campaign.launched_at = Campaign.Status.RUNNING, timezone.now()
    campaign.save()
    return campaign


def chatbot_of(campaign: Campaign, name: str = "Amber") -> Chatbot:
    """Return the chatbot of this name, as it is now."""
    return Chatbot.objects.select_related("system").get(system__campaign=campaign, system__name=name)


def url_of(campaign: Campaign, name: str = "chatbots", *args: Any) -> str:
    """Return the address of a page of the campaign."""
    return reverse(f"campaigns:{name}", args=[campaign.public_id, *args])


def add_remote(campaign: Campaign, server: ChatServer, name: str = "Remote", key: str = KEY, **fields: Any) -> Chatbot:
    """Add a chatbot that this server answers for."""
    return add_chatbot(
        campaign=campaign,
        name=name,
        connector="openai-chat",
        settings={"base_url": server.base_url, "model": "small"},
        secrets={"api_key": key},
        **fields,
    )
