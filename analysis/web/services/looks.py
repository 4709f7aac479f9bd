"""Looking at a campaign's ratings while they come, and closing it when its stopping rule says so."""

import logging
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import Count, OuterRef, Q, Subquery
from django.utils import timezone

from analysis.methods import ResponsesFile, get_method
from analysis.methods.direct_assessment import StudyData
from analysis.models import Look
from analysis.results.procedures import pairs_at_look
from analysis.results.result import Result
from analysis.web.queries.campaigns import can_analyse, planned_workers, settings_of, weights_column
from analysis.web.queries.finished_work import read_work, write_responses
from annotation.export.tables import table_of
from annotation.models import Assignment
from annotation.worker_names import real_name
from campaigns.design.stopping import StoppingRule, describe_pairs, pairs_to_decide
from campaigns.models import Campaign
from campaigns.services.drawing import weigh_campaign
from campaigns.services.lifecycle import close_campaign
from evalsite.jobs.handlers import enqueue
from evalsite.jobs.models import Job
from evalsite.lib.typed_json import to_json

logger = logging.getLogger(__name__)
LOOK = "analysis.look"
"""The kind of job that takes one look at a campaign."""
_PAUSE, _PAUSE_AFTER_FAILURE = timedelta(minutes=2), timedelta(hours=1)
_WATCHED = ~Q(stopping_rule=StoppingRule.OFF) | Q(is_adaptive=True)
# A look is due once so many more are finished, of those that were: some hundred looks, however large the campaign is.
_GROWTH = 0.02


def enqueue_looks(now: datetime | None = None) -> None:
    """Queue a look at each running campaign that uses looks and in which enough was finished since the last one.

    It uses them for a stopping rule, or to give out HITs of undecided pairs first.

    One query where there is no such campaign, two more where one is due.
    """
    now = now or timezone.now()
    last = Look.objects.filter(campaign=OuterRef("pk")).order_by("-n_assignments")
    watched = Campaign.objects.filter(_WATCHED, status=Campaign.Status.RUNNING)
    found = watched.annotate(
        n_finished=Count("assignments", filter=Q(assignments__state=Assignment.State.FINISHED)),
        n_seen=Subquery(last.values("n_assignments")[:1]),
        looked_at=Subquery(last.values("at")[:1]),
    )
    due = [
        pk
        for pk, n_finished, n_seen, at in found.values_list("pk", "n_finished", "n_seen", "looked_at")
        if n_finished > (n_seen or 0) * (1 + _GROWTH) and (at is None or at <= now - _PAUSE)
    ]
    for pk in set(due) - _looked_at_lately(due, now):
        enqueue(LOOK, args={"campaign": pk})


def _looked_at_lately(campaigns: Iterable[int], now: datetime) -> set[int]:
    """Return those of the campaigns that have a job which waits, works, or has failed a while ago."""
    unfinished = Q(status__in=(Job.Status.QUEUED, Job.Status.RUNNING))
    failed = Q(status=Job.Status.FAILED, created_at__gt=now - _PAUSE_AFTER_FAILURE)
    jobs = Job.objects.filter(unfinished | failed, kind=LOOK, args__campaign__in=list(campaigns))
    return {job["campaign"] for job in jobs.values_list("args", flat=True)}


def take_look(
    *, campaign: Campaign, saving: Callable[[], AbstractContextManager[None]] = transaction.atomic
) -> Look | None:
    """Compare the systems by the ratings so far, keep what is decided, and close the campaign if its rule says so.

    It is closed as by hand: who has a HIT may finish it, and is paid. Where HITs of undecided pairs are to come first,
    they are weighed by what is undecided now. `saving` opens the transaction that stores the look. None where nothing
    is finished, the campaign does not run or uses no looks, or its method reads none of the answers.

    Raises DomainError where results by the campaign's settings cannot be made of what was answered.
    """
    found = _compare(campaign) if can_analyse(campaign) else None
    if found is None:
        return None
    result, n_assignments = found
    names = {name: pk for pk, name in campaign.systems.filter(is_degraded=False).values_list("pk", "name")}
    pairs = [to_json(pair) for pair in pairs_at_look(result.pairs, sorted(names))]
    n_workers = sum(worker.is_counted for worker in result.workers)
    with saving():
        locked = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
        is_watched = locked.stopping_rule != StoppingRule.OFF or locked.is_adaptive
        if locked.status != Campaign.Status.RUNNING or not is_watched:
            return None
        look = _keep(locked, pairs, n_assignments=n_assignments, n_workers=n_workers)
    if locked.is_adaptive and not look.has_closed:
        weigh_campaign(campaign=locked, pairs=_undecided(look, names))
    return look


def _compare(campaign: Campaign) -> tuple[Result, int] | None:
    """Return the result of what workers have answered so far, and of how many assignments it is; None of none.

    It is made as results are, by bounds that hold at every look.
    """
    method = get_method(campaign.method)
    settings = replace(settings_of(campaign), workers_planned=planned_workers(campaign))
    if not method.is_study:
        settings = replace(settings, weights=weights_column(campaign))
    with tempfile.NamedTemporaryFile(prefix="look-") as copy:
        n_assignments = write_responses(copy, campaign, table_of(campaign, method.table), names=real_name)
        if not n_assignments:
            return None
        data = method.read(ResponsesFile(Path(copy.name)), settings)
    if isinstance(data, StudyData):  # whose weights are not in the table
        data = replace(data, work=read_work(campaign, set(data.loaded.assignments)))
    return method.analyse(data, settings, brief=True), n_assignments


def _undecided(look: Look, key: Mapping[str, int]) -> list[tuple[int, int]]:
    """Return the undecided pairs of systems by their keys: those that a stopping rule waits for, if there is one."""
    wanted = [pair for pair in look.pairs if pair["is_wanted"]] or look.pairs
    return [(key[pair["systems"][0]], key[pair["systems"][1]]) for pair in wanted if not pair["better"]]


def _keep(campaign: Campaign, pairs: list[dict[str, Any]], *, n_assignments: int, n_workers: int) -> Look:
    """Store a look at a campaign, locked by the caller, and close it if all pairs are decided that it waits for."""
    systems = sorted({name for pair in pairs for name in pair["systems"]})
    wanted = set(pairs_to_decide(campaign.stopping_rule, campaign.stopping_systems, systems))
    for pair in pairs:
        pair["is_wanted"] = tuple(pair["systems"]) in wanted
    decided = [pair for pair in pairs if pair["better"]]
    n_wanted_decided = sum(pair["is_wanted"] for pair in decided)
    has_closed = 0 < len(wanted) == n_wanted_decided
    look, _ = Look.objects.update_or_create(
        campaign=campaign,
        n_assignments=n_assignments,
        defaults={
            "at": timezone.now(),
            "n_workers": n_workers,
            "n_pairs": len(pairs),
            "n_decided": len(decided),
            "n_wanted": len(wanted),
            "n_wanted_decided": n_wanted_decided,
            "pairs": pairs,
            "has_closed": has_closed,
        },
    )
    if has_closed:
        what = describe_pairs(campaign.stopping_rule, campaign.stopping_systems)
        logger.info(
            "campaign %s closes by its stopping rule: after %d assignments %s is decided",
            *(campaign.public_id, n_assignments, what),
        )
        close_campaign(campaign=campaign)
    return look
