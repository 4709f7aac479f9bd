"""How far a campaign is."""

from uuid import UUID

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from annotation.presenters.monitoring import frame
from annotation.presenters.progress import CHATS, ITEMS, progress_shown
from annotation.progress import (
    count_by_hit,
    count_by_system,
    get_totals,
    list_hits,
    minutes_per_chat,
    minutes_per_hit,
    seconds_per_item,
)
from campaigns.queries import get_campaign_for
from evalsite.accounts.requests import SignedInRequest

_HITS_PER_PAGE = 50


@require_GET
def progress(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Show progress by HIT and by system, and how long work takes."""
    campaign = get_campaign_for(request.user, public_id)
    totals = get_totals(campaign, timezone.now())
    page = Paginator(list_hits(campaign), _HITS_PER_PAGE).get_page(request.GET.get("page"))
    durations, words = (minutes_per_chat, CHATS) if campaign.is_live else (seconds_per_item, ITEMS)
    systems = count_by_system(campaign)
    context = frame(campaign, "progress") | {
        **progress_shown(totals, minutes_per_hit(campaign), durations(campaign), systems, words),
        "page_obj": page,
        "hits": count_by_hit(list(page)),
    }
    return render(request, "monitoring/progress.html", context)
