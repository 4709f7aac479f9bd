"""The pages of judges: a new one, what it is asked and what that costs, how far it is, its answers."""

from collections.abc import Mapping
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.utils.text import slugify
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables

from analysis.models import Judge
from analysis.web.forms.judges import JudgeLimitsForm, NewJudgeForm, limits_of
from analysis.web.queries.judges import (
    answer_columns,
    answer_rows,
    find_judge_connector,
    get_judge_of,
    hosts_of,
    is_running,
    list_answers,
    list_judged_criteria,
    list_known_models,
    state_of,
    why_not_judged,
)
from analysis.web.services.judges import (
    add_judge,
    cancel_judge,
    change_judge_secrets,
    remove_judge,
    start_judge,
)
from annotation.export.encoding import csv_pieces
from campaigns.contracts.options import Option
from campaigns.contracts.result_pages import PAGE_OF
from campaigns.forms.partial import SecretsForm
from campaigns.models import Campaign
from campaigns.navigation import campaign_context, job_progress
from campaigns.queries import Role
from campaigns.views.access import back_to, campaign_view, render_form
from campaigns.views.autosave import sent
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.encryption import readable_secrets
from evalsite.lib.errors import DomainError
from evalsite.lib.tables.blocks import in_blocks

_ANSWERS_PER_PAGE = 50
_FIELD_OF = {
    "name_taken": "name",
    "metric_twice": "name",
    "no_criteria": "criteria",
    "other_host": "option_base_url",
    "no_cap": "max_cost",
    "no_price": "price_in",
}


@sensitive_variables()
@sensitive_post_parameters()
@campaign_view("GET", "POST", to_read=Role.EDITOR)
def add(request: SignedInRequest, campaign: Campaign, connector: str) -> HttpResponse:
    """Add a judge; the next page shows what it will be asked, before anything is sent."""
    found = find_judge_connector(connector)
    if found is None:
        raise Http404("There is no such connector.")
    known = list_known_models(request.user, connector)
    like = (request.POST if request.method == "POST" else request.GET).get("like", "")
    form = NewJudgeForm(found, list_judged_criteria(campaign), sent(request), known=known, like=like)
    if request.method == "POST" and form.is_valid():
        try:
            made = add_judge(campaign=campaign, user=request.user, connector=connector, **form.values())
            return redirect("analysis:judge", campaign.public_id, made.pk)
        except DomainError as error:
            form.add_error(_FIELD_OF.get(error.code), error.message)
    context = campaign_context(campaign, PAGE_OF["metrics"].in_campaign) | {
        "form": form,
        "connector": found,
        "known": known,
        "like": like,
        "why_not": why_not_judged(campaign),
    }
    return render_form(request, "analysis/judge_add.html", context)


@campaign_view("GET")
def judge(request: SignedInRequest, campaign: Campaign, judge_id: UUID) -> HttpResponse:
    """Show a judge."""
    return _page(request, campaign, get_judge_of(campaign, judge_id))


def _page(
    request: SignedInRequest,
    campaign: Campaign,
    found: Judge,
    *,
    form: JudgeLimitsForm | None = None,
    secrets: SecretsForm | None = None,
    is_refused: bool = False,
) -> HttpResponse:
    """Show a judge, with the form that was refused, if one was."""
    state, options, known = state_of(found), _secret_options(found), readable_secrets(found.secrets)
    running = is_running(found)
    context = campaign_context(campaign, PAGE_OF["metrics"].in_campaign) | {
        "judge": found,
        "connector": find_judge_connector(found.connector),
        "hosts": hosts_of(found),
        "state": state,
        "outcome": _outcome(found, state.n_left),
        "form": form or JudgeLimitsForm(initial=limits_of(found)),
        "secrets": [(name, each.label, bool(known and name in known)) for name, each in options.items()],
        "is_unreadable": known is None,
        "secrets_form": secrets or SecretsForm(options),
        "is_running": running,
        "job": job_progress(campaign, found.job, "analysis:campaign_job")
        if found.job and (running or found.job.error_code)
        else None,
        "page_obj": Paginator(list_answers(found), _ANSWERS_PER_PAGE).get_page(request.GET.get("page")),
    }
    return render_form(request, "analysis/judge.html", context, is_refused=is_refused)


def _outcome(judge: Judge, n_left: int) -> str:
    """Return how the last asking ended: `finished`, `stopped`, `capped`, `failed`; or `running`, `new`."""
    if judge.job is None:
        return "new"
    if is_running(judge):
        return "running"
    if judge.job.error_code:
        return "failed"
    if not n_left:
        return "finished"
    return "stopped" if judge.is_cancelled else "capped"


@campaign_view("POST")
def start(request: SignedInRequest, campaign: Campaign, judge_id: UUID) -> HttpResponse:
    """Ask the judge, or go on asking it, within the caps that are sent."""
    found, form = get_judge_of(campaign, judge_id), JudgeLimitsForm(request.POST)
    if form.is_valid():
        try:
            start_judge(judge=found, user=request.user, limits=form.limits())
            return redirect("analysis:judge", campaign.public_id, found.pk)
        except DomainError as error:
            form.add_error(_FIELD_OF.get(error.code), error.message)
    return _page(request, campaign, found, form=form, is_refused=True)


@campaign_view("POST", refused=back_to("analysis:judge", "judge_id"))
def cancel(request: SignedInRequest, campaign: Campaign, judge_id: UUID) -> HttpResponse:
    """Make no more calls."""
    found = get_judge_of(campaign, judge_id)
    cancel_judge(judge=found)
    messages.success(request, "No more calls are made. What was answered is kept.")
    return redirect("analysis:judge", campaign.public_id, found.pk)


@sensitive_variables()
@sensitive_post_parameters()
@campaign_view("POST")
def secrets(request: SignedInRequest, campaign: Campaign, judge_id: UUID) -> HttpResponse:
    """Set the keys that were entered, or clear one."""
    found = get_judge_of(campaign, judge_id)
    form = SecretsForm(_secret_options(found), request.POST)
    if form.is_valid():
        try:
            change_judge_secrets(judge=found, secrets=form.changes())
        except DomainError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, "Saved.")
            return redirect("analysis:judge", campaign.public_id, found.pk)
    return _page(request, campaign, found, secrets=form, is_refused=True)


@campaign_view("POST", refused=back_to("analysis:judge", "judge_id"))
def remove(request: SignedInRequest, campaign: Campaign, judge_id: UUID) -> HttpResponse:
    """Remove a judge with its answers and scores."""
    found = get_judge_of(campaign, judge_id)
    remove_judge(judge=found)
    messages.success(request, f"The judge “{found}” is removed. Analyses that compared its scores still show them.")
    return redirect("analysis:campaign_metrics", campaign.public_id)


@campaign_view("GET", "HEAD")
def answers(request: SignedInRequest, campaign: Campaign, judge_id: UUID) -> HttpResponseBase:
    """Send every call of a judge, with the answer as it came, as CSV."""
    found = get_judge_of(campaign, judge_id)
    pieces = csv_pieces(answer_columns(found), in_blocks(answer_rows(found)))
    answer = StreamingHttpResponse(pieces, content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="judge-{slugify(found.name) or "answers"}.csv"'
    return answer


def _secret_options(found: Judge) -> Mapping[str, Option]:
    connector = find_judge_connector(found.connector)
    return connector.options.secrets() if connector else {}
