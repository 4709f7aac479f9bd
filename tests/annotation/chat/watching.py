"""Addresses of the pages on which a researcher watches chats."""

from django.urls import reverse

from annotation.models import Conversation
from campaigns.models import Campaign

PAGES = ["chats", "transcripts", "chat_flags"]


def page_of(campaign: Campaign, name: str, query: str = "") -> str:
    return reverse(f"monitoring:{name}", args=[campaign.public_id]) + query


def chat_page(chat: Conversation) -> str:
    return reverse("monitoring:chat", args=[chat.assignment.campaign.public_id, chat.pk])
