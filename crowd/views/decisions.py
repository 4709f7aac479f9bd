"""Deciding about work: approve some or all, reject one, take a rejection back."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from campaigns.platforms import get_platform
from crowd.forms.payments import AgreedForm, RejectForm, ReverseForm
from crowd.presenters.payments import cost_words, frame, money_words, row_shown, sides_shown
from crowd.queries.payments import (
    cost_of,
    get_order_of,
    get_row,
    get_submission_of,
    list_complete,
    pick_undecided,
    read_verdicts,
)
from crowd.services.payments import decisions
from crowd.views.choosing import campaign_to_pay, chosen_context, read_chosen
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.errors import DomainError
from evalsite.lib.words import counted

_REFUSED, _CHANGED = 422, 409


@require_http_methods(["GET", "POST"])
def approve(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Show what is about to be approved and what it costs; sent with that sum, approve it.

    By default all complete work, whatever the worker test says; else what the address names or filters, and of that
    also work with a discrepancy or not complete.
    """
    is_sent = request.method == "POST"
    campaign = campaign_to_pay(request, public_id)
    chosen, verdicts = read_chosen(request, campaign)
    wanted = list_complete(campaign) if chosen is None else pick_undecided(chosen)
    cost = cost_of(campaign, wanted)
    form, problem = AgreedForm(request.POST if is_sent else None), ""
    if is_sent and not (form.is_valid() and form.cleaned_data["agreed"] == cost.total and wanted):
        problem = "What there is to approve has changed since you saw the sum. Look again."
    elif is_sent:
        try:
            n = decisions.approve(campaign=campaign, submissions=wanted, user=request.user)
            messages.success(request, f"{counted(n, 'approval')} {'is' if n == 1 else 'are'} being sent.")
            return redirect("crowd:payments", campaign.public_id)
        except DomainError as error:
            problem = error.message
    context = chosen_context(campaign, wanted, verdicts) | {
        "cost": cost_words(cost),
        "total": money_words(cost.total, cost.currency),
        "agreed": cost.total,
        "n_left_out": len(chosen) - len(wanted) if chosen is not None else 0,
        "is_all": chosen is None,
        "problem": problem,
    }
    return render(request, "crowd/approve.html", context, status=_CHANGED if is_sent else 200)


@require_http_methods(["GET", "POST"])
def reject(request: SignedInRequest, public_id: UUID, submission_id: int) -> HttpResponse:
    """Show what a rejection does to the worker; sent with a message by somebody who is sure, reject."""
    is_sent = request.method == "POST"
    campaign = campaign_to_pay(request, public_id)
    row = get_row(campaign, submission_id, read_verdicts(campaign, timezone.now()))
    assert row.submission
    again = get_order_of(campaign, request.GET["again"]) if "again" in request.GET else None
    platform = get_platform(campaign.platform)
    form = RejectForm(
        request.POST if is_sent else None,
        categories=platform.rejection_categories,
        initial={"message": again.message, "category": again.category} if again else {},
    )
    if is_sent and form.is_valid():
        try:
            decisions.reject(
                campaign=campaign,
                submission=row.submission,
                message=form.cleaned_data["message"],
                category=form.cleaned_data.get("category", ""),
                user=request.user,
            )
            messages.success(request, "The rejection is being sent. It can be taken back on this page.")
            return redirect("crowd:submission", campaign.public_id, submission_id)
        except DomainError as error:
            form.add_error("message" if error.code in ("no_reason", "message_too_long") else None, error.message)
    context = frame(campaign, "payments") | {
        "row": row_shown(campaign, row, campaign.hourly_reward),
        "submission": row.submission,
        "sides": sides_shown(campaign, row.submission),
        "can_decide": row.is_undecided,
        "form": form,
    }
    return render(request, "crowd/reject.html", context, status=_REFUSED if is_sent else 200)


@require_POST
def reverse(request: SignedInRequest, public_id: UUID, submission_id: int) -> HttpResponse:
    """Take a rejection back: the worker is paid after all."""
    campaign = campaign_to_pay(request, public_id)
    submission = get_submission_of(campaign, submission_id)
    form = ReverseForm(request.POST)
    try:
        if not form.is_valid():
            raise DomainError("message_too_long", "The message is too long.")
        decisions.reverse_rejection(
            campaign=campaign, submission=submission, message=form.cleaned_data["message"], user=request.user
        )
        messages.success(request, "The rejection is being taken back: the reward will be paid.")
    except DomainError as error:
        messages.error(request, error.message)
    return redirect("crowd:submission", campaign.public_id, submission_id)
