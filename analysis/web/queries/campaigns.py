"""Reading what was made of a campaign's ratings. Every function wants a campaign that the user may see."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import reduce
from operator import or_
from typing import Any
from uuid import UUID

from django.db.models import Count, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import Http404
from django.shortcuts import get_object_or_404

from analysis.data.ratings.scales import FULL
from analysis.methods import DEFAULT, compare_by_method, get_method
from analysis.methods.settings import LEAST_PLANNED, AnalysisSettings, Cost, no_scores, nothing_read, rated_criterion
from analysis.models import AnalysisRun, Judge, Look, MetricScores, RatingsFile, ShareLink
from analysis.results.paper.heds import Section, datasheet
from analysis.results.paper.questions import Question
from analysis.results.paper.statement import data_statement
from analysis.results.replication import RunAgreement
from analysis.stats.procedures import Procedure
from analysis.web.queries.facts import get_facts
from analysis.web.queries.ratings_files import LARGE, Role, as_seen, newest, parse_id, runs_seen_by
from annotation.models import Assignment
from campaigns.contracts.attributes import DRAW_WEIGHT
from campaigns.contracts.protocol import CriterionSpec
from campaigns.design.worker_test import NO_TEST
from campaigns.methods import methods, options_for, reads, whole_before_replies
from campaigns.models import Campaign, Chatbot
from campaigns.protocols import get_protocol
from campaigns.queries import fee_of_place, of_set_up
from campaigns.responses import get_response_kind
from evalsite.accounts.models import User
from evalsite.jobs.models import Job

ANALYSE = "analysis.campaign"
"""The kind of job that takes a snapshot of a campaign's ratings and has it analysed."""


@dataclass(frozen=True)
class RatingProgress:
    """How many assignments of a campaign are finished, of how many that will be: a snapshot of fewer is interim."""

    n_finished: int
    n_wanted: int


def get_rating_progress(campaign: Campaign) -> RatingProgress:
    """Return how far a campaign is. A closed one wants no more than it has. Two queries at most."""
    state = Assignment.State
    found = Assignment.objects.filter(campaign=campaign).aggregate(
        finished=Count("pk", filter=Q(state=state.FINISHED)), active=Count("pk", filter=Q(state=state.ACTIVE))
    )
    n_wanted = found["finished"] + found["active"]
    if campaign.status != Campaign.Status.CLOSED:
        n_wanted = max(n_wanted, campaign.hits.count() * campaign.workers_per_hit)
    return RatingProgress(found["finished"], n_wanted)


def has_scores(campaign: Campaign) -> bool:
    """Tell whether any criterion is answered by scores that can be compared. One query."""
    return any(criterion.bounds for criterion in campaign.criteria.all())


def can_analyse(campaign: Campaign) -> bool:
    """Tell whether the campaign's method can read the answers on any criterion. One query."""
    return any(reads(methods[campaign.method], criterion) for criterion in campaign.criteria.all())


def settings_of(campaign: Campaign) -> AnalysisSettings:
    """Return how a campaign wants its responses analysed. One query; raises DomainError `bad_settings`.

    Criteria whose answers the campaign's method cannot read are left out; options that follow from the others are
    among its options.
    """
    return _settings_by(campaign, campaign.method, campaign.method_options)


def study_settings_of(campaign: Campaign) -> AnalysisSettings:
    """Return how scores are read that say how workers rate, by whatever method results are made.

    One query; raises DomainError `bad_settings` if no criterion is answered by scores.
    """
    return _settings_by(campaign, DEFAULT, {}, whole_before_replies)


def judging_settings_of(campaign: Campaign) -> AnalysisSettings:
    """Return how workers are judged while they work: as results judge them. One query; raises DomainError
    `bad_settings`.
    """
    return study_settings_of(campaign) if get_method(campaign.method).is_study else settings_of(campaign)


def _settings_by(
    campaign: Campaign,
    slug: str,
    options: Mapping[str, Any],
    choose: Callable[[list[CriterionSpec]], list[CriterionSpec]] = lambda specs: specs,
) -> AnalysisSettings:
    method = get_method(slug)
    rows = campaign.criteria.values(*(field.name for field in fields(CriterionSpec)))
    found = [
        row for row in rows if row["scope"] in campaign.scopes_of_systems or get_response_kind(row["response"]).compares
    ]
    read = [spec for spec in (CriterionSpec(**row) for row in found) if rated_criterion(spec, slug)]
    criteria = tuple(criterion for spec in choose(read) if (criterion := rated_criterion(spec, slug)))
    if not criteria:
        raise no_scores() if slug == DEFAULT else nothing_read(method.title)
    return AnalysisSettings(
        *(campaign.protocol, criteria, campaign.worker_test if method.has_worker_test else NO_TEST, campaign.alpha),
        n_counts=get_protocol(campaign.protocol).n_counts,
        scale=FULL if method.has_criteria else None,
        cost=_cost_of(campaign),
        method=slug,
        options=options_for(type(method), options, read),
    )


def settings_at(campaign: Campaign, n_finished: int) -> AnalysisSettings:
    """Return how a campaign wants so many finished assignments analysed: by bounds that hold at every look as long as
    more are awaited, and ever after if what a look showed has closed it. A campaign with results of an earlier version
    keeps the tests that these conclude by. Seven queries at most; raises DomainError `bad_settings`.
    """
    settings, is_study = settings_of(campaign), get_method(campaign.method).is_study
    if is_study:
        settings = replace(settings, personas=_personas_of(campaign) if campaign.is_live else {})
    else:
        settings = replace(settings, weights=weights_column(campaign))
    is_all = n_finished >= get_rating_progress(campaign).n_wanted
    if is_all and not Look.objects.filter(campaign=campaign, has_closed=True).exists():
        final = AnalysisRun.objects.filter(ratings_file__campaign=campaign, parent=None)
        is_of_before = is_study and final.exclude(settings__has_any_keys=["comparison", "workers_planned"]).exists()
        return replace(settings, comparison=Procedure.STUDIES.value) if is_of_before else settings
    return replace(settings, workers_planned=planned_workers(campaign))


def weights_column(campaign: Campaign) -> str:
    """Return the column of a campaign's responses with what they weigh; "" if no HIT was drawn at random. One query."""
    drawn = campaign.assignments.filter(state=Assignment.State.FINISHED, draw_probability__isnull=False)
    return DRAW_WEIGHT if drawn.exists() else ""


def _personas_of(campaign: Campaign) -> dict[str, str]:
    """Return each chatbot with a persona, by name, and the one of its family without. One query."""
    rows = Chatbot.objects.filter(system__campaign=campaign).exclude(system__family="")
    families: dict[str, dict[bool, list[str]]] = {}
    for name, family, persona in rows.values_list("system__name", "system__family", "persona").order_by("system__name"):
        families.setdefault(family, {}).setdefault(bool(persona), []).append(name)
    # A family of more than two has no pair that is clear.
    pairs = (each for each in families.values() if {key: len(each[key]) for key in each} == {True: 1, False: 1})
    return {each[True][0]: each[False][0] for each in pairs}


def planned_workers(campaign: Campaign) -> int:
    """Return how many workers a campaign's design plans at most: those who do its HITs, each as many as they may, or
    one if that is not limited. One query.
    """
    n_places = campaign.hits.count() * campaign.workers_per_hit
    n_workers = math.ceil(n_places / (campaign.hits_per_worker or 1))
    most = campaign.crowd_platform.max_workers(campaign.ref)
    return max(min(n_workers, most or n_workers), LEAST_PLANNED)


def _cost_of(campaign: Campaign) -> Cost | None:
    """Return what a HIT costs by the campaign's settings; None where workers are not paid by it."""
    if not campaign.reward:
        return None
    return Cost(float(campaign.reward + fee_of_place(campaign, campaign.workers_per_hit)), campaign.currency)


def newest_snapshot_of(campaign: Campaign) -> RatingsFile | None:
    """Return the latest snapshot of a campaign's ratings."""
    return campaign.snapshots.order_by("-uploaded_at").first()


def list_campaign_runs(campaign: Campaign) -> QuerySet[AnalysisRun]:
    """Return the runs over all snapshots of a campaign, newest first, without their reports."""
    runs = AnalysisRun.objects.filter(ratings_file__campaign=campaign)
    return runs.select_related("job", "parent", "ratings_file__campaign").defer(*LARGE)


def find_latest_result(user: User, campaign_id: int | None) -> AnalysisRun | None:
    """Return the newest finished run of a campaign, as the user may see it; None to a stranger. One query at most."""
    if campaign_id is None:
        return None
    found = newest(runs_seen_by(user).filter(ratings_file__campaign=campaign_id, report__isnull=False))
    return as_seen(found) if found else None


@dataclass(frozen=True)
class Newest:
    """Of what the newest result of a campaign is: so many systems, and whether no more assignments are awaited."""

    n_systems: int
    is_final: bool


def find_newest(campaign: Campaign) -> Newest | None:
    """Return of what the newest result of a campaign is; None without results. One query."""
    is_awaited = Q(state__in=(Assignment.State.FINISHED, Assignment.State.ACTIVE))
    found = AnalysisRun.objects.filter(ratings_file__campaign=campaign, finished_at__isnull=False).annotate(
        n_systems=_count(campaign.systems.filter(is_degraded=False)),
        n_assignments=_count(campaign.assignments.filter(is_awaited)),
        n_hits=_count(campaign.hits.all()),
    )
    row = found.values_list("ratings_file__n_assignments", "n_systems", "n_assignments", "n_hits").first()
    if row is None:
        return None
    n_rated, n_systems, n_wanted, n_hits = row
    if campaign.status != Campaign.Status.CLOSED:
        n_wanted = max(n_wanted, n_hits * campaign.workers_per_hit)
    return Newest(n_systems, n_rated >= n_wanted)


def _count(rows: QuerySet[Any]) -> Coalesce:
    """Return the number of rows of one campaign, as a part of another query."""
    return Coalesce(Subquery(rows.order_by().values("campaign").annotate(n=Count("pk")).values("n")), 0)


def find_shown(user: User, campaign: Campaign, run_id: str) -> AnalysisRun | None:
    """Return the run of a campaign that its results are of: with this id, however far it is, or the newest of which
    something is known; None if there is none such. One query; raises Http404 for a run of another campaign.
    """
    runs = runs_seen_by(user).filter(ratings_file__campaign=campaign).select_related("job")
    if run_id:
        return as_seen(get_object_or_404(runs, pk=parse_id(run_id)))
    found = newest(runs.filter(Q(report__isnull=False) | Q(first_report__isnull=False)))
    return as_seen(found) if found else None


def list_share_links(campaign: Campaign) -> QuerySet[ShareLink]:
    """Return the links to a campaign's results that were not revoked, newest first."""
    return campaign.share_links.filter(revoked_at=None).select_related("created_by")


def get_share_link_of(campaign: Campaign, link_id: int) -> ShareLink:
    """Return a link to a campaign's results; raise Http404 for any other's."""
    return get_object_or_404(campaign.share_links, pk=link_id)


def get_shared_result(token: str) -> AnalysisRun:
    """Return the newest finished run of the campaign that a link shares, as a viewer sees it. Two queries.

    Raises Http404 if the link is not open, its campaign is being deleted, or there is no result any more.
    """
    links = ShareLink.objects.exclude(campaign__status__in=(Campaign.Status.DRAFT, Campaign.Status.DELETING))
    link = get_object_or_404(links, token=token)
    if not link.is_open:
        raise Http404("This link is closed.")
    runs = AnalysisRun.objects.select_related("ratings_file__campaign")
    run = newest(runs.filter(ratings_file__campaign=link.campaign_id, report__isnull=False))
    if run is None:
        raise Http404("There is no result.")
    run.my_role, run.share_token = Role.VIEWER, token
    return as_seen(run)


def get_answers(campaign: Campaign) -> dict[str, str]:
    """Return what researchers wrote for the datasheet and the data statement, by the key of the question. One query."""
    return dict(campaign.paper_answers.values_list("question", "text"))


def get_datasheet(campaign: Campaign) -> list[Section]:
    """Return the datasheet of a campaign with its newest result, if it has any, and what researchers wrote."""
    return get_documents(campaign)[0]


def get_documents(campaign: Campaign) -> tuple[list[Section], list[Question]]:
    """Return the datasheet of a campaign and its data statement, with what researchers wrote. Eight queries."""
    runs = AnalysisRun.objects.filter(ratings_file__campaign=campaign, report__isnull=False)
    run = newest(runs.only("report"))
    result = run.result if run else None
    facts, answers = get_facts(campaign), get_answers(campaign)
    return datasheet(facts, result, answers), data_statement(result, facts, answers)


def find_agreement(user: User, campaign: Campaign) -> RunAgreement | None:
    """Return how far the newest results of a campaign agree with those of the one that it replicates.

    None unless the user may see results of both, made by one method that compares them. Two queries at most.
    """
    original = find_latest_result(user, campaign.replicates_id)
    latest = find_latest_result(user, campaign.pk) if original else None
    return compare_by_method(original.result, latest.result) if original and latest else None


def find_job(campaign: Campaign) -> Job | None:
    """Return the job that a campaign's results wait for, or whose failure nothing has come after. Two queries."""
    job = _analyse_jobs(campaign).first()
    run = list_campaign_runs(campaign).first()
    if job and not job.is_finished:
        return job
    if run and run.job and run.job.status != Job.Status.SUCCEEDED:
        return run.job
    is_failure_new = job and job.status == Job.Status.FAILED and (run is None or run.created_at < job.created_at)
    return job if is_failure_new else None


def _analyse_jobs(campaign: Campaign) -> QuerySet[Job]:
    return Job.objects.filter(kind=ANALYSE, args__campaign=campaign.pk).order_by("-created_at")


def find_waiting_job(campaign: Campaign) -> Job | None:
    """Return the job that will take a snapshot of the campaign's ratings, if one waits to begin."""
    return _analyse_jobs(campaign).filter(status=Job.Status.QUEUED).first()


def _of_analysis(campaign: Campaign) -> Q:
    runs = AnalysisRun.objects.filter(ratings_file__campaign=campaign)
    made = (runs, MetricScores.objects.filter(campaign=campaign), Judge.objects.filter(campaign=campaign))
    return reduce(or_, (Q(pk__in=each.values("job")) for each in made), Q(kind=ANALYSE, args__campaign=campaign.pk))


def get_job_of(campaign: Campaign, job_id: UUID) -> Job:
    """Return a job of the campaign's analysis; raise Http404 for any other."""
    return get_object_or_404(Job, _of_analysis(campaign), pk=job_id)


def list_jobs(campaign: Campaign) -> QuerySet[Job]:
    """Return the jobs that import, build and analyse a campaign, newest first."""
    return Job.objects.filter(of_set_up(campaign) | _of_analysis(campaign)).order_by("-created_at")


def get_any_job_of(campaign: Campaign, job_id: UUID) -> Job:
    """Return one of the jobs of `list_jobs`; raise Http404 for any other."""
    return get_object_or_404(list_jobs(campaign), pk=job_id)


# --- Looks at a campaign that may close itself


def list_looks(campaign: Campaign) -> list[Look]:
    """Return the looks at a campaign's ratings, the first one first. One query."""
    return list(Look.objects.filter(campaign=campaign).order_by("n_assignments"))


def find_last_look(campaign: Campaign) -> Look | None:
    """Return the last look at a campaign's ratings, the one that closed it if there is such. One query."""
    return Look.objects.filter(campaign=campaign).order_by("-has_closed", "-n_assignments").first()
