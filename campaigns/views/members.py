"""The members of a campaign and who is invited. Members see each other; owners manage."""

from contextlib import suppress

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from campaigns.forms.campaigns import MemberForm, RoleForm
from campaigns.invitations import link_path, list_member_invitations
from campaigns.models import Campaign
from campaigns.queries import Role, get_membership_of, is_member
from campaigns.services.members import (
    change_role,
    invite_member,
    mail_invitation,
    remove_member,
    withdraw_invitation,
)
from campaigns.views.access import campaign_view, undoable_in, undoes_in
from campaigns.views.autosave import sent
from campaigns.views.settings import show_settings, to_settings
from evalsite.accounts.attempts import is_mail_set_up
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.acts import note_act
from evalsite.lib.errors import DomainError
from evalsite.undo.acts import restore_rows
from evalsite.undo.models import Act

_MEMBERS = "campaigns.members"


@campaign_view("GET", "POST", to_change=Role.OWNER)
def members(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Show the settings, where members and who is invited are listed; invite one."""
    form = MemberForm(sent(request))
    if request.method == "POST" and form.is_valid():
        try:
            now = timezone.now()
            invitation = invite_member(campaign=campaign, **form.cleaned_data, by=request.user, now=now)
            if is_mail_set_up():
                mail_invitation(invitation=invitation, url=request.build_absolute_uri(link_path(invitation)), now=now)
                messages.success(request, f"The invitation was mailed to {invitation.email}.")
            else:
                messages.success(request, f"Invited. Now send the link below to {invitation.email}.")
            return to_settings(campaign, "members")
        except DomainError as error:
            form.add_error("email", error.message)
    return show_settings(request, campaign, member_form=form)


@campaign_view("POST", to_change=Role.OWNER)
def withdraw(request: SignedInRequest, campaign: Campaign, member_invitation_id: int) -> HttpResponse:
    """End an invitation."""
    with undoable_in(request, campaign, _MEMBERS, "campaigns:settings") as act:
        if found := list_member_invitations(campaign).filter(pk=member_invitation_id).first():
            note_act(about=found.email)
            act.words = f"The invitation of {found.email} was withdrawn. Its link has ended."
        withdraw_invitation(campaign=campaign, invitation_id=member_invitation_id, act=act)
    return to_settings(campaign, "members")


@campaign_view("POST", to_change=Role.OWNER, refused=show_settings)
def member(request: SignedInRequest, campaign: Campaign, membership_id: int) -> HttpResponse:
    """Give a member another role."""
    membership = get_membership_of(campaign, membership_id)
    form = RoleForm(request.POST)
    if not form.is_valid():
        raise DomainError("bad_role", "Choose one of the roles.")
    note_act(about=membership.user.email)
    change_role(campaign=campaign, membership=membership, role=form.cleaned_data["role"])
    messages.success(request, f"{membership.user} has another role now.")
    return to_settings(campaign, "members")


@campaign_view("POST", to_change=Role.OWNER, refused=show_settings)
def remove(request: SignedInRequest, campaign: Campaign, membership_id: int) -> HttpResponse:
    """Take a member out: another, or oneself."""
    with undoable_in(request, campaign, _MEMBERS, "campaigns:settings") as act:
        with suppress(Http404):  # somebody has removed them before
            member = get_membership_of(campaign, membership_id).user
            note_act(about=member.email)
            if member != request.user:  # who has left may not come back by themselves
                act.words = f"{member} was removed."
        remove_member(campaign=campaign, membership_id=membership_id, act=act)
    if is_member(request.user, campaign):
        return to_settings(campaign, "members")
    return redirect("campaigns:list")


@undoes_in(_MEMBERS, role=Role.OWNER)
def _restore(campaign: Campaign, act: Act) -> None:
    restore_rows(act)
