"""The pages of what a campaign's ratings mean."""

from typing import Any
from uuid import UUID

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache

from analysis.methods import compare_by_method, get_method
from analysis.results.exports import to_csv
from analysis.results.replication import agreement_table
from analysis.web.forms.runs import LiveWorkerFilter
from analysis.web.looks import course_of, looks_table
from analysis.web.queries import campaigns as queries
from analysis.web.queries.ratings_files import has_part, hide_excluded
from analysis.web.queries.workers_now import find_workers, list_live_workers, list_unjudged_workers
from analysis.web.services.campaigns import request_analysis
from analysis.web.views.runs import show_findings
from campaigns.contracts.result_pages import RESULT_PAGES, ResultPage
from campaigns.design.worker_test import WORKER_TESTS
from campaigns.models import Campaign
from campaigns.navigation import campaign_context, job_progress
from campaigns.queries import Role, has_role
from campaigns.views.access import campaign_view
from evalsite.accounts.requests import SignedInRequest
from evalsite.jobs.models import Job
from evalsite.lib.errors import CONFLICT, DomainError

_RUNS_PER_PAGE, _WORKERS_PER_PAGE = 25, 500


def show_results(
    request: SignedInRequest,
    campaign: Campaign,
    error: DomainError | None = None,
    result_page: ResultPage = RESULT_PAGES[0],
) -> HttpResponse:
    """Show what the ratings mean so far, and why they are not analysed again.

    `result_page`: in place of which page of a result this says that there is none.
    """
    chosen = request.GET.get("run", "")
    shown, waited_for = queries.find_shown(request.user, campaign, chosen), queries.find_job(campaign)
    page = Paginator(queries.list_campaign_runs(campaign), _RUNS_PER_PAGE).get_page(request.GET.get("page"))
    can_edit = has_role(campaign, Role.EDITOR)
    progress = queries.get_rating_progress(campaign)
    more: dict[str, Any] = {
        "page_obj": page,
        "runs": page if can_edit else hide_excluded(page),
        "refused": error,
        "progress": progress,
        "new_job": _progress_of(campaign, waited_for) if waited_for and not chosen else None,
        "course": course_of(campaign, queries.list_looks(campaign)),
    }
    if shown is None:
        context = campaign_context(campaign, result_page.in_campaign) | {"title": result_page.title}
        return render(request, "analysis/no_results.html", context | more)
    if shown.job == waited_for:
        more["new_job"] = None  # the page shows how far its own run is
    more["n_new"] = max(progress.n_finished - (shown.ratings_file.n_assignments or 0), 0)
    original = queries.find_latest_result(request.user, campaign.replicates_id) if shown.report else None
    agreement = compare_by_method(original.result, shown.result) if original else None
    more |= {
        "original": original,
        "replication": agreement,
        "agreement": agreement_table(agreement) if agreement else None,
    }
    return show_findings(request, shown, more=more)


@campaign_view("GET", "HEAD", "POST", refused=show_results, status=CONFLICT)
def results(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Show what a campaign's ratings mean so far; sent, analyse what has come since."""
    if request.method == "POST":
        request_analysis(campaign=campaign, user=request.user)
        return redirect("analysis:campaign_results", campaign.public_id)
    return show_results(request, campaign)


def _progress_of(campaign: Campaign, job: Job) -> dict[str, Any]:
    return job_progress(campaign, job, "analysis:campaign_job") | {"partial": has_part(job)}


@never_cache
@campaign_view("GET", "HEAD")
def job(request: SignedInRequest, campaign: Campaign, job_id: UUID) -> HttpResponse:
    """Answer with the state of a job of the campaign's analysis, and whether a part of its result can be shown."""
    return JsonResponse(_progress_of(campaign, queries.get_job_of(campaign, job_id)))


@campaign_view("GET", "HEAD")
def looks(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Send every look at the campaign's ratings as CSV."""
    answer = HttpResponse(to_csv(looks_table(queries.list_looks(campaign))), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = 'attachment; filename="looks.csv"'
    return answer


@campaign_view("GET", "HEAD")
def workers(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Show the campaign's workers as they are now."""
    form = LiveWorkerFilter(campaign.worker_test, request.GET)
    if not form.is_valid():
        raise Http404
    context = campaign_context(campaign, "workers") | {"form": form, "test": WORKER_TESTS[campaign.worker_test]}
    now = timezone.now()
    try:
        settings = queries.judging_settings_of(campaign)
        everyone = list_live_workers(campaign, settings, now)
    except DomainError as error:
        everyone = list_unjudged_workers(campaign, now)
        context["refused"] = error if queries.can_analyse(campaign) else None
    else:
        has_scores = get_method(settings.method).is_study or queries.has_scores(campaign)
        context |= {"has_verdicts": True, "has_scores": has_scores}
        context["test"] = WORKER_TESTS[settings.preset]  # none of a method that tests nobody
    data = form.cleaned_data
    found = find_workers(everyone, state=data["show"], search=data["search"], with_names=context["can_edit"])
    context |= {
        "n_workers": len(everyone),
        "has_references": any(worker.conduct.reference_mean is not None for worker in everyone),
        "page_obj": Paginator(found, _WORKERS_PER_PAGE).get_page(request.GET.get("page")),
    }
    return render(request, "analysis/campaign_workers.html", context)
