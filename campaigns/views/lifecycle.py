"""Launching, pausing, resuming, closing, duplicating and deleting a campaign."""

from collections.abc import Callable
from functools import partial
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from campaigns.forms.campaigns import DuplicateForm
from campaigns.models import Campaign
from campaigns.presenters.overview import overview
from campaigns.queries import Role, get_campaign_for
from campaigns.services.lifecycle import (
    close_campaign,
    delete_campaign,
    duplicate_campaign,
    launch_campaign,
    pause_campaign,
    resume_campaign,
)
from campaigns.views.autosave import REFUSED
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.errors import DomainError

_CONFLICT = 409


@require_POST
def launch(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Open the campaign to workers."""
    launch = partial(launch_campaign, is_confirmed="is_confirmed" in request.POST)
    return _change(request, public_id, launch, "The campaign is running.")


@require_POST
def pause(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Give out no more HITs for a while."""
    return _change(request, public_id, pause_campaign, "The campaign is paused: no more HITs are given out.")


@require_POST
def resume(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Go on giving out HITs."""
    return _change(request, public_id, resume_campaign, "The campaign is running again.")


@require_POST
def close(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """End the campaign."""
    return _change(request, public_id, close_campaign, "The campaign is closed.")


def _change(request: SignedInRequest, public_id: UUID, change: Callable[..., None], done: str) -> HttpResponse:
    campaign = get_campaign_for(request.user, public_id, Role.EDITOR)
    try:
        change(campaign=campaign)
    except DomainError as error:
        return _refused(request, campaign, error)
    messages.success(request, done)
    return redirect("campaigns:campaign", campaign.public_id)


@require_POST
def duplicate(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Make a copy, as a replication run or as a version to be changed; whoever may look at a campaign may."""
    campaign = get_campaign_for(request.user, public_id)
    form = DuplicateForm(request.POST)
    if not form.is_valid():
        error = DomainError("bad_copy", "Say which kind of copy you want: a replication run or a changed version.")
        return _refused(request, campaign, error, REFUSED)
    copy = duplicate_campaign(campaign=campaign, owner=request.user, **form.cleaned_data)
    messages.success(request, f"This is the copy of “{campaign.name}”: a draft of its own, with a new seed.")
    return redirect("campaigns:campaign", copy.public_id)


@require_POST
def delete(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Delete a campaign that was never launched."""
    campaign = get_campaign_for(request.user, public_id, Role.OWNER)
    try:
        delete_campaign(campaign=campaign)
    except DomainError as error:
        return _refused(request, campaign, error)
    messages.success(request, f"“{campaign.name}” was deleted.")
    return redirect("campaigns:list")


def _refused(request: SignedInRequest, campaign: Campaign, error: DomainError, status: int = _CONFLICT) -> HttpResponse:
    """Show the campaign as it is now, and why nothing was done."""
    campaign = get_campaign_for(request.user, campaign.public_id)
    context = overview(request, request.user, campaign) | {"refused": error}
    return render(request, "campaigns/campaign.html", context, status=status)
