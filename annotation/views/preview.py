"""What workers will see, shown to the members of a campaign. Nothing is saved."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from annotation.chat.queries import ChatPage
from annotation.monitoring.lists import get_access
from annotation.pages.contents import make_item_page
from annotation.pages.previews import (
    EXAMPLE_TOPIC,
    PreviewBar,
    example_chat,
    example_statement,
    first_hit,
    get_preview_page,
    stem_of,
)
from annotation.pages.shown_files import find_file, send_file
from annotation.pages.text_images import draw, find_image
from annotation.queries import criteria_of
from annotation.views.framed import HEAD_SCRIPT, describe_hit, describe_study, describe_task
from annotation.views.monitoring import has_chats
from annotation.views.pages import LONGEST_FEEDBACK, chat_context
from annotation.views.parts import parts_of
from campaigns.contracts.platform import Handover
from campaigns.models import Campaign
from campaigns.views.access import campaign_view
from evalsite.accounts.requests import SignedInRequest


@campaign_view("GET", "HEAD")
def preview(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Show the instructions as a worker meets them."""
    hit = first_hit(campaign)
    context = describe_hit(campaign, campaign.hit_size) | {
        "can_start": hit is not None,
        "is_newcomer": get_access(campaign).is_open,
        "form": {"method": "get", "action": _begin_url(campaign, hit, 1) if hit is not None else ""},
        "preview": PreviewBar(campaign, hit),
    }
    return _show(request, campaign, "rate/welcome.html", context)


@campaign_view("GET", "HEAD")
def preview_item(request: SignedInRequest, campaign: Campaign, hit: int, position: int) -> HttpResponse:
    """Show one item as a worker meets it, with `?text` as one who has chosen accessible mode."""
    found = get_preview_page(campaign, hit, position)
    is_text = campaign.is_accessible or (campaign.can_choose_text and "text" in request.GET)
    page = make_item_page(
        campaign,
        found.page,
        None,
        criteria_of(campaign),
        stem_of=stem_of,
        is_text=is_text,
        chat=example_chat(campaign) if campaign.is_live else (),
    )
    if position < found.n_pages:
        next_url = _begin_url(campaign, hit, position + 1)
    else:
        next_url = reverse("monitoring:preview_end", args=[campaign.public_id])
    context = {
        "is_live": campaign.is_live,
        "instructions": campaign.instructions,
        "item": page.frame,
        "method": "get",
        "action": next_url,
        "offers_text": campaign.can_choose_text and not is_text,
        "preview": PreviewBar(campaign, hit, found),
    }
    return _show(request, campaign, "rate/item.html", context | parts_of(page))


def _begin_url(campaign: Campaign, hit: int, position: int) -> str:
    """Return the address of the page with which an item begins."""
    name = "preview_topic" if campaign.is_live else "preview_item"
    return reverse(f"monitoring:{name}", args=[campaign.public_id, hit, position])


@campaign_view("GET", "HEAD", check=has_chats)
def preview_topic(request: SignedInRequest, campaign: Campaign, hit: int, position: int) -> HttpResponse:
    """Show the page on which a chat begins."""
    found = get_preview_page(campaign, hit, position)
    chat_url = reverse("monitoring:preview_chat", args=[campaign.public_id, hit, position])
    context = chat_context(campaign, position, position, found.n_pages) | {
        "statement": example_statement(campaign),
        "form": {"method": "get", "action": chat_url},
        "preview": PreviewBar(campaign, hit, found),
    }
    return _show(request, campaign, "rate/topic.html", context)


@campaign_view("GET", "HEAD", check=has_chats)
def preview_chat(request: SignedInRequest, campaign: Campaign, hit: int, position: int) -> HttpResponse:
    """Show a chat, an example, as it is when some messages were sent."""
    found = get_preview_page(campaign, hit, position)
    rating_url = reverse("monitoring:preview_item", args=[campaign.public_id, hit, position])
    topic, n_chatbots = example_statement(campaign) or EXAMPLE_TOPIC, len(found.page.items)
    context = chat_context(campaign, position, position, found.n_pages) | {
        "chat": ChatPage(campaign.chat_rules, topic, example_chat(campaign), n_chatbots=n_chatbots),
        "method": "dialog",  # which sends nothing
        "urls": {"end": rating_url},
        "preview": PreviewBar(campaign, hit, found),
    }
    return _show(request, campaign, "rate/chat.html", context)


@campaign_view("GET", "HEAD")
def preview_image(request: SignedInRequest, campaign: Campaign, hit: int, position: int, name: str) -> HttpResponse:
    """Send an image of an item."""
    items = get_preview_page(campaign, hit, position).page.items
    if found := find_image(items, campaign, stem_of, name):
        content, content_type = draw(*found)
    elif file := find_file(items, campaign, stem_of, name):
        content, content_type = send_file(campaign, *file, secret="preview")
    else:
        raise Http404("There is no such image.")
    response = HttpResponse(content, content_type=content_type)
    response["Cache-Control"] = "private, no-cache"
    return response


@campaign_view("GET", "HEAD")
def preview_end(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Show the page for feedback, or the one with the completion code once it was sent."""
    is_sent = "feedback" in request.GET
    context = {
        "is_live": campaign.is_live,
        "n_items": campaign.hit_size,
        "form": {"method": "get", "action": ""},
        "longest_feedback": LONGEST_FEEDBACK,
        "handover": Handover(code="EXAMPLE"),
        "preview": PreviewBar(campaign, first_hit(campaign)),
    }
    return _show(request, campaign, "rate/finished.html" if is_sent else "rate/feedback.html", context)


def _show(request: HttpRequest, campaign: Campaign, template: str, context: dict[str, Any]) -> HttpResponse:
    response = render(
        request,
        template,
        {"head_script": HEAD_SCRIPT.code, "study": describe_study(campaign)} | describe_task(campaign) | context,
    )
    response._csp_update = {"script-src": [HEAD_SCRIPT.source]}  # type: ignore[attr-defined]
    response["Cache-Control"] = "no-store"
    return response
