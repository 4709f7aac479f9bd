"""Asking whose account the keys open, and what is in it."""

from django.utils import timezone

from campaigns.contracts.account import AccountState, PlatformUnsureError
from campaigns.models import Campaign
from crowd.accounts import open_account
from crowd.services.memory import remember
from crowd.services.setup import CHECK
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError


def check_account(*, campaign: Campaign, user: User) -> AccountState:
    """Ask the platform about the account of a campaign; what it says, or that it failed, stays with the campaign.

    `platform_memory["account"]` then holds name, balance (a text, None if it is not told), currency and is_sandbox, or
    error; and at, by. Calls the network. Raises DomainError `no_account`, `no_keys`, `encrypted_with_another_key`,
    `unavailable`, or one with the platform's own code.
    """
    about = {"at": timezone.now().isoformat(), "by": user.email}
    try:
        state = open_account(campaign).check()
    except PlatformUnsureError:
        error = DomainError("unavailable", "The platform did not answer. Check the account again in a minute.")
        remember(campaign=campaign, memory={CHECK: {"error": error.message, **about}})
        raise error from None
    except DomainError as error:
        remember(campaign=campaign, memory={CHECK: {"error": error.message, **about}})
        raise
    found = {
        "name": state.name,
        "balance": None if state.balance is None else str(state.balance),
        "currency": state.currency,
        "is_sandbox": state.is_sandbox,
    }
    remember(campaign=campaign, memory={CHECK: {**found, **about}})
    return state
