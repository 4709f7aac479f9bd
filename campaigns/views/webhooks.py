"""The webhooks of a campaign and what they were sent. An address may be a secret: viewers do not see them."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables

from campaigns.forms.webhooks import WebhookForm
from campaigns.models import Campaign, Webhook
from campaigns.navigation import campaign_context
from campaigns.queries import Role, get_delivery_of, get_webhook_of, list_deliveries
from campaigns.services.webhooks import (
    KEPT_FOR,
    add_webhook,
    change_webhook,
    remove_webhook,
    restore_webhook,
    rotate_secret,
    send_again,
)
from campaigns.views.access import back_to, campaign_view, render_form, undoable_in, undoes_in
from campaigns.views.autosave import save_form, sent
from campaigns.views.settings import show_settings, to_settings
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.errors import DomainError
from evalsite.undo.models import Act

_PER_PAGE = 25


@never_cache
@sensitive_variables()
@campaign_view("GET", "POST", to_read=Role.EDITOR)
def webhooks(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Show the settings, where webhooks are listed; add one, and show its secret this once."""
    form, made, secret = WebhookForm(data=sent(request)), None, ""
    if form.is_bound and form.is_valid():
        try:
            made, secret = add_webhook(campaign=campaign, **form.cleaned_data)
            form = WebhookForm()
        except DomainError as error:
            form.refuse(error)
    return show_settings(request, campaign, webhook_form=form, made=made, secret=secret)


@campaign_view("GET", "POST", to_read=Role.EDITOR)
def webhook(request: SignedInRequest, campaign: Campaign, webhook_id: int) -> HttpResponse:
    """Show a webhook and what it was sent; change it."""
    found = get_webhook_of(campaign, webhook_id)
    form = WebhookForm(found, sent(request))
    if answer := save_form(request, form, lambda changes: change_webhook(webhook=found, changes=changes)):
        return answer
    return _page(request, campaign, found, form)


@never_cache
@sensitive_variables()
@campaign_view("POST")
def secret(request: SignedInRequest, campaign: Campaign, webhook_id: int) -> HttpResponse:
    """Give a webhook another secret, and show it this once."""
    found = get_webhook_of(campaign, webhook_id)
    return _page(request, campaign, found, WebhookForm(found), secret=rotate_secret(webhook=found))


@campaign_view("POST")
def remove(request: SignedInRequest, campaign: Campaign, webhook_id: int) -> HttpResponse:
    """Remove a webhook."""
    with undoable_in(request, campaign, "campaigns.webhook", "campaigns:settings") as act:
        remove_webhook(webhook=get_webhook_of(campaign, webhook_id), act=act)
        act.words = "The webhook is removed: what waits is not sent."
    return to_settings(campaign, "webhooks")


@undoes_in("campaigns.webhook")
def _restore(campaign: Campaign, act: Act) -> None:
    restore_webhook(campaign=campaign, act=act)


@campaign_view("POST", refused=back_to("campaigns:webhook", "webhook_id"))
def again(request: SignedInRequest, campaign: Campaign, webhook_id: int, delivery_id: int) -> HttpResponse:
    """Have a delivery sent again."""
    send_again(delivery=get_delivery_of(get_webhook_of(campaign, webhook_id), delivery_id))
    messages.success(request, "It will be sent in a moment. Reload the page to see the answer.")
    return redirect("campaigns:webhook", campaign.public_id, webhook_id)


@sensitive_variables()
def _page(
    request: SignedInRequest, campaign: Campaign, found: Webhook, form: WebhookForm, *, secret: str = ""
) -> HttpResponse:
    page = Paginator(list_deliveries(found), _PER_PAGE).get_page(request.GET.get("page"))
    context = campaign_context(campaign, "settings")
    context |= {"webhook": found, "form": form, "secret": secret, "page_obj": page, "n_days": KEPT_FOR.days}
    return render_form(request, "campaigns/webhook.html", context, is_refused=form.is_bound)
