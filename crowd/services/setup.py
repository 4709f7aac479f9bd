"""Choosing a crowd platform and its options."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from campaigns.models import Campaign
from campaigns.platforms import get_platform
from campaigns.services.campaigns import change_campaign

CHECK = "account"
"""Where `platform_memory` keeps what the last check of the account found."""
# Another of these may mean another account.
_OF_ACCOUNT = ("mode",)


@transaction.atomic
def change_platform(*, campaign: Campaign, changes: Mapping[str, Any]) -> Campaign:
    """Set the platform, and options of it in `platform_settings`, which are merged into what is set.

    The last check of the account is forgotten where it may be another one now. Raises DomainError `frozen` for what
    workers have seen, or `bad_option`.
    """
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if options := changes.get("platform_settings"):
        get_platform(locked.platform).check({**locked.platform_settings, **options})
    before = _account_of(locked)
    changed = change_campaign(campaign=campaign, changes=changes)
    if _account_of(changed) != before and CHECK in changed.platform_memory:
        changed.platform_memory = {name: value for name, value in changed.platform_memory.items() if name != CHECK}
        changed.save(update_fields=["platform_memory"])
    return changed


def _account_of(campaign: Campaign) -> tuple[Any, ...]:
    return (campaign.platform, *(campaign.platform_settings.get(name) for name in _OF_ACCOUNT))
