"""Who takes part in a campaign, and as what. There is always an owner."""

from django.db import transaction

from campaigns.models import Campaign, Membership
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError

Role = Membership.Role


@transaction.atomic
def add_member(*, campaign: Campaign, email: str, role: str) -> Membership:
    """Make the user with this address a member; once is enough.

    Raises DomainError `no_such_user`, or `already_member` in another role.
    """
    user = User.objects.filter(email__iexact=email, is_active=True).first()
    if user is None:
        raise DomainError(
            "no_such_user",
            f"Nobody has an account with the address {email}. Ask an administrator to invite them (Admin → People), "
            "then add them.",
        )
    membership, _ = Membership.objects.get_or_create(campaign=campaign, user=user, defaults={"role": role})
    if membership.role != role:
        raise DomainError(
            "already_member", f"{user} is a member already, as {membership.role}. Change the role in the list."
        )
    return membership


@transaction.atomic
def change_role(*, campaign: Campaign, membership: Membership, role: str) -> None:
    """Give a member another role; raise DomainError `no_owner` if nobody would own the campaign."""
    _lock_owners(campaign, without=membership if role != Role.OWNER else None)
    campaign.memberships.filter(pk=membership.pk).update(role=role)


@transaction.atomic
def remove_member(*, campaign: Campaign, membership_id: int) -> None:
    """Take a member out; do nothing if they are out already. Raises DomainError `no_owner` for the only owner."""
    membership = campaign.memberships.filter(pk=membership_id).first()
    _lock_owners(campaign, without=membership)
    campaign.memberships.filter(pk=membership_id).delete()


def _lock_owners(campaign: Campaign, without: Membership | None) -> None:
    """Make other changes of members wait; refuse to go on without an owner."""
    Campaign.objects.select_for_update().get(pk=campaign.pk)
    if without and not campaign.memberships.filter(role=Role.OWNER).exclude(pk=without.pk).exists():
        raise DomainError("no_owner", "A campaign needs an owner. Make somebody else an owner first.")
