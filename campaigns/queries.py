"""Reading campaigns: first whether this user may, then what a page shows."""

from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db.models import Count, QuerySet
from django.shortcuts import get_object_or_404

from campaigns.models import Campaign, Membership
from evalsite.accounts.models import User

Role = Membership.Role
# What each role may do: an owner all, an editor all but members and deleting, a viewer look.
_RANKS: list[str] = [Role.VIEWER, Role.EDITOR, Role.OWNER]


def get_campaign_for(user: User, public_id: UUID, role: Role = Role.VIEWER) -> Campaign:
    """Return a campaign that the user is a member of, with their role as `my_role`. One query.

    Raises Http404 for a stranger, PermissionDenied for a member of a lower role.
    """
    memberships = Membership.objects.select_related("campaign__build_job", "campaign__replicates")
    membership = get_object_or_404(memberships, user=user, campaign__public_id=public_id)
    if _RANKS.index(membership.role) < _RANKS.index(role):
        raise PermissionDenied(f"This needs the role of {role.label.lower()}; you are {membership.role}.")
    membership.campaign.my_role = membership.role
    return membership.campaign


def list_campaigns_for(user: User) -> QuerySet[Membership]:
    """Return the user's memberships with their campaigns, newest campaign first."""
    return user.memberships.select_related("campaign").order_by("-campaign__created_at")


def count_hits(campaign: Campaign) -> int:
    """Return how many HITs are built."""
    return campaign.hits.aggregate(n=Count("pk"))["n"]
