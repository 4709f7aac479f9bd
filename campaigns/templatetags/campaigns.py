"""`{% load campaigns %}`: protocols, files and chatbots in words, for the set-up pages."""

from datetime import datetime
from typing import Any

from django import template
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from campaigns.blocks import file_of
from campaigns.connectors import find_connector
from campaigns.contracts.connector import Connector
from campaigns.contracts.protocol import Protocol
from campaigns.data_queries import FieldText
from campaigns.design.composition import Kind, Layout, Mix
from campaigns.formats.text import PlainText
from campaigns.importing.layout import FileLayout
from campaigns.models import Campaign, Chatbot, Delivery, Upload
from campaigns.navigation import url_of
from campaigns.protocols import get_protocol
from evalsite.lib.words import counted

register = template.Library()

# Of an uploaded file: its state as the style sheets know it, and in words.
_STATES = {
    "new": ("unused", "not imported"),
    "importing": ("untested", "being imported"),
    "problems": ("failed", "has problems"),
    "failed": ("failed", "import failed"),
    "imported": ("passed", "imported"),
}


_DELIVERY_BADGES = {Delivery.State.DELIVERED: "badge-ready", Delivery.State.FAILED: "badge-failed"}


@register.filter
def delivery_badge(delivery: Delivery) -> str:
    """Return the class of the badge that shows the state of a delivery."""
    return _DELIVERY_BADGES.get(Delivery.State(delivery.state), "badge-untested")


@register.filter
def page_url(name: str, campaign: Campaign) -> str | None:
    """Return the address of a campaign's page; None if this site has no such page."""
    return url_of(campaign, name)


@register.filter
def protocol_title(campaign: Campaign) -> str:
    """Return the title of a campaign's protocol."""
    return get_protocol(campaign.protocol).title


@register.filter
def shown_words(protocol: type[Protocol]) -> str:
    """Return what a worker is shown, in words: the fields, then the output; or a live chat."""
    screen, chat = protocol.screen, protocol.chat
    if chat:
        about = "a topic of the worker's choice" if chat.opening == "free" else "a statement of a persona"
        return f"live chat with a chatbot about {about}, at least {chat.min_inputs} messages"
    return ", ".join([*(field.label for field in screen.fields if field.is_shown), screen.output_label])


@register.filter
def mix_words(mix: Mix) -> str:
    """Return what a HIT consists of, in words."""
    if mix.layout == Layout.BY_SYSTEM:
        degraded = " and the degraded one" if mix.n_degraded else ""
        return f"{mix.size} chats: {mix.n_ordinary} different chatbots{degraded}"
    names = {Kind.DEGRADED: "degraded", Kind.REPEAT: "repeat", Kind.REFERENCE: "reference item"}
    plural = {kind: name if kind == Kind.DEGRADED else f"{name}s" for kind, name in names.items()}
    copies = ", ".join(f"{n} {(names if n == 1 else plural)[kind]}" for kind, n in mix.copies if n)
    return f"{mix.size} items: {mix.n_ordinary} ordinary" + (f", {copies}" if copies else "")


@register.filter
def upload_badge(upload: Upload) -> SafeString:
    """Return how far an uploaded file is."""
    return format_html('<span class="badge badge-{}">{}</span>', *_STATES[upload.state])


@register.filter
def shape_words(layout: FileLayout) -> str:
    """Return in words what a file looks like as its columns are taken."""
    if layout.has_hits:
        return "batches of Appraise, HITs included"
    if layout.shape == "wide":
        return f"one source a row, with outputs of {counted(len(layout.systems), 'system')}"
    return "one output a row"


@register.filter
def highlighted(shown: FieldText) -> SafeString:
    """Return a text with what is highlighted for workers."""
    parts: list[tuple[str, str]] = []
    end = 0
    for begin, stop in shown.highlights:
        parts.append((shown.text[end:begin], shown.text[begin:stop]))
        end = stop
    return format_html("{}{}", format_html_join("", "{}<mark>{}</mark>", parts), shown.text[end:])


@register.simple_tag
def stored(campaign: Campaign, format: str, value: str) -> SafeString | str:
    """Return the picture that a value names, with what describes it; "" for texts."""
    if (file := file_of(format or PlainText.slug, value)) is None:
        return ""
    return format_html(
        '<img class="stored-picture" src="{}" width="{}" height="{}" alt="{}" loading="lazy">',
        reverse("campaigns:stored_file", args=[campaign.public_id, file.digest]),
        file.width,
        file.height,
        file.alt or "Picture without a description",
    )


@register.filter
def connector(chatbot: Chatbot) -> type[Connector] | None:
    """Return the connector of a chatbot; None if this site does not have it any more."""
    return find_connector(chatbot.connector)


@register.filter
def test_badge(tested: dict[str, Any]) -> SafeString:
    """Return what came of the last test of a chatbot."""
    badge, words = "passed", "answers"
    if not tested:
        badge, words = "untested", "not tested"
    elif not tested["ok"]:
        badge, words = "failed", "failed"
    elif tested.get("is_outdated"):
        badge, words = "untested", "changed since"
    return format_html('<span class="badge badge-{}">{}</span>', badge, words)


@register.filter
def moment(text: str) -> datetime:
    """Return a time that was stored as text."""
    return datetime.fromisoformat(text)
