"""Systems, sources and outputs, and the files that they come from."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast, get_args
from uuid import UUID

from django import forms
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import Http404, HttpResponse
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser

from api.access import ApiRequest
from api.operations import Listed, Resource, operation
from api.resources.jobs import JobShape
from api.shapes import cleaned, model_shape, save_sent, sent_to
from campaigns.contracts.protocol import Screen
from campaigns.data_queries import get_upload_of, list_sources, list_uploads
from campaigns.forms.data import SystemForm, UploadForm
from campaigns.importing.examples import Shape as TableShape
from campaigns.importing.examples import example_csv
from campaigns.importing.layout import FileLayout
from campaigns.models import Campaign, Output, Source, System, Upload
from campaigns.queries import Role, get_system_of, list_systems
from campaigns.services.contents import mark_human, rename_system
from campaigns.services.imports import delete_upload, map_columns, read_as, start_import, upload_outputs
from evalsite.accounts.models import Scope
from evalsite.jobs.models import Job
from evalsite.lib.errors import CONFLICT
from evalsite.lib.tables import WINDOWS_1252, Preview, preview

SystemShape = model_shape(
    "System", System, "id", "name", "is_human", "is_degraded", "family", n_outputs=serializers.IntegerField()
)


class Systems(Resource):
    """The systems that are compared."""

    @operation(Scope.READ, returns=SystemShape, many="all")
    def get(self, request: ApiRequest, campaign: Campaign) -> Any:
        """List the systems by name."""
        return list_systems(campaign)


class ChangedSystemForm(SystemForm):
    """A system's name, and whether people wrote its outputs."""

    is_human = forms.BooleanField(required=False, help_text="At most one system is.")


class OneSystem(Resource):
    """One system."""

    @operation(Scope.READ, returns=SystemShape)
    def get(self, request: ApiRequest, campaign: Campaign, system_id: int) -> System:
        """Return the system."""
        return get_system_of(campaign, system_id)

    @operation(Scope.EDIT, takes=ChangedSystemForm, returns=SystemShape)
    def patch(self, request: ApiRequest, campaign: Campaign, system_id: int) -> System:
        """Rename the system, or say whether it is human."""
        found = get_system_of(campaign, system_id)
        form = ChangedSystemForm(found, sent_to(ChangedSystemForm, request, partial=True))

        def save(changes: dict[str, Any]) -> None:
            if "name" in changes:
                rename_system(campaign=campaign, system=found, name=changes["name"])
            if changes.get("is_human", found.is_human) != found.is_human:
                mark_human(campaign=campaign, system=found if changes["is_human"] else None)

        save_sent(form, save)
        return get_system_of(campaign, system_id)


class OutputShape(serializers.ModelSerializer[Output]):
    """One system's text."""

    system = serializers.CharField(source="system.name")

    class Meta:
        model = Output
        fields = ("id", "system", "text")


class SourceShape(serializers.ModelSerializer[Source]):
    """What outputs were made from, and the outputs."""

    fields = serializers.DictField(  # type: ignore[assignment]
        child=serializers.CharField(), help_text="The texts by the names of the screen's fields."
    )
    outputs = OutputShape(many=True)

    class Meta:
        model = Source
        fields = ("id", "name", "fields", "outputs")


class Sources(Resource):
    """What outputs were made from."""

    @operation(Scope.READ, returns=SourceShape, many="pages")
    def get(self, request: ApiRequest, campaign: Campaign) -> Listed:
        """List the sources with their outputs, in the order of the file."""
        return Listed(list_sources(campaign), ("pk",))


class LayoutShape(serializers.Serializer[FileLayout]):
    """What the columns of a file are taken for."""

    format = serializers.CharField()
    columns = serializers.ListField(child=serializers.CharField())
    roles = serializers.DictField(child=serializers.CharField(), help_text="The role of each column that is used.")
    labels = serializers.DictField(child=serializers.CharField(), help_text="Headings of new fields, by column.")
    encoding = serializers.CharField(help_text="Empty: it is not UTF-8, and has to be said.")


class UploadShape(serializers.ModelSerializer[Upload]):
    """A file: what its columns are taken for, how far its import is, and what is wrong with it."""

    state = serializers.ChoiceField(choices=["new", "importing", "problems", "failed", "imported"], read_only=True)
    layout = LayoutShape()
    job = serializers.UUIDField(source="job_id", allow_null=True)

    class Meta:
        model = Upload
        fields = ("id", "name", "size", "uploaded_at", "imported_at", "state", "layout", "job", "summary", "problems")


class Uploads(Resource):
    """The files of sources and outputs."""

    parser_classes = (MultiPartParser,)  # type: ignore[assignment]

    @operation(Scope.READ, returns=UploadShape, many="all")
    def get(self, request: ApiRequest, campaign: Campaign) -> Any:
        """List the files, newest first."""
        return list_uploads(campaign)

    @operation(Scope.EDIT, takes=UploadForm, returns=UploadShape, status=201)
    def post(self, request: ApiRequest, campaign: Campaign) -> Upload:
        """Upload a file. Its columns are guessed: look at the layout, change it if need be, then import it.

        Text files with a line for each segment are sent as several parts `file`, or in a zip. So are a table and
        the pictures that it names.
        """
        form = UploadForm(None, request.FILES)
        form.is_bound = True
        first, *more = cleaned(form)["file"]
        return upload_outputs(campaign=campaign, user=request.user, upload=first, more=more)


class RowsForm(forms.Form):
    """Rows of a table."""

    rows = forms.JSONField(help_text="A list of objects, one for each row, with a value for each column.")
    name = forms.CharField(required=False, max_length=200, help_text="What to call it.")

    def clean_rows(self) -> list[dict[str, Any]]:
        """Refuse what is no list of objects."""
        rows = self.cleaned_data["rows"]
        if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
            raise forms.ValidationError("Send a list of objects, one for each row.")
        return rows


class Example(Resource):
    """A small file to begin with."""

    @operation(Scope.READ, media_type="text/csv")
    def get(self, request: ApiRequest, campaign: Campaign, shape: str) -> HttpResponse:
        """Send an example with the fields of the campaign: `long`, a row for an output, or `wide`, for a source."""
        if shape not in get_args(TableShape):
            raise Http404
        table = example_csv(Screen.from_json(campaign.screen), cast(TableShape, shape))
        return HttpResponse(table, content_type="text/csv; charset=utf-8")


class Rows(Resource):
    """Sources and outputs without a file."""

    @operation(Scope.EDIT, takes=RowsForm, returns=UploadShape, status=201)
    def post(self, request: ApiRequest, campaign: Campaign) -> Upload:
        """Upload rows as if they were a file of JSON Lines."""
        values = cleaned(RowsForm(sent_to(RowsForm, request)))
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in values["rows"])
        file = SimpleUploadedFile(f"{values['name'] or 'rows'}.jsonl", lines.encode())
        return upload_outputs(campaign=campaign, user=request.user, upload=file)


class LayoutForm(forms.Form):
    """What columns are taken for."""

    roles = forms.JSONField(
        required=False,
        help_text="The role of each column that is used: "
        "source, document, system, output, system-output, attribute (kept for analyses), alt (the alternative texts of "
        "NAME, in NAME_alt), new, or field:NAME.",
    )
    labels = forms.JSONField(required=False, help_text="Headings of new fields, by column.")
    encoding = forms.ChoiceField(required=False, choices=[(WINDOWS_1252, "")], help_text="Of a file that is not UTF-8.")

    def clean_roles(self) -> dict[str, str]:
        """Refuse what is no object of texts."""
        return _texts(self.cleaned_data["roles"])

    def clean_labels(self) -> dict[str, str]:
        """Refuse what is no object of texts."""
        return _texts(self.cleaned_data["labels"])


def _texts(value: Any) -> dict[str, str]:
    if not isinstance(value or {}, dict) or not all(isinstance(text, str) for text in (value or {}).values()):
        raise forms.ValidationError("Send an object with a text for each column.")
    return value or {}


class OneUpload(Resource):
    """One file."""

    @operation(Scope.READ, returns=UploadShape)
    def get(self, request: ApiRequest, campaign: Campaign, upload_id: UUID) -> Upload:
        """Return the file: its layout, and how far its import is."""
        return get_upload_of(campaign, upload_id)

    @operation(Scope.EDIT, takes=LayoutForm, returns=UploadShape, fields={"bad_mapping": "roles"})
    def patch(self, request: ApiRequest, campaign: Campaign, upload_id: UUID) -> Upload:
        """Say what the columns are taken for, or which encoding the file has."""
        found = get_upload_of(campaign, upload_id)
        values = cleaned(LayoutForm(sent_to(LayoutForm, request, partial=True)))
        if values["encoding"]:
            read_as(upload=found, encoding=values["encoding"])
            found = get_upload_of(campaign, upload_id)
        if chosen := {name: values[name] for name in ("roles", "labels") if name in request.data}:
            map_columns(upload=found, layout=replace(FileLayout.from_json(found.layout), **chosen))
        return get_upload_of(campaign, upload_id)

    @operation(Scope.ADMIN, role=Role.OWNER, refused=CONFLICT)
    def delete(self, request: ApiRequest, campaign: Campaign, upload_id: UUID) -> None:
        """Delete the file; what was imported from it stays. Refused as `frozen` after the launch."""
        delete_upload(upload=get_upload_of(campaign, upload_id), user=request.user)


class Sample(Resource):
    """The first rows of a file."""

    @operation(Scope.READ, returns=Preview)
    def get(self, request: ApiRequest, campaign: Campaign, upload_id: UUID) -> Preview:
        """Return the columns and the first rows of the file."""
        found = get_upload_of(campaign, upload_id)
        return preview(Path(found.file.path), found.name, encoding=FileLayout.from_json(found.layout).encoding)


class ImportForm(forms.Form):
    """What becomes of what is there."""

    mode = forms.ChoiceField(
        choices=[("replace", "replace"), ("add", "add")],
        required=False,
        help_text="Whether the file takes the place of what the campaign holds (if left out), or is added to it.",
    )


class Import(Resource):
    """The import of a file."""

    @operation(Scope.EDIT, takes=ImportForm, returns=JobShape, status=202, refused=CONFLICT)
    def post(self, request: ApiRequest, campaign: Campaign, upload_id: UUID) -> Job:
        """Import the file. Ask for the job until it has finished, then for the upload: it says what is wrong."""
        found = get_upload_of(campaign, upload_id)
        mode = cleaned(ImportForm(sent_to(ImportForm, request)))["mode"]
        started = start_import(upload=found, user=request.user, mode="add" if mode == "add" else "replace")
        assert started.job
        return started.job
