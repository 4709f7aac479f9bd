"""What cannot be taken back any more is deleted."""

from django.utils import timezone

from evalsite.jobs.handlers import periodic_task
from evalsite.undo.acts import forget_expired


@periodic_task
def delete_expired_acts() -> None:
    """Delete acts that can no longer be taken back, and their files."""
    forget_expired(timezone.now())
