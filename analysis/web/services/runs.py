"""Analysing ratings files."""

from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from django.db import transaction
from django.utils import timezone

from analysis.data.choices import Choices
from analysis.data.notices import ResponsesWarning
from analysis.data.ratings.loading import LoadedRatings, load_ratings
from analysis.data.ratings.scales import check_scale, unclear_scale
from analysis.methods import DEFAULT, ResponsesFile, get_method
from analysis.methods.direct_assessment import DirectAssessmentMethod, StudyData
from analysis.methods.settings import AnalysisSettings, from_json
from analysis.methods.study.report import first_report, report
from analysis.models import AnalysisRun, RatingsFile
from analysis.questions import Asked, analyse_fully, with_answers
from analysis.results.anonymity import anonymise, anonymous_report
from analysis.results.exports import dump_json, write_report
from analysis.results.paper import heds
from analysis.results.paper.statement import data_statement
from analysis.results.paper.texts import paper_texts
from analysis.results.reading import completed
from analysis.results.result import Notice, Result
from analysis.results.stored import as_result, document_of, result_of
from analysis.web.queries.campaigns import get_answers
from analysis.web.queries.facts import get_facts
from analysis.web.queries.finished_work import read_dialogues, read_source_words, read_work
from analysis.web.queries.metrics import list_ready_scores, load_scores_of
from analysis.web.queries.ratings_files import OWN_LARGE, scale_of
from campaigns.contracts.events import ResultsReady
from campaigns.models import Campaign
from campaigns.services.webhooks import announce
from evalsite.accounts.models import User
from evalsite.jobs.handlers import enqueue
from evalsite.jobs.models import Job
from evalsite.lib.errors import DomainError
from evalsite.lib.media import get_media
from evalsite.lib.tables import if_windows
from evalsite.lib.tables.errors import TableError, listing, shorten

# How many stages `execute_run` announces, for its progress bar.
N_STAGES = 10


@transaction.atomic
def start_run(
    *,
    ratings_file: RatingsFile,
    user: User,
    settings: AnalysisSettings,
    parent: AnalysisRun | None = None,
    mapping: dict[str, Any] | None = None,
) -> AnalysisRun:
    """Queue an analysis of a ratings file; of two clicks on one button, the second gets the first one's run.

    `mapping` and the settings' scale are the file's own by default. Scores of metrics are those that there are now.
    Raises DomainError `bad_settings` for groups by columns that the file does not have.
    """
    columns = (*settings.groups, *([settings.weights] if settings.weights else []))
    if missing := [name for name in columns if name not in ratings_file.columns]:
        message = f"The file has no column “{shorten(missing[0])}” of groups. Its columns are"
        raise DomainError("bad_settings", f"{message} {listing(filter(None, ratings_file.columns))}.")
    if "scale" in get_method(settings.method).takes:
        settings = replace(settings, scale=settings.scale or scale_of(ratings_file))
    RatingsFile.objects.select_for_update().get(pk=ratings_file.pk)  # two clicks at once: one waits for the other
    wanted = {
        "parent": parent,
        "settings": settings.to_json(),
        "mapping": mapping or ratings_file.mapping,
        "metrics": _ready_scores(ratings_file),
    }
    states = [Job.Status.QUEUED, Job.Status.RUNNING, *([Job.Status.SUCCEEDED] if parent else [])]
    same = ratings_file.runs.filter(**wanted, job__status__in=states)
    if run := same.defer(*OWN_LARGE).first():
        return run
    run = AnalysisRun.objects.create(ratings_file=ratings_file, created_by=user, **wanted)
    run.job = enqueue("analysis.run", owner=user, args={"run": str(run.pk)})
    run.save(update_fields=["job"])
    return run


def _ready_scores(ratings_file: RatingsFile) -> list[str]:
    """Return the ids of the scores of metrics that an analysis of the file compares with people."""
    return [str(scores.pk) for scores in list_ready_scores(ratings_file)]


def change_run(*, run: AnalysisRun, user: User, **changes: Any) -> AnalysisRun:
    """Queue the same analysis with other settings (fields of AnalysisSettings); the run itself stays as it is.

    New scores of metrics are a change, too. Raises DomainError `bad_settings` if the settings cannot be,
    `nothing_changed` if they are the run's own.
    """
    before = from_json(run.settings)
    after = replace(before, **changes)
    if after == before and run.metrics == _ready_scores(run.ratings_file):
        raise DomainError("nothing_changed", "These settings are the same as before. Change one first.")
    return start_run(ratings_file=run.ratings_file, user=user, settings=after, parent=run, mapping=run.mapping)


def exclude_worker(*, run: AnalysisRun, user: User, worker: str, reason: str) -> AnalysisRun:
    """Queue the same analysis without a worker's ratings.

    Raises DomainError `no_such_worker` or `no_reason`.
    """
    if not reason.strip():
        raise DomainError("no_reason", f"Say why {worker} is excluded: the reason is kept with the results.")
    if run.report is None or worker not in {row.worker for row in run.result.workers}:
        raise DomainError("no_such_worker", f"There is no worker “{worker}” in these ratings.")
    excluded = dict(from_json(run.settings).excluded) | {worker: reason.strip()}
    return change_run(run=run, user=user, excluded=excluded)


def include_worker(*, run: AnalysisRun, user: User, worker: str) -> AnalysisRun:
    """Queue the same analysis with an excluded worker's ratings counted again; raise DomainError `not_excluded`."""
    excluded = dict(from_json(run.settings).excluded)
    if worker not in excluded:
        raise DomainError("not_excluded", f"Worker “{worker}” is not excluded.")
    del excluded[worker]
    return change_run(run=run, user=user, excluded=excluded)


def load_run(run: AnalysisRun, settings: AnalysisSettings) -> LoadedRatings:
    """Return the ratings of a run; raise TableError if its file cannot be used."""
    loaded = load_ratings(
        Path(run.ratings_file.file.path),
        criteria=settings.criterion_names,
        statements=settings.statements,
        mapping=run.mapping,
        name=run.ratings_file.name,
        encoding=run.ratings_file.encoding,
        scale=settings.scales,
        is_made=bool(run.ratings_file.made_from),
        choices=Choices(groups=settings.groups),
    )
    loaded = replace(loaded, warnings=[*_said_before(run), *loaded.warnings])
    is_said = settings.is_scale_said or run.ratings_file.campaign_id is not None
    if not is_said and (observed := check_scale(loaded.ratings.scores)):
        raise unclear_scale(run.ratings_file.name, loaded.score_columns, observed)
    return loaded


def _said_before(run: AnalysisRun) -> list[ResponsesWarning]:
    """Return what was surprising about the file of another tool that the run's file was made from."""
    found = run.ratings_file.made_from.get("warnings", [])
    return [ResponsesWarning(each["code"], 1, each["message"]) for each in found]


Stage = Callable[[str], None]
Saving = Callable[[], AbstractContextManager[None]]


class _Analysed(NamedTuple):
    """What an analysis gave: its result, the workers that it is about, and what writes its package."""

    result: Result
    workers: Collection[str]
    write_package: Callable[[Path, Result, Mapping[str, str], Mapping[str, str]], None]


def execute_run(*, run: AnalysisRun, on_stage: Stage, saving: Saving) -> None:
    """Read, check and analyse a run's responses and chats; keep the report, tables and replication package.

    The ranking of a study is kept as soon as it is computed (`first_report`): pages show it while the rest is made.
    Figures are drawn when somebody asks for them (`analysis.results.exports`). `saving` opens the transactions that
    store the results. A run that has its report and its files is left as it is.
    Raises TableError, after keeping its problems with the run, if the file cannot be used.
    """
    media = get_media()
    if run.report is not None and next(media.sizes(run.folder), None):
        return
    settings, campaign = from_json(run.settings), run.ratings_file.campaign
    on_stage("Reading the ratings")
    analyse = _ANALYSE.get(settings.method, _analyse_responses)
    try:
        found = analyse(run, settings, on_stage, saving)
    except TableError as error:
        run.problems = {
            "rows": [[each.row, each.column, each.message] for each in error.faults],
            "n_more": 0,
        }
        with saving():
            run.save(update_fields=["problems"])
        raise
    with media.new_folder(run.folder) as draft:
        names = anonymise(found.workers)
        report = document_of(completed(found.result))
        anonymous = result_of(anonymous_report(report, names))
        on_stage("Writing tables")
        write_report(draft, anonymous)
        on_stage("Writing the replication package")
        found.write_package(draft / "package.zip", anonymous, names, _texts(campaign, anonymous))
        with saving():  # nothing is uploaded for a job that another worker has now
            pass
        keep = media.ready(draft, run.folder)
        run.report, run.first_report = report, None
        run.fingerprint, run.problems = found.result.fingerprint, None
        run.finished_at = timezone.now()
        with saving():
            run.save(update_fields=["report", "first_report", "fingerprint", "problems", "finished_at"])
            if campaign:
                data = ResultsReady(
                    run=run.pk, n_assignments=run.ratings_file.n_assignments or 0, finished_at=run.finished_at
                )
                announce(campaign_id=campaign.pk, data=data)
            keep()


def _analyse_study(run: AnalysisRun, settings: AnalysisSettings, on_stage: Stage, saving: Saving) -> _Analysed:
    """Analyse a study of direct assessment, with what the database knows of a campaign besides."""
    from analysis.results.package import write_package  # it imports PyArrow

    loaded = load_run(run, settings)
    campaign, dialogues = run.ratings_file.campaign, None
    if campaign and campaign.is_live:
        on_stage("Reading the chats")
        found = read_dialogues(campaign, set(loaded.assignments))
        dialogues = found if found.chats else None
    work = read_work(campaign, set(loaded.assignments)) if campaign and dialogues is None else []
    source_words = read_source_words(campaign) if campaign else []
    data, method = StudyData(loaded, dialogues, work, load_scores_of(run)), DirectAssessmentMethod()
    study = method.study(data, settings, on_stage)
    first = first_report(study)
    run.first_report = first
    with saving():
        run.save(update_fields=["first_report"])
    on_stage("Bootstrap intervals")
    result = as_result(report(study, first))
    result = with_answers(Asked(method, data, settings, result, data.metrics, source_words), on_stage)
    workers = {*loaded.workers, *(dialogues.workers if dialogues else ())}
    write = partial(write_package, study=study, source_words=source_words, title=_title(run))
    return _Analysed(result, workers, write)


def _analyse_responses(run: AnalysisRun, settings: AnalysisSettings, on_stage: Stage, saving: Saving) -> _Analysed:
    """Analyse responses by the method of the settings, from the file alone."""
    from analysis.results.response_package import called, read_responses, workers_in, write_responses_package

    method, file = get_method(settings.method), run.ratings_file
    encoding = if_windows(Path(file.file.path), file.encoding)
    with called(Path(file.file.path), file.name) as path:
        data = method.read(ResponsesFile(path, Choices(encoding=encoding)), settings)
        on_stage("Analysing the responses")
        metrics, campaign = load_scores_of(run), file.campaign
        source_words = read_source_words(campaign) if campaign and "sources" in method.takes else []
        result = analyse_fully(method, data, settings, on_stage, metrics, source_words)
        del data  # as large as the table
        table = read_responses(path, encoding)
    before = [Notice(each.message, each.code, each.count) for each in _said_before(run)]
    result = replace(result, warnings=[*before, *result.warnings])
    workers = {*workers_in(table), *(row.worker for row in result.workers)}
    write = partial(write_responses_package, table=table, metrics=metrics, source_words=source_words, title=_title(run))
    return _Analysed(result, workers, write)


def _title(run: AnalysisRun) -> str:
    campaign = run.ratings_file.campaign
    return campaign.name if campaign else run.ratings_file.title


# How a method's runs are analysed that need more than their file.
_ANALYSE: dict[str, Callable[[AnalysisRun, AnalysisSettings, Stage, Saving], _Analysed]] = {DEFAULT: _analyse_study}


def _texts(campaign: Campaign | None, result: Result) -> dict[str, str]:
    """Return what the package of a campaign says in words: the datasheet, and sentences for a paper."""
    if campaign is None:
        return {}
    facts, answers = get_facts(campaign), get_answers(campaign)
    sections = heds.datasheet(facts, result, answers)
    texts = [f"{text.title}\n\n{text.plain}" for text in paper_texts(result, facts)]
    statement = [
        f"{each.number} {each.text}: {each.answer or f'[to be completed: {each.hint}]'}"
        for each in data_statement(result, facts, answers)
    ]
    return {
        "datasheet.md": heds.to_markdown(campaign.name, sections),
        "datasheet.json": dump_json(heds.to_document(campaign.name, sections)),
        "paper.txt": "\n\n".join([*texts, "Data statement", *statement]) + "\n",
    }
