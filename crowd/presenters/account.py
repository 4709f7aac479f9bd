"""What is known of a campaign's account: its keys by name, and what the last check found."""

from decimal import Decimal
from typing import Any, Literal

from campaigns.models import Campaign
from crowd.queries.account import LastCheck, key_options, keys_of_site, keys_set, last_check

Money = Literal["sandbox", "real", "unknown"]


def money_words(amount: Decimal, currency: str) -> str:
    """Return an amount as pages show it.

    >>> money_words(Decimal("1234.5"), "USD")
    '1,234.50 USD'
    """
    return f"{amount:,.2f} {currency}"


def balance_of(campaign: Campaign) -> str:
    """Return what was in the account at the last check; "" if it was not told."""
    found = last_check(campaign)
    return "" if found.balance is None else money_words(found.balance, found.currency or campaign.currency)


def _money(found: LastCheck) -> Money:
    """Return whether money is spent with this account."""
    if found.is_sandbox is None:
        return "unknown"
    return "sandbox" if found.is_sandbox else "real"


def account_shown(campaign: Campaign) -> dict[str, Any]:
    """Return what the page shows of the account and its keys. No query; never a key itself."""
    found = last_check(campaign)
    known, of_site = keys_set(campaign), keys_of_site(campaign)
    keys = [
        {
            "name": name,
            "label": option.label,
            "is_set": bool(known and name in known),
            "is_of_site": name in of_site,
        }
        for name, option in key_options(campaign).items()
    ]
    return {
        "account": {
            "at": found.at,
            "name": found.name,
            "balance": balance_of(campaign) or ("not known" if found.name else "not checked"),
            "error": found.error,
        },
        "money": _money(found),
        "keys": keys,
        "is_unreadable": known is None,
        "uses_site_keys": bool(of_site) and not any(key["is_set"] for key in keys),
        "has_keys": all(key["is_set"] or key["is_of_site"] for key in keys),
    }
