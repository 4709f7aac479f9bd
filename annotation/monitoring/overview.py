"""What a campaign's overview shows of its workers: how far they are."""

from django.urls import reverse
from django.utils import timezone

from annotation.monitoring.progress import get_totals
from campaigns.models import Campaign
from campaigns.overview import NextStep, OverviewPart
from campaigns.queries import Role, has_role
from evalsite.accounts.models import User


def progress_part(campaign: Campaign, user: User) -> OverviewPart | None:
    """Return how far the workers of a campaign are; None of a closed one. Four queries at most."""
    if campaign.status == Campaign.Status.CLOSED:
        return None
    totals = get_totals(campaign, timezone.now())
    step, can_invite = None, has_role(campaign, Role.EDITOR) and not campaign.crowd_platform.has_account
    if campaign.status == Campaign.Status.RUNNING and not totals.n_assignments and can_invite:
        url = reverse("monitoring:raters", args=[campaign.public_id])
        text = "The campaign is running and nobody has begun yet. Raters come by a link that you send them."
        step = NextStep("Send raters their link", text, "Go to the raters", url)
    return OverviewPart("monitoring/overview.html", {"totals": totals, "wanted": f"of {totals.n_wanted:,}"}, step)
