"""Everything that workers left, as rows, at any moment of a campaign.

Rows come in chunks of whole assignments, each read by a few queries: memory does not grow with the campaign, nothing is
locked, and no cursor stays open on either database.
"""

import json
from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any

from django.db.models import Case, Q, When

from annotation.models import Assignment, Event, Response
from annotation.monitoring.progress import shown_seconds
from annotation.worker_names import NameWorker, hashed_name
from campaigns.contracts.protocol import Scope
from campaigns.design.composition import KINDS
from campaigns.methods import methods, reads
from campaigns.models import Campaign, HitItem

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
ITEM_COLUMNS = ("hit", "position", "kind", "twin_position", "source", "system", "text")

Workers = Collection[int] | None
"""Whose rows are wanted, by id; None: everybody's."""
KIND_NAMES = list(KINDS)
"""What kinds of items are called in files."""
_ASSIGNMENTS_AT_ONCE, _HITS_AT_ONCE = 100, 100
_Item = tuple[int, str, str, str, int | None]
_Rating = tuple[int, int, int, int, datetime, tuple[float | None, str, str]]


# --- Ratings


def iter_ratings(
    campaign: Campaign,
    *,
    states: Collection[str] = FINISHED,
    names: NameWorker = hashed_name,
) -> Iterator[tuple[Any, ...]]:
    """Yield every rating of assignments in these states as a row of RATING_COLUMNS.

    Rows are ordered by assignment, position, turn and criterion. `rated_at` and `seconds` are of the page, the same for
    all its outputs and criteria; `seconds`: how long it was shown, as the browser reported, else the time since the one
    before. `response` is what was answered where that is no score: a text, or JSON. What is asked of a comparison
    or of the whole HIT is about no system, and has no score; its position is that of the item that it is kept with.
    `page` is empty where each item has a page of its own, `turn`, the number of a reply in its chat, where no single
    reply was rated.
    """
    found_criteria = campaign.criteria.values_list("pk", "name", "scope")
    criteria = {pk: (name, scope in campaign.scopes_of_systems) for pk, name, scope in found_criteria}
    order = {criterion: place for place, criterion in enumerate(criteria)}
    without_score = [pk for pk, (_, is_of_system) in criteria.items() if not is_of_system]
    # To read the value of each score as JSON takes a tenth of the time.
    answered = Case(When(Q(score=None) | Q(criterion__in=without_score), then="value"))
    for assignments in assignment_chunks(campaign, states):
        items = _items_of([assignment.hit_id for assignment in assignments])
        shown = shown_seconds_of(assignments)
        found: dict[int, list[_Rating]] = {each.pk: [] for each in assignments}
        responses = Response.objects.filter(assignment__in=assignments).order_by().annotate(answered=answered)
        for assignment, item, criterion, turn, score, at, value, abstained in responses.values_list(
            "assignment", "item", "criterion", "turn", "score", "rated_at", "answered", "abstained"
        ).iterator():
            score = score if criteria[criterion][1] else None
            answer = whole(score), _value_text(value) if score is None else "", abstained
            found[assignment].append((items[item][0], turn, order[criterion], item, at, answer))
        for each in assignments:
            rows = sorted(found[each.pk], key=itemgetter(0, 1, 2))  # no two have the same position, turn and criterion
            yield from _rating_rows(each, rows, items, list(criteria.values()), shown, names(each.worker))


def iter_scores(
    campaign: Campaign,
    *,
    states: Collection[str] = FINISHED,
    names: NameWorker = hashed_name,
    workers: Workers = None,
) -> Iterator[tuple[Any, ...]]:
    """Yield every rating of assignments in these states that has a score as a row of SCORE_COLUMNS.

    They are in the order of `iter_ratings`. An analysis waits for these rows: they are read by one statement a chunk,
    and nothing is read that is not in them.
    Criteria whose answers the campaign's method cannot read, and those of single replies, are left out.
    """
    for _, rows in score_chunks(campaign, states=states, names=names, workers=workers):
        yield from rows


def score_chunks(
    campaign: Campaign, *, states: Collection[str], names: NameWorker, workers: Workers
) -> Iterator[tuple[list[Assignment], Iterator[tuple[Any, ...]]]]:
    """Yield the rows of `iter_scores` some assignments at a time, with these."""
    scopes = [each for each in campaign.scopes_of_systems if each != Scope.TURN]
    return _scores(assignment_chunks(campaign, states, workers=workers), campaign, scopes, names)


def iter_reply_scores(
    campaign: Campaign,
    *,
    states: Collection[str] = FINISHED,
    names: NameWorker = hashed_name,
    workers: Workers = None,
) -> Iterator[tuple[Any, ...]]:
    """Yield what `iter_scores` does and the scores of single replies, as rows of REPLY_SCORE_COLUMNS."""
    chunks = assignment_chunks(campaign, states, workers=workers)
    for _, rows in _scores(chunks, campaign, campaign.scopes_of_systems, names, has_turn=True):
        yield from rows


def _scores(
    chunks: Iterable[list[Assignment]],
    campaign: Campaign,
    scopes: Collection[str],
    names: NameWorker,
    *,
    has_turn: bool = False,
) -> Iterator[tuple[list[Assignment], Iterator[tuple[Any, ...]]]]:
    """Yield chunks of assignments with their scores on criteria of these scopes; the reply’s number if `has_turn`."""
    method = methods[campaign.method]
    scoring = (each for each in campaign.criteria.filter(scope__in=scopes) if each.bounds and reads(method, each))
    criteria = {criterion.pk: criterion.name for criterion in scoring}
    order = {criterion: place for place, criterion in enumerate(criteria)}
    title = list(criteria.values())
    columns = ("assignment", "item__position", "item", "turn", "criterion", "score")
    labels = ("item__kind", "item__output__source__name", "item__output__system__name")
    for assignments in chunks:
        beginning = {each.pk: (names(each.worker), each.pk, each.hit.number) for each in assignments}
        scored = Response.objects.filter(assignment__in=assignments, criterion__in=criteria, score__isnull=False)
        found = scored.order_by().values_list(*columns, *labels)
        rows = [
            (assignment, position, turn, order[criterion], item, score, kind, source, system)
            for assignment, position, item, turn, criterion, score, kind, source, system in found.iterator()
        ]
        rows.sort()  # no two have the same assignment, turn, criterion and item
        yield assignments, _score_rows(rows, beginning, title, has_turn)


def _score_rows(
    rows: Iterable[tuple[Any, ...]], beginning: dict[int, tuple[Any, ...]], title: list[str], has_turn: bool
) -> Iterator[tuple[Any, ...]]:
    """Yield rows with what all of an assignment begin with, and the criterion's name for its place."""
    for assignment, position, turn, place, _, score, kind, source, system in rows:
        row = *beginning[assignment], position, source, system, KIND_NAMES[kind], title[place], whole(score)
        yield (*row, turn or None) if has_turn else row


def whole(score: float | None) -> float | None:
    """Return a score as an int where it is a whole number, as most are."""
    return int(score) if score is not None and score.is_integer() else score


def _value_text(value: Any) -> str:
    """Return what was answered: a text as it is, anything else as JSON; "" for nothing."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def _rating_rows(
    assignment: Assignment,
    rows: Iterable[_Rating],
    items: dict[int, _Item],
    criteria: list[tuple[str, bool]],
    shown: dict[tuple[int, int], float],
    worker: str,
) -> Iterator[tuple[Any, ...]]:
    """Yield the sorted ratings of one assignment: position, turn, place of the criterion, item, time and answer."""
    beginning = (worker, assignment.pk, assignment.hit.number)
    page_before, timing, rated_before = None, ("", 0.0), assignment.started_at
    for position, turn, place, item, at, (score, *answer) in rows:
        if (here := items[item][4] or -position) != page_before:
            since = max((at - rated_before).total_seconds(), 0.0)
            timing = utc_text(at), round(shown.get((assignment.pk, item), since), 3)
            page_before, rated_before = here, at
        _, source, system, kind, page = items[item]
        criterion, is_of_system = criteria[place]
        of = source, system if is_of_system else "", kind
        yield *beginning, position, *of, criterion, score, assignment.state, *timing, *answer, page, turn or None


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


def _items_of(hits: Iterable[int]) -> dict[int, _Item]:
    """Return position, source, system, kind and page of each item of some HITs, by item."""
    items = HitItem.objects.filter(hit__in=set(hits)).order_by()
    columns = ("pk", "position", "output__source__name", "output__system__name", "kind", "page")
    return {
        item: (position, source, system, KIND_NAMES[kind], page)
        for item, position, source, system, kind, page in items.values_list(*columns).iterator()
    }


def shown_seconds_of(assignments: Iterable[Assignment]) -> dict[tuple[int, int], float]:
    """Return how long items were shown, by assignment and item, where the browser reported it."""
    events = Event.objects.filter(assignment__in=assignments, kind=Event.Kind.RATED, item__isnull=False).order_by()
    rows = events.values_list("assignment", "item", "data").iterator()
    found = ((assignment, item, shown_seconds(data)) for assignment, item, data in rows)
    return {(assignment, item): seconds for assignment, item, seconds in found if seconds is not None}


# --- The rest


def iter_assignments(
    campaign: Campaign, *, names: NameWorker = hashed_name, with_codes: bool = False
) -> Iterator[tuple[Any, ...]]:
    """Yield every assignment as a row of ASSIGNMENT_COLUMNS, and its completion code if asked for.

    `seconds` are those from the start to the last rating.
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


def iter_items(campaign: Campaign) -> Iterator[tuple[Any, ...]]:
    """Yield every item of every HIT, with its text as shown, as a row of ITEM_COLUMNS."""
    last = -1
    hits = campaign.hits.order_by("number")
    while chunk := list(hits.filter(number__gt=last)[:_HITS_AT_ONCE]):
        items = HitItem.objects.filter(hit__in=chunk).order_by("hit__number", "position")
        rows = items.values_list(
            "hit__number", "position", "kind", "twin_position", "output__source__name", "output__system__name", "text"
        )
        for hit, position, kind, *rest in rows.iterator():
            yield hit, position, KIND_NAMES[kind], *rest
        last = chunk[-1].number


def iter_events(
    campaign: Campaign, *, names: NameWorker = hashed_name, with_ids: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield every event of every assignment, in order: what happened when, and what the browser reported of an item.

    `with_ids`: also the platform's ids of assignments, by which it knows the workers.
    """
    for assignments in assignment_chunks(campaign, ALL_STATES):
        worker = {each.pk: names(each.worker) for each in assignments}
        events = Event.objects.filter(assignment__in=assignments).order_by("assignment", "pk")
        rows = events.values_list("assignment", "assignment__hit__number", "item__position", "kind", "at", "data")
        for assignment, hit, position, kind, at, data in rows.iterator():
            yield {
                "assignment": assignment,
                "worker": worker[assignment],
                "hit": hit,
                "position": position,
                "event": kind,
                "at": utc_text(at),
                "data": data if with_ids or kind != Event.Kind.ARRIVED else {},
            }


def utc_text(at: datetime) -> str:
    """Return a time as ISO 8601 in UTC, to the millisecond."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
