"""What Mechanical Turk asks for: a share of rewards and bonuses, more for HITs with ten places or more."""

from decimal import ROUND_HALF_UP, Decimal
from typing import Any

CENT = Decimal("0.01")
MANY_PLACES = 10
MASTERS = frozenset({"2F1QJWKUDD8XADTFD2Q0G6UTO95ALH", "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6"})
_SHARE, _SHARE_OF_MANY, _SHARE_OF_MASTERS = Decimal("0.20"), Decimal("0.20"), Decimal("0.05")


def fee(amount: Decimal, *, n_places: int = 1, of_masters: bool = False) -> Decimal:
    """Return the fee in dollars for one reward or bonus; at least a cent."""
    share = _SHARE + _SHARE_OF_MANY * (n_places >= MANY_PLACES) + _SHARE_OF_MASTERS * of_masters
    return max(CENT, (amount * share).quantize(CENT, ROUND_HALF_UP))


def reward_fee(hit: dict[str, Any]) -> Decimal:
    """Return the fee for one assignment of a HIT."""
    wanted = {requirement["QualificationTypeId"] for requirement in hit["terms"].get("QualificationRequirements", [])}
    return fee(Decimal(hit["terms"]["Reward"]), n_places=hit["n_places"], of_masters=bool(wanted & MASTERS))


def price_of_place(hit: dict[str, Any]) -> Decimal:
    """Return what an approved assignment of a HIT costs, reward and fee."""
    return Decimal(hit["terms"]["Reward"]) + reward_fee(hit)
