"""The list of campaigns, a new one, and the overview of one."""

from uuid import UUID

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from campaigns.forms.campaigns import NewForm
from campaigns.presenters.overview import campaigns_listed, overview, protocols_offered
from campaigns.queries import get_campaign_for, list_campaigns_for
from campaigns.services.campaigns import create_campaign
from campaigns.views.autosave import REFUSED, sent
from evalsite.accounts.requests import SignedInRequest

_PER_PAGE = 25


@require_GET
def list_campaigns(request: SignedInRequest) -> HttpResponse:
    """List the campaigns that the user is a member of."""
    page = Paginator(list_campaigns_for(request.user), _PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "campaigns/list.html", {"page_obj": page, "rows": campaigns_listed(page)})


@require_http_methods(["GET", "POST"])
def new(request: SignedInRequest) -> HttpResponse:
    """Choose a protocol and make a draft of it."""
    form = NewForm(sent(request))
    if request.method == "POST" and form.is_valid():
        campaign = create_campaign(owner=request.user, **form.cleaned_data)
        return redirect("campaigns:chatbots" if campaign.is_live else "campaigns:data", campaign.public_id)
    context = {"form": form, "protocols": protocols_offered()}
    return render(request, "campaigns/new.html", context, status=REFUSED if form.is_bound else 200)


@require_GET
def campaign(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Show what a campaign still lacks or, once launched, how it stands."""
    found = get_campaign_for(request.user, public_id)
    return render(request, "campaigns/campaign.html", overview(request, request.user, found))
