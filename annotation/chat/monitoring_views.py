"""Watching the chats of a live campaign, and reading what was said."""

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from annotation.chat.flags import FEWEST_INPUTS, FLAGS
from annotation.chat.forms import ChatFilter
from annotation.chat.monitoring import CHATS_TIMED, get_chats_now
from annotation.chat.transcripts import (
    CHATS_FLAGGED,
    count_worker_flags,
    describe_chats,
    get_transcript,
    list_chats,
)
from annotation.views.monitoring import has_chats
from campaigns.models import Campaign
from campaigns.navigation import campaign_context
from campaigns.queries import list_chatbots
from campaigns.views.access import campaign_view, render_form
from evalsite.accounts.requests import SignedInRequest

_CHATS_PER_PAGE, _RUNNING_SHOWN = 30, 20


@campaign_view("GET", check=has_chats)
def chats(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Show the chats that go on, and how each chatbot does."""
    found = get_chats_now(campaign, timezone.now(), n_running=_RUNNING_SHOWN)
    context = campaign_context(campaign, "chats") | {"chats": found, "n_timed": CHATS_TIMED}
    return render(request, "monitoring/chats.html", context)


@campaign_view("GET", check=has_chats)
def transcripts(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """List the chats that match, newest first."""
    form = ChatFilter(request.GET, list_chatbots(campaign))
    is_valid = form.is_valid()
    filters = form.filters() if is_valid else {}
    found = list_chats(campaign, now=timezone.now(), **filters) if is_valid else list_chats(campaign).none()
    page = Paginator(found, _CHATS_PER_PAGE).get_page(request.GET.get("page"))
    context = campaign_context(campaign, "transcripts") | {
        "form": form,
        "is_filtered": bool(form.errors or form.filters()),
        "page_obj": page,
        "n_newest": CHATS_FLAGGED,
        "rows": describe_chats(campaign, page, search=form.cleaned_data["search"] if is_valid else ""),
    }
    return render_form(request, "monitoring/transcripts.html", context, is_refused=not is_valid)


@campaign_view("GET", check=has_chats)
def chat(request: SignedInRequest, campaign: Campaign, chat_id: int) -> HttpResponse:
    """Show one chat, turn by turn."""
    found = get_transcript(campaign, chat_id, timezone.now())
    context = campaign_context(campaign, "transcripts") | {"transcript": found, "chat": found.chat}
    return render(request, "monitoring/transcript.html", context)


@campaign_view("GET", check=has_chats)
def chat_flags(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Show what raises flags, and whose chats have any."""
    context = campaign_context(campaign, "chat_flags") | {
        "flags": list(FLAGS.values()),
        "workers": count_worker_flags(campaign),
        "n_newest": CHATS_FLAGGED,
        "fewest_inputs": FEWEST_INPUTS,
    }
    return render(request, "monitoring/chat_flags.html", context)
