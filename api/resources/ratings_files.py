"""Files of ratings, and their analyses."""

from pathlib import Path
from typing import Any
from uuid import UUID

from django import forms
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser

from analysis.methods.settings import from_json, from_protocol
from analysis.models import AnalysisRun, RatingsFile
from analysis.web.forms.uploads import UploadForm
from analysis.web.proposals import Proposal, propose_settings
from analysis.web.queries import ratings_files as queries
from analysis.web.services.deletion import delete_ratings_file
from analysis.web.services.ratings_files import map_columns, read_as, upload_ratings
from analysis.web.services.runs import start_run
from api.access import ApiRequest
from api.operations import Listed, Resource, operation
from api.resources.analyses import ListedRunShape, RunShape, may_name
from api.shapes import cleaned, sent_to
from evalsite.accounts.models import Scope
from evalsite.lib.errors import CONFLICT, DomainError
from evalsite.lib.tables import Preview, preview


class RatingsFileShape(serializers.ModelSerializer[RatingsFile]):
    """A file of ratings: uploaded, or a snapshot of a campaign's."""

    campaign = serializers.UUIDField(source="campaign.public_id", allow_null=True, default=None)
    columns = serializers.ListField(child=serializers.CharField())
    mapping = serializers.JSONField(help_text="What each column is taken for.")
    scale = serializers.JSONField(help_text="The least and the greatest score that workers could give; null: 0–100.")

    made_from = serializers.JSONField(help_text="Of a table made from another file: tool, task, name and others.")
    reading = serializers.JSONField(help_text="How it was read: shape, columns, what was guessed, and a sentence.")

    class Meta:
        model = RatingsFile
        fields = (
            *("id", "title", "name", "size", "sha256", "uploaded_at", "campaign", "columns", "mapping"),
            *("encoding", "scale", "made_from", "reading"),
        )


class RatingsUploadForm(UploadForm):
    """A ratings file, as the page takes it."""


class RatingsFiles(Resource):
    """Files of ratings."""

    parser_classes = (MultiPartParser,)  # type: ignore[assignment]

    @operation(Scope.READ, returns=RatingsFileShape, many="pages")
    def get(self, request: ApiRequest) -> Listed:
        """List the files, newest first."""
        return Listed(queries.list_ratings_files_for(request.user), ("-uploaded_at",))

    @operation(Scope.EDIT, takes=RatingsUploadForm, returns=RatingsFileShape, status=201)
    def post(self, request: ApiRequest) -> RatingsFile:
        """Upload a file. Its columns are guessed.

        A file of another tool becomes a file for each kind of response in it, one of several tasks a file for each
        task; the first one is returned.
        """
        data = cleaned(RatingsUploadForm(request.POST, request.FILES))
        return upload_ratings(owner=request.user, upload=data.pop("file"), **data)


class ColumnsForm(forms.Form):
    """What the columns are."""

    mapping = forms.JSONField(required=False, help_text="The column of each of worker, system, score and so on.")
    scale = forms.JSONField(required=False, help_text="The least and the greatest score, such as [1, 5].")
    encoding = forms.CharField(required=False, help_text="Of a file that is not UTF-8: windows-1252.")

    def clean(self) -> dict[str, Any]:
        """Refuse what has another shape."""
        data = super().clean() or {}
        if not isinstance(data.get("mapping") or {}, dict):
            self.add_error("mapping", "Send an object with a column for each role.")
        scale = data.get("scale")
        if scale is not None and not _is_scale(scale):
            self.add_error("scale", "Send two numbers, the least and the greatest score.")
        return data


def _is_scale(value: Any) -> bool:
    numbers = isinstance(value, list) and all(isinstance(end, int | float) for end in value)
    return numbers and len(value) == len(("low", "high")) and value[0] < value[1]


class OneRatingsFile(Resource):
    """One file of ratings."""

    @operation(Scope.READ, returns=RatingsFileShape)
    def get(self, request: ApiRequest, ratings_file_id: UUID) -> RatingsFile:
        """Return the file."""
        return queries.get_ratings_file_for(request.user, ratings_file_id)

    @operation(Scope.EDIT, takes=ColumnsForm, returns=RatingsFileShape, fields={"bad_mapping": "mapping"})
    def patch(self, request: ApiRequest, ratings_file_id: UUID) -> RatingsFile:
        """Say which column is which, on which scale the scores are, or which encoding an uploaded file has."""
        file = queries.get_upload_for(request.user, ratings_file_id)
        data = cleaned(ColumnsForm(sent_to(ColumnsForm, request, partial=True)))
        if data["encoding"]:
            read_as(ratings_file=file, encoding=data["encoding"])
        if {"mapping", "scale"} & request.data.keys():
            scale = data["scale"] if "scale" in request.data else file.scale
            map_columns(ratings_file=file, mapping=data["mapping"] or file.mapping, scale=scale)
        return queries.get_ratings_file_for(request.user, ratings_file_id)

    @operation(Scope.ADMIN, refused=CONFLICT)
    def delete(self, request: ApiRequest, ratings_file_id: UUID) -> None:
        """Delete the file with its analyses. Owners of the campaign may, and who has uploaded it."""
        file = queries.get_ratings_file_for(request.user, ratings_file_id, to_own=True)
        delete_ratings_file(ratings_file=file, user=request.user)


class SampleOf(Resource):
    """The first rows of a file of ratings."""

    @operation(Scope.ADMIN, returns=Preview)
    def get(self, request: ApiRequest, ratings_file_id: UUID) -> Preview:
        """Return the columns and the first rows of a file that you have uploaded, with the workers' own ids."""
        file = queries.get_upload_for(request.user, ratings_file_id)
        return preview(Path(file.file.path), file.name, encoding=file.encoding)


class ProposalForm(forms.Form):
    """A protocol."""

    protocol = forms.CharField(required=False, help_text="One of the site's; if left out, one that fits the file.")


class SettingsProposalShape(serializers.Serializer[Proposal]):
    """How a file may be analysed: send `settings` to analyse it so."""

    settings = serializers.SerializerMethodField()
    criteria = serializers.ListField(child=serializers.CharField(), help_text="Those that the first rows name.")
    cannot_test = serializers.BooleanField(help_text="No item is degraded: the protocol's worker test is left out.")
    refused = serializers.CharField(help_text="Why the campaign's settings, or a criterion, cannot be used.")
    question = serializers.ChoiceField(
        choices=("", "unnamed", "own", "several", "more"),
        help_text="What the file leaves open about its protocol: it names no criterion (unnamed), no protocol has its "
        "criteria (own), several have (several), the one that has them has more (more).",
    )
    candidates = serializers.SerializerMethodField(help_text="The protocols that have its criteria.")

    def get_candidates(self, found: Proposal) -> list[str]:
        """Return the names of protocols."""
        return [protocol.slug for protocol in found.candidates]

    def get_settings(self, found: Proposal) -> dict[str, Any]:
        """Return the settings as `protocol.json` has them."""
        return found.settings.to_json()


class ProposalOf(Resource):
    """How a file of ratings may be analysed."""

    @operation(Scope.READ, returns=SettingsProposalShape, filters=ProposalForm)
    def get(self, request: ApiRequest, ratings_file_id: UUID) -> Proposal:
        """Return the settings that the page proposes for the file."""
        file = queries.get_ratings_file_for(request.user, ratings_file_id, to_change=True)
        return propose_settings(file, cleaned(ProposalForm(request.query_params))["protocol"] or None)


class RunForm(forms.Form):
    """How ratings are analysed."""

    protocol = forms.CharField(required=False, help_text="The name of a protocol, for its presets.")
    settings = forms.JSONField(
        required=False, help_text="All settings, as in `protocol.json` of a replication package, instead of a protocol."
    )

    def clean(self) -> dict[str, Any]:
        """Refuse neither and both."""
        data = super().clean() or {}
        if bool(data.get("protocol")) == bool(data.get("settings")):
            raise forms.ValidationError("Send a protocol or settings.")
        return data


class FileRuns(Resource):
    """The analyses of a file of ratings."""

    @operation(Scope.READ, returns=ListedRunShape, many="pages")
    def get(self, request: ApiRequest, ratings_file_id: UUID) -> Listed:
        """List the analyses, newest first."""
        file = queries.get_ratings_file_for(request.user, ratings_file_id)
        hide = not may_name(request, file.my_role)
        return Listed(queries.list_runs_of(file), ("-created_at",), queries.hide_excluded if hide else list)

    @operation(Scope.EDIT, takes=RunForm, returns=RunShape, status=202, fields={"bad_settings": "settings"})
    def post(self, request: ApiRequest, ratings_file_id: UUID) -> AnalysisRun:
        """Analyse the file. Ask for the analysis until its state is ready."""
        file = queries.get_ratings_file_for(request.user, ratings_file_id, to_change=True)
        if not file.encoding:
            raise DomainError("bad_encoding", "The file is not UTF-8. Say first which encoding it has.")
        data = cleaned(RunForm(sent_to(RunForm, request)))
        settings = from_json(data["settings"]) if data["settings"] else from_protocol(data["protocol"])
        return start_run(ratings_file=file, user=request.user, settings=settings)
