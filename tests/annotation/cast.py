"""Rated campaigns for tests, made straight through the models: what workers leave behind, without their pages."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np
from django.utils import timezone

from annotation.models import Assignment, Event, Response, Worker
from campaigns.design.composition import Kind
from campaigns.models import Campaign, Criterion, Hit, HitItem, Output
from tests.campaigns.cast import SYSTEMS, add_outputs

State = Assignment.State


def build(campaign: Campaign, n_hits: int = 4, n_systems: int = 6) -> list[Hit]:
    """Give a campaign outputs and small HITs of them.

    A HIT has an ordinary item of each system, degraded copies of the first half of them and a repeat of the last.
    `workers_per_hit` places are free in each.
    """
    outputs = add_outputs(campaign, n_hits, SYSTEMS[:n_systems])
    hits = Hit.objects.bulk_create(
        Hit(campaign=campaign, number=number, n_places_left=campaign.workers_per_hit) for number in range(1, n_hits + 1)
    )
    HitItem.objects.bulk_create(
        item for n, hit in enumerate(hits) for item in _items(hit, outputs[n * n_systems : (n + 1) * n_systems])
    )
    return hits


def _items(hit: Hit, outputs: list[Output]) -> list[HitItem]:
    half = outputs[: len(outputs) // 2]
    ordinary = [(output, Kind.ORDINARY, None, output.text) for output in outputs]
    degraded = [
        (output, Kind.DEGRADED, twin, " ".join(sorted(output.text.split())))
        for twin, output in enumerate(half, start=1)
    ]
    repeat = (outputs[-1], Kind.REPEAT, len(outputs), outputs[-1].text)
    return [
        HitItem(hit=hit, position=position, output=output, kind=kind, twin_position=twin, text=text)
        for position, (output, kind, twin, text) in enumerate([*ordinary, *degraded, repeat], start=1)
    ]


def launch(campaign: Campaign, status: str = Campaign.Status.RUNNING) -> Campaign:
    """Mark a campaign as launched, without the checks of its page."""
    campaign.status, campaign.launched_at = status, timezone.now()
    campaign.save(update_fields=["status", "launched_at"])
    return campaign


def make_worker(campaign: Campaign, name: str) -> Worker:
    """Return the worker whom the campaign knows by this name, as the link platform keys them."""
    return Worker.objects.get_or_create(platform=campaign.platform, key=f"{campaign.public_id}:{name}")[0]


def rate(
    campaign: Campaign,
    n_workers: int,
    rng: np.random.Generator,
    *,
    n_careless: int = 0,
    started_at: datetime | None = None,
) -> list[Assignment]:
    """Have workers finish every free place of every HIT, in turn; return their assignments.

    A campaign without HITs gets four by `build`. There must be as many workers as a HIT wants, or more. Careful workers
    score by system, lower for degraded items and about the same for repeats; the last `n_careless` ones at random.
    Each third assignment comes with feedback.
    """
    hits = list(campaign.hits.all()) or build(campaign)
    workers = [make_worker(campaign, f"worker-{k:03}") for k in range(n_workers)]
    places = [(hit, (n + place) % n_workers) for n, hit in enumerate(hits) for place in range(hit.n_places_left)]
    items: dict[int, list[HitItem]] = {hit.pk: [] for hit in hits}
    for item in HitItem.objects.filter(hit__in=hits).select_related("output__system").order_by("hit", "position"):
        items[item.hit_id].append(item)
    criteria = list(campaign.criteria.all())
    works = [
        _work(hit, items[hit.pk], criteria, workers[k], rng, k >= n_workers - n_careless, started_at=started_at)
        for hit, k in places
    ]
    for work in works[::3]:
        work.assignment.feedback = f"Item 2 of HIT {work.assignment.hit.number} was hard to read."
    _store(works)
    return [work.assignment for work in works]


def rate_hit(
    hit: Hit,
    worker: Worker,
    rng: np.random.Generator,
    *,
    n_rated: int | None = None,
    state: str = State.FINISHED,
    is_careless: bool = False,
    started_at: datetime | None = None,
) -> Assignment:
    """Have a worker rate the first `n_rated` items (all by default) of a HIT; return the assignment in its state.

    Each item takes 5 to 30 s. A finished or active assignment takes a place of the HIT.
    """
    items, criteria = list(hit.items.select_related("output__system")), list(hit.campaign.criteria.all())
    work = _work(hit, items, criteria, worker, rng, is_careless, n_rated=n_rated, state=state, started_at=started_at)
    _store([work])
    return work.assignment


class _Work(NamedTuple):
    """An assignment with what it leaves behind, to be stored."""

    assignment: Assignment
    ratings: list[Response]
    events: list[Event]


def _work(
    hit: Hit,
    items: Sequence[HitItem],
    criteria: Sequence[Criterion],
    worker: Worker,
    rng: np.random.Generator,
    is_careless: bool,
    *,
    n_rated: int | None = None,
    state: str = State.FINISHED,
    started_at: datetime | None = None,
) -> _Work:
    rated = items if n_rated is None else items[:n_rated]
    shown_ms = rng.integers(5_000, 30_000, len(rated))
    started_at = started_at or timezone.now() - timedelta(milliseconds=int(shown_ms.sum()) + 10_000)
    rated_at = [started_at + timedelta(milliseconds=int(ms)) for ms in shown_ms.cumsum()]
    seen_at = rated_at[-1] if rated_at else started_at
    is_done = state == State.FINISHED
    assignment = Assignment(
        campaign=hit.campaign,
        hit=hit,
        worker=worker,
        state=state,
        n_rated=len(rated),
        n_items=len(items),
        started_at=started_at,
        seen_at=seen_at,
        leased_until=seen_at + timedelta(minutes=hit.campaign.lease_minutes),
        ended_at=None if state == State.ACTIVE else seen_at + timedelta(seconds=5),
        completion_code=f"CODE{hit.number:03}{worker.pk:03}" if is_done else "",
    )
    if state in (State.FINISHED, State.ACTIVE):
        hit.n_places_left -= 1
    ratings = [
        Response(assignment=assignment, item=item, criterion=criterion, value=score, score=score, rated_at=at)
        for item, at in zip(rated, rated_at, strict=True)
        for criterion, score in zip(criteria, _scores(item, criteria, rng, is_careless), strict=True)
    ]
    events = [
        Event(
            assignment=assignment,
            item=item,
            kind=Event.Kind.RATED,
            at=at,
            data={"shown_ms": int(ms), "first_touch_ms": int(ms) // 2, "n_moves": len(criteria)},
        )
        for item, at, ms in zip(rated, rated_at, shown_ms, strict=True)
    ]
    events.insert(0, Event(assignment=assignment, kind=Event.Kind.STARTED, at=started_at))
    if assignment.ended_at:
        events.append(Event(assignment=assignment, kind=state, at=assignment.ended_at))
    return _Work(assignment, ratings, events)


def _store(works: Sequence[_Work]) -> None:
    """Store what workers did, all at once."""
    Assignment.objects.bulk_create(work.assignment for work in works)
    Hit.objects.bulk_update({work.assignment.hit for work in works}, ["n_places_left"])
    Response.objects.bulk_create(rating for work in works for rating in work.ratings)
    Event.objects.bulk_create(event for work in works for event in work.events)


def _scores(item: HitItem, criteria: Sequence[Criterion], rng: np.random.Generator, is_careless: bool) -> list[int]:
    """Return a score for each criterion: better systems have names later in the alphabet; negative ones the reverse."""
    if is_careless:
        return rng.integers(0, 101, len(criteria)).tolist()
    quality = 80.0 if item.output.system.is_human else 30.0 + 7.0 * SYSTEMS.index(item.output.system.name)
    if item.kind == Kind.DEGRADED:
        quality -= 35
    scores = np.clip(np.rint(quality + rng.normal(0, 6, len(criteria))), 0, 100).astype(int)
    return [
        int(100 - score if criterion.is_negative else score) for score, criterion in zip(scores, criteria, strict=True)
    ]
