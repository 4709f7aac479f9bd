"""The members of a campaign. Members see each other; owners manage."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from campaigns.forms.members import MemberForm, RoleForm
from campaigns.models import Campaign
from campaigns.navigation import campaign_context
from campaigns.queries import Role, get_campaign_for, get_membership_of, is_member, list_members
from campaigns.services.members import add_member, change_role, remove_member
from campaigns.views.autosave import REFUSED, sent
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.errors import DomainError


@require_http_methods(["GET", "POST"])
def members(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """List the members; add one."""
    role = Role.OWNER if request.method == "POST" else Role.VIEWER
    campaign = get_campaign_for(request.user, public_id, role)
    form = MemberForm(sent(request))
    if request.method == "POST" and form.is_valid():
        try:
            membership = add_member(campaign=campaign, **form.cleaned_data)
            messages.success(request, f"{membership.user} is {membership.get_role_display().lower()} now.")
            return redirect("campaigns:members", public_id)
        except DomainError as error:
            form.add_error("email", error.message)
    return _page(request, campaign, form=form)


@require_POST
def member(request: SignedInRequest, public_id: UUID, membership_id: int) -> HttpResponse:
    """Give a member another role."""
    campaign = get_campaign_for(request.user, public_id, Role.OWNER)
    membership = get_membership_of(campaign, membership_id)
    form = RoleForm(request.POST)
    try:
        if not form.is_valid():
            raise DomainError("bad_role", "Choose one of the roles.")
        change_role(campaign=campaign, membership=membership, role=form.cleaned_data["role"])
    except DomainError as error:
        return _page(request, campaign, error=error)
    messages.success(request, f"{membership.user} has another role now.")
    return redirect("campaigns:members", public_id)


@require_POST
def remove(request: SignedInRequest, public_id: UUID, membership_id: int) -> HttpResponse:
    """Take a member out: another, or oneself."""
    campaign = get_campaign_for(request.user, public_id, Role.OWNER)
    try:
        remove_member(campaign=campaign, membership_id=membership_id)
    except DomainError as error:
        return _page(request, campaign, error=error)
    if is_member(request.user, campaign):
        return redirect("campaigns:members", public_id)
    return redirect("campaigns:list")


def _page(
    request: SignedInRequest, campaign: Campaign, *, form: MemberForm | None = None, error: DomainError | None = None
) -> HttpResponse:
    context = campaign_context(campaign, "members")
    context |= {
        "memberships": list_members(campaign),
        "roles": Role.choices,
        "form": form or MemberForm(),
        "error": error,
    }
    return render(request, "campaigns/members.html", context, status=REFUSED if request.method == "POST" else 200)
