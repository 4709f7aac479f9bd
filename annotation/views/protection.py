"""What a campaign stores on its workers, who sees it and for how long: what ethics boards ask for."""

from collections import Counter

from django.http import HttpResponse
from django.shortcuts import render

from campaigns.connectors import find_connector
from campaigns.models import Campaign, Chatbot, Membership
from campaigns.navigation import campaign_context
from campaigns.views.access import campaign_view
from evalsite.accounts.requests import SignedInRequest


@campaign_view("GET")
def protection(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Show it, for the campaign as it is set up now."""
    kinds = [each.response_kind for each in campaign.criteria.all()]
    roles = Counter(campaign.memberships.values_list("role", flat=True))
    context = campaign_context(campaign, "settings") | {
        "platform": campaign.crowd_platform,
        "hosts": _hosts(campaign),
        "has_texts": any(kind.is_written for kind in kinds),
        "roles": [(Membership.Role(role).label.lower(), roles[role]) for role in Membership.Role.values if roles[role]],
    }
    return render(request, "monitoring/protection.html", context)


def _hosts(campaign: Campaign) -> list[str]:
    """Return the hosts of the campaign's chatbots, which are sent what workers write."""
    found = set()
    for slug, options in Chatbot.objects.filter(system__campaign=campaign).values_list("connector", "settings"):
        if connector := find_connector(slug):
            found |= {host for _, host, _ in connector.hosts_of(options)}
    return sorted(found)
