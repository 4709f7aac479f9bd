"""Comparing two results: of campaigns and of ratings files, if the user may see them."""

from collections.abc import Callable
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import content_disposition_header, urlencode
from django.views.decorators.http import require_GET

from analysis.compare import Agreement, compare_results, correlations_table, systems_table
from analysis.downloads import CONTENT_TYPES
from analysis.exports import to_csv, to_latex, to_xlsx
from analysis.models import AnalysisRun
from analysis.navigation import crumbs, result_context
from analysis.queries import get_finished_run_for, list_comparable_results, parse_id
from analysis.sections import Table
from analysis.views.runs import result_page
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.errors import UNPROCESSABLE, DomainError

_MOST_OFFERED = 200
_TABLES = {"systems": systems_table, "correlations": correlations_table}
_FORMATS: dict[str, tuple[Callable[[Table], str | bytes], str]] = {
    "csv": (to_csv, "text/csv; charset=utf-8"),
    "tex": (to_latex, "application/x-tex; charset=utf-8"),
    "xlsx": (lambda table: to_xlsx([table]), CONTENT_TYPES[".xlsx"]),
}


@require_GET
def compare(request: SignedInRequest) -> HttpResponse:
    """Compare any two results that the user may see."""
    first, second = (_chosen(request, name) for name in ("first", "second"))
    return _show(request, first, second, {"base": "base.html", "crumbs": crumbs(), "is_free": True})


def show_comparison(request: SignedInRequest, found: AnalysisRun) -> HttpResponse:
    """Compare a result with the one that is chosen."""
    return _show(request, found, _chosen(request, "second"), result_context(found, "compare"))


compare_run = result_page("compare", show_comparison)


def _chosen(request: SignedInRequest, name: str) -> AnalysisRun | None:
    """Return the result that the address names; raise Http404 if the user may not see it."""
    sent = request.GET.get(name)
    return get_finished_run_for(request.user, parse_id(sent)) if sent else None


def _show(
    request: SignedInRequest, first: AnalysisRun | None, second: AnalysisRun | None, context: dict[str, Any]
) -> HttpResponse:
    agreement, refused = _compare(first, second)
    context |= {
        "first": first,
        "second": second,
        "agreement": agreement,
        "refused": refused,
        "offered": list_comparable_results(request.user)[:_MOST_OFFERED],
    }
    if first and second:
        # This link is the same for all who may see both results, wherever they open it.
        context["query"] = urlencode({"first": str(first.pk), "second": str(second.pk)})
    return render(request, "analysis/compare.html", context, status=UNPROCESSABLE if refused else 200)


def _compare(first: AnalysisRun | None, second: AnalysisRun | None) -> tuple[Agreement | None, str]:
    """Return how far two results agree, or why that cannot be said."""
    if first is None or second is None:
        return None, ""
    if first.pk == second.pk:
        return None, "These are one and the same result. Choose another one to compare it with."
    try:
        return compare_results(first.report, second.report), ""
    except DomainError as error:
        return None, error.message


@require_GET
def comparison_file(request: SignedInRequest) -> HttpResponse:
    """Send the table of a comparison that `file` names, as CSV, LaTeX or XLSX: `systems.csv`, `correlations.tex` …"""
    name = request.GET.get("file", "")
    title, _, suffix = name.partition(".")
    agreement, _ = _compare(_chosen(request, "first"), _chosen(request, "second"))
    if agreement is None:  # the page says why
        return redirect(f"{reverse('analysis:compare_any')}?{request.GET.urlencode()}")
    if title not in _TABLES or suffix not in _FORMATS:
        raise Http404
    write, content_type = _FORMATS[suffix]
    response = HttpResponse(write(_TABLES[title](agreement)), content_type=content_type)
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=f"comparison-{name}")
    return response
