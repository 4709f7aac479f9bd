"""Background work of the annotation."""

from annotation.models import Reminder
from annotation.services.assignments import expire_leases
from annotation.services.reminders import REMIND, send_reminder
from annotation.services.retention import RETENTION, enqueue_due_erasures, erase_all_workers
from campaigns.models import Campaign
from campaigns.queries import may_edit
from evalsite.jobs.failures import may_retry
from evalsite.jobs.handlers import JobContext, job_handler, job_subject, periodic_task
from evalsite.jobs.models import Job


@job_handler(REMIND, "Send reminders")
def remind(ctx: JobContext, reminder: int) -> None:
    """Send the reminder of this key, if its campaign has not been deleted meanwhile."""
    if found := Reminder.objects.select_related("campaign").filter(pk=reminder).first():
        send_reminder(reminder=found, on_progress=ctx.progress)


@job_subject(REMIND)
def _campaign_of_reminder(job: Job) -> int | None:
    return Reminder.objects.filter(pk=job.args["reminder"]).values_list("campaign", flat=True).first()


@may_retry(REMIND)
def may_remind(job: Job) -> bool:
    """Tell whether who had a reminder sent is still an editor."""
    return may_edit(job.owner, _campaign_of_reminder(job))


@periodic_task
def free_abandoned_hits() -> None:
    """Offer the HITs again that their workers left."""
    expire_leases()


@job_handler(RETENTION, "Erase personal data")
def erase_workers(ctx: JobContext, campaign: int) -> None:
    """Erase what identifies the workers of the campaign of this key, if it has not been deleted meanwhile."""
    if found := Campaign.objects.filter(pk=campaign).first():
        erase_all_workers(campaign=found, on_progress=ctx.progress)


@job_subject(RETENTION)
def _campaign_of_erasure(job: Job) -> int | None:
    return int(job.args["campaign"])


@periodic_task
def erase_after_retention() -> None:
    """Erase the personal data that were to be kept until now."""
    enqueue_due_erasures()
