"""Background work of the annotation."""

from annotation.services.assignments import expire_leases
from evalsite.jobs.handlers import periodic_task


@periodic_task
def free_abandoned_hits() -> None:
    """Offer the HITs again that their workers left."""
    expire_leases()
