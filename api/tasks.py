"""Background work of the API."""

from django.utils import timezone

from evalsite.jobs.handlers import periodic_task


@periodic_task
def forget_keys() -> None:
    """Delete the idempotency keys whose week is over."""
    from api.idempotency import forget_old_keys  # with what answers requests, which commands do not

    forget_old_keys(timezone.now())
