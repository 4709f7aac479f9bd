"""The links by which raters come to a campaign."""

import io
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from django.views.decorators.http import require_GET, require_http_methods

from annotation.forms.raters import RatersForm
from annotation.monitoring import get_access, links_of, list_invitations, raters_of
from annotation.presenters.monitoring import invited_text, raters_shown
from annotation.services.invitations import invite_raters
from campaigns.models import Campaign
from campaigns.navigation import campaign_context
from campaigns.queries import Role, get_campaign_for
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.errors import DomainError
from evalsite.lib.tables.writing import write_csv

_RATERS_PER_PAGE = 50
_REFUSED = 422


@require_http_methods(["GET", "POST"])
def raters(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Show the open link, or invited raters with their links; invite more."""
    is_sent = request.method == "POST"
    campaign = get_campaign_for(request.user, public_id, Role.EDITOR if is_sent else Role.VIEWER)
    form = RatersForm(request.POST if is_sent else None)
    if is_sent and form.is_valid():
        names = form.cleaned_data["names"]
        try:
            n_new = invite_raters(campaign=campaign, names=names)
            messages.success(request, invited_text(n_new, len(names)))
            return redirect("monitoring:raters", campaign.public_id)
        except DomainError as error:
            form.add_error(None, error.message)
    page = Paginator(list_invitations(campaign), _RATERS_PER_PAGE).get_page(request.GET.get("page"))
    arrival = _arrival(request, campaign)
    found = raters_of(campaign, list(page))
    context = campaign_context(campaign, "raters") | {
        "access": get_access(campaign),
        "open_link": arrival,
        "form": form,
        "page_obj": page,
        "raters": raters_shown(found, arrival),
    }
    return render(request, "monitoring/raters.html", context, status=_REFUSED if is_sent else 200)


@require_GET
def raters_csv(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Send the names and links of all invited raters, to be mailed."""
    campaign = get_campaign_for(request.user, public_id, Role.EDITOR)
    arrival = _arrival(request, campaign)
    stream = io.StringIO(newline="")
    links = links_of(campaign, list(list_invitations(campaign)))
    write_csv(stream, ("name", "link"), ((name, f"{arrival}?{query}") for name, query in links))
    response = HttpResponse(stream.getvalue(), content_type="text/csv; charset=utf-8")
    name = f"{slugify(campaign.name) or 'campaign'}-raters.csv"
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name)
    response["Cache-Control"] = "private, no-store"
    return response


def _arrival(request: SignedInRequest, campaign: Campaign) -> str:
    """Return the absolute address at which workers arrive."""
    return request.build_absolute_uri(reverse("rate:welcome", args=[campaign.public_id]))
