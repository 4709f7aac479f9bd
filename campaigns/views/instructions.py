"""What workers read: study name and contact, instructions, consent text."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from campaigns.checklist import blanks_of
from campaigns.forms.instructions import InstructionsForm
from campaigns.navigation import campaign_context
from campaigns.protocols import get_protocol
from campaigns.queries import get_campaign_for
from campaigns.services.campaigns import change_campaign, default_instructions
from campaigns.views.autosave import REFUSED, role_for, save_form, sent
from evalsite.accounts.requests import SignedInRequest


@require_http_methods(["GET", "POST"])
def instructions(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Write what workers read, and show it as they will see it."""
    campaign = get_campaign_for(request.user, public_id, role_for(request))
    initial = {name: getattr(campaign, name) for name in InstructionsForm.base_fields}
    form = InstructionsForm(sent(request), initial=initial)
    if request.method == "POST":
        answer = save_form(
            request, form, lambda changes: change_campaign(campaign=campaign, changes=changes), reload="#as-shown"
        )
        if answer:
            return answer
    context = campaign_context(campaign, "instructions")
    if not context["can_edit"]:
        form.freeze()
    elif campaign.is_launched:
        form.freeze_launched()
    default = default_instructions(get_protocol(campaign.protocol))
    context |= {"form": form, "default": default, "blanks": blanks_of(campaign)}
    return render(request, "campaigns/instructions.html", context, status=REFUSED if form.is_bound else 200)
