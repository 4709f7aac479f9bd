"""What HITs consist of: setting it, building HITs, looking at them."""

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from campaigns.forms.design import DesignForm
from campaigns.models import Campaign
from campaigns.presenters.design import design_page, hit_page
from campaigns.queries import Role, get_campaign_for
from campaigns.services.campaigns import change_campaign
from campaigns.services.design import change_design, draw_seed, use_preset
from campaigns.services.hits import build_hits, use_own_hits
from campaigns.views.autosave import REFUSED, role_for, save_form, sent
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.errors import DomainError

# What of the page follows from the fields: the totals, the buttons, and the campaign's status in the heading.
_FOLLOWS = "#outlook,#design-buttons,h1"


@require_http_methods(["GET", "POST"])
def design(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Show the design, and change of it what was sent."""
    campaign = get_campaign_for(request.user, public_id, role_for(request))
    form = DesignForm(campaign, sent(request))
    if request.method == "POST":
        answer = save_form(
            request, form, lambda changes: change_design(campaign=campaign, changes=changes), reload=_FOLLOWS
        )
        if answer:
            return answer
    return _page(request, campaign, form)


def _page(
    request: SignedInRequest, campaign: Campaign, form: DesignForm, refused: DomainError | None = None
) -> HttpResponse:
    """Show the design; `refused` is what a button was answered."""
    context = design_page(campaign) | {"form": form, "refused": refused}
    if not context["can_change"]:
        form.freeze()
    return render(request, "campaigns/design.html", context, status=REFUSED if request.method == "POST" else 200)


@require_POST
def build(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Build the HITs."""
    campaign = get_campaign_for(request.user, public_id, Role.EDITOR)
    return _do(request, campaign, partial(build_hits, user=request.user))


@require_POST
def preset(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Take the protocol's design."""
    return _do(request, get_campaign_for(request.user, public_id, Role.EDITOR), use_preset)


@require_POST
def seed(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Draw a new seed."""
    return _do(request, get_campaign_for(request.user, public_id, Role.EDITOR), draw_seed)


@require_POST
def no_worker_test(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Let every worker count, without a worker test."""
    change = partial(change_campaign, changes={"worker_test": Campaign.WorkerTest.NONE.value})
    return _do(request, get_campaign_for(request.user, public_id, Role.EDITOR), change)


@require_POST
def own_hits(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Give up the HITs that came with a file."""
    return _do(request, get_campaign_for(request.user, public_id, Role.EDITOR), use_own_hits)


def _do(request: SignedInRequest, campaign: Campaign, service: Callable[..., Any]) -> HttpResponse:
    """Call the service that a button stands for, and show the design, or why it was refused."""
    try:
        service(campaign=campaign)
    except DomainError as error:
        return _page(request, campaign, DesignForm(campaign), refused=error)
    return redirect("campaigns:design", campaign.public_id)


@require_GET
def hit(request: SignedInRequest, public_id: UUID, number: int) -> HttpResponse:
    """Show the items of one HIT to the researcher."""
    campaign = get_campaign_for(request.user, public_id)
    return render(request, "campaigns/hit.html", hit_page(campaign, number))
