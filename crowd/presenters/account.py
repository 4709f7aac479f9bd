"""What is known of a campaign's account: its keys by name, and what the last check found."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from campaigns.models import Campaign
from crowd.services.keys import key_options, keys_of_site, keys_set
from crowd.services.setup import CHECK

Money = Literal["sandbox", "real", "unknown"]


@dataclass(frozen=True)
class Checked:
    """What the last check found: an `error`, or a `name`, a balance (None: not told) and whether it is a sandbox."""

    at: datetime | None = None
    name: str = ""
    balance: Decimal | None = None
    currency: str = ""
    is_sandbox: bool | None = None
    error: str = ""

    @property
    def money(self) -> Money:
        """Whether money is spent with this account."""
        if self.is_sandbox is None:
            return "unknown"
        return "sandbox" if self.is_sandbox else "real"


def checked(campaign: Campaign) -> Checked:
    """Return what the last check of the account found; nothing if there was none."""
    kept = campaign.platform_memory.get(CHECK) or {}
    if not kept:
        return Checked()
    at = datetime.fromisoformat(kept["at"]) if kept.get("at") else None
    if kept.get("error"):
        return Checked(at=at, error=str(kept["error"]))
    balance = kept.get("balance")
    return Checked(
        at=at,
        name=kept["name"],
        balance=Decimal(balance) if balance else None,
        currency=kept["currency"],
        is_sandbox=kept["is_sandbox"],
    )


def money_words(amount: Decimal, currency: str) -> str:
    """Return an amount as pages show it.

    >>> money_words(Decimal("1234.5"), "USD")
    '1,234.50 USD'
    """
    return f"{amount:,.2f} {currency}"


def _balance(found: Checked) -> str:
    if found.balance is None:
        return "not told" if found.name else "not checked"
    return money_words(found.balance, found.currency)


def account_shown(campaign: Campaign) -> dict[str, Any]:
    """Return what the page shows of the account and its keys. No query; never a key itself."""
    found = checked(campaign)
    known, of_site = keys_set(campaign), keys_of_site(campaign)
    keys = [
        {
            "name": option.name,
            "label": option.label,
            "is_set": bool(known and option.name in known),
            "is_of_site": option.name in of_site,
        }
        for option in key_options(campaign)
    ]
    return {
        "account": {
            "at": found.at,
            "name": found.name,
            "balance": _balance(found),
            "error": found.error,
        },
        "money": found.money,
        "keys": keys,
        "is_sealed": known is None,
        "uses_site_keys": bool(of_site) and not any(key["is_set"] for key in keys),
        "has_keys": all(key["is_set"] or key["is_of_site"] for key in keys),
    }
