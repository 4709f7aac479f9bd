"""The rules of a live campaign's chats."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from campaigns.forms.chat import ChatForm
from campaigns.navigation import campaign_context
from campaigns.queries import get_campaign_for
from campaigns.services.chat_rules import change_chat_rules
from campaigns.views.autosave import REFUSED, role_for, save_form, sent
from campaigns.views.elsewhere import elsewhere
from evalsite.accounts.requests import SignedInRequest


@require_http_methods(["GET", "POST"])
def chat(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Show and change how a chat opens, and how long it is."""
    campaign = get_campaign_for(request.user, public_id, role_for(request))
    if not campaign.is_live:
        return elsewhere(request, campaign)
    form = ChatForm(campaign.chat_rules, sent(request))
    if request.method == "POST":
        answer = save_form(request, form, lambda changes: change_chat_rules(campaign=campaign, changes=changes))
        if answer:
            return answer
    context = campaign_context(campaign, "chat") | {"form": form}
    if not context["can_change"]:
        form.freeze()
    return render(request, "campaigns/chat.html", context, status=REFUSED if form.is_bound else 200)
