"""Everything that workers left, as rows, at any moment of a campaign.

Rows come in chunks of whole assignments, each read by a few queries: memory does not grow with the campaign, nothing is
locked, and no cursor stays open on either database.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Case, Q, When

from annotation.models import Assignment, Event, Response
from annotation.monitoring.progress import shown_seconds
from annotation.worker_names import NameWorker, hashed_name
from campaigns.contracts.protocol import Scope
from campaigns.design.composition import KINDS
from campaigns.methods import methods, reads
from campaigns.models import Campaign, HitItem
from evalsite.lib.column_queries import read_columns
from evalsite.lib.tables.blocks import Block, spread, spread_any

State = Assignment.State

FINISHED: tuple[str, ...] = (State.FINISHED,)
ALL_STATES: tuple[str, ...] = tuple(State.values)

RATING_COLUMNS = (
    *("worker", "assignment", "hit", "position", "source", "system", "kind", "criterion", "score"),
    *("state", "rated_at", "seconds", "response", "abstained", "page", "turn"),
)
SCORE_COLUMNS = RATING_COLUMNS[: RATING_COLUMNS.index("score") + 1]
REPLY_SCORE_COLUMNS = (*SCORE_COLUMNS, "turn")
ASSIGNMENT_COLUMNS = (
    *("assignment", "worker", "hit", "state", "items_rated", "items", "accessible"),
    *("started", "last_rated", "ended", "seconds", "feedback", "consent_version", "consented_at"),
    *("draw_probability", "even_probability"),
)
CODE_COLUMN = "completion_code"
EVENT_COLUMNS = ("assignment", "worker", "hit", "position", "event", "at", "data")
ITEM_COLUMNS = ("hit", "position", "kind", "twin_position", "source", "system", "text")

Workers = Collection[int] | None
"""Whose rows are wanted, by id; None: everybody's."""
KIND_NAMES = list(KINDS)
"""What kinds of items are called in files."""
_ASSIGNMENTS_AT_ONCE, _HITS_AT_ONCE = 100, 100
_KEYS = ("assignment", "item", "turn", "criterion")


class _Items(NamedTuple):
    """Items of some HITs: the place of each by its id, and columns: position, source, system, kind, page."""

    place: dict[int, int]
    columns: Block

    def at(self, ids: Sequence[int]) -> Block:
        """Return the columns of these items."""
        places = list(map(self.place.__getitem__, ids))
        return [list(map(column.__getitem__, places)) for column in self.columns]


# --- Ratings


def rating_blocks(
    campaign: Campaign,
    *,
    states: Collection[str] = FINISHED,
    names: NameWorker = hashed_name,
) -> Iterator[Block]:
    """Yield every rating of assignments in these states, with the columns RATING_COLUMNS.

    Rows are ordered by assignment, position, turn and criterion. `rated_at` and `seconds` are of the page, the same for
    all its outputs and criteria; `seconds`: how long it was shown, as the browser reported, else the time since the one
    before. `response` is what was answered where that is no score: a text, or JSON. What is asked of a comparison
    or of the whole HIT is about no system, and has no score; its position is that of the item that it is kept with.
    `page` is empty where each item has a page of its own, `turn`, the number of a reply in its chat, where no single
    reply was rated.
    """
    found_criteria = list(campaign.criteria.values_list("pk", "name", "scope"))
    criteria = {pk: (name, scope in campaign.scopes_of_systems) for pk, name, scope in found_criteria}
    without_score = {pk for pk, (_, is_of_system) in criteria.items() if not is_of_system}
    # To read the value of each score as JSON takes a tenth of the time.
    answered = Case(When(Q(score=None) | Q(criterion__in=without_score), then="value"))
    for assignments in assignment_chunks(campaign, states):
        items = _items_of(each.hit_id for each in assignments)
        responses = Response.objects.filter(assignment__in=assignments).order_by().annotate(answered=answered)
        columns = read_columns(responses, *_KEYS, "score", "rated_at", "answered", "abstained")
        ids, item_ids, turns, asked, scores, at, values, abstained = _in_order(columns, items, list(criteria))
        if not ids:
            continue
        positions, sources, systems, kinds, pages = items.at(item_ids)
        if without_score:
            scores = [None if pk in without_score else score for pk, score in zip(asked, scores, strict=True)]
            systems = ["" if pk in without_score else name for pk, name in zip(asked, systems, strict=True)]
        given = ["" if s is not None else _value_text(v) for s, v in zip(scores, values, strict=True)]
        workers, hits, in_states = _assignments_at(ids, assignments, names)
        rated, seconds = _timing(assignments, ids, item_ids, at, positions, pages)
        yield [
            *(workers, ids, hits, positions, sources, systems, kinds, spread(asked, lambda pk: criteria[pk][0])),
            *(spread(scores, whole), in_states, rated, seconds, given, abstained, pages, spread(turns, _or_none)),
        ]


def score_blocks(
    campaign: Campaign,
    *,
    states: Collection[str] = FINISHED,
    names: NameWorker = hashed_name,
    workers: Workers = None,
) -> Iterator[Block]:
    """Yield every rating of assignments in these states that has a score, with the columns SCORE_COLUMNS.

    They are in the order of `rating_blocks`. An analysis waits for these: nothing is read that is not in them.
    Criteria whose answers the campaign's method cannot read, and those of single replies, are left out.
    """
    return (block for _, block in score_chunks(campaign, states=states, names=names, workers=workers))


def score_chunks(
    campaign: Campaign, *, states: Collection[str], names: NameWorker, workers: Workers
) -> Iterator[tuple[list[Assignment], Block]]:
    """Yield the blocks of `score_blocks`, each with its assignments."""
    scopes = [each for each in campaign.scopes_of_systems if each != Scope.TURN]
    for assignments, block in _scores(assignment_chunks(campaign, states, workers=workers), campaign, scopes, names):
        yield assignments, block[:-1]


def reply_score_blocks(
    campaign: Campaign,
    *,
    states: Collection[str] = FINISHED,
    names: NameWorker = hashed_name,
    workers: Workers = None,
) -> Iterator[Block]:
    """Yield what `score_blocks` does and the scores of single replies, with the columns REPLY_SCORE_COLUMNS."""
    chunks = assignment_chunks(campaign, states, workers=workers)
    return (block for _, block in _scores(chunks, campaign, campaign.scopes_of_systems, names))


def _scores(
    chunks: Iterable[list[Assignment]], campaign: Campaign, scopes: Collection[str], names: NameWorker
) -> Iterator[tuple[list[Assignment], Block]]:
    """Yield chunks of assignments with their scores on criteria of these scopes, and the reply’s number."""
    method = methods[campaign.method]
    scoring = (each for each in campaign.criteria.filter(scope__in=scopes) if each.bounds and reads(method, each))
    criteria = {criterion.pk: criterion.name for criterion in scoring}
    for assignments in chunks:
        items = _items_of(each.hit_id for each in assignments)
        scored = Response.objects.filter(assignment__in=assignments, criterion__in=criteria, score__isnull=False)
        columns = read_columns(scored.order_by(), *_KEYS, "score")
        ids, item_ids, turns, asked, scores = _in_order(columns, items, list(criteria))
        if not ids:
            continue
        workers, hits, _ = _assignments_at(ids, assignments, names)
        *of_items, _ = items.at(item_ids)
        asked_of, given = spread(asked, criteria.__getitem__), spread(scores, whole)
        yield assignments, [workers, ids, hits, *of_items, asked_of, given, spread(turns, _or_none)]


def _in_order(columns: Block, items: _Items, criteria: list[int]) -> list[list[Any]]:
    """Return responses, whose columns begin with `_KEYS`, by assignment, position, turn and place of the criterion.

    No two have the same of these.
    """
    ids, item_ids, turns, asked = columns[:4]
    positions = items.at(item_ids)[0]
    places = spread(asked, {pk: place for place, pk in enumerate(criteria)}.__getitem__)
    order = np.lexsort((places, turns, positions, ids)).tolist()
    return [list(map(column.__getitem__, order)) for column in columns]


def _assignments_at(
    ids: Sequence[int], assignments: Iterable[Assignment], names: NameWorker
) -> tuple[list[str], list[int], list[str]]:
    """Return the worker, the HIT’s number and the state of the assignments with these ids."""
    known = {each.pk: each for each in assignments}
    workers = spread(ids, lambda pk: names(known[pk].worker))
    return workers, spread(ids, lambda pk: known[pk].hit.number), spread(ids, lambda pk: known[pk].state)


def _or_none(turn: int) -> int | None:
    return turn or None


def _timing(
    assignments: Collection[Assignment],
    ids: Sequence[int],
    item_ids: Sequence[int],
    at: Sequence[datetime],
    positions: Sequence[int],
    pages: Sequence[int | None],
) -> tuple[list[str], list[float]]:
    """Return when the page of each rating was rated, as text, and for how many seconds it was shown."""
    shown = shown_seconds_of(assignments)
    started, times = {each.pk: each.started_at for each in assignments}, spread(at, utc_text)
    rated, seconds, page_before, rated_before = [], [], (0, 0), datetime.min
    text, took = "", 0.0
    for pk, item, time, written, position, page in zip(ids, item_ids, at, times, positions, pages, strict=True):
        if (here := (pk, page or -position)) != page_before:
            since = time - (rated_before if pk == page_before[0] else started[pk])
            text, took = written, round(shown[pk].get(item, max(since.total_seconds(), 0.0)), 3)
            page_before, rated_before = here, time
        rated.append(text)
        seconds.append(took)
    return rated, seconds


def whole(score: float | None) -> float | None:
    """Return a score as an int where it is a whole number, as most are."""
    return int(score) if score is not None and score.is_integer() else score


def _value_text(value: Any) -> str:
    """Return what was answered: a text as it is, anything else as JSON; "" for nothing."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def assignment_chunks(
    campaign: Campaign, states: Collection[str], n_at_once: int | None = None, workers: Workers = None
) -> Iterator[list[Assignment]]:
    """Yield the assignments in these states by id, some at a time, with workers and HITs. One query each time."""
    found = Assignment.objects.filter(campaign=campaign, state__in=states).select_related("worker", "hit")
    if workers is not None:
        found = found.filter(worker__in=workers)
    last = 0
    while chunk := list(found.filter(pk__gt=last).order_by("pk")[: n_at_once or _ASSIGNMENTS_AT_ONCE]):
        yield chunk
        last = chunk[-1].pk


def _items_of(hits: Iterable[int]) -> _Items:
    items = HitItem.objects.filter(hit__in=set(hits)).order_by()
    names = ("position", "output__source__name", "output__system__name", "kind", "page")
    ids, positions, sources, systems, kinds, pages = read_columns(items, "pk", *names)
    columns = positions, sources, systems, spread(kinds, KIND_NAMES.__getitem__), pages
    return _Items({pk: place for place, pk in enumerate(ids)}, columns)


def shown_seconds_of(assignments: Collection[Assignment]) -> dict[int, dict[int, float]]:
    """Return how long items were shown, by assignment and item, where the browser reported it."""
    events = Event.objects.filter(assignment__in=assignments, kind=Event.Kind.RATED, item__isnull=False).order_by()
    # Of telemetry, which differs from row to row, the database takes out what is read.
    ids, items, reported = read_columns(events, "assignment", "item", "data__shown_ms")
    seconds = spread_any(reported, lambda shown_ms: shown_seconds({"shown_ms": shown_ms}))
    shown: dict[int, dict[int, float]] = {each.pk: {} for each in assignments}
    for pk, item, each in zip(ids, items, seconds, strict=True):
        if each is not None:
            shown[pk][item] = each
    return shown


# --- The rest


def iter_assignments(
    campaign: Campaign, *, names: NameWorker = hashed_name, with_codes: bool = False
) -> Iterator[tuple[Any, ...]]:
    """Yield every assignment as a row of ASSIGNMENT_COLUMNS, and its completion code if asked for.

    `seconds` are those from the start to the last rating. Rows, not columns: assignments are few beside their ratings.
    """
    for assignments in assignment_chunks(campaign, ALL_STATES):
        for each in assignments:
            code = (each.completion_code,) if with_codes else ()
            yield (
                each.pk,
                names(each.worker),
                each.hit.number,
                each.state,
                each.n_rated,
                each.n_items,
                each.is_accessible,
                utc_text(each.started_at),
                utc_text(each.seen_at),
                utc_text(each.ended_at) if each.ended_at else None,
                round((each.seen_at - each.started_at).total_seconds(), 3),
                each.feedback,
                each.consent_version,
                utc_text(each.consented_at) if each.consented_at else None,
                each.draw_probability,
                each.even_probability,
                *code,
            )


def item_blocks(campaign: Campaign) -> Iterator[Block]:
    """Yield every item of every HIT, with its text as shown, with the columns ITEM_COLUMNS."""
    last = -1
    hits = campaign.hits.order_by("number")
    names = ("hit__number", "position", "kind", "twin_position", "output__source__name", "output__system__name", "text")
    while chunk := list(hits.filter(number__gt=last)[:_HITS_AT_ONCE]):
        items = HitItem.objects.filter(hit__in=chunk).order_by("hit__number", "position")
        numbers, positions, kinds, *rest = read_columns(items, *names)
        yield [numbers, positions, spread(kinds, KIND_NAMES.__getitem__), *rest]
        last = chunk[-1].number


def event_blocks(campaign: Campaign, *, names: NameWorker = hashed_name, with_ids: bool = False) -> Iterator[Block]:
    """Yield every event of every assignment, in order, with the columns EVENT_COLUMNS.

    `data`: what the browser reported of an item. `with_ids`: also the platform's ids of assignments, by which it knows
    the workers.
    """
    for assignments in assignment_chunks(campaign, ALL_STATES):
        events = Event.objects.filter(assignment__in=assignments).order_by("assignment", "pk")
        ids, positions, kinds, at, data = read_columns(events, "assignment", "item__position", "kind", "at", "data")
        if not ids:
            continue
        workers, hits, _ = _assignments_at(ids, assignments, names)
        if not with_ids:
            data = [{} if kind == Event.Kind.ARRIVED else each for kind, each in zip(kinds, data, strict=True)]
        yield [ids, workers, hits, positions, kinds, spread(at, utc_text), data]


def utc_text(at: datetime) -> str:
    """Return a time as ISO 8601 in UTC, to the millisecond."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
