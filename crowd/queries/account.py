"""What is known of a campaign's account: its keys by name, when it was prepared, whom it blocks."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from annotation.models import Worker
from campaigns.contracts.options import Option
from campaigns.models import Campaign
from crowd.models import Order
from crowd.queries.publishing import LastCheck, last_check
from evalsite.lib.encryption import readable_secrets

PREPARED_AT = "prepared_at"
"""Where `account_data` keeps when the account was last prepared."""
_FRESH = timedelta(days=1)


def is_stale(campaign: Campaign) -> bool:
    """Tell whether the account was prepared more than a day ago, or never: a platform changes its public keys."""
    at = campaign.account_data.get(PREPARED_AT)
    return at is None or datetime.fromisoformat(at) < timezone.now() - _FRESH


def is_prepared(campaign: Campaign) -> bool:
    """Tell whether the account was prepared, and has not been released since."""
    return campaign.account_data.get(PREPARED_AT) is not None


def key_options(campaign: Campaign) -> dict[str, Option]:
    """Return the keys that the campaign's platform asks for, by name."""
    return campaign.crowd_platform.options.secrets()


@sensitive_variables()
def keys_set(campaign: Campaign) -> frozenset[str] | None:
    """Return the names of the keys that the campaign has of its own; None if they cannot be read any more."""
    kept = readable_secrets(campaign.platform_secrets)
    return None if kept is None else frozenset(kept)


def keys_of_site(campaign: Campaign) -> frozenset[str]:
    """Return the names of the keys that this installation has, for campaigns without their own."""
    platform = campaign.crowd_platform
    names = platform.options.secrets()
    return frozenset(name for name in names if getattr(settings, f"{platform.slug}_{name}".upper(), ""))


# Options of which another value is another account, or another list of whom it has blocked.
_OF_ACCOUNT = ("mode", "workspace")


@sensitive_variables("account")
def is_blocked(campaign: Campaign, worker: Worker) -> bool:
    """Tell whether a worker is kept from the work of the campaign's account, or about to be. One query.

    Campaigns of a platform share its workers, but a block holds at one account: what was ordered by a campaign with
    other keys, or in a sandbox, says nothing here.
    """
    found = Order.objects.filter(worker=worker, kind__in=[Order.Kind.BLOCK, Order.Kind.UNBLOCK])
    account = _account_of(campaign)
    for order in found.exclude(state=Order.State.REFUSED).select_related("campaign").order_by("-pk"):
        if order.campaign_id == campaign.pk or (account and _account_of(order.campaign) == account):
            return order.kind == Order.Kind.BLOCK
    return False


@sensitive_variables()
def _account_of(campaign: Campaign) -> tuple[str, list[object]] | None:
    """Return what the campaigns of one account have in common; None if the keys cannot be read any more."""
    keys = readable_secrets(campaign.platform_secrets)
    if keys is None:
        return None
    values: list[object] = []
    for name, option in campaign.crowd_platform.options.named().items():
        if option.is_secret:
            values.append(keys.get(name))
        elif name in _OF_ACCOUNT:
            values.append(campaign.platform_settings.get(name) or option.initial)
    return campaign.platform, values


@dataclass(frozen=True)
class Key:
    """A key that the platform asks for: whether the campaign has one of its own, or the installation has."""

    name: str
    label: str
    is_set: bool
    is_of_site: bool


@dataclass(frozen=True)
class AccountInfo:
    """What is known of an account; never a key itself. `is_unreadable`: its keys cannot be decrypted any more."""

    last_check: LastCheck
    keys: list[Key]
    is_unreadable: bool

    @property
    def has_keys(self) -> bool:
        """Whether no key is missing."""
        return all(key.is_set or key.is_of_site for key in self.keys)

    @property
    def uses_site_keys(self) -> bool:
        """Whether the campaign uses the keys of this installation."""
        return any(key.is_of_site for key in self.keys) and not any(key.is_set for key in self.keys)


def get_account_info(campaign: Campaign) -> AccountInfo:
    """Return what is known of the account of a campaign. No query."""
    known, of_site = keys_set(campaign), keys_of_site(campaign)
    keys = [
        Key(name, str(option.label), is_set=bool(known and name in known), is_of_site=name in of_site)
        for name, option in key_options(campaign).items()
    ]
    return AccountInfo(last_check(campaign), keys, is_unreadable=known is None)
