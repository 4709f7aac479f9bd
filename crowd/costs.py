"""What a campaign costs on its platform: before anything is spent, and what was paid.

Amounts are in the currency of the campaign, to the cent.
"""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from django.db.models import Count, Exists, OuterRef, QuerySet, Sum

from campaigns.models import Campaign
from campaigns.platforms import get_platform
from crowd.models import Order, Submission

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


def spent_on(campaign: Campaign) -> Spent:
    """Return what was paid: approved submissions, by whomever they were, and bonuses. Three queries."""
    done = Order.objects.filter(campaign=campaign, state=Order.State.DONE)
    ordered = done.filter(kind=Order.Kind.APPROVE).aggregate(n=Count("pk"), amount=Sum("amount"), fee=Sum("fee"))
    bonuses = done.filter(kind=Order.Kind.BONUS).aggregate(n=Count("pk"), amount=Sum("amount"), fee=Sum("fee"))
    rewards, fees, n_paid = ordered["amount"] or _NOTHING, ordered["fee"] or _NOTHING, ordered["n"]
    approved = list_approved_otherwise(campaign).order_by().values_list("posting__n_places").annotate(n=Count("pk"))
    for n_places, n in approved:
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


def list_approved_otherwise(campaign: Campaign) -> QuerySet[Submission]:
    """Return the submissions that are approved without an order of ours.

    The platform approves by itself what nobody decides in time, and a researcher may approve on its own site.
    """
    ordered = Order.objects.filter(submission=OuterRef("pk"), kind=Order.Kind.APPROVE, state=Order.State.DONE)
    approved = Submission.objects.filter(campaign=campaign, state=Submission.State.APPROVED)
    return approved.exclude(Exists(ordered))
