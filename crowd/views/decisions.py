"""Deciding about work and workers: approve, reject, bonus, message, block; ways out of discrepancies and refusals."""

from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone

from analysis.results.words import verdicts_of
from annotation.models import PlaceFreed
from annotation.services.assignments import release_assignment
from campaigns.models import Campaign
from campaigns.queries import Role
from campaigns.views.access import Refused, back_to, campaign_view, render_form
from crowd.forms.chosen import Chosen, ChosenForm
from crowd.forms.payments import AgreedForm, BlockForm, BonusForm, MessageForm, RejectForm, ReverseForm
from crowd.models import Submission
from crowd.queries.payment_rows import get_row
from crowd.queries.payments import (
    Verdicts,
    cost_of,
    get_order_of,
    get_submission_of,
    list_complete,
    pick_submitted,
    pick_undecided,
    read_verdicts,
)
from crowd.queries.publishing import cost_of_bonuses
from crowd.services.payments import decisions
from crowd.services.payments.orders import order_again, retry_orders_now
from crowd.services.syncing.discrepancies import dismiss_discrepancy
from crowd.views.payments import balance_of, frame
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.errors import CONFLICT, DomainError
from evalsite.lib.words import counted

_SHOWN = 100
_NO_SUM = Decimal("NaN")  # which no cost is equal to


def _has_account(request: SignedInRequest, campaign: Campaign) -> None:
    """Raise Http404 if there is no account to pay from."""
    if not campaign.crowd_platform.has_account:
        raise Http404("The platform of this campaign has no account.")


def _paying_view(*methods: str, refused: Refused | None = None) -> Callable[[Any], Callable[..., HttpResponseBase]]:
    """Decorate a view as `campaign_view` does: for editors, of campaigns whose workers are paid from here."""
    return campaign_view(*methods, to_read=Role.EDITOR, check=_has_account, refused=refused)


_to_submission, _to_discrepancies = back_to("crowd:submission", "submission_id"), back_to("crowd:discrepancies")


# --- About several: those that are ticked, or that match, or all that is complete


def _read_chosen(request: SignedInRequest, campaign: Campaign) -> Chosen:
    """Return the submissions that the address names or filters.

    What is chosen stands in the address also when the page's form is sent. Raises Http404 for a submission of another
    campaign.
    """
    form = ChosenForm(request.GET, with_names=True, has_account=True)
    if not form.is_valid():
        raise Http404("There is no such filter.")
    return form.read(campaign)


def _chosen_context(campaign: Campaign, chosen: list[Submission], verdicts: Verdicts | None) -> dict[str, Any]:
    """Return what crowd/chosen.html needs: who they are, and how many of them passed the worker test.

    The test takes long: `verdicts` are those that `_read_chosen` has read, if it has.
    """
    said = (verdicts or read_verdicts(campaign, timezone.now())).of(campaign, [each.worker_id for each in chosen])
    found = Counter(said[each.worker_id] for each in chosen)
    shown = chosen[:_SHOWN]
    return (
        frame(campaign, "payments")
        | balance_of(campaign)
        | {
            "chosen": [{"submission": each, "verdict": said[each.worker_id]} for each in shown],
            "n_chosen": len(chosen),
            "n_not_shown": len(chosen) - len(shown),
            "n_with_discrepancy": sum(each.has_open_discrepancy for each in chosen),
            "counts": [
                (verdict, words, found[verdict]) for verdict, words in verdicts_of(campaign.worker_test).items()
            ],
        }
    )


@_paying_view("GET", "POST")
def approve(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Show what is about to be approved and what it costs; sent with that sum, approve it.

    By default all complete work, whatever the worker test says; else what the address names or filters, and of that
    also work with a discrepancy or not complete.
    """
    is_sent = request.method == "POST"
    found = _read_chosen(request, campaign)
    chosen = found.submissions
    wanted = list_complete(campaign) if chosen is None else pick_undecided(chosen)
    form, problem = AgreedForm(request.POST if is_sent else None), ""
    if is_sent:
        agreed = form.cleaned_data["agreed"] if form.is_valid() else _NO_SUM
        try:
            n = decisions.approve(campaign=campaign, submissions=wanted, agreed=agreed, user=request.user)
            messages.success(request, f"{counted(n, 'approval')} {'is' if n == 1 else 'are'} being sent.")
            return redirect("crowd:payments", campaign.public_id)
        except DomainError as error:
            problem = error.message
    context = _chosen_context(campaign, wanted, found.verdicts) | {
        "cost": cost_of(campaign, wanted),
        "n_left_out": len(chosen) - len(wanted) if chosen is not None else 0,
        "is_all": chosen is None,
        "problem": problem,
    }
    return render(request, "crowd/approve.html", context, status=CONFLICT if is_sent else 200)


@_paying_view("GET", "POST")
def bonus(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Ask for a bonus and its reason; sent, show the sum with fees; sent again with that sum, give it, once."""
    is_sent = request.method == "POST"
    found = _read_chosen(request, campaign)
    chosen = found.submissions or []
    workers = pick_submitted(chosen)
    refused = get_order_of(campaign, request.GET["again"]) if "again" in request.GET else None
    initial = {"amount": refused.amount, "message": refused.message} if refused else {}
    form = BonusForm(request.POST if is_sent else None, initial)
    cost = None
    if is_sent and form.is_valid() and workers:
        fields = form.cleaned_data
        cost = cost_of_bonuses(campaign, len(workers), fields["amount"])
        if fields["agreed"] == cost.total:
            try:
                n = decisions.give_bonus(campaign=campaign, submissions=workers, user=request.user, **fields)
                _say_ordered(request, n, "bonus", "bonuses")
                return redirect("crowd:payments", campaign.public_id)
            except DomainError as error:
                form.add_error(None, error.message)
                cost = None
    context = _chosen_context(campaign, workers, found.verdicts)
    context |= {"form": form, "n_left_out": len(chosen) - len(workers), "cost": cost}
    return render_form(request, "crowd/bonus.html", context, is_refused=is_sent and cost is None)


def _say_ordered(request: SignedInRequest, n: int, one: str, many: str) -> None:
    """Say how many were ordered; none, if the same form has been sent before."""
    if n:
        messages.success(request, f"{n:,} {f'{one} is' if n == 1 else f'{many} are'} being sent.")
    else:
        messages.info(request, "This was already ordered. Nothing is sent twice.")


@_paying_view("GET", "POST")
def message(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Write to the workers of some assignments."""
    is_sent = request.method == "POST"
    found = _read_chosen(request, campaign)
    chosen = found.submissions or []
    form = MessageForm(request.POST if is_sent else None)
    if is_sent and form.is_valid() and chosen:
        try:
            n = decisions.notify(campaign=campaign, submissions=chosen, user=request.user, **form.cleaned_data)
            _say_ordered(request, n, "message", "messages")
            return redirect("crowd:payments", campaign.public_id)
        except DomainError as error:
            form.add_error(None, error.message)
    context = _chosen_context(campaign, chosen, found.verdicts)
    context |= {"form": form, "n_workers": len({each.worker_id for each in chosen})}
    return render_form(request, "crowd/message.html", context)


# --- About one


@_paying_view("GET", "POST")
def reject(request: SignedInRequest, campaign: Campaign, submission_id: int) -> HttpResponse:
    """Show what a rejection does to the worker; sent with a message by somebody who is sure, reject."""
    is_sent = request.method == "POST"
    row = get_row(campaign, submission_id, read_verdicts(campaign, timezone.now()))
    assert row.submission
    refused = get_order_of(campaign, request.GET["again"]) if "again" in request.GET else None
    form = RejectForm(
        request.POST if is_sent else None,
        categories=campaign.crowd_platform.rejection_categories,
        initial={"message": refused.message, "category": refused.category} if refused else {},
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
    context = frame(campaign, "payments") | {"row": row, "submission": row.submission, "form": form}
    return render_form(request, "crowd/reject.html", context)


@_paying_view("POST", refused=_to_submission)
def reverse(request: SignedInRequest, campaign: Campaign, submission_id: int) -> HttpResponse:
    """Take a rejection back: the worker is paid after all."""
    submission, form = get_submission_of(campaign, submission_id), ReverseForm(request.POST)
    if not form.is_valid():
        raise DomainError("message_too_long", "The message is too long.")
    said = form.cleaned_data["message"]
    decisions.reverse_rejection(campaign=campaign, submission=submission, message=said, user=request.user)
    messages.success(request, "The rejection is being taken back: the reward will be paid.")
    return redirect("crowd:submission", campaign.public_id, submission_id)


@_paying_view("POST", refused=_to_submission)
def block(request: SignedInRequest, campaign: Campaign, submission_id: int) -> HttpResponse:
    """Keep the worker of an assignment from all further work of this account."""
    worker, form = get_submission_of(campaign, submission_id).worker, BlockForm(request.POST)
    if not form.is_valid():
        raise DomainError("no_reason", "Say why the worker is blocked.")
    decisions.block(campaign=campaign, worker=worker, reason=form.cleaned_data["reason"], user=request.user)
    messages.success(request, "The block is being sent.")
    return redirect("crowd:submission", campaign.public_id, submission_id)


@_paying_view("POST", refused=_to_submission)
def unblock(request: SignedInRequest, campaign: Campaign, submission_id: int) -> HttpResponse:
    """Let the worker of an assignment come again."""
    worker = get_submission_of(campaign, submission_id).worker
    decisions.unblock(campaign=campaign, worker=worker, user=request.user)
    messages.success(request, "The worker may come again as soon as the platform knows.")
    return redirect("crowd:submission", campaign.public_id, submission_id)


@_paying_view("POST", refused=_to_discrepancies)
def dismiss(request: SignedInRequest, campaign: Campaign, submission_id: int) -> HttpResponse:
    """Dismiss a discrepancy."""
    dismiss_discrepancy(submission=get_submission_of(campaign, submission_id), user=request.user)
    messages.success(request, "Dismissed. It stays in the list of dismissed discrepancies.")
    return redirect("crowd:discrepancies", campaign.public_id)


@_paying_view("POST", refused=_to_discrepancies)
def free(request: SignedInRequest, campaign: Campaign, submission_id: int) -> HttpResponse:
    """Free the place of the assignment here that belongs to one of the platform."""
    assignment = get_submission_of(campaign, submission_id).assignment
    if assignment is None:
        raise DomainError("not_active", "Nobody is working on this here.")
    released = release_assignment(assignment=assignment, cause=PlaceFreed.RESEARCHER)
    if released.state == released.State.FINISHED:
        text = "All items were rated, so it counts as finished."
    else:
        text = f"The place in HIT {assignment.hit.number} is free again. What was rated is kept."
    messages.success(request, text)
    return redirect("crowd:discrepancies", campaign.public_id)


@_paying_view("POST", refused=back_to("crowd:orders"))
def again(request: SignedInRequest, campaign: Campaign, order_id: int) -> HttpResponse:
    """Order again what the platform refused."""
    order_again(order=get_order_of(campaign, str(order_id)), user=request.user)
    messages.success(request, "Ordered again.")
    return redirect("crowd:orders", campaign.public_id)


@_paying_view("POST")
def retry(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Have the orders tried at once that wait after an error."""
    n = retry_orders_now(campaign=campaign)
    messages.success(request, f"{counted(n, 'order')} will be tried now." if n else "No order waits after an error.")
    return redirect("crowd:orders", campaign.public_id)
