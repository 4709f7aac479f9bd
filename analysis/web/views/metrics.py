"""The page of metrics of a run: how they agree with people, and where their scores come from."""

from typing import Any
from uuid import UUID

from django.conf import settings as django_settings
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from analysis.metrics.meta_evaluation import MetricsAgainstPeople
from analysis.models import AnalysisRun, MetricScores
from analysis.results.answers import find_answer
from analysis.web.forms.metrics import MetricsForm, ScoresUploadForm
from analysis.web.navigation import result_context, result_url
from analysis.web.queries.judges import list_judge_connectors, list_judges, why_not_judged
from analysis.web.queries.metrics import (
    describe_computable,
    find_waiting_run,
    get_scores_of,
    has_likely_reference,
    list_disagreements,
    scores_of,
)
from analysis.web.queries.ratings_files import get_finished_run_for
from analysis.web.services.metrics import read_scores_as, remove_scores, request_metrics, upload_scores
from analysis.web.services.runs import change_run
from analysis.web.views.deletion import ROWS, public_id_of
from analysis.web.views.runs import run_progress, show_sections
from campaigns.views.access import render_form
from campaigns.views.encoding import ask_encoding
from evalsite.accounts.requests import SignedInRequest
from evalsite.jobs.queries import job_state
from evalsite.lib.errors import CONFLICT, DomainError
from evalsite.lib.tables import TableError
from evalsite.undo.acts import undoable

_PAGE = "metrics"


def show_metrics(request: SignedInRequest, found: AnalysisRun, refused: dict[str, Any] | None = None) -> HttpResponse:
    """Show how metrics agree with people; `refused` has the forms that were sent and what is wrong.

    Where a result is shared, nothing is shown of single outputs, and nothing of where scores come from.
    """
    if found.share_token:
        return show_sections(request, found, _PAGE)
    campaign = found.ratings_file.campaign
    references, data = describe_computable(found.ratings_file)
    context = result_context(found, _PAGE)
    every = list(scores_of(found.ratings_file))
    waiting = find_waiting_run(found) if context["can_change"] else None
    context |= {
        "files": every,
        "compared": found.metrics,
        "upload_form": ScoresUploadForm(),
        "compute_form": MetricsForm(references, data) if data else None,
        "is_reference_likely": bool(campaign and references and has_likely_reference(campaign)),
        "has_references": bool(references),
        "max_mb": django_settings.MAX_UPLOAD_MB,
        "computing": _progress(every, found),
        "waiting": run_progress(waiting) if waiting else None,
        "waiting_url": result_url(waiting, _PAGE) if waiting else "",
        **_disagreements(request, found),
        **_judges(found),
    }
    return render_form(request, "analysis/metrics.html", context | (refused or {}), is_refused=bool(refused))


def _judges(found: AnalysisRun) -> dict[str, Any]:
    """Return the judges of the outputs, and how one is added; nothing where the outputs are not known."""
    campaign = found.ratings_file.campaign
    if campaign is None or why_not_judged(campaign):
        return {}
    return {"judges": list_judges(campaign), "judge_connectors": list_judge_connectors()}


def _disagreements(request: SignedInRequest, found: AnalysisRun) -> dict[str, Any]:
    """Return the disagreements of the metric that the address names, or of the first."""
    compared = find_answer(found.result.questions, "metrics", MetricsAgainstPeople)
    metrics = compared.metrics if compared else ()
    listed = {metric.name: metric.disagreements for metric in metrics if metric.disagreements}
    chosen = request.GET.get("metric") or next(iter(listed), "")
    if chosen and chosen not in listed:
        raise Http404
    rows = list_disagreements(found.ratings_file.campaign, listed.get(chosen, []))
    return {"disagreements": rows, "metric_names": list(listed), "chosen_metric": chosen}


def _progress(every: list[MetricScores], found: AnalysisRun) -> dict[str, Any] | None:
    """Return how far the computation of metrics is, or why it failed; None if none is under way."""
    newest = next((each for each in every if each.is_computed), None)
    campaign = found.ratings_file.campaign
    if campaign is None or newest is None or newest.job is None or newest.finished_at:
        return None
    return job_state(newest.job) | {"url": reverse("analysis:campaign_job", args=[campaign.public_id, newest.job_id])}


@require_POST
def upload(request: SignedInRequest, run_id: UUID) -> HttpResponse:
    """Take a file of scores in, and compare them with people."""
    found = get_finished_run_for(request.user, run_id, to_change=True)
    form, problems = ScoresUploadForm(request.POST, request.FILES), {}
    if form.is_valid():
        try:
            scores = upload_scores(run=found, user=request.user, upload=form.cleaned_data["file"])
            if not scores.encoding:
                return redirect("analysis:metric_encoding", found.pk, scores.pk)
            change_run(run=found, user=request.user)  # the same ratings, with the scores that there are now
            return redirect(result_url(found, _PAGE))
        except TableError as error:
            problems = {"problems": error.faults}
        except DomainError as error:
            form.add_error("file", error.message)
    return show_metrics(request, found, {"upload_form": form, **problems})


@require_POST
def compute(request: SignedInRequest, run_id: UUID) -> HttpResponse:
    """Compute metrics of the campaign's outputs."""
    found = get_finished_run_for(request.user, run_id, to_change=True)
    campaign = found.ratings_file.campaign
    form = MetricsForm(*describe_computable(found.ratings_file), request.POST)
    if campaign and form.is_valid():
        data = form.cleaned_data
        try:
            request_metrics(
                run=found,
                user=request.user,
                kinds=data["kinds"],
                reference=data["reference"],
                options=form.chosen_options(),
            )
            return redirect("analysis:campaign_metrics", campaign.public_id)  # of the newest analysis, as it comes
        except DomainError as error:
            form.add_error(None, error.message)
    return show_metrics(request, found, {"compute_form": form})


@require_http_methods(["GET", "POST"])
def encoding(request: SignedInRequest, run_id: UUID, scores_id: UUID) -> HttpResponse:
    """Ask which encoding a file of scores has that is not UTF-8; read it, and compare the scores with people."""
    found = get_finished_run_for(request.user, run_id, to_change=True)
    scores = get_scores_of(found, scores_id)
    if scores.encoding or scores.is_computed:
        return redirect(result_url(found, _PAGE))
    context = result_context(found, _PAGE) | {"scores": scores, "metrics_url": result_url(found, _PAGE)}

    def answer(encoding: str) -> None:
        read_scores_as(scores=scores, run=found, encoding=encoding)
        change_run(run=found, user=request.user)

    return ask_encoding(
        request, "analysis/metric_encoding.html", context, path=scores.file.path, name=scores.name, answer=answer
    )


@require_POST
def remove(request: SignedInRequest, run_id: UUID, scores_id: UUID) -> HttpResponse:
    """Remove scores of metrics: analyses from now on do not compare them."""
    found = get_finished_run_for(request.user, run_id, to_change=True)
    scores = get_scores_of(found, scores_id)
    try:
        page, campaign = result_url(found, _PAGE), public_id_of(scores.campaign)
        with undoable(request, ROWS, page=page, campaign=campaign) as act:
            remove_scores(scores=scores, act=act)
            act.words = f"“{scores.name}” was removed. This analysis still shows its scores, the next will not."
    except DomainError as error:
        response = show_metrics(request, found, {"refusal": error})
        response.status_code = CONFLICT
        return response
    return redirect(result_url(found, _PAGE))
