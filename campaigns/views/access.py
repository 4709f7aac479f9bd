"""Views of one campaign: who may use them, what they answer when a service refuses, pages of forms.

@campaign_view("GET", "POST")  # any member may look, editors may change
def settings(request, campaign): ...

@campaign_view("POST", to_change=Role.OWNER, refused=_page)  # the page again, with what was refused
def remove(request, campaign, membership_id): ...

@campaign_view("POST", refused=back_to("crowd:orders"))  # a message, on the page of the button
def again(request, campaign, order_id): ...
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any, Concatenate, ParamSpec
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from campaigns.models import Campaign
from campaigns.navigation import campaign_context, url_of
from campaigns.queries import Role, being_deleted, get_campaign_for
from evalsite.accounts.models import User
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.acts import note_refusal
from evalsite.lib.errors import CONFLICT, UNPROCESSABLE, DomainError
from evalsite.undo.acts import undoable, undoes
from evalsite.undo.models import Act

_P = ParamSpec("_P")
Check = Callable[[SignedInRequest, Campaign], HttpResponseBase | None]
Refused = Callable[[SignedInRequest, Campaign, DomainError], HttpResponse]
OfCampaign = Callable[Concatenate[SignedInRequest, Campaign, _P], HttpResponseBase]


def campaign_view(
    *methods: str,
    to_read: Role = Role.VIEWER,
    to_change: Role = Role.EDITOR,
    check: Check | None = None,
    refused: Refused | None = None,
    status: int = UNPROCESSABLE,
    while_deleting: bool = False,
) -> Callable[[OfCampaign[_P]], Callable[..., HttpResponseBase]]:
    """Make a view of (request, campaign, …) one of (request, public_id, …).

    The campaign is fetched for the user: a stranger gets 404, a member whose role is lower than `to_read` (GET, HEAD)
    or `to_change` (all else) 403. What `check` returns is the answer, unless it is None. A DomainError is answered by
    `refused`, with the campaign as it is now, and with `status`, unless that redirects. While the campaign is being
    deleted its pages lead to that of the deletion, and accept nothing.
    """

    def decorate(view: OfCampaign[_P]) -> Callable[..., HttpResponseBase]:
        @require_http_methods(methods)
        @wraps(view)
        def wrapped(request: SignedInRequest, public_id: UUID, *args: Any, **kwargs: Any) -> HttpResponseBase:
            role = to_read if request.method in ("GET", "HEAD") else to_change
            campaign = get_campaign_for(request.user, public_id, role)
            if campaign.is_being_deleted and not while_deleting:
                if request.method in ("GET", "HEAD"):
                    return redirect("campaigns:archive", campaign.public_id)
                answer = refuse(request, campaign, being_deleted())
                answer.status_code = CONFLICT
                return answer
            if check and (found := check(request, campaign)):
                return found
            try:
                return view(request, campaign, *args, **kwargs)
            except DomainError as error:
                campaign = get_campaign_for(request.user, public_id)
                response = (refused or refuse)(request, campaign, error)
                if response.status_code == 200:
                    response.status_code = status
                return response

        return wrapped

    return decorate


def refuse(request: SignedInRequest, campaign: Campaign, error: DomainError) -> HttpResponse:
    """Answer a DomainError with its message: as JSON to a script, else as a page."""
    if request.headers.get("X-Autosave") == "1" or "application/json" in request.headers.get("Accept", ""):
        return JsonResponse({"error": {"code": error.code, "message": error.message}})
    return render(request, "campaigns/refused.html", campaign_context(campaign, "") | {"error": error})


def undoable_in(request: SignedInRequest, campaign: Campaign, kind: str, page: str) -> AbstractContextManager[Act]:
    """Give an act in a campaign that its page `page` offers to take back (`evalsite.undo.acts.undoable`)."""
    return undoable(request, kind, page=reverse(page, args=[campaign.public_id]), campaign=campaign.public_id)


def undoes_in(kind: str, *, role: Role = Role.EDITOR) -> Callable[[Callable[[Campaign, Act], None]], Any]:
    """Have a function take acts of a kind back, in the campaign as it is, for members who have this role still."""

    def decorate(take_back: Callable[[Campaign, Act], None]) -> Callable[[User, Act], None]:
        @undoes(kind)
        @wraps(take_back)
        def wrapped(user: User, act: Act) -> None:
            assert act.campaign
            campaign = get_campaign_for(user, act.campaign, role)
            if campaign.is_being_deleted:
                raise being_deleted()
            take_back(campaign, act)

        return wrapped

    return decorate


def back_to(name: str, *arguments: str) -> Refused:
    """Return what answers a DomainError with a message on the campaign's page `name`.

    `arguments` are those of the view's address that the page's address has, too.
    """

    def answer(request: SignedInRequest, campaign: Campaign, error: DomainError) -> HttpResponse:
        messages.error(request, error.message)
        note_refusal()
        assert request.resolver_match
        found = request.resolver_match.kwargs
        return redirect(name, campaign.public_id, *(found[argument] for argument in arguments))

    return answer


def render_form(
    request: HttpRequest, template: str, context: dict[str, Any], *, is_refused: bool | None = None
) -> HttpResponse:
    """Show a page with a form: as UNPROCESSABLE if it was sent, because then something in it was refused.

    A form that filters is sent by GET: `is_refused` says whether it was.
    """
    if is_refused is None:
        is_refused = request.method == "POST"
    return render(request, template, context, status=UNPROCESSABLE if is_refused else 200)


def only_live(request: SignedInRequest, campaign: Campaign) -> HttpResponse | None:
    """Check that workers chat with the systems; else say which page to use."""
    return None if campaign.is_live else _other_kind(request, campaign)


def only_outputs(request: SignedInRequest, campaign: Campaign) -> HttpResponse | None:
    """Check that workers rate outputs that were made before; else say which page to use."""
    return _other_kind(request, campaign) if campaign.is_live else None


def _other_kind(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    target = "campaigns:chatbots" if campaign.is_live else "campaigns:data"
    context = campaign_context(campaign, "") | {"target": url_of(campaign, target)}
    return render_form(request, "campaigns/other_kind.html", context)
