"""The pages that plan: of a campaign, and without one."""

from pathlib import PurePath
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from analysis.models import PowerAnalysis
from analysis.planning.plans import PlanSettings
from analysis.planning.sections import findings_of, sections_of_plan
from analysis.results.downloads import CONTENT_TYPES, OTHER_TYPE
from analysis.results.exports import dump_json, section_file
from analysis.web.forms.planning import PlanningForm, first_values, initial_of
from analysis.web.navigation import crumbs
from analysis.web.queries.planning import (
    find_plan,
    get_plan_for,
    list_pilots,
    list_plans,
    why_unplanned,
)
from analysis.web.queries.ratings_files import Role
from analysis.web.services.planning import delete_plan, start_plan
from analysis.web.views.deletion import ROWS, public_id_of
from campaigns.models import Campaign
from campaigns.navigation import campaign_context
from campaigns.queries import has_role
from campaigns.views.access import campaign_view, render_form
from campaigns.views.autosave import sent
from evalsite.accounts.requests import SignedInRequest
from evalsite.jobs.queries import job_state
from evalsite.lib.acts import note_refusal
from evalsite.lib.errors import DomainError
from evalsite.undo.acts import undoable


def _url(plan: PowerAnalysis | None, campaign: Campaign | None) -> str:
    base = reverse("analysis:campaign_plan", args=[campaign.public_id]) if campaign else reverse("analysis:plans")
    return f"{base}?plan={plan.pk}" if plan else base


def _page(request: SignedInRequest, campaign: Campaign | None, form: PlanningForm | None = None) -> HttpResponse:
    """Show the form, the chosen plan or the newest, and the list of plans. Without a plan the form has defaults."""
    plans = list_plans(request.user, campaign)
    shown = find_plan(plans, request.user, campaign, request.GET.get("plan", ""))
    unplanned = why_unplanned(campaign) if campaign else ""
    can_plan = not unplanned and (campaign is None or has_role(campaign, Role.EDITOR))
    if form is None and can_plan:
        pilots = list_pilots(request.user, campaign)
        initial = first_values(campaign, pilots)
        if shown and "new" not in request.GET:
            initial = initial_of(PlanSettings.from_json(shown.settings), shown.pilot)
        form = PlanningForm(campaign, pilots, initial=initial)
    context: dict[str, Any] = {
        "form": form,
        "unplanned": unplanned,
        "plans": plans,
        "plan": shown,
        "page_url": _url(None, campaign),
        "may_delete": can_plan and shown is not None and (shown.job is None or shown.job.is_finished),
        "job_state": _progress(shown) if shown and shown.plan is None else None,
    }
    if shown and shown.plan:
        context |= {"findings": findings_of(shown.plan), "sections": sections_of_plan(shown.plan)}
    if campaign:
        context |= campaign_context(campaign, "plan") | {"base": "campaigns/frame.html"}
    else:
        context |= {"base": "base.html", "crumbs": crumbs()}
    return render_form(request, "analysis/plan.html", context)


def _answer(request: SignedInRequest, campaign: Campaign | None) -> HttpResponse:
    """Show the page; of what was sent, make a plan."""
    if request.method != "POST":
        return _page(request, campaign)
    form = PlanningForm(campaign, list_pilots(request.user, campaign), sent(request))
    if form.is_valid():
        settings = form.settings()
        if settings:
            plan = start_plan(user=request.user, settings=settings, campaign=campaign, pilot=form.pilot)
            return redirect(_url(plan, campaign))
    return _page(request, campaign, form)


@require_http_methods(["GET", "HEAD", "POST"])
def plans(request: SignedInRequest) -> HttpResponse:
    """Plan without a campaign."""
    return _answer(request, None)


@campaign_view("GET", "HEAD", "POST")
def campaign_plan(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Plan a campaign, from its design as it is."""
    return _answer(request, campaign)


def _progress(plan: PowerAnalysis) -> dict[str, Any] | None:
    return job_state(plan.job) | {"url": reverse("analysis:plan_job", args=[plan.pk])} if plan.job else None


@never_cache
@require_GET
def plan_job(request: SignedInRequest, plan_id: UUID) -> JsonResponse:
    """Answer with the state of a plan's job."""
    found = _progress(get_plan_for(request.user, plan_id))
    if found is None:
        raise Http404("This plan has no job.")
    return JsonResponse(found)


@require_GET
def plan_file(request: SignedInRequest, plan_id: UUID, name: str) -> HttpResponse:
    """Send the curve, a table, or the whole plan as JSON."""
    found = get_plan_for(request.user, plan_id)
    if not found.plan:
        raise Http404("The plan is not made yet.")
    content = dump_json(found.plan) if name == "plan.json" else section_file(sections_of_plan(found.plan), name)
    if content is None:
        raise Http404("There is no such file.")
    is_shown = name.endswith(".svg") and "download" not in request.GET
    response = HttpResponse(content, content_type=CONTENT_TYPES.get(PurePath(name).suffix, OTHER_TYPE))
    response["Content-Disposition"] = f'{"inline" if is_shown else "attachment"}; filename="{name}"'
    response["Cache-Control"] = "private, max-age=3600"
    return response


@require_POST
def delete(request: SignedInRequest, plan_id: UUID) -> HttpResponse:
    """Delete a plan."""
    found = get_plan_for(request.user, plan_id, to_change=True)
    page = _url(None, found.campaign)
    try:
        with undoable(request, ROWS, page=page, campaign=public_id_of(found.campaign)) as act:
            delete_plan(plan=found, act=act)
            act.words = "The plan is deleted."
    except DomainError as error:
        messages.error(request, error.message)
        note_refusal()
        return redirect(_url(found, found.campaign))
    return redirect(page)
