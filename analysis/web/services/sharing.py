"""Links that show the results of a campaign to everybody who has them."""

from datetime import date

from django.utils import timezone

from analysis.models import AnalysisRun, ShareLink
from campaigns.models import Campaign
from campaigns.queries import being_deleted
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError

_MOST = 50


def create_share_link(*, campaign: Campaign, user: User, note: str = "", ends_on: date | None = None) -> ShareLink:
    """Make a link to the newest results of a campaign.

    Raises DomainError `no_results` before the campaign has any (a draft has none), `ended` if the last day is over,
    `too_many` beyond 50 links that are open.
    """
    if campaign.is_being_deleted:
        raise being_deleted()
    has_results = AnalysisRun.objects.filter(ratings_file__campaign=campaign, finished_at__isnull=False).exists()
    if not campaign.is_launched or not has_results:
        raise DomainError(
            "no_results", "There are no results to share yet. Launch the campaign and analyse its ratings."
        )
    if ends_on and ends_on < timezone.now().date():
        raise DomainError("ended", "This day is over. Choose today or a later day, or leave it empty.")
    if campaign.share_links.filter(revoked_at=None).count() >= _MOST:
        raise DomainError("too_many", f"There are {_MOST} links already. Revoke one that nobody needs.")
    return ShareLink.objects.create(campaign=campaign, created_by=user, note=note.strip(), ends_on=ends_on)


def revoke_share_link(*, link: ShareLink) -> None:
    """Close a link at once; closing it again changes nothing."""
    ShareLink.objects.filter(pk=link.pk, revoked_at=None).update(revoked_at=timezone.now())


def reopen_share_link(*, campaign: Campaign, link_id: int) -> None:
    """Let a link show the results again: its address is the same, so nobody learns it who did not have it."""
    campaign.share_links.filter(pk=link_id).update(revoked_at=None)
