"""Opening the account that a campaign is published and paid with."""

from django.views.decorators.debug import sensitive_variables

from campaigns.contracts.account import CrowdAccount
from campaigns.models import Campaign
from campaigns.platforms import get_platform
from evalsite.lib.encryption import decrypt_secrets


@sensitive_variables()
def open_account(campaign: Campaign) -> CrowdAccount:
    """Return the account of a campaign's platform.

    Raises DomainError `no_account` on a platform without one, `no_keys` or `encrypted_with_another_key`.
    """
    return get_platform(campaign.platform).open_account(campaign.ref, decrypt_secrets(campaign.platform_secrets))
