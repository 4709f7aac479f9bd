"""Publishing in waves: what a wave costs, planning one, interrupting it, going on."""

from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_UP, Decimal
from typing import NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import Max, Sum

from campaigns.models import Campaign
from campaigns.platforms import get_platform
from campaigns.services.lifecycle import launch_campaign
from crowd.accounts import open_account
from crowd.costs import Cost, cost_of_places
from crowd.models import Posting, Wave
from crowd.queries import unpublished_hits
from crowd.services.memory import checked
from crowd.services.queueing import PUBLISH
from crowd.services.terms import minutes_of
from evalsite.accounts.models import User
from evalsite.jobs.services import enqueue
from evalsite.lib.errors import DomainError

_CENT, _MIN_PER_HOUR = Decimal("0.01"), 60
_TO_BE_MENDED = {
    Campaign.Status.PAUSED: "The campaign is paused: nobody who comes would be given a HIT. Resume it first.",
    Campaign.Status.CLOSED: "The campaign is closed: nobody who comes would be given a HIT.",
}


class _Hit(NamedTuple):
    pk: int
    number: int
    n_places_left: int


@dataclass(frozen=True)
class Preview:
    """The numbers of the HITs that a wave would publish, in order, and what that costs at most."""

    numbers: list[int]
    cost: Cost


def preview_wave(*, campaign: Campaign, n_hits: int | None) -> Preview:
    """Return what a wave of the next `n_hits` HITs, None: of all the rest, would be.

    Raises DomainError `no_account` or `nothing_left`.
    """
    hits = _next_hits(campaign, n_hits)
    return Preview([hit.number for hit in hits], _cost_of(campaign, hits))


def _next_hits(campaign: Campaign, n_hits: int | None) -> list[_Hit]:
    _check_account(campaign)
    left = unpublished_hits(campaign).values_list(*_Hit._fields)
    hits = [_Hit(*row) for row in (left if n_hits is None else left[: max(n_hits, 0)])]
    if not hits:
        raise DomainError("nothing_left", "There are no HITs left to publish.")
    return hits


def _check_account(campaign: Campaign) -> None:
    platform = get_platform(campaign.platform)
    if not platform.has_account:
        raise DomainError("no_account", f"On {platform.title} nothing is published: launch the campaign instead.")


def _cost_of(campaign: Campaign, hits: list[_Hit]) -> Cost:
    n_places = sum(hit.n_places_left for hit in hits)
    is_each = get_platform(campaign.platform).posts_each_hit
    return cost_of_places(campaign, n_places, places_per_posting=campaign.workers_per_hit if is_each else n_places)


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


def check_wage(campaign: Campaign) -> None:
    """Raise DomainError `underpaid` if workers would earn less in an hour than the platform allows."""
    platform = get_platform(campaign.platform)
    least, minutes = platform.minimum_hourly.get(campaign.currency), minutes_of(campaign)
    if least is None or campaign.reward * _MIN_PER_HOUR >= least * minutes:
        return
    hourly = (campaign.reward * _MIN_PER_HOUR / minutes).quantize(_CENT, ROUND_DOWN)
    enough = (least * minutes / _MIN_PER_HOUR).quantize(_CENT, ROUND_UP)
    raise DomainError(
        "underpaid",
        f"{platform.title} allows no reward below {least} {campaign.currency} an hour, and this one comes to {hourly} "
        f"{campaign.currency}. Pay at least {enough} {campaign.currency} for a HIT of {minutes} minutes.",
    )


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


def balance_left(campaign: Campaign, currency: str) -> Decimal | None:
    """Return the balance at the last check, without what waves took since; None if it was not told in this currency.

    One query.
    """
    found = checked(campaign)
    if found.balance is None or found.currency != currency or found.at is None:
        return None
    since = Wave.objects.filter(campaign=campaign, ordered_at__gt=found.at).aggregate(cost=Sum("max_cost"))["cost"]
    return found.balance - (since or 0)


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
