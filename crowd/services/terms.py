"""What workers are told of a campaign before they accept, and where they come to."""

from typing import Any

from django.urls import reverse

from annotation.models import Worker
from campaigns.contracts.account import Terms
from campaigns.contracts.option import OptionReader
from campaigns.models import Campaign
from campaigns.platforms import get_platform

TITLE = "Read short texts and rate them"
TITLE_OF_CHATS = "Chat with computer programs and rate the chats"
_DESCRIPTION = "You are shown one {thing} after the other and say how far you agree with statements about it."


def terms_of(campaign: Campaign, site_url: str) -> Terms:
    """Return the terms of all postings of a campaign; titles are neutral where the researcher gave none."""
    options = campaign.platform_settings
    title = TITLE_OF_CHATS if campaign.is_live else TITLE
    return Terms(
        title=str(options.get("title") or title),
        description=str(
            options.get("description") or _DESCRIPTION.format(thing="chat" if campaign.is_live else "text")
        ),
        reward=campaign.reward,
        currency=campaign.currency,
        minutes=minutes_of(campaign),
        site_url=site_url,
        worked_before=_worked_before(campaign) if is_on(campaign, "exclude_earlier_runs") else frozenset(),
        hook_url=site_url + reverse("crowd:hook", args=[campaign.public_id]),
    )


def minutes_of(campaign: Campaign) -> int:
    """Return how long a HIT takes, as the platform is told."""
    return campaign.minutes_per_hit or campaign.lease_minutes


def option_of(campaign: Campaign, name: str) -> Any:
    """Return an option of the campaign's platform as it is set, or else its default; None if it has no such option."""
    return OptionReader(get_platform(campaign.platform).options).value_of(campaign.platform_settings, name)


def is_on(campaign: Campaign, name: str) -> bool:
    """Return whether an option of yes or no is on, as a form or a file may have stored it."""
    return str(option_of(campaign, name)).strip().lower() in {"true", "1", "yes", "on"}


def _worked_before(campaign: Campaign) -> frozenset[str]:
    """Return the keys of all who took a place in another run of the campaign, earlier or later.

    Only of those whom the platform has named itself: who comes here may bring an id that the platform does not know.
    """
    workers = Worker.objects.filter(platform=campaign.platform, submissions__campaign__in=_other_runs(campaign))
    return frozenset(workers.values_list("key", flat=True).distinct())


def _other_runs(campaign: Campaign) -> set[int]:
    """Return the other campaigns of the chain of runs that a campaign belongs to."""
    known: set[int] = set()
    found = {campaign.pk}
    while found:
        known |= found
        above = Campaign.objects.filter(replications__in=found).values_list("pk", flat=True)
        below = Campaign.objects.filter(replicates__in=found).values_list("pk", flat=True)
        found = {*above, *below} - known
    return known - {campaign.pk}


def address_of(campaign: Campaign, site_url: str, hit_number: int | None) -> str:
    """Return the address that is published, for one HIT or for any."""
    query = get_platform(campaign.platform).arrival_query(campaign.ref, hit_number)
    return f"{site_url.rstrip('/')}{reverse('rate:welcome', args=[campaign.public_id])}?{query}"
