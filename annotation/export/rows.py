"""Everything that workers left, as rows, at any moment of a campaign.

Rows come in chunks of whole assignments, each read by a few queries: memory does not grow with the campaign, nothing is
locked, and no cursor stays open on either database.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import compress
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from django.db.models import Case, Q, When
from django.db.models.fields.json import KeyTransform

from annotation.models import Assignment, Event, Response
from annotation.monitoring.progress import shown_seconds
from annotation.queries import answers_on
from annotation.worker_names import NameWorker, hashed_name
from campaigns.contracts.protocol import Scope
from campaigns.design.composition import KINDS
from campaigns.methods import methods, reads
from campaigns.models import Campaign, HitItem
from evalsite.lib.column_queries import UtcText, read_columns
from evalsite.lib.tables.blocks import Block, Coded, spread, spread_any

State = Assignment.State
Ints = npt.NDArray[np.intp]
V = TypeVar("V")

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
_MICROSECONDS, _MILLISECONDS, _US_PER_S = "datetime64[us]", "datetime64[ms]", 10**6
_KEYS = ("assignment", "item", "turn", "criterion")


class _Items(NamedTuple):
    """Items of some HITs: their ids, in order, and positions, sources, systems, kinds, pages."""

    ids: Ints
    columns: Block


class _Answers(NamedTuple):
    """Responses in the order of files: the places of their assignments, items and criteria, and their turns.

    `order`: the place of each as it was read.
    """

    assignments: Ints
    items: Ints
    criteria: Ints
    turns: Ints
    order: Ints

    def sort(self, column: Sequence[V]) -> list[V]:
        """Return a column as it was read in the order of files."""
        return list(map(column.__getitem__, self.order.tolist()))


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
        responses = Response.objects.filter(assignment__in=assignments).order_by()
        responses = responses.annotate(answered=answered, at=UtcText("rated_at"))
        columns = read_columns(responses, *_KEYS, "score", "at", "answered", "abstained")
        found = _in_order(columns, assignments, items, list(criteria))
        if not found.order.size:
            continue
        scores, at, values, abstained = map(found.sort, columns[len(_KEYS) :])
        of_items: list[Sequence[Any]] = [Coded(column, found.items) for column in items.columns]
        positions, sources, systems, kinds, pages = of_items
        asked, no_score = Coded(list(criteria.values()), found.criteria), [pk in without_score for pk in criteria]
        if without_score:
            is_without = np.array(no_score)[found.criteria].tolist()
            scores = [None if no else score for no, score in zip(is_without, scores, strict=True)]
            systems = ["" if no else name for no, name in zip(is_without, systems, strict=True)]
        given = ["" if s is not None else _value_text(v) for s, v in zip(scores, values, strict=True)]
        workers, hits, in_states = assignments_at(found.assignments, assignments, names)
        rated, seconds = _timing(assignments, items, found, at)
        yield [
            *(workers, Coded([each.pk for each in assignments], found.assignments), hits),
            *(positions, sources, systems, kinds, spread(asked, itemgetter(0)), spread(scores, whole), in_states),
            *(rated, seconds, given, abstained, pages, _turns(found)),
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
        scored = answers_on(criteria, assignments).filter(score__isnull=False)
        columns = read_columns(scored.order_by(), *_KEYS, "score")
        found = _in_order(columns, assignments, items, list(criteria))
        if not found.order.size:
            continue
        workers, hits, _ = assignments_at(found.assignments, assignments, names)
        ids = Coded([each.pk for each in assignments], found.assignments)
        of_items = [Coded(column, found.items) for column in items.columns[:-1]]
        asked, given = Coded(list(criteria.values()), found.criteria), spread(found.sort(columns[-1]), whole)
        yield assignments, [workers, ids, hits, *of_items, asked, given, _turns(found)]


def _in_order(columns: Block, assignments: Sequence[Assignment], items: _Items, criteria: Sequence[int]) -> _Answers:
    """Return responses, whose columns begin with `_KEYS`, by assignment, position, turn and place of the criterion.

    No two have the same of these.
    """
    ids, item_ids, turns, asked = (np.array(column, np.intp) for column in columns[: len(_KEYS)])
    of_assignments = np.searchsorted([each.pk for each in assignments], ids)
    of_items, by_pk = np.searchsorted(items.ids, item_ids), np.argsort(criteria)
    of_criteria = by_pk[np.searchsorted(criteria, asked, sorter=by_pk)] if criteria else asked
    order = np.lexsort((of_criteria, turns, np.array(items.columns[0], np.intp)[of_items], of_assignments))
    return _Answers(of_assignments[order], of_items[order], of_criteria[order], turns[order], order)


def assignments_at(
    places: Ints, assignments: Sequence[Assignment], names: NameWorker
) -> tuple[Sequence[str], Sequence[int], Sequence[str]]:
    """Return the worker, the HIT’s number and the state of the assignments at these places."""
    columns = zip(*((names(each.worker), each.hit.number, each.state) for each in assignments), strict=True)
    workers, hits, states = (Coded(column, places) for column in columns)
    return workers, hits, states


def _turns(found: _Answers) -> Sequence[int | None]:
    values, codes = np.unique(found.turns, return_inverse=True)
    return Coded([turn or None for turn in values.tolist()], codes)


def _timing(
    assignments: Sequence[Assignment], items: _Items, found: _Answers, at: Sequence[str]
) -> tuple[Sequence[str], Sequence[float]]:
    """Return when the page of each rating was rated, as text, and for how many seconds it was shown.

    `at`: when each was rated.
    """
    # An item without a page is one by itself.
    pages = np.array([page or -position for page, position in zip(items.columns[-1], items.columns[0], strict=True)])
    page, ids = pages[found.items], found.assignments
    is_new = np.r_[True, (page[1:] != page[:-1]) | (ids[1:] != ids[:-1])]
    first = np.flatnonzero(is_new)
    times = np.array(list(map(at.__getitem__, first.tolist())), _MICROSECONDS)
    pks = [each.pk for each in assignments]
    started = np.array([each.started_at.astimezone(UTC).replace(tzinfo=None) for each in assignments], _MICROSECONDS)
    before, of = np.roll(times, 1), ids[first]
    is_of_other = np.r_[True, of[1:] != of[:-1]]
    since = (times - np.where(is_of_other, started[of], before)).astype(np.int64) / _US_PER_S
    reported = _reported_seconds(assignments)
    n_items = max(items.ids.size, 1)
    keys = np.searchsorted(pks, reported[0]) * n_items + np.searchsorted(items.ids, reported[1])
    in_order, wanted = np.argsort(keys, kind="stable"), of * n_items + found.items[first]
    place = np.searchsorted(keys, wanted, side="right", sorter=in_order) - 1  # the last report of an item
    took = np.maximum(since, 0.0)
    if keys.size:
        last = in_order[place]
        took = np.where((place >= 0) & (keys[last] == wanted), np.array(reported[2])[last], took)
    codes = np.cumsum(is_new) - 1
    rated = np.datetime_as_string(times.astype(_MILLISECONDS), timezone="UTC").tolist()
    return Coded(rated, codes), Coded(spread(took.tolist(), lambda seconds: round(seconds, 3)), codes)


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
    items = HitItem.objects.filter(hit__in=set(hits)).order_by("pk")
    names = ("position", "output__source__name", "output__system__name", "kind", "page")
    ids, positions, sources, systems, kinds, pages = read_columns(items, "pk", *names)
    return _Items(np.array(ids, np.intp), [positions, sources, systems, spread(kinds, KIND_NAMES.__getitem__), pages])


def shown_seconds_of(assignments: Collection[Assignment]) -> dict[int, dict[int, float]]:
    """Return how long items were shown, by assignment and item, where the browser reported it."""
    shown: dict[int, dict[int, float]] = {each.pk: {} for each in assignments}
    for pk, item, seconds in zip(*_reported_seconds(assignments), strict=True):
        shown[pk][item] = seconds
    return shown


def _reported_seconds(assignments: Collection[Assignment]) -> tuple[Sequence[int], Sequence[int], Sequence[float]]:
    """Return assignments, items, and how long the browser reported that they were shown; of an item the last counts."""
    events = Event.objects.filter(assignment__in=assignments, kind=Event.Kind.RATED, item__isnull=False).order_by()
    # Of telemetry, which differs from row to row, the database takes out what is read. As a lookup, `data__shown_ms`
    # leaves an exception that keeps the callers' columns until Python looks for garbage, which it does seldom here.
    events = events.annotate(shown_ms=KeyTransform("shown_ms", "data"))
    ids, items, reported = read_columns(events, "assignment", "item", "shown_ms")
    seconds = spread_any(reported, lambda shown_ms: shown_seconds({"shown_ms": shown_ms}))
    is_known = [each is not None for each in seconds]
    known = [each for each in seconds if each is not None]
    return list(compress(ids, is_known)), list(compress(items, is_known)), known


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
        pks = [each.pk for each in assignments]
        places = np.searchsorted(pks, ids)
        workers, hits, _ = assignments_at(places, assignments, names)
        if not with_ids:
            data = [{} if kind == Event.Kind.ARRIVED else each for kind, each in zip(kinds, data, strict=True)]
        yield [
            Coded([each.pk for each in assignments], places),
            workers,
            hits,
            positions,
            kinds,
            spread(at, utc_text),
            data,
        ]


def utc_text(at: datetime) -> str:
    """Return a time as ISO 8601 in UTC, to the millisecond."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
