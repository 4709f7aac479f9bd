"""The criteria of a campaign."""

from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from campaigns.forms.criteria import CriterionForm, OrderForm
from campaigns.models import Campaign
from campaigns.navigation import campaign_context
from campaigns.queries import get_criterion_of
from campaigns.services.criteria import (
    add_criterion,
    change_criterion,
    delete_criterion,
    move_criterion,
    order_criteria,
)
from campaigns.views.access import campaign_view, render_form, undoable_in, undoes_in
from campaigns.views.autosave import save_form, sent
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.errors import DomainError
from evalsite.undo.models import Act


def _url(campaign: Campaign) -> str:
    return reverse("campaigns:criteria", args=[campaign.public_id])


def _page(
    request: SignedInRequest,
    campaign: Campaign,
    error: DomainError | None = None,
    *,
    new: CriterionForm | None = None,
    refused: CriterionForm | None = None,
) -> HttpResponse:
    """Show the criteria; `refused` is a form that was sent in vain, `error` what else could not be done."""
    context = campaign_context(campaign, "criteria")
    found = list(campaign.criteria.all())
    rows = [
        refused if refused and refused.criterion == criterion else CriterionForm(criterion, others=found)
        for criterion in found
    ]
    for form in rows:
        form.freeze(context)
    context |= {
        "rows": rows,
        "new": new or CriterionForm(),
        "error": error,
    }
    return render_form(request, "campaigns/criteria.html", context)


@campaign_view("GET", "POST")
def criteria(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Show the criteria; add one."""
    form = CriterionForm(data=sent(request))
    if request.method == "POST" and form.is_valid():
        try:
            criterion = add_criterion(campaign=campaign, fields=form.cleaned_data)
            return redirect(f"{_url(campaign)}#criterion-{criterion.pk}")
        except DomainError as error:
            form.refuse(error)
    return _page(request, campaign, new=form)


@campaign_view("POST", refused=_page)
def criterion(request: SignedInRequest, campaign: Campaign, criterion_id: int) -> HttpResponse:
    """Change a criterion."""
    found = get_criterion_of(campaign, criterion_id)
    form = CriterionForm(found, request.POST, others=list(campaign.criteria.all()))
    answer = save_form(
        request,
        form,
        lambda changes: change_criterion(campaign=campaign, criterion=found, changes=changes),
        to=f"{_url(campaign)}#criterion-{found.pk}",
    )
    return answer or _page(request, campaign, refused=form)


@campaign_view("POST", refused=_page)
def delete(request: SignedInRequest, campaign: Campaign, criterion_id: int) -> HttpResponse:
    """Delete a criterion."""
    with undoable_in(request, campaign, "campaigns.criterion", "campaigns:criteria") as act:
        if fields := delete_criterion(campaign=campaign, criterion_id=criterion_id):
            act.values, act.words = fields, f"“{fields['name']}” was deleted."
    return redirect(_url(campaign))


@undoes_in("campaigns.criterion")
def _add_again(campaign: Campaign, act: Act) -> None:
    add_criterion(campaign=campaign, fields=act.values)


@campaign_view("POST", refused=_page)
def order(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Move a criterion up or down, or put all in a new order. A script hears 204 instead of a page."""
    form = OrderForm(request.POST)
    if not form.is_valid():
        raise DomainError("bad_order", "This is not an order of the criteria. Reload the page and try again.")
    data = form.cleaned_data
    if data["order"]:
        order_criteria(campaign=campaign, order=data["order"])
    else:
        move_criterion(campaign=campaign, criterion_id=data["criterion"], step=data["step"])
    if request.headers.get("X-Autosave") == "1":
        return HttpResponse(status=204)
    return redirect(_url(campaign))
