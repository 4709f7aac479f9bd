"""Asking for the jobs of the crowd: one of a kind for a campaign at a time."""

from django.db import transaction

from campaigns.models import Campaign
from evalsite.jobs.models import Job
from evalsite.jobs.services import enqueue

SYNC = "crowd.sync"
PUBLISH = "crowd.publish"
_UNFINISHED = (Job.Status.QUEUED, Job.Status.RUNNING)


def ask_for(kind: str, campaign_id: int) -> Job | None:
    """Enqueue a job of a kind for a campaign; None if one waits or runs already."""
    unfinished = Job.objects.filter(kind=kind, args__campaign=campaign_id, status__in=_UNFINISHED)
    if unfinished.exists():  # mostly: no lock is taken then
        return None
    with transaction.atomic():
        Campaign.objects.select_for_update(no_key=True).get(pk=campaign_id)  # of two who ask at once, the second waits
        return None if unfinished.exists() else enqueue(kind, args={"campaign": campaign_id})
