"""What the command menu of every page lists for a user: pages, campaigns, sections of the guides."""

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from django.http import Http404
from django.urls import reverse

from campaigns.models import Campaign
from campaigns.navigation import side_bar
from campaigns.queries import get_campaign_for
from evalsite.accounts.models import User
from evalsite.help.guides import GUIDES, read_guide

_MOST_CAMPAIGNS = 500
_PAGES = {
    "campaigns:list": "Campaigns",
    "campaigns:new": "Create campaign",
    "analysis:ratings": "Analyses",
    "analysis:upload": "Analyse a ratings file",
    "analysis:plans": "Plan a campaign",
    "help:index": "Help",
    "accounts:tokens": "API tokens",
    "accounts:second_factor": "Second factor",
}
_OF_STAFF = {"desk:home": "Admin"}


@dataclass(frozen=True)
class Command:
    """Something to go to: what kind it is, its title, its address."""

    group: str
    title: str
    url: str


def list_commands(user: User, public_id: UUID | None = None) -> list[Command]:
    """Return where a user may go; first the pages of this campaign, if they are a member. Four queries at most."""
    return [*_of_campaign(user, public_id), *_pages(user), *_campaigns(user), *_help()]


def _of_campaign(user: User, public_id: UUID | None) -> Iterator[Command]:
    try:
        campaign = get_campaign_for(user, public_id) if public_id else None
    except Http404:
        return
    if campaign is None or campaign.is_being_deleted:
        return
    for group in side_bar(campaign, "").groups:
        for link in group.links:
            for part in link.parts or [link]:
                within = group.title if group.title not in ("", part.title) else ""
                yield Command("This campaign", f"{within}: {part.title}" if within else part.title, part.url)


def _pages(user: User) -> Iterator[Command]:
    for name, title in (_PAGES | (_OF_STAFF if user.is_staff else {})).items():
        yield Command("Page", title, reverse(name))


def _campaigns(user: User) -> Iterator[Command]:
    kept = user.memberships.exclude(campaign__status=Campaign.Status.DELETING)
    found = kept.filter(campaign__archived_at=None).order_by("-campaign__pk")
    for name, public_id in found.values_list("campaign__name", "campaign__public_id")[:_MOST_CAMPAIGNS]:
        yield Command("Campaign", name, reverse("campaigns:campaign", args=[public_id]))


def _help() -> Iterator[Command]:
    for name, guide in GUIDES.items():
        url = reverse("help:guide", args=[name])
        yield Command("Help", guide.title, url)
        for heading in read_guide(name).contents:
            for each in (heading, *heading.parts):
                yield Command("Help", f"{guide.title}: {each.text}", f"{url}#{each.anchor}")
