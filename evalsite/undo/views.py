"""Taking an act back."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.acts import note_act, note_refusal
from evalsite.lib.errors import DomainError
from evalsite.undo.acts import EXPIRED, page_of_offer, take_back, withdraw_offer


@require_POST
def undo(request: SignedInRequest, act_id: UUID) -> HttpResponse:
    """Take back what this user did, and lead to the page where it was done."""
    page, is_over = page_of_offer(request, act_id), True
    try:
        act = take_back(act_id=act_id, user=request.user, now=timezone.now())
    except DomainError as error:
        messages.error(request, error.message)
        note_refusal()
        is_over = error.code == EXPIRED
    else:
        note_act(about=act.words, campaign=act.campaign)
        messages.success(request, f"Undone: {act.words}")
    if is_over:
        withdraw_offer(request, act_id)
    return redirect(page or "home")
