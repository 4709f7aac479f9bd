"""Naming systems, and saying which one is human."""

from django.db import transaction

from campaigns.models import Campaign, System
from campaigns.services.campaigns import lock_for_change, mark_unbuilt
from evalsite.lib.errors import DomainError


@transaction.atomic
def rename_system(*, campaign: Campaign, system: System, name: str) -> None:
    """Give a system another name. Built HITs stay: they hold outputs, not names.

    Raises DomainError `frozen`, or `name_taken` by another system.
    """
    lock_for_change(campaign)
    if campaign.systems.filter(name=name).exclude(pk=system.pk).exists():
        raise DomainError("name_taken", f"Another system is called “{name}”. Systems need different names.")
    campaign.systems.filter(pk=system.pk).update(name=name)


@transaction.atomic
def mark_human(*, campaign: Campaign, system: System | None) -> None:
    """Say which system is human; None for none. HITs must be built again if that changes.

    Raises DomainError `frozen`.
    """
    locked = lock_for_change(campaign)
    before = campaign.systems.filter(is_human=True).first()
    if before == system:
        return
    campaign.systems.filter(is_human=True).update(is_human=False)
    if system:
        campaign.systems.filter(pk=system.pk).update(is_human=True)
    mark_unbuilt(locked)
