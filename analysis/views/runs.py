"""The pages of a run: its progress, its results, and their files."""

import mimetypes
from pathlib import Path
from uuid import UUID

from django.conf import settings as django_settings
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from django.views.decorators.http import require_GET, require_http_methods

from analysis import queries
from analysis.anonymity import anonymise, anonymous_report
from analysis.downloads import find_file, list_downloads
from analysis.exports import to_csv
from analysis.forms import ChangeForm, ComparisonFilter, ExclusionForm, WorkerFilter
from analysis.methods.direct_assessment import workers_table
from analysis.models import AnalysisRun
from analysis.navigation import crumbs, run_context
from analysis.queries import Role, get_finished_run_for
from analysis.results import compare_reports, get_chat_totals, get_comparisons, get_ranking, list_workers
from analysis.services.runs import change_run, exclude_worker, include_worker
from campaigns.design.worker_test import WORKER_TESTS
from campaigns.navigation import job_progress
from campaigns.views.access import render_form
from campaigns.views.autosave import sent
from evalsite.accounts.requests import SignedInRequest
from evalsite.jobs.queries import job_state
from evalsite.lib.errors import CONFLICT, DomainError
from evalsite.lib.tables import Problem

_WORKERS_PER_PAGE = 50


@require_http_methods(["GET", "POST"])
def run(request: SignedInRequest, run_id: UUID) -> HttpResponse:
    """Show a run: its progress, what is wrong with its file, or its ranking. Sent settings make a run of their own."""
    found = queries.get_run_for(request.user, run_id, to_change=request.method == "POST")
    if found.report is None:
        return _waiting(request, found)
    form = ChangeForm(sent(request), initial=ChangeForm.initial_of(found.settings))
    if request.method == "POST" and form.is_valid():
        try:
            return redirect("analysis:run", change_run(run=found, user=request.user, **form.changes()).pk)
        except DomainError as error:
            form.add_error(None, error.message)
    before = _compared_with(request, found)
    changes = compare_reports(found.report, before.report) if before else None
    context = run_context(found, "run") | {
        "ranking": get_ranking(found.report, changes),
        "report": found.report,
        "changes": changes,
        "before": before,
        "others": queries.list_comparable(found),
        "form": form,
    }
    return render_form(request, "analysis/run.html", context)


def _waiting(request: SignedInRequest, found: AnalysisRun) -> HttpResponse:
    """Show the progress of a run, its failure, or the problems of its file; there is nothing to change yet."""
    problems = found.problems or {"rows": [], "n_more": 0}
    rows = [Problem(row, column, text, "") for row, column, text in problems["rows"]]
    campaign, state = found.ratings_file.campaign, None
    if found.job:
        state = job_progress(campaign, found.job, "analysis:campaign_job") if campaign else job_state(found.job)
    context = {
        "run": found,
        "is_owner": found.my_role == Role.OWNER and (found.job is None or found.job.is_finished),
        "job_state": state,
        "may_retry": found.job and found.job.owner_id == request.user.pk,
        "problems": rows,
        "n_problems": len(rows) + problems["n_more"],
        "crumbs": crumbs(found.ratings_file),
    }
    return render(request, "analysis/waiting.html", context, status=CONFLICT if request.method == "POST" else 200)


def _compared_with(request: SignedInRequest, found: AnalysisRun) -> AnalysisRun | None:
    """Return the run that the page compares with: the chosen one of the same file, else the one it was changed from."""
    chosen = request.GET.get("against")
    if chosen == "none" or (not chosen and not found.parent_id):
        return None
    if not chosen:
        return queries.find_finished_run_for(request.user, found.parent_id)
    other = get_finished_run_for(request.user, queries.parse_id(chosen))
    if other.ratings_file_id != found.ratings_file_id:
        raise Http404("Only analyses of the same ratings are compared.")
    return other


@require_GET
def significance(request: SignedInRequest, run_id: UUID) -> HttpResponse:
    """Show the tests between systems, on one criterion or overall, by p, corrected or not, or by effect size."""
    found = get_finished_run_for(request.user, run_id)
    comparisons = get_comparisons(found.report)
    form = ComparisonFilter(list(comparisons), request.GET)
    if not form.is_valid():
        raise Http404
    comparison, value = comparisons[form.cleaned_data["criterion"]], form.cleaned_data["value"]
    n_differing = None if value == "superiority" else comparison.n_differing(value)
    context = {"form": form, "comparison": comparison, "value": value, "n_differing": n_differing}
    return render(request, "analysis/significance.html", run_context(found, "significance") | context)


@require_http_methods(["GET", "POST"])
def workers(request: SignedInRequest, run_id: UUID) -> HttpResponse:
    """Show the worker table, filtered and sorted as asked; analyse again without a worker, or with one again."""
    found = get_finished_run_for(request.user, run_id, to_change=request.method == "POST")
    refused = None
    if request.method == "POST":
        try:
            return redirect("analysis:run", _exclude_or_include(request, found, ExclusionForm(request.POST)).pk)
        except DomainError as error:
            refused = {name: request.POST.get(name, "") for name in ("worker", "reason")} | {"error": error.message}
    preset = found.settings["worker_test"]["preset"]
    form = WorkerFilter(preset, request.GET)
    if not form.is_valid():
        raise Http404
    context = run_context(found, "workers") | {
        "page_obj": Paginator(list_workers(found.report, **form.cleaned_data), _WORKERS_PER_PAGE).get_page(
            request.GET.get("page")
        ),
        "refused": refused,
        "compared": WORKER_TESTS[preset].compared,
        "has_references": found.report["summary"].get("references") is not None,
        "form": form,
    }
    return render_form(request, "analysis/workers.html", context)


def _exclude_or_include(request: SignedInRequest, found: AnalysisRun, sent: ExclusionForm) -> AnalysisRun:
    """Return the run without, or again with, the worker; raise DomainError if that cannot be."""
    if not sent.is_valid():
        raise DomainError("bad_exclusion", "Name a worker, and a reason of at most 500 characters.")
    data = sent.cleaned_data
    if data["again"]:
        return include_worker(run=found, user=request.user, worker=data["worker"])
    return exclude_worker(run=found, user=request.user, worker=data["worker"], reason=data["reason"])


@require_GET
def chats(request: SignedInRequest, run_id: UUID) -> HttpResponse:
    """Show what the chats of a run's ratings are like: topics, opinions, lengths, time."""
    found = get_finished_run_for(request.user, run_id)
    totals = get_chat_totals(found.report)
    if totals is None:
        raise Http404
    return render(request, "analysis/chats.html", run_context(found, "chats") | {"chats": totals})


@require_GET
def downloads(request: SignedInRequest, run_id: UUID) -> HttpResponse:
    """List everything that can be downloaded."""
    found = get_finished_run_for(request.user, run_id)
    files = list_downloads(found.report, Path(django_settings.MEDIA_ROOT) / found.folder)
    context = run_context(found, "downloads") | {"files": files, "names_workers": found.my_role == Role.OWNER}
    return render(request, "analysis/downloads.html", context)


@require_GET
def run_file(request: SignedInRequest, run_id: UUID, name: str) -> FileResponse:
    """Send a table, a figure or the replication package of a run; a figure is drawn when it is first asked for."""
    found = get_finished_run_for(request.user, run_id)
    path = find_file(Path(django_settings.MEDIA_ROOT) / found.folder, name)
    if path is None:
        raise Http404
    is_figure = path.suffix == ".svg" and "download" not in request.GET
    response = FileResponse(
        path.open("rb"),
        as_attachment=not is_figure,
        filename=_download_name(found, path.name),
        content_type=mimetypes.guess_type(path.name)[0] or "application/octet-stream",
    )
    response["Cache-Control"] = "private, max-age=3600"
    return response


@require_GET
def workers_csv(request: SignedInRequest, run_id: UUID) -> HttpResponse:
    """Send the worker table; workers by their own ids only to an owner who asks (`?ids=own`)."""
    by_own_ids = request.GET.get("ids") == "own"
    found = get_finished_run_for(request.user, run_id)
    if by_own_ids and found.my_role != Role.OWNER:
        raise PermissionDenied("Only owners may take out the workers’ own ids.")
    report = found.report
    if not by_own_ids and found.my_role != Role.VIEWER:  # a viewer's is anonymous already
        report = anonymous_report(report, anonymise([row["worker"] for row in report["worker_table"]]))
    response = HttpResponse(to_csv(workers_table(report)), content_type="text/csv; charset=utf-8")
    name = _download_name(found, "workers.csv")
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name)
    return response


def _download_name(run: AnalysisRun, name: str) -> str:
    """Return what a browser saves a file of the run as."""
    return f"{slugify(run.ratings_file.title, allow_unicode=True) or 'ratings'}-{name}"
