"""Background jobs, which take ids and call a service, and periodic tasks of the crowd."""

from crowd.services.account import PUBLISH, SYNC
from crowd.services.payments.orders import CARRY_OUT, enqueue_due_orders
from crowd.services.payments.sending import carry_out_orders
from crowd.services.publishing import enqueue_unfinished_waves, publish_wave
from crowd.services.syncing.polling import enqueue_due_syncs, forget_notifications, sync_campaign
from evalsite.jobs.handlers import JobContext, job_handler, periodic_task

periodic_task(enqueue_unfinished_waves)
periodic_task(enqueue_due_syncs)
periodic_task(enqueue_due_orders)
periodic_task(forget_notifications)


@job_handler(PUBLISH)
def publish(ctx: JobContext, wave: int) -> None:
    """Publish what is left of the wave of this key."""
    publish_wave(ctx, wave)


@job_handler(SYNC)
def sync(ctx: JobContext, campaign: int) -> None:
    """Poll the platform for what workers did in the campaign of this key."""
    sync_campaign(ctx, campaign)


@job_handler(CARRY_OUT)
def send_orders(ctx: JobContext, campaign: int) -> None:
    """Send what was ordered in the campaign of this key."""
    carry_out_orders(ctx, campaign)
