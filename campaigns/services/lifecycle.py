"""The life of a campaign: draft → ready → running ⇄ paused → closed; and its archiving."""

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from campaigns.checklist import checklist, missing, to_confirm
from campaigns.contracts.events import CampaignClosed, CampaignLaunched
from campaigns.models import Campaign
from campaigns.queries import proposed_settings
from campaigns.services.webhooks import announce
from evalsite.jobs.handlers import enqueue
from evalsite.lib.errors import DomainError

Status = Campaign.Status


@transaction.atomic
def launch_campaign(*, campaign: Campaign, is_confirmed: bool = False) -> None:
    """Give HITs out; once launched, do nothing.

    Raises DomainError `not_ready`, naming all that is missing, or `no_worker_can_pass`, unless that is confirmed.
    """
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if locked.is_launched:
        return
    if locked.archived_at:
        raise DomainError("archived", "The campaign is archived. Unarchive it first: Settings → Archive.")
    steps = checklist(locked)
    if lacks := missing(steps):
        text = " ".join(f"{step.title}: {step.text}" for step in lacks)
        raise DomainError("not_ready", f"The campaign cannot be launched yet. {text}")
    if (errors := to_confirm(steps)) and not is_confirmed:
        text = " ".join(step.text for step in errors)
        raise DomainError("no_worker_can_pass", f"{text} To launch it all the same, confirm that.")
    if locked.crowd_platform.has_account:
        locked.hits.update(is_offered=False)  # until they are published there
    settings = {**locked.platform_settings, **proposed_settings(locked)}
    now = timezone.now()
    _move(locked, Status.RUNNING, {Status.READY}, launched_at=now, platform_settings=settings)
    n_hits = locked.hits.count()
    data = CampaignLaunched(launched_at=now, n_hits=n_hits, n_places=n_hits * locked.workers_per_hit)
    announce(campaign_id=locked.pk, data=data)


def pause_campaign(*, campaign: Campaign) -> None:
    """Give no more HITs out; who has one may finish it. Raises DomainError `wrong_status`."""
    _move(campaign, Status.PAUSED, {Status.RUNNING})


def resume_campaign(*, campaign: Campaign) -> None:
    """Give HITs out again; raise DomainError `wrong_status`."""
    _move(campaign, Status.RUNNING, {Status.PAUSED})


@transaction.atomic
def close_campaign(*, campaign: Campaign) -> None:
    """End a campaign for good and have it analysed; who has a HIT may finish it. Raises DomainError `wrong_status`."""
    if _move(campaign, Status.CLOSED, {Status.RUNNING, Status.PAUSED}, closed_at=timezone.now()):
        announce_end(campaign)
        enqueue("analysis.campaign", args={"campaign": campaign.pk})


@transaction.atomic
def archive_campaign(*, campaign: Campaign) -> None:
    """Leave a campaign out of lists; nothing is lost. Raises DomainError `still_open` for one that may get ratings."""
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if locked.status in (Status.RUNNING, Status.PAUSED):
        raise DomainError("still_open", f"The campaign is {locked.status}. Close it first, then archive it.")
    if locked.archived_at is None:
        Campaign.objects.filter(pk=campaign.pk).update(archived_at=timezone.now())
    campaign.refresh_from_db(fields=["archived_at"])


def unarchive_campaign(*, campaign: Campaign) -> None:
    """Have an archived campaign in lists again; once is enough."""
    Campaign.objects.filter(pk=campaign.pk).update(archived_at=None)
    campaign.archived_at = None


def announce_end(campaign: Campaign) -> None:
    """Announce that a campaign is closed, in the transaction that closes it."""
    assert campaign.closed_at
    n_left = campaign.hits.aggregate(n=Sum("n_places_left", default=0))["n"]
    announce(campaign_id=campaign.pk, data=CampaignClosed(closed_at=campaign.closed_at, n_places_left=n_left))


def _move(campaign: Campaign, to: Status, since: Iterable[Status], **fields: Any) -> bool:
    """Change the status in one UPDATE that names what it expects; return False if a second click finds it done."""
    is_moved = bool(Campaign.objects.filter(pk=campaign.pk, status__in=since).update(status=to, **fields))
    if not is_moved:
        campaign.refresh_from_db(fields=["status"])
        if campaign.status != to:
            raise DomainError(
                "wrong_status", f"The campaign is {campaign.status} now, so this cannot be done. Reload the page."
            )
    campaign.refresh_from_db(fields=["status", *fields])
    return is_moved
