"""What is published on a crowd platform, what the next wave would cost, and how far the campaign is there.

Every function wants a campaign that the user may see. Amounts are in the currency of the campaign, to the cent.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_DOWN, ROUND_HALF_UP, ROUND_UP, Decimal

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet, Sum
from django.shortcuts import get_object_or_404
from django.urls import reverse

from annotation.models import Worker
from campaigns.contracts.account import Terms
from campaigns.models import Campaign, Hit
from campaigns.queries import fee_of_place
from crowd.models import Order, Posting, Submission, Wave
from evalsite.lib.errors import DomainError

_CENT, _MIN_PER_HOUR = Decimal("0.01"), 60


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
    fees = n_places * fee_of_place(campaign, places_per_posting)
    return Cost(n_places, n_places * campaign.reward, fees, campaign.currency)


def fee_of_bonus(campaign: Campaign, amount: Decimal) -> Decimal:
    """Return the platform's fee for one bonus, to the cent."""
    fee = campaign.crowd_platform.fee(campaign.ref, amount, n_places=1, is_bonus=True)
    return fee.quantize(_CENT, ROUND_HALF_UP)


def cost_of_bonuses(campaign: Campaign, n: int, amount: Decimal) -> Cost:
    """Return what `n` bonuses of `amount` cost in all."""
    return Cost(n, n * amount, n * fee_of_bonus(campaign, amount), campaign.currency)


@dataclass(frozen=True)
class WavePreview:
    """The HITs that a wave would publish, in order, and what that costs at most."""

    hits: list[Hit]
    cost: Cost

    @property
    def last_number(self) -> int:
        """The number of the last HIT."""
        return self.hits[-1].number


def preview_wave(*, campaign: Campaign, n_hits: int | None) -> WavePreview:
    """Return what a wave of the next `n_hits` HITs, None: of all the rest, would be.

    Raises DomainError `no_account` or `nothing_left`.
    """
    platform = campaign.crowd_platform
    if not platform.has_account:
        raise DomainError("no_account", f"On {platform.title} nothing is published: launch the campaign instead.")
    left = unpublished_hits(campaign).only("campaign", "number", "n_places_left")
    hits = list(left if n_hits is None else left[: max(n_hits, 0)])
    if not hits:
        raise DomainError("nothing_left", "There are no HITs left to publish.")
    n_places = sum(hit.n_places_left for hit in hits)
    places_per_posting = campaign.workers_per_hit if platform.posts_each_hit else n_places
    return WavePreview(hits, cost_of_places(campaign, n_places, places_per_posting=places_per_posting))


def check_wage(campaign: Campaign) -> None:
    """Raise DomainError `underpaid` if workers would earn less in an hour than the platform allows."""
    platform = campaign.crowd_platform
    least, minutes = platform.minimum_hourly.get(campaign.currency), campaign.minutes_per_hit or campaign.lease_minutes
    if least is None or campaign.reward * _MIN_PER_HOUR >= least * minutes:
        return
    hourly = (campaign.reward * _MIN_PER_HOUR / minutes).quantize(_CENT, ROUND_DOWN)
    enough = (least * minutes / _MIN_PER_HOUR).quantize(_CENT, ROUND_UP)
    raise DomainError(
        "underpaid",
        f"{platform.title} allows no reward below {least} {campaign.currency} an hour, and this one comes to {hourly} "
        f"{campaign.currency}. Pay at least {enough} {campaign.currency} for a HIT of {minutes} minutes.",
    )


# What workers should earn in an hour, at least, in currencies that platforms pay in.
FAIR_HOURLY = {"USD": Decimal(12), "GBP": Decimal(9), "EUR": Decimal(11)}


@dataclass(frozen=True)
class FairWage:
    """A wage per hour that is fair, and the reward per HIT that would pay it."""

    hourly: Decimal
    reward: Decimal


def low_wage(campaign: Campaign) -> FairWage | None:
    """Return the fair wage where the reward comes to less, as far as that is known."""
    hourly, fair = campaign.hourly_reward, FAIR_HOURLY.get(campaign.currency)
    if hourly is None or fair is None or hourly >= fair:
        return None
    return FairWage(fair, fair * (campaign.minutes_per_hit or 0) / _MIN_PER_HOUR)


@dataclass(frozen=True)
class Blocker:
    """Why nothing can be published: no_account, not_ready, not_open, nothing_left, no_keys; with a text underpaid,
    missing_library.
    """

    code: str
    text: str = ""


def list_blockers(campaign: Campaign, *, has_keys: bool, n_left: int, is_ready: bool) -> list[Blocker]:
    """Return what has to be fixed before the next HITs can be published."""
    if not campaign.crowd_platform.has_account:
        return [Blocker("no_account")]
    blockers = []
    if not is_ready:
        blockers.append(Blocker("not_ready"))
    elif campaign.is_launched and not campaign.is_open:
        blockers.append(Blocker("not_open"))
    elif not n_left:
        blockers.append(Blocker("nothing_left"))
    try:
        check_wage(campaign)
    except DomainError as error:
        blockers.append(Blocker("underpaid", error.message))
    if lacking := campaign.crowd_platform.lacks():
        blockers.append(Blocker("missing_library", lacking))
    elif not has_keys:
        blockers.append(Blocker("no_keys"))
    return blockers


CHECK = "account"
"""Where `account_data` keeps what the last check of the account found."""


@dataclass(frozen=True)
class LastCheck:
    """What the last check found: an `error`, or a `name`, a balance (None: unknown) and whether it is a sandbox."""

    at: datetime | None = None
    name: str = ""
    balance: Decimal | None = None
    currency: str = ""
    is_sandbox: bool | None = None
    error: str = ""


def last_check(campaign: Campaign) -> LastCheck:
    """Return what the last check of the account found; nothing if there was none. No query."""
    kept = campaign.account_data.get(CHECK) or {}
    at = datetime.fromisoformat(kept["at"]) if kept.get("at") else None
    if kept.get("error"):
        return LastCheck(at=at, error=str(kept["error"]))
    return LastCheck(
        at=at,
        name=kept.get("name", ""),
        balance=Decimal(kept["balance"]) if kept.get("balance") else None,
        currency=kept.get("currency", ""),
        is_sandbox=kept.get("is_sandbox"),
    )


def balance_left(campaign: Campaign, currency: str) -> Decimal | None:
    """Return the balance at the last check, without what waves took since; None if it is not known in this currency.

    One query.
    """
    found = last_check(campaign)
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
    keeps_out = campaign.crowd_platform.options.value_of(options, "exclude_earlier_runs")
    title, thing = (TITLE_OF_CHATS, "chat") if campaign.is_live else (TITLE, "text")
    return Terms(
        title=str(options.get("title") or title),
        description=str(options.get("description") or _DESCRIPTION.format(thing=thing)),
        reward=campaign.reward,
        currency=campaign.currency,
        minutes=campaign.minutes_per_hit or campaign.lease_minutes,
        site_url=site_url,
        worked_before=_earlier_workers(campaign) if keeps_out else frozenset(),
        hook_url=site_url + reverse("crowd:hook", args=[campaign.public_id]),
    )


def _earlier_workers(campaign: Campaign) -> frozenset[str]:
    """Return the keys of all who took a place in another run of the campaign, earlier or later.

    Only of those whom the platform has named itself: who comes here may bring an id that the platform does not know.
    """
    runs: set[int] = set()
    found = {campaign.pk}
    while found:
        runs |= found
        above = Campaign.objects.filter(replications__in=found).values_list("pk", flat=True)
        below = Campaign.objects.filter(replicates__in=found).values_list("pk", flat=True)
        found = {*above, *below} - runs
    workers = Worker.objects.filter(platform=campaign.platform, submissions__campaign__in=runs - {campaign.pk})
    return frozenset(workers.filter(erased_at=None).values_list("key", flat=True).distinct())


def address_of(campaign: Campaign, site_url: str, hit_number: int | None) -> str:
    """Return the address that is published, for one HIT or for any."""
    query = campaign.crowd_platform.arrival_query(campaign.ref, hit_number)
    return f"{site_url.rstrip('/')}{reverse('rate:welcome', args=[campaign.public_id])}?{query}"


UNPUBLISHED = (Posting.State.PLANNED, Posting.State.DRAFTED)
"""States of postings that are still to be published."""


@dataclass(frozen=True)
class PlatformStatus:
    """How many postings and submissions of a campaign are in each state, all states named.

    `n_ended_early`: postings that the platform offers to nobody, any more or for now, though workers are wanted.
    `discrepancies` are those that nobody has dismissed.
    """

    postings: Mapping[str, int]
    submissions: Mapping[str, int]
    discrepancies: Mapping[str, int]
    n_ended_early: int
    polled_at: datetime | None

    @property
    def counts(self) -> dict[str, list[tuple[str, int]]]:
        """Names of the states that something is in, with how many there are."""
        return {
            "Postings": [(Posting.State(state).label, n) for state, n in self.postings.items() if n],
            "Submissions": [(Submission.State(state).label, n) for state, n in self.submissions.items() if n],
        }

    @property
    def n_discrepancies(self) -> int:
        """Discrepancies that nobody has dismissed."""
        return sum(self.discrepancies.values())


@dataclass(frozen=True)
class HitTotals:
    """How many HITs a campaign has, and how many of them are in no wave yet."""

    n_hits: int
    n_left: int

    @property
    def n_ordered(self) -> int:
        """HITs that are in a wave."""
        return self.n_hits - self.n_left


def count_hits(campaign: Campaign) -> HitTotals:
    """Return how many HITs are published, or about to be, and how many are left. Three queries."""
    return HitTotals(campaign.hits.count(), unpublished_hits(campaign).count())


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


ENDED_EARLY = "ended-early"
"""Lists postings that have ended although workers are still wanted."""


def list_postings(campaign: Campaign, *, state: str = "") -> QuerySet[Posting]:
    """Return the postings in order, with their waves and HITs: all, those in a state, or ENDED_EARLY."""
    if state == ENDED_EARLY:
        return list_ended_early(campaign)
    found = Posting.objects.filter(campaign=campaign).select_related("wave", "hit")
    return found.filter(state=state) if state else found


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
    """Return the orders in force that stop postings for good: they are never opened again."""
    return Order.objects.filter(campaign=campaign, kind=Order.Kind.STOP).exclude(state=Order.State.REFUSED)


def get_platform_status(campaign: Campaign) -> PlatformStatus:
    """Return how far the campaign is on its platform. Five queries."""
    submissions = Submission.objects.filter(campaign=campaign)
    open_discrepancies = submissions.filter(dismissed_at=None)
    return PlatformStatus(
        postings=_count(Posting.objects.filter(campaign=campaign), "state", Posting.State.values),
        submissions=_count(submissions, "state", Submission.State.values),
        discrepancies=_count(
            open_discrepancies, "discrepancy", [value for value in Submission.Discrepancy.values if value]
        ),
        n_ended_early=list_ended_early(campaign).count(),
        polled_at=campaign.postings.aggregate(at=Max("polled_at"))["at"],
    )


def _count(rows: QuerySet, field: str, values: list[str]) -> dict[str, int]:
    found = dict(rows.order_by().values_list(field).annotate(n=Count("pk")))
    return {value: found.get(value, 0) for value in values}
