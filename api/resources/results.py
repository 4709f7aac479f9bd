"""What analyses found: rankings, comparisons, workers, sections, reports and files; and live workers."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

from django.http import FileResponse, Http404
from django.utils import timezone
from rest_framework import serializers

from analysis.models import Look
from analysis.results.downloads import CONTENT_TYPES, OTHER_TYPE, find_file, list_downloads
from analysis.results.paper.questions import Question
from analysis.results.paper.statement import data_statement
from analysis.results.paper.texts import paper_texts
from analysis.results.result import Comparison, WorkerResult
from analysis.results.sections import Section
from analysis.results.values import (
    ChatTotals,
    Ranking,
    RunTotals,
    get_chat_totals,
    get_ranking,
    get_totals,
    list_workers,
)
from analysis.web.forms.runs import LiveWorkerFilter
from analysis.web.queries.campaigns import find_agreement, get_answers, judging_settings_of, list_looks
from analysis.web.queries.facts import get_facts
from analysis.web.queries.workers_now import LiveWorker, find_workers, list_live_workers
from api.access import ApiRequest
from api.operations import Resource, operation
from api.resources.analyses import run_for
from api.shapes import cleaned
from campaigns.models import Campaign
from campaigns.queries import Role
from evalsite.accounts.models import Scope
from evalsite.lib.typed_json import to_json


@dataclass(frozen=True)
class SystemScore:
    """The score of a system, its 95 % interval, n, what the score is the mean of, and rank; undefined ones are null."""

    system: str
    score: float | None
    interval: tuple[float, float] | None
    n: int
    rank: int | None


_OF_SYSTEM = [field.name for field in fields(SystemScore)]


@dataclass(frozen=True)
class RunResult:
    """What an analysis found: in at most three sentences, in numbers of systems, workers and ratings, and ranked.

    `systems` are those of any method, best first; `ranking` says more of direct assessment, and is null of others.
    """

    finding: list[str]
    method: str
    higher_is_better: bool
    systems: list[SystemScore]
    totals: RunTotals
    ranking: Ranking | None


class Result(Resource):
    """The ranking of the systems."""

    @operation(Scope.READ, returns=RunResult)
    def get(self, request: ApiRequest, run_id: UUID) -> RunResult:
        """Return the finding as the page words it, the totals and the ranking."""
        result = run_for(request, run_id).result
        systems = [SystemScore(**{name: getattr(row, name) for name in _OF_SYSTEM}) for row in result.summary.systems]
        return RunResult(
            finding=result.findings,
            method=result.settings.method,
            higher_is_better=result.summary.higher_is_better,
            systems=systems,
            totals=get_totals(result),
            ranking=get_ranking(result) if result.is_study else None,
        )


class Comparisons(Resource):
    """The tests between systems."""

    @operation(Scope.READ, returns=Comparison, many="all")
    def get(self, request: ApiRequest, run_id: UUID) -> list[Comparison]:
        """Return the tests overall, then on each criterion; rows beat columns, in rank order."""
        if not (comparisons := run_for(request, run_id).result.comparisons):
            raise Http404("These results have no comparisons.")
        return comparisons


class Workers(Resource):
    """The workers of an analysis, and whether they count."""

    @operation(Scope.READ, returns=WorkerResult, many="all")
    def get(self, request: ApiRequest, run_id: UUID) -> list[WorkerResult]:
        """Return every worker's test, verdict and scores; keyed hashes but for owners with the scope admin."""
        result = run_for(request, run_id).result
        if result.worker_table is None:
            raise Http404("These results have no worker table.")
        return list_workers(result, state="", order="worker", search="")


class ChatsOf(Resource):
    """What the chats of an analysis add up to."""

    @operation(Scope.READ, returns=ChatTotals)
    def get(self, request: ApiRequest, run_id: UUID) -> ChatTotals:
        """Return how many chats there are, and how long they are, of all workers and of those who passed or failed."""
        if (totals := get_chat_totals(run_for(request, run_id).result)) is None:
            raise Http404
        return totals


class LiveWorkerShape(serializers.Serializer[LiveWorker]):
    """A worker of a campaign as they are now."""

    worker = serializers.CharField(
        source="name", help_text="A keyed hash; the worker's own id for owners with the scope admin."
    )
    n_finished = serializers.SerializerMethodField()
    n_left = serializers.IntegerField(help_text="HITs that were returned, or ran out.")
    n_active = serializers.IntegerField()
    seen_at = serializers.DateTimeField(allow_null=True)
    suspicions = serializers.ListField(child=serializers.CharField(), source="conduct.suspicions")
    conduct = serializers.SerializerMethodField(help_text="What the finished HITs say; undefined numbers are null.")

    def get_n_finished(self, worker: LiveWorker) -> int:
        """Return the number of finished HITs."""
        return len(worker.finished)

    def get_conduct(self, worker: LiveWorker) -> dict[str, Any]:
        """Return the verdict, its p, and how the worker rates."""
        return asdict(worker.conduct)


class LiveWorkers(Resource):
    """The workers of a campaign."""

    @operation(Scope.READ, returns=LiveWorkerShape, filters=LiveWorkerFilter, many="all", has_names=True)
    def get(self, request: ApiRequest, campaign: Campaign) -> list[LiveWorker]:
        """List the workers as they are now, by the worker test and their manner, those to check first."""
        wanted = cleaned(LiveWorkerFilter(campaign.worker_test, request.query_params))
        everyone = list_live_workers(campaign, judging_settings_of(campaign), timezone.now())
        with_names = campaign.my_role == Role.OWNER
        return find_workers(everyone, state=wanted["show"], search=wanted["search"], with_names=with_names)


class LookShape(serializers.ModelSerializer[Look]):
    """What the ratings had shown when so many assignments were finished, by bounds that hold at every look."""

    pairs = serializers.JSONField(
        help_text="Of each pair `systems`, `difference` of the first less the second in the unit of the method, `low`, "
        "`high`, `p_holm`, `better` (the system, if they are decided), and `is_wanted`: whether the stopping rule "
        "waits for it. Undefined numbers are null."
    )

    class Meta:
        model = Look
        fields = (
            *("n_assignments", "at", "n_workers", "n_pairs", "n_decided", "n_wanted", "n_wanted_decided"),
            *("has_closed", "pairs"),
        )


class Looks(Resource):
    """Looks at a campaign that may close itself."""

    @operation(Scope.READ, returns=LookShape, many="all")
    def get(self, request: ApiRequest, campaign: Campaign) -> list[Look]:
        """List the looks at the ratings, the first one first: how many pairs of systems were decided, and which."""
        return list_looks(campaign)


class AgreementShape(serializers.Serializer[Any]):
    """How far two runs agree over the systems that both rate."""

    systems = serializers.ListField(child=serializers.CharField())
    overall = serializers.JSONField(help_text="Correlations of z; undefined ones are null.")
    criteria = serializers.JSONField(help_text="The same on each criterion.")
    same_conclusions = serializers.JSONField(help_text="The share of pairs with the same conclusion, by α.")


class Replication(Resource):
    """How far a campaign agrees with the one that it replicates."""

    @operation(Scope.READ, returns=AgreementShape)
    def get(self, request: ApiRequest, campaign: Campaign) -> Any:
        """Return the agreement of the newest results of both; not found unless you may see both."""
        if (found := find_agreement(request.user, campaign)) is None:
            raise Http404
        return to_json(found)


class ReportShape(serializers.Serializer[Any]):
    """The report. `summary` is what `manage.py analyse --format json` prints."""

    summary = serializers.JSONField()
    settings = serializers.JSONField()
    comparisons = serializers.JSONField(required=False, help_text="Of direct assessment.")
    intervals = serializers.JSONField(required=False, help_text="Of 95 %, by system; of direct assessment.")
    worker_table = serializers.JSONField(required=False)
    pairs = serializers.JSONField(required=False, help_text="Of every two systems, the better one first.")
    questions = serializers.JSONField(
        required=False,
        help_text="Answers, such as of sensitivity and metrics; `refused` says why there is none.",
    )
    groups = serializers.JSONField(required=False, help_text="Systems by groups, and whether these matter; if asked.")
    style = serializers.JSONField(  # type: ignore[assignment]
        required=False, help_text="Of votes: strengths without and with style; if known."
    )
    warnings = serializers.JSONField(required=False, help_text="What is surprising about the responses.")
    notes = serializers.ListField(required=False, child=serializers.CharField(), help_text="The same of the analysis.")
    replication = serializers.JSONField(required=False, help_text="How far the run agrees with its original.")
    version = serializers.IntegerField(required=False, help_text="Of the shape of the report; 1 where it is left out.")
    findings = serializers.ListField(required=False, child=serializers.CharField(), help_text="Sentences.")
    headline = serializers.CharField(required=False)
    paper = serializers.JSONField(required=False, help_text="Sentences: `scored`, `compared`, `found`, `effects`.")
    sections = serializers.JSONField(required=False, help_text="What pages show; tables have an address of their own.")


class ReportOf(Resource):
    """Everything that an analysis computed."""

    @operation(Scope.READ, returns=ReportShape)
    def get(self, request: ApiRequest, run_id: UUID) -> Any:
        """Return the report."""
        return run_for(request, run_id).report


class ColumnShape(serializers.Serializer[Any]):
    """A column."""

    name = serializers.CharField()
    is_p = serializers.BooleanField(help_text="Its numbers are p-values.")


class TableShape(serializers.Serializer[Any]):
    """A table; the first column names the row, null is undefined."""

    name = serializers.CharField()
    title = serializers.CharField()
    caption = serializers.CharField()
    columns = ColumnShape(many=True)
    rows = serializers.JSONField()


class FigureShape(serializers.Serializer[Any]):
    """A figure: `figures/NAME.svg`, `.pdf` and `.png` among the files."""

    name = serializers.CharField()
    title = serializers.CharField()
    alt = serializers.CharField()


class SectionShape(serializers.Serializer[Section]):
    """A result: a finding in words, tables and figures."""

    slug = serializers.CharField()
    title = serializers.CharField()
    finding = serializers.CharField()
    tables = TableShape(many=True)
    figures = FigureShape(many=True)


class Sections(Resource):
    """The results as the pages show them."""

    @operation(Scope.READ, returns=SectionShape, many="all")
    def get(self, request: ApiRequest, run_id: UUID) -> Sequence[Section]:
        """Return the sections."""
        return run_for(request, run_id).result.sections


@dataclass(frozen=True)
class PaperText:
    """A paragraph for a paper, as plain text and for LaTeX."""

    name: str
    title: str
    plain: str
    latex: str


@dataclass(frozen=True)
class Paper:
    """What a paper says of an evaluation, and a data statement, whose open sections are to be written."""

    texts: list[PaperText]
    data_statement: list[Question]


class PaperOf(Resource):
    """Sentences for a paper."""

    @operation(Scope.READ, returns=Paper)
    def get(self, request: ApiRequest, run_id: UUID) -> Paper:
        """Return the paragraphs of methods and results, and the data statement (Bender & Friedman 2018)."""
        found = run_for(request, run_id)
        campaign = found.ratings_file.campaign
        facts, answers = (get_facts(campaign), get_answers(campaign)) if campaign else (None, {})
        result = found.result
        texts = [PaperText(each.name, each.title, each.plain, each.latex) for each in paper_texts(result, facts)]
        return Paper(texts, data_statement(result, facts, answers))


class FileOfRun(serializers.Serializer[Any]):
    """A file."""

    path = serializers.CharField(help_text="Its address is this below the address of the list.")
    title = serializers.CharField()
    size = serializers.IntegerField(
        allow_null=True, help_text="In bytes; null of a file that is made when it is asked for."
    )


class RunFiles(Resource):
    """The files of an analysis."""

    @operation(Scope.READ, returns=FileOfRun, many="all")
    def get(self, request: ApiRequest, run_id: UUID) -> list[dict[str, Any]]:
        """List the replication package, tables and figures."""
        found = run_for(request, run_id)
        files = list_downloads(found.result, found.folder)
        return [
            {"path": each.path, "title": download.title, "size": each.size}
            for group in (files.whole, files.tables, files.figures, files.workers)
            for download in group
            for each in download.files
        ]


class OneRunFile(Resource):
    """One file of an analysis."""

    @operation(Scope.READ, media_type=(*CONTENT_TYPES.values(), OTHER_TYPE))
    def get(self, request: ApiRequest, run_id: UUID, name: str) -> FileResponse:
        """Send the file; in all of them workers are named by keyed hashes."""
        path = find_file(run_for(request, run_id).folder, name)
        if path is None:
            raise Http404
        return FileResponse(path.open("rb"), content_type=CONTENT_TYPES.get(PurePosixPath(name).suffix, OTHER_TYPE))
