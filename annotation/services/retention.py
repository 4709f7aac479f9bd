"""Erasing the personal data of all workers some time after a campaign has closed."""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from annotation.models import Worker
from annotation.services.erasing import erase_worker
from campaigns.models import Campaign
from campaigns.services.deletion import list_records
from evalsite.jobs.handlers import enqueue
from evalsite.jobs.models import Job
from evalsite.lib.errors import DomainError
from evalsite.lib.words import counted

RETENTION = "annotation.retention"
"""The kind of job that erases them."""
# What could not be erased, since work is not decided for example, is tried again after this time.
_TRY_AGAIN = timedelta(days=1)


def enqueue_due_erasures(now: datetime | None = None) -> None:
    """Begin a job for each campaign that closed so many days ago as its personal data are kept; one a day of each."""
    now = now or timezone.now()
    found = Campaign.objects.filter(retention_days__isnull=False, erased_at=None, status=Campaign.Status.CLOSED)
    for campaign in found.only("retention_days", "closed_at"):
        if campaign.erases_at is None or campaign.erases_at > now:
            continue
        with transaction.atomic():
            Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)  # of two sweeps at once one waits
            own = Job.objects.filter(kind=RETENTION, args__campaign=campaign.pk)
            if not own.filter(created_at__gt=now - _TRY_AGAIN).exists():
                enqueue(RETENTION, args={"campaign": campaign.pk})


def erase_all_workers(*, campaign: Campaign, on_progress: Callable[[int, int, str], None] = lambda *_: None) -> None:
    """Erase what identifies each worker of a campaign, then have stored results made anew.

    What they answered, wrote and said stays, under labels. Raises DomainError `not_now` with the first reason where
    somebody could not be erased; the others are.
    """
    workers = _identified(campaign)
    reasons: list[str] = []
    for k, worker in enumerate(workers):
        on_progress(k, len(workers), "Erasing personal data")
        try:
            erase_worker(campaign=campaign, worker=worker, wants=(), user=None)
        except DomainError as refused:
            reasons.append(refused.message)
    if len(reasons) < len(workers):
        with transaction.atomic():
            for app in list_records():
                app.renew(campaign.pk)
    if reasons:
        who = f"The personal data of {counted(len(reasons), 'worker')} could not be erased. {reasons[0]}"
        raise DomainError("not_now", f"{who} It is tried again every day.")
    Campaign.objects.filter(pk=campaign.pk, erased_at=None).update(erased_at=timezone.now())


def _identified(campaign: Campaign) -> list[Worker]:
    """Return the workers of a campaign who have a name."""
    found: dict[int, Worker] = {}
    for relation in Worker._meta.related_objects:
        own = {f"{relation.name}__campaign": campaign.pk}
        found |= {each.pk: each for each in Worker.objects.filter(erased_at=None, **own).distinct()}
    return [found[pk] for pk in sorted(found)]
