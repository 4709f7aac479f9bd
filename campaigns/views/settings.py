"""Settings of a campaign that are neither its data nor its HITs."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from campaigns.forms.settings import SettingsForm
from campaigns.navigation import campaign_context
from campaigns.presenters.overview import cost_of
from campaigns.queries import contents_of, get_campaign_for
from campaigns.services.campaigns import change_campaign
from campaigns.views.autosave import REFUSED, role_for, save_form, sent
from evalsite.accounts.requests import SignedInRequest


@require_http_methods(["GET", "POST"])
def settings(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Name, worker test, payment, platform, lease."""
    campaign = get_campaign_for(request.user, public_id, role_for(request))
    form = SettingsForm(campaign, sent(request))
    if request.method == "POST":
        answer = save_form(
            request, form, lambda changes: change_campaign(campaign=campaign, changes=changes), reload="h1, #cost"
        )
        if answer:
            return answer
    context = campaign_context(campaign, "settings")
    if not context["can_edit"]:
        form.freeze()
    elif campaign.is_launched:
        form.freeze_launched()
    context |= {"form": form, "cost": cost_of(campaign, contents_of(campaign).n_places)}
    return render(request, "campaigns/settings.html", context, status=REFUSED if form.is_bound else 200)
