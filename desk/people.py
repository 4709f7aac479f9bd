"""Reading accounts: the list, and one with its campaigns."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from campaigns.models import Membership
from desk.navigation import campaign_url
from evalsite.accounts.models import ProviderIdentity, User
from evalsite.accounts.services import can_sign_in
from evalsite.accounts.tokens import list_tokens

_CAN_SIGN_IN = ~Q(password__startswith=UNUSABLE_PASSWORD_PREFIX) | Exists(
    ProviderIdentity.objects.filter(user=OuterRef("pk"))
)
_STATES = {
    "active": Q(is_active=True) & _CAN_SIGN_IN,
    "administrators": Q(is_active=True, is_staff=True),
    "invited": Q(is_active=True) & ~_CAN_SIGN_IN,
    "deactivated": Q(is_active=False),
}


@dataclass(frozen=True)
class PersonCampaign:
    """A campaign of somebody's, with their role in it and where an administrator sees it ("": nowhere)."""

    name: str
    role: str
    url: str


@dataclass(frozen=True)
class Person:
    """An account with what it has here."""

    user: User
    campaigns: Sequence[PersonCampaign]
    n_tokens: int


def list_people(*, search: str = "", state: str = "") -> QuerySet[User]:
    """Return accounts with `n_campaigns`, by address; those that match."""
    found = User.objects.annotate(n_campaigns=Count("memberships")).order_by("email")
    if search:
        found = found.filter(Q(email__icontains=search) | Q(name__icontains=search))
    return found.filter(_STATES[state]) if state else found


def describe_person(user: User, *, seen_by: User) -> Person:
    """Return an account with its campaigns, newest first."""
    mine = set(seen_by.memberships.values_list("campaign", flat=True))
    memberships = Membership.objects.filter(user=user).select_related("campaign").order_by("-campaign__created_at")
    campaigns = [
        PersonCampaign(each.campaign.name, each.get_role_display(), campaign_url(seen_by, each.campaign, mine))
        for each in memberships
    ]
    return Person(user, campaigns, list_tokens(user).count())


def state_of(user: User) -> str:
    """Return the state of an account: active, invited (has never signed in) or deactivated."""
    if not user.is_active:
        return "deactivated"
    return "active" if can_sign_in(user) else "invited"
