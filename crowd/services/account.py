"""The account of a campaign at its platform: choosing it, its keys, opening it, calling it no faster than it allows.

The environment overrides the rate and the pauses between tries; tests shorten them.
"""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db import transaction
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from campaigns.contracts.account import AccountState, CrowdAccount, PlatformUnsureError, Terms
from campaigns.models import Campaign
from campaigns.services.campaigns import change_campaign
from crowd.queries.account import PREPARED_AT, key_options
from crowd.queries.publishing import CHECK
from evalsite.accounts.models import User
from evalsite.jobs.handlers import enqueue
from evalsite.jobs.models import Job
from evalsite.lib.encryption import decrypt_secrets, encrypt_secrets, readable_secrets
from evalsite.lib.env import env_int
from evalsite.lib.errors import DomainError


@sensitive_variables()
def open_account(campaign: Campaign) -> CrowdAccount:
    """Return the account of a campaign's platform.

    Raises DomainError `no_account` on a platform without one, `no_keys`, `missing_library` or
    `encrypted_with_another_key`.
    """
    return campaign.crowd_platform.open_account(campaign.ref, decrypt_secrets(campaign.platform_secrets))


logger = logging.getLogger(__name__)
T = TypeVar("T")
# How many calls a job makes in a second, at most.
CALLS_PER_S = env_int("CROWD_CALLS_PER_S", 5)
# The first pause after a fault; each further one is twice as long. A platform that asks for more is left in peace.
FIRST_PAUSE_S = env_int("CROWD_BACKOFF_S", 1)
LONGEST_PAUSE_S = 20
TRIES = 5
# A platform that does not answer for so many things in a row does not answer at all for now.
GIVE_UP_AFTER = 3


@dataclass
class RateLimitedCalls:
    """The calls of one job to a platform."""

    next_at: float = 0.0

    def call(self, call: Callable[[], T]) -> T:
        """Return what a call returns, tried again with back-off; raise the PlatformUnsureError of the last try."""
        for n_before in range(TRIES):
            now = time.monotonic()
            time.sleep(max(0.0, self.next_at - now))
            self.next_at = max(self.next_at, now) + 1 / CALLS_PER_S
            try:
                return call()
            except PlatformUnsureError as error:
                pause_s = max(FIRST_PAUSE_S * 2**n_before, error.retry_after_s or 0)
                if n_before == TRIES - 1 or pause_s > LONGEST_PAUSE_S:
                    raise
                logger.info("the platform is called again in %s s: %s", pause_s, error)
                self.next_at = time.monotonic() + pause_s
        raise AssertionError("unreachable")


SYNC = "crowd.sync"
PUBLISH = "crowd.publish"
_UNFINISHED = (Job.Status.QUEUED, Job.Status.RUNNING)


def enqueue_once(kind: str, campaign_id: int) -> Job | None:
    """Enqueue a job of a kind for a campaign; None if one waits or runs already."""
    unfinished = Job.objects.filter(kind=kind, args__campaign=campaign_id, status__in=_UNFINISHED)
    if unfinished.exists():  # mostly: no lock is taken then
        return None
    with transaction.atomic():
        Campaign.objects.select_for_update(no_key=True).get(pk=campaign_id)  # of two who ask at once, the second waits
        return None if unfinished.exists() else enqueue(kind, args={"campaign": campaign_id})


def prepare_account(campaign: Campaign, terms: Terms, calls: RateLimitedCalls) -> CrowdAccount:
    """Have the account make or find what all postings share, step by step; return it with what is stored then.

    Each step is stored, so a call after a fault goes on there. Raises PlatformUnsureError, PlatformRefusedError or
    DomainError `no_account`, `no_keys` or `encrypted_with_another_key`.
    """
    account, is_done = open_account(campaign), False
    while not is_done:
        prepared = calls.call(lambda: account.prepare(terms))
        is_done = prepared.is_done
        done_at = {PREPARED_AT: timezone.now().isoformat()} if is_done else {}
        store_account_data(campaign=campaign, data={**prepared.stored, **done_at}, secrets=prepared.secrets)
    return open_account(campaign)


def forget_prepared(campaign: Campaign) -> None:
    """Have the account prepared again before anything else is published or opened again."""
    store_account_data(campaign=campaign, data={PREPARED_AT: None})


@sensitive_variables()
@transaction.atomic
def store_account_data(
    *, campaign: Campaign, data: Mapping[str, Any], secrets: Mapping[str, str] | None = None
) -> None:
    """Merge data into what is stored of the account, and secrets into its encrypted ones; `campaign` follows.

    Raises DomainError `encrypted_with_another_key`.
    """
    locked = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    changes: dict[str, Any] = {}
    if (merged := {**locked.account_data, **data}) != locked.account_data:
        changes["account_data"] = merged
    if secrets and (kept := decrypt_secrets(locked.platform_secrets)) != (encrypted := {**kept, **secrets}):
        changes["platform_secrets"] = encrypt_secrets(encrypted)
    if changes:
        Campaign.objects.filter(pk=campaign.pk).update(**changes)
    campaign.account_data = changes.get("account_data", locked.account_data)
    campaign.platform_secrets = changes.get("platform_secrets", locked.platform_secrets)


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
        locked.crowd_platform.check({**locked.platform_settings, **options})
    before = _account_of(locked)
    changed = change_campaign(campaign=campaign, changes=changes)
    if _account_of(changed) != before and CHECK in changed.account_data:
        changed.account_data = {name: value for name, value in changed.account_data.items() if name != CHECK}
        changed.save(update_fields=["account_data"])
    return changed


def _account_of(campaign: Campaign) -> tuple[Any, ...]:
    return (campaign.platform, *(campaign.platform_settings.get(name) for name in _OF_ACCOUNT))


@sensitive_variables()
@transaction.atomic
def change_keys(*, campaign: Campaign, keys: Mapping[str, str | None]) -> None:
    """Set keys, at any time; None clears one. Those that are not named stay as they are. Locks the campaign.

    If that changes any, all that is stored of the account is deleted, with its secrets: it may be another one
    now. Once HITs are published, a job prepares it again. Raises DomainError `bad_option` for what is not a key of the
    platform.
    """
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    names = key_options(locked).keys()
    if unknown := keys.keys() - names:
        raise DomainError("bad_option", f"This platform has no key called “{min(unknown)}”.")
    before = {name: value for name, value in (readable_secrets(locked.platform_secrets) or {}).items() if name in names}
    after = {name: value for name, value in {**before, **keys}.items() if value}
    if after == before:
        return
    locked.platform_secrets, locked.account_data = encrypt_secrets(after), {}
    locked.save(update_fields=["platform_secrets", "account_data"])
    if locked.waves.exists():
        enqueue_once(SYNC, locked.pk)


def check_account(*, campaign: Campaign, user: User) -> AccountState:
    """Ask the platform about the account of a campaign; what it says, or that it failed, stays with the campaign.

    `account_data["account"]` then holds name, balance (a text, None if unknown), currency and is_sandbox, or
    error; and at, by. Calls the network. Raises DomainError `no_account`, `no_keys`, `encrypted_with_another_key`,
    `unavailable`, or one with the platform's own code.
    """
    about = {"at": timezone.now().isoformat(), "by": user.email}
    try:
        state = open_account(campaign).check()
    except PlatformUnsureError:
        error = DomainError("unavailable", "The platform did not answer. Check the account again in a minute.")
        store_account_data(campaign=campaign, data={CHECK: {"error": error.message, **about}})
        raise error from None
    except DomainError as error:
        store_account_data(campaign=campaign, data={CHECK: {"error": error.message, **about}})
        raise
    found = {
        "name": state.name,
        "balance": None if state.balance is None else str(state.balance),
        "currency": state.currency,
        "is_sandbox": state.is_sandbox,
    }
    store_account_data(campaign=campaign, data={CHECK: {**found, **about}})
    return state
