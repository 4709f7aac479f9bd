"""Attributes of a campaign's invited raters and its sources, as columns beside what was answered."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from annotation.models import Invitation, Worker
from annotation.worker_names import NameWorker
from campaigns.contracts.attributes import plain_attribute
from campaigns.models import Campaign

_WORKER, _SOURCE = ("worker", "rater"), ("seg_id", "source")


class ResponseAttributes(NamedTuple):
    """What is known of raters, and of sources by name, in the order of `names_of_raters` and `names_of_sources`."""

    names_of_raters: tuple[str, ...]
    raters: list[tuple[Worker, tuple[str, ...]]]
    names_of_sources: tuple[str, ...]
    sources: dict[str, tuple[str, ...]]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns; an attribute of raters is called so where sources have one of its name."""
        of_sources = {plain_attribute(name) for name in self.names_of_sources}
        of_raters = (f"rater {name}" if plain_attribute(name) in of_sources else name for name in self.names_of_raters)
        return *of_raters, *self.names_of_sources

    def beside(
        self, columns: Sequence[str], rows: Iterable[tuple[Any, ...]], names: NameWorker
    ) -> Iterator[tuple[Any, ...]]:
        """Yield rows of a table with a cell of each attribute at their end, empty where it is not known.

        `columns` are the table's; workers are called in them as `names` does.
        """
        worker, source = (next(columns.index(name) for name in of if name in columns) for of in (_WORKER, _SOURCE))
        of_worker = {names(worker): cells for worker, cells in self.raters}
        no_rater, no_source = ("",) * len(self.names_of_raters), ("",) * len(self.names_of_sources)
        for row in rows:
            yield *row, *of_worker.get(row[worker], no_rater), *self.sources.get(row[source], no_source)


def attributes_of(campaign: Campaign) -> ResponseAttributes:
    """Return the attributes of a campaign's invited raters and sources. Two queries."""
    invited = Invitation.objects.filter(campaign=campaign).exclude(attribute_values={}).select_related("worker")
    raters = [(each.worker, each.attribute_values) for each in invited]
    known = campaign.sources.exclude(attribute_values={}).order_by()
    sources = list(known.values_list("name", "attribute_values").iterator())
    names, of_sources = (_names(values for _, values in found) for found in (raters, sources))
    return ResponseAttributes(
        names,
        [(worker, _cells(values, names)) for worker, values in raters],
        of_sources,
        {name: _cells(values, of_sources) for name, values in sources},
    )


def _names(found: Iterable[Mapping[str, str]]) -> tuple[str, ...]:
    return tuple(sorted({name for values in found for name in values}))


def _cells(values: Mapping[str, str], names: Sequence[str]) -> tuple[str, ...]:
    return tuple(values.get(name, "") for name in names)
