"""Comparing results: of campaigns and of ratings files, if the user may see them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import content_disposition_header, urlencode
from django.views.decorators.http import require_GET

from analysis.compare import Agreement, compare_results, comparison_sections
from analysis.compare_several import DatedResult, several_sections
from analysis.downloads import CONTENT_TYPES
from analysis.exports import dump_json, figure_bytes, figure_files, table_paths, to_csv, to_latex, to_xlsx
from analysis.models import AnalysisRun
from analysis.navigation import crumbs, result_context
from analysis.queries import get_finished_run_for, list_comparable_results, list_finished_runs_for, parse_id
from analysis.sections import DARK, LIGHT, Output, Section, Table
from analysis.templatetags.results import figure_file
from analysis.views.runs import result_page
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.errors import UNPROCESSABLE, DomainError

_MOST_OFFERED, _MOST_COMPARED = 200, 12
_TABLE_FORMATS = ("CSV", "LaTeX", "XLSX")


@dataclass(frozen=True)
class _Chosen:
    """The results that an address names."""

    first: AnalysisRun | None
    second: AnalysisRun | None
    more: list[AnalysisRun] = field(default_factory=list)

    @property
    def query(self) -> str:
        """What names them for everybody who may see them, wherever they open it; "" with fewer than two."""
        if self.first is None or self.second is None:
            return ""
        named = [("first", self.first), ("second", self.second), *(("more", each) for each in self.more)]
        return urlencode([(name, str(run.pk)) for name, run in named])


@require_GET
def compare(request: SignedInRequest) -> HttpResponse:
    """Compare results that the user may see, two or more."""
    chosen = _chosen(request, _named(request, "first"))
    return _show(request, chosen, {"base": "base.html", "crumbs": crumbs(), "is_free": True})


def show_comparison(request: SignedInRequest, found: AnalysisRun) -> HttpResponse:
    """Compare a result with those that are chosen."""
    return _show(request, _chosen(request, found), result_context(found, "compare"))


compare_run = result_page("compare", show_comparison)


def _named(request: SignedInRequest, name: str) -> AnalysisRun | None:
    """Return the result that the address names; raise Http404 if the user may not see it."""
    sent = request.GET.get(name)
    return get_finished_run_for(request.user, parse_id(sent)) if sent else None


def _chosen(request: SignedInRequest, first: AnalysisRun | None) -> _Chosen:
    """Return the results that the address names, each once; raise Http404 if the user may not see one of them."""
    second = _named(request, "second")
    known = {run.pk for run in (first, second) if run}
    wanted = list(dict.fromkeys(parse_id(sent) for sent in request.GET.getlist("more") if sent))
    more = [pk for pk in wanted if pk not in known][: _MOST_COMPARED - 2]
    return _Chosen(first, second, list_finished_runs_for(request.user, more))


def _show(request: SignedInRequest, chosen: _Chosen, context: dict[str, Any]) -> HttpResponse:
    agreement, sections, refused = _compare(chosen)
    context |= {
        "first": chosen.first,
        "second": chosen.second,
        "more": chosen.more,
        "may_add": bool(chosen.query) and len(chosen.more) < _MOST_COMPARED - 2,
        "agreement": agreement,
        "compared": sections,
        "refused": refused,
        "offered": list_comparable_results(request.user)[:_MOST_OFFERED],
        "query": chosen.query,
        "files_at": f"{reverse('analysis:comparison_file')}?{chosen.query}",
        "tables": [
            (table, list(zip(table_paths(table), _TABLE_FORMATS, strict=True)))
            for section in sections
            for table in section.tables
            if Output.FILES in table.output
        ],
    }
    return render(request, "analysis/compare.html", context, status=UNPROCESSABLE if refused else 200)


def _compare(chosen: _Chosen) -> tuple[Agreement | None, list[Section], str]:
    """Return how far the first two results agree, the sections of all, and why the first two cannot be compared."""
    first, second = chosen.first, chosen.second
    if first is None or second is None:
        return None, [], ""
    if first.pk == second.pk:
        return None, [], "These are one and the same result. Choose another one to compare it with."
    several = several_sections([_dated(each) for each in (first, second, *chosen.more)])
    try:
        agreement = compare_results(first.report, second.report)
    except DomainError as error:
        return None, several, error.message
    return agreement, [*several, *comparison_sections(first.report, second.report, agreement)], ""


def _dated(run: AnalysisRun) -> DatedResult:
    return DatedResult(run.ratings_file.title, run.ratings_file.uploaded_at, run.report)


@require_GET
def comparison_file(request: SignedInRequest) -> HttpResponse:
    """Send the table or figure of a comparison that `file` names: `tables/comparison.csv`, `figures/over-time.pdf` …

    A figure is shown rather than saved without `download`.
    """
    name = request.GET.get("file", "")
    chosen = _chosen(request, _named(request, "first"))
    _, sections, _ = _compare(chosen)
    if not sections:  # the page says why
        return redirect(f"{reverse('analysis:compare_any')}?{request.GET.urlencode()}")
    content = _content(sections, name, chosen)
    if content is None:
        raise Http404
    path = PurePosixPath(name)
    response = HttpResponse(content, content_type=CONTENT_TYPES[path.suffix])
    is_saved = path.suffix != ".svg" or "download" in request.GET
    filename = path.name if path.name.startswith("comparison") else f"comparison-{path.name}"
    response["Content-Disposition"] = content_disposition_header(is_saved, filename) or "attachment"
    response["Cache-Control"] = "private, max-age=3600"
    return response


def _content(sections: list[Section], name: str, chosen: _Chosen) -> str | bytes | None:
    """Return the content of a file of a comparison; None if it has no such file."""
    for section in sections:
        for table in section.tables:
            if Output.FILES in table.output and name in (paths := table_paths(table)):
                writers: list[Callable[[Table], str | bytes]] = [to_csv, to_latex, lambda each: to_xlsx([each])]
                return writers[paths.index(name)](table)
        for figure in section.figures:
            dark = f"{figure_file(figure.name)}-dark.svg"
            if name in (*figure_files(figure), dark):
                results = [each.report["summary"] for each in (chosen.first, chosen.second, *chosen.more) if each]
                theme, suffix = DARK if name == dark else LIGHT, PurePosixPath(name).suffix
                return figure_bytes(figure, suffix, theme, texts=dump_json(results))
    return None
