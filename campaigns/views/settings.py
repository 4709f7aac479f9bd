"""Settings of a campaign: the page of all of them; what workers read, the payment, and the rules of chats."""

from typing import Any
from uuid import uuid4

from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from campaigns.checklist import blanks_of
from campaigns.design.drawing import is_choice
from campaigns.forms.campaigns import MemberForm
from campaigns.forms.partial import PartialForm
from campaigns.forms.settings import ChatForm, InstructionsForm, SettingsForm
from campaigns.forms.webhooks import WebhookForm
from campaigns.hit_queries import count_outputs
from campaigns.invitations import link_path, list_member_invitations
from campaigns.models import Campaign, Webhook
from campaigns.navigation import campaign_context
from campaigns.protocols import get_protocol
from campaigns.queries import Role, contents_of, list_members, list_webhooks
from campaigns.services.campaigns import change_campaign, default_instructions
from campaigns.services.screens import change_chat_rules
from campaigns.views.access import campaign_view, only_live, render_form, undoable_in, undoes_in
from campaigns.views.autosave import save_form, sent
from evalsite.accounts.attempts import is_mail_set_up
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.errors import DomainError
from evalsite.undo.acts import changed_since
from evalsite.undo.models import Act


@sensitive_variables()
def show_settings(
    request: SignedInRequest,
    campaign: Campaign,
    error: DomainError | None = None,
    *,
    form: SettingsForm | None = None,
    member_form: MemberForm | None = None,
    webhook_form: WebhookForm | None = None,
    made: Webhook | None = None,
    secret: str = "",
) -> HttpResponse:
    """Show all settings, each kind under its heading; the forms are those that were refused, `made` a new webhook.

    `error` is what a button was answered. Ten queries at most, however many there are of anything.
    """
    sent_forms = [form, member_form, webhook_form]
    form = form or SettingsForm(campaign)
    # Of HITs that all hold the same, none can be preferred
    is_even = campaign.is_adaptive and not is_choice(count_outputs(campaign))
    context = _context(campaign, "settings", form) | {"copy_id": uuid4(), "is_even": is_even, "error": error}
    context |= {
        "memberships": list_members(campaign),
        "roles": Role.choices,
        "member_form": member_form or MemberForm(),
    }
    if context["is_owner"]:
        context |= _invitations(request, campaign)
    if context["can_edit"]:
        context |= {"webhooks": list_webhooks(campaign), "webhook_form": webhook_form or WebhookForm()}
        context |= {"made": made, "secret": secret}
    is_refused = any(each.is_bound for each in sent_forms if each)
    return render_form(request, "campaigns/settings.html", context, is_refused=is_refused)


def _invitations(request: SignedInRequest, campaign: Campaign) -> dict[str, Any]:
    """Return who is invited, with their links where the site sends no mail."""
    has_mail, now = is_mail_set_up(), timezone.now()
    invitations = [
        {
            "invitation": each,
            "has_expired": each.expires_at <= now,
            # Who has mail has the link from there: an owner could make the account in their place.
            "url": "" if has_mail else request.build_absolute_uri(link_path(each)),
        }
        for each in list_member_invitations(campaign)
    ]
    return {"has_mail": has_mail, "invitations": invitations}


def to_settings(campaign: Campaign, heading: str = "") -> HttpResponse:
    """Lead to the settings of a campaign, to what is under a heading."""
    url = reverse("campaigns:settings", args=[campaign.public_id])
    return redirect(f"{url}#{heading}" if heading else url)


@campaign_view("GET", "POST")
def settings(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Show all settings; save those of the form: name, lease, accessible mode, worker test, method."""
    form = SettingsForm(campaign, sent(request))
    return _save(request, campaign, form, reload=".side-title") or show_settings(request, campaign, form=form)


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
    default = default_instructions(get_protocol(campaign.protocol))
    if "default" in request.POST:
        return _replace_instructions(request, campaign, default)
    form = InstructionsForm(sent(request), initial=initial)
    if answer := _save(request, campaign, form, reload="#as-shown"):
        return answer
    context = _context(campaign, "instructions", form) | {"default": default, "blanks": blanks_of(campaign)}
    return render_form(request, "campaigns/instructions.html", context)


def _replace_instructions(request: SignedInRequest, campaign: Campaign, text: str) -> HttpResponse:
    with undoable_in(request, campaign, "campaigns.instructions", "campaigns:instructions") as act:
        change_campaign(campaign=campaign, changes={"instructions": text})
        act.values = {"before": campaign.instructions, "after": text}
        act.words = "The instructions are those of the protocol now."
    return redirect("campaigns:instructions", campaign.public_id)


@undoes_in("campaigns.instructions")
def _former_instructions(campaign: Campaign, act: Act) -> None:
    if campaign.instructions != act.values["after"]:
        raise changed_since("The text of the instructions")
    change_campaign(campaign=campaign, changes={"instructions": act.values["before"]})


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
