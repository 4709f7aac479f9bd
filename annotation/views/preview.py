"""What workers will see, shown to the members of a campaign. Nothing is saved."""

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.chat import page as chats
from annotation.monitoring import get_access
from annotation.presenters import preview as bar
from annotation.presenters import worker as presenters
from annotation.previews import EXAMPLE_CHAT, PreviewItem, example_opening, first_hit, get_preview_item
from annotation.queries import criteria_of
from annotation.text_images import draw, find_image, stems
from campaigns.models import Campaign
from campaigns.queries import get_campaign_for
from evalsite.accounts.requests import SignedInRequest

_EXAMPLE_CODE = "EXAMPLE"
_stem_of = stems("preview")


@require_safe
def preview(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Show the instructions as a worker meets them."""
    campaign = get_campaign_for(request.user, public_id)
    hit = first_hit(campaign)
    context = presenters.terms(campaign, campaign.hit_size) | {
        "can_start": hit is not None,
        "is_newcomer": get_access(campaign).is_open,
        "form": {"method": "get", "action": bar.begin_url(campaign, hit, 1) if hit is not None else ""},
        "preview": bar.frame(campaign, "welcome", hit),
    }
    return _show(request, campaign, "rate/welcome.html", context)


@require_safe
def preview_item(request: SignedInRequest, public_id: UUID, hit: int, position: int) -> HttpResponse:
    """Show one item as a worker meets it."""
    campaign = get_campaign_for(request.user, public_id)
    found = get_preview_item(campaign, hit, position)
    context = presenters.item(
        campaign,
        found.item,
        None,
        criteria_of(campaign),
        n_items=found.n_items,
        stem_of=_stem_of,
        is_text=campaign.is_accessible,
    )
    form = {"method": "get", "action": bar.following_url(campaign, found), "hidden": {}}
    context |= {"form": form, "preview": bar.frame(campaign, "item", hit, found)}
    if campaign.is_live:
        context |= chats.transcript(EXAMPLE_CHAT)
    return _show(request, campaign, "rate/item.html", context)


@require_safe
def preview_topic(request: SignedInRequest, public_id: UUID, hit: int, position: int) -> HttpResponse:
    """Show the page on which a chat begins."""
    campaign, found = _get_chat(request, public_id, hit, position)
    context = chats.page_of(campaign, position=position, n_items=found.n_items) | {
        "statement": example_opening(campaign).statement,
        "form": {"method": "get", "action": bar.chat_url(campaign, hit, position)},
        "preview": bar.frame(campaign, "topic", hit, found),
    }
    return _show(request, campaign, "rate/topic.html", context)


@require_safe
def preview_chat(request: SignedInRequest, public_id: UUID, hit: int, position: int) -> HttpResponse:
    """Show a chat, an example, as it is when some messages were sent."""
    campaign, found = _get_chat(request, public_id, hit, position)
    context = (
        chats.page_of(campaign, position=position, n_items=found.n_items)
        | chats.stand_of(campaign.chat_rules, EXAMPLE_CHAT, example_opening(campaign).topic)
        | {
            "method": "dialog",  # which sends nothing
            "urls": {"end": bar.item_url(campaign, hit, position)},
            "preview": bar.frame(campaign, "chat", hit, found),
        }
    )
    return _show(request, campaign, "rate/chat.html", context)


def _get_chat(request: SignedInRequest, public_id: UUID, hit: int, position: int) -> tuple[Campaign, PreviewItem]:
    """Return a live campaign and one of its items; raise Http404."""
    campaign = get_campaign_for(request.user, public_id)
    if not campaign.is_live:
        raise Http404("There are no chats.")
    return campaign, get_preview_item(campaign, hit, position)


@require_safe
def preview_image(request: SignedInRequest, public_id: UUID, hit: int, position: int, name: str) -> HttpResponse:
    """Send an image of an item."""
    campaign = get_campaign_for(request.user, public_id)
    found = find_image([get_preview_item(campaign, hit, position).item], campaign, _stem_of, name)
    if found is None:
        raise Http404("There is no such image.")
    response = HttpResponse(draw(*found), content_type="image/png")
    response["Cache-Control"] = "private, no-cache"
    return response


@require_safe
def preview_end(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Show the page for feedback, or the one with the completion code once it was sent."""
    campaign = get_campaign_for(request.user, public_id)
    is_sent = "feedback" in request.GET
    context = {
        "is_live": campaign.is_live,
        "n_items": campaign.hit_size,
        "form": {"method": "get", "action": ""},
        "longest_feedback": presenters.LONGEST_FEEDBACK,
        "code": _EXAMPLE_CODE,
        "preview": bar.frame(campaign, "end", first_hit(campaign)),
    }
    return _show(request, campaign, "rate/finished.html" if is_sent else "rate/feedback.html", context)


def _show(request: HttpRequest, campaign: Campaign, template: str, context: dict[str, Any]) -> HttpResponse:
    response = render(request, template, {"study": presenters.study_of(campaign)} | context)
    response["Cache-Control"] = "no-store"
    return response
