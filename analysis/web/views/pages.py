"""The pages of a result (`RESULT_PAGES`) for the three ways to one: a ratings file, a campaign, a share link.

Each way finds the run; what a page shows is the same.
"""

from collections.abc import Callable, Mapping
from typing import Any, cast
from uuid import UUID

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from analysis.models import AnalysisRun
from analysis.web.navigation import result_url, section_path
from analysis.web.queries.campaigns import find_shown
from analysis.web.queries.ratings_files import get_run_for
from analysis.web.views import campaigns, sharing
from analysis.web.views.comparisons import show_comparison
from analysis.web.views.metrics import show_metrics
from analysis.web.views.runs import (
    change_groups,
    change_settings,
    change_workers,
    show_chats,
    show_downloads,
    show_findings,
    show_groups,
    show_pairs,
    show_sections,
    show_waiting,
    show_workers,
)
from campaigns.contracts.result_pages import DOWNLOADS, FIRST_PAGE, OWN_PAGE, PAGE_OF, PAIRS, ResultPage
from campaigns.models import Campaign
from campaigns.views.access import campaign_view
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.errors import CONFLICT

Show = Callable[[SignedInRequest, AnalysisRun], HttpResponse]
_SHOWN: Mapping[str, Show] = {
    FIRST_PAGE: show_findings,
    PAIRS: show_pairs,
    "workers": show_workers,
    "groups": show_groups,
    "metrics": show_metrics,
    "chats": show_chats,
    "compare": show_comparison,
    DOWNLOADS: show_downloads,
}
"""What shows a page; all others are nothing but sections."""
_CHANGED: Mapping[str, Show] = {FIRST_PAGE: change_settings, "workers": change_workers, "groups": change_groups}
"""What is done with what is sent to a page of a run."""


def _show(request: SignedInRequest, run: AnalysisRun, page: ResultPage, section: str = "") -> HttpResponse:
    """Show a page of a result; until its run has finished, how far that is: then the page shows by itself."""
    if run.report is None and page.slug != FIRST_PAGE:  # which shows a part of the result before
        return show_waiting(request, run, page.slug, section)
    if show := _SHOWN.get(page.slug):
        return show(request, run)
    if section and (moved_to := _page_of_section(run, section)) != OWN_PAGE:
        return redirect(result_url(run, moved_to, request.GET))
    return show_sections(request, run, page.slug, section)


def _page_of_section(run: AnalysisRun, section: str) -> str:
    """Return which page shows a section, which may have had one of its own before; its own if readers have no other."""
    shown_on = {section_path(each): each.page for each in run.result.sections if each.page and not each.is_empty}
    page = PAGE_OF[shown_on.get(section, OWN_PAGE)]
    return page.slug if page.is_shared or not run.share_token else OWN_PAGE


def of_run(page: ResultPage) -> Callable[..., HttpResponse]:
    """Return the view of a page by the id of a run. Of a campaign's run it leads to the page of the campaign."""

    @require_http_methods(["GET", "POST"] if page.slug in _CHANGED else ["GET"])
    def view(request: SignedInRequest, run_id: UUID, section: str = "") -> HttpResponse:
        is_sent = request.method == "POST"
        run = get_run_for(request.user, run_id, to_change=is_sent)
        if is_sent:
            if run.report is None:
                return show_waiting(request, run, page.slug, status=CONFLICT)
            return _CHANGED[page.slug](request, run)
        if run.ratings_file.campaign_id:
            return redirect(result_url(run, page.slug, request.GET, section))
        return _show(request, run, page, section)

    return view


def of_campaign(page: ResultPage) -> Callable[..., HttpResponseBase]:
    """Return the view of a page of a campaign: of the run that the findings show, or that `run` names."""

    @campaign_view("GET", "HEAD")
    def view(request: SignedInRequest, campaign: Campaign, section: str = "") -> HttpResponse:
        run = find_shown(request.user, campaign, request.GET.get("run", ""))
        if run is None:
            return campaigns.show_results(request, campaign, result_page=page)
        return _show(request, run, page, section)

    return view


def of_link(page: ResultPage) -> Callable[..., HttpResponseBase]:
    """Return the view of a page of what a link shares, which asks nothing of the user."""

    def view(request: HttpRequest, run: AnalysisRun, section: str = "") -> HttpResponse:
        return _show(cast(SignedInRequest, request), run, page, section)

    return sharing.shared(view)


def moved(name: str) -> Callable[..., HttpResponseBase]:
    """Return the view of a former address, which leads to the page of this name; that page says who may see it."""

    @login_not_required
    @require_safe
    def view(request: HttpRequest, **arguments: Any) -> HttpResponse:
        query = request.GET.urlencode()
        return redirect(reverse(name, kwargs=arguments) + (f"?{query}" if query else ""))

    return view
