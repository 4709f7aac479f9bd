"""The pages of what a campaign's ratings mean."""

from typing import Any
from uuid import UUID

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from analysis import presenters
from analysis.campaign_queries import (
    find_job,
    find_latest_result,
    get_job_of,
    get_rating_progress,
    list_campaign_runs,
    settings_of,
)
from analysis.live import list_live_workers
from analysis.methods import sections_of
from analysis.methods.replication import agreement_table, compare_runs
from analysis.services.campaigns import request_analysis
from analysis.words import worker_test_name
from campaigns.design.worker_test import WORKER_TESTS
from campaigns.navigation import campaign_context
from campaigns.queries import Role, get_campaign_for, has_role
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.errors import DomainError

_RUNS_PER_PAGE, _WORKERS_PER_PAGE = 25, 500
_CHATS_SHOWN = ("opinions", "words")


@require_http_methods(["GET", "HEAD", "POST"])
def results(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Show what a campaign's ratings mean so far; sent, analyse what has come since."""
    role = Role.EDITOR if request.method == "POST" else Role.VIEWER
    campaign = get_campaign_for(request.user, public_id, role)
    refused = None
    if request.method == "POST":
        try:
            request_analysis(campaign=campaign, user=request.user)
            return redirect("analysis:campaign_results", campaign.public_id)
        except DomainError as error:
            refused = error.message
    progress, latest = get_rating_progress(campaign), find_latest_result(request.user, campaign.pk)
    waited_for = find_job(campaign)
    page = Paginator(list_campaign_runs(campaign), _RUNS_PER_PAGE).get_page(request.GET.get("page"))
    can_change = has_role(campaign, Role.EDITOR)
    context: dict[str, Any] = campaign_context(campaign, "results") | {
        "progress": progress,
        "latest": latest,
        "page_obj": page,
        "runs": presenters.runs_listed(page, with_names=can_change),
        "job_state": presenters.job_shown(campaign, waited_for) if waited_for else None,
        "can_change": can_change,
        "refused": refused,
    }
    if latest:
        original = find_latest_result(request.user, campaign.replicates_id)
        agreement = compare_runs(original.report["summary"], latest.report["summary"]) if original else None
        context |= {
            "held": presenters.progress_words(progress, latest.ratings_file),
            "stats": presenters.stats_of(latest),
            "ranking": presenters.ranking(latest.report or {}),
            "chats": presenters.chats(latest.report or {}),
            "chat_sections": [s for s in sections_of(latest.report, "chats") if s.slug in _CHATS_SHOWN],
            "original": original,
            "replication": agreement,
            "agreement": agreement_table(agreement) if agreement else None,
        }
    return render(request, "analysis/campaign_results.html", context, status=409 if refused else 200)


@require_safe
@never_cache
def job(request: SignedInRequest, public_id: UUID, job_id: UUID) -> HttpResponse:
    """Answer with the state of a job of the campaign's analysis."""
    campaign = get_campaign_for(request.user, public_id)
    return JsonResponse(presenters.job_shown(campaign, get_job_of(campaign, job_id)))


@require_safe
def workers(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Show the campaign's workers as they are now."""
    campaign = get_campaign_for(request.user, public_id)
    show, search = request.GET.get("show", ""), request.GET.get("search", "").strip()
    shown = presenters.shown_workers(campaign.worker_test)
    if show not in shown:
        raise Http404
    context: dict[str, Any] = campaign_context(campaign, "workers") | {
        "show": show,
        "shown": shown,
        "search": search,
        "test": worker_test_name(campaign.worker_test),
        "words": WORKER_TESTS[campaign.worker_test],
        "with_names": has_role(campaign, Role.EDITOR),
    }
    try:
        everyone = list_live_workers(campaign, settings_of(campaign), timezone.now())
    except DomainError as error:
        return render(request, "analysis/campaign_workers.html", context | {"refused": error.message})
    rows = presenters.live_rows(everyone, with_names=context["with_names"], show=show, search=search)
    context["has_references"] = any(worker.conduct.reference_mean is not None for worker in everyone)
    context |= {"everyone": everyone, "page_obj": Paginator(rows, _WORKERS_PER_PAGE).get_page(request.GET.get("page"))}
    return render(request, "analysis/campaign_workers.html", context)
