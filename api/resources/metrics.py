"""Metrics against people: scores that are uploaded or computed for the ratings of an analysis."""

from typing import Any
from uuid import UUID

from django import forms
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser

from analysis.metrics.folders import list_models
from analysis.metrics.kinds import Data, list_kinds
from analysis.models import AnalysisRun, MetricScores
from analysis.web.forms.metrics import MetricsForm, ScoresUploadForm
from analysis.web.queries.metrics import ReferenceChoice, describe_computable, get_scores_of, scores_of
from analysis.web.services.metrics import read_scores_as, remove_scores, request_metrics, upload_scores
from analysis.web.services.runs import change_run
from api.access import ApiRequest
from api.operations import Resource, operation
from api.resources.analyses import RunShape, run_for
from api.resources.jobs import JobShape
from api.shapes import cleaned, sent_to
from evalsite.accounts.models import Scope
from evalsite.jobs.models import Job
from evalsite.lib.errors import CONFLICT, DomainError
from evalsite.lib.tables import WINDOWS_1252


class ScoresShape(serializers.ModelSerializer[MetricScores]):
    """Scores of metrics."""

    job = serializers.UUIDField(source="job_id", allow_null=True)
    metrics = serializers.JSONField(help_text="The name of each metric, and of how many outputs and systems.")
    options = serializers.JSONField(help_text="What is computed; empty if they were uploaded.")

    class Meta:
        model = MetricScores
        fields = ("id", "name", "created_at", "finished_at", "metrics", "options", "job")


class UploadedScoresForm(ScoresUploadForm):
    """A file of scores."""

    encoding = forms.ChoiceField(
        choices=[("", ""), (WINDOWS_1252, WINDOWS_1252)], required=False, help_text="Of a CSV file that is not UTF-8."
    )


class Scores(Resource):
    """Scores of metrics for the ratings of an analysis."""

    parser_classes = (MultiPartParser,)  # type: ignore[assignment]

    @operation(Scope.READ, returns=ScoresShape, many="all")
    def get(self, request: ApiRequest, run_id: UUID) -> list[MetricScores]:
        """List the scores that belong to these ratings, newest first. The analysis compares those before it."""
        return list(scores_of(run_for(request, run_id).ratings_file))

    @operation(
        Scope.EDIT, takes=UploadedScoresForm, returns=RunShape, status=202,
        fields={"no_common_systems": "file", "metric_twice": "file", "bad_encoding": "encoding"},
    )  # fmt: skip
    def post(self, request: ApiRequest, run_id: UUID) -> AnalysisRun:
        """Upload a file with the columns metric, system, source and score; analyse the ratings again with it."""
        found = run_for(request, run_id, to_change=True)
        data = cleaned(UploadedScoresForm(request.POST, request.FILES))
        scores = upload_scores(run=found, user=request.user, upload=data["file"])
        if not scores.encoding:
            try:
                if not data["encoding"]:
                    raise DomainError("bad_encoding", "The file is not UTF-8. Say which encoding it has.")
                read_scores_as(scores=scores, run=found, encoding=data["encoding"])
            except DomainError:
                scores.file.delete(save=False)
                scores.delete()
                raise
        return run_for(request, change_run(run=found, user=request.user).pk, is_finished=False)


class OneScores(Resource):
    """Scores of one file, or those that were computed."""

    @operation(Scope.EDIT, refused=CONFLICT)
    def delete(self, request: ApiRequest, run_id: UUID, scores_id: UUID) -> None:
        """Remove the scores. Analyses that compared them stay; later ones do not."""
        remove_scores(scores=get_scores_of(run_for(request, run_id, to_change=True), scores_id))


class KindShape(serializers.Serializer[dict[str, Any]]):
    """Metrics that are computed together."""

    slug = serializers.CharField()
    metrics = serializers.ListField(child=serializers.CharField())
    note = serializers.CharField(help_text="How texts become words, and outputs' scores a system's.")
    options = serializers.DictField(help_text="Its options, with their defaults.")
    missing = serializers.CharField(
        help_text="What it needs and is not there: texts, a library, a model. Empty if it can be computed."
    )


class ReferenceShape(serializers.Serializer[ReferenceChoice]):
    """What may be the reference."""

    value = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]


class ComputableShape(serializers.Serializer[dict[str, Any]]):
    """What can be computed."""

    kinds = KindShape(many=True)
    references = ReferenceShape(many=True, help_text="The most likely first; none where outputs are not known.")
    models = serializers.ListField(
        child=serializers.CharField(), help_text="Folders of neural models: values of the option model."
    )


class Computed(Resource):
    """Metrics of a campaign's outputs."""

    @operation(Scope.READ, returns=ComputableShape)
    def get(self, request: ApiRequest, run_id: UUID) -> dict[str, Any]:
        """Return the metrics, with their options and what they lack, and what the reference and the model may be."""
        references, data = describe_computable(run_for(request, run_id).ratings_file)
        data = data or Data(has_references=False)
        return {
            "kinds": [
                {
                    "slug": kind.slug,
                    "metrics": kind.metrics,
                    "note": kind.note,
                    "options": kind.Options.defaults(),
                    "missing": kind.lacks(data),
                }
                for kind in list_kinds()
            ],
            "references": references,
            "models": list_models(),
        }

    @operation(
        Scope.EDIT, takes=MetricsForm, returns=JobShape, status=202,
        fields={
            "unknown_kind": "kinds", "cannot_compute": "kinds", "no_references": "reference", "bad_option": "options",
            "bad_model": "options",
        },
    )  # fmt: skip
    def post(self, request: ApiRequest, run_id: UUID) -> Job | None:
        """Compute metrics. When the job has finished, the newest analysis compares them with people."""
        found = run_for(request, run_id, to_change=True)
        form = MetricsForm(*describe_computable(found.ratings_file), sent_to(MetricsForm, request))
        data = cleaned(form)
        return request_metrics(
            run=found,
            user=request.user,
            kinds=data["kinds"],
            reference=data["reference"],
            options=form.chosen_options(),
        ).job
