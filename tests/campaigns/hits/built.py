"""HITs in the database, as they are built."""

from collections.abc import Callable

import pytest
from django.db import transaction

from campaigns.design.composition import Kind
from campaigns.models import Campaign, HitItem
from campaigns.services.hits import execute_build
from evalsite.lib.errors import DomainError

Rows = list[tuple[int, int, int, str, str, int | None, str]]


def build(campaign: Campaign, on_progress: Callable[[int, int, str], None] = lambda *_: None) -> Campaign:
    """Build the HITs, as the job does, and return the campaign as it is then."""
    execute_build(campaign=campaign, on_progress=on_progress, saving=transaction.atomic)
    campaign.refresh_from_db()
    return campaign


def rows_of(campaign: Campaign) -> Rows:
    """Return the items without keys: what they are, whose, and what is shown."""
    items = HitItem.objects.filter(hit__campaign=campaign).order_by("hit__number", "position")
    return list(
        items.values_list(
            "hit__number", "position", "kind", "output__source__name", "output__system__name", "twin_position", "text"
        )
    )


def hits_of(campaign: Campaign) -> list[list[HitItem]]:
    """Return the items of each HIT by position."""
    items = HitItem.objects.filter(hit__campaign=campaign).select_related("output__system", "output__source")
    by_hit: dict[int, list[HitItem]] = {}
    for item in items.order_by("hit__number", "position"):
        by_hit.setdefault(item.hit_id, []).append(item)
    return list(by_hit.values())


def of_kind(items: list[HitItem], kind: Kind) -> list[HitItem]:
    return [item for item in items if item.kind == kind]


def refused(campaign: Campaign) -> DomainError:
    """Return why the HITs cannot be built."""
    with pytest.raises(DomainError) as caught:
        build(campaign)
    return caught.value
