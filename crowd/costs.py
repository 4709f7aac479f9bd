"""What a campaign costs on its platform: places, before anything is spent; what was paid; what may still have to be.

Amounts are in the currency of the campaign, to the cent.
"""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from django.db.models import Count, Q, Sum

from campaigns.models import Campaign
from campaigns.platforms import get_platform
from crowd.models import Order, Posting, Submission, Wave

_NOTHING, _CENT = Decimal("0.00"), Decimal("0.01")
_OPEN = (Order.State.QUEUED, Order.State.SENDING)


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


@dataclass(frozen=True)
class Spent:
    """Rewards of `n_paid` approved submissions, `n_bonuses` bonuses, and the fees of both."""

    n_paid: int
    rewards: Decimal
    n_bonuses: int
    bonuses: Decimal
    fees: Decimal
    currency: str

    @property
    def total(self) -> Decimal:
        """What has left the account."""
        return self.rewards + self.bonuses + self.fees


def cost_of_places(campaign: Campaign, n_places: int, *, places_per_posting: int) -> Cost:
    """Return what `n_places` places cost in all, in postings of so many places each."""
    rewards = _to_cents(campaign.reward * n_places)
    fees = get_platform(campaign.platform).fee(campaign.ref, rewards, n_places=places_per_posting)
    return Cost(n_places, rewards, _to_cents(fees), campaign.currency)


def fee_of_reward(campaign: Campaign, *, places_per_posting: int) -> Decimal:
    """Return the platform's fee for approving one submission."""
    return cost_of_places(campaign, 1, places_per_posting=places_per_posting).fees


def fee_of_bonus(campaign: Campaign, amount: Decimal) -> Decimal:
    """Return the platform's fee for one bonus."""
    return _to_cents(get_platform(campaign.platform).fee(campaign.ref, amount, n_places=1, is_bonus=True))


def spent_on(campaign: Campaign) -> Spent:
    """Return what was paid: approved submissions, by whomever they were, and bonuses. Three queries."""
    done = Order.objects.filter(campaign=campaign, state=Order.State.DONE)
    ordered = done.filter(kind=Order.Kind.APPROVE).aggregate(n=Count("pk"), amount=Sum("amount"), fee=Sum("fee"))
    bonuses = done.filter(kind=Order.Kind.BONUS).aggregate(n=Count("pk"), amount=Sum("amount"), fee=Sum("fee"))
    rewards, fees, n_paid = ordered["amount"] or _NOTHING, ordered["fee"] or _NOTHING, ordered["n"]
    for n_places, n in _approved_otherwise(campaign):
        cost = cost_of_places(campaign, n, places_per_posting=n_places)
        rewards, fees, n_paid = rewards + cost.rewards, fees + cost.fees, n_paid + n
    return Spent(
        n_paid=n_paid,
        rewards=rewards,
        n_bonuses=bonuses["n"],
        bonuses=bonuses["amount"] or _NOTHING,
        fees=fees + (bonuses["fee"] or _NOTHING),
        currency=campaign.currency,
    )


def _approved_otherwise(campaign: Campaign) -> list[tuple[int, int]]:
    """Return how many submissions are approved without an order of ours, by the places of their postings.

    The platform approves by itself what nobody decides in time, and a researcher may approve on its own site.
    """
    ordered = Order.objects.filter(campaign=campaign, kind=Order.Kind.APPROVE, state=Order.State.DONE)
    others = Submission.objects.filter(campaign=campaign, state=Submission.State.APPROVED).exclude(
        pk__in=ordered.values("submission")
    )
    return list(others.order_by().values_list("posting__n_places").annotate(n=Count("pk")))


def committed_on(campaign: Campaign) -> Cost:
    """Return what may still have to be paid, at most: places that are out or undecided, and bonuses on their way.

    A place of a posting that has ended counts only while somebody holds it or has submitted it. Postings of an
    interrupted wave that were not published do not count. Three queries. `rewards` includes the bonuses.
    """
    n_places, rewards, fees = 0, _NOTHING, _NOTHING
    for places, n in _unpaid_places(campaign).items():
        cost = cost_of_places(campaign, n, places_per_posting=places)
        n_places, rewards, fees = n_places + n, rewards + cost.rewards, fees + cost.fees
    bonuses = Order.objects.filter(campaign=campaign, kind=Order.Kind.BONUS, state__in=_OPEN).aggregate(
        amount=Sum("amount"), fee=Sum("fee")
    )
    return Cost(
        n_places=n_places,
        rewards=rewards + (bonuses["amount"] or _NOTHING),
        fees=fees + (bonuses["fee"] or _NOTHING),
        currency=campaign.currency,
    )


def _unpaid_places(campaign: Campaign) -> dict[int, int]:
    """Return how many places may still have to be paid, by the places that their postings were published with."""
    held = Q(submissions__state__in=[Submission.State.ACTIVE, Submission.State.SUBMITTED])
    decided = Q(submissions__state__in=[Submission.State.APPROVED, Submission.State.REJECTED])
    postings = (
        Posting.objects.filter(campaign=campaign)
        .exclude(state=Posting.State.GONE)
        .exclude(state=Posting.State.PLANNED, wave__state=Wave.State.STOPPED)
        .order_by()
        .annotate(n_held=Count("submissions", filter=held), n_decided=Count("submissions", filter=decided))
        .values_list("pk", "n_places", "n_held", "n_decided", "state")
    )
    added = _added_places(campaign)
    unpaid: dict[int, int] = {}
    for pk, n_places, n_held, n_decided, state in postings:
        is_over = state == Posting.State.ENDED
        n = n_held if is_over else max(n_places + added.get(pk, 0) - n_decided, n_held)
        unpaid[n_places] = unpaid.get(n_places, 0) + n
    return unpaid


def _added_places(campaign: Campaign) -> dict[int | None, int]:
    """Return how many places were added to postings, or are about to be."""
    orders = Order.objects.filter(campaign=campaign, kind=Order.Kind.ADD_PLACES).exclude(state=Order.State.REFUSED)
    return {pk: n or 0 for pk, n in orders.order_by().values_list("posting").annotate(n=Sum("n_places"))}


def _to_cents(amount: Decimal) -> Decimal:
    return amount.quantize(_CENT, ROUND_HALF_UP)
