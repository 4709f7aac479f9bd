"""Planning: power analyses are queued, simulated by a job, and deleted."""

from collections.abc import Callable
from contextlib import AbstractContextManager

from django.db import transaction

from analysis.methods.settings import from_json
from analysis.methods.study.study import run_study
from analysis.models import AnalysisRun, PowerAnalysis
from analysis.planning.pilot import learn_from
from analysis.planning.plans import PlanSettings, make_plan
from analysis.web.queries.metrics import load_scores_of
from analysis.web.records import delete_jobs
from analysis.web.services.runs import load_run
from campaigns.models import Campaign
from evalsite.accounts.models import User
from evalsite.jobs.handlers import enqueue
from evalsite.jobs.models import Job
from evalsite.lib.errors import DomainError
from evalsite.undo.acts import put_aside
from evalsite.undo.models import Act

PLAN = "analysis.plan"
"""The kind of job that simulates the campaigns of a plan."""


@transaction.atomic
def start_plan(
    *, user: User, settings: PlanSettings, campaign: Campaign | None = None, pilot: AnalysisRun | None = None
) -> PowerAnalysis:
    """Queue a power analysis; one of the same that waits, runs or is done is returned instead."""
    User.objects.select_for_update().get(pk=user.pk)  # of two clicks at once, one waits for the other
    states = [Job.Status.QUEUED, Job.Status.RUNNING, Job.Status.SUCCEEDED]
    wanted = {"campaign": campaign, "settings": settings.to_json(), "pilot": pilot}
    same = PowerAnalysis.objects.filter(**wanted, job__status__in=states)
    if found := (same if campaign else same.filter(created_by=user)).first():
        return found
    plan = PowerAnalysis.objects.create(created_by=user, **wanted)
    plan.job = enqueue(PLAN, owner=user, args={"plan": str(plan.pk)})
    plan.save(update_fields=["job"])
    return plan


def execute_plan(
    *,
    plan: PowerAnalysis,
    on_progress: Callable[[int, int, str], None],
    saving: Callable[[], AbstractContextManager[None]],
) -> None:
    """Simulate and keep the plan. One that is made is left as it is.

    Raises DomainError `bad_plan` or `small_pilot`, or TableError, if the pilot's ratings cannot be read.
    """
    if plan.plan is not None:
        return
    pilot = None
    if plan.pilot:
        on_progress(0, 0, "Reading the pilot")
        settings = from_json(plan.pilot.settings)
        study = run_study(load_run(plan.pilot, settings), settings, metrics=load_scores_of(plan.pilot))
        pilot = learn_from(study, plan.pilot.ratings_file.title)
    plan.plan = make_plan(PlanSettings.from_json(plan.settings), pilot, on_progress)
    with saving():
        plan.save(update_fields=["plan"])


@transaction.atomic
def delete_plan(*, plan: PowerAnalysis, act: Act | None = None) -> None:
    """Delete a power analysis; raise DomainError `not_finished` while its job goes on."""
    locked = PowerAnalysis.objects.select_for_update(of=("self",)).select_related("job").get(pk=plan.pk)
    if locked.job and not locked.job.is_finished:
        raise DomainError("not_finished", "The plan is still being made. Wait for the end, then delete it.")
    put_aside(act, [*([locked.job] if locked.job else []), locked])
    locked.delete()
    delete_jobs([locked.job_id] if locked.job_id else [])
