"""What an ethics board asks for, shown of a campaign as it is set up."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from campaigns.models import Campaign
from evalsite.accounts.models import User
from tests.annotation.chat.chat_campaigns import open_live_campaign
from tests.annotation.open_campaigns import open_campaign

pytestmark = pytest.mark.django_db


def shown(client: Client, campaign: Campaign) -> str:
    return " ".join(client.get(reverse("monitoring:protection", args=[campaign.public_id])).text.split())


def test_it_says_what_is_missing(owner_client: Client, owner: User) -> None:
    text = shown(owner_client, open_campaign(owner))
    assert "There is no consent text" in text and "No contact is named" in text
    assert "No payment is set" in text and "Until an owner erases it" in text


def test_it_follows_the_campaign(owner_client: Client, owner: User) -> None:
    campaign = open_campaign(
        owner, consent="You may **stop**.", contact="lab@example.org", reward=2, minutes_per_hit=10, retention_days=90
    )
    text = shown(owner_client, campaign)
    assert "<strong>stop</strong>" in text and campaign.consent_version in text
    assert "lab@example.org" in text and "12.00 USD an hour" in text
    assert "erased 90 days after the campaign closes" in text
    assert "in their own words" not in text
    campaign.criteria.update(response="text")
    Campaign.objects.update(closed_at=timezone.now() - timedelta(days=10))
    text = shown(owner_client, campaign)
    assert f"erased on {timezone.now() + timedelta(days=80):%Y-%m-%d}" in text
    assert "in their own words" in text


def test_it_names_the_hosts_that_are_sent_what_workers_write(owner_client: Client, owner: User) -> None:
    campaign = open_live_campaign(owner)
    assert "Chatbots run within this site" in shown(owner_client, campaign)
    chatbot = campaign.systems.exclude(chatbot=None)[0].chatbot
    chatbot.connector, chatbot.settings = "openai-chat", {"base_url": "https://api.example.org/v1", "model": "m"}
    chatbot.save()
    assert "<code>api.example.org</code>" in shown(owner_client, campaign)


def test_a_platform_that_knows_who_workers_are_is_named(owner_client: Client, owner: User) -> None:
    text = shown(owner_client, open_campaign(owner, platform="prolific"))
    assert "The id that Prolific gives a worker" in text and "what Prolific keeps" in text
