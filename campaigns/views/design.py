"""What HITs consist of: setting it, building HITs, looking at them."""

from django.http import HttpResponse
from django.shortcuts import redirect, render

from campaigns.design.worker_test import NO_TEST
from campaigns.forms.design import DesignForm
from campaigns.models import Campaign
from campaigns.presenters.design import design_page, hit_page
from campaigns.services.campaigns import change_campaign
from campaigns.services.design import change_design, draw_seed, use_preset
from campaigns.services.hits import build_hits, use_own_hits
from campaigns.views.access import campaign_view, render_form
from campaigns.views.autosave import save_form, sent
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.errors import DomainError

# What of the page follows from the fields: the totals, the buttons, and the campaign's status in the heading.
_FOLLOWS = "#outlook,#design-buttons,h1"


def _page(
    request: SignedInRequest, campaign: Campaign, error: DomainError | None = None, form: DesignForm | None = None
) -> HttpResponse:
    """Show the design; `error` is what a button was answered."""
    form = form or DesignForm(campaign)
    context = design_page(campaign) | {"form": form, "refused": error}
    if not context["can_change"]:
        form.freeze()
    return render_form(request, "campaigns/design.html", context)


@campaign_view("GET", "POST")
def design(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Show the design, and change of it what was sent."""
    form = DesignForm(campaign, sent(request))
    if request.method == "POST":
        answer = save_form(
            request, form, lambda changes: change_design(campaign=campaign, changes=changes), reload=_FOLLOWS
        )
        if answer:
            return answer
    return _page(request, campaign, form=form)


@campaign_view("POST", refused=_page)
def build(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Build the HITs."""
    build_hits(campaign=campaign, user=request.user)
    return redirect("campaigns:design", campaign.public_id)


@campaign_view("POST", refused=_page)
def preset(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Take the protocol's design."""
    use_preset(campaign=campaign)
    return redirect("campaigns:design", campaign.public_id)


@campaign_view("POST", refused=_page)
def seed(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Draw a new seed."""
    draw_seed(campaign=campaign)
    return redirect("campaigns:design", campaign.public_id)


@campaign_view("POST", refused=_page)
def no_worker_test(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Let every worker count, without a worker test."""
    change_campaign(campaign=campaign, changes={"worker_test": NO_TEST})
    return redirect("campaigns:design", campaign.public_id)


@campaign_view("POST", refused=_page)
def own_hits(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Give up the HITs that came with a file."""
    use_own_hits(campaign=campaign)
    return redirect("campaigns:design", campaign.public_id)


@campaign_view("GET")
def hit(request: SignedInRequest, campaign: Campaign, number: int) -> HttpResponse:
    """Show the items of one HIT to the researcher."""
    return render(request, "campaigns/hit.html", hit_page(campaign, number))
