"""The systems of a campaign."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from campaigns.forms.systems import HumanForm, SystemForm
from campaigns.models import Campaign
from campaigns.navigation import campaign_context
from campaigns.queries import get_campaign_for, get_system_of, list_systems
from campaigns.services.systems import mark_human, rename_system
from campaigns.views.autosave import REFUSED, role_for, save_form, sent
from campaigns.views.elsewhere import elsewhere
from evalsite.accounts.requests import SignedInRequest


@require_http_methods(["GET", "POST"])
def systems(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """List the systems, and say which one is human."""
    campaign = get_campaign_for(request.user, public_id, role_for(request))
    if campaign.is_live:
        return elsewhere(request, campaign)
    form = HumanForm(list_systems(campaign), sent(request))
    if request.method == "POST":
        answer = save_form(request, form, lambda _: mark_human(campaign=campaign, system=form.chosen()))
        if answer:
            return answer
    return _page(request, campaign, form, None)


@require_POST
def system(request: SignedInRequest, public_id: UUID, system_id: int) -> HttpResponse:
    """Rename a system."""
    campaign = get_campaign_for(request.user, public_id, role_for(request))
    if campaign.is_live:
        return elsewhere(request, campaign)
    found = get_system_of(campaign, system_id)
    form = SystemForm(found, request.POST)
    to = reverse("campaigns:systems", args=[public_id])
    answer = save_form(
        request, form, lambda _: rename_system(campaign=campaign, system=found, name=form.cleaned_data["name"]), to=to
    )
    return answer or _page(request, campaign, HumanForm(list_systems(campaign)), form)


def _page(request: SignedInRequest, campaign: Campaign, human: HumanForm, refused: SystemForm | None) -> HttpResponse:
    """Show the systems; `refused` is a form that was sent in vain."""
    context = campaign_context(campaign, "systems")
    rows = [
        refused if refused and refused.system.pk == system.pk else SystemForm(system)
        for system in human.systems.values()
    ]
    if not context["can_change"]:
        for form in (human, *rows):
            form.freeze()
    context |= {"human": human, "rows": rows}
    return render(request, "campaigns/systems.html", context, status=REFUSED if request.method == "POST" else 200)
