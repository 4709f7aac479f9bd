"""Pages of signing in at an OpenID Connect provider, and of connecting an account with it."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LogoutView
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from evalsite.accounts import identities, oidc
from evalsite.accounts.requests import SignedInRequest
from evalsite.accounts.second_factor_views import sign_in
from evalsite.lib.acts import note_act, note_refusal
from evalsite.lib.errors import CONFLICT, DomainError

_ATTEMPT, _AT_PROVIDER = "oidc_attempt", "signed_in_at_provider"
_STATUSES = {"provider_away": 503, "provider_fault": 502, "sign_in_over": 400, "connected": CONFLICT}


def ways_to_sign_in(request: HttpRequest) -> dict[str, Any]:
    """Return what every template may need to know: the name of the provider ("": none), and if there are passwords."""
    makes_accounts = oidc.is_offered() and settings.OIDC_NEW_ACCOUNTS != "NONE"
    return {
        "provider_name": oidc.provider_name(),
        "makes_accounts": makes_accounts,
        "has_passwords": settings.PASSWORD_SIGN_IN,
    }


@login_not_required
@never_cache
@require_POST
def start(request: HttpRequest) -> HttpResponse:
    """Send the browser to the provider: to sign in, or, of somebody who has signed in, to connect the account.

    The page does it, since a redirect that follows a form may not leave the site (`form-action`).
    """
    _check_offered()
    try:
        url, attempt = oidc.begin(request.build_absolute_uri(reverse("accounts:oidc_callback")))
    except DomainError as error:
        return _refused(request, error)
    next_page = request.POST.get("next", "")
    is_safe = url_has_allowed_host_and_scheme(next_page, {request.get_host()}, require_https=request.is_secure())
    user_id = request.user.pk if request.user.is_authenticated else None
    request.session[_ATTEMPT] = attempt | {"next": next_page if is_safe else "", "user": user_id}
    return render(request, "accounts/to_provider.html", {"url": url})


@login_not_required
@never_cache
@require_GET
def callback(request: HttpRequest) -> HttpResponse:
    """Take the provider's answer, once, in the browser that asked."""
    _check_offered()
    try:
        attempt = _take_attempt(request)
        found = oidc.finish(attempt, request.GET.dict())
        if attempt["user"] is not None:
            return _connect(request, attempt, found)
        user = identities.find_or_connect_user(identity=found, now=timezone.now())
    except DomainError as error:
        return _refused(request, error)
    note_act(is_act=True, user=user)
    request.session[_AT_PROVIDER] = True
    next_page = attempt["next"] or resolve_url(settings.LOGIN_REDIRECT_URL)
    return sign_in(request, user, next_page, had_second_factor=found.has_second_factor)


class SignOut(LogoutView):
    """End the session here. That at the provider goes on: people who signed in there see a message about it."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Sign out."""
        was_at_provider = request.session.get(_AT_PROVIDER, False)
        response = super().post(request, *args, **kwargs)
        if was_at_provider and (name := oidc.provider_name()):
            text = f"You are signed out here, and perhaps not yet at {name}. On a shared computer, sign out there, too."
            messages.info(request, text)
        return response


@never_cache
@require_GET
def connection(request: SignedInRequest) -> HttpResponse:
    """Show whether the account is connected with the provider."""
    return render(request, "accounts/connection.html", {"identity": identities.find_identity(request.user)})


@require_POST
def disconnect(request: SignedInRequest) -> HttpResponse:
    """End the connection."""
    try:
        identities.disconnect(user=request.user)
        messages.success(request, f"You do not sign in with {oidc.provider_name()} any more.")
    except DomainError as error:
        note_refusal()
        messages.error(request, error.message)
    return redirect("accounts:connection")


def _check_offered() -> None:
    if not oidc.is_offered():
        raise Http404


def _take_attempt(request: HttpRequest) -> dict[str, Any]:
    """Return the attempt that an answer belongs to, which is over then; raise DomainError `sign_in_over`."""
    attempt = request.session.get(_ATTEMPT)
    if not attempt or not oidc.is_answer_to(attempt, request.GET.get("state", "")):
        raise oidc.sign_in_over()
    del request.session[_ATTEMPT]
    return attempt


def _connect(request: HttpRequest, attempt: dict[str, Any], found: oidc.VerifiedIdentity) -> HttpResponse:
    """Connect the account of who asked for it and is still the one who has signed in."""
    user = request.user
    if not user.is_authenticated or user.pk != attempt["user"]:
        raise oidc.sign_in_over()
    identities.connect(user=user, identity=found, now=timezone.now())
    note_act(is_act=True, about="connected the account")
    messages.success(request, f"From now on you can sign in with {oidc.provider_name()}.")
    return redirect("accounts:connection")


def _refused(request: HttpRequest, error: DomainError) -> HttpResponse:
    note_refusal()
    return render(request, "accounts/not_signed_in.html", {"error": error}, status=_STATUSES.get(error.code, 403))
