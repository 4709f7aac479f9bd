"""The audit log is kept for as long as the settings say."""

from django.utils import timezone

from evalsite.audit.queries import delete_old_entries
from evalsite.jobs.handlers import periodic_task


@periodic_task
def delete_old_audit_entries() -> None:
    """Delete entries that are too old."""
    delete_old_entries(timezone.now())
