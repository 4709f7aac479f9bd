"""The pages of administrators, beside each of them; and the way to a campaign from there."""

from typing import Any

from django.urls import reverse

from campaigns.models import Campaign
from evalsite.accounts.models import User
from evalsite.lib.navigation import Link, LinkGroup, SideBar

_PAGES = {"people": "People", "jobs": "Jobs", "audit": "Audit log", "storage": "Storage", "system": "System"}


def desk_context(page: str) -> dict[str, Any]:
    """Return what desk/frame.html needs; `page` names the one that shows."""
    links = [Link(title, reverse(f"desk:{name}"), name == page) for name, title in _PAGES.items()]
    database = [Link("Database", reverse("admin:index"))]
    groups = [LinkGroup("", links), LinkGroup("In rare cases", database)]
    return {"side_bar": SideBar("Admin", "Admin", reverse("desk:people"), groups)}


def campaign_url(user: User, campaign: Campaign, mine: set[int]) -> str:
    """Return where an administrator sees a campaign: its own pages for members, else its page of the database.

    `mine` are the keys of the campaigns that the user is a member of. "" for one who may see neither.
    """
    if campaign.pk in mine:
        return reverse("campaigns:campaign", args=[campaign.public_id])
    return reverse("admin:campaigns_campaign_change", args=[campaign.pk]) if user.is_superuser else ""
