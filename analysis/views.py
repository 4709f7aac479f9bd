"""The pages of ratings files and their analyses."""

import mimetypes
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings as django_settings
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from django.views.decorators.http import require_GET, require_http_methods

from analysis import presenters
from analysis.anonymity import anonymise, anonymous_report
from analysis.campaign_queries import get_rating_progress, settings_of
from analysis.exports import file_name, to_csv
from analysis.forms import (
    ChangeForm,
    CriteriaFormSet,
    ExclusionForm,
    MappingForm,
    ProtocolForm,
    ScaleForm,
    UploadForm,
    criteria_initial,
)
from analysis.methods import sections_of
from analysis.methods.direct_assessment import workers_table
from analysis.models import AnalysisRun, RatingsFile
from analysis.queries import (
    Role,
    criteria_in,
    find_finished_run_for,
    get_finished_run_for,
    get_ratings_file_for,
    get_run_for,
    get_run_of,
    get_upload_for,
    has_degraded,
    list_comparable,
    list_ratings_files_for,
    list_runs_of,
    newest_run_of,
    scale_doubt,
    scale_of,
)
from analysis.ratings.scales import FULL
from analysis.ratings.scales import words as scale_words
from analysis.services.ratings_files import map_columns, read_as, upload_ratings
from analysis.services.runs import change_run, exclude_worker, include_worker, start_run
from analysis.settings import (
    CUSTOM,
    LONGEST_NAME,
    LONGEST_STATEMENT,
    AnalysisSettings,
    custom_settings,
    from_criteria,
    from_json,
    from_protocol,
)
from campaigns.contracts.protocol import CriterionSpec
from campaigns.design.worker_test import NO_TEST, WORKER_TESTS
from campaigns.protocols import list_protocols
from evalsite.accounts.requests import SignedInRequest
from evalsite.jobs.queries import job_state
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import TableError, lines_if_windows, preview
from evalsite.lib.tables.errors import shorten

_FILES_PER_PAGE, _WORKERS_PER_PAGE, _PREVIEW_ROWS = 25, 50, 8
_REFUSED = 422


@require_GET
def ratings(request: SignedInRequest) -> HttpResponse:
    """List the user's ratings files."""
    page = Paginator(list_ratings_files_for(request.user), _FILES_PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "analysis/ratings.html", {"page_obj": page})


@require_http_methods(["GET", "POST"])
def upload(request: SignedInRequest) -> HttpResponse:
    """Take a ratings file in."""
    form = UploadForm(_sent(request), request.FILES or None)
    context: dict[str, Any] = {
        "form": form,
        "max_mb": django_settings.MAX_UPLOAD_MB,
        "crumbs": presenters.crumbs(),
    }
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            file = upload_ratings(owner=request.user, upload=data["file"], title=data["title"])
            return redirect("analysis:columns", file.pk)
        except TableError as error:
            context |= {"problems": error.problems, "n_problems": len(error.problems) + error.n_more}
    return render(request, "analysis/upload.html", context, status=_status(request))


def _sent(request: HttpRequest) -> QueryDict | None:
    """Return what was sent to a form; None for a form that is only shown."""
    return request.POST if request.method == "POST" else None


def _status(request: HttpRequest) -> int:
    """Return the status of a form's page: a form that is shown again after it was sent was refused."""
    return _REFUSED if request.method == "POST" else 200


@require_GET
def ratings_file(request: SignedInRequest, ratings_file_id: UUID) -> HttpResponse:
    """Show a ratings file and its runs."""
    file = get_ratings_file_for(request.user, ratings_file_id)
    page = Paginator(list_runs_of(file), _FILES_PER_PAGE).get_page(request.GET.get("page"))
    can_change = file.my_role != Role.VIEWER
    context = {
        "file": file,
        "page_obj": page,
        "runs": presenters.runs_listed(page, with_names=can_change),
        "can_change": can_change,
        "crumbs": presenters.crumbs(file)[:-1],
    }
    return render(request, "analysis/ratings_file.html", context)


@require_http_methods(["GET", "POST"])
def columns(request: SignedInRequest, ratings_file_id: UUID) -> HttpResponse:
    """Say which column of the file is which."""
    file = get_upload_for(request.user, ratings_file_id)
    if not file.encoding:
        return _encoding(request, file)
    form = MappingForm(file.columns, _sent(request), initial=file.mapping)
    is_sent = form.is_bound and form.is_valid()
    observed = scale_doubt(file, form.chosen() if is_sent else file.mapping)
    scale = ScaleForm(observed, kept=file.scale)
    if is_sent:
        answer = ScaleForm(observed, request.POST)
        if not answer.is_answer():  # the scores of another column than those that were asked about
            form.add_error(None, "Say on which scale the scores are.")
        elif (scale := answer).is_valid():
            try:
                map_columns(ratings_file=file, mapping=form.chosen(), scale=scale.chosen())
                return redirect("analysis:protocol", file.pk)
            except DomainError as error:
                form.add_error(None, error.message)
    roles = form.roles()
    context: dict[str, Any] = {"file": file, "form": form, "scale": scale, "crumbs": presenters.crumbs(file)}
    try:
        sample = preview(Path(file.file.path), file.name, _PREVIEW_ROWS, encoding=file.encoding)
        context |= {"sample": sample, "header": [(column, roles.get(column)) for column in sample.columns]}
    except TableError as error:
        context |= {"problems": error.problems}
    return render(request, "analysis/columns.html", context, status=_status(request))


def _encoding(request: SignedInRequest, file: RatingsFile) -> HttpResponse:
    """Ask whether a file that is not UTF-8 is Windows-1252, with some of its lines."""
    context: dict[str, Any] = {"file": file, "crumbs": presenters.crumbs(file)}
    if request.method == "POST":
        try:
            read_as(ratings_file=file, encoding=request.POST.get("encoding", ""))
            return redirect("analysis:columns", file.pk)
        except DomainError as error:
            context["refused"] = error.message
    try:
        context["lines"] = lines_if_windows(file.file.path, file.name)
    except TableError as error:
        context["problems"] = error.problems
    return render(request, "analysis/encoding.html", context, status=_status(request))


@require_http_methods(["GET", "POST"])
def protocol(request: SignedInRequest, ratings_file_id: UUID) -> HttpResponse:
    """Choose a protocol, or edit it or an earlier run's, and start the analysis."""
    file = get_ratings_file_for(request.user, ratings_file_id, to_change=True)
    if not file.encoding:
        return redirect("analysis:columns", file.pk)
    parent = get_run_of(file, _uuid(request.GET["run"])) if "run" in request.GET else None
    found = criteria_in(file)
    presets, refused = (
        (from_json(parent.settings), "") if parent else _presets(request.GET.get("protocol"), found, file)
    )
    cannot_test = not parent and presets.preset != NO_TEST and not has_degraded(file)
    initial = ProtocolForm.initial_of(replace(presets, preset=NO_TEST) if cannot_test else presets)
    form = ProtocolForm(_sent(request), initial=initial)
    criteria = CriteriaFormSet(_sent(request), initial=criteria_initial(presets), prefix="criteria")
    if request.method == "POST" and form.is_valid() and criteria.is_valid():
        try:
            settings = _chosen_settings(presets, criteria.specs(), form.changes() | {"scale": scale_of(file)})
            started = start_run(ratings_file=file, user=request.user, settings=settings, parent=parent)
            return redirect("analysis:run", started.pk)
        except DomainError as error:
            form.add_error(None, error.message)
    context = {
        "file": file,
        "form": form,
        "criteria": criteria,
        "found": found,
        "refused": refused,
        "long": [name for name in presets.statements if name in found and len(name) > LONGEST_NAME],
        "longest_name": LONGEST_NAME,
        "scale": scale_words(file.scale) if file.scale and scale_of(file) != FULL else "",
        "protocols": list_protocols(),
        "chosen": presets.protocol,
        "cannot_test": cannot_test,
        "parent": parent,
        "crumbs": presenters.crumbs(file),
    }
    return render(request, "analysis/protocol.html", context, status=_status(request))


def _presets(slug: str | None, found: list[str], file: RatingsFile) -> tuple[AnalysisSettings, str]:
    """Return the presets of the protocol asked for, or else of the campaign, or of a protocol with the file's criteria.

    The second value says why the campaign's settings or a criterion of the file cannot be used; "" if they can. Raises
    Http404 if there is no such protocol.
    """
    if slug is not None and slug not in {protocol.slug for protocol in list_protocols()}:
        raise Http404("There is no such protocol.")
    texts = [name for name in found if len(name) > LONGEST_STATEMENT]
    criteria = [name for name in found if name not in texts]
    refused = ""
    if texts:
        refused = (
            f"“{shorten(texts[0])}” has {len(texts[0])} characters, which is not the name of a criterion. Choose "
            "another column of criteria, or shorten it in the file."
        )
    if slug is None and file.campaign:
        try:
            return settings_of(file.campaign), refused
        except DomainError as error:
            refused = f"The campaign's settings cannot be used. {error.message}"
    if slug is None:
        return from_criteria(criteria), refused
    return custom_settings(criteria) if slug == CUSTOM else from_protocol(slug), refused


def _chosen_settings(
    presets: AnalysisSettings, criteria: tuple[CriterionSpec, ...], changes: dict[str, Any]
) -> AnalysisSettings:
    """Return what was chosen; under the protocol's name only if its criteria are the protocol's."""
    name = presets.protocol if criteria == presets.criteria else CUSTOM
    return replace(presets, protocol=name, criteria=criteria, **changes)


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Http404("This is no id.") from None


@require_http_methods(["GET", "POST"])
def run(request: SignedInRequest, run_id: UUID) -> HttpResponse:
    """Show a run: its progress, what is wrong with its file, or its ranking. Sent settings make a run of their own."""
    found = get_run_for(request.user, run_id, to_change=request.method == "POST")
    if found.report is None:
        return _waiting(request, found)
    form = ChangeForm(_sent(request), initial=presenters.settings_of(found))
    if request.method == "POST" and form.is_valid():
        try:
            return redirect("analysis:run", change_run(run=found, user=request.user, **form.changes()).pk)
        except DomainError as error:
            form.add_error(None, error.message)
    before = _compared_with(request, found)
    changed = presenters.what_changed(found, before) if before else None
    context = _frame(found, "run") | {
        "ranking": presenters.ranking(found.report, changed),
        "report": found.report,
        "changed": changed,
        "before": before,
        "others": presenters.runs_named(list_comparable(found)),
        "form": form,
    }
    return render(request, "analysis/run.html", context, status=_status(request))


def _frame(found: AnalysisRun, page: str) -> dict[str, Any]:
    """Return what all pages of a finished run share, and the sections of this one."""
    campaign = found.ratings_file.campaign
    progress = get_rating_progress(campaign) if campaign else None
    frame = presenters.frame(found, page, newest_run_of(found.ratings_file), progress)
    return frame | {"sections": sections_of(found.report, page)}


def _waiting(request: SignedInRequest, found: AnalysisRun) -> HttpResponse:
    """Show the progress of a run, its failure, or the problems of its file; there is nothing to change yet."""
    problems = found.problems or {"rows": [], "n_more": 0}
    rows = [{"row": row, "column": column, "message": text} for row, column, text in problems["rows"]]
    campaign, state = found.ratings_file.campaign, None
    if found.job:
        state = presenters.job_shown(campaign, found.job) if campaign else job_state(found.job)
    context = {
        "run": found,
        "run_words": presenters.run_words(found),
        "job_state": state,
        "may_retry": found.job and found.job.owner_id == request.user.pk,
        "problems": rows,
        "n_problems": len(rows) + problems["n_more"],
        "crumbs": presenters.crumbs(found.ratings_file),
    }
    return render(request, "analysis/waiting.html", context, status=409 if request.method == "POST" else 200)


def _compared_with(request: SignedInRequest, found: AnalysisRun) -> AnalysisRun | None:
    """Return the run that the page compares with: the chosen one of the same file, else the one it was changed from."""
    chosen = request.GET.get("against")
    if chosen == "none" or (not chosen and not found.parent_id):
        return None
    if not chosen:
        return find_finished_run_for(request.user, found.parent_id)
    other = get_finished_run_for(request.user, _uuid(chosen))
    if other.ratings_file_id != found.ratings_file_id:
        raise Http404("Only analyses of the same ratings are compared.")
    return other


@require_GET
def significance(request: SignedInRequest, run_id: UUID) -> HttpResponse:
    """Show the heatmap of one criterion, or overall, with the chosen correction."""
    found = get_finished_run_for(request.user, run_id)
    names = [comparison["name"] for comparison in found.report["comparisons"]]
    criterion = request.GET.get("criterion", names[0])
    value = request.GET.get("value", "p")
    if criterion not in names or value not in presenters.HEAT_VALUES:
        raise Http404
    context = _frame(found, "significance") | {
        "heat": presenters.heatmap(found.report, criterion, value),
        "file": file_name(f"significance-{criterion}"),
        "criteria": names,
        "criterion": criterion,
        "values": presenters.HEAT_VALUES,
        "value": value,
    }
    return render(request, "analysis/significance.html", context)


@require_http_methods(["GET", "POST"])
def workers(request: SignedInRequest, run_id: UUID) -> HttpResponse:
    """Show the worker table, filtered and sorted as asked; analyse again without a worker, or with one again."""
    found = get_finished_run_for(request.user, run_id, to_change=request.method == "POST")
    refused = None
    if request.method == "POST":
        sent = ExclusionForm(request.POST)
        try:
            return redirect("analysis:run", _exclude_or_include(request, found, sent).pk)
        except DomainError as error:
            refused = {name: request.POST.get(name, "") for name in ("worker", "reason")} | {"error": error.message}
    preset = found.settings["worker_test"]["preset"]
    states = presenters.states_of(preset)
    state, order = request.GET.get("state", ""), request.GET.get("order", "p")
    search = request.GET.get("search", "").strip()
    if order not in presenters.WORKER_ORDERS or state not in ("", *states):
        raise Http404
    rows = presenters.worker_rows(found.report, state=state, order=order, search=search)
    page = Paginator(rows, _WORKERS_PER_PAGE).get_page(request.GET.get("page"))
    context = _frame(found, "workers") | {
        "page_obj": page,
        "refused": refused,
        "compared": WORKER_TESTS[preset].compared,
        "references": (found.report or {})["summary"].get("references"),
        "state": state,
        "states": states,
        "order": order,
        "orders": presenters.orders_of(preset),
        "search": search,
    }
    return render(request, "analysis/workers.html", context, status=_status(request))


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
    shown = presenters.chats(found.report)
    if shown is None:
        raise Http404
    return render(request, "analysis/chats.html", _frame(found, "chats") | {"chats": shown})


@require_GET
def downloads(request: SignedInRequest, run_id: UUID) -> HttpResponse:
    """List everything that can be downloaded."""
    found = get_finished_run_for(request.user, run_id)
    folder = Path(django_settings.MEDIA_ROOT) / found.folder
    context = _frame(found, "downloads") | {
        "groups": presenters.downloads(found, folder, names_workers=found.my_role == Role.OWNER)
    }
    return render(request, "analysis/downloads.html", context)


@require_GET
def run_file(request: SignedInRequest, run_id: UUID, name: str) -> FileResponse:
    """Send a table, a figure or the replication package of a run."""
    found = get_finished_run_for(request.user, run_id)
    folder = (Path(django_settings.MEDIA_ROOT) / found.folder).resolve()
    try:
        path = (folder / name).resolve()
        is_ours = path.is_relative_to(folder) and path.is_file()
    except (OSError, ValueError):  # a name that no file system takes
        is_ours = False
    if not is_ours:
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
