"""Addresses of the pages on which a researcher watches chats."""

import re

from django.urls import reverse
from django.utils.html import strip_tags

from annotation.models import Conversation
from campaigns.models import Campaign

PAGES = ["chats", "transcripts", "chat_flags"]


def page_of(campaign: Campaign, name: str, query: str = "") -> str:
    return reverse(f"monitoring:{name}", args=[campaign.public_id]) + query


def chat_page(chat: Conversation) -> str:
    return reverse("monitoring:chat", args=[chat.assignment.campaign.public_id, chat.pk])


def stats_in(text: str) -> dict[str, str]:
    """Return the numbers at the top of a page, with their notes, by their labels."""
    found = re.findall(r'<dt class="stat-label">(.*?)</dt><dd class="stat-value">(.*?)</dd>', text)
    return {label: strip_tags(value) for label, value in found}
