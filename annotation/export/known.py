"""What is known of the outputs and sources that rows are about: read with their HITs, of which a part is kept."""

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any, Generic, TypeVar

from django.db.models import QuerySet

from campaigns.models import Campaign, HitItem
from evalsite.lib.tables.blocks import distinct, spread

_MOST_KEPT = 20_000
K = TypeVar("K")
Cells = tuple[str, ...]
ReadItems = Callable[[QuerySet[HitItem]], Iterable[tuple[K, Cells]]]


class KnownOfHits(Generic[K]):
    """Cells by key, such as an output's; those of the HITs that rows are of are read when some are missing.

    `read` returns those of some items, `unknown` are cells of keys that it does not know. Memory does not grow with the
    campaign, and what is in many HITs is rarely read twice.
    """

    def __init__(self, campaign: Campaign, read: ReadItems[K], unknown: Cells) -> None:
        self._campaign, self._read, self._unknown = campaign, read, unknown
        self._kept: dict[K, Cells] = {}

    def beside(self, keys: Sequence[K], hits: Sequence[Any]) -> list[Sequence[str]]:
        """Return a column for each of the cells of rows with these keys in HITs of these numbers. One query at most."""
        wanted = distinct(keys)
        if not wanted <= self._kept.keys():
            if len(self._kept) > _MOST_KEPT:
                self._kept.clear()
            for key in wanted:
                self._kept.setdefault(key, self._unknown)
            items = HitItem.objects.filter(hit__campaign=self._campaign, hit__number__in=distinct(hits))
            self._kept |= self._read(items)
        cells = spread(keys, self._kept.__getitem__)
        return [spread(cells, itemgetter(k)) for k in range(len(self._unknown))]
