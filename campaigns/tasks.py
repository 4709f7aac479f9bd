"""Background work of the set-up."""

from campaigns.models import Campaign, Upload
from campaigns.services.hits import execute_build
from campaigns.services.imports import Mode, execute_import
from evalsite.jobs.handlers import JobContext, job_handler


@job_handler("campaigns.build_hits")
def build_hits(ctx: JobContext, campaign: int) -> None:
    """Build the HITs of the campaign of this key, if it has not been deleted meanwhile."""
    if found := Campaign.objects.filter(pk=campaign).first():
        execute_build(campaign=found, on_progress=ctx.progress, saving=ctx.saving)


@job_handler("campaigns.import")
def import_upload(ctx: JobContext, upload: str, mode: Mode) -> None:
    """Import the uploaded file of this id, if its campaign has not been deleted meanwhile."""
    if found := Upload.objects.select_related("campaign").filter(pk=upload).first():
        execute_import(upload=found, mode=mode, on_progress=ctx.progress, saving=ctx.saving)
