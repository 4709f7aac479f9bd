"""Invitations to be a member of a campaign, and the signed links by which they are answered."""

from datetime import datetime
from uuid import UUID

from django.core.signing import BadSignature, Signer
from django.db.models import QuerySet
from django.urls import reverse

from campaigns.models import Campaign, MemberInvitation
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError


def list_member_invitations(campaign: Campaign) -> QuerySet[MemberInvitation]:
    """Return the invitations that nobody has answered, oldest first; those that have expired are among them."""
    return campaign.member_invitations.select_related("invited_by")


def list_invitations_to(user: User, now: datetime) -> QuerySet[MemberInvitation]:
    """Return the invitations that the user may answer, with their campaigns, oldest first."""
    return _open_ones(now).filter(email__iexact=user.email)


def is_invited(email: str, now: datetime) -> bool:
    """Return whether an address may answer an invitation."""
    return _open_ones(now).filter(email__iexact=email).exists()


def link_path(invitation: MemberInvitation) -> str:
    """Return the path of the link by which an invitation is answered."""
    return reverse("campaigns:join", args=[_signer().sign(invitation.key.hex)])


def find_invitation(token: str, now: datetime) -> MemberInvitation:
    """Return the invitation of a link; raise DomainError `no_invitation`, for whatever reason it is worth nothing."""
    try:
        return _open_ones(now).get(key=UUID(_signer().unsign(token)))
    except (BadSignature, ValueError, MemberInvitation.DoesNotExist):
        raise no_invitation() from None


def no_invitation() -> DomainError:
    """Return the refusal of an invitation that was answered, withdrawn or has expired."""
    return DomainError("no_invitation", "This invitation was answered or withdrawn before, or it has expired.")


def _open_ones(now: datetime) -> QuerySet[MemberInvitation]:
    found = MemberInvitation.objects.filter(expires_at__gt=now).select_related("campaign", "invited_by")
    return found.exclude(campaign__status=Campaign.Status.DELETING)


def _signer() -> Signer:
    return Signer(salt="campaigns.member_invitation", sep=".")
