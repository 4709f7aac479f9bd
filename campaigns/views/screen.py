"""What a worker is shown."""

from dataclasses import replace

from django.http import HttpResponse
from django.shortcuts import redirect

from campaigns.contracts.protocol import Screen
from campaigns.forms.screen import FieldForm, FieldPlaceForm, ScreenForm, screen_form
from campaigns.models import Campaign
from campaigns.navigation import campaign_context
from campaigns.services.screens import change_screen
from campaigns.views.access import campaign_view, only_outputs, render_form, undoable_in, undoes_in
from campaigns.views.autosave import save_form, sent
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.errors import DomainError
from evalsite.undo.acts import changed_since
from evalsite.undo.models import Act


def _page(
    request: SignedInRequest,
    campaign: Campaign,
    error: DomainError | None = None,
    *,
    form: ScreenForm | None = None,
    new: FieldForm | None = None,
) -> HttpResponse:
    form = form or screen_form(campaign)
    context = campaign_context(campaign, "screen" if form.is_open else "criteria")
    form.freeze(context)
    context |= {"form": form, "new": new or FieldForm(), "error": error, "screen": form.screen}
    return render_form(request, "campaigns/screen.html", context)


@campaign_view("GET", "POST", check=only_outputs)
def screen(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Show and change fields and labels."""
    form = screen_form(campaign, sent(request))
    if answer := save_form(request, form, lambda changes: change_screen(campaign=campaign, **changes), reload="#shown"):
        return answer
    return _page(request, campaign, form=form)


@campaign_view("POST", refused=_page)
def add_field(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Add a field of the source, last."""
    new = FieldForm(request.POST)
    if new.is_valid():
        before, field = Screen.from_json(campaign.screen), new.field()
        if field in before.fields:
            return redirect("campaigns:screen", campaign.public_id)
        try:
            change_screen(campaign=campaign, screen=replace(before, fields=(*before.fields, field)))
            return redirect("campaigns:screen", campaign.public_id)
        except DomainError as error:
            new.add_error(None, error.message)
    return _page(request, campaign, new=new)


@campaign_view("POST", refused=_page)
def place_field(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Move a field of the source up or down, or take it out."""
    form = FieldPlaceForm(request.POST)
    if not form.is_valid():
        raise DomainError("bad_screen", "Choose a field and a direction.")
    before = Screen.from_json(campaign.screen)
    screen = form.moved(before)
    with undoable_in(request, campaign, "campaigns.field", "campaigns:screen") as act:
        change_screen(campaign=campaign, screen=screen)
        if form.cleaned_data["step"] == 0 and screen != before:
            act.values = {"before": before.to_json(), "after": screen.to_json()}
            act.words = f"The field “{form.cleaned_data['name']}” was removed."
    return redirect("campaigns:screen", campaign.public_id)


@undoes_in("campaigns.field")
def _former_screen(campaign: Campaign, act: Act) -> None:
    if Screen.from_json(campaign.screen) != Screen.from_json(act.values["after"]):
        raise changed_since("The layout")
    change_screen(campaign=campaign, screen=Screen.from_json(act.values["before"]))
