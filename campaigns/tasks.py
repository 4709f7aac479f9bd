"""Background work of the set-up."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.exceptions import ObjectDoesNotExist
from django.db import DatabaseError

from campaigns.models import Campaign, Upload
from campaigns.queries import BUILD, may_delete, may_edit
from campaigns.services.deletion import DELETE, execute_deletion
from campaigns.services.deliveries import enqueue_due_deliveries, send_due_deliveries
from campaigns.services.hits import execute_build
from campaigns.services.imports import Mode, execute_import
from campaigns.services.webhooks import SEND, announce_failure, delete_old_deliveries
from evalsite.jobs.failures import may_retry, on_failure
from evalsite.jobs.handlers import JobContext, job_handler, job_subject, periodic_task
from evalsite.jobs.models import Job

IMPORT = "campaigns.import"
job_handler(SEND, "Send webhooks")(send_due_deliveries)
periodic_task(enqueue_due_deliveries)
periodic_task(delete_old_deliveries)


@job_handler(BUILD, "Build HITs")
def build_hits(ctx: JobContext, campaign: int) -> None:
    """Build the HITs of the campaign of this key, if it has not been deleted meanwhile."""
    if found := Campaign.objects.filter(pk=campaign).first():
        with _as_long_as_it_is_there(found):
            execute_build(campaign=found, on_progress=ctx.progress, saving=ctx.saving)


@job_handler(IMPORT, "Import a file")
def import_upload(ctx: JobContext, upload: str, mode: Mode) -> None:
    """Import the uploaded file of this id, if its campaign has not been deleted meanwhile."""
    if found := Upload.objects.select_related("campaign").filter(pk=upload).first():
        with _as_long_as_it_is_there(found.campaign):
            execute_import(upload=found, mode=mode, on_progress=ctx.progress, saving=ctx.saving)


@job_handler(DELETE, "Delete a campaign")
def delete_campaign(ctx: JobContext, campaign: int) -> None:
    """Delete the campaign of this key, or what an earlier try has left of it."""
    if found := Campaign.objects.filter(pk=campaign).first():
        execute_deletion(campaign=found, on_progress=ctx.progress, saving=ctx.saving)


@contextmanager
def _as_long_as_it_is_there(campaign: Campaign) -> Iterator[None]:
    """End the work calmly where it fails because its campaign, with its files, was deleted while it went on."""
    try:
        yield
    except (ObjectDoesNotExist, DatabaseError, FileNotFoundError):
        if Campaign.objects.filter(pk=campaign.pk).exists():
            raise


@job_subject(BUILD)
@job_subject(DELETE)
def _campaign_of_build(job: Job) -> int:
    return int(job.args["campaign"])


@job_subject(IMPORT)
def _campaign_of_import(job: Job) -> int | None:
    return Upload.objects.filter(pk=job.args["upload"]).values_list("campaign", flat=True).first()


@may_retry(BUILD)
def may_build(job: Job) -> bool:
    """Tell whether who had HITs built is still an editor."""
    return may_edit(job.owner, job.args["campaign"])


@may_retry(DELETE)
def may_go_on_deleting(job: Job) -> bool:
    """Tell whether who had a campaign deleted is still an owner."""
    return may_delete(job.owner, job.args["campaign"])


@may_retry(IMPORT)
def may_import(job: Job) -> bool:
    """Tell whether who had a file imported is still an editor."""
    return may_edit(job.owner, _campaign_of_import(job))


@on_failure(BUILD)
def announce_failed_build(job: Job) -> None:
    """Tell webhooks that HITs were not built."""
    announce_failure(campaign_id=job.args["campaign"], job=job)


@on_failure(IMPORT)
def announce_failed_import(job: Job) -> None:
    """Tell webhooks that a file was not imported."""
    if (campaign_id := _campaign_of_import(job)) is not None:
        announce_failure(campaign_id=campaign_id, job=job)
