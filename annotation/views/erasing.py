"""The personal data of one worker: a file of what is stored, and erasing: what goes, what stays and why."""

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect

from annotation.forms import EraseForm
from annotation.monitoring.lists import count_work_of, get_worker_of
from annotation.services.erasing import erase_worker, plan_erasure, stored_data
from campaigns.models import Campaign
from campaigns.navigation import campaign_context
from campaigns.queries import Role
from campaigns.views.access import campaign_view, render_form
from campaigns.views.autosave import sent
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.acts import note_act
from evalsite.lib.errors import CONFLICT, DomainError


@campaign_view("GET", "POST", to_read=Role.OWNER, to_change=Role.OWNER)
def erase(request: SignedInRequest, campaign: Campaign, worker_id: int) -> HttpResponse:
    """Say what erasing a worker's personal data does, and do it."""
    worker = get_worker_of(campaign, worker_id)
    plan, error = plan_erasure(campaign=campaign, worker=worker), None
    form = EraseForm(sent(request), is_live=campaign.is_live, has_results=bool(plan.held))
    if request.method == "POST" and form.is_valid():
        try:
            erased = erase_worker(campaign=campaign, worker=worker, wants=form.chosen(), user=request.user)
        except DomainError as refused:
            error = refused
        else:
            label = f" The scores are kept under “{erased.name}”." if erased else ""
            messages.success(request, f"The personal data were erased.{label}")
            return redirect("monitoring:assignments", campaign.public_id)
    context = campaign_context(campaign, "assignments") | {
        "worker": worker,
        "work": count_work_of(campaign, worker),
        "plan": plan,
        "form": form,
        "refused": error,
    }
    response = render_form(request, "monitoring/erase.html", context)
    if error:
        response.status_code = CONFLICT
    return response


@campaign_view("GET", to_read=Role.OWNER)
def data(request: SignedInRequest, campaign: Campaign, worker_id: int) -> JsonResponse:
    """Send what is stored on a worker, for them to read."""
    worker = get_worker_of(campaign, worker_id)
    note_act(is_act=True)
    answer = JsonResponse(stored_data(campaign=campaign, worker=worker), json_dumps_params={"indent": 1})
    answer["Content-Disposition"] = f'attachment; filename="worker-{worker.pk}.json"'
    return answer
