"""Pages that a campaign has no use for: live ones have chatbots, others have outputs."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from campaigns.models import Campaign
from campaigns.navigation import campaign_context, url_of
from campaigns.views.autosave import REFUSED


def elsewhere(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Say which page to use instead; whatever was sent is refused."""
    target = "campaigns:chatbots" if campaign.is_live else "campaigns:data"
    context = campaign_context(campaign, "") | {"target": url_of(campaign, target)}
    return render(request, "campaigns/elsewhere.html", context, status=200 if request.method == "GET" else REFUSED)
