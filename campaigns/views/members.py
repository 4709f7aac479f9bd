"""The members of a campaign. Members see each other; owners manage."""

from contextlib import suppress

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect

from campaigns.forms.campaigns import MemberForm, RoleForm
from campaigns.models import Campaign
from campaigns.navigation import campaign_context
from campaigns.queries import Role, get_membership_of, is_member, list_members
from campaigns.services.members import add_member, change_role, remove_member
from campaigns.views.access import campaign_view, render_form
from campaigns.views.autosave import sent
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.acts import note_act
from evalsite.lib.errors import DomainError


def _page(
    request: SignedInRequest,
    campaign: Campaign,
    error: DomainError | None = None,
    form: MemberForm | None = None,
) -> HttpResponse:
    context = campaign_context(campaign, "members")
    context |= {
        "memberships": list_members(campaign),
        "roles": Role.choices,
        "form": form or MemberForm(),
        "error": error,
    }
    return render_form(request, "campaigns/members.html", context)


@campaign_view("GET", "POST", to_change=Role.OWNER)
def members(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """List the members; add one."""
    form = MemberForm(sent(request))
    if request.method == "POST" and form.is_valid():
        try:
            membership = add_member(campaign=campaign, **form.cleaned_data)
            messages.success(request, f"{membership.user} is {membership.get_role_display().lower()} now.")
            return redirect("campaigns:members", campaign.public_id)
        except DomainError as error:
            form.add_error("email", error.message)
    return _page(request, campaign, form=form)


@campaign_view("POST", to_change=Role.OWNER, refused=_page)
def member(request: SignedInRequest, campaign: Campaign, membership_id: int) -> HttpResponse:
    """Give a member another role."""
    membership = get_membership_of(campaign, membership_id)
    form = RoleForm(request.POST)
    if not form.is_valid():
        raise DomainError("bad_role", "Choose one of the roles.")
    note_act(about=membership.user.email)
    change_role(campaign=campaign, membership=membership, role=form.cleaned_data["role"])
    messages.success(request, f"{membership.user} has another role now.")
    return redirect("campaigns:members", campaign.public_id)


@campaign_view("POST", to_change=Role.OWNER, refused=_page)
def remove(request: SignedInRequest, campaign: Campaign, membership_id: int) -> HttpResponse:
    """Take a member out: another, or oneself."""
    with suppress(Http404):  # somebody has removed them before
        note_act(about=get_membership_of(campaign, membership_id).user.email)
    remove_member(campaign=campaign, membership_id=membership_id)
    if is_member(request.user, campaign):
        return redirect("campaigns:members", campaign.public_id)
    return redirect("campaigns:list")
