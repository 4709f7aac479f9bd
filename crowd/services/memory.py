"""Keeping what is remembered of an account with its campaign: what it wants itself, and what its last check found."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from campaigns.contracts.account import CrowdAccount, Terms
from campaigns.models import Campaign
from crowd.accounts import open_account
from crowd.services.pacing import Pace
from crowd.services.setup import CHECK
from evalsite.lib.encryption import decrypt_secrets, encrypt_secrets

_AT, _FRESH = "prepared_at", timedelta(days=1)


def prepare_account(account: CrowdAccount, campaign: Campaign, terms: Terms, pace: Pace) -> CrowdAccount:
    """Have an account make or find what all postings share, step by step; return the account that remembers it.

    Each step is remembered, so whoever does this after a fault goes on there. Raises PlatformUnsureError,
    PlatformRefusedError or DomainError `encrypted_with_another_key`.
    """
    is_done = False
    while not is_done:
        prepared = pace.call(lambda: account.prepare(terms))
        is_done = prepared.is_done
        done_at = {_AT: timezone.now().isoformat()} if is_done else {}
        remember(campaign=campaign, memory={**prepared.memory, **done_at}, secrets=prepared.secrets)
    return open_account(campaign)


def is_stale(campaign: Campaign) -> bool:
    """Tell whether the account was prepared more than a day ago, or never: a platform changes its public keys."""
    at = campaign.platform_memory.get(_AT)
    return at is None or datetime.fromisoformat(at) < timezone.now() - _FRESH


def is_prepared(campaign: Campaign) -> bool:
    """Tell whether the account was prepared, and has not been released since."""
    return campaign.platform_memory.get(_AT) is not None


def forget_prepared(campaign: Campaign) -> None:
    """Have the account prepared anew before anything else is published or opened again."""
    remember(campaign=campaign, memory={_AT: None})


@sensitive_variables()
@transaction.atomic
def remember(*, campaign: Campaign, memory: Mapping[str, Any], secrets: Mapping[str, str] | None = None) -> None:
    """Merge into what the campaign remembers of its account, and into its encrypted secrets; `campaign` follows.

    Raises DomainError `encrypted_with_another_key`.
    """
    locked = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    changes: dict[str, Any] = {}
    if (merged := {**locked.platform_memory, **memory}) != locked.platform_memory:
        changes["platform_memory"] = merged
    if secrets and (kept := decrypt_secrets(locked.platform_secrets)) != (encrypted := {**kept, **secrets}):
        changes["platform_secrets"] = encrypt_secrets(encrypted)
    if changes:
        Campaign.objects.filter(pk=campaign.pk).update(**changes)
    campaign.platform_memory = changes.get("platform_memory", locked.platform_memory)
    campaign.platform_secrets = changes.get("platform_secrets", locked.platform_secrets)


@dataclass(frozen=True)
class Checked:
    """What the last check found: an `error`, or a `name`, a balance (None: not told) and whether it is a sandbox."""

    at: datetime | None = None
    name: str = ""
    balance: Decimal | None = None
    currency: str = ""
    is_sandbox: bool | None = None
    error: str = ""


def checked(campaign: Campaign) -> Checked:
    """Return what the last check of the account found; nothing if there was none. No query."""
    kept = campaign.platform_memory.get(CHECK) or {}
    at = datetime.fromisoformat(kept["at"]) if kept.get("at") else None
    if kept.get("error"):
        return Checked(at=at, error=str(kept["error"]))
    return Checked(
        at=at,
        name=kept.get("name", ""),
        balance=Decimal(kept["balance"]) if kept.get("balance") else None,
        currency=kept.get("currency", ""),
        is_sandbox=kept.get("is_sandbox"),
    )
