"""What a campaign's overview shows of its crowd platform: what waits for a decision, and what is not published."""

from django.urls import reverse

from campaigns.models import Campaign
from campaigns.overview import NextStep, OverviewPart
from campaigns.queries import Role, has_role
from crowd.queries.payments import list_discrepancies, list_payable
from crowd.queries.publishing import count_hits
from evalsite.accounts.models import User
from evalsite.lib.words import counted


def platform_part(campaign: Campaign, user: User) -> OverviewPart | None:
    """Return what is to be done about a crowd platform's work; None where there is none. Five queries at most."""
    platform = campaign.crowd_platform
    if not platform.has_account or not has_role(campaign, Role.EDITOR):
        return None

    def step(title: str, text: str, action: str, page: str) -> OverviewPart:
        return OverviewPart(next_step=NextStep(title, text, action, reverse(page, args=[campaign.public_id])))

    if n := list_discrepancies(campaign).count():
        text = f"{counted(n, 'submission')} on {platform.title} do not match what happened here. They are not paid yet."
        return step("Decide about discrepancies", text, "See discrepancies", "crowd:discrepancies")
    if n := list_payable(campaign).count():
        text = "Workers wait for their pay. Compare the work with the worker test, then approve or reject it."
        return step(f"Decide about {counted(n, 'complete assignment')}", text, "Go to the payments", "crowd:payments")
    if campaign.status == Campaign.Status.RUNNING and not count_hits(campaign).n_ordered:
        text = "Workers can come then. Begin with a few HITs, check their ratings, then publish the rest."
        return step(f"Publish HITs on {platform.title}", text, "Publish HITs", "crowd:platform")
    return None
