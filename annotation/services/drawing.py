"""Drawing the next HIT of a campaign at random, and with which probability (`campaigns.design.drawing`)."""

import random
from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from django.db.models import QuerySet

from campaigns.design.drawing import draw_probabilities, even_probabilities
from campaigns.models import Hit

_MOST_TRIES = 5
_random = random.SystemRandom()


class Draw(NamedTuple):
    """With which probability a HIT was drawn, and would have been if all free places were equal; None: it was not."""

    probability: float | None = None
    even: float | None = None


def draw_hit(hits: QuerySet[Hit], had: Collection[int]) -> tuple[Hit, Draw] | None:
    """Return one of the HITs, locked, drawn by their weights and free places; first those that were not had.

    One that somebody else is just being given is passed over, and another one drawn from the rest. None if there is
    none, or after some tries. A query, and one for each try.
    """
    rows = list(hits.order_by("pk").values_list("pk", "weight", "n_places_left"))
    rows = [row for row in rows if row[0] not in had] or rows
    for _ in range(min(_MOST_TRIES, len(rows))):
        keys, weights, places = zip(*rows, strict=True)
        probability, even = draw_probabilities(weights, places), even_probabilities(places)
        k = min(int(np.searchsorted(np.cumsum(probability), _random.random(), side="right")), len(rows) - 1)
        locked = hits.filter(pk=keys[k]).select_for_update(skip_locked=True, no_key=True).first()
        if locked:
            return locked, Draw(float(probability[k]), float(even[k]))
        del rows[k]
    return None
