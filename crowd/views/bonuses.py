"""Bonuses, messages, and keeping a worker from further work."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from campaigns.models import Campaign
from campaigns.platforms import get_platform
from crowd.forms.payments import BlockForm, BonusForm, MessageForm
from crowd.models import Submission
from crowd.presenters.payments import cost_words, money_words
from crowd.queries.payments import get_order_of, get_submission_of
from crowd.queries.publishing import Cost, fee_of_bonus
from crowd.services.payments import decisions
from crowd.views.choosing import campaign_to_pay, chosen_context, read_chosen
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.errors import DomainError
from evalsite.lib.words import counted

_REFUSED = 422
_MAY_HAVE_BONUS = (Submission.State.SUBMITTED, Submission.State.APPROVED, Submission.State.REJECTED)


@require_http_methods(["GET", "POST"])
def bonus(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Ask for a bonus and its reason; sent, show the sum with fees; sent again with that sum, give it, once."""
    is_sent = request.method == "POST"
    campaign = campaign_to_pay(request, public_id)
    found, verdicts = read_chosen(request, campaign)
    chosen = found or []
    workers = [each for each in chosen if each.state in _MAY_HAVE_BONUS]
    form = BonusForm(request.POST if is_sent else None, _as_before(request, campaign))
    cost = None
    if is_sent and form.is_valid() and workers:
        fields = form.cleaned_data
        cost = _cost_of_bonuses(campaign, fields["amount"], len(workers))
        if fields.pop("agreed") == cost.total:
            try:
                n = decisions.give_bonus(campaign=campaign, submissions=workers, user=request.user, **fields)
                _update_row(request, n, "bonus", "bonuses")
                return redirect("crowd:payments", campaign.public_id)
            except DomainError as error:
                form.add_error(None, error.message)
                cost = None
    context = chosen_context(campaign, workers, verdicts) | {
        "form": form,
        "n_left_out": len(chosen) - len(workers),
        "cost": cost_words(cost) if cost else "",
        "total": money_words(cost.total, cost.currency) if cost else "",
        "agreed": cost.total if cost else "",
        "bonus_note": get_platform(campaign.platform).bonus_note,
    }
    return render(request, "crowd/bonus.html", context, status=200 if cost or not is_sent else _REFUSED)


def _as_before(request: SignedInRequest, campaign: Campaign) -> dict[str, Any]:
    """Return amount and message of an order that is to be given anew (`?again=`)."""
    if "again" not in request.GET:
        return {}
    order = get_order_of(campaign, request.GET["again"])
    return {"amount": order.amount, "message": order.message}


def _cost_of_bonuses(campaign: Campaign, amount: Any, n: int) -> Cost:
    return Cost(n, n * amount, n * fee_of_bonus(campaign, amount), campaign.currency)


def _update_row(request: SignedInRequest, n: int, one: str, many: str) -> None:
    """Say how many were ordered; none, if the same form has been sent before."""
    if n:
        messages.success(request, f"{n:,} {f'{one} is' if n == 1 else f'{many} are'} being sent.")
    else:
        messages.info(request, "This was ordered already; nothing is sent twice.")


@require_http_methods(["GET", "POST"])
def message(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Write to the workers of some assignments."""
    is_sent = request.method == "POST"
    campaign = campaign_to_pay(request, public_id)
    found, verdicts = read_chosen(request, campaign)
    chosen = found or []
    form = MessageForm(request.POST if is_sent else None)
    if is_sent and form.is_valid() and chosen:
        try:
            n = decisions.notify(campaign=campaign, submissions=chosen, user=request.user, **form.cleaned_data)
            _update_row(request, n, "message", "messages")
            return redirect("crowd:payments", campaign.public_id)
        except DomainError as error:
            form.add_error(None, error.message)
    n_workers = len({each.worker_id for each in chosen})
    context = chosen_context(campaign, chosen, verdicts) | {"form": form, "n_workers": counted(n_workers, "worker")}
    return render(request, "crowd/message.html", context, status=_REFUSED if is_sent else 200)


@require_POST
def block(request: SignedInRequest, public_id: UUID, submission_id: int) -> HttpResponse:
    """Keep the worker of an assignment from all further work of this account."""
    campaign = campaign_to_pay(request, public_id)
    submission = get_submission_of(campaign, submission_id)
    form = BlockForm(request.POST)
    try:
        if not form.is_valid():
            raise DomainError("no_reason", "Say why the worker is blocked.")
        decisions.block(
            campaign=campaign, worker=submission.worker, reason=form.cleaned_data["reason"], user=request.user
        )
        messages.success(request, "The block is being sent.")
    except DomainError as error:
        messages.error(request, error.message)
    return redirect("crowd:submission", campaign.public_id, submission_id)


@require_POST
def unblock(request: SignedInRequest, public_id: UUID, submission_id: int) -> HttpResponse:
    """Let the worker of an assignment come again."""
    campaign = campaign_to_pay(request, public_id)
    submission = get_submission_of(campaign, submission_id)
    try:
        decisions.unblock(campaign=campaign, worker=submission.worker, user=request.user)
        messages.success(request, "The worker may come again as soon as the platform knows.")
    except DomainError as error:
        messages.error(request, error.message)
    return redirect("crowd:submission", campaign.public_id, submission_id)
