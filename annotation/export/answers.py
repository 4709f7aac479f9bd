"""Corrected texts, chosen options, magnitudes and counts of facts, as rows that their analyses read."""

from collections.abc import Collection, Iterator
from operator import itemgetter
from typing import Any, NamedTuple

from annotation.export.rows import FINISHED, KIND_NAMES, Workers, assignment_chunks, shown_seconds_of
from annotation.models import Response
from annotation.worker_names import NameWorker, hashed_name
from campaigns.contracts.response import Subject
from campaigns.design.composition import Kind
from campaigns.models import Campaign, Criterion, HitItem
from evalsite.lib.disk_sets import DiskSet

_BEGINNING = ("worker", "assignment", "hit", "position", "source", "system", "kind")
EDIT_COLUMNS = (*_BEGINNING, "criterion", "output", "edited", "seconds", "keystrokes")
ANSWER_COLUMNS = (*_BEGINNING, "criterion", "answer", "correct", "seconds")
MAGNITUDE_COLUMNS = (*_BEGINNING, "criterion", "value", "reference")
COUNTS = ("present", "correct", "missing")
COUNT_COLUMNS = (*_BEGINNING, *COUNTS)


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
    """A value, how a row of it begins, and how long its page was shown, if it has one output."""

    beginning: tuple[Any, ...]
    criterion: Criterion
    value: Any
    item: _Item
    seconds: float | None

    @property
    def cells(self) -> tuple[Any, ...] | None:
        """What its kind says of it."""
        subject = Subject((self.item.text,), self.item.fields)
        return self.criterion.response_kind.cells(self.value, self.criterion.settings, subject)


def iter_edits(
    campaign: Campaign,
    *,
    states: Collection[str] = FINISHED,
    names: NameWorker = hashed_name,
    workers: Workers = None,
) -> Iterator[tuple[Any, ...]]:
    """Yield each corrected text as a row of EDIT_COLUMNS, without those that were erased; `seconds` are in the box."""
    for each in _answered(campaign, "edits", states, names, workers):
        if (cells := each.cells) is not None:
            yield *each.beginning, each.criterion.name, *cells


def iter_answers(
    campaign: Campaign,
    *,
    states: Collection[str] = FINISHED,
    names: NameWorker = hashed_name,
    workers: Workers = None,
) -> Iterator[tuple[Any, ...]]:
    """Yield each choice of options as a row of ANSWER_COLUMNS; `seconds`: how long its page was shown."""
    for each in _answered(campaign, "answers", states, names, workers):
        if (cells := each.cells) is not None:
            yield *each.beginning, each.criterion.name, *cells, each.seconds


def iter_magnitudes(
    campaign: Campaign,
    *,
    states: Collection[str] = FINISHED,
    names: NameWorker = hashed_name,
    workers: Workers = None,
) -> Iterator[tuple[Any, ...]]:
    """Yield each number above 0 as a row of MAGNITUDE_COLUMNS; `reference`: the number that the reference has."""
    for each in _answered(campaign, "magnitudes", states, names, workers):
        if (cells := each.cells) is not None:
            yield *each.beginning, each.criterion.name, *cells


def iter_counts(
    campaign: Campaign,
    *,
    states: Collection[str] = FINISHED,
    names: NameWorker = hashed_name,
    workers: Workers = None,
) -> Iterator[tuple[Any, ...]]:
    """Yield the facts that were counted of each output as a row of COUNT_COLUMNS, where a worker gave all of them."""
    beginning: tuple[Any, ...] = ()
    counts: dict[str, Any] = {}
    for each in _answered(campaign, "counts", states, names, workers):
        if each.beginning[:5] != beginning[:5]:
            yield from _whole(beginning, counts)
            beginning, counts = each.beginning, {}
        counts[each.criterion.name.casefold()] = each.value
    yield from _whole(beginning, counts)


def _whole(beginning: tuple[Any, ...], counts: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    if counts.keys() >= set(COUNTS):
        yield *beginning, *(counts[name] for name in COUNTS)


def _answered(
    campaign: Campaign, table: str, states: Collection[str], names: NameWorker, workers: Workers
) -> Iterator[_Answered]:
    """Yield the values of criteria about one system whose kind is in a table, by assignment, position and criterion.

    What a worker answers on an output again, in another HIT, is of a repeat. Each reply of a chat, or of an output, is
    its own source.
    """
    found = campaign.criteria.filter(scope__in=campaign.scopes_of_systems)
    criteria = [each for each in found if each.response_kind.is_in(table, each.settings)]
    order = {criterion.pk: place for place, criterion in enumerate(criteria)}
    with DiskSet() as seen:
        for assignments in assignment_chunks(campaign, states, workers=workers):
            items = _items_of({each.hit_id for each in assignments})
            shown = shown_seconds_of(assignments)
            values: dict[int, list[tuple[int, int, int, int, Any]]] = {each.pk: [] for each in assignments}
            given = Response.objects.filter(assignment__in=assignments, criterion__in=criteria, value__isnull=False)
            rows = given.order_by().values_list("assignment", "item", "turn", "criterion", "value")
            for assignment, item_id, turn, criterion_id, value in rows.iterator():
                values[assignment].append((items[item_id].position, turn, order[criterion_id], item_id, value))
            for each in assignments:
                worker = names(each.worker)
                for position, turn, place, item_id, value in sorted(values[each.pk], key=itemgetter(0, 1, 2)):
                    item = items[item_id]
                    may_be_again = not (turn and campaign.is_live) and item.kind == Kind.ORDINARY
                    is_again = may_be_again and not seen.add(f"{each.worker_id} {item.output} {place} {turn}")
                    kind = KIND_NAMES[Kind.REPEAT if is_again else item.kind]
                    chat = f"{each.pk}.{position}" if campaign.is_live else item.source
                    source = f"{chat}.{turn}" if turn else item.source
                    beginning = worker, each.pk, each.hit.number, position, source, item.system, kind
                    seconds = shown[each.pk].get(item_id) if item.page is None else None
                    yield _Answered(beginning, criteria[place], value, item, seconds)


def _items_of(hits: set[int]) -> dict[int, _Item]:
    rows = HitItem.objects.filter(hit__in=hits).order_by()
    source, system = "output__source__", "output__system__name"
    columns = ("position", "kind", "text", "page", "output_id", f"{source}name", system, f"{source}fields")
    found = rows.values_list("pk", "fields", *columns).iterator()
    return {pk: _Item(*(row if own is None else [*row[:-1], own])) for pk, own, *row in found}
