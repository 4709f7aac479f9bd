"""Publishing HITs in waves: planning a wave, interrupting it, and the job that publishes it, each posting once.

A posting is drafted under its token, the draft's id is stored, and what is published is the stored one. Of two jobs at
once both may draft, but one id is stored, and both publish that. No transaction is open during a call.
"""

import logging
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from uuid import UUID

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from campaigns.contracts.account import CrowdAccount, PlatformUnsureError, PostingSpec, Terms
from campaigns.models import Campaign, Hit
from campaigns.platforms import get_platform
from campaigns.services.lifecycle import launch_campaign
from crowd.models import Posting, Wave
from crowd.queries.publishing import (
    UNPUBLISHED,
    Cost,
    _check_account,
    _cost_of,
    _Hit,
    _next_hits,
    address_of,
    balance_left,
    check_wage,
    hits_of,
    terms_of,
)
from crowd.services.account import GIVE_UP_AFTER, PUBLISH, Pace, open_account, prepare_account
from evalsite.accounts.models import User
from evalsite.jobs.handlers import JobContext
from evalsite.jobs.services import enqueue
from evalsite.lib.env import env_int
from evalsite.lib.errors import DomainError

logger = logging.getLogger(__name__)
# How long a wave rests whose job has ended before all was published.
REST_S = env_int("CROWD_REST_S", 30)
_LONGEST_ERROR = 500
_TO_BE_MENDED = {
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
    the errors of the check-list. Raises DomainError `no_account`, `no_keys`, `other_campaign` (of the token),
    `not_ready`, `underpaid`, `no_worker_can_pass`, `nothing_left`, `cost_changed` or `too_dear` (for the account, as
    last seen).
    """
    if not Wave.objects.filter(token=token).exists():
        _check_account(campaign)
        open_account(campaign)  # whether there are keys
    with transaction.atomic():
        locked = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
        if made := Wave.objects.filter(token=token).first():
            if made.campaign_id != locked.pk:
                raise DomainError("other_campaign", "This form is another campaign's. Look at the cost again.")
            return made
        if text := _TO_BE_MENDED.get(Campaign.Status(locked.status)):
            raise DomainError("not_ready", text)
        check_wage(locked)
        launch_campaign(campaign=locked, is_confirmed=is_confirmed)
        hits = _next_hits(locked, n_hits)
        cost = _cost_of(locked, hits)
        _check_cost(locked, cost, max_cost)
        return _store(locked, hits, cost, token=token, site_url=site_url.rstrip("/"), user=user)


def _check_cost(campaign: Campaign, cost: Cost, max_cost: Decimal) -> None:
    if cost.total > max_cost:
        raise DomainError(
            "cost_changed",
            f"This wave costs {cost.total} {cost.currency} now, more than the {max_cost} {cost.currency} that you "
            "agreed to. Look at the cost again.",
        )
    left = balance_left(campaign, cost.currency)
    if left is not None and cost.total > left:
        raise DomainError(
            "too_dear",
            f"This wave costs {cost.total} {cost.currency}, and the account has {left} {cost.currency} left, as last "
            "checked. Publish fewer HITs, or add to the balance on the platform and check the account again.",
        )


def _store(campaign: Campaign, hits: list[_Hit], cost: Cost, *, token: UUID, site_url: str, user: User) -> Wave:
    before = Wave.objects.filter(campaign=campaign).aggregate(number=Max("number"))["number"] or 0
    wave = Wave.objects.create(
        campaign=campaign,
        token=token,
        number=before + 1,
        n_hits=len(hits),
        n_places=cost.n_places,
        max_cost=cost.total,
        site_url=site_url,
        ordered_by=user,
    )
    if get_platform(campaign.platform).posts_each_hit:
        wanted = [hit for hit in hits if hit.n_places_left]
        Posting.objects.bulk_create(
            Posting(campaign=campaign, wave=wave, hit_id=hit.pk, n_places=hit.n_places_left) for hit in wanted
        )
    else:
        Posting.objects.create(campaign=campaign, wave=wave, n_places=cost.n_places)
    ask_to_publish(wave)
    return wave


def ask_to_publish(wave: Wave) -> None:
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
    if text := _TO_BE_MENDED.get(Campaign.Status(campaign.status)):
        raise DomainError("not_ready", text)
    Wave.objects.filter(pk=wave.pk, state=Wave.State.STOPPED).update(state=Wave.State.PUBLISHING, last_error="")
    ask_to_publish(wave)
    return wave


def publish_wave(ctx: JobContext, wave_id: int) -> None:
    """Publish what is left of a wave, as long as nobody interrupts it; report HITs published of all.

    A posting about which the platform does not answer is left for later (`list_unfinished_waves`). What the platform
    refuses, or keys that are missing, interrupts the wave, which tells why.
    """
    wave = Wave.objects.select_related("campaign").get(pk=wave_id)
    if not _is_wanted(wave):
        return
    try:
        problem = _publish(ctx, wave)
    except PlatformUnsureError as error:  # before the first posting
        problem = str(error)
    except DomainError as error:
        logger.warning("wave %d is interrupted: %s", wave.pk, error.code)
        Wave.objects.filter(pk=wave.pk).exclude(state=Wave.State.PUBLISHED).update(
            state=Wave.State.STOPPED, last_error=error.message[:_LONGEST_ERROR]
        )
        return
    _finish(wave, problem)


def _is_wanted(wave: Wave) -> bool:
    return Wave.objects.filter(pk=wave.pk, state=Wave.State.PUBLISHING).exists()


def _publish(ctx: JobContext, wave: Wave) -> str:
    """Go through the postings; return what the platform did not do, "" if it did all or the wave was interrupted."""
    pace = Pace()
    left = Posting.objects.filter(wave=wave, state__in=UNPUBLISHED)
    todo, n_published = list(left.values_list("pk", flat=True)), _n_published(wave)
    ctx.progress(n_published, wave.n_hits, "Preparing")
    account, terms = _prepare(wave.campaign, wave.site_url, pace)
    problem, n_unsure = "", 0
    for posting_id in todo:
        ctx.progress(n_published, wave.n_hits, "Publishing")
        if not _is_wanted(wave):
            return ""
        posting = left.filter(pk=posting_id).select_related("hit").first()
        if posting is None:  # another job was here
            continue
        posting.campaign, posting.wave = wave.campaign, wave
        try:
            _publish_posting(posting, account, terms, pace)
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


def _n_published(wave: Wave) -> int:
    """Return how many HITs of a wave are published; those that are wanted by nobody have no posting."""
    left = list(Posting.objects.filter(wave=wave, state__in=UNPUBLISHED).values_list("hit", flat=True))
    return wave.n_hits - (wave.n_hits if None in left else len(left))


def _prepare(campaign: Campaign, site_url: str, pace: Pace) -> tuple[CrowdAccount, Terms]:
    """Make what all postings share, and return the account that remembers it."""
    terms = terms_of(campaign, site_url)
    return prepare_account(open_account(campaign), campaign, terms, pace), terms


def _publish_posting(posting: Posting, account: CrowdAccount, terms: Terms, pace: Pace) -> None:
    hits = [posting.hit.pk] if posting.hit else [hit.pk for hit in hits_of(posting.wave)]
    spec = PostingSpec(
        token=posting.token,
        terms=terms,
        url=address_of(posting.campaign, terms.site_url, posting.hit.number if posting.hit else None),
        n_places=posting.n_places,
        hit_number=posting.hit.number if posting.hit else None,
    )
    # From now on: a worker may be here before the platform's answer is.
    Hit.objects.filter(pk__in=hits, is_offered=False).update(is_offered=True)
    try:
        if not posting.platform_id:
            _store_draft(posting, pace.call(lambda: account.draft(replace(spec, is_repeat=not _begin(posting)))))
        pace.call(lambda: account.publish(posting.platform_id))
    except DomainError as error:
        _withdraw(posting, hits, error)
        raise
    _open(posting)


def _begin(posting: Posting) -> bool:
    """Note that a posting is about to exist on the platform; return False if an earlier try noted it.

    What an earlier try left there is to be looked for, from `look_at` on.
    """
    return bool(Posting.objects.filter(pk=posting.pk, look_at=None).update(look_at=timezone.now()))


def _store_draft(posting: Posting, platform_id: str) -> None:
    """Store the id of a draft; of two jobs that drafted at once, both go on with what the first has stored."""
    planned = Posting.objects.filter(pk=posting.pk, platform_id="")
    if planned.update(platform_id=platform_id, state=Posting.State.DRAFTED, last_error=""):
        posting.platform_id = platform_id
    else:
        posting.refresh_from_db(fields=["platform_id"])


def _open(posting: Posting) -> None:
    drafted = Posting.objects.filter(pk=posting.pk, state__in=UNPUBLISHED)
    drafted.update(state=Posting.State.OPEN, look_at=timezone.now(), last_error="")


def _withdraw(posting: Posting, hits: list[int], error: DomainError) -> None:
    """Offer no more what the platform refused."""
    with transaction.atomic():
        refused = Posting.objects.filter(pk=posting.pk, state__in=UNPUBLISHED)
        if refused.update(last_error=error.message[:_LONGEST_ERROR]):
            Hit.objects.filter(pk__in=hits).update(is_offered=False)


def _finish(wave: Wave, problem: str) -> None:
    """Note that a wave is published if all its postings are, or what keeps it from that."""
    if Posting.objects.filter(wave=wave, state__in=UNPUBLISHED).exists():
        Wave.objects.filter(pk=wave.pk).update(last_error=problem[:_LONGEST_ERROR])
    else:
        Wave.objects.filter(pk=wave.pk).update(state=Wave.State.PUBLISHED, last_error="")


def take_up_waves() -> None:
    """Have the publishing of waves taken up again whose job has ended, some time ago, before all was published."""
    rested = timezone.now() - timedelta(seconds=REST_S)
    left = Wave.objects.filter(state=Wave.State.PUBLISHING).exclude(job__status__in=["queued", "running"])
    for wave in left.exclude(job__finished_at__gt=rested):
        with transaction.atomic():
            ask_to_publish(wave)
