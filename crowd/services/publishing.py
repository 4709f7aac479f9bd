"""Publishing HITs in waves: planning a wave, interrupting it, and the job that publishes it, each posting once.

A posting is drafted under its token, the draft's id is stored, and what is published is the stored one. Of two jobs at
once both may draft, but one id is stored, and both publish that. No transaction is open during a call.
"""

import logging
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from itertools import count
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from campaigns.contracts.account import CrowdAccount, PlatformUnsureError, PostingSpec, Terms
from campaigns.models import Campaign, Hit
from campaigns.services.lifecycle import launch_campaign
from crowd.models import Posting, Wave
from crowd.queries.publishing import (
    UNPUBLISHED,
    Cost,
    WavePreview,
    address_of,
    balance_left,
    check_wage,
    hits_of,
    preview_wave,
    terms_of,
)
from crowd.services.account import GIVE_UP_AFTER, PUBLISH, RateLimitedCalls, open_account, prepare_account
from evalsite.accounts.models import User
from evalsite.jobs.handlers import JobContext, enqueue
from evalsite.lib.env import env_int
from evalsite.lib.errors import DomainError

logger = logging.getLogger(__name__)
# How long a wave rests whose job has ended before all was published.
REST_S = env_int("CROWD_REST_S", 30)
_LONGEST_ERROR = 500
_NOT_READY = {
    Campaign.Status.PAUSED: "The campaign is paused: nobody who comes would be given a HIT. Resume it first.",
    Campaign.Status.CLOSED: "The campaign is closed: nobody who comes would be given a HIT.",
}


def plan_wave(
    *,
    campaign: Campaign,
    n_hits: int | None,
    token: UUID,
    site_url: str,
    max_cost: Decimal,
    user: User,
    is_confirmed: bool = False,
) -> Wave:
    """Have the next `n_hits` HITs published, None: all the rest, by a job; return the wave, or that of a known token.

    A ready campaign is launched. Locks the campaign. `max_cost` is what the user has agreed to; `is_confirmed`: also to
    the errors of the check-list. Raises DomainError `no_account`, `no_keys`, `missing_library`, `other_campaign` (of
    the token), `not_ready`, `underpaid`, `no_worker_can_pass`, `nothing_left`, `cost_changed` or `too_dear` (for the
    account, as last checked).
    """
    if not Wave.objects.filter(token=token).exists():
        open_account(campaign)  # whether there are keys
    with transaction.atomic():
        locked = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
        if made := Wave.objects.filter(token=token).first():
            if made.campaign_id != locked.pk:
                raise DomainError("other_campaign", "This form belongs to another campaign. Check the cost again.")
            return made
        if text := _NOT_READY.get(Campaign.Status(locked.status)):
            raise DomainError("not_ready", text)
        check_wage(locked)
        if locked.launched_at is None:
            launch_campaign(campaign=locked, is_confirmed=is_confirmed)
        preview = preview_wave(campaign=locked, n_hits=n_hits)
        _check_cost(locked, preview.cost, max_cost)
        return _store_wave(locked, preview, token=token, site_url=site_url.rstrip("/"), ordered_by=user)


def _check_cost(campaign: Campaign, cost: Cost, max_cost: Decimal) -> None:
    total = cost.total
    if total > max_cost:
        raise DomainError(
            "cost_changed",
            f"This wave costs {total} {cost.currency} now, more than the {max_cost} {cost.currency} that you agreed "
            "to. Look at the cost again.",
        )
    left = balance_left(campaign, cost.currency)
    if left is not None and total > left:
        raise DomainError(
            "too_dear",
            f"This wave costs {total} {cost.currency}, and the account has {left} {cost.currency} left, as last "
            "checked. Publish fewer HITs, or add to the balance on the platform and check the account again.",
        )


def _store_wave(campaign: Campaign, preview: WavePreview, **fields: Any) -> Wave:
    number = Wave.objects.filter(campaign=campaign).aggregate(last=Max("number"))["last"] or 0
    cost = preview.cost
    fields |= {"n_hits": len(preview.hits), "n_places": cost.n_places, "max_cost": cost.total}
    wave = Wave.objects.create(campaign=campaign, number=number + 1, **fields)
    if campaign.crowd_platform.posts_each_hit:
        Posting.objects.bulk_create(
            Posting(campaign=campaign, wave=wave, hit=hit, n_places=hit.n_places_left)
            for hit in preview.hits
            if hit.n_places_left
        )
    else:
        Posting.objects.create(campaign=campaign, wave=wave, n_places=cost.n_places)
    wave.job = enqueue(PUBLISH, owner=wave.ordered_by, args={"wave": wave.pk})
    wave.save(update_fields=["job"])
    return wave


def enqueue_publishing(wave: Wave) -> None:
    """Enqueue the job that publishes a wave, in the caller's transaction, unless there is one; the wave is locked."""
    Wave.objects.select_for_update(of=("self",), no_key=True).get(pk=wave.pk)
    wave.refresh_from_db()
    if wave.state == Wave.State.PUBLISHING and (wave.job is None or wave.job.is_finished):
        wave.job = enqueue(PUBLISH, owner=wave.ordered_by, args={"wave": wave.pk})
        wave.save(update_fields=["job"])


def stop_wave(*, wave: Wave) -> Wave:
    """Interrupt the publishing of a wave; what is published stays. A wave that is published stays as it is."""
    Wave.objects.filter(pk=wave.pk, state=Wave.State.PUBLISHING).update(state=Wave.State.STOPPED)
    wave.refresh_from_db()
    return wave


@transaction.atomic
def resume_wave(*, wave: Wave) -> Wave:
    """Go on with the publishing of an interrupted wave; of another, do nothing. Raises DomainError `not_ready`."""
    campaign = Campaign.objects.get(pk=wave.campaign_id)
    if text := _NOT_READY.get(Campaign.Status(campaign.status)):
        raise DomainError("not_ready", text)
    Wave.objects.filter(pk=wave.pk, state=Wave.State.STOPPED).update(state=Wave.State.PUBLISHING, last_error="")
    enqueue_publishing(wave)
    return wave


def publish_wave(ctx: JobContext, wave: int) -> None:
    """Publish what is left of a wave, as long as nobody interrupts it; report HITs published of all.

    A posting about which the platform does not answer is left for later (`enqueue_unfinished_waves`). What the platform
    refuses, or keys that are missing, interrupts the wave, which tells why.
    """
    found = Wave.objects.select_related("campaign").get(pk=wave)
    if found.state != Wave.State.PUBLISHING:
        return
    try:
        problem = _publish_postings(ctx, found)
    except PlatformUnsureError as error:  # before the first posting
        problem = str(error)
    except DomainError as error:
        logger.warning("wave %d is interrupted: %s", found.pk, error.code)
        unfinished = Wave.objects.filter(pk=found.pk).exclude(state=Wave.State.PUBLISHED)
        unfinished.update(state=Wave.State.STOPPED, last_error=error.message[:_LONGEST_ERROR])
        return
    if Posting.objects.filter(wave=found, state__in=UNPUBLISHED).exists():
        Wave.objects.filter(pk=found.pk).update(last_error=problem[:_LONGEST_ERROR])
    else:
        Wave.objects.filter(pk=found.pk).update(state=Wave.State.PUBLISHED, last_error="")


def _publish_postings(ctx: JobContext, wave: Wave) -> str:
    """Publish each posting; return what the platform did not do, "" if it did all or the wave was interrupted."""
    calls, campaign = RateLimitedCalls(), wave.campaign
    left = Posting.objects.filter(wave=wave, state__in=UNPUBLISHED)
    todo = list(left.values_list("pk", "hit"))
    # HITs that nobody is wanted for have no posting.
    n_published = wave.n_hits - (wave.n_hits if None in {hit for _, hit in todo} else len(todo))
    ctx.progress(n_published, wave.n_hits, "Preparing")
    terms = terms_of(campaign, wave.site_url)
    account = prepare_account(campaign, terms, calls)
    problem, n_unsure = "", 0
    for posting_id, _ in todo:
        ctx.progress(n_published, wave.n_hits, "Publishing")
        if not Wave.objects.filter(pk=wave.pk, state=Wave.State.PUBLISHING).exists():
            return ""
        posting = left.filter(pk=posting_id).select_related("hit").first()
        if posting is None:  # another job was here
            continue
        posting.campaign, posting.wave = campaign, wave
        try:
            _publish_posting(posting, account, terms, calls)
        except PlatformUnsureError as error:
            problem, n_unsure = str(error), n_unsure + 1
            left.filter(pk=posting_id).update(last_error=problem[:_LONGEST_ERROR])
            if n_unsure == GIVE_UP_AFTER:
                break
        else:
            n_unsure = 0
            n_published += 1 if posting.hit_id else wave.n_hits
    ctx.progress(n_published, wave.n_hits)
    return problem


def _publish_posting(posting: Posting, account: CrowdAccount, terms: Terms, calls: RateLimitedCalls) -> None:
    hits = [posting.hit.pk] if posting.hit else [hit.pk for hit in hits_of(posting.wave)]
    # From now on: a worker may be here before the platform's answer is.
    Hit.objects.filter(pk__in=hits, is_offered=False).update(is_offered=True)
    try:
        if not posting.platform_id:
            # That it may exist there is noted before the first try, so that each other one looks for it. Notifications
            # may tell of it: it is polled from `poll_at` on.
            is_first = Posting.objects.filter(pk=posting.pk, poll_at=None).update(poll_at=timezone.now())
            n_before = count(0 if is_first else 1)
            hit_number = posting.hit.number if posting.hit else None
            draft = PostingSpec(
                token=posting.token,
                terms=terms,
                url=address_of(posting.campaign, terms.site_url, hit_number),
                n_places=posting.n_places,
                hit_number=hit_number,
            )
            made = calls.call(lambda: account.draft(replace(draft, is_repeat=next(n_before) > 0)))
            _store_draft(posting, made)
        calls.call(lambda: account.publish(posting.platform_id))
    except DomainError as error:
        with transaction.atomic():
            refused = Posting.objects.filter(pk=posting.pk, state__in=UNPUBLISHED)
            if refused.update(last_error=error.message[:_LONGEST_ERROR]):
                Hit.objects.filter(pk__in=hits).update(is_offered=False)
        raise
    drafted = Posting.objects.filter(pk=posting.pk, state__in=UNPUBLISHED)
    drafted.update(state=Posting.State.OPEN, poll_at=timezone.now(), last_error="")


def _store_draft(posting: Posting, platform_id: str) -> None:
    """Store the id of a draft; of two jobs that drafted at once, both go on with what the first has stored."""
    planned = Posting.objects.filter(pk=posting.pk, platform_id="")
    if planned.update(platform_id=platform_id, state=Posting.State.DRAFTED, last_error=""):
        posting.platform_id = platform_id
    else:
        posting.refresh_from_db(fields=["platform_id"])


def enqueue_unfinished_waves() -> None:
    """Have the publishing of waves taken up again whose job has ended, some time ago, before all was published."""
    rested = timezone.now() - timedelta(seconds=REST_S)
    left = Wave.objects.filter(state=Wave.State.PUBLISHING).exclude(job__status__in=["queued", "running"])
    for wave in left.exclude(job__finished_at__gt=rested):
        with transaction.atomic():
            enqueue_publishing(wave)
