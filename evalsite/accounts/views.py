"""Signing in and changing passwords, Django's own views with limits on how often; and tokens of scripts."""

import logging
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import views
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm, PasswordResetForm, SetPasswordForm
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.core.mail import get_connection
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render, resolve_url
from django.urls import reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.http import url_has_allowed_host_and_scheme
from django.views import View
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from evalsite.accounts.attempts import (
    SignInAttempt,
    count_reset,
    is_mail_set_up,
    limits_of_user,
    refuse,
    remember_browser,
)
from evalsite.accounts.forms import ResetForm, TokenForm
from evalsite.accounts.models import User
from evalsite.accounts.proxy_sign_in import address_from_proxy, find_proxy_user, is_proxy_believed
from evalsite.accounts.requests import SignedInRequest
from evalsite.accounts.second_factor_views import sign_in
from evalsite.accounts.tokens import create_token, list_tokens, revoke_token
from evalsite.lib.acts import note_act, note_refusal
from evalsite.lib.errors import UNPROCESSABLE, DomainError
from evalsite.lib.rate_limits import count_use, forget_uses, give_back

logger = logging.getLogger(__name__)


class SignIn(views.LoginView):
    """The only place at which a password is exchanged for a session."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Sign in, unless there were too many attempts, or nobody has a password here."""
        if not settings.PASSWORD_SIGN_IN:
            return self.render_to_response(self.get_context_data(), status=403)
        attempt = SignInAttempt(request, request.POST.get("username", ""), timezone.now())
        if wait_s := attempt.count():
            return refuse(request, wait_s)
        response = super().post(request, *args, **kwargs)
        if request.user.is_authenticated:
            attempt.succeed(response)
        elif response.status_code == 302:  # to the second step
            attempt.pass_first_step()
        return response

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        """Sign in, or ask for the second factor."""
        return sign_in(self.request, form.get_user(), self.get_success_url())

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Offer the account that the proxy names, too."""
        return super().get_context_data(**kwargs) | {"proxy_address": address_from_proxy(self.request)}


@login_not_required
@never_cache
@require_POST
def proxy_sign_in(request: HttpRequest) -> HttpResponse:
    """Sign in whom the proxy names; there is no such page where none is believed."""
    if not is_proxy_believed():
        raise Http404
    next_page = request.POST.get("next", "")
    if not (user := find_proxy_user(request)):
        note_refusal()
        address = address_from_proxy(request)
        context = {"proxy_address": address, "form": AuthenticationForm(request), "next": next_page, "is_unknown": True}
        return render(request, "accounts/sign_in.html", context, status=403)
    note_act(user=user)
    is_safe = url_has_allowed_host_and_scheme(next_page, {request.get_host()}, require_https=request.is_secure())
    return sign_in(request, user, next_page if is_safe else resolve_url(settings.LOGIN_REDIRECT_URL))


@login_not_required
def admin_sign_in(request: HttpRequest) -> HttpResponseBase:
    """Send to the sign-in page in place of the admin's own; refuse a user who has signed in and is not an admin."""
    next_page = request.GET.get("next", reverse("admin:index"))
    if not request.user.is_authenticated:
        return redirect_to_login(next_page)
    if not request.user.is_staff:
        raise PermissionDenied
    return redirect("admin:index")


class PasswordsOnly(View):
    """A page that is not there where nobody signs in with a password."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Answer that there is no such page."""
        if not settings.PASSWORD_SIGN_IN:
            raise Http404
        return super().dispatch(request, *args, **kwargs)


class ChangePassword(PasswordsOnly, views.PasswordChangeView):
    """A user chooses a new password and gives the old one."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Change it, unless the old password was wrong too often."""
        assert request.user.pk  # the middleware sends everybody else to sign in
        counted, now = limits_of_user(request.user.pk), timezone.now()
        if wait_s := count_use(*counted, now=now):
            return refuse(request, wait_s)
        form = self.get_form()
        if form.is_valid():
            forget_uses(*counted)
            return self.form_valid(form)
        if not form.has_error("old_password"):
            give_back(*counted, now=now)
        return self.form_invalid(form)


@method_decorator(login_not_required, name="dispatch")
class AskForReset(PasswordsOnly, views.PasswordResetView):
    """Somebody who has forgotten a password asks for a link by mail."""

    form_class = ResetForm

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Say so where the site cannot send mail."""
        if is_mail_set_up():
            return super().dispatch(request, *args, **kwargs)
        return render(request, "accounts/no_mail.html", status=200 if request.method == "GET" else 503)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Mail the link, unless too many were requested."""
        if wait_s := count_reset(request, request.POST.get("email", ""), timezone.now()):
            return refuse(request, wait_s, is_reset=True)
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: PasswordResetForm) -> HttpResponse:
        """Mail it; say if the server cannot be reached, whether or not an account has the address."""
        connection = get_connection()
        try:
            try:
                connection.open()
            finally:
                connection.close()
        except OSError as error:  # those of SMTP and TLS are among them
            logger.error("The mail server cannot be used: %s", error)
            form.add_error(
                None, "No link was sent: the mail server cannot be used now. Try later, or ask an administrator."
            )
            response = self.form_invalid(form)
            response.status_code = 503
            return response
        return super().form_valid(form)


@method_decorator(login_not_required, name="dispatch")
class ResetSent(views.PasswordResetDoneView):
    """What follows a request for a link: it is on its way, if the site sends mail at all."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Say so where the site cannot send mail."""
        if is_mail_set_up():
            return super().dispatch(request, *args, **kwargs)
        return render(request, "accounts/no_mail.html")


@method_decorator(login_not_required, name="dispatch")
class Reset(PasswordsOnly, views.PasswordResetConfirmView):
    """The page of a mailed link."""

    def form_valid(self, form: "SetPasswordForm[User]") -> HttpResponse:
        """Save the new password; this browser may sign in with it at once, since it has the account's mail."""
        response = super().form_valid(form)
        note_act(user=form.user)
        remember_browser(response, form.user.email)
        return response


@never_cache
@require_http_methods(["GET", "POST"])
def tokens(request: SignedInRequest) -> HttpResponse:
    """List the user's tokens; make one, and show it this once."""
    form = TokenForm(request.POST if request.method == "POST" else None)
    made = text = None
    if form.is_bound and form.is_valid():
        try:
            made, text = create_token(user=request.user, now=timezone.now(), **form.values())
            form = TokenForm()
        except DomainError as error:
            form.add_error({"expired": "expires_on", "name_taken": "name"}.get(error.code), error.message)
    context = {"form": form, "tokens": list_tokens(request.user), "made": made, "text": text, "now": timezone.now()}
    return render(request, "accounts/tokens.html", context, status=UNPROCESSABLE if form.is_bound else 200)


@require_POST
def revoke(request: SignedInRequest, token_id: int) -> HttpResponse:
    """End a token."""
    revoke_token(user=request.user, token_id=token_id, now=timezone.now())
    messages.success(request, "The token was revoked. Scripts that use it are refused now.")
    return redirect("accounts:tokens")
