"""Taking a place of a HIT for a worker, keeping it by leases, and taking over one in which nothing was rated.

A place is taken and freed by one UPDATE that names the state it expects, so that no two workers get the same place.
Locks are always taken in the order worker, assignment, HIT, campaign; of several HITs, in the order of keys. They are
locks that foreign keys do not wait for (`no_key`): PostgreSQL checks those as late as at the commit.

A place that is taken over changes hands in one transaction: one assignment ends, another begins, and the HIT's count
stays as it is. The one that ends is locked only if nobody else has it (`skip_locked`), so this waits for nobody.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import IntegrityError, transaction
from django.db.models import Case, F, Value, When
from django.utils import timezone

from annotation.access.network_clients import hits_of, remember, remember_refusal
from annotation.access.places import (
    UNSTARTED,
    is_begun,
    is_enough,
    is_full,
    is_revoked,
    list_displaceable,
    unstarted_in,
)
from annotation.models import Assignment, Event, Invitation, PlaceFreed, Worker
from annotation.services.drawing import Draw, draw_hit
from campaigns.contracts.platform import Place
from campaigns.models import Campaign, Hit
from evalsite.lib.errors import DomainError

State = Assignment.State


class Consent(NamedTuple):
    """What a worker agreed to, and when; nothing where there is no consent text or no record."""

    version: str = ""
    at: datetime | None = None


def with_objects(assignment: Assignment, campaign: Campaign, worker: Worker) -> Assignment:
    """Return the assignment with objects that are at hand, so that no query fetches them again."""
    assignment.campaign, assignment.worker = campaign, worker
    return assignment


def lease_hit(
    campaign: Campaign, worker: Worker, mine: list[Assignment], place: Place | None, consent: Consent, client: str
) -> Assignment:
    """Take a place of a HIT that has one and that the worker has not had, or of the one that is asked for.

    Where none is free, or so many take part that there is no room for a newcomer, take a place over.
    """
    hit, draw = _lock_free_hit(campaign, worker, place, client)
    has_no_room = _has_no_room(campaign, worker.pk)
    if hit is None or has_no_room or not take_place(hit.pk):
        candidates = list_displaceable(campaign, mine, only_newcomers=has_no_room)
        displaced = None if place else _displace(candidates)
        if displaced is None:
            if not mine:
                remember_refusal(client, campaign.pk)
            raise _enough_workers() if has_no_room else _no_work()
        hit, draw = displaced.hit, Draw(displaced.draw_probability, displaced.even_probability)
    before = next((with_objects(each, campaign, worker) for each in mine if each.hit_id == hit.pk), None)
    assignment = _resume(before, campaign) if before else _begin(campaign, worker, hit, consent, draw)
    remember(client, assignment_id=assignment.pk, hit_id=hit.pk)
    return assignment


def _lock_free_hit(campaign: Campaign, worker: Worker, place: Place | None, client: str) -> tuple[Hit | None, Draw]:
    """Return the HIT to give out next, locked: first those that the worker's client has not had. None if none is free.

    A campaign with the setting draws it at random, if no place of the platform names it.

    One that another worker is just being given is passed over, and waited for only if there is no other; then in the
    order of keys for all clients alike, as PostgreSQL keeps the lock of a HIT that is full once it was waited for.
    """
    hits = Hit.objects.filter(campaign=campaign, n_places_left__gt=0, is_offered=True)
    hits = hits.exclude(assignments__worker=worker)
    if place and place.hit_number is not None:
        hits = hits.filter(number=place.hit_number)
    elif campaign.is_adaptive and (drawn := draw_hit(hits, hits_of(client))):
        return drawn
    preferred = hits
    if had := hits_of(client):
        preferred = hits.order_by(Case(When(pk__in=had, then=Value(1)), default=Value(0)), "number")
    free = preferred.select_for_update(skip_locked=True, no_key=True).first()
    return free or hits.order_by("pk").select_for_update(no_key=True).first(), Draw()


def _begin(campaign: Campaign, worker: Worker, hit: Hit, consent: Consent, draw: Draw) -> Assignment:
    """Make the assignment of a place that was taken."""
    now = timezone.now()
    assignment = Assignment(
        campaign=campaign,
        hit=hit,
        worker=worker,
        n_items=hit.items.count(),
        is_accessible=campaign.is_accessible,
        started_at=now,
        seen_at=now,
        consent_version=consent.version,
        consented_at=consent.at,
        draw_probability=draw.probability,
        even_probability=draw.even,
    )
    assignment.leased_until = _lease_end(assignment, campaign, now)
    assignment.save()
    record(assignment, Event.Kind.STARTED, now)
    return assignment


def _displace(candidates: Iterable[int]) -> Assignment | None:
    """End the first of these assignments in which still nothing was rated; its place goes to the caller, not back.

    One that is locked is passed over: its worker is doing something, or another newcomer is taking it over.
    """
    for pk in candidates:
        unlocked = Assignment.objects.select_for_update(of=("self",), skip_locked=True, no_key=True)
        found = unlocked.select_related("hit").filter(pk=pk, state=State.ACTIVE, n_rated=0).first()
        # What was said is read once the lock is held: a chat may have begun before.
        if found and not found.conversations.exists():
            close_assignment(found, State.EXPIRED, Event.Kind.EXPIRED, data={"cause": PlaceFreed.DISPLACED})
            return found
    return None


def _no_work() -> DomainError:
    return DomainError("no_work", "There is nothing left for you in this study at the moment. Thank you.")


def _enough_workers() -> DomainError:
    return DomainError("enough_workers", "Enough people are taking part already. Thank you for your interest.")


def _has_no_room(campaign: Campaign, worker_id: int) -> bool:
    """Return whether the worker is a newcomer and enough take part. Newcomers queue where they are counted."""
    if campaign.crowd_platform.max_workers(campaign.ref) is None:
        return False
    Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    return is_full(campaign, worker_id)


def _lease_end(assignment: Assignment, campaign: Campaign, now: datetime) -> datetime:
    """Return until when an assignment is kept: not long, where a worker whom nobody invited has not begun."""
    lease = _lease_of(campaign)
    if campaign.crowd_platform.has_account or lease <= UNSTARTED or is_begun(assignment, campaign):
        return now + lease
    is_invited = Invitation.objects.filter(campaign=campaign, worker=assignment.worker_id).exists()
    return now + (lease if is_invited else UNSTARTED)


def _lease_of(campaign: Campaign) -> timedelta:
    return timedelta(minutes=campaign.lease_minutes)


def take_place(hit_id: int) -> bool:
    """Take a place of a HIT; return False if none is free."""
    return bool(Hit.objects.filter(pk=hit_id, n_places_left__gt=0).update(n_places_left=F("n_places_left") - 1))


def free_place(hit_id: int) -> None:
    """Offer a place of a HIT again."""
    Hit.objects.filter(pk=hit_id).update(n_places_left=F("n_places_left") + 1)


def record(assignment: Assignment, kind: str, now: datetime, data: dict[str, Any] | None = None) -> None:
    """Keep an event of an assignment."""
    Event.objects.create(assignment=assignment, kind=kind, at=now, data=data or {})


def renew(assignment: Assignment, campaign: Campaign, now: datetime) -> None:
    """Set the times of a sign of life; the caller saves `seen_at` and `leased_until`."""
    assignment.seen_at, assignment.leased_until = now, now + _lease_of(campaign)


def renew_on_arrival(assignment: Assignment, campaign: Campaign, now: datetime) -> None:
    """Set the times of a worker who has come back: by that alone, one who has not begun keeps the place no longer."""
    assignment.seen_at = now
    assignment.leased_until = max(assignment.leased_until, _lease_end(assignment, campaign, now))


def reclaim(assignment: Assignment, campaign: Campaign, *, has_sent: bool = True) -> bool:
    """Make an expired assignment, locked by the caller, active again.

    A worker who `has_sent` something takes the place back from one who has not begun. Return False if the place has
    gone, a newcomer finds no room, the worker's link was revoked, or they have another HIT at the moment or have done
    all that they may.
    """
    others = Assignment.objects.filter(campaign=campaign, worker=assignment.worker_id).exclude(pk=assignment.pk)
    if is_enough(campaign, others.values_list("state", flat=True)) or is_revoked(campaign, assignment.worker_id):
        return False
    try:
        with transaction.atomic():
            _take_place_again(assignment, campaign, has_sent)
            _resume(assignment, campaign)
    except (_NoPlaceError, IntegrityError):  # one active assignment at a time
        return False
    return True


class _NoPlaceError(Exception):
    """No place is left, or one was taken for somebody who may not take part any more.

    What was changed or locked is given back: PostgreSQL keeps the lock of a HIT that filled up while it was waited for,
    and the worker's next HIT may be one that comes before it in the order of keys.
    """


def _take_place_again(assignment: Assignment, campaign: Campaign, has_sent: bool) -> None:
    """Take a place of the assignment's HIT; raise _NoPlaceError."""
    if take_place(assignment.hit_id):
        # Counted after the HIT is locked.
        if not has_sent and not is_begun(assignment, campaign) and _has_no_room(campaign, assignment.worker_id):
            raise _NoPlaceError
        return
    unstarted = unstarted_in(campaign).filter(hit=assignment.hit_id).order_by("seen_at", "pk")
    if not has_sent or _displace(unstarted.values_list("pk", flat=True)) is None:
        raise _NoPlaceError


def _resume(assignment: Assignment, campaign: Campaign) -> Assignment:
    """Make an expired assignment active, whose place was taken."""
    now = timezone.now()
    again = {
        "state": State.ACTIVE,
        "ended_at": None,
        "seen_at": now,
        "leased_until": _lease_end(assignment, campaign, now),
    }
    Assignment.objects.filter(pk=assignment.pk).update(**again)
    for name, value in again.items():
        setattr(assignment, name, value)
    record(assignment, Event.Kind.RESUMED, now)
    return assignment


def close_assignment(assignment: Assignment, state: str, kind: str, data: dict[str, Any] | None = None) -> None:
    """End an active assignment, locked by the caller, whose place is for the caller to give on."""
    now = timezone.now()
    assignment.state, assignment.ended_at = state, now
    assignment.save(update_fields=["state", "ended_at"])
    record(assignment, kind, now, data)
