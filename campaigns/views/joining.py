"""The page of an invitation to a campaign: whom it is for accepts or declines, if need be with a new account."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from campaigns.invitations import find_invitation
from campaigns.models import MemberInvitation
from campaigns.services.members import accept_invitation, decline_invitation, join_with_new_account
from campaigns.views.access import render_form
from evalsite.accounts.attempts import count_sign_up, refuse, remember_browser
from evalsite.accounts.forms import SignUpForm
from evalsite.lib.acts import note_act, note_refusal
from evalsite.lib.errors import CONFLICT, DomainError


@login_not_required
@never_cache
@require_http_methods(["GET", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Show an invitation to somebody who has its link; take the answer."""
    try:
        invitation = find_invitation(token, timezone.now())
        note_act(about=f"{invitation.email}, {invitation.role}", campaign=invitation.campaign.public_id)
        if request.method == "POST" and request.POST.get("answer") == "decline":
            return _decline(request, invitation)
        return _answer(request, invitation) if request.user.is_authenticated else _sign_up(request, invitation)
    except DomainError as error:  # it was answered before, perhaps a moment ago
        note_refusal()
        return render(request, "campaigns/no_invitation.html", {"error": error}, status=404)


def _answer(request: HttpRequest, invitation: MemberInvitation) -> HttpResponse:
    """Let who has signed in accept."""
    user = request.user
    assert user.is_authenticated
    is_for_user = invitation.email.lower() == user.email.lower()
    if request.method == "POST" and is_for_user:
        accept_invitation(invitation=invitation, user=user)
        messages.success(request, f"You are a member of {invitation.campaign.name} now.")
        return redirect("campaigns:campaign", invitation.campaign.public_id)
    context = {"invitation": invitation, "is_for_user": is_for_user}
    return render(request, "campaigns/join.html", context, status=CONFLICT if request.method == "POST" else 200)


def _sign_up(request: HttpRequest, invitation: MemberInvitation) -> HttpResponse:
    """Let somebody make an account of the invited address. The page is the same if there is one."""
    form = SignUpForm(invitation.email, request.POST if request.method == "POST" else None)
    if request.method == "POST" and not settings.PASSWORD_SIGN_IN:
        raise PermissionDenied
    if request.method == "POST":
        if wait_s := count_sign_up(request, timezone.now()):
            return refuse(request, wait_s)
        if form.is_valid():
            try:
                membership = join_with_new_account(invitation=invitation, **form.values())
            except DomainError as error:
                if error.code != "address_taken":
                    raise
                form.add_error(None, "There is an account with this address. Sign in with its password to accept.")
            else:
                note_act(user=membership.user)
                login(request, membership.user, settings.AUTHENTICATION_BACKENDS[0])
                response = redirect("campaigns:campaign", invitation.campaign.public_id)
                remember_browser(response, membership.user.email)
                return response
    return render_form(request, "campaigns/join.html", {"invitation": invitation, "form": form})


def _decline(request: HttpRequest, invitation: MemberInvitation) -> HttpResponse:
    """End the invitation, for somebody who has the link."""
    decline_invitation(invitation=invitation)
    return render(request, "campaigns/declined.html", {"invitation": invitation})
