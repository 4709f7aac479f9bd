"""Giving HITs out, taking them back, finishing them. How a place is taken is `leases`."""

import secrets
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.crypto import get_random_string

from annotation.access.places import COMPLETED, is_enough, is_revoked
from annotation.access.visitors import find_begun
from annotation.models import Assignment, Event, PlaceFreed, Worker
from annotation.services.leases import (
    Consent,
    close_assignment,
    free_place,
    lease_hit,
    reclaim,
    record,
    renew_on_arrival,
    with_objects,
)
from campaigns.contracts.events import FinishedHit, HitsFinished
from campaigns.contracts.platform import Place
from campaigns.models import Campaign, Hit
from campaigns.services.lifecycle import announce_end
from campaigns.services.webhooks import announce
from evalsite.jobs.handlers import enqueue
from evalsite.lib.errors import DomainError

State = Assignment.State
GIVEN_UP = (State.EXPIRED, State.RETURNED)
QUIET = timedelta(minutes=5)
"""How long a worker has given no sign of life whose place on the platform may have been given to another one."""
# Without letters and digits that look alike.
_CODE_ALPHABET, _CODE_LENGTH = "ABCDEFGHJKMNPQRSTUVWXYZ23456789", 10
_EXPIRED_AT_ONCE = 500


def start_assignment(
    *,
    campaign: Campaign,
    worker_key: str | None,
    consented: bool = False,
    has_agreed: bool = False,
    place: Place | None = None,
    client: str = "",
) -> Assignment:
    """Give a worker a HIT, or the one they have already begun; a `worker_key` of None is somebody new.

    `consented`: they have just agreed to the consent text. `has_agreed`: they are not asked again, since they agreed
    with an earlier HIT of the campaign.
    A worker who comes with a place of a crowd platform gets the HIT that it names, or finds there what they have
    finished; the assignment remembers the place. `client` is a name from `annotation.access.network_clients`: it gets
    HITs that it has not had, as long as there are any. Where no place is free, one is taken over in which nothing was
    rated (`places`).

    Raises DomainError `revoked`, `not_open`, `no_consent`, `enough_workers`, `enough_hits`, `no_work`, `other_hit` or,
    of a place that somebody else came with, `other_worker`.
    """
    # In a transaction of its own, which locks other workers' assignments and ends before this worker is locked.
    expire_leases(campaign=campaign, except_of=worker_key)
    if place:
        _release_reused(campaign, worker_key, place)
    return _start(campaign, worker_key, place, client, consented=consented, has_agreed=has_agreed)


def _release_reused(campaign: Campaign, worker_key: str | None, place: Place) -> None:
    """Take the HIT back from a worker who came with a place before and has sent nothing since.

    A platform may give a place that was returned to the next worker under the same id, which nobody else knows.
    """
    quiet = Assignment.objects.filter(
        campaign=campaign, platform_id=place.platform_id, state=State.ACTIVE, seen_at__lt=timezone.now() - QUIET
    )
    for assignment in quiet.exclude(worker__key=worker_key):
        with suppress(DomainError):  # it has ended at this very moment
            release_assignment(assignment=assignment, cause=PlaceFreed.PLACE_REUSED)


@transaction.atomic
def _start(
    campaign: Campaign, worker_key: str | None, place: Place | None, client: str, *, consented: bool, has_agreed: bool
) -> Assignment:
    worker = _worker_of(campaign, worker_key)
    # Of every state: a request that changes one of them at this moment ends first, and is seen.
    locked = Assignment.objects.select_for_update(of=("self",), no_key=True).select_related("hit")
    mine = list(locked.filter(campaign=campaign, worker=worker))
    if is_revoked(campaign, worker.pk):
        task = campaign.crowd_platform.task_name
        raise DomainError(
            "revoked", f"This link gives out no {task}s any more. What you have rated is kept. Thank you."
        )
    if place:
        _check_owner(campaign, worker, place)
        _check_unspent(campaign, mine, place)
    if begun := find_begun(mine, place):
        if begun.state == State.ACTIVE:
            renew_on_arrival(begun, campaign, timezone.now())
            begun.save(update_fields=["seen_at", "leased_until"])
        return _arrived(with_objects(begun, campaign, worker), place)
    _check_free(campaign, mine)
    if not campaign.is_open:
        raise DomainError("not_open", "This study is not open at the moment. Nothing is lost: try again later.")
    if is_enough(campaign, (each.state for each in mine)):
        raise DomainError("enough_hits", "You have done as much of this study as one person may. Thank you.")
    for each in mine:
        if _may_go_on(each, place) and reclaim(each, campaign, has_sent=False):
            return _arrived(with_objects(each, campaign, worker), place)
    consent = _consent_of(campaign, mine, consented=consented, has_agreed=has_agreed)
    return _arrived(lease_hit(campaign, worker, mine, place, consent, client), place)


def _consent_of(campaign: Campaign, mine: list[Assignment], *, consented: bool, has_agreed: bool) -> Consent:
    """Return what is kept with a new assignment of a worker; raise DomainError `no_consent`.

    Who agreed before consents were kept has no record, and gets none.
    """
    version = campaign.consent_version
    if not version:
        return Consent()
    if consented:
        return Consent(version, timezone.now())
    if not has_agreed:
        raise DomainError("no_consent", "Tick that you agree to take part, then start.")
    earlier = [each.consented_at for each in mine if each.consented_at and each.consent_version == version]
    return Consent(version, max(earlier)) if earlier else Consent()


def _check_owner(campaign: Campaign, worker: Worker, place: Place) -> None:
    """Refuse a place of the platform that another worker holds: its address was copied or made up."""
    others = Assignment.objects.filter(campaign=campaign, platform_id=place.platform_id).exclude(worker=worker)
    if others.exclude(state__in=GIVEN_UP).exists():
        raise _other_worker(campaign)


def _other_worker(campaign: Campaign) -> DomainError:
    return DomainError(
        "other_worker",
        f"Somebody else is working on this. Open the {campaign.crowd_platform.task_name} from the platform as "
        "yourself. If you have just accepted it, "
        "somebody left it a moment ago: open it again in five minutes.",
    )


def _check_unspent(campaign: Campaign, mine: list[Assignment], place: Place) -> None:
    """Refuse a place with which the worker has finished another HIT: it is needed there to hand that one in."""
    spent = [each for each in mine if each.state in COMPLETED and each.platform_id == place.platform_id]
    if place.hit_number is not None and any(each.hit.number != place.hit_number for each in spent):
        task = campaign.crowd_platform.task_name
        raise DomainError("other_hit", f"You have finished another {task} at this address. Open each on the platform.")


def _check_free(campaign: Campaign, mine: list[Assignment]) -> None:
    """Refuse another HIT to a worker who is at one."""
    if any(each.state == State.ACTIVE for each in mine):
        task = campaign.crowd_platform.task_name
        raise DomainError(
            "other_hit",
            f"You have begun another {task} of this study. Finish it or return it, then open this one again.",
        )


def _may_go_on(assignment: Assignment, place: Place | None) -> bool:
    """Tell whether an assignment that has ended may be taken up again: on a platform, also one that was returned."""
    if place is None or place.hit_number is None:
        return assignment.state == State.EXPIRED
    return assignment.state in GIVEN_UP and assignment.hit.number == place.hit_number


def _arrived(assignment: Assignment, place: Place | None) -> Assignment:
    """Remember the place of the platform that a worker has come with to an assignment."""
    if place and (assignment.platform_id, assignment.platform_data) != (place.platform_id, place.data):
        # One that was given up keeps its work and loses its place: the platform's id belongs to one assignment.
        Assignment.objects.filter(
            campaign=assignment.campaign_id, platform_id=place.platform_id, state__in=GIVEN_UP
        ).exclude(pk=assignment.pk).update(platform_id="")
        assignment.platform_id, assignment.platform_data = place.platform_id, dict(place.data)
        try:
            with transaction.atomic():
                assignment.save(update_fields=["platform_id", "platform_data"])
        except IntegrityError:  # somebody else came with it at this very moment
            raise _other_worker(assignment.campaign) from None
        Event.objects.create(
            assignment=assignment, kind=Event.Kind.ARRIVED, at=timezone.now(), data={"platform_id": place.platform_id}
        )
    return assignment


def _worker_of(campaign: Campaign, key: str | None) -> Worker:
    if key is None:
        return Worker.objects.create(platform=campaign.platform, key=f"{campaign.public_id}:{secrets.token_hex(5)}")
    worker, _ = Worker.objects.get_or_create(platform=campaign.platform, key=key)
    return Worker.objects.select_for_update(no_key=True).get(pk=worker.pk)  # of two clicks at once, the second waits


@transaction.atomic
def finish_assignment(*, assignment_id: int, feedback: str = "") -> Assignment:
    """End an assignment whose items are all rated, and give it a completion code; again, the same code.

    The last one of a campaign closes it and has it analysed. Raises DomainError `not_complete`, `returned` or
    `lease_lost`.
    """
    assignment = _locked(assignment_id)
    feedback = feedback.replace("\0", "").strip()  # PostgreSQL takes no NUL
    if assignment.state in COMPLETED:
        if feedback and not assignment.feedback:  # it had finished by itself when the lease ended
            assignment.feedback = feedback
            assignment.save(update_fields=["feedback"])
        return assignment
    if assignment.n_rated < assignment.n_items:
        left = assignment.n_items - assignment.n_rated
        raise DomainError("not_complete", f"{left} of {assignment.n_items} items are still to be rated.")
    if assignment.state == State.RETURNED:
        raise DomainError("returned", f"You have returned this {assignment.campaign.crowd_platform.task_name}.")
    if assignment.state == State.EXPIRED and not reclaim(assignment, assignment.campaign):
        raise DomainError(
            "lease_lost",
            "Nothing was sent for so long that somebody else was given this. What you rated is kept.",
        )
    assignment.feedback = feedback
    _finish(assignment, timezone.now())
    _conclude(assignment.campaign_id, [assignment])
    return assignment


def _locked(assignment_id: int) -> Assignment:
    assignments = Assignment.objects.select_for_update(of=("self",), no_key=True).select_related(
        "campaign", "worker", "hit"
    )
    return assignments.get(pk=assignment_id)


def _finish(assignment: Assignment, now: datetime) -> None:
    assignment.state, assignment.ended_at = State.FINISHED, now
    assignment.completion_code = get_random_string(_CODE_LENGTH, _CODE_ALPHABET)
    assignment.save(update_fields=["state", "ended_at", "completion_code", "feedback"])
    record(assignment, Event.Kind.FINISHED, now)


def _conclude(campaign_id: int, finished: Sequence[Assignment]) -> None:
    """Have a campaign analysed in which assignments have just finished, if nothing more is awaited; close it then.

    Of two that finish at once, the second waits here for the first, and then sees it. In a campaign that was closed
    before, those who were still at work count as they finish. One that is paid through an account stays open: HITs of
    workers who failed may be offered once more.
    """
    campaign = Campaign.objects.select_for_update(no_key=True).get(pk=campaign_id)
    _announce_finished(campaign, finished)
    if campaign.status != Campaign.Status.CLOSED:
        if (
            campaign.hits.filter(n_places_left__gt=0).exists()
            or campaign.assignments.filter(state=State.ACTIVE).exists()
        ):
            return
        if not campaign.crowd_platform.has_account:
            campaign.status, campaign.closed_at = Campaign.Status.CLOSED, timezone.now()
            campaign.save(update_fields=["status", "closed_at"])
            announce_end(campaign)
    enqueue("analysis.campaign", args={"campaign": campaign.pk})


def _announce_finished(campaign: Campaign, finished: Sequence[Assignment]) -> None:
    """Announce HITs that workers have just finished."""
    hits = (FinishedHit(each.pk, each.hit.number, each.ended_at) for each in finished if each.ended_at)
    announce(campaign_id=campaign.pk, data=HitsFinished(finished=tuple(hits)))


@transaction.atomic
def return_assignment(*, assignment_id: int) -> Assignment:
    """Give a HIT back, at its worker's wish; its ratings are kept. Raises DomainError `not_active`."""
    assignment = _locked(assignment_id)
    if assignment.state == State.RETURNED:
        return assignment
    if assignment.state != State.ACTIVE:
        raise DomainError("not_active", f"This HIT is {assignment.get_state_display().lower()} already.")
    _end(assignment, State.RETURNED, Event.Kind.RETURNED)
    return assignment


@transaction.atomic
def choose_text(*, assignment_id: int) -> Assignment:
    """Show the texts of an assignment as text from now on, at its worker's wish; again, nothing changes.

    Raises DomainError `not_active`, or `no_text` where the campaign does not offer it.
    """
    assignment = _locked(assignment_id)
    if assignment.is_accessible:
        return assignment
    if assignment.state != State.ACTIVE:
        raise DomainError("not_active", f"This HIT is {assignment.get_state_display().lower()} already.")
    if not assignment.campaign.can_choose_text:
        raise DomainError("no_text", "The texts of this study can only be shown as images.")
    assignment.is_accessible = True
    assignment.save(update_fields=["is_accessible"])
    record(assignment, Event.Kind.TEXT, timezone.now())
    return assignment


@transaction.atomic
def release_assignment(*, assignment: Assignment, cause: PlaceFreed) -> Assignment:
    """Take a HIT back from a worker who left it, before its lease ends; if all is rated, it finishes instead.

    Raises DomainError `not_active`.
    """
    locked = _locked(assignment.pk)
    if locked.state != State.ACTIVE:
        raise DomainError("not_active", f"This assignment is {locked.get_state_display().lower()} already.")
    if locked.n_rated == locked.n_items:
        _finish(locked, timezone.now())
        _conclude(locked.campaign_id, [locked])
    else:
        _end(locked, State.EXPIRED, Event.Kind.EXPIRED, {"cause": cause})
    return locked


def _end(assignment: Assignment, state: str, kind: str, data: dict[str, str] | None = None) -> None:
    """Take the HIT's place back from an active assignment, locked by the caller."""
    close_assignment(assignment, state, kind, data)
    free_place(assignment.hit_id)


def expire_leases(
    *, campaign: Campaign | None = None, except_of: str | None = None, now: datetime | None = None
) -> int:
    """End the leases that have run out, except those of the worker of a key, and free their places; return how many.

    A worker who has rated every item and only left the last page open has finished: nobody loses complete work.
    """
    now = now or timezone.now()
    due = Assignment.objects.filter(state=State.ACTIVE, leased_until__lt=now)
    if campaign is not None:
        due = due.filter(campaign=campaign)
    if except_of is not None:
        due = due.exclude(worker__key=except_of)
    # Mostly there are none: on SQLite even an empty transaction stops all who write.
    return _expire(due, now) if due.exists() else 0


@transaction.atomic
def _expire(due: QuerySet[Assignment], now: datetime) -> int:
    locked = due.select_for_update(of=("self",), skip_locked=True, no_key=True).select_related("hit")
    late = list(locked.order_by("pk")[:_EXPIRED_AT_ONCE])
    complete = [assignment for assignment in late if assignment.n_rated == assignment.n_items]
    expired = [assignment for assignment in late if assignment.n_rated < assignment.n_items]
    Assignment.objects.filter(pk__in=[each.pk for each in expired]).update(state=State.EXPIRED, ended_at=now)
    cause = {"cause": PlaceFreed.LEASE_ENDED}
    Event.objects.bulk_create(Event(assignment=each, kind=Event.Kind.EXPIRED, at=now, data=cause) for each in expired)
    places = Counter(each.hit_id for each in expired)
    hits = list(Hit.objects.select_for_update(no_key=True).filter(pk__in=places).order_by("pk"))
    for hit in hits:
        hit.n_places_left += places[hit.pk]
    Hit.objects.bulk_update(hits, ["n_places_left"])
    for assignment in complete:
        _finish(assignment, now)
    for campaign_id in sorted({assignment.campaign_id for assignment in complete}):
        _conclude(campaign_id, [assignment for assignment in complete if assignment.campaign_id == campaign_id])
    return len(late)
