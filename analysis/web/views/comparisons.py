"""Comparing results: of campaigns and of ratings files, if the user may see them."""

from pathlib import PurePosixPath
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import content_disposition_header, urlencode
from django.views.decorators.http import require_GET

from analysis.methods import method_of
from analysis.models import AnalysisRun
from analysis.results.downloads import CONTENT_TYPES
from analysis.results.exports import table_paths
from analysis.web.navigation import crumbs, result_context
from analysis.web.queries.comparisons import (
    MOST_COMPARED,
    ChosenResults,
    compare_chosen,
    comparison_content,
    comparison_file_name,
)
from analysis.web.queries.ratings_files import (
    list_comparable_results,
    list_finished_runs_for,
    parse_id,
)
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.errors import UNPROCESSABLE

_MOST_OFFERED = 200
_TABLE_FORMATS = ("CSV", "LaTeX", "XLSX")


def _query(chosen: ChosenResults) -> str:
    """Return what names the results for everybody who may see them; "" with fewer than two."""
    if chosen.first is None or chosen.second is None:
        return ""
    named = [("first", chosen.first), ("second", chosen.second), *(("more", each) for each in chosen.more)]
    return urlencode([(name, str(run.pk)) for name, run in named])


@require_GET
def compare(request: SignedInRequest) -> HttpResponse:
    """Compare results that the user may see, two or more."""
    chosen = _chosen(request, _named(request, "first"))
    return _show(request, chosen, {"base": "base.html", "crumbs": crumbs(), "is_free": True})


def show_comparison(request: SignedInRequest, found: AnalysisRun) -> HttpResponse:
    """Compare a result with those that are chosen."""
    return _show(request, _chosen(request, found), result_context(found, "compare"))


def _named(request: SignedInRequest, name: str) -> AnalysisRun | None:
    """Return the result that the address names; raise Http404 if the user may not see it."""
    sent = request.GET.get(name)
    return list_finished_runs_for(request.user, [parse_id(sent)])[0] if sent else None


def _chosen(request: SignedInRequest, first: AnalysisRun | None) -> ChosenResults:
    """Return the results that the address names, each once; raise Http404 if the user may not see one of them."""
    sent = request.GET.get("second")
    second = parse_id(sent) if sent else None
    wanted = dict.fromkeys(parse_id(each) for each in request.GET.getlist("more") if each)
    more = [pk for pk in wanted if pk not in (second, first and first.pk)][: MOST_COMPARED - 2]
    found = list_finished_runs_for(request.user, [second, *more] if second else more)
    return ChosenResults(first, found.pop(0) if second else None, found)


def _show(request: SignedInRequest, chosen: ChosenResults, context: dict[str, Any]) -> HttpResponse:
    found, query = compare_chosen(chosen), _query(chosen)
    fixed = None if context.get("is_free") else chosen.first
    method = method_of(fixed.settings).slug if fixed else None
    context |= {
        "first": chosen.first,
        "second": chosen.second,
        "more": chosen.more,
        "may_add": bool(query) and len(chosen.more) < MOST_COMPARED - 2,
        "agreement": found.agreement,
        "compared": found.sections,
        "refused": found.refused,
        "warnings": found.warnings,
        "offered": list_comparable_results(request.user, method)[:_MOST_OFFERED],
        "query": query,
        "files_at": f"{reverse('analysis:comparison_file')}?{query}",
        "tables": [(table, list(zip(table_paths(table), _TABLE_FORMATS, strict=True))) for table in found.file_tables],
    }
    return render(request, "analysis/compare.html", context, status=UNPROCESSABLE if found.refused else 200)


@require_GET
def comparison_file(request: SignedInRequest) -> HttpResponse:
    """Send the table or figure of a comparison that `file` names: `tables/comparison.csv`, `figures/over-time.pdf` …

    A figure is shown rather than saved without `download`.
    """
    name = request.GET.get("file", "")
    chosen = _chosen(request, _named(request, "first"))
    found = compare_chosen(chosen)
    if not found.sections:  # the page says why
        return redirect(f"{reverse('analysis:compare_any')}?{request.GET.urlencode()}")
    content = comparison_content(found, chosen, name)
    if content is None:
        raise Http404
    suffix = PurePosixPath(name).suffix
    response = HttpResponse(content, content_type=CONTENT_TYPES[suffix])
    is_saved = suffix != ".svg" or "download" in request.GET
    response["Content-Disposition"] = content_disposition_header(is_saved, comparison_file_name(name)) or "attachment"
    response["Cache-Control"] = "private, max-age=3600"
    return response
