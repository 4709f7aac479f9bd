"""Chatbots as rows: what a new campaign and `add_chatbot` store alike."""

from collections.abc import Mapping
from typing import Any

from campaigns.connectors import get_connector
from campaigns.models import CHAT, Campaign, Chatbot, Output, Source, System

DEGRADED = "degraded"
"""Name and connector of the degraded chatbot that a campaign begins with."""


def store_chatbot(
    *,
    campaign: Campaign,
    name: str,
    connector: str,
    family: str = "",
    is_degraded: bool = False,
    settings: Mapping[str, Any] | None = None,
    **fields: object,
) -> Chatbot:
    """Store a chatbot with what stands for it in HITs, inside the transaction of the change.

    Options that are left out have their defaults. Raises DomainError `unknown_connector` or `bad_option`.
    """
    found = get_connector(connector)
    checked = found.options.check(found.options.defaults() | dict(settings or {}))
    system = System.objects.create(campaign=campaign, name=name, family=family, is_degraded=is_degraded)
    source, _ = Source.objects.get_or_create(campaign=campaign, name=CHAT)
    Output.objects.create(source=source, system=system, text="")
    return Chatbot.objects.create(system=system, connector=connector, settings=checked, **fields)
