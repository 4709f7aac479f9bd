"""Comparing results: two or more analyses, of campaigns and of ratings files."""

from dataclasses import asdict
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

from django import forms
from django.http import Http404, HttpResponse
from django.utils.http import content_disposition_header, urlencode
from rest_framework import serializers

from analysis.results.downloads import CONTENT_TYPES
from analysis.web.queries.comparisons import (
    MOST_COMPARED,
    ChosenResults,
    ResultsCompared,
    compare_chosen,
    comparison_content,
    comparison_file_name,
)
from api.access import ApiRequest
from api.operations import Resource, operation
from api.resources.analyses import run_for
from api.resources.results import SectionShape
from api.shapes import cleaned
from evalsite.accounts.models import Scope
from evalsite.lib.errors import DomainError

_FILE_TYPES = tuple(CONTENT_TYPES[suffix] for suffix in (".csv", ".tex", ".xlsx", ".svg", ".pdf", ".png"))


class ChosenForm(forms.Form):
    """Which analyses to compare."""

    first = forms.UUIDField(help_text="The analysis whose order of systems counts.")
    second = forms.UUIDField(help_text="The analysis that it is compared with.")
    more = forms.CharField(
        required=False, help_text=f"Further analyses, ids with commas between them; {MOST_COMPARED} in all at most."
    )

    def clean_more(self) -> list[UUID]:
        """Return the ids."""
        parts = [part.strip() for part in self.cleaned_data["more"].split(",") if part.strip()]
        try:
            found = [UUID(part) for part in parts]
        except ValueError:
            raise forms.ValidationError("Write ids of analyses, with commas between them.") from None
        if len(found) > MOST_COMPARED - 2:
            raise forms.ValidationError(f"At most {MOST_COMPARED} are compared, {MOST_COMPARED - 2} of them here.")
        return found

    @property
    def chosen(self) -> list[UUID]:
        """The further analyses, each once."""
        known = {self.cleaned_data["first"], self.cleaned_data["second"]}
        return [each for each in dict.fromkeys(self.cleaned_data["more"]) if each not in known]


class ComparedSystemShape(serializers.Serializer[Any]):
    """A system that both of the first two analyses score: score and rank in both, among these systems."""

    name = serializers.CharField()
    first_score = serializers.FloatField(help_text="Of direct assessment the mean z.")
    second_score = serializers.FloatField()
    first_rank = serializers.IntegerField()
    second_rank = serializers.IntegerField()
    difference = serializers.FloatField(help_text="The second score less the first.")
    low = serializers.FloatField(allow_null=True, help_text="Of a 95 % interval of the difference.")
    high = serializers.FloatField(allow_null=True)


class AgreementOfTwoShape(serializers.Serializer[Any]):
    """How far two analyses agree."""

    systems = ComparedSystemShape(many=True, help_text="As the first analysis ranks them.")
    criteria = serializers.ListField(child=serializers.CharField(), help_text="Of both; none of a single one.")
    same_conclusions = serializers.JSONField(help_text="The share of pairs with the same conclusion, by α.")
    only_first = serializers.ListField(child=serializers.CharField())
    only_second = serializers.ListField(child=serializers.CharField())


class ComparisonFileShape(serializers.Serializer[Any]):
    """A file of a table (CSV, LaTeX, XLSX) or of a figure (SVG, PDF, PNG)."""

    path = serializers.CharField()
    title = serializers.CharField()
    url = serializers.CharField()


class ComparisonShape(serializers.Serializer[Any]):
    """What analyses have in common."""

    agreement = AgreementOfTwoShape(allow_null=True, help_text="Of the first two; null if they cannot be compared.")
    refused = serializers.CharField(help_text="Why the first two cannot be compared; empty if they can.")
    warnings = serializers.ListField(
        child=serializers.CharField(), help_text="Which analyses are not independent of each other."
    )
    sections = SectionShape(many=True)
    files = ComparisonFileShape(many=True)


def _chosen(request: ApiRequest) -> tuple[ChosenResults, ResultsCompared]:
    """Return the analyses as they may be read with this token, compared; raise DomainError for one and the same."""
    form = ChosenForm(request.query_params)
    data = cleaned(form)
    first, second, *more = [run_for(request, each) for each in (data["first"], data["second"], *form.chosen)]
    chosen = ChosenResults(first, second, more)
    found = compare_chosen(chosen)
    if not found.sections:
        raise DomainError("not_comparable", found.refused)
    return chosen, found


class Compare(Resource):
    """Analyses beside each other."""

    @operation(Scope.READ, returns=ComparisonShape, filters=ChosenForm)
    def get(self, request: ApiRequest) -> dict[str, Any]:
        """Compare analyses: systems are matched by name, and the first two need three of them in common."""
        chosen, found = _chosen(request)
        first, second, *more = (str(run.pk) for run in chosen.runs)
        query = urlencode({"first": first, "second": second} | ({"more": ",".join(more)} if more else {}))
        here = request.build_absolute_uri(request.path)
        return {
            "agreement": asdict(found.agreement) if found.agreement else None,
            "refused": found.refused,
            "warnings": found.warnings,
            "sections": found.sections,
            "files": [
                {"path": path, "title": title, "url": f"{here}files/{path}?{query}"} for path, title in found.files
            ],
        }


class ComparisonFile(Resource):
    """A file of a comparison."""

    @operation(Scope.READ, filters=ChosenForm, media_type=_FILE_TYPES)
    def get(self, request: ApiRequest, name: str) -> HttpResponse:
        """Send a table or figure of the comparison, by its path in `files`."""
        chosen, found = _chosen(request)
        content = comparison_content(found, chosen, name)
        if content is None:
            raise Http404
        response = HttpResponse(content, content_type=CONTENT_TYPES[PurePosixPath(name).suffix])
        response["Content-Disposition"] = content_disposition_header(True, comparison_file_name(name)) or "attachment"
        return response
