"""Who takes part in a campaign, and as what. There is always an owner.

Nobody is made a member without an answer: whether an address has an account is not seen by who invites it.
"""

import logging
from datetime import datetime, timedelta

from django.db import transaction

from campaigns.invitations import no_invitation
from campaigns.models import Campaign, MemberInvitation, Membership
from evalsite.accounts.mails import mail_member_invitation
from evalsite.accounts.models import User
from evalsite.accounts.services import create_account
from evalsite.lib.errors import DomainError
from evalsite.lib.rate_limits import Limit, count_use
from evalsite.undo.acts import put_aside
from evalsite.undo.models import Act

logger = logging.getLogger(__name__)
Role = Membership.Role
INVITATION_DAYS = 14
"""After which an invitation expires."""
_MOST_INVITATIONS = 100
_BY_USER = Limit("member-invitations", 60, 3600)


@transaction.atomic
def invite_member(*, campaign: Campaign, email: str, role: str, by: User, now: datetime) -> MemberInvitation:
    """Invite an address, or renew its invitation, whose link stays the same. Accounts are not looked at.

    Raises DomainError `already_member`, which members see of each other, `too_many_invitations` or `too_fast`.
    """
    Campaign.objects.select_for_update().get(pk=campaign.pk)
    if member := campaign.memberships.select_related("user").filter(user__email__iexact=email).first():
        raise DomainError(
            "already_member", f"{member.user} is a member already, as {member.role}. Change the role in the list."
        )
    known = campaign.member_invitations.filter(email__iexact=email).first()
    if known is None and campaign.member_invitations.count() >= _MOST_INVITATIONS:
        text = f"{_MOST_INVITATIONS} invitations have no answer yet. Withdraw those that are no longer needed."
        raise DomainError("too_many_invitations", text)
    if count_use((_BY_USER, str(by.pk)), now=now):
        raise DomainError("too_fast", f"You have sent {_BY_USER.n} invitations in an hour. Go on in an hour.")
    invitation = known or MemberInvitation(campaign=campaign, email=email)
    invitation.role, invitation.invited_by, invitation.mailed_at = role, by, None
    invitation.expires_at = now + timedelta(days=INVITATION_DAYS)
    invitation.save()
    return invitation


def mail_invitation(*, invitation: MemberInvitation, url: str, now: datetime) -> None:
    """Mail the link of an invitation; raise DomainError `mail_failed`, after which it can be sent again."""
    mail_member_invitation(
        to=invitation.email,
        url=url,
        expires_at=invitation.expires_at,
        campaign=invitation.campaign.name,
        role=invitation.get_role_display().lower(),
        by=invitation.invited_by,
    )
    MemberInvitation.objects.filter(pk=invitation.pk).update(mailed_at=now)


@transaction.atomic
def withdraw_invitation(*, campaign: Campaign, invitation_id: int, act: Act | None = None) -> None:
    """End an invitation and its link; do nothing if it has ended."""
    found = campaign.member_invitations.filter(pk=invitation_id)
    put_aside(act, found)
    found.delete()


@transaction.atomic
def accept_invitation(*, invitation: MemberInvitation, user: User) -> Membership:
    """Make the user a member, once; raise DomainError `no_invitation` if it has ended, or is not theirs."""
    found = MemberInvitation.objects.select_for_update().filter(pk=invitation.pk, email__iexact=user.email).first()
    if found is None:
        raise no_invitation()
    found.delete()
    membership, _ = Membership.objects.get_or_create(
        campaign_id=found.campaign_id, user=user, defaults={"role": found.role}
    )
    logger.info("user %d joined campaign %s as %s", user.pk, invitation.campaign.public_id, membership.role)
    return membership


@transaction.atomic
def join_with_new_account(*, invitation: MemberInvitation, name: str, password: str) -> Membership:
    """Make an account of the invited address, and a member; raise DomainError `address_taken` or `no_invitation`."""
    user = create_account(email=invitation.email, name=name, password=password)
    return accept_invitation(invitation=invitation, user=user)


@transaction.atomic
def decline_invitation(*, invitation: MemberInvitation) -> None:
    """End an invitation for whom it was sent to; once is enough."""
    MemberInvitation.objects.filter(pk=invitation.pk).delete()


@transaction.atomic
def change_role(*, campaign: Campaign, membership: Membership, role: str) -> None:
    """Give a member another role; raise DomainError `no_owner` if nobody would own the campaign."""
    _lock_owners(campaign, without=membership if role != Role.OWNER else None)
    campaign.memberships.filter(pk=membership.pk).update(role=role)


@transaction.atomic
def remove_member(*, campaign: Campaign, membership_id: int, act: Act | None = None) -> None:
    """Take a member out; do nothing if they are out already. Raises DomainError `no_owner` for the only owner."""
    membership = campaign.memberships.filter(pk=membership_id).first()
    _lock_owners(campaign, without=membership)
    found = campaign.memberships.filter(pk=membership_id)
    put_aside(act, found)
    found.delete()


def _lock_owners(campaign: Campaign, without: Membership | None) -> None:
    """Make other changes of members wait; refuse to go on without an owner."""
    Campaign.objects.select_for_update().get(pk=campaign.pk)
    if without and not campaign.memberships.filter(role=Role.OWNER).exclude(pk=without.pk).exists():
        raise DomainError("no_owner", "A campaign needs an owner. Make somebody else an owner first.")
