"""What is published on a crowd platform, what the next wave would cost, and how far the campaign is there.

Every function wants a campaign that the user may see. Amounts are in the currency of the campaign, to the cent.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_UP, ROUND_UP, Decimal
from typing import Any, NamedTuple

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum
from django.shortcuts import get_object_or_404
from django.urls import reverse

from annotation.models import Worker
from campaigns.contracts.account import Terms
from campaigns.contracts.option import OptionReader
from campaigns.models import Campaign, Hit
from campaigns.platforms import get_platform
from crowd.models import Order, Posting, Submission, Wave
from crowd.queries.account import checked
from evalsite.lib.errors import DomainError

_NOTHING, _CENT = Decimal("0.00"), Decimal("0.01")


@dataclass(frozen=True)
class Cost:
    """Rewards and fees of some places, each for one worker."""

    n_places: int
    rewards: Decimal
    fees: Decimal
    currency: str

    @property
    def total(self) -> Decimal:
        """What leaves the account."""
        return self.rewards + self.fees


def cost_of_places(campaign: Campaign, n_places: int, *, places_per_posting: int) -> Cost:
    """Return what `n_places` places cost in all, in postings of so many places each: as many times what one costs."""
    fee = fee_of_reward(campaign, places_per_posting=places_per_posting)
    return Cost(n_places, n_places * campaign.reward, n_places * fee, campaign.currency)


def fee_of_reward(campaign: Campaign, *, places_per_posting: int) -> Decimal:
    """Return the platform's fee for approving one submission."""
    return _fee(campaign, campaign.reward, n_places=places_per_posting)


def fee_of_bonus(campaign: Campaign, amount: Decimal) -> Decimal:
    """Return the platform's fee for one bonus."""
    return _fee(campaign, amount, n_places=1, is_bonus=True)


def _fee(campaign: Campaign, amount: Decimal, *, n_places: int, is_bonus: bool = False) -> Decimal:
    """Return the fee for one payment. Platforms round it, and raise it to their least, for each and not for a sum."""
    fee = get_platform(campaign.platform).fee(campaign.ref, amount, n_places=n_places, is_bonus=is_bonus)
    return fee.quantize(_CENT, ROUND_HALF_UP)


_CENT, _MIN_PER_HOUR = Decimal("0.01"), 60


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


def balance_left(campaign: Campaign, currency: str) -> Decimal | None:
    """Return the balance at the last check, without what waves took since; None if it was not told in this currency.

    One query.
    """
    found = checked(campaign)
    if found.balance is None or found.currency != currency or found.at is None:
        return None
    since = Wave.objects.filter(campaign=campaign, ordered_at__gt=found.at).aggregate(cost=Sum("max_cost"))["cost"]
    return found.balance - (since or 0)


TITLE = "Read short texts and rate them"
TITLE_OF_CHATS = "Chat with computer programs and rate the chats"
_DESCRIPTION = "You are shown one {thing} after the other and say how far you agree with statements about it."


def terms_of(campaign: Campaign, site_url: str) -> Terms:
    """Return the terms of all postings of a campaign; titles are neutral where the researcher gave none."""
    options = campaign.platform_settings
    title = TITLE_OF_CHATS if campaign.is_live else TITLE
    return Terms(
        title=str(options.get("title") or title),
        description=str(
            options.get("description") or _DESCRIPTION.format(thing="chat" if campaign.is_live else "text")
        ),
        reward=campaign.reward,
        currency=campaign.currency,
        minutes=minutes_of(campaign),
        site_url=site_url,
        worked_before=_worked_before(campaign) if is_on(campaign, "exclude_earlier_runs") else frozenset(),
        hook_url=site_url + reverse("crowd:hook", args=[campaign.public_id]),
    )


def minutes_of(campaign: Campaign) -> int:
    """Return how long a HIT takes, as the platform is told."""
    return campaign.minutes_per_hit or campaign.lease_minutes


def option_of(campaign: Campaign, name: str) -> Any:
    """Return an option of the campaign's platform as it is set, or else its default; None if it has no such option."""
    return OptionReader(get_platform(campaign.platform).options).value_of(campaign.platform_settings, name)


def is_on(campaign: Campaign, name: str) -> bool:
    """Return whether an option of yes or no is on, as a form or a file may have stored it."""
    return str(option_of(campaign, name)).strip().lower() in {"true", "1", "yes", "on"}


def _worked_before(campaign: Campaign) -> frozenset[str]:
    """Return the keys of all who took a place in another run of the campaign, earlier or later.

    Only of those whom the platform has named itself: who comes here may bring an id that the platform does not know.
    """
    workers = Worker.objects.filter(platform=campaign.platform, submissions__campaign__in=_other_runs(campaign))
    return frozenset(workers.values_list("key", flat=True).distinct())


def _other_runs(campaign: Campaign) -> set[int]:
    """Return the other campaigns of the chain of runs that a campaign belongs to."""
    known: set[int] = set()
    found = {campaign.pk}
    while found:
        known |= found
        above = Campaign.objects.filter(replications__in=found).values_list("pk", flat=True)
        below = Campaign.objects.filter(replicates__in=found).values_list("pk", flat=True)
        found = {*above, *below} - known
    return known - {campaign.pk}


def address_of(campaign: Campaign, site_url: str, hit_number: int | None) -> str:
    """Return the address that is published, for one HIT or for any."""
    query = get_platform(campaign.platform).arrival_query(campaign.ref, hit_number)
    return f"{site_url.rstrip('/')}{reverse('rate:welcome', args=[campaign.public_id])}?{query}"


UNPUBLISHED = (Posting.State.PLANNED, Posting.State.DRAFTED)
"""States of postings that are still to be published."""


@dataclass(frozen=True)
class Standing:
    """How many postings and submissions of a campaign are in each state, all states named.

    `n_ended_early`: postings that the platform offers to nobody, any more or for now, though workers are wanted.
    `troubles` are those that nobody has settled.
    """

    postings: Mapping[str, int]
    submissions: Mapping[str, int]
    troubles: Mapping[str, int]
    n_ended_early: int


def list_waves(campaign: Campaign) -> QuerySet[Wave]:
    """Return the waves in order, each with its job, `n_postings` and `n_published` of them. One query."""
    published = Count("postings", filter=~Q(postings__state__in=UNPUBLISHED))
    waves = Wave.objects.filter(campaign=campaign).select_related("job", "ordered_by")
    return waves.annotate(n_postings=Count("postings"), n_published=published)


def get_wave_of(campaign: Campaign, wave_id: int) -> Wave:
    """Return a wave as `list_waves` does; raise Http404 for one of another campaign."""
    return get_object_or_404(list_waves(campaign), pk=wave_id)


def hits_of(wave: Wave) -> list[Hit]:
    """Return the HITs of a wave: waves take them in the order of their numbers. Two queries."""
    before = Wave.objects.filter(campaign=wave.campaign_id, number__lt=wave.number).aggregate(n=Sum("n_hits"))["n"] or 0
    return list(Hit.objects.filter(campaign=wave.campaign_id).order_by("number")[before : before + wave.n_hits])


def unpublished_hits(campaign: Campaign) -> QuerySet[Hit]:
    """Return the HITs that are in no wave yet, in order. One query here, and the caller's."""
    n_planned = Wave.objects.filter(campaign=campaign).aggregate(n=Sum("n_hits"))["n"] or 0
    return campaign.hits.order_by("number")[n_planned:]


def list_postings(campaign: Campaign) -> QuerySet[Posting]:
    """Return the postings in order, with their waves and HITs."""
    return Posting.objects.filter(campaign=campaign).select_related("wave", "hit")


def get_posting_of(campaign: Campaign, posting_id: int) -> Posting:
    """Return a posting of the campaign; raise Http404 for any other."""
    return get_object_or_404(list_postings(campaign), pk=posting_id)


def list_ended_early(campaign: Campaign) -> QuerySet[Posting]:
    """Return the postings that the platform offers to nobody any more, or for now, while workers are still wanted."""
    wanted = Hit.objects.filter(campaign=campaign, is_offered=True, n_places_left__gt=0)
    return list_postings(campaign).filter(
        Exists(wanted.filter(pk=OuterRef("hit_id"))) | Q(hit=None) & Exists(wanted),
        state__in=(Posting.State.PAUSED, Posting.State.ENDED),
    )


def list_stops(campaign: Campaign) -> QuerySet[Order]:
    """Return the orders that stand to stop postings for good: nobody is to be let into those again."""
    return Order.objects.filter(campaign=campaign, kind=Order.Kind.STOP).exclude(state=Order.State.REFUSED)


def platform_standing(campaign: Campaign) -> Standing:
    """Return how far the campaign is on its platform. Four queries."""
    submissions = Submission.objects.filter(campaign=campaign)
    troubled = submissions.filter(dismissed_at=None)
    return Standing(
        postings=_count(Posting.objects.filter(campaign=campaign), "state", Posting.State.values),
        submissions=_count(submissions, "state", Submission.State.values),
        troubles=_count(troubled, "trouble", [value for value in Submission.Trouble.values if value]),
        n_ended_early=list_ended_early(campaign).count(),
    )


def _count(rows: QuerySet, field: str, values: list[str]) -> dict[str, int]:
    found = dict(rows.order_by().values_list(field).annotate(n=Count("pk")))
    return {value: found.get(value, 0) for value in values}
