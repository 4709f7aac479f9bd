"""Background work of the analysis."""

from contextlib import suppress
from itertools import count

from django.utils import timezone

from analysis.models import AnalysisRun, Judge, MetricScores, PowerAnalysis
from analysis.web.queries.campaigns import ANALYSE, can_analyse, get_rating_progress, judging_settings_of
from analysis.web.queries.workers_now import list_live_workers
from analysis.web.services.campaigns import analyse_campaign
from analysis.web.services.judges import JUDGE
from analysis.web.services.judging import judge_outputs
from analysis.web.services.looks import LOOK, enqueue_looks, take_look
from analysis.web.services.metrics import COMPUTE, compute_metrics
from analysis.web.services.planning import PLAN, execute_plan
from analysis.web.services.runs import N_STAGES, change_run, execute_run
from campaigns.models import Campaign
from campaigns.queries import may_edit
from campaigns.services.webhooks import announce_failure
from evalsite.accounts.models import User
from evalsite.jobs.failures import may_retry, on_failure
from evalsite.jobs.handlers import JobContext, job_handler, job_subject, periodic_task
from evalsite.jobs.models import Job
from evalsite.lib.errors import DomainError

RUN = "analysis.run"


# What `execute_run` and the statistics import where they use it.
_IMPORTS = (
    "analysis.results.package",
    "openpyxl",
    "pyarrow.compute",
    "pyarrow.csv",
    "pyarrow.parquet",
    "scipy.sparse.csgraph",
    "scipy.stats",
)


@job_handler(RUN, "Analyse ratings", imports=_IMPORTS)
def run_analysis(ctx: JobContext, run: str) -> None:
    """Execute the analysis run of this id; have the table of the campaign's workers ready, too."""
    stages = count()
    found = AnalysisRun.objects.select_related("ratings_file__campaign").get(pk=run)
    execute_run(
        run=found,
        on_stage=lambda stage: ctx.progress(min(next(stages), N_STAGES - 1), N_STAGES, stage),
        saving=ctx.saving,
    )
    if campaign := found.ratings_file.campaign:
        with suppress(DomainError):  # settings that cannot be, set since: the page says so
            list_live_workers(campaign, judging_settings_of(campaign), timezone.now(), found)


@job_handler(ANALYSE, "Collect a campaign’s ratings")
def analyse_campaign_ratings(ctx: JobContext, campaign: int, user: int | None = None) -> None:
    """Start the analysis of what a campaign's workers have rated, asked for by a user or by the campaign's end.

    A campaign that ended without responses that its method reads, with no user who asked for results, is not a failure.
    """
    ctx.progress(0, 0, "Collecting the ratings")
    found = Campaign.objects.get(pk=campaign)
    if user is None and not (get_rating_progress(found).n_finished and can_analyse(found)):
        return
    analyse_campaign(campaign=found, user=User.objects.filter(pk=user).first() if user else None, saving=ctx.saving)


@job_handler(COMPUTE, "Compute metrics")
def compute_metric_scores(ctx: JobContext, scores: str, run: str) -> None:
    """Compute metrics of a campaign's outputs, then analyse the ratings of the run again, with them."""
    found = MetricScores.objects.select_related("campaign", "created_by").get(pk=scores)
    compute_metrics(scores=found, on_progress=ctx.progress, saving=ctx.saving)
    base = AnalysisRun.objects.select_related("ratings_file__campaign").filter(pk=run).first()
    if base and base.report is not None:
        with ctx.saving():
            change_run(run=base, user=found.created_by)


@job_subject(COMPUTE)
def _campaign_of_scores(job: Job) -> int | None:
    return MetricScores.objects.values_list("campaign", flat=True).filter(pk=job.args["scores"]).first()


@may_retry(COMPUTE)
def may_compute(job: Job) -> bool:
    """Tell whether who asked for metrics of a campaign's outputs is still an editor."""
    return may_edit(job.owner, _campaign_of_scores(job))


@on_failure(COMPUTE)
def announce_failed_metrics(job: Job) -> None:
    """Tell webhooks that metrics could not be computed."""
    if campaign_id := _campaign_of_scores(job):
        announce_failure(campaign_id=campaign_id, job=job)


@job_handler(JUDGE, "Ask a judge")
def ask_judge(ctx: JobContext, judge: str) -> None:
    """Ask the judge of this id about the outputs that it has no score for, if it has not been removed."""
    found = Judge.objects.select_related("campaign", "created_by", "scores").filter(pk=judge).first()
    if found:
        judge_outputs(judge=found, on_progress=ctx.progress, saving=ctx.saving)


@job_subject(JUDGE)
def _campaign_of_judge(job: Job) -> int | None:
    return Judge.objects.values_list("campaign", flat=True).filter(pk=job.args["judge"]).first()


@may_retry(JUDGE)
def may_judge(job: Job) -> bool:
    """Tell whether the user who started the judge may still edit the campaign."""
    return may_edit(job.owner, _campaign_of_judge(job))


@on_failure(JUDGE)
def announce_failed_judge(job: Job) -> None:
    """Tell webhooks that a judge could not be asked."""
    if campaign_id := _campaign_of_judge(job):
        announce_failure(campaign_id=campaign_id, job=job)


@job_handler(LOOK, "Look at the ratings so far")
def look_at_ratings(ctx: JobContext, campaign: int) -> None:
    """Take a look at the campaign of this key, if it has not been deleted meanwhile."""
    if found := Campaign.objects.filter(pk=campaign).first():
        take_look(campaign=found, saving=ctx.saving)


@periodic_task
def look_at_running_campaigns() -> None:
    """Have a look taken at each campaign that may close itself and has enough new ratings."""
    enqueue_looks()


@job_handler(PLAN, "Plan a campaign")
def make_plan(ctx: JobContext, plan: str) -> None:
    """Simulate the campaigns of a plan of this id."""
    found = PowerAnalysis.objects.select_related("pilot__ratings_file").get(pk=plan)
    execute_plan(plan=found, on_progress=ctx.progress, saving=ctx.saving)


@job_subject(PLAN)
def _campaign_of_plan(job: Job) -> int | None:
    return PowerAnalysis.objects.values_list("campaign", flat=True).filter(pk=job.args["plan"]).first()


@may_retry(PLAN)
def may_plan(job: Job) -> bool:
    """Tell whether who planned a campaign is still an editor; a plan without one is their own."""
    if not PowerAnalysis.objects.filter(pk=job.args["plan"]).exists():
        return False
    campaign_id = _campaign_of_plan(job)
    return campaign_id is None or may_edit(job.owner, campaign_id)


@job_subject(LOOK)
@job_subject(ANALYSE)
def _campaign_of_snapshot(job: Job) -> int:
    return int(job.args["campaign"])


@job_subject(RUN)
def _campaign_of_run(job: Job) -> int | None:
    return AnalysisRun.objects.values_list("ratings_file__campaign", flat=True).filter(pk=job.args["run"]).first()


@may_retry(ANALYSE)
def may_analyse(job: Job) -> bool:
    """Tell whether who had a campaign analysed is still an editor."""
    return may_edit(job.owner, job.args["campaign"])


@may_retry(RUN)
def may_run(job: Job) -> bool:
    """Tell whether who had ratings of a campaign analysed is still an editor; a file of their own is theirs."""
    if not AnalysisRun.objects.filter(pk=job.args["run"]).exists():
        return False
    campaign_id = _campaign_of_run(job)
    return campaign_id is None or may_edit(job.owner, campaign_id)


@on_failure(LOOK)
@on_failure(ANALYSE)
def announce_failed_snapshot(job: Job) -> None:
    """Tell webhooks that the analysis of a campaign did not begin, or that a look at it failed."""
    announce_failure(campaign_id=job.args["campaign"], job=job)


@on_failure(RUN)
def announce_failed_run(job: Job) -> None:
    """Tell webhooks that an analysis failed, if it is one of a campaign's ratings."""
    if (campaign_id := _campaign_of_run(job)) is not None:
        announce_failure(campaign_id=campaign_id, job=job)
