"""Keeping what an account wants remembered with its campaign."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from campaigns.contracts.account import CrowdAccount, Terms
from campaigns.models import Campaign
from crowd.accounts import open_account
from crowd.services.pacing import Pace
from evalsite.lib.sealing import seal, unseal

_AT, _FRESH = "prepared_at", timedelta(days=1)


def prepare_account(account: CrowdAccount, campaign: Campaign, terms: Terms, pace: Pace) -> CrowdAccount:
    """Have an account make or find what all postings share; return the account that remembers it.

    Raises PlatformUnsureError, PlatformRefusedError or DomainError `sealed_by_another_key`.
    """
    prepared = pace.call(lambda: account.prepare(terms))
    memory = {**prepared.memory, _AT: timezone.now().isoformat()}
    remember(campaign=campaign, memory=memory, secrets=prepared.secrets)
    return open_account(campaign)


def is_stale(campaign: Campaign) -> bool:
    """Tell whether the account was prepared more than a day ago, or never: a platform changes its public keys."""
    at = campaign.platform_memory.get(_AT)
    return at is None or datetime.fromisoformat(at) < timezone.now() - _FRESH


@sensitive_variables()
@transaction.atomic
def remember(*, campaign: Campaign, memory: Mapping[str, Any], secrets: Mapping[str, str] | None = None) -> None:
    """Merge into what the campaign remembers of its account, and into its sealed secrets; `campaign` follows.

    Raises DomainError `sealed_by_another_key`.
    """
    locked = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    changes: dict[str, Any] = {}
    if (merged := {**locked.platform_memory, **memory}) != locked.platform_memory:
        changes["platform_memory"] = merged
    if secrets and (kept := unseal(locked.platform_secrets)) != (sealed := {**kept, **secrets}):
        changes["platform_secrets"] = seal(sealed)
    if changes:
        Campaign.objects.filter(pk=campaign.pk).update(**changes)
    campaign.platform_memory = changes.get("platform_memory", locked.platform_memory)
    campaign.platform_secrets = changes.get("platform_secrets", locked.platform_secrets)
