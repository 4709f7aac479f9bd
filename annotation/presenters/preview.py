"""The bar above a preview, and where its links lead."""

from typing import Any

from django.urls import reverse

from annotation.previews import SAMPLE_HIT, PreviewItem
from campaigns.checklist import topic_words
from campaigns.models import Campaign

# The pages of an item, in the order in which a worker sees them: of a live campaign, and of others.
_LIVE_PAGES = (("topic", "Topic"), ("chat", "Chat"), ("item", "Rating"))
_PAGES = (("item", "Items"),)


def item_url(campaign: Campaign, hit: int, position: int) -> str:
    """Return the address of an item of the preview: the page on which it is rated."""
    return _page_url("item", campaign, hit, position)


def begin_url(campaign: Campaign, hit: int, position: int) -> str:
    """Return the address of the page of the preview with which an item begins."""
    return _page_url(_pages_of(campaign)[0][0], campaign, hit, position)


def chat_url(campaign: Campaign, hit: int, position: int) -> str:
    """Return the address of a chat of the preview."""
    return _page_url("chat", campaign, hit, position)


def following_url(campaign: Campaign, shown: PreviewItem) -> str:
    """Return the address of what comes after an item: the next one of its HIT, or the end."""
    position = shown.item.position
    if position < shown.n_items:
        return begin_url(campaign, shown.hit, position + 1)
    return reverse("monitoring:preview_end", args=[campaign.public_id])


def frame(campaign: Campaign, current: str, hit: int | None, shown: PreviewItem | None = None) -> dict[str, Any]:
    """Return what rate/preview_bar.html shows; `hit` is None if there is nothing to rate yet."""
    position = shown.item.position if shown else 0
    links = [
        {"title": "Instructions", "url": reverse("monitoring:preview", args=[campaign.public_id]), "key": "welcome"}
    ]
    if hit is not None:
        links += [
            {"title": title, "url": _page_url(key, campaign, hit, position or 1), "key": key}
            for key, title in _pages_of(campaign)
        ]
    links.append({"title": "End", "url": reverse("monitoring:preview_end", args=[campaign.public_id]), "key": "end"})
    bar = {
        "links": [link | {"current": link["key"] == current} for link in links],
        "note": _note(campaign, hit, shown),
        "back_url": reverse("campaigns:campaign", args=[campaign.public_id]),
    }
    if shown is None or campaign.is_live:  # one example stands for all chats
        return bar
    return bar | {
        "previous_url": item_url(campaign, shown.hit, position - 1) if position > 1 else "",
        "next_url": item_url(campaign, shown.hit, position + 1) if position < shown.n_items else "",
        "next_hit_url": item_url(campaign, shown.hit + 1, 1) if shown.hit < shown.n_hits else "",
    }


def _pages_of(campaign: Campaign) -> tuple[tuple[str, str], ...]:
    return _LIVE_PAGES if campaign.is_live else _PAGES


def _page_url(key: str, campaign: Campaign, hit: int, position: int) -> str:
    return reverse(f"monitoring:preview_{key}", args=[campaign.public_id, hit, position])


def _note(campaign: Campaign, hit: int | None, shown: PreviewItem | None) -> str:
    if campaign.is_live:
        shown_chat = "Add chatbots to see a chat." if hit is None else "The chat is an example."
        return f"{shown_chat} {topic_words(campaign.chat_rules)}"
    if hit is None:
        return "Upload sources and outputs to see items."
    if hit == SAMPLE_HIT:
        return "HITs are not built yet: these are the first outputs."
    return f"HIT {shown.hit} of {shown.n_hits}." if shown else ""
