"""Links to a campaign's results: making and revoking them, and the pages that everybody sees who has one."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from analysis.web.forms.runs import ShareForm
from analysis.web.queries.campaigns import get_share_link_of, get_shared_result
from analysis.web.services.sharing import create_share_link, reopen_share_link, revoke_share_link
from analysis.web.views.runs import send_file
from campaigns.models import Campaign
from campaigns.views.access import back_to, campaign_view, undoable_in, undoes_in
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.acts import note_refusal
from evalsite.undo.models import Act

_DOWNLOADS = "analysis:campaign_downloads"


@campaign_view("POST", refused=back_to(_DOWNLOADS))
def create(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Make a link, which the page then shows."""
    form = ShareForm(request.POST)
    if form.is_valid():
        create_share_link(campaign=campaign, user=request.user, **form.cleaned_data)
        messages.success(request, "The link is ready. Everybody who has it can see the results.")
    else:
        note_refusal()
        messages.error(
            request, " ".join(f"{form[name].label}: {text}" for name, texts in form.errors.items() for text in texts)
        )
    return redirect(_DOWNLOADS, campaign.public_id)


@campaign_view("POST")
def revoke(request: SignedInRequest, campaign: Campaign, link_id: int) -> HttpResponse:
    """Close a link."""
    with undoable_in(request, campaign, "analysis.share_link", _DOWNLOADS) as act:
        revoke_share_link(link=get_share_link_of(campaign, link_id))
        act.values, act.words = {"link": link_id}, "The link is revoked: it shows nothing any more."
    return redirect(_DOWNLOADS, campaign.public_id)


@undoes_in("analysis.share_link")
def _reopen(campaign: Campaign, act: Act) -> None:
    reopen_share_link(campaign=campaign, link_id=act.values["link"])


# --- What a link shows


def shared(show: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Return a view without a user of the result that a link shares.

    Search engines leave it out, nothing keeps a copy that would outlive the link, and no other site learns the address.
    """

    @login_not_required
    @require_safe
    @wraps(show)
    def view(request: HttpRequest, token: str, **arguments: Any) -> HttpResponseBase:
        response = show(request, get_shared_result(token), **arguments)
        response["Cache-Control"] = "private, no-store"
        response["Referrer-Policy"] = "no-referrer"
        response["X-Robots-Tag"] = "noindex, nofollow"
        return response

    return view


file = shared(send_file)
