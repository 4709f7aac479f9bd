"""Settings of a campaign: general ones, what workers read, and the rules of chats."""

from typing import Any
from uuid import uuid4

from django.http import HttpResponse

from campaigns.checklist import blanks_of
from campaigns.design.drawing import is_choice
from campaigns.forms.partial import PartialForm
from campaigns.forms.settings import ChatForm, InstructionsForm, SettingsForm
from campaigns.hit_queries import count_outputs
from campaigns.models import Campaign
from campaigns.navigation import campaign_context
from campaigns.protocols import get_protocol
from campaigns.queries import contents_of
from campaigns.services.campaigns import change_campaign, default_instructions
from campaigns.services.screens import change_chat_rules
from campaigns.views.access import campaign_view, only_live, render_form
from campaigns.views.autosave import save_form, sent
from evalsite.accounts.requests import SignedInRequest


@campaign_view("GET", "POST")
def settings(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Name, lease, accessible mode, worker test."""
    form = SettingsForm(campaign, sent(request))
    if answer := _save(request, campaign, form, reload=".side-title"):
        return answer
    # Of HITs that all hold the same, none can be preferred
    is_even = campaign.is_adaptive and not is_choice(count_outputs(campaign))
    context = _context(campaign, "settings", form) | {"copy_id": uuid4(), "is_even": is_even}
    return render_form(request, "campaigns/settings.html", context)


@campaign_view("GET", "POST")
def payment(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Reward, currency and minutes of a HIT, with what it costs."""
    form = SettingsForm(campaign, sent(request))
    if answer := _save(request, campaign, form, reload="#cost"):
        return answer
    n_places = contents_of(campaign).n_places
    context = _context(campaign, "payment", form) | {"n_places": n_places, "total": campaign.reward * n_places}
    return render_form(request, "campaigns/payment.html", context)


@campaign_view("GET", "POST")
def instructions(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Write what workers read, and show it as they will see it."""
    initial = {name: getattr(campaign, name) for name in InstructionsForm.base_fields}
    form = InstructionsForm(sent(request), initial=initial)
    if answer := _save(request, campaign, form, reload="#as-shown"):
        return answer
    default = default_instructions(get_protocol(campaign.protocol))
    context = _context(campaign, "instructions", form) | {"default": default, "blanks": blanks_of(campaign)}
    return render_form(request, "campaigns/instructions.html", context)


def _save(request: SignedInRequest, campaign: Campaign, form: PartialForm, *, reload: str) -> HttpResponse | None:
    return save_form(request, form, lambda changes: change_campaign(campaign=campaign, changes=changes), reload=reload)


def _context(campaign: Campaign, page: str, form: PartialForm) -> dict[str, Any]:
    """Return the context of a form that may be changed as far as the user's role and the campaign's status allow."""
    context = campaign_context(campaign, page) | {"form": form}
    form.freeze(context)
    return context


@campaign_view("GET", "POST", check=only_live)
def chat(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Show and change how a chat opens, and how long it is."""
    form = ChatForm(campaign.chat_rules, sent(request))
    if answer := save_form(request, form, lambda changes: change_chat_rules(campaign=campaign, changes=changes)):
        return answer
    return render_form(request, "campaigns/chat.html", _context(campaign, "chat", form))
