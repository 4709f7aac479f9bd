"""The criteria of a campaign."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from campaigns.forms.criteria import CriterionForm, OrderForm
from campaigns.models import Campaign
from campaigns.navigation import campaign_context
from campaigns.queries import Role, get_campaign_for, get_criterion_of
from campaigns.services.criteria import (
    add_criterion,
    change_criterion,
    delete_criterion,
    move_criterion,
    order_criteria,
)
from campaigns.views.autosave import REFUSED, role_for, save_form, sent
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.errors import DomainError


@require_http_methods(["GET", "POST"])
def criteria(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Show the criteria; add one."""
    campaign = get_campaign_for(request.user, public_id, role_for(request))
    form = CriterionForm(data=sent(request))
    if request.method == "POST" and form.is_valid():
        try:
            criterion = add_criterion(campaign=campaign, fields=form.cleaned_data)
            return redirect(f"{_url(campaign)}#criterion-{criterion.pk}")
        except DomainError as error:
            form.refuse(error)
    return _page(request, campaign, new=form)


@require_POST
def criterion(request: SignedInRequest, public_id: UUID, criterion_id: int) -> HttpResponse:
    """Change a criterion."""
    campaign = get_campaign_for(request.user, public_id, Role.EDITOR)
    found = get_criterion_of(campaign, criterion_id)
    form = CriterionForm(found, request.POST)
    answer = save_form(
        request,
        form,
        lambda changes: change_criterion(campaign=campaign, criterion=found, changes=changes),
        to=f"{_url(campaign)}#criterion-{found.pk}",
    )
    return answer or _page(request, campaign, refused=form)


@require_POST
def delete(request: SignedInRequest, public_id: UUID, criterion_id: int) -> HttpResponse:
    """Delete a criterion, and remember it for `undo`."""
    campaign = get_campaign_for(request.user, public_id, Role.EDITOR)
    try:
        fields = delete_criterion(campaign=campaign, criterion_id=criterion_id)
    except DomainError as error:
        return _page(request, campaign, error=error)
    if fields:
        request.session[_key(campaign)] = fields
    return redirect(_url(campaign))


@require_POST
def undo(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Add the criterion again that this user deleted last."""
    campaign = get_campaign_for(request.user, public_id, Role.EDITOR)
    fields = request.session.get(_key(campaign))
    try:
        if fields:
            add_criterion(campaign=campaign, fields=fields)
    except DomainError as error:
        return _page(request, campaign, error=error)
    request.session.pop(_key(campaign), None)
    return redirect(_url(campaign))


@require_POST
def order(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Move a criterion up or down, or put all in a new order. A script hears 204 instead of a page."""
    campaign = get_campaign_for(request.user, public_id, Role.EDITOR)
    form = OrderForm(request.POST)
    try:
        if not form.is_valid():
            raise DomainError("bad_order", "This is no order of criteria. Reload the page and try again.")
        data = form.cleaned_data
        if data["order"]:
            order_criteria(campaign=campaign, order=data["order"])
        else:
            move_criterion(campaign=campaign, criterion_id=data["criterion"], step=data["step"])
    except DomainError as error:
        return _page(request, campaign, error=error)
    if request.headers.get("X-Autosave") == "1":
        return HttpResponse(status=204)
    return redirect(_url(campaign))


def _url(campaign: Campaign) -> str:
    return reverse("campaigns:criteria", args=[campaign.public_id])


def _key(campaign: Campaign) -> str:
    """Return where the session keeps the criterion that was deleted last."""
    return f"deleted-criterion:{campaign.public_id}"


def _page(
    request: SignedInRequest,
    campaign: Campaign,
    *,
    new: CriterionForm | None = None,
    refused: CriterionForm | None = None,
    error: DomainError | None = None,
) -> HttpResponse:
    """Show the criteria; `refused` is a form that was sent in vain, `error` what else could not be done."""
    context = campaign_context(campaign, "criteria")
    rows = [
        refused if refused and refused.criterion == criterion else CriterionForm(criterion)
        for criterion in campaign.criteria.all()
    ]
    if not context["can_change"]:
        for form in rows:
            form.freeze()
    context |= {
        "rows": rows,
        "new": new or CriterionForm(),
        "error": error,
        "deleted": request.session.get(_key(campaign)) if context["can_change"] else None,
    }
    return render(request, "campaigns/criteria.html", context, status=REFUSED if request.method == "POST" else 200)
