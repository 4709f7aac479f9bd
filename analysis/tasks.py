"""Background work of the analysis."""

from itertools import count

from analysis.models import AnalysisRun
from analysis.services.runs import N_STAGES, execute_run
from evalsite.jobs.handlers import JobContext, job_handler


@job_handler("analysis.run")
def run_analysis(ctx: JobContext, run: str) -> None:
    """Execute the analysis run of this id."""
    stages = count()
    execute_run(
        run=AnalysisRun.objects.select_related("ratings_file").get(pk=run),
        on_stage=lambda stage: ctx.progress(min(next(stages), N_STAGES - 1), N_STAGES, stage),
        saving=ctx.saving,
    )
