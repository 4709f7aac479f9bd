"""The bar above a preview, and where its links lead."""

from typing import Any

from django.urls import reverse

from annotation.previews import SAMPLE_HIT, PreviewItem
from campaigns.models import Campaign


def item_url(campaign: Campaign, hit: int, position: int) -> str:
    """Return the address of an item of the preview."""
    return reverse("monitoring:preview_item", args=[campaign.public_id, hit, position])


def frame(campaign: Campaign, current: str, hit: int | None, shown: PreviewItem | None = None) -> dict[str, Any]:
    """Return what rate/preview_bar.html shows; `hit` is None if there is nothing to rate yet."""
    links = [
        {"title": "Instructions", "url": reverse("monitoring:preview", args=[campaign.public_id]), "key": "welcome"}
    ]
    if hit is not None:
        links.append({"title": "Items", "url": item_url(campaign, hit, 1), "key": "item"})
    links.append({"title": "End", "url": reverse("monitoring:preview_end", args=[campaign.public_id]), "key": "end"})
    position = shown.item.position if shown else 0
    return {
        "links": [link | {"current": link["key"] == current} for link in links],
        "note": _note(hit, shown),
        "previous_url": item_url(campaign, shown.hit, position - 1) if shown and position > 1 else "",
        "next_url": item_url(campaign, shown.hit, position + 1) if shown and position < shown.n_items else "",
        "next_hit_url": item_url(campaign, shown.hit + 1, 1) if shown and shown.hit < shown.n_hits else "",
        "back_url": reverse("campaigns:campaign", args=[campaign.public_id]),
    }


def _note(hit: int | None, shown: PreviewItem | None) -> str:
    if hit is None:
        return "Upload sources and outputs to see items."
    if hit == SAMPLE_HIT:
        return "HITs are not built yet: these are the first outputs."
    return f"HIT {shown.hit} of {shown.n_hits}." if shown else ""
