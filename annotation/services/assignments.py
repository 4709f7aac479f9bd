"""Giving HITs out, taking them back, finishing them.

A place of a HIT is taken and freed by one UPDATE that names the state it expects, so that no two workers get the same
place. Locks are always taken in the order assignment, HIT, campaign.
"""

import secrets
from collections import Counter
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.crypto import get_random_string

from annotation.models import Assignment, Event, Worker
from campaigns.contracts.platform import CampaignRef
from campaigns.models import Campaign, Hit
from campaigns.platforms import get_platform
from evalsite.jobs.services import enqueue
from evalsite.lib.errors import DomainError

State = Assignment.State
# Without letters and digits that look alike.
_CODE_ALPHABET, _CODE_LENGTH = "ABCDEFGHJKMNPQRSTUVWXYZ23456789", 10
_EXPIRED_AT_ONCE = 500


@transaction.atomic
def start_assignment(*, campaign: Campaign, worker_key: str | None, consented: bool = False) -> Assignment:
    """Give a worker a HIT, or the one they have already begun; a `worker_key` of None is somebody new.

    Raises DomainError `not_open`, `no_consent`, `enough_workers`, `enough_hits` or `no_work`.
    """
    expire_leases(campaign=campaign)
    worker = _worker_of(campaign, worker_key)
    mine = Assignment.objects.select_for_update(of=("self",)).filter(campaign=campaign, worker=worker)
    if active := mine.filter(state=State.ACTIVE).first():
        return _with(active, campaign, worker)
    if not campaign.is_open:
        raise DomainError("not_open", "This study is not open at the moment. Nothing is lost: try again later.")
    for expired in mine.filter(state=State.EXPIRED):
        if reclaim(expired, campaign):
            return _with(expired, campaign, worker)
    if campaign.consent and not consented:
        raise DomainError("no_consent", "Tick that you agree to take part, then start.")
    _check_caps(campaign, worker)
    return _lease(campaign, worker)


def _worker_of(campaign: Campaign, key: str | None) -> Worker:
    if key is None:
        return Worker.objects.create(platform=campaign.platform, key=f"{campaign.public_id}:{secrets.token_hex(5)}")
    worker, _ = Worker.objects.get_or_create(platform=campaign.platform, key=key)
    return Worker.objects.select_for_update().get(pk=worker.pk)  # of two clicks at once, the second waits


def _with(assignment: Assignment, campaign: Campaign, worker: Worker) -> Assignment:
    """Return the assignment with objects that are at hand, so that no query fetches them again."""
    assignment.campaign, assignment.worker = campaign, worker
    return assignment


def _check_caps(campaign: Campaign, worker: Worker) -> None:
    """Refuse a worker beyond the campaign's limits. The lock makes newcomers queue where they are counted."""
    ref = CampaignRef(campaign.public_id, campaign.platform_settings)
    most = get_platform(campaign.platform).max_workers(ref)
    if most is not None:
        Campaign.objects.select_for_update().get(pk=campaign.pk)
        others = Assignment.objects.filter(campaign=campaign).exclude(worker=worker)
        if others.values("worker").distinct().count() >= most:
            raise DomainError("enough_workers", "Enough people are taking part already. Thank you for your interest.")
    if campaign.hits_per_worker is not None:
        n_done = worker.assignments.filter(campaign=campaign, state=State.FINISHED).count()
        if n_done >= campaign.hits_per_worker:
            raise DomainError("enough_hits", "You have done as many HITs of this study as one person may. Thank you.")


def _lease(campaign: Campaign, worker: Worker) -> Assignment:
    """Take a place of the first HIT that has one and that the worker has not had."""
    hits = Hit.objects.filter(campaign=campaign, n_places_left__gt=0).exclude(assignments__worker=worker)
    # A HIT that another worker is just being given is passed over, and waited for only if there is no other.
    hit = hits.select_for_update(skip_locked=True).first() or hits.select_for_update().first()
    if hit is None or not _take_place(hit.pk):
        raise DomainError("no_work", "There is nothing left for you in this study at the moment. Thank you.")
    now = timezone.now()
    assignment = Assignment.objects.create(
        campaign=campaign,
        hit=hit,
        worker=worker,
        n_items=hit.items.count(),
        is_accessible=campaign.is_accessible,
        started_at=now,
        seen_at=now,
        leased_until=now + _lease_of(campaign),
    )
    _record(assignment, Event.Kind.STARTED, now)
    return assignment


def _lease_of(campaign: Campaign) -> timedelta:
    return timedelta(minutes=campaign.lease_minutes)


def _take_place(hit_id: int) -> bool:
    return bool(Hit.objects.filter(pk=hit_id, n_places_left__gt=0).update(n_places_left=F("n_places_left") - 1))


def _record(assignment: Assignment, kind: str, now: datetime) -> None:
    Event.objects.create(assignment=assignment, kind=kind, at=now)


def renew(assignment: Assignment, campaign: Campaign, now: datetime) -> None:
    """Set the times of a sign of life; the caller saves `seen_at` and `leased_until`."""
    assignment.seen_at, assignment.leased_until = now, now + _lease_of(campaign)


def reclaim(assignment: Assignment, campaign: Campaign) -> bool:
    """Make an expired assignment, locked by the caller, active again; return False if its place has gone."""
    if not _take_place(assignment.hit_id):
        return False
    now = timezone.now()
    renew(assignment, campaign, now)
    assignment.state, assignment.ended_at = State.ACTIVE, None
    assignment.save(update_fields=["state", "ended_at", "seen_at", "leased_until"])
    _record(assignment, Event.Kind.RESUMED, now)
    return True


@transaction.atomic
def finish_assignment(*, assignment_id: int, feedback: str = "") -> Assignment:
    """End an assignment whose items are all rated, and give it a completion code; again, the same code.

    The last one of a campaign closes it and has it analysed. Raises DomainError `not_complete` or `lease_lost`.
    """
    assignment = _locked(assignment_id)
    if assignment.state == State.FINISHED:
        return assignment
    if assignment.n_rated < assignment.n_items:
        left = assignment.n_items - assignment.n_rated
        raise DomainError("not_complete", f"{left} of {assignment.n_items} items are still to be rated.")
    if assignment.state == State.RETURNED:
        raise DomainError("returned", "You have returned this HIT.")
    if assignment.state == State.EXPIRED and not reclaim(assignment, assignment.campaign):
        raise lease_lost()
    assignment.feedback = feedback.strip()
    _finish(assignment, timezone.now())
    close_if_complete(assignment.campaign)
    return assignment


def _locked(assignment_id: int) -> Assignment:
    assignments = Assignment.objects.select_for_update(of=("self",)).select_related("campaign", "worker")
    return assignments.get(pk=assignment_id)


def lease_lost() -> DomainError:
    """Return the error of a worker who comes back too late."""
    return DomainError(
        "lease_lost",
        "This HIT was idle for so long that it was given to somebody else. What you rated is kept.",
    )


def _finish(assignment: Assignment, now: datetime) -> None:
    assignment.state, assignment.ended_at = State.FINISHED, now
    assignment.completion_code = get_random_string(_CODE_LENGTH, _CODE_ALPHABET)
    assignment.save(update_fields=["state", "ended_at", "completion_code", "feedback"])
    _record(assignment, Event.Kind.FINISHED, now)


def close_if_complete(campaign: Campaign) -> bool:
    """Close a campaign in which every place of every HIT is finished, and have it analysed; return whether it is.

    Of two that finish at once, the second waits here for the first, and then sees it.
    """
    Campaign.objects.select_for_update().get(pk=campaign.pk)
    is_open = Hit.objects.filter(campaign=campaign, n_places_left__gt=0).exists()
    if is_open or Assignment.objects.filter(campaign=campaign, state=State.ACTIVE).exists():
        return False
    status = Campaign.Status
    launched = Campaign.objects.filter(pk=campaign.pk, status__in=[status.RUNNING, status.PAUSED, status.CLOSED])
    launched.filter(~Q(status=status.CLOSED)).update(status=status.CLOSED, closed_at=timezone.now())
    enqueue("analysis.campaign", args={"campaign": campaign.pk})
    return True


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
def release_assignment(*, assignment: Assignment) -> Assignment:
    """Take a HIT back from a worker who left it, before its lease ends. Raises DomainError `not_active`."""
    locked = _locked(assignment.pk)
    if locked.state != State.ACTIVE:
        raise DomainError("not_active", f"This assignment is {locked.get_state_display().lower()} already.")
    _end(locked, State.EXPIRED, Event.Kind.EXPIRED)
    return locked


def _end(assignment: Assignment, state: str, kind: str) -> None:
    """Take the HIT's place back from an active assignment, locked by the caller."""
    now = timezone.now()
    assignment.state, assignment.ended_at = state, now
    assignment.save(update_fields=["state", "ended_at"])
    Hit.objects.filter(pk=assignment.hit_id).update(n_places_left=F("n_places_left") + 1)
    _record(assignment, kind, now)


@transaction.atomic
def expire_leases(*, campaign: Campaign | None = None, now: datetime | None = None) -> int:
    """End the leases that have run out and free their places; return how many.

    Whoever has rated every item and only left the last page open has finished: nobody loses complete work.
    """
    now = now or timezone.now()
    due = Assignment.objects.filter(state=State.ACTIVE, leased_until__lt=now)
    if campaign is not None:
        due = due.filter(campaign=campaign)
    locked = due.select_for_update(of=("self",), skip_locked=True).select_related("campaign")
    late = list(locked.order_by("pk")[:_EXPIRED_AT_ONCE])
    if not late:
        return 0
    complete = [assignment for assignment in late if assignment.n_rated == assignment.n_items]
    expired = [assignment for assignment in late if assignment.n_rated < assignment.n_items]
    Assignment.objects.filter(pk__in=[each.pk for each in expired]).update(state=State.EXPIRED, ended_at=now)
    Event.objects.bulk_create(Event(assignment=each, kind=Event.Kind.EXPIRED, at=now) for each in expired)
    places = Counter(each.hit_id for each in expired)
    for n_places in set(places.values()):
        freed = [hit for hit, n in places.items() if n == n_places]
        Hit.objects.filter(pk__in=freed).update(n_places_left=F("n_places_left") + n_places)
    for assignment in complete:
        _finish(assignment, now)
    for closing in {assignment.campaign for assignment in complete}:
        close_if_complete(closing)
    return len(late)
