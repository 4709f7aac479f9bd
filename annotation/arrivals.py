"""Who has followed a campaign's link, and what awaits them. Only a look: `start_assignment` decides."""

import secrets
from dataclasses import dataclass
from uuid import UUID

from django.core.signing import BadSignature, Signer

from annotation.models import Assignment, Worker
from campaigns.models import Campaign, Hit
from campaigns.platforms import get_platform
from evalsite.lib.errors import DomainError

_newcomers = Signer(salt="annotation.newcomer", sep="/")
State = Assignment.State


@dataclass(frozen=True)
class Outlook:
    """What somebody will meet: `refusal` is the code of what keeps them from a HIT, "" if nothing does.

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


def foresee(campaign: Campaign, worker_key: str | None) -> Outlook:
    """Return what awaits the worker of a key; a key of None is somebody new. At most six queries."""
    worker = Worker.objects.filter(platform=campaign.platform, key=worker_key).first() if worker_key else None
    mine = list(worker.assignments.filter(campaign=campaign)) if worker else []
    active = next((each for each in mine if each.state == State.ACTIVE), None)
    finished = tuple(each for each in mine if each.state == State.FINISHED)
    if active:
        return Outlook("", active.n_items, active, finished)
    if refusal := _find_refusal(campaign, worker, mine):
        return Outlook(refusal, finished=finished)
    # An expired assignment is taken up again if its HIT is still free; other HITs are had once.
    had = [each.hit_id for each in mine if each.state != State.EXPIRED]
    free = Hit.objects.filter(campaign=campaign, n_places_left__gt=0).exclude(pk__in=had)
    hit = free.first()
    return Outlook("", hit.items.count(), None, finished) if hit else Outlook("no_work", finished=finished)


def _find_refusal(campaign: Campaign, worker: Worker | None, mine: list[Assignment]) -> str:
    if not campaign.is_open:
        return campaign.status
    n_finished = sum(each.state == State.FINISHED for each in mine)
    if campaign.hits_per_worker is not None and n_finished >= campaign.hits_per_worker:
        return "enough_hits"
    return "enough_workers" if not mine and _has_enough_workers(campaign) else ""


def _has_enough_workers(campaign: Campaign) -> bool:
    most = get_platform(campaign.platform).max_workers(campaign.ref)
    if most is None:
        return False
    return Assignment.objects.filter(campaign=campaign).values("worker").distinct().count() >= most


def sign_newcomer(campaign: Campaign) -> str:
    """Return a worker key for somebody new, signed, for the form that they will send."""
    return _newcomers.sign(f"{campaign.public_id}:{secrets.token_hex(5)}")


def newcomer_key(campaign: Campaign, signed: str) -> str | None:
    """Return the key that `sign_newcomer` made; None if it is not one of this campaign's."""
    try:
        key = _newcomers.unsign(signed)
    except BadSignature:
        return None
    return key if key.startswith(f"{campaign.public_id}:") else None
