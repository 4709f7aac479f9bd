"""Which services of the crowd run as background jobs, and as periodic tasks."""

from campaigns.queries import may_edit
from campaigns.services.webhooks import announce_failure
from crowd.models import Wave
from crowd.services.account import PUBLISH, SYNC
from crowd.services.payments.orders import CARRY_OUT, enqueue_due_orders
from crowd.services.payments.sending import carry_out_orders
from crowd.services.publishing import enqueue_unfinished_waves, publish_wave
from crowd.services.syncing.polling import delete_old_notifications, enqueue_due_syncs, sync_campaign
from evalsite.jobs.failures import may_retry, on_failure
from evalsite.jobs.handlers import job_handler, job_subject, periodic_task
from evalsite.jobs.models import Job

periodic_task(enqueue_unfinished_waves)
periodic_task(enqueue_due_syncs)
periodic_task(enqueue_due_orders)
periodic_task(delete_old_notifications)


job_handler(PUBLISH, "Publish a wave")(publish_wave)
job_handler(SYNC, "Read the crowd platform")(sync_campaign)
job_handler(CARRY_OUT, "Pay on the crowd platform")(carry_out_orders)


@job_subject(SYNC)
@job_subject(CARRY_OUT)
def _campaign_of_calls(job: Job) -> int:
    return int(job.args["campaign"])


@job_subject(PUBLISH)
def _campaign_of_wave(job: Job) -> int | None:
    return Wave.objects.filter(pk=job.args["wave"]).values_list("campaign", flat=True).first()


@may_retry(PUBLISH)
def may_publish(job: Job) -> bool:
    """Tell whether who had a wave published is still an editor."""
    return may_edit(job.owner, _campaign_of_wave(job))


@on_failure(PUBLISH)
def announce_failed_wave(job: Job) -> None:
    """Tell webhooks that a wave was not published."""
    if (campaign_id := _campaign_of_wave(job)) is not None:
        announce_failure(campaign_id=campaign_id, job=job)


@on_failure(SYNC)
@on_failure(CARRY_OUT)
def announce_failed_calls(job: Job) -> None:
    """Tell webhooks that the platform cannot be called, once: these jobs come again by themselves."""
    announce_failure(campaign_id=job.args["campaign"], job=job, is_repeated=True)
