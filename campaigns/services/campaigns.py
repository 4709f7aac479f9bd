"""Making campaigns and telling what may still be changed."""

import secrets

from django.db import transaction

from campaigns.contracts.protocol import CriterionSpec
from campaigns.models import Campaign, Criterion, Membership
from campaigns.platforms import get_platform
from campaigns.protocols import get_protocol
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError

_SEED_BITS = 31


@transaction.atomic
def create_campaign(*, owner: User, protocol: str, name: str = "") -> Campaign:
    """Make a draft with everything that its protocol presets; raise DomainError `unknown_protocol`."""
    preset = get_protocol(protocol)
    mix = preset.mix
    campaign = Campaign.objects.create(
        name=name.strip() or preset.title,
        protocol=preset.slug,
        screen=preset.screen.to_json(),
        instructions=preset.instructions,
        n_ordinary=mix.n_ordinary,
        n_degraded=mix.n_degraded,
        n_repeat=mix.n_repeat,
        n_reference=mix.n_reference,
        layout=mix.layout.value,
        has_anchor=mix.has_anchor,
        seed=secrets.randbits(_SEED_BITS),
        worker_test=preset.worker_test,
        alpha=preset.alpha,
        platform_settings={option.name: option.default for option in get_platform("link").options},
    )
    Membership.objects.create(campaign=campaign, user=owner, role=Membership.Role.OWNER)
    Criterion.objects.bulk_create(_criterion(campaign, order, spec) for order, spec in enumerate(preset.criteria))
    return campaign


def _criterion(campaign: Campaign, order: int, spec: CriterionSpec) -> Criterion:
    return Criterion(
        campaign=campaign,
        order=order,
        name=spec.name,
        statement=spec.statement,
        is_negative=spec.is_negative,
        is_in_worker_test=spec.is_in_worker_test,
    )


def lock_for_change(campaign: Campaign) -> Campaign:
    """Return the campaign, locked until the transaction ends, to change what workers see or what HITs are made of.

    Raises DomainError `frozen` once it was launched.
    """
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if locked.is_launched:
        raise DomainError(
            "frozen",
            "Workers have seen this campaign, so what they see is frozen. Duplicate it to run a changed version.",
        )
    return locked


def mark_unbuilt(campaign: Campaign) -> None:
    """Note, inside the change's transaction, that HITs no longer follow from what the campaign holds."""
    Campaign.objects.filter(pk=campaign.pk, status=Campaign.Status.READY).update(status=Campaign.Status.DRAFT)
    campaign.refresh_from_db(fields=["status"])
