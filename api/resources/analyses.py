"""Analyses of ratings: those of a campaign, each with its settings, and made again with others."""

from uuid import UUID

from django import forms
from django.http import Http404
from rest_framework import serializers

from analysis.methods import method_of
from analysis.models import AnalysisRun
from analysis.results.values import (
    RunChanges,
    find_changes,
)
from analysis.web.forms.runs import ChangeForm, ExclusionForm
from analysis.web.queries import ratings_files as queries
from analysis.web.queries.campaigns import list_campaign_runs
from analysis.web.services.campaigns import request_analysis
from analysis.web.services.deletion import delete_run
from analysis.web.services.runs import change_run, exclude_worker, include_worker
from api.access import ApiRequest, may
from api.operations import Listed, Resource, operation
from api.resources.jobs import JobShape
from api.shapes import cleaned, sent_to
from campaigns.models import Campaign
from campaigns.queries import Role
from evalsite.accounts.models import Scope
from evalsite.jobs.models import Job
from evalsite.lib.errors import CONFLICT


class ListedRunShape(serializers.ModelSerializer[AnalysisRun]):
    """An analysis in a list: its settings, its state, and of which ratings it is."""

    state = serializers.CharField(help_text="queued, running, failed or ready.")
    job = serializers.UUIDField(source="job_id", allow_null=True)
    ratings_file = serializers.UUIDField(source="ratings_file_id")
    parent = serializers.UUIDField(source="parent_id", allow_null=True)  # type: ignore[assignment]
    settings = serializers.JSONField()

    class Meta:
        model = AnalysisRun
        fields: tuple[str, ...] = (
            *("id", "ratings_file", "parent", "created_at", "finished_at", "state", "job", "settings", "fingerprint"),
        )


class RunShape(ListedRunShape):
    """An analysis, with what is wrong with its file."""

    class Meta(ListedRunShape.Meta):
        fields = (*ListedRunShape.Meta.fields, "problems")


class CampaignRuns(Resource):
    """The analyses of a campaign's ratings."""

    @operation(Scope.READ, returns=ListedRunShape, many="pages", has_names=True)
    def get(self, request: ApiRequest, campaign: Campaign) -> Listed:
        """List the analyses, newest first."""
        hide = campaign.my_role == Role.VIEWER
        return Listed(list_campaign_runs(campaign), ("-created_at",), queries.hide_excluded if hide else list)

    @operation(Scope.EDIT, returns=JobShape, status=202, refused=CONFLICT)
    def post(self, request: ApiRequest, campaign: Campaign) -> Job:
        """Analyse what was rated so far. When the job has finished, the newest analysis of the list is this one."""
        return request_analysis(campaign=campaign, user=request.user)


def may_name(request: ApiRequest, role: str) -> bool:
    """Tell whether workers are called by their own ids: for owners, with the scope `admin`."""
    return role == Role.OWNER and may(request, Scope.ADMIN)


def run_for(request: ApiRequest, run_id: UUID, *, is_finished: bool = True, to_change: bool = False) -> AnalysisRun:
    """Return a run as it may be read with this token."""
    found = (queries.get_finished_run_for if is_finished else queries.get_run_for)(
        request.user, run_id, to_change=to_change
    )
    if found.my_role != Role.VIEWER and not may_name(request, found.my_role) and not to_change:
        found.my_role = Role.VIEWER
        queries.as_seen(found)
    return found


class OneRun(Resource):
    """One analysis."""

    @operation(Scope.READ, returns=RunShape)
    def get(self, request: ApiRequest, run_id: UUID) -> AnalysisRun:
        """Return the analysis: its settings and how far it is."""
        return run_for(request, run_id, is_finished=False)

    @operation(Scope.ADMIN, refused=CONFLICT)
    def delete(self, request: ApiRequest, run_id: UUID) -> None:
        """Delete the analysis with its files. Owners of the campaign may, and who has uploaded the ratings."""
        delete_run(run=queries.get_run_for(request.user, run_id, to_own=True), user=request.user)


class Again(Resource):
    """The same analysis with other settings."""

    @operation(
        Scope.EDIT, takes=ChangeForm, is_partial=True, returns=RunShape, status=202, refused=CONFLICT, has_names=True
    )
    def post(self, request: ApiRequest, run_id: UUID) -> AnalysisRun:
        """Analyse again with what is sent; all else is as in this analysis, which stays as it is."""
        found = run_for(request, run_id, to_change=True)
        sent = ChangeForm.initial_of(found.settings) | sent_to(ChangeForm, request, partial=True)
        method = method_of(found.settings)
        form = ChangeForm(method, sent, columns=queries.group_columns(found.ratings_file, method))
        cleaned(form)
        started = change_run(run=found, user=request.user, **form.changes())
        return run_for(request, started.pk, is_finished=False)


class Exclusions(Resource):
    """Workers who are taken out by hand."""

    @operation(
        Scope.ADMIN, takes=ExclusionForm, returns=RunShape, status=202,
        fields={"no_such_worker": "worker", "not_excluded": "worker", "no_reason": "reason"},
    )  # fmt: skip
    def post(self, request: ApiRequest, run_id: UUID) -> AnalysisRun:
        """Analyse again without a worker, named by their own id, or, with `again`, with one that was excluded."""
        found = run_for(request, run_id, to_change=True)
        data = cleaned(ExclusionForm(sent_to(ExclusionForm, request)))
        if data["again"]:
            started = include_worker(run=found, user=request.user, worker=data["worker"])
        else:
            started = exclude_worker(run=found, user=request.user, worker=data["worker"], reason=data["reason"])
        return run_for(request, started.pk, is_finished=False)


class CompareForm(forms.Form):
    """What to compare with."""

    against = forms.UUIDField(help_text="Another analysis of the same ratings.")


class Changes(Resource):
    """How two analyses of the same ratings differ."""

    @operation(Scope.READ, returns=RunChanges, filters=CompareForm)
    def get(self, request: ApiRequest, run_id: UUID) -> RunChanges:
        """Return which workers count and which conclusions hold in only one of them, and how ranks moved."""
        now = run_for(request, run_id)
        then = run_for(request, cleaned(CompareForm(request.query_params))["against"])
        is_one_method = queries.method_slug(now) == queries.method_slug(then)
        if now.ratings_file_id != then.ratings_file_id or not is_one_method:
            raise Http404
        return find_changes(now.result, then.result)
