"""Background work of the crowd."""

from crowd.services import orders, publishing, queueing, syncing
from evalsite.jobs.handlers import JobContext, job_handler, periodic_task


@job_handler(queueing.PUBLISH)
def publish(ctx: JobContext, wave: int) -> None:
    """Publish what is left of the wave of this key."""
    publishing.publish_wave(ctx, wave)


@job_handler(queueing.SYNC)
def sync(ctx: JobContext, campaign: int) -> None:
    """Look at what workers did on the platform in the campaign of this key."""
    syncing.sync_campaign(ctx, campaign)


@job_handler(orders.CARRY_OUT)
def carry_out_orders(ctx: JobContext, campaign: int) -> None:
    """Tell the platform what was ordered in the campaign of this key."""
    orders.carry_out_orders(ctx, campaign)


@periodic_task
def publish_what_is_left() -> None:
    """Take up waves that are not published yet and have no job any more."""
    publishing.take_up_waves()


@periodic_task
def look_at_postings() -> None:
    """Look at the postings that are due."""
    syncing.take_up_syncs()


@periodic_task
def forget_notifications() -> None:
    """Delete what is known of old notifications."""
    syncing.forget_notifications()


@periodic_task
def send_orders() -> None:
    """Have orders carried out that are due: first ones whose job was lost, and those to be tried again."""
    for campaign_id in orders.list_due():
        queueing.ask_for(orders.CARRY_OUT, campaign_id)
