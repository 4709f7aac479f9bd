"""Polling the platform for what workers do there, and freeing the places of those who have left.

Everything follows from what the platform says at the latest poll, so a poll may be repeated, come late or be lost.
Notifications only make the next poll come sooner; what they say of a submission is believed if it is an end, as a
platform may tell of those who left by no other way.
"""

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from annotation.access.visitors import last_arrival
from annotation.models import Assignment, PlaceFreed, Worker
from annotation.services.assignments import release_assignment
from campaigns.contracts.account import (
    CrowdAccount,
    Event,
    PlatformRefusedError,
    PlatformUnsureError,
    PolledPosting,
    PolledSubmission,
    PostingState,
)
from campaigns.models import Campaign, Hit
from crowd.models import Order, Posting, ReceivedNotification, Submission, Wave
from crowd.queries.account import is_prepared, is_stale
from crowd.queries.publishing import UNPUBLISHED, terms_of
from crowd.services.account import (
    GIVE_UP_AFTER,
    SYNC,
    RateLimitedCalls,
    enqueue_once,
    forget_prepared,
    open_account,
    prepare_account,
)
from crowd.services.syncing.discrepancies import ENDED, SUBMITTED_STATES, apply_rejections, update_discrepancies
from crowd.services.syncing.replacing import replace_failed
from evalsite.jobs.handlers import JobContext
from evalsite.jobs.models import Job

logger = logging.getLogger(__name__)
# When a posting is polled again: while workers are at it, while it waits for some, when decisions are awaited.
SOON, IDLE, AWAITING = timedelta(seconds=60), timedelta(minutes=30), timedelta(hours=1)
# How long a worker has given no sign of life of whom it may be said, if somebody has left, that it was they.
QUIET = timedelta(minutes=10)
# How much later than stated something may have happened, as a platform may state whole seconds.
_WHOLE_SECONDS = timedelta(seconds=1)
# How long a campaign rests whose account could not be opened.
REST = timedelta(minutes=10)
_MOST_ROUNDS = 100
# Longer than any platform takes to send a notification again.
_KEPT_FOR = timedelta(days=4)
_LONGEST_ERROR, _LONGEST_CODE = 500, 200
_POLLED = ("state", "worker", "code", "accepted_at", "submitted_at", "decided_by_itself_at", "payload", "last_seen_at")
State = Submission.State


def list_due(now: datetime | None = None) -> QuerySet[Posting]:
    """Return the postings to be polled: their time has come, or workers were at their HITs since the last poll."""
    now = now or timezone.now()
    at_work = Assignment.objects.filter(seen_at__gt=OuterRef("polled_at"))
    is_busy = Exists(at_work.filter(hit=OuterRef("hit_id"))) | Q(hit=None) & Exists(
        at_work.filter(campaign=OuterRef("campaign_id"))
    )
    is_due = Q(poll_at__lte=now) | Q(poll_at__isnull=False, polled_at__lte=now - SOON) & is_busy
    # One whose id is known may be open there, though the wave was interrupted before we knew.
    is_out = ~Q(state__in=UNPUBLISHED) | ~Q(platform_id="") & Q(wave__state=Wave.State.STOPPED)
    return Posting.objects.filter(is_out & is_due)


def request_sync(*, campaign: Campaign) -> None:
    """Have all postings of a campaign polled as soon as possible, except those that are deleted."""
    postings = Posting.objects.filter(campaign=campaign).exclude(state__in=(*UNPUBLISHED, Posting.State.GONE))
    postings.update(poll_at=timezone.now())
    enqueue_once(SYNC, campaign.pk)


def enqueue_due_syncs() -> None:
    """Enqueue the jobs of campaigns with postings that are due, except those whose account could not be opened."""
    failed_at = timezone.now() - REST
    for campaign_id in list_due().order_by().values_list("campaign", flat=True).distinct():
        failed = Job.objects.filter(kind=SYNC, args__campaign=campaign_id, status=Job.Status.FAILED)
        if not failed.exclude(error_code="lost").filter(finished_at__gt=failed_at).exists():
            enqueue_once(SYNC, campaign_id)


def sync_campaign(ctx: JobContext, campaign: int) -> None:
    """Read the notifications of a campaign, poll its postings that are due, set discrepancies, replace what failed.

    What the platform does not answer is left for later. Raises DomainError if the account cannot be opened.
    """
    found = Campaign.objects.get(pk=campaign)
    account, calls = open_account(found), RateLimitedCalls()
    ctx.progress(0, 0, "Reading notifications")
    account = _refreshed(found, account, calls)
    _read_events(found, account, calls)
    _poll_due_postings(ctx, found, account, calls)
    update_discrepancies(found)
    replace_failed(campaign=found)
    _end_notifications(found, account, calls)


def _refreshed(campaign: Campaign, account: CrowdAccount, calls: RateLimitedCalls) -> CrowdAccount:
    """Bring up to date once a day what is stored of the account; return the account."""
    wave = campaign.waves.order_by("-number").first()
    open_ones = Posting.objects.filter(campaign=campaign, state__in=(Posting.State.OPEN, Posting.State.PAUSED))
    if wave is None or not is_stale(campaign) or not open_ones.exists():
        return account
    try:
        return prepare_account(campaign, terms_of(campaign, wave.site_url), calls)
    except (PlatformUnsureError, PlatformRefusedError) as error:
        logger.warning("the account of campaign %d could not be refreshed: %s", campaign.pk, error)
        return account


def _end_notifications(campaign: Campaign, account: CrowdAccount, calls: RateLimitedCalls) -> None:
    """Ask for no more notifications once nothing is awaited; what prepares the account again asks for them again."""
    wave = campaign.waves.order_by("-number").first()
    is_over = not Posting.objects.filter(
        Q(poll_at__isnull=False) | Q(state__in=UNPUBLISHED), campaign=campaign
    ).exists()
    if wave is None or not is_over or not is_prepared(campaign):
        return
    try:
        calls.call(lambda: account.unsubscribe(terms_of(campaign, wave.site_url).hook_url))
    except (PlatformUnsureError, PlatformRefusedError) as error:
        logger.warning("notifications of campaign %d could not be ended: %s", campaign.pk, error)
    else:
        forget_prepared(campaign)


def _poll_due_postings(ctx: JobContext, campaign: Campaign, account: CrowdAccount, calls: RateLimitedCalls) -> None:
    due, n_unsure = list(list_due().filter(campaign=campaign).order_by("poll_at", "pk")), 0
    for n, posting in enumerate(due):
        ctx.progress(n, len(due), "Polling the platform")
        try:
            calls.call(lambda posting=posting: poll_posting(posting, account))  # type: ignore[misc]
        except PlatformUnsureError as error:
            n_unsure += 1
            _put_off(posting, SOON, str(error))
            if n_unsure == GIVE_UP_AFTER:
                return
        except PlatformRefusedError as error:
            _put_off(posting, AWAITING, error.message)
        else:
            n_unsure = 0
    ctx.progress(len(due), len(due))


def _put_off(posting: Posting, pause: timedelta, problem: str) -> None:
    logger.warning("posting %d could not be polled: %s", posting.pk, problem)
    Posting.objects.filter(pk=posting.pk).update(poll_at=timezone.now() + pause, last_error=problem[:_LONGEST_ERROR])


def _read_events(campaign: Campaign, account: CrowdAccount, calls: RateLimitedCalls) -> None:
    """Empty the queue: events are stored first, then deleted from it."""
    try:
        for _ in range(_MOST_ROUNDS):
            events = calls.call(account.events)
            if not events:
                return
            handle_events(campaign, events)
            calls.call(lambda events=events: account.acknowledge(events))  # type: ignore[misc]
    except (PlatformUnsureError, PlatformRefusedError) as error:
        logger.warning("the queue of campaign %d could not be read; its postings are polled: %s", campaign.pk, error)


@transaction.atomic
def accept_notification(campaign: Campaign, events: Iterable[Event], fingerprint: str) -> bool:
    """Store and handle a notification of the platform; return whether it is new and of this campaign.

    A platform may send those of other studies, and the same one again a day later.
    """
    own = [event for event in events if _postings_of(campaign, event).exists()]
    if not own:
        return False
    _, is_new = ReceivedNotification.objects.get_or_create(campaign=campaign, fingerprint=fingerprint)
    if is_new:
        handle_events(campaign, own)
    return is_new


def delete_old_notifications() -> int:
    """Delete notifications so old that no platform sends them again; return how many."""
    old = ReceivedNotification.objects.filter(at__lt=timezone.now() - _KEPT_FOR)
    # Mostly there are none: on SQLite even an empty transaction stops all who write.
    return old.delete()[0] if old.exists() else 0


def handle_events(campaign: Campaign, events: Iterable[Event]) -> None:
    """Have the postings of these notifications polled, and free the places of workers who, they say, have left.

    Notifications that come twice, late or about what is unknown do no harm. Calls no network.
    """
    for event in events:
        postings = list(_postings_of(campaign, event))
        Posting.objects.filter(pk__in=[each.pk for each in postings]).update(poll_at=timezone.now())
        if event.submission_id and event.state in ENDED and len(postings) == 1:
            _note_end(postings[0], event.submission_id, event.state, event.at)
            free_places(postings[0])


def _postings_of(campaign: Campaign, event: Event) -> QuerySet[Posting]:
    """Return the posting that a notification is about, none if it is not of this campaign.

    Of a submission it is the one that has it, or to which somebody came with it: any other
    submission is found by the next poll, and most are of other campaigns.
    """
    out = Posting.objects.filter(campaign=campaign).exclude(state__in=(*UNPUBLISHED, Posting.State.GONE))
    if event.posting_id:
        return Posting.objects.filter(campaign=campaign, platform_id=event.posting_id)
    if not event.submission_id:
        return Posting.objects.none()
    came = Assignment.objects.filter(campaign=campaign, platform_id=event.submission_id)
    places = [data.get("posting", "") for data in came.values_list("platform_data", flat=True)]
    return out.filter(Q(submissions__platform_id=event.submission_id) | Q(platform_id__in=places)).distinct()


@transaction.atomic
def _note_end(posting: Posting, platform_id: str, state: str, at: datetime | None) -> None:
    """Store that a submission has ended, unless somebody has come with its id since."""
    locked = Posting.objects.select_for_update(of=("self",), no_key=True).get(pk=posting.pk)
    submissions = Submission.objects.filter(campaign=locked.campaign_id, platform_id=platform_id)
    came = Assignment.objects.filter(campaign=locked.campaign_id, platform_id=platform_id).first()
    if came and at and _has_come_since(came, at + _WHOLE_SECONDS):
        return
    whose = {"worker_id": came.worker_id, "assignment": came} if came else {}
    end = {"state": state, "payload": {"ended": state}, "last_seen_at": timezone.now(), **whose}
    if submissions.exists():
        submissions.exclude(state__in=SUBMITTED_STATES).update(**end)
    elif came:  # of whom we know who it was
        Submission.objects.create(campaign_id=locked.campaign_id, posting=locked, platform_id=platform_id, **end)


def _has_come_since(assignment: Assignment, at: datetime) -> bool:
    came_at = last_arrival(assignment)
    return came_at is not None and came_at > at


def poll_posting(posting: Posting, account: CrowdAccount) -> None:
    """Poll a posting and store the answer; free the places of workers who have left. May be repeated.

    A poll that began before one that is stored already changes nothing. Raises PlatformUnsureError or
    PlatformRefusedError.
    """
    polled_at = timezone.now()
    seen = account.poll(posting.platform_id)
    if not _store(posting, seen, polled_at):
        return
    update_discrepancies(posting.campaign, posting)
    free_places(posting)
    if apply_rejections(posting.campaign, Submission.objects.filter(posting=posting)):
        update_discrepancies(posting.campaign, posting)


@transaction.atomic
def _store(posting: Posting, seen: PolledPosting, polled_at: datetime) -> bool:
    """Store the answer to a poll; return False if a later one is stored already."""
    locked = Posting.objects.select_for_update(of=("self",), no_key=True).get(pk=posting.pk)
    if locked.polled_at and locked.polled_at > polled_at:
        return False
    listed = {each.platform_id: each for each in seen.submissions}
    is_here = Q(posting=locked) | Q(platform_id__in=list(listed))
    found = Submission.objects.filter(is_here, campaign=locked.campaign_id).select_related("worker")
    rows = found.select_for_update(of=("self",), no_key=True)
    known = {each.platform_id: each for each in rows}
    before = {each.pk: each.state for each in known.values()}
    decided = _decided_since(locked, polled_at)
    erased = {id for id, each in known.items() if each.worker.erased_at}
    keys = {each.worker_key for id, each in listed.items() if id not in erased}
    workers = _workers_of(posting.campaign.platform, keys)
    for platform_id, payload in listed.items():
        if platform_id not in known:
            known[platform_id] = _new(locked, platform_id, workers[payload.worker_key].pk)
        row = known[platform_id]
        if row.pk is None or (row.pk not in decided and row.last_seen_at <= polled_at):
            if platform_id in erased:  # nothing that tells who it was is stored again
                row.state, row.last_seen_at = payload.state, polled_at
            else:
                row.worker = workers[payload.worker_key]
                _update_row(row, payload, polled_at)
    if seen.n_pending is not None and locked.hit_id:
        _infer_unlisted(locked, listed, seen.n_pending, known, polled_at)
    seen_rows = list(known.values())
    Submission.objects.bulk_update([row for row in seen_rows if row.pk and row.last_seen_at == polled_at], _POLLED)
    is_news = any(row.state != before.get(row.pk) for row in seen_rows)
    Submission.objects.bulk_create([row for row in seen_rows if row.pk is None])
    _store_status(locked, seen, seen_rows, polled_at, is_news=is_news)
    return True


def _new(posting: Posting, platform_id: str, worker_id: int) -> Submission:
    return Submission(campaign_id=posting.campaign_id, posting=posting, platform_id=platform_id, worker_id=worker_id)


def _decided_since(posting: Posting, polled_at: datetime) -> set[int]:
    """Return the submissions that we have approved or rejected since a poll began: what it says of them is old."""
    kinds = (Order.Kind.APPROVE, Order.Kind.REJECT)
    orders = Order.objects.filter(submission__posting=posting, kind__in=kinds, done_at__gte=polled_at)
    return set(orders.filter(state=Order.State.DONE).values_list("submission", flat=True))


def _workers_of(platform: str, keys: set[str]) -> dict[str, Worker]:
    workers = {each.key: each for each in Worker.objects.filter(platform=platform, key__in=keys)}
    for key in sorted(keys - workers.keys()):
        workers[key], _ = Worker.objects.get_or_create(platform=platform, key=key)
    return workers


def _update_row(row: Submission, payload: PolledSubmission, polled_at: datetime) -> None:
    row.state, row.code = payload.state, payload.code[:_LONGEST_CODE]
    row.accepted_at, row.submitted_at = payload.accepted_at, payload.submitted_at
    row.decided_by_itself_at, row.payload, row.last_seen_at = (
        payload.decided_by_itself_at,
        dict(payload.payload),
        polled_at,
    )


def _infer_unlisted(
    posting: Posting, listed: Collection[str], n_pending: int, known: dict[str, Submission], polled_at: datetime
) -> None:
    """Set the state of submissions whose workers came here, and which the platform does not list before they submit."""
    came = Assignment.objects.filter(campaign=posting.campaign_id, hit=posting.hit_id).exclude(platform_id="")
    ours = {each.platform_id: each for each in came.exclude(platform_id__in=list(listed))}
    for platform_id, assignment in ours.items():
        known.setdefault(platform_id, _new(posting, platform_id, assignment.worker_id))
    here = {id: each for id, each in ours.items() if _may_be_at_work(known[id], each)}
    left = _who_left(here, n_pending, polled_at)
    for platform_id in here:
        row = known[platform_id]
        row.state, row.last_seen_at = (State.ABANDONED if platform_id in left else State.ACTIVE), polled_at
        row.payload, row.worker_id = {}, here[platform_id].worker_id
    for platform_id, row in known.items():
        if row.state == State.ACTIVE and platform_id not in listed and platform_id not in ours:
            row.state, row.last_seen_at = State.RETURNED, polled_at  # its worker has come again with another one


def _may_be_at_work(submission: Submission, assignment: Assignment) -> bool:
    """Return whether a submission is not submitted, nor known to have ended since somebody last came with its id."""
    if submission.state in SUBMITTED_STATES:
        return False
    return "ended" not in submission.payload or _has_come_since(assignment, submission.last_seen_at)


def _who_left(here: Mapping[str, Assignment], n_pending: int, polled_at: datetime) -> set[str]:
    """Return the workers who came here and hold no place there any more, by the platform's count of places.

    If nobody does, all who came before the poll have left. If some do, the surplus has left: the workers who have
    been inactive for the longest, if for more than `QUIET`.
    """
    before = {id: each for id, each in here.items() if each.seen_at < polled_at}
    if not n_pending:
        return set(before)
    at_work = [id for id, each in before.items() if each.state == Assignment.State.ACTIVE]
    quiet = sorted((id for id in at_work if before[id].seen_at < polled_at - QUIET), key=lambda id: before[id].seen_at)
    return set(quiet[: max(len(at_work) - n_pending, 0)])


def _store_status(
    posting: Posting, seen: PolledPosting, rows: Sequence[Submission], polled_at: datetime, *, is_news: bool
) -> None:
    """Store the status of a posting, and when to poll it next: soon after a change, as a platform may lag."""
    states = {row.state for row in rows}
    # A platform may know no difference between a pause and an end, which somebody has ordered here.
    is_stopped = (posting.state, seen.state) == (Posting.State.ENDED, PostingState.PAUSED)
    is_kept = is_stopped or seen.state == PostingState.DRAFT or posting.state in UNPUBLISHED
    state = posting.state if is_kept else seen.state
    pause: timedelta | None = IDLE
    is_awaited = seen.state == PostingState.DRAFT and posting.state not in UNPUBLISHED
    if is_news or seen.n_pending or State.ACTIVE in states or is_awaited:
        pause = SOON
    elif state == Posting.State.GONE:
        pause = None
    elif state == Posting.State.ENDED:
        pause = AWAITING if State.SUBMITTED in states or _wants_workers(posting) else None
    Posting.objects.filter(pk=posting.pk).update(
        state=state, polled_at=polled_at, poll_at=polled_at + pause if pause else None, last_error=""
    )


def _wants_workers(posting: Posting) -> bool:
    """Return whether a posting that has ended may be opened again: places of its HITs are left."""
    if posting.campaign.status == Campaign.Status.CLOSED:
        return False
    hits = Hit.objects.filter(campaign=posting.campaign_id, is_offered=True, n_places_left__gt=0)
    return (hits.filter(pk=posting.hit_id) if posting.hit_id else hits).exists()


def free_places(posting: Posting) -> int:
    """Take the HITs back from those who have left the platform, or were rejected unfinished; return how many.

    The platform offers their places again. Who has rated everything has finished.
    """
    over = (*ENDED, State.REJECTED)
    left = Submission.objects.filter(posting=posting, state__in=over, assignment__platform_id=F("platform_id"))
    holding = left.filter(assignment__state=Assignment.State.ACTIVE)
    return sum(_release(*each) for each in holding.values_list("assignment", "platform_id", "last_seen_at"))


@transaction.atomic
def _release(assignment_id: int, platform_id: str, seen_at: datetime) -> bool:
    """Take a HIT back, unless its worker has come again since it was seen that they left, or has ended it."""
    assignments = Assignment.objects.select_for_update(of=("self",), no_key=True)
    held = assignments.filter(pk=assignment_id, platform_id=platform_id, state=Assignment.State.ACTIVE).first()
    if held is None or _has_come_since(held, seen_at):
        return False
    release_assignment(assignment=held, cause=PlaceFreed.LEFT_PLATFORM)
    return True
