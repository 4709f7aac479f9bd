"""Attributes of a campaign's invited raters and its sources, and what assignments weigh, as columns beside what was
answered."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from django.db.models import QuerySet

from annotation.export.known import Cells, KnownOfHits
from annotation.export.style import NO_STYLE, OutputStyle, style_of
from annotation.models import Assignment, Invitation, Worker
from annotation.worker_names import NameWorker
from campaigns.contracts.attributes import DRAW_WEIGHT, plain_attribute
from campaigns.design.drawing import draw_weights
from campaigns.models import Campaign, HitItem
from evalsite.lib.tables.blocks import Block, spread

_WORKER, _SOURCE = ("worker", "rater"), ("seg_id", "source")


class ResponseAttributes(NamedTuple):
    """What is known of raters, and of sources by name, in the order of `names_of_raters` and `names_of_sources`.

    `weights`: what answers of each finished assignment weigh, by its id; none if no HIT was drawn at random. `style`:
    that of the outputs.
    """

    names_of_raters: tuple[str, ...]
    raters: list[tuple[Worker, tuple[str, ...]]]
    names_of_sources: tuple[str, ...]
    sources: KnownOfHits[str]
    weights: Mapping[int, float]
    style: OutputStyle

    def columns(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return the columns of a table, with those of outputs, raters and sources at their end."""
        return *columns, *self.style.names(columns), *self.names

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns; an attribute of raters is called so where sources have one of its name."""
        of_sources = {plain_attribute(name) for name in self.names_of_sources}
        of_raters = (f"rater {name}" if plain_attribute(name) in of_sources else name for name in self.names_of_raters)
        return *of_raters, *self.names_of_sources, *([DRAW_WEIGHT] if self.weights else [])

    def beside(self, columns: Sequence[str], blocks: Iterable[Block], names: NameWorker) -> Iterator[Block]:
        """Yield blocks of a table with the cells of `columns` at their end, empty where they are not known.

        `columns` are the table's own; workers are called in them as `names` does.
        """
        worker, source = (next(columns.index(name) for name in of if name in columns) for of in (_WORKER, _SOURCE))
        of_worker = {names(worker): cells for worker, cells in self.raters}
        assignment, hit = columns.index("assignment"), columns.index("hit")
        no_rater = ("",) * len(self.names_of_raters)
        for block in blocks:
            of_outputs = self.style.beside(columns, block[source], block)
            of_raters = _unzipped(block[worker], of_worker, no_rater)
            of_sources = self.sources.beside(block[source], block[hit]) if self.names_of_sources else []
            of_draw = [spread(block[assignment], lambda pk: self.weights.get(pk, ""))] if self.weights else []
            yield [*block, *of_outputs, *of_raters, *of_sources, *of_draw]


def _unzipped(
    column: Sequence[Any], known: Mapping[str, tuple[str, ...]], unknown: tuple[str, ...]
) -> Iterator[Sequence[str]]:
    """Yield a column for each of the cells that are known of the values of `column`."""
    cells = spread(column, lambda each: known.get(each, unknown))
    return (spread(cells, itemgetter(k)) for k in range(len(unknown)))


def attributes_of(campaign: Campaign, *, has_style: bool = True) -> ResponseAttributes:
    """Return the attributes of a campaign's invited raters, sources and outputs, and what its assignments weigh.

    `has_style`: whether tables have the style of outputs, for which texts are read with their rows. Three queries, two
    more where HITs were drawn at random.
    """
    invited = Invitation.objects.filter(campaign=campaign).exclude(attribute_values={}).select_related("worker")
    raters = [(each.worker, each.attribute_values) for each in invited]
    known = campaign.sources.exclude(attribute_values={}).order_by()
    drawn = Assignment.objects.filter(campaign=campaign, state=Assignment.State.FINISHED).order_by()
    is_drawn = drawn.filter(draw_probability__isnull=False).exists()
    names = _names(values for _, values in raters)
    of_sources = _names(known.values_list("attribute_values", flat=True).iterator())

    def read_sources(items: "QuerySet[HitItem]") -> Iterator[tuple[str, Cells]]:
        found = known.filter(pk__in=items.values("output__source")).values_list("name", "attribute_values")
        return ((name, _cells(values, of_sources)) for name, values in found.iterator())

    return ResponseAttributes(
        names,
        [(worker, _cells(values, names)) for worker, values in raters],
        of_sources,
        KnownOfHits(campaign, read_sources, ("",) * len(of_sources)),
        weigh_draws(campaign, drawn.values_list(*DRAWN)) if is_drawn else {},
        style_of(campaign) if has_style else NO_STYLE,
    )


DRAWN = ("pk", "started_at", "draw_probability", "even_probability")
"""The columns of an assignment that say what its answers weigh."""
_Drawn = tuple[int, datetime, float | None, float | None]


def weigh_draws(campaign: Campaign, drawn: Iterable[_Drawn]) -> dict[int, float]:
    """Return what the answers of assignments weigh, by id; none if no HIT was drawn at random. One query if one was.

    `drawn`: the columns `DRAWN` of all assignments whose answers are analysed.
    """
    order = sorted(drawn, key=lambda row: (row[1], row[0]))
    if all(probability is None for _, _, probability, _ in order):
        return {}
    probability, even = (np.array([row[k] for row in order], np.float64) for k in (2, 3))  # NaN for None
    weights = draw_weights(probability, even, campaign.hits.count() * campaign.workers_per_hit).round(9)
    return dict(zip((row[0] for row in order), weights.tolist(), strict=True))


def _names(found: Iterable[Mapping[str, str]]) -> tuple[str, ...]:
    return tuple(sorted({name for values in found for name in values}))


def _cells(values: Mapping[str, str], names: Sequence[str]) -> tuple[str, ...]:
    return tuple(values.get(name, "") for name in names)
