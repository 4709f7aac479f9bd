"""The pages of a run: its progress, its results, and their files."""

from pathlib import Path, PurePosixPath
from tempfile import NamedTemporaryFile
from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from analysis.data.dialogues.corpus import load_corpus
from analysis.methods import method_of
from analysis.models import AnalysisRun
from analysis.results.anonymity import anonymise, anonymous_report, workers_of
from analysis.results.downloads import CONTENT_TYPES, OTHER_TYPE, find_file, list_downloads
from analysis.results.exports import to_csv, to_latex
from analysis.results.interval_plot import plot_ranking
from analysis.results.paper.statement import data_statement
from analysis.results.paper.texts import paper_texts
from analysis.results.reading import read_result
from analysis.results.result import Result
from analysis.results.sections import Output
from analysis.results.values import find_changes, get_chat_totals, get_ranking, list_workers
from analysis.web.forms.runs import ChangeForm, ComparisonFilter, CorpusForm, ExclusionForm, ShareForm, WorkerFilter
from analysis.web.navigation import result_context, result_url, share_path
from analysis.web.queries import ratings_files as queries
from analysis.web.queries.campaigns import get_answers, list_share_links
from analysis.web.queries.facts import get_facts
from analysis.web.queries.ratings_files import Role, get_finished_run_for
from analysis.web.services.runs import change_run, exclude_worker, include_worker
from campaigns.contracts.result_pages import DOWNLOADS, FIRST_PAGE, PAIRS
from campaigns.design.worker_test import WORKER_TESTS
from campaigns.views.access import render_form
from campaigns.views.autosave import sent
from evalsite.accounts.requests import SignedInRequest
from evalsite.jobs.queries import job_state
from evalsite.lib.acts import note_act
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import Problem
from evalsite.lib.tables.errors import shorten

_WORKERS_PER_PAGE = 50
_GROUPS = "groups"
_IN_PACKAGE = (
    "It also has the datasheet, and the text for the paper with the data statement, as they were when the ratings were "
    "analysed. Names, addresses and other personal data that somebody typed into them are in it: read datasheet.md and "
    "paper.txt before you pass the package on. You may delete both from it, and datasheet.json: nothing is computed "
    "from them."
)


def change_settings(request: SignedInRequest, found: AnalysisRun) -> HttpResponse:
    """Analyse again by the settings that were sent."""
    form = _change_form(found, sent(request))
    if form.is_valid():
        try:
            return redirect(result_url(change_run(run=found, user=request.user, **form.changes())))
        except DomainError as error:
            form.add_error(None, error.message)
    return show_findings(request, found, form)


def _change_form(found: AnalysisRun, data: Any = None) -> ChangeForm:
    """Return the form of other settings for a run."""
    method, initial = method_of(found.settings), ChangeForm.initial_of(found.settings)
    return ChangeForm(method, data, columns=queries.group_columns(found.ratings_file, method), initial=initial)


def show_findings(
    request: SignedInRequest, found: AnalysisRun, form: ChangeForm | None = None, more: dict[str, Any] | None = None
) -> HttpResponse:
    """Show what a run finds, or how far it is; `more` is what the page of a campaign has besides."""
    more = more or {}
    context = result_context(found, FIRST_PAGE, more.get("progress"))
    result: Result | None = context["result"]
    if result is None:
        return show_waiting(request, found)
    before = _compared_with(request, found) if found.report else None
    changes = find_changes(result, before.result) if before else None
    ranking = get_ranking(result, changes) if result.is_study else None
    context |= {
        "ranking": ranking,
        "plot": plot_ranking(ranking) if ranking else None,
        "chats": get_chat_totals(result),
        "changes": changes,
        "before": before,
        "others": [] if found.share_token else queries.list_comparable(found),
        "finding": result.findings,
        "latex": [(table, to_latex(table)) for table in result.tables_to_copy],
        "form": form or _change_form(found),
        "job_state": run_progress(found) if found.report is None else None,
    }
    is_refused = form is not None and bool(form.errors)
    return render_form(request, "analysis/findings.html", context | more, is_refused=is_refused)


def show_waiting(
    request: SignedInRequest, found: AnalysisRun, page: str = FIRST_PAGE, section: str = "", *, status: int = 200
) -> HttpResponse:
    """Show the progress of a run, its failure, or the problems of its file, in place of a page of its result."""
    problems = found.problems or {"rows": [], "n_more": 0}
    rows = [Problem(row, column, text, "") for row, column, text in problems["rows"]]
    context = result_context(found, page, section=section) | {
        "page": page,
        "is_owner": found.my_role == Role.OWNER and (found.job is None or found.job.is_finished),
        "job_state": run_progress(found),
        "may_retry": found.job and found.job.owner_id == request.user.pk,
        "problems": rows,
        "n_problems": len(rows) + problems["n_more"],
    }
    return render(request, "analysis/waiting.html", context, status=status)


def run_progress(run: AnalysisRun) -> dict[str, Any] | None:
    """Return how far a run is, as jobs/progress.html shows it; None without a job."""
    if run.job is None:
        return None
    has_part = run.report is not None or run.first_report is not None
    return job_state(run.job) | {"url": reverse("analysis:run_job", args=[run.pk]), "partial": has_part}


@never_cache
@require_GET
def run_job(request: SignedInRequest, run_id: UUID) -> JsonResponse:
    """Answer with the state of a run's job, and whether a part of its result can be shown."""
    job = queries.get_job_of_run(request.user, run_id)
    if job is None:
        raise Http404
    return JsonResponse(job_state(job) | {"url": request.path, "partial": queries.has_part(job)})


def _compared_with(request: SignedInRequest, found: AnalysisRun) -> AnalysisRun | None:
    """Return the run that the page compares with: the chosen one of the same file, else the one it was changed from."""
    chosen = request.GET.get("against")
    if found.share_token or chosen == "none" or (not chosen and not found.parent_id):
        return None
    if not chosen:
        parent = queries.find_earlier_run_for(request.user, found.parent_id)
        return parent if parent and queries.method_slug(parent) == queries.method_slug(found) else None
    other = queries.find_earlier_run_for(request.user, queries.parse_id(chosen))
    if (
        other is None
        or other.ratings_file_id != found.ratings_file_id
        or queries.method_slug(other) != queries.method_slug(found)
    ):
        raise Http404("Only analyses of the same ratings, by the same method, are compared.")
    return other


def show_pairs(request: SignedInRequest, found: AnalysisRun) -> HttpResponse:
    """Show what is concluded of pairs of systems; of a study also its tests, filtered as asked."""
    context = result_context(found, PAIRS)
    result: Result = context["result"]
    context["systems"] = list(result.scored) if len(result.scored) > 1 else []
    if result.comparisons:
        context |= _tests_context(request, result)
    return render(request, "analysis/pairs.html", context)


def _tests_context(request: SignedInRequest, result: Result) -> dict[str, Any]:
    """Return the tests of a study on one criterion or overall: p, corrected or not, or the size of the effect."""
    comparisons = {tests.name: tests for tests in result.comparisons}
    form = ComparisonFilter(list(comparisons), request.GET)
    if not form.is_valid():
        raise Http404
    comparison, value = comparisons[form.cleaned_data["criterion"]], form.cleaned_data["value"]
    n_differing = None if value == "superiority" else comparison.n_differing(value)
    return {"form": form, "comparison": comparison, "value": value, "n_differing": n_differing}


def change_workers(request: SignedInRequest, found: AnalysisRun) -> HttpResponse:
    """Analyse again without a worker, or with one again."""
    try:
        return redirect(result_url(_exclude_or_include(request, found, ExclusionForm(request.POST))))
    except DomainError as error:
        refused = {name: request.POST.get(name, "") for name in ("worker", "reason")} | {"error": error.message}
        return show_workers(request, found, refused)


def show_workers(request: SignedInRequest, found: AnalysisRun, refused: dict[str, str] | None = None) -> HttpResponse:
    """Show the worker table, filtered and sorted as asked; `refused` is an exclusion that cannot be."""
    context = result_context(found, "workers")
    result: Result = context["result"]
    if result.worker_table is None:
        return show_sections(request, found, "workers")
    preset = result.applied_test.preset
    form = WorkerFilter(preset, request.GET)
    if not form.is_valid():
        raise Http404
    rows = list_workers(result, **form.cleaned_data)
    context |= {
        "page_obj": Paginator(rows, _WORKERS_PER_PAGE).get_page(request.GET.get("page")),
        "refused": refused,
        "compared": WORKER_TESTS[preset].compared,
        "has_means": any(row.histogram for row in result.workers),
        "has_references": result.summary.references is not None,
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


def show_sections(request: SignedInRequest, found: AnalysisRun, page: str, section: str = "") -> HttpResponse:
    """Show a page that is nothing but sections of a result, or one section; say so where there are none."""
    return _render_sections(request, result_context(found, page, section=section))


def _render_sections(request: SignedInRequest, context: dict[str, Any]) -> HttpResponse:
    is_missing = not context["sections"] and not context["nothing"]
    return render(request, "analysis/sections.html", context, status=404 if is_missing else 200)


def change_groups(request: SignedInRequest, found: AnalysisRun) -> HttpResponse:
    """Analyse again by groups of the columns that were chosen, all else as before."""
    chosen = ChangeForm.initial_of(found.settings) | {"groups": request.POST.getlist("groups")}
    form = _change_form(found, chosen)
    try:
        if not form.is_valid() or not chosen["groups"]:
            raise DomainError("no_groups", "Choose a column of these ratings.")
        made = change_run(run=found, user=request.user, groups=tuple(form.cleaned_data["groups"]))
        return redirect(result_url(made, _GROUPS))
    except DomainError as error:
        return show_groups(request, found, error)


def show_groups(request: SignedInRequest, found: AnalysisRun, error: DomainError | None = None) -> HttpResponse:
    """Show systems by groups; where nobody chose any, those that the ratings have, to who may analyse them."""
    context = result_context(found, _GROUPS) | {"error": error}
    if context["sections"] or found.share_token or not context["can_change"]:
        return _render_sections(request, context)
    context["offered"] = queries.list_offered_groups(found.ratings_file, method_of(found.settings))
    return render_form(request, "analysis/groups.html", context, is_refused=error is not None)


def show_chats(request: SignedInRequest, found: AnalysisRun, form: CorpusForm | None = None) -> HttpResponse:
    """Show what the chats of a run's ratings are like: topics, opinions, lengths, time; `form`: a corpus refused."""
    context = result_context(found, "chats")
    context |= {"chats": get_chat_totals(context["result"]), "form": form or CorpusForm()}
    if context["chats"] is None:
        return show_sections(request, found, "chats")
    return render_form(request, "analysis/chats.html", context, is_refused=form is not None)


@require_POST
def corpus(request: SignedInRequest, run_id: UUID) -> HttpResponse:
    """Analyse again with a corpus that the chats are compared with."""
    found = get_finished_run_for(request.user, run_id, to_change=True)
    form = CorpusForm(request.POST, request.FILES)
    if form.is_valid():
        sent_file = form.cleaned_data["corpus"]
        try:
            with NamedTemporaryFile(prefix="corpus-") as copy:
                for chunk in sent_file.chunks():
                    copy.write(chunk)
                copy.flush()
                lengths = load_corpus(Path(copy.name), shorten(sent_file.name))
            return redirect(result_url(change_run(run=found, user=request.user, corpus=lengths)))
        except DomainError as error:
            form.add_error("corpus", error.message)
    return show_chats(request, found, form)


def show_downloads(request: SignedInRequest, found: AnalysisRun) -> HttpResponse:
    """Show what a paper says of the evaluation, everything that can be downloaded, and the links to share it."""
    campaign = found.ratings_file.campaign
    facts, answers = (get_facts(campaign), get_answers(campaign)) if campaign else (None, {})
    context = result_context(found, DOWNLOADS)
    context |= {
        "texts": paper_texts(context["result"], facts),
        "statement": data_statement(context["result"], facts, answers),
        "files": list_downloads(context["result"], found.folder),
        "names_workers": found.my_role == Role.OWNER,
        "package_note": _IN_PACKAGE if campaign and not found.share_token else "",
    }
    if campaign and found.my_role != Role.VIEWER:
        links = [(link, request.build_absolute_uri(share_path(link))) for link in list_share_links(campaign)]
        context |= {"share_form": ShareForm(), "share_links": links}
    return render(request, "analysis/downloads.html", context)


@require_GET
def run_file(request: SignedInRequest, run_id: UUID, name: str) -> FileResponse:
    """Send a table, a figure or the replication package of a run; a figure is drawn when it is first asked for."""
    return send_file(request, get_finished_run_for(request.user, run_id), name)


def send_file(request: HttpRequest, found: AnalysisRun, name: str) -> FileResponse:
    """Answer with a file of a run; raise Http404 if it has none of this name."""
    path = find_file(found.folder, name)
    if path is None:
        raise Http404
    suffix = PurePosixPath(name).suffix
    is_figure = suffix == ".svg" and "download" not in request.GET
    response = FileResponse(
        path.open("rb"),
        as_attachment=not is_figure,
        filename=_download_name(found, PurePosixPath(name).name),
        content_type=CONTENT_TYPES.get(suffix, OTHER_TYPE),
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
    note_act(is_act=by_own_ids)
    report = found.report
    if not by_own_ids and found.my_role != Role.VIEWER:  # a viewer's is anonymous already
        report = anonymous_report(report, anonymise(workers_of(report)))
    tables = read_result(report).tables_in(Output.FILES)
    table = next((table for table in tables if table.name == "workers"), None)
    if table is None:
        raise Http404("These results say nothing of single workers.")
    response = HttpResponse(to_csv(table), content_type="text/csv; charset=utf-8")
    name = _download_name(found, "workers.csv")
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name)
    return response


def _download_name(run: AnalysisRun, name: str) -> str:
    """Return what a browser saves a file of the run as."""
    return f"{slugify(run.ratings_file.title, allow_unicode=True) or 'ratings'}-{name}"
