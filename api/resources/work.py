"""What workers do: progress, assignments, feedback, files."""

from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import Http404, StreamingHttpResponse
from django.utils import timezone
from rest_framework import serializers

from analysis.web.queries.campaigns import can_analyse, settings_of
from annotation.export.downloads import (
    MEDIA_TYPES,
    ExportChoice,
    count_rows,
    find_download,
    list_files,
    responses_file,
)
from annotation.export.rows import ALL_STATES, FINISHED
from annotation.forms import AssignmentFilter, EraseForm, FeedbackFilter
from annotation.models import Assignment, PlaceFreed
from annotation.monitoring.lists import (
    AssignmentRow,
    describe_assignments,
    get_assignment_of,
    list_assignments,
    list_feedback,
)
from annotation.monitoring.progress import CampaignProgress, HitCount, count_by_hit, get_progress, list_hits
from annotation.services.assignments import release_assignment
from annotation.services.erasing import ErasurePlan, erase_worker, plan_erasure
from api.access import ApiRequest, may
from api.operations import Listed, Resource, operation
from api.shapes import cleaned, sent_to
from campaigns.models import Campaign
from campaigns.queries import Role
from evalsite.accounts.models import Scope
from evalsite.lib.acts import note_act
from evalsite.lib.errors import CONFLICT


class Progress(Resource):
    """How far a campaign is."""

    @operation(Scope.READ, returns=CampaignProgress)
    def get(self, request: ApiRequest, campaign: Campaign) -> CampaignProgress:
        """Return what is done and what is left, by system, and how long work takes."""
        return get_progress(campaign, timezone.now())


class HitProgress(Resource):
    """How far each HIT is."""

    @operation(Scope.READ, returns=HitCount, many="pages")
    def get(self, request: ApiRequest, campaign: Campaign) -> Listed:
        """List the HITs by number with their finished, active and free places."""
        return Listed(list_hits(campaign), ("number",), count_by_hit)


class AssignmentShape(serializers.Serializer[AssignmentRow]):
    """One worker's go at one HIT."""

    id = serializers.IntegerField(source="assignment.pk")
    hit = serializers.IntegerField(source="assignment.hit.number")
    worker = serializers.CharField(help_text="A keyed hash; the worker's own id for owners with the scope admin.")
    state = serializers.ChoiceField(source="assignment.state", choices=Assignment.State.choices)
    n_rated = serializers.IntegerField(source="assignment.n_rated")
    n_items = serializers.IntegerField(source="assignment.n_items")
    started_at = serializers.DateTimeField(source="assignment.started_at")
    seen_at = serializers.DateTimeField(source="assignment.seen_at")
    ended_at = serializers.DateTimeField(source="assignment.ended_at", allow_null=True)
    freed_because = serializers.ChoiceField(
        choices=[("", "not freed, or not known"), *PlaceFreed.choices], help_text="Why the place was freed."
    )
    minutes = serializers.FloatField()
    feedback = serializers.CharField(source="assignment.feedback")


class Assignments(Resource):
    """The assignments."""

    @operation(Scope.READ, returns=AssignmentShape, filters=AssignmentFilter, many="pages", has_names=True)
    def get(self, request: ApiRequest, campaign: Campaign) -> Listed:
        """List the assignments that match, newest first."""
        form = AssignmentFilter(request.query_params, with_names=campaign.my_role == Role.OWNER)
        cleaned(form)
        found = list_assignments(campaign, **form.filters())
        return Listed(found, ("-pk",), lambda rows: describe_assignments(campaign, rows))


class Release(Resource):
    """The end of an active assignment."""

    @operation(Scope.EDIT, returns=AssignmentShape, refused=CONFLICT, has_names=True)
    def post(self, request: ApiRequest, campaign: Campaign, assignment_id: int) -> AssignmentRow:
        """Free the place of an active assignment; what was rated is kept."""
        released = release_assignment(
            assignment=get_assignment_of(campaign, assignment_id), cause=PlaceFreed.RESEARCHER
        )
        return describe_assignments(campaign, [released])[0]


class PlannedErasureShape(serializers.Serializer[ErasurePlan]):
    """What stands in the way of erasing a worker's personal data, and what is kept."""

    refusals = serializers.ListField(child=serializers.CharField(), help_text="Why they cannot be erased now.")
    kept = serializers.ListField(child=serializers.CharField(), help_text="What stays, with the reason.")
    held = serializers.SerializerMethodField(help_text="Stored analyses that hold the worker's name.")

    def get_held(self, plan: ErasurePlan) -> list[str]:
        """Return the ids of the analyses."""
        return [str(held.argument) for held in plan.held]


class Erasures(Resource):
    """The personal data of an assignment's worker."""

    @operation(Scope.ADMIN, role=Role.OWNER, returns=PlannedErasureShape)
    def get(self, request: ApiRequest, campaign: Campaign, assignment_id: int) -> ErasurePlan:
        """Return what stands in the way of erasing them, what stays, and which analyses hold the name."""
        return plan_erasure(campaign=campaign, worker=get_assignment_of(campaign, assignment_id).worker)

    @operation(
        Scope.ADMIN, role=Role.OWNER, takes=EraseForm, returns=AssignmentShape, refused=CONFLICT, takes_key=False
    )
    def post(self, request: ApiRequest, campaign: Campaign, assignment_id: int) -> AssignmentRow:
        """Erase the worker's name, ids and codes in this campaign, and what is sent as true. It cannot be undone."""
        worker = get_assignment_of(campaign, assignment_id).worker
        form = EraseForm(sent_to(EraseForm, request), is_live=campaign.is_live)
        cleaned(form)
        erase_worker(campaign=campaign, worker=worker, wants=form.chosen(), user=request.user)
        return describe_assignments(campaign, [get_assignment_of(campaign, assignment_id)])[0]


class Feedback(Resource):
    """What workers wrote at the end of their HITs."""

    @operation(Scope.READ, returns=AssignmentShape, filters=FeedbackFilter, many="pages", has_names=True)
    def get(self, request: ApiRequest, campaign: Campaign) -> Listed:
        """List the assignments with feedback, newest first."""
        found = list_feedback(campaign, search=cleaned(FeedbackFilter(request.query_params))["search"])
        return Listed(found, ("-ended_at", "-pk"), lambda rows: describe_assignments(campaign, rows))


@dataclass(frozen=True)
class ExportFiles:
    """The files of a campaign and how many rows of finished assignments they have.

    `responses`: the one that results are made of, by `settings`; null where no criterion can be analysed.
    """

    files: list[str]
    responses: str
    settings: dict[str, Any] | None
    n_ratings: int
    n_assignments: int
    n_items: int


class Exports(Resource):
    """The files of what workers gave."""

    @operation(Scope.READ, returns=ExportFiles)
    def get(self, request: ApiRequest, campaign: Campaign) -> ExportFiles:
        """Return the names of the files: each is at this address, followed by its name."""
        found = count_rows(campaign, timezone.now())
        settings = settings_of(campaign).to_json() if can_analyse(campaign) else None
        counts = (found.n_ratings, found.n_assignments, found.n_items)
        return ExportFiles(list_files(campaign), responses_file(campaign), settings, *counts)


class ExportForm(forms.Form):
    """What a file has."""

    states = forms.ChoiceField(
        required=False,
        choices=[("finished", "finished"), ("all", "all")],
        help_text="Finished assignments (if left out), or all.",
    )
    ids = forms.ChoiceField(
        required=False,
        choices=[("hashed", "hashed"), ("real", "real")],
        help_text="Keyed hashes of workers (if left out), or their own ids: for owners with the scope admin.",
    )


class Export(Resource):
    """A file of what workers gave."""

    @operation(Scope.READ, filters=ExportForm, media_type=MEDIA_TYPES)
    def get(self, request: ApiRequest, campaign: Campaign, name: str) -> StreamingHttpResponse:
        """Stream ratings.csv, ratings.jsonl, ratings.parquet, assignments.csv, items.csv, events.jsonl, croissant.json,
        of live campaigns dialogues.csv or transcripts.jsonl, or the tables of other responses, such as votes.csv."""
        wanted = cleaned(ExportForm(request.query_params))
        if (download := find_download(campaign, name)) is None:
            raise Http404
        has_real_ids = wanted["ids"] == "real"
        if has_real_ids and not (campaign.my_role == Role.OWNER and may(request, Scope.ADMIN)):
            raise PermissionDenied("Only owners may take out the workers’ own ids, with a token of the scope “admin”.")
        note_act(is_act=has_real_ids)
        states = ALL_STATES if wanted["states"] == "all" else FINISHED
        pieces = download.pieces(campaign, ExportChoice(states=states, has_real_ids=has_real_ids))
        return StreamingHttpResponse(pieces, content_type=download.content_type)
