"""What a worker is shown."""

from dataclasses import replace
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from campaigns.contracts.protocol import Screen
from campaigns.forms.screen import FieldForm, FieldPlaceForm, ScreenForm
from campaigns.models import Campaign
from campaigns.navigation import campaign_context
from campaigns.protocols import get_protocol
from campaigns.queries import Role, get_campaign_for, has_sources
from campaigns.services.screens import change_screen
from campaigns.views.autosave import REFUSED, role_for, save_form, sent
from campaigns.views.elsewhere import elsewhere
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.errors import DomainError


@require_http_methods(["GET", "POST"])
def screen(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Show and change fields and labels."""
    campaign = get_campaign_for(request.user, public_id, role_for(request))
    if campaign.is_live:
        return elsewhere(request, campaign)
    form = _form(campaign, request)
    if request.method == "POST":
        answer = save_form(request, form, lambda changes: change_screen(campaign=campaign, **changes), reload="#shown")
        if answer:
            return answer
    return _page(request, campaign, form=form)


@require_POST
def add_field(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Add a field of the source, last."""
    campaign = get_campaign_for(request.user, public_id, Role.EDITOR)
    new = FieldForm(request.POST)
    if new.is_valid():
        before, field = Screen.from_json(campaign.screen), new.field()
        if field in before.fields:
            return redirect("campaigns:screen", public_id)
        try:
            change_screen(campaign=campaign, screen=replace(before, fields=(*before.fields, field)))
            return redirect("campaigns:screen", public_id)
        except DomainError as error:
            new.add_error(None, error.message)
    return _page(request, campaign, new=new)


@require_POST
def place_field(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Move a field of the source up or down, or take it out."""
    campaign = get_campaign_for(request.user, public_id, Role.EDITOR)
    form = FieldPlaceForm(request.POST)
    try:
        if not form.is_valid():
            raise DomainError("bad_screen", "Say which field goes where.")
        change_screen(campaign=campaign, screen=form.moved(Screen.from_json(campaign.screen)))
    except DomainError as error:
        return _page(request, campaign, error=error)
    return redirect("campaigns:screen", public_id)


def _form(campaign: Campaign, request: SignedInRequest | None = None) -> ScreenForm:
    return ScreenForm(
        Screen.from_json(campaign.screen),
        sent(request) if request else None,
        is_open=get_protocol(campaign.protocol).has_open_screen,
        can_rename=not has_sources(campaign),
    )


def _page(
    request: SignedInRequest,
    campaign: Campaign,
    *,
    form: ScreenForm | None = None,
    new: FieldForm | None = None,
    error: DomainError | None = None,
) -> HttpResponse:
    form = form or _form(campaign)
    context = campaign_context(campaign, "screen")
    if not context["can_change"]:
        form.freeze()
    context |= {"form": form, "new": new or FieldForm(), "error": error, "screen": form.screen}
    return render(request, "campaigns/screen.html", context, status=REFUSED if request.method == "POST" else 200)
