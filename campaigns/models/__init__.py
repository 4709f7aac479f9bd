"""What a researcher configures: a campaign, its members, criteria, systems, sources, outputs, HITs and webhooks."""

from campaigns.models.campaign import (
    LONGEST_NAME,
    LONGEST_REASON,
    VERSION_LENGTH,
    Campaign,
    Criterion,
    MemberInvitation,
    Membership,
)
from campaigns.models.deletions import Deletion
from campaigns.models.hits import Hit, HitItem
from campaigns.models.systems import CHAT, Chatbot, Output, Source, StoredFile, System, Upload
from campaigns.models.webhooks import LONGEST_ADDRESS, Delivery, Webhook

__all__ = [
    "CHAT",
    "LONGEST_ADDRESS",
    "LONGEST_NAME",
    "LONGEST_REASON",
    "VERSION_LENGTH",
    "Campaign",
    "Chatbot",
    "Criterion",
    "Deletion",
    "Delivery",
    "Hit",
    "HitItem",
    "MemberInvitation",
    "Membership",
    "Output",
    "Source",
    "StoredFile",
    "System",
    "Upload",
    "Webhook",
]
