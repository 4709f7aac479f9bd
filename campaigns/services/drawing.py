"""Weighing HITs by what is undecided, so that those that hold more of it are drawn more often."""

from collections.abc import Iterable, Sequence

from django.db import transaction

from campaigns.design.drawing import weigh_hits
from campaigns.hit_queries import count_outputs
from campaigns.models import Campaign, Hit

_AT_ONCE = 200


def weigh_campaign(*, campaign: Campaign, pairs: Sequence[tuple[int, int]]) -> None:
    """Weigh the HITs of a campaign by the outputs that they hold of these pairs of systems, given by their keys.

    Some HITs in each transaction, locked in the order of keys: workers who are given a HIT meanwhile wait a moment at
    most.
    """
    weights = weigh_hits(count_outputs(campaign), pairs)
    for keys in _chunks(sorted(weights)):
        with transaction.atomic():
            hits = list(Hit.objects.select_for_update(no_key=True).filter(pk__in=keys).order_by("pk").only("weight"))
            changed = [hit for hit in hits if hit.weight != weights[hit.pk]]
            for hit in changed:
                hit.weight = weights[hit.pk]
            Hit.objects.bulk_update(changed, ["weight"])


def _chunks(keys: Sequence[int]) -> Iterable[Sequence[int]]:
    return (keys[begin : begin + _AT_ONCE] for begin in range(0, len(keys), _AT_ONCE))
