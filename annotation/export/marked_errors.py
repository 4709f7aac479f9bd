"""What workers marked, as rows of MQM files: one for each error, and one for an output in which they found none."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from annotation.export.rows import FINISHED, KIND_NAMES, SCORE_COLUMNS, Workers, assignment_chunks, score_chunks
from annotation.queries import answers_on
from annotation.worker_names import NameWorker, hashed_name
from campaigns.contracts.protocol import Screen
from campaigns.contracts.response import Subject
from campaigns.models import Campaign, Criterion, HitItem
from evalsite.lib.column_queries import read_columns
from evalsite.lib.tables.blocks import Block, Coded, spread

SPAN_COLUMNS = (
    *("system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity"),
    *("comment", "kind", "assignment", "hit", "position", "criterion"),
)
"""The columns of public MQM files, then others. The error stands between `<v>` and `</v>`, in `source` or `target`."""
RATED_SPAN_COLUMNS = (*SCORE_COLUMNS, "document", "errors")
"""Scores, each with the errors that its worker marked in the same output, as JSON; empty where none were asked for."""
TABLE = "spans"
"""What response kinds and methods call the table of marked errors."""
_TARGET, _SOURCE = "target", "source"
_NO_ERROR, _OTHER, _OMISSION = "No-error", "Other", "Omission"
_ANSWERS_AT_ONCE = 200  # few, as texts may be long
_MARK = re.compile(r"</?v>")


class _Item(NamedTuple):
    position: int
    text: str
    source: str
    document: str
    system: str
    kind: int
    fields: Mapping[str, str]


def span_blocks(
    campaign: Campaign,
    *,
    states: Collection[str] = FINISHED,
    names: NameWorker = hashed_name,
    workers: Workers = None,
) -> Iterator[Block]:
    """Yield what was marked in assignments in these states, with the columns SPAN_COLUMNS; a few answers at a time.

    Rows are ordered by assignment, position, criterion and text. `doc` and `seg_id` are the document and the name of
    the source. Errors without a category are called “Other”, what is missing “Omission”.
    """
    criteria = {each.pk: each for each in span_criteria(campaign)}
    order = {criterion: place for place, criterion in enumerate(criteria)}
    screen = Screen.from_json(campaign.screen)
    for assignments in assignment_chunks(campaign, states, workers=workers):
        items = _items_of(each.hit_id for each in assignments)
        known = {each.pk: (names(each.worker), each.hit.number) for each in assignments}
        found = answers_on(criteria, assignments).filter(value__isnull=False)
        columns = read_columns(found.order_by(), "assignment", "item", "criterion", "value")
        rows = sorted(zip(*columns, strict=True), key=lambda row: (row[0], items[row[1]].position, order[row[2]]))
        texts: dict[tuple[int, int], tuple[str, str]] = {}
        for first in range(0, len(rows), _ANSWERS_AT_ONCE):
            ids, pks, asked, values = zip(*rows[first : first + _ANSWERS_AT_ONCE], strict=True)
            shown = [items[pk] for pk in pks]
            errors: list[tuple[str, str, str, str, str]] = []
            n_errors: list[int] = []
            for pk, item, criterion, value in zip(pks, shown, asked, values, strict=True):
                if (pk, criterion) not in texts:
                    texts[pk, criterion] = _texts(criteria[criterion], item, screen)
                marked = _errors(*texts[pk, criterion], value or [])
                errors += marked
                n_errors.append(len(marked))
            codes = np.repeat(np.arange(len(ids)), n_errors)
            about = [each.system for each in shown], [each.document for each in shown], [""] * len(ids)
            other = (
                *([KIND_NAMES[each.kind] for each in shown], ids, [known[pk][1] for pk in ids]),
                *([each.position for each in shown], [criteria[pk].name for pk in asked]),
            )
            of_answers = (*about, [each.source for each in shown], [known[pk][0] for pk in ids], *other)
            coded = [Coded(column, codes) for column in of_answers]
            yield [*coded[:5], *zip(*errors, strict=True), *coded[5:]]


def rated_span_blocks(
    campaign: Campaign,
    *,
    states: Collection[str] = FINISHED,
    names: NameWorker = hashed_name,
    workers: Workers = None,
) -> Iterator[Block]:
    """Yield every score of assignments in these states, as `score_blocks` does, with the columns RATED_SPAN_COLUMNS."""
    criteria = [each.pk for each in span_criteria(campaign)]
    ids, positions, named = map(SCORE_COLUMNS.index, ("assignment", "position", "source"))
    for assignments, block in score_chunks(campaign, states=states, names=names, workers=workers):
        items = HitItem.objects.filter(hit__in={each.hit_id for each in assignments}).order_by()
        documents = dict(items.values_list("output__source__name", "output__source__document").distinct())
        marked: dict[tuple[int, int], list[Any]] = {}
        found = answers_on(criteria, assignments).filter(value__isnull=False)
        answers = found.order_by("assignment", "item", "criterion", "turn")
        for assignment, position, value in zip(
            *read_columns(answers, "assignment", "item__position", "value"), strict=True
        ):
            marked.setdefault((assignment, position), []).extend(value or [])
        written = {key: json.dumps(errors, ensure_ascii=False) for key, errors in marked.items()}
        errors = [written.get(key, "") for key in zip(block[ids], block[positions], strict=True)]
        yield [*block, spread(block[named], documents.__getitem__), errors]


def span_criteria(campaign: Campaign) -> list[Criterion]:
    """Return the criteria for which workers mark errors. One query."""
    return [each for each in campaign.criteria.all() if each.response_kind.table == TABLE]


def _items_of(hits: Iterable[int]) -> dict[int, _Item]:
    rows = HitItem.objects.filter(hit__in=set(hits)).order_by()
    source, system = "output__source__", "output__system__name"
    columns = "position", "text", f"{source}name", f"{source}document", system, "kind", f"{source}fields"
    found = rows.values_list("pk", "fields", *columns).iterator()
    return {pk: _Item(*(row if own is None else [*row[:-1], own])) for pk, own, *row in found}


def _texts(criterion: Criterion, item: _Item, screen: Screen) -> tuple[str, str]:
    """Return the source and the target in which errors are marked."""
    texts = criterion.response_kind.marked_texts(criterion.settings, Subject((item.text,), item.fields))
    shown = (item.fields.get(field.name, "") for field in screen.fields if field.is_shown)
    return texts.get(_SOURCE) or next(filter(None, shown), ""), texts[_TARGET]


def _errors(source: str, target: str, value: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, str, str, str]]:
    """Return source and target with the mark of each error, its category, severity and comment."""
    plain_source, plain_target = _plain(source), _plain(target)
    if not value:
        return [(plain_source, plain_target, _NO_ERROR, _NO_ERROR, "")]
    return [
        (
            _marked(source, each) if each["side"] == _SOURCE else plain_source,
            _marked(target, each) if each["side"] == _TARGET else plain_target,
            each["category"] or (_OMISSION if each["start"] is None else _OTHER),
            each["severity"],
            each["comment"],
        )
        for each in value
    ]


def _marked(text: str, error: Mapping[str, Any]) -> str:
    start, end = error["start"], error["end"]
    return f"{_plain(text[:start])}<v>{_plain(text[start:end])}</v>{_plain(text[end:])}"


def _plain(text: str) -> str:
    """Return a text in which nothing looks like a mark."""
    return _MARK.sub(lambda found: found[0].replace("v", "v "), text)
