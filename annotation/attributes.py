"""Attributes of a campaign's invited raters, as columns beside what they answered."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from annotation.models import Invitation, Worker
from annotation.worker_names import NameWorker
from campaigns.models import Campaign

_WORKER = ("worker", "rater")


class RaterAttributes(NamedTuple):
    """The names of attributes, in the order of their columns, and each invited rater who has some with their values."""

    names: tuple[str, ...]
    of: list[tuple[Worker, dict[str, str]]]

    def beside(
        self, columns: Sequence[str], rows: Iterable[tuple[Any, ...]], names: NameWorker
    ) -> Iterator[tuple[Any, ...]]:
        """Yield rows of a table with a cell of each attribute at their end, empty for workers without it.

        `columns` are the table's; workers are called in them as `names` does.
        """
        place = next(columns.index(name) for name in _WORKER if name in columns)
        cells = {names(worker): tuple(values.get(name, "") for name in self.names) for worker, values in self.of}
        empty = ("",) * len(self.names)
        for row in rows:
            yield *row, *cells.get(row[place], empty)


def attributes_of(campaign: Campaign) -> RaterAttributes:
    """Return the attributes of a campaign's invited raters. One query."""
    found = Invitation.objects.filter(campaign=campaign).exclude(attribute_values={}).select_related("worker")
    of = [(each.worker, each.attribute_values) for each in found]
    return RaterAttributes(tuple(sorted({name for _, values in of for name in values})), of)
