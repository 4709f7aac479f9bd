"""The keys of a campaign's account at its crowd platform."""

from collections.abc import Mapping

from django.conf import settings
from django.db import transaction
from django.views.decorators.debug import sensitive_variables

from campaigns.contracts.option import Option
from campaigns.models import Campaign
from campaigns.platforms import get_platform
from crowd.services.queueing import SYNC, ask_for
from evalsite.lib.encryption import decrypt_secrets, encrypt_secrets
from evalsite.lib.errors import DomainError


def key_options(campaign: Campaign) -> list[Option]:
    """Return the keys that the campaign's platform asks for."""
    return [option for option in get_platform(campaign.platform).options if option.is_secret]


@sensitive_variables()
@transaction.atomic
def change_keys(*, campaign: Campaign, keys: Mapping[str, str | None]) -> None:
    """Set keys, at any time; None clears one. Those that are not named stay as they are. Locks the campaign.

    If that changes any, all that is remembered of the account is forgotten, with its secrets: it may be another one
    now. Once something is published, a job prepares it anew. Raises DomainError `bad_option` for what is no key of the
    platform.
    """
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    names = {option.name for option in key_options(locked)}
    if unknown := keys.keys() - names:
        raise DomainError("bad_option", f"This platform has no key called “{min(unknown)}”.")
    before = {name: value for name, value in (_decrypted(locked) or {}).items() if name in names}
    after = {name: value for name, value in {**before, **keys}.items() if value}
    if after == before:
        return
    locked.platform_secrets, locked.platform_memory = encrypt_secrets(after), {}
    locked.save(update_fields=["platform_secrets", "platform_memory"])
    if locked.waves.exists():
        ask_for(SYNC, locked.pk)


@sensitive_variables()
def keys_set(campaign: Campaign) -> frozenset[str] | None:
    """Return the names of the keys that the campaign has of its own; None if they cannot be read any more."""
    kept = _decrypted(campaign)
    return None if kept is None else frozenset(kept)


def keys_of_site(campaign: Campaign) -> frozenset[str]:
    """Return the names of the keys that this installation has, for campaigns without their own."""
    platform = get_platform(campaign.platform)
    names = (option.name for option in platform.options if option.is_secret)
    return frozenset(name for name in names if getattr(settings, f"{platform.slug}_{name}".upper(), ""))


@sensitive_variables()
def _decrypted(campaign: Campaign) -> dict[str, str] | None:
    try:
        return decrypt_secrets(campaign.platform_secrets)
    except DomainError:
        return None
