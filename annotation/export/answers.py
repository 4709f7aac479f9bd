"""Corrected texts, chosen options, magnitudes and counts of facts, as rows that their analyses read."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import compress
from typing import Any, NamedTuple

from annotation.export.rows import FINISHED, KIND_NAMES, Workers, assignment_chunks, shown_seconds_of
from annotation.models import Assignment
from annotation.queries import answers_on
from annotation.worker_names import NameWorker, hashed_name
from campaigns.contracts.response import Subject
from campaigns.design.composition import Kind
from campaigns.models import Campaign, Criterion, HitItem
from evalsite.lib.column_queries import read_columns
from evalsite.lib.disk_sets import DiskSet
from evalsite.lib.tables.blocks import Block, in_blocks, in_rows

_BEGINNING = ("worker", "assignment", "hit", "position", "source", "system", "kind")
EDIT_COLUMNS = (*_BEGINNING, "criterion", "output", "edited", "seconds", "keystrokes")
ANSWER_COLUMNS = (*_BEGINNING, "criterion", "answer", "correct", "seconds")
MAGNITUDE_COLUMNS = (*_BEGINNING, "criterion", "value", "reference")
COUNTS = ("present", "correct", "missing")
COUNT_COLUMNS = (*_BEGINNING, *COUNTS)
_ANSWERS_AT_ONCE = 400  # few, as texts may be long


class _Item(NamedTuple):
    position: int
    kind: int
    text: str
    page: int | None
    output: int
    source: str
    system: str
    fields: dict[str, str]


class _Answered(NamedTuple):
    """Answers of some assignments: how their rows begin, their values and items, how long pages were shown.

    `places`: of their criteria among `criteria`. `seconds`: of pages with one output, where the browser reported it.
    """

    beginning: Block
    criteria: Sequence[Criterion]
    places: Sequence[int]
    values: Sequence[Any]
    items: Sequence[_Item]
    seconds: Sequence[float | None]

    def block(self, *, has_seconds: bool = False) -> Block:
        """Return the rows of answers of which their kind says something, with it at their end."""
        says = [(each.response_kind.cells, each.settings) for each in self.criteria]
        cells = [
            cells_of(value, settings, Subject((item.text,), item.fields))
            for (cells_of, settings), value, item in zip(
                map(says.__getitem__, self.places), self.values, self.items, strict=True
            )
        ]
        is_row, asked = [each is not None for each in cells], [self.criteria[place].name for place in self.places]
        columns = [*self.beginning, asked, *([self.seconds] if has_seconds else [])]
        if not all(is_row):
            columns = [list(compress(column, is_row)) for column in columns]
        said = list(zip(*(each for each in cells if each is not None), strict=True))
        at = len(self.beginning) + 1
        return [*columns[:at], *said, *columns[at:]] if any(is_row) else []


def edit_blocks(
    campaign: Campaign,
    *,
    states: Collection[str] = FINISHED,
    names: NameWorker = hashed_name,
    workers: Workers = None,
) -> Iterator[Block]:
    """Yield each corrected text, without those that were erased, with the columns EDIT_COLUMNS.

    `seconds` are in the box.
    """
    return _blocks(_answered(campaign, "edits", states, names, workers))


def answer_blocks(
    campaign: Campaign,
    *,
    states: Collection[str] = FINISHED,
    names: NameWorker = hashed_name,
    workers: Workers = None,
) -> Iterator[Block]:
    """Yield each choice of options, with the columns ANSWER_COLUMNS; `seconds`: how long its page was shown."""
    return _blocks(_answered(campaign, "answers", states, names, workers, has_seconds=True), has_seconds=True)


def magnitude_blocks(
    campaign: Campaign,
    *,
    states: Collection[str] = FINISHED,
    names: NameWorker = hashed_name,
    workers: Workers = None,
) -> Iterator[Block]:
    """Yield each number above 0, with the columns MAGNITUDE_COLUMNS; `reference`: the number that the reference has."""
    return _blocks(_answered(campaign, "magnitudes", states, names, workers))


def _blocks(answered: Iterable[_Answered], *, has_seconds: bool = False) -> Iterator[Block]:
    return filter(None, (each.block(has_seconds=has_seconds) for each in answered))


def count_blocks(
    campaign: Campaign,
    *,
    states: Collection[str] = FINISHED,
    names: NameWorker = hashed_name,
    workers: Workers = None,
) -> Iterator[Block]:
    """Yield the facts that were counted of each output, where a worker gave all, with the columns COUNT_COLUMNS."""
    return in_blocks(_counts(_answered(campaign, "counts", states, names, workers)))


def _counts(answered: Iterable[_Answered]) -> Iterator[tuple[Any, ...]]:
    beginning: tuple[Any, ...] = ()
    counts: dict[str, Any] = {}
    for each in answered:
        named = [criterion.name.casefold() for criterion in each.criteria]
        for begins, place, value in zip(in_rows([each.beginning]), each.places, each.values, strict=True):
            if begins[:5] != beginning[:5]:
                yield from _whole(beginning, counts)
                beginning, counts = begins, {}
            counts[named[place]] = value
    yield from _whole(beginning, counts)


def _whole(beginning: tuple[Any, ...], counts: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    if counts.keys() >= set(COUNTS):
        yield *beginning, *(counts[name] for name in COUNTS)


def _answered(
    campaign: Campaign,
    table: str,
    states: Collection[str],
    names: NameWorker,
    workers: Workers,
    *,
    has_seconds: bool = False,
) -> Iterator[_Answered]:
    """Yield the values of criteria about one system whose kind is in a table, by assignment, position and criterion.

    What a worker answers on an output again, in another HIT, is of a repeat. Each reply of a chat, or of an output, is
    its own source. A few answers at a time, as their texts may be long.
    """
    found = campaign.criteria.filter(scope__in=campaign.scopes_of_systems)
    criteria = [each for each in found if each.response_kind.is_in(table, each.settings)]
    order = {criterion.pk: place for place, criterion in enumerate(criteria)}
    with DiskSet() as seen:
        for assignments in assignment_chunks(campaign, states, workers=workers):
            shown = shown_seconds_of(assignments) if has_seconds else {}
            known = {each.pk: (names(each.worker), each.hit.number, each.worker_id) for each in assignments}
            rows = _rows(assignments, order)
            for first in range(0, len(rows), _ANSWERS_AT_ONCE):
                ids, items, turns, places, pks, values = zip(*rows[first : first + _ANSWERS_AT_ONCE], strict=True)
                kinds = _kinds(campaign, seen, [known[pk][2] for pk in ids], items, turns, places)
                yield _Answered(
                    [
                        *([known[pk][0] for pk in ids], ids, [known[pk][1] for pk in ids]),
                        *([item.position for item in items], _sources(campaign, ids, items, turns)),
                        *([item.system for item in items], kinds),
                    ],
                    criteria,
                    places,
                    values,
                    items,
                    [
                        shown[pk].get(key) if has_seconds and item.page is None else None
                        for pk, key, item in zip(ids, pks, items, strict=True)
                    ],
                )


def _rows(assignments: Sequence[Assignment], order: Mapping[int, int]) -> list[tuple[int, _Item, int, int, int, Any]]:
    """Return the answers of assignments to criteria, whose places `order` has, by assignment, position, turn and place.

    Each with its assignment, item, turn, place, the item's id, and value.
    """
    items = _items_of({each.hit_id for each in assignments})
    given = answers_on(order, assignments).filter(value__isnull=False)
    columns = read_columns(given.order_by(), "assignment", "item", "turn", "criterion", "value")
    rows = [
        (pk, items[item], turn, order[criterion], item, value)
        for pk, item, turn, criterion, value in zip(*columns, strict=True)
    ]
    return sorted(rows, key=lambda row: (row[0], row[1].position, row[2], row[3]))


def _kinds(
    campaign: Campaign,
    seen: DiskSet,
    workers: Sequence[int],
    items: Sequence[_Item],
    turns: Sequence[int],
    places: Sequence[int],
) -> list[str]:
    """Return the kind of each answer: a repeat if its worker's, on this output, has been seen before."""
    may_be_again = [
        item.kind == Kind.ORDINARY and not (turn and campaign.is_live) for item, turn in zip(items, turns, strict=True)
    ]
    answers = compress(zip(workers, items, places, turns, strict=True), may_be_again)
    is_new = iter(seen.add_all([f"{worker} {item.output} {place} {turn}" for worker, item, place, turn in answers]))
    return [
        KIND_NAMES[Kind.REPEAT if may_be and not next(is_new) else item.kind]
        for may_be, item in zip(may_be_again, items, strict=True)
    ]


def _sources(campaign: Campaign, ids: Sequence[int], items: Sequence[_Item], turns: Sequence[int]) -> list[str]:
    """Return the source of each answer, by assignment, item and turn."""
    sources = [item.source for item in items]
    if not any(turns):
        return sources
    chats = zip(ids, (item.position for item in items), strict=True) if campaign.is_live else zip(sources, strict=True)
    return [
        ".".join(map(str, (*chat, turn))) if turn else source
        for chat, turn, source in zip(chats, turns, sources, strict=True)
    ]


def _items_of(hits: set[int]) -> dict[int, _Item]:
    rows = HitItem.objects.filter(hit__in=hits).order_by()
    source, system = "output__source__", "output__system__name"
    columns = ("position", "kind", "text", "page", "output_id", f"{source}name", system, f"{source}fields")
    found = rows.values_list("pk", "fields", *columns).iterator()
    return {pk: _Item(*(row if own is None else [*row[:-1], own])) for pk, own, *row in found}
