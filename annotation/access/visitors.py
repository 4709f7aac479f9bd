"""Who has followed a campaign's link, and what they may do. It reserves nothing: `start_assignment` decides."""

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from django.core.signing import BadSignature, Signer

from annotation.access.places import COMPLETED, is_enough, is_full, is_revoked, list_displaceable
from annotation.models import Assignment, Event, Invitation, Worker
from campaigns.contracts.platform import Arrival, Place
from campaigns.models import Campaign, Hit
from evalsite.lib.errors import DomainError

State = Assignment.State


@dataclass(frozen=True)
class Offer:
    """What somebody may do: `refusal` is the code of what keeps them from a HIT, "" if nothing does.

    `n_items` is the size of a HIT that is free, `active` the assignment that they have begun, `finished` those that
    they have completed.
    """

    refusal: str
    n_items: int = 0
    active: Assignment | None = None
    finished: tuple[Assignment, ...] = ()


def find_campaign(public_id: UUID) -> Campaign:
    """Return the campaign of a link; raise DomainError `bad_link`. One query."""
    try:
        return Campaign.objects.get(public_id=public_id)
    except Campaign.DoesNotExist:
        raise DomainError(
            "bad_link", "There is no study at this address. Copy the link whole, or ask who sent it."
        ) from None


def identify(campaign: Campaign, params: Mapping[str, str]) -> Arrival:
    """Return who has come with the parameters of a link; raise DomainError `bad_link`. At most one query."""
    arrival = campaign.crowd_platform.identify(campaign.ref, params)
    if not arrival.invitation:
        return arrival
    invited = Invitation.objects.select_related("worker").filter(campaign=campaign, key=arrival.invitation).first()
    if invited is None:
        raise DomainError("bad_link", "This link was deleted. Ask the person who sent it for another.")
    return replace(arrival, worker_key=invited.worker.key)


def find_offer(campaign: Campaign, worker_key: str | None, place: Place | None = None) -> Offer:
    """Return what the worker of a key may do; a key of None is somebody new. At most ten queries.

    `place` is what they came with from a crowd platform: the HIT that it names, if it names one, and no other.
    """
    number = place.hit_number if place else None
    worker = Worker.objects.filter(platform=campaign.platform, key=worker_key).first() if worker_key else None
    mine = list(worker.assignments.filter(campaign=campaign).select_related("hit")) if worker else []
    finished = tuple(each for each in mine if each.state in COMPLETED)
    if worker and is_revoked(campaign, worker.pk):
        return Offer("revoked", finished=finished)
    if begun := find_begun(mine, place):
        return Offer("", begun.n_items, begun, finished)
    if number is not None and any(each.state == State.ACTIVE for each in mine):
        return Offer("other_hit", finished=finished)
    if refusal := _find_refusal(campaign, mine):
        return Offer(refusal, finished=finished)
    has_no_room = is_full(campaign, worker.pk if worker else None)
    # An expired assignment is taken up again if its HIT is still free; other HITs are had once.
    had = [each.hit_id for each in mine if each.state != State.EXPIRED and number is None]
    free = Hit.objects.filter(campaign=campaign, n_places_left__gt=0, is_offered=True).exclude(pk__in=had)
    hit = None if has_no_room else (free if number is None else free.filter(number=number)).first()
    if hit:
        return Offer("", hit.items.count(), None, finished)
    if not place and (others := list_displaceable(campaign, mine, only_newcomers=has_no_room)):
        return Offer("", Assignment.objects.values_list("n_items", flat=True).get(pk=others[0]), None, finished)
    return Offer("enough_workers" if has_no_room else "no_work", finished=finished)


def find_begun(mine: Iterable[Assignment], place: Place | None) -> Assignment | None:
    """Return which of a worker's own assignments they find again, None if none of them.

    It is the one that belongs to the place they come with, so that it can be submitted whatever else they have begun;
    or else, unless the place names another HIT, the one that they are at.
    """
    kept = [each for each in mine if each.state in (State.ACTIVE, *COMPLETED)]
    if place and place.hit_number is not None:
        return next((each for each in kept if each.hit.number == place.hit_number), None)
    own = (each for each in kept if place and each.platform_id == place.platform_id)
    return next(own, next((each for each in kept if each.state == State.ACTIVE), None))


def last_arrival(assignment: Assignment) -> datetime | None:
    """Return when the worker of an assignment last came from the platform, or took it up again; None if never."""
    came = assignment.events.filter(kind__in=(Event.Kind.ARRIVED, Event.Kind.RESUMED))
    return came.order_by("-pk").values_list("at", flat=True).first()


def _find_refusal(campaign: Campaign, mine: list[Assignment]) -> str:
    if not campaign.is_open:
        return campaign.status
    return "enough_hits" if is_enough(campaign, (each.state for each in mine)) else ""


def sign_newcomer(campaign: Campaign) -> str:
    """Return a worker key for somebody new, signed, for the form that they will send."""
    return _newcomers().sign(f"{campaign.public_id}:{secrets.token_hex(5)}")


def newcomer_key(campaign: Campaign, signed: str) -> str | None:
    """Return the key that `sign_newcomer` made; None if it is not one of this campaign's."""
    try:
        key = _newcomers().unsign(signed)
    except BadSignature:
        return None
    return key if key.startswith(f"{campaign.public_id}:") else None


def _newcomers() -> Signer:
    return Signer(salt="annotation.newcomer", sep="/")
