"""What a campaign's finished assignments hold, from the database to arrays of ratings, to tables and to rows of chats.

Finished assignments never change, so the same ones give the same. What a worker wrote stays in the database.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import IO, Any

import numpy as np
from django.db.models import Avg, QuerySet
from django.db.models.functions import Coalesce
from numpy.typing import NDArray

from analysis.data.dialogues.rows import (
    NO,
    YES,
    Chat,
    DeadChat,
    LoadedDialogues,
    Work,
    in_order,
    left_out,
    without_dead,
)
from analysis.data.ratings.sources import SourceWords
from analysis.methods.settings import no_scores
from analysis.stats.ratings import Floats, Ratings, from_long
from analysis.stats.scores import rescale
from annotation.chat.exports import measure_each, minutes_between
from annotation.export.attributes import DRAWN, weigh_draws
from annotation.export.encoding import csv_pieces
from annotation.export.tables import ResponseTable
from annotation.models import Assignment, Conversation, Response, TopicChange, Turn
from annotation.worker_names import NameWorker
from campaigns.chatbots import systems_sent_topic
from campaigns.contracts.protocol import Scope, Screen
from campaigns.design.composition import KINDS, Kind
from campaigns.formats import get_format
from campaigns.methods import whole_before_replies
from campaigns.models import Campaign, HitItem, Source
from evalsite.lib.column_queries import UtcText, read_arrays
from evalsite.lib.tables.blocks import Block

Ints = NDArray[np.int64]
Times = NDArray[np.datetime64]
# A longer list of workers is not worth sending to the database.
_MOST_NAMED = 500
_TIME, _SECOND = np.dtype("datetime64[us]"), np.timedelta64(1, "s")
_By = TopicChange.By
_KIND_NAMES = list(KINDS)
_NONE = -1  # of a tutorial item, whose ratings are left out, and whose time is not that of the item after it


@dataclass(frozen=True)
class FinishedRatings:
    """Ratings in the order of worker, assignment and position, criteria in the campaign's order.

    `worker_ids`, `system_ids`, `assignment_ids`: the row of each code. `seconds`: how long each item took, (n_items,),
    by the server's clock: since the ratings of the item before it, or since the start.
    """

    worker_ids: list[int]
    system_ids: list[int]
    assignment_ids: list[int]
    ratings: Ratings
    seconds: Floats


def _finished(campaign: Campaign) -> QuerySet[Assignment]:
    return Assignment.objects.filter(campaign=campaign, state=Assignment.State.FINISHED).order_by()


def read_ratings(campaign: Campaign, workers: Collection[int] | None = None) -> FinishedRatings:
    """Return the ratings of these workers' finished HITs; of everyone's if they are very many or None. Five queries.

    Only answers about a system with a score between two bounds are ratings: others, and what was not judged, are
    missing. Where only single replies of chats are scored, a chat has the mean of them.
    Raises DomainError `bad_settings` if no criterion has such scores.
    """
    finished = _finished(campaign)
    if workers is not None and len(workers) <= _MOST_NAMED:
        finished = finished.filter(worker__in=workers)
    hits, ids = finished.values("hit"), finished.values("pk")
    in_hits = HitItem.objects.filter(hit__in=hits).order_by("hit", "position")
    rated = Response.objects.filter(assignment__in=ids).order_by()

    criteria = list(campaign.criteria.all())
    of_systems = (criterion for criterion in criteria if criterion.scope in campaign.scopes_of_systems)
    of_study = whole_before_replies(criterion for criterion in of_systems if criterion.bounds)
    bounds = {criterion.pk: criterion.bounds for criterion in of_study}
    if not bounds:
        raise no_scores()
    criterion_ids = np.array(list(bounds), np.int64)
    scores = rated.filter(criterion__in=bounds, score__isnull=False)
    if campaign.n_tutorial:  # else there is nothing to leave out
        scores = scores.exclude(item__kind=Kind.TUTORIAL)
    started = finished.order_by("worker", "pk").annotate(at=UtcText("started_at"))
    assignments = read_arrays(started, dict.fromkeys(("pk", "worker_id"), np.int64) | {"at": _TIME})
    of_outputs = {key: Coalesce(f"output__{key}", _NONE) for key in ("system_id", "source_id")}
    items = read_arrays(in_hits.annotate(**of_outputs), dict.fromkeys(("pk", "kind", *of_outputs), np.int64))
    cell = dict.fromkeys(("assignment_id", "item_id", "criterion_id"), np.int64)
    if any(criterion.scope == Scope.TURN for criterion in of_study):  # several scores of one chat
        scores = scores.values(*cell).annotate(mean=Avg("score"))
        scored = read_arrays(scores, cell | {"mean": np.float64})
    else:
        scored = read_arrays(scores, cell | {"score": np.float64})
    of_items = (criterion for criterion in criteria if criterion.scope != Scope.TURN)
    always = next((criterion.pk for criterion in of_items if criterion.is_always_answered), None)
    saved = rated.filter(criterion=always) if always else rated.distinct()
    saved = saved.annotate(at=UtcText("rated_at"))
    timed = read_arrays(saved, dict.fromkeys(("assignment_id", "item_id"), np.int64) | {"at": _TIME})

    # Rows come in the order of these keys: worker, assignment, position.
    scored_key, timed_key = _keys(scored, assignments, items), _keys(timed, assignments, items)
    keys, row = np.unique(scored_key, return_inverse=True)
    assignment, item = np.divmod(keys, max(items[0].size, 1))
    worker_ids, worker = np.unique(assignments[1], return_inverse=True)
    system_ids, system = _codes(items[2])
    _, source = _codes(items[3])
    given_scores = from_long(
        item=row,
        criterion=_places(criterion_ids, scored[2]),
        score=scored[3],
        n_items=keys.size,
        n_criteria=criterion_ids.size,
    )
    low, high = np.array(list(bounds.values())).T
    ratings = Ratings(
        scores=rescale(given_scores, low, high),
        worker=worker[assignment],
        system=system[item],
        assignment=assignment,
        source=source[item],
        kind=items[1][item],
        n_workers=worker_ids.size,
        n_systems=int(system.max(initial=-1)) + 1,
    )
    in_order = np.argsort(timed_key)
    timed_key = timed_key[in_order]
    took = _seconds(timed[2][in_order], timed_key // max(items[0].size, 1), assignments[2])
    return FinishedRatings(
        worker_ids.tolist(),
        system_ids.tolist(),
        assignments[0].tolist(),
        ratings,
        took[np.searchsorted(timed_key, keys)],  # every item with a score has a time
    )


def write_responses(
    copy: IO[bytes],
    campaign: Campaign,
    table: ResponseTable,
    *,
    names: NameWorker,
    workers: Collection[int] | None = None,
) -> int:
    """Write a table of finished assignments as CSV; return of how many assignments it has rows.

    `workers`: those whose rows are wanted, by id; everybody's if they are very many or None.
    """
    assignments: set[int] = set()
    place = table.columns.index("assignment")
    wanted = workers if workers is not None and len(workers) <= _MOST_NAMED else None

    def noted() -> Iterator[Block]:
        for block in table.blocks(campaign, names=names, workers=wanted):
            assignments.update(block[place])
            yield block

    copy.writelines(csv_pieces(table.columns, noted()))
    copy.flush()  # the file may be opened by its name
    return len(assignments)


def _codes(keys: Ints) -> tuple[Ints, Ints]:
    """Return the keys there are, sorted, and the place of each among them; of none, -1."""
    known, codes = np.unique(keys, return_inverse=True)
    n_none = int(known[:1].tolist() == [_NONE])
    return known[n_none:], codes - n_none


def _places(known: Ints, wanted: Ints) -> Ints:
    """Return where each wanted id is among the known ones."""
    order = np.argsort(known)
    return np.asarray(order[np.searchsorted(known, wanted, sorter=order)])


def _keys(rows: list[Any], assignments: list[Ints], items: list[Ints]) -> Ints:
    """Return a number for each row's assignment and item; rows of an assignment that ended just now are dropped."""
    is_known = np.isin(rows[0], assignments[0])
    for k, column in enumerate(rows):
        rows[k] = column[is_known]
    return _places(assignments[0], rows[0]) * items[0].size + _places(items[0], rows[1])


def _seconds(at: Times, assignment: Ints, started: Times) -> Floats:
    """Return how long after the row before it, or the start of its assignment, each row was rated."""
    before = np.roll(at, 1)
    is_first = np.diff(assignment, prepend=-1) != 0
    before[is_first] = started[assignment[is_first]]
    seconds: Floats = (at - before) / _SECOND
    return seconds


def read_dialogues(campaign: Campaign, assignments: Collection[str]) -> LoadedDialogues:
    """Return the chats of some finished assignments, by their ids as text, and how long each assignment took.

    A chat whose chatbot did not answer was not rated and is left out. An assignment takes from its start to its last
    rating, less the time of such chats. Five queries at most.
    """
    finished = _finished(campaign)
    found = _timed(campaign, assignments)
    conversations = Conversation.objects.filter(assignment__in=finished.values("pk")).order_by()
    sizes, changes = _sizes(conversations), _changes(conversations)
    sent_topic = systems_sent_topic(campaign)
    chats, dead = [], []
    for pk, state, assignment, position, system, kind, topic, opinion, began, ended in conversations.values_list(
        "pk",
        "state",
        "assignment",
        "item__position",
        "item__output__system__name",
        "item__kind",
        "topic",
        "opinion",
        "started_at",
        "ended_at",
    ).iterator():
        if assignment not in found:
            continue
        if state != Conversation.State.ENDED:
            dead.append(DeadChat(found[assignment].worker.name, str(assignment), minutes_between(began, ended)))
            continue
        words, characters = sizes.get(pk, ((), ()))
        chats.append(
            Chat(
                worker=found[assignment].worker.name,
                assignment=str(assignment),
                position=position,
                system=system,
                kind=_KIND_NAMES[kind],
                topic=topic,
                opinion=opinion,
                n_inputs=len(words),
                n_words=sum(words),
                n_characters=sum(characters),
                changes_by_chatbot=changes[pk, _By.CHATBOT],
                changes_by_worker=changes[pk, _By.WORKER_LAST] + changes[pk, _By.WORKER_NEXT],
                topic_sent=YES if system in sent_topic else NO,
                words_by_input=words,
                chars_by_input=characters,
            )
        )
    work = _working_times(campaign, found.values())
    return in_order(chats, without_dead(work, dead), left_out(len(dead)))


def read_work(campaign: Campaign, assignments: Collection[str]) -> list[Work]:
    """Return how long some finished assignments took, by their ids as text. Two queries at most."""
    return sorted(_working_times(campaign, _timed(campaign, assignments).values()))


def _timed(campaign: Campaign, assignments: Collection[str]) -> dict[int, Assignment]:
    finished = (
        _finished(campaign)
        .select_related("worker")
        .only(*("worker__key", "started_at", "seen_at", "draw_probability", "even_probability"))
    )
    return {each.pk: each for each in finished.iterator() if str(each.pk) in assignments}


def _working_times(campaign: Campaign, assignments: Iterable[Assignment]) -> list[Work]:
    """Return how long finished assignments of a campaign took, from their start to their last rating, and weigh."""
    found = list(assignments)
    weights = weigh_draws(campaign, (tuple(getattr(each, name) for name in DRAWN) for each in found))
    return [
        Work(
            *(each.worker.name, str(each.pk), round((each.seen_at - each.started_at).total_seconds(), 3)),
            weight=weights.get(each.pk),
        )
        for each in found
    ]


def read_source_words(campaign: Campaign) -> list[SourceWords]:
    """Return how many words the reference and the other shown texts of each source have. One query.

    None of a live campaign, whose workers choose what they write.
    """
    if campaign.is_live:
        return []
    screen = Screen.from_json(campaign.screen)
    format_of = {field.name: get_format(field.format) for field in screen.fields}
    shown = [field.name for field in screen.fields if field.is_shown and format_of[field.name].is_one_text]
    inputs = [name for name in shown if name != screen.reference_field]

    def n_words(fields: Mapping[str, Any], names: Collection[str]) -> int | None:
        texts = (format_of[name].words(str(fields.get(name) or "")) for name in names)
        return sum(len(text.split()) for text in texts) or None

    rows = Source.objects.filter(campaign=campaign).order_by("name").values_list("name", "fields").iterator()
    reference = [screen.reference_field] if screen.reference_field else []
    return [SourceWords(name, n_words(fields, reference), n_words(fields, inputs)) for name, fields in rows]


def _sizes(conversations: QuerySet[Conversation]) -> dict[int, tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return how many words and characters each input of the worker's has, in order, by chat. One query."""
    turns = Turn.objects.filter(conversation__in=conversations.values("pk"), speaker=Turn.Speaker.WORKER)
    rows = turns.order_by("conversation", "number").values_list("conversation", "text").iterator()
    return {chat: measure_each(text for _, text in of_chat) for chat, of_chat in groupby(rows, key=itemgetter(0))}


def _changes(conversations: QuerySet[Conversation]) -> Counter[tuple[int, str]]:
    """Return how often the topic changed, by chat and by whom. One query."""
    noted = TopicChange.objects.filter(conversation__in=conversations.values("pk")).order_by()
    return Counter(noted.values_list("conversation", "by").iterator())
